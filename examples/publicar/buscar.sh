#!/usr/bin/env bash
# La consulta: ¿está ya en el blog el artículo de esta clave? Imprime su id y termina con 0; 1: no está; otra cosa: no se sabe.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=http.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/http.sh" || exit 2

slug=$(slug)
# Sin `status=any` WordPress enseña solo lo publicado, y un borrador que está parecería que no está.
pedir "${PUBLICAR_BLOG_AUTH:-}" --get --data "slug=$slug" --data status=any "$PUBLICAR_BLOG_URL" || exit 2
[ "$estado" = 200 ] || exit 2
# Solo una lista vacía es una ausencia. Una página de error no lo es.
cuantos=$(jq 'if type == "array" then length else error("no es una lista") end' <<<"$cuerpo") || exit 2
[ "$cuantos" != 0 ] || no_esta
[ "$cuantos" = 1 ] || echo "hay $cuantos artículos con el mismo slug" >&2
jq -er '.[0].id' <<<"$cuerpo" || exit 2
