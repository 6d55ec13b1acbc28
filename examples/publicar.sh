#!/usr/bin/env bash
# De una idea a un artículo: un modelo escribe el borrador y el blog lo recibe. Ninguna de las dos llamadas se repite a ciegas.
#
#   cola-ia work -- examples/publicar.sh
#
# El caso del artículo: el trabajador publica, se cae antes de decirlo, y el reintento no debe publicar otra vez. Cada llamada
# que cuesta o que se ve va dentro de `cola-ia effect run`, que anota la intención antes y el resultado después:
#
#   draft    la llamada al modelo. No hay clave ni manera de consultar qué pasó con una llamada sin respuesta, así que solo se
#            puede elegir entre pagar quizá dos veces o parar. Por unos céntimos se repite (--retry-below) y queda a la vista
#            como dinero en riesgo.
#   publish  la publicación. El artículo lleva un slug hecho de la clave del efecto: si no se sabe qué pasó, se busca ese slug
#            antes de volver a enviar (--lookup).
#
# Tras una caída, en cualquier punto, el trabajo empieza de nuevo por arriba: el borrador anotado se usa sin pagarlo otra vez, y
# se mira en el blog antes de publicar. docs/EFECTOS.md explica qué se promete y qué no.
#
# Necesita bash, curl (7.55 o posterior) y jq. Del entorno:
#   PUBLICAR_MODELO_URL    la dirección que entiende el protocolo de OpenAI, p. ej. https://api.openai.com/v1/chat/completions
#   PUBLICAR_MODELO        el nombre del modelo
#   PUBLICAR_MODELO_AUTH   la cabecera Authorization, p. ej. "Bearer sk-…"; puede faltar
#   PUBLICAR_BLOG_URL      p. ej. https://blog.example/wp-json/wp/v2/posts
#   PUBLICAR_BLOG_AUTH     la cabecera Authorization, p. ej. "Basic …"; puede faltar
#   PUBLICAR_ESTADO        el estado del artículo en el blog: draft (lo normal) o publish
#   PUBLICAR_COSTE_MAX     lo más que puede costar un borrador, en la moneda del almacén: 0.02
#   PUBLICAR_REPETIR_BAJO  se repite sin saber si ya se pagó solo lo que cuesta menos que esto: 0.05
#   PUBLICAR_ESPERA        cuánto puede tardar el blog en enseñar lo que recibió: 60s
#   PUBLICAR_TOPE          segundos que puede durar una petición: 45
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/publicar"
: "${PUBLICAR_MODELO_URL:?}" "${PUBLICAR_MODELO:?}" "${PUBLICAR_BLOG_URL:?}"
export PUBLICAR_TOPE=${PUBLICAR_TOPE:-45}
# curl se rinde antes de que `effect run` termine el paso: así el paso aún puede decir qué pasó.
plazo=$((PUBLICAR_TOPE + 15))s

idea=$(cat)

# Sale lo mismo la primera vez que en un reintento: en un reintento es lo anotado, y no se llama a nadie.
borrador=$(cola-ia effect run draft --timeout "$plazo" \
  --retry-below "${PUBLICAR_REPETIR_BAJO:-0.05}" --max-cost "${PUBLICAR_COSTE_MAX:-0.02}" \
  -- ./borrador.sh <<<"$idea")
texto=$(jq -r '.draft // empty' <<<"$borrador")
if [ -z "$texto" ]; then
  # Se pagó, está anotado y no sirve: otro intento daría lo mismo. Una persona decide si hay otra vuelta (cola-ia replay).
  echo 'el modelo contestó sin texto' >&2
  exit 65
fi

titulo=${idea%%$'\n'*}
articulo=$(jq -n --arg title "${titulo:0:80}" --arg content "$texto" --arg status "${PUBLICAR_ESTADO:-draft}" \
  '{title: $title, content: $content, status: $status}')

# El id del artículo queda en el efecto y en el trabajo: `cola-ia effect find --resource ID` lleva de vuelta al evento.
cola-ia effect run publish --timeout "$plazo" --lookup ./buscar.sh --settle "${PUBLICAR_ESPERA:-60s}" \
  -- ./enviar.sh <<<"$articulo"
