# Lo que comparten los tres pasos de publicar.sh: una petición, y qué significa su respuesta para el libro de efectos.

# En una consulta, terminar con 1 es afirmar que no está. Un tropiezo del script, que Bash también convierte en un 1, no lo afirma.
ausente=
trap 'fin=$?; [ "$fin" -ne 1 ] || [ -n "$ausente" ] || exit 2' EXIT
no_esta() {
  ausente=1
  exit 1
}

: "${COLA_IA_EFFECT_KEY:?solo dentro de cola-ia effect run}"

# El slug del artículo, hecho de la clave del efecto: la misma en cada intento, y de ningún otro efecto. Solo minúsculas y
# cifras, porque los blogs cambian lo demás.
slug() {
  printf 'cola-%s' "$(printf '%s' "$COLA_IA_EFFECT_KEY" | tr -d '_-' | tr '[:upper:]' '[:lower:]')"
}

# pedir AUTH ARGUMENTOS…: una sola petición; deja $estado y $cuerpo. La credencial no pasa por los argumentos, que cualquiera ve
# en la lista de procesos. Aquí nunca se reintenta: de eso se encarga el libro.
pedir() {
  local auth=$1 salida
  shift
  salida=$(curl --silent --show-error --max-time "${PUBLICAR_TOPE:-45}" --write-out '\n%{http_code}' \
    -H @<([ -z "$auth" ] || printf 'Authorization: %s\n' "$auth") "$@") || return $?
  estado=${salida##*$'\n'}
  cuerpo=${salida%$'\n'*}
}

# Un envío. Vuelve si ocurrió; si no, termina con lo que entiende `effect run`: 65 rechazado, 75 no se envió nada o no se hizo,
# y cualquier otra cosa es que no se sabe.
enviar() {
  local fallo=0
  pedir "$@" || fallo=$?
  case $fallo in
  0) ;;
  5 | 6 | 7 | 35 | 60) exit 75 ;; # no se encontró el servidor, no atendió o no era él: no salió nada
  *) exit 2 ;;                    # se cortó o tardó demasiado: puede haber ocurrido
  esac
  case $estado in
  200 | 201) ;;
  429) exit 75 ;;                                # demasiadas peticiones: no se hizo
  400 | 401 | 402 | 403 | 404 | 405 | 413 | 422) # no se hizo, y otra vez daría lo mismo
    echo "rechazado con $estado: ${cuerpo:0:500}" >&2
    exit 65
    ;;
  *) # un 500 o un 502 no dice que no ocurriera
    echo "respuesta $estado" >&2
    exit 2
    ;;
  esac
}
