#!/usr/bin/env bash
# La publicación: un solo envío. Entra el artículo; sale el id que le dio el blog.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=http.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/http.sh" || exit 2

slug=$(slug)
articulo=$(jq -c --arg slug "$slug" '. + {slug: $slug}')
enviar "${PUBLICAR_BLOG_AUTH:-}" -H 'Content-Type: application/json' --data-binary @- "$PUBLICAR_BLOG_URL" <<<"$articulo"
jq -c '{resource_id: (.id // error("sin id") | tostring)}' <<<"$cuerpo" >"$COLA_IA_RESULT"
