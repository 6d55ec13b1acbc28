#!/usr/bin/env bash
# El borrador: una sola llamada al modelo. Entra la idea; sale el resultado que queda anotado.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=http.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/http.sh" || exit 2

peticion=$(jq -Rs --arg model "$PUBLICAR_MODELO" '{model: $model, messages: [
  {role: "system", content: "Escribe un borrador breve para el blog a partir de esta idea."},
  {role: "user", content: .}]}')
enviar "${PUBLICAR_MODELO_AUTH:-}" -H 'Content-Type: application/json' --data-binary @- "$PUBLICAR_MODELO_URL" <<<"$peticion"

# Un resultado cabe en 64 KiB. Si la respuesta no se entiende, esto falla y no se sabe: pudo cobrarse.
jq -c '{resource_id: .id, model: .model, tokens_in: .usage.prompt_tokens, tokens_out: .usage.completion_tokens,
  draft: (.choices[0].message.content // "")[0:15000]} | del(..|nulls)' <<<"$cuerpo" >"$COLA_IA_RESULT"
