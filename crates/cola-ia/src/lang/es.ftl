# Español. El inglés está en en.ftl; una prueba los mantiene iguales en claves y variables.
#
# Mensajes: minúscula inicial, sin punto final; qué se intentó y con qué valor. Una pista dice qué hacer.

label-error = error:
label-hint = pista:
label-warning = aviso:
did-you-mean = ¿quisiste decir «{ $meant }»?

## Ayuda: títulos y nombres de los valores

heading-usage = Uso:
heading-commands = Comandos
heading-arguments = Argumentos
heading-options = Opciones
heading-general = Opciones generales
heading-examples = Ejemplos
heading-exit-codes = Códigos de salida
help-more = Más detalle y ejemplos, con --help.

value-store = LUGAR
value-file = ARCHIVO
value-url = URL
value-folder = CARPETA
value-source = NOMBRE
value-of-source = ORIGEN
value-number = N
value-size = TAMAÑO
value-state = ESTADO
value-verdict = VEREDICTO
value-type = TIPO
value-moment = MOMENTO
value-filter = FILTRO
value-length = DURACIÓN
value-worker = NOMBRE
value-lease = RESERVA
value-by = origen|modelo|día
value-cost = IMPORTE
value-currency = MONEDA
value-code = CÓDIGO
value-retry-after = SEGUNDOS|FECHA
value-kind = CLASE
value-place = LUGAR
value-id = ID
value-shell = SHELL
value-text = TEXTO
value-age = EDAD
value-exec = ORDEN
value-effect = NOMBRE
value-hash = SHA256
value-hex = HEX
value-json = JSON|ARCHIVO
value-lookup = LÍNEA
value-of-effect = [ID] NOMBRE
value-otherwise = hold|retry
value-resource = RECURSO
value-stdin = text|json
value-command = COMANDO
value-lang = es|en
value-instant = INSTANTE
value-scheme = ESQUEMA
value-scope = PERMISO
value-token = NOMBRE
value-when = auto|always|never

man-name = NOMBRE
man-synopsis = SINOPSIS
man-description = DESCRIPCIÓN

## Ayuda: comandos

about-cola-ia = La bandeja que deja entrar cada evento una sola vez en un flujo de IA
about-cola-ia-long =
    Cada evento tiene un id y un texto. Un id nuevo entra y se convierte en un trabajo; el mismo id
    con el mismo texto es un repetido y no entra; el mismo id con otro texto es un conflicto y se
    muestra. Todo se guarda en un solo archivo de SQLite.
usage-cola-ia = cola-ia [OPCIONES] COMANDO
examples-cola-ia =
    cola-ia init                      un cola-ia.toml comentado y un almacén
    cola-ia add eventos.jsonl         deja entrar los eventos de un archivo, una vez cada uno
    cola-ia jobs --state pendiente    lo que espera su turno
    cola-ia show idea-42              todo lo que le pasó a un id
exit-codes-cola-ia =
    0    todo bien
    1    no se pudo hacer
    2    no se entiende el comando o un ajuste; no se intentó nada
    3    hay conflictos y pediste --fail-on conflict
    4    se rechazó parte de la entrada; lo demás entró
    5    el servidor no conoce el token, o este no permite hacerlo
    6    solo quedó sin terminar la última línea; la próxima vez entrará
    7    se perdió la reserva; no se cambió nada
    8    no hay nada que reservar; si un origen está en pausa, stderr lo dice
    9    el efecto no se admite, o queda retenido: decide una persona
    65   el destino de un efecto lo rechazó para siempre
    70   un efecto se envió y no se sabe si ocurrió
    75   no se envió nada ahora; otra vez más tarde
    130  interrumpido; lo que se respondió está guardado

about-init = Escribe un cola-ia.toml comentado y crea un almacén, listos para usar
about-init-long =
    No cambia nada de lo que ya existe: si el archivo o el almacén ya están, se quedan como están.
    Ambos se crean de modo que solo tú puedas leerlos (modo 0600).
usage-init = cola-ia init [OPCIONES]
examples-init =
    cola-ia init                          aquí
    cola-ia init --db /srv/cola/ia.db     con el almacén en otro lugar

about-add = Deja entrar los eventos de archivos o de la entrada estándar, una vez cada uno
about-add-long =
    Lee JSON Lines: un objeto por línea, con "id" y "texto" (o "text"). Son opcionales "tipo" o
    "type", "fecha" o "time" (RFC 3339) y "origen" o "source". Los demás campos se ignoran y no se
    guardan. Los archivos pueden venir comprimidos con gzip o zstd.

    Escribe una línea por evento en la salida estándar, en el orden de la entrada y solo cuando ya
    está guardado de forma duradera: el id y un veredicto. Los veredictos son nuevo (entró),
    repetido (mismo id, mismo texto) y conflicto (mismo id, otro texto); con --lang en son new,
    duplicate y conflict. Las líneas rechazadas se explican por la salida de errores, con su lugar
    y su motivo. Siempre puedes ejecutarlo otra vez sin riesgo.
usage-add = cola-ia add [OPCIONES] ARCHIVO...
examples-add =
    cola-ia add eventos.jsonl
    cola-ia add --source formulario junio.jsonl.gz julio.jsonl.zst
    tail -F eventos.jsonl | cola-ia add -
    cola-ia add --fail-on conflict --rejects rechazados.jsonl eventos.jsonl
exit-codes-add =
    0    todo bien, aunque haya conflictos, si no pediste --fail-on conflict
    1    no se pudo hacer, o no hasta el final: no se puede leer un archivo o abrir el almacén
    2    no se entiende el comando o un ajuste; no se intentó nada
    3    hay conflictos y pediste --fail-on conflict
    4    se rechazó parte de la entrada; lo demás entró
    6    solo quedó sin terminar la última línea; la próxima vez entrará
    130  interrumpido; lo que se respondió está guardado

about-jobs = Lista los trabajos, del más nuevo al más viejo
about-jobs-long =
    Una línea por trabajo: número de evento, estado, origen, intentos, cuándo se recibió (UTC) e id.
    El que está en proceso con la reserva vencida lleva la marca (vencido): su trabajador se perdió, y
    lo retoma el próximo claim, o «recover».
    Si quedan más, la salida de errores dice cómo pedir la página siguiente.
usage-jobs = cola-ia jobs [OPCIONES]
examples-jobs =
    cola-ia jobs
    cola-ia jobs --state fallido --state retenido
    cola-ia jobs --source formulario --limit 1000 --json
    cola-ia jobs --filter 'origen=formulario,web estado=fallido desde=24h'

about-show = Muestra todo lo que le pasó a un id
about-show-long =
    Primero responde: por qué se ejecutó o no su trabajo y por qué llegó cuando llegó. Después, la
    identidad, el texto, las revisiones aceptadas, los otros textos que llegaron con el mismo id (en
    qué difieren y qué se decidió), cada recepción con su veredicto, el tiempo desde la anterior y
    su retraso, y los intentos y efectos del trabajo. Los textos largos salen recortados; --json los
    da enteros. Si varios orígenes conocen el id, salen todos.
usage-show = cola-ia show [OPCIONES] ID
examples-show =
    cola-ia show idea-42
    cola-ia show --source formulario idea-42 --json
    cola-ia show -- -42                   un id que empieza con guion

about-export = Escribe todo lo que guarda el almacén, en líneas que se pueden volver a leer
about-export-long =
    Cada evento con su trabajo, sus conflictos, revisiones, entregas, intentos y efectos, lo que se
    rechazó y los recuentos: JSON Lines, como lo describe docs/EXPORTACION.md. «cola-ia import» lo trae
    a un almacén vacío, o a una copia de este, con los mismos números y las mismas claves de efectos.

    Mientras tanto se puede seguir trabajando: lo que había al empezar está en la exportación, cada
    evento tal como era en un momento. El archivo solo lo puedes leer tú (modo 0600) y no tiene su
    nombre hasta que está completo; uno que ya existe no se sustituye nunca.
usage-export = cola-ia export [OPCIONES] [ARCHIVO|-]
examples-export =
    cola-ia export junio.jsonl
    cola-ia export | zstd > junio.jsonl.zst
    cola-ia export | ssh servidor cola-ia import -
exit-codes-export =
    0    la exportación está escrita entera
    1    no se pudo hacer; no se creó ningún archivo con ese nombre
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido; no se creó ningún archivo con ese nombre

about-import = Trae una exportación: lo que no está entra, lo que está se queda como está
about-import-long =
    Lee lo que escribió «cola-ia export», tal cual o comprimido con gzip o zstd. El almacén debe estar
    vacío o tener el mismo origen: una copia, una copia de seguridad, una importación anterior. Nunca se
    sobrescribe nada. Lo que contradice a lo que hay se dice línea a línea y se queda fuera. Repetirlo
    siempre es seguro.

    Lo que se estaba ejecutando en otro sitio no se ejecuta aquí: sus trabajos vuelven a esperar y los
    efectos en curso quedan inciertos. Para que entren eventos está «cola-ia add».
usage-import = cola-ia import [OPCIONES] ARCHIVO|-
examples-import =
    cola-ia import junio.jsonl
    cola-ia import --db nuevo.sqlite3 junio.jsonl.zst
    cola-ia import --json junio.jsonl
exit-codes-import =
    0    todo está en el almacén
    1    no se pudo hacer, o el archivo está cortado; entró lo que estaba completo
    2    no se entiende el comando o un ajuste; no se intentó nada
    4    algo contradice a lo que hay, o una línea no se puede leer; lo demás entró
    130  interrumpido; lo que se contó está guardado

about-stats = Cuenta lo que llegó, con qué retraso, y cuántos trabajos esperan
about-stats-long =
    Dos tablas con una línea por origen: las entregas recibidas en un tiempo, por veredicto, con el
    retraso con que llegaron; y los trabajos por estado, tal como están ahora, llegaran cuando
    llegaran. La línea - es lo que se rechazó sin origen. Sin --since se cuentan las 24 horas
    anteriores a --until o, si tampoco está, a este momento. VENCIDOS son, de los que están en proceso,
    aquellos cuyo trabajador se perdió. Si un origen está en pausa, o sus trabajos fallan uno tras
    otro, la salida de errores lo avisa.

    RETRASO P50 y RETRASO P95: la mitad y 95 de cada 100 de las entregas que traen fecha llegaron con
    ese retraso o menos; cada cifra se aparta un 6,25 % de la verdadera como mucho. Las que traen una
    fecha posterior a su recepción se cuentan aparte: uno de los dos relojes está mal.

    Las cuentas se guardan por minutos, pasados dos días por horas y pasados dos meses por días (UTC);
    el tiempo pedido se ensancha hasta completarlos, y la salida de errores dice cuál se contó.
usage-stats = cola-ia stats [OPCIONES]
examples-stats =
    cola-ia stats                                          las últimas 24 horas
    cola-ia stats --since 15m --source formulario
    cola-ia stats --since 2026-01-30 --until 2026-01-30    ese día
    cola-ia stats --since 1970-01-01 --json                todo
about-costs = Mostrar lo gastado, lo que está en riesgo y lo evitado
about-costs-long =
    Una línea por origen, modelo o día (UTC): cuántos costes se contaron, lo gastado (por los
    intentos, también los fallidos, y por los efectos), lo reservado por efectos de los que nadie
    sabe si ocurrieron, lo evitado y los tokens. Un coste es lo que un trabajador dice con su
    resultado, o se calcula del modelo y los tokens con los precios de la configuración
    ([prices."MODELO"]). Una — está donde no se informó de ningún coste.

    EVITADO es una estimación: lo que habían costado los resultados que se usaron otra vez y, por
    cada entrega repetida, lo que costó de media un evento de la línea:

    reutilizado + gastado / nuevos × repetidos

    Por modelo no se distinguen las entregas, y solo cuentan los resultados que se usaron otra vez.

    Un coste es del día en que acabó su intento; el de un efecto, del día en que se empezó. Los
    costes se guardan por días: de una parte de un día se cuenta el día entero.
usage-costs = cola-ia costs [OPCIONES]
examples-costs =
    cola-ia costs                           por origen, desde el primer día
    cola-ia costs --by modelo --since 30d
    cola-ia costs --by día --source form --since 2026-01-01 --until 2026-01-31
    cola-ia costs --json                    en millonésimas de la unidad
exit-codes-costs =
    0    mostrado, o no hay nada
    1    no se pudo hacer
    2    no se entiende el comando o un ajuste

about-budget = Limitar lo que se puede gastar en un día en los trabajos de un origen
about-budget-long =
    Si un origen tiene presupuesto, un efecto solo empieza si lo más que puede costar cabe todavía en
    el día (UTC): lo gastado y lo reservado juntos nunca pasan del límite, por muchos trabajadores que
    empiecen a la vez. Un efecto sin coste máximo se rechaza entonces. Los costes de los intentos
    también cuentan, pero nadie pregunta antes de hacerlos. Sin comando: los presupuestos, con las sumas
    de hoy.

    Todas las cantidades de un almacén están en una moneda: la que se fija, o la primera que dice un
    resultado.
usage-budget = cola-ia budget [OPCIONES] [COMANDO]
examples-budget =
    cola-ia budget
    cola-ia budget set form 2.50
    cola-ia budget remove form
    cola-ia budget currency EUR
exit-codes-budget =
    0    hecho
    1    no se pudo hacer
    2    no se entiende el comando o un ajuste; no se intentó nada
about-budget-list = Listar los presupuestos, con las sumas de hoy
about-budget-list-long =
    Una línea por origen: el límite de un día, lo gastado hoy (UTC), lo reservado por efectos de
    resultado desconocido y lo que queda.
usage-budget-list = cola-ia budget list [OPCIONES]
about-budget-set = Fijar el presupuesto de un origen
about-budget-set-long =
    Vale desde el próximo efecto; lo gastado y lo reservado hoy cuentan. El origen no necesita tener
    eventos todavía. Con 0 no empieza nada que cueste algo.
usage-budget-set = cola-ia budget set [OPCIONES] ORIGEN IMPORTE
examples-budget-set =
    cola-ia budget set form 2.50
about-budget-remove = Quitar el presupuesto de un origen
about-budget-remove-long =
    Desde entonces nada limita sus efectos. Lo gastado sigue contado.
usage-budget-remove = cola-ia budget remove [OPCIONES] ORIGEN
about-budget-currency = Decir la moneda de todas las cantidades, o fijarla
about-budget-currency-long =
    Tres letras, como EUR. Una vez dicha se queda: las cantidades nunca se convierten, y un coste que
    viene en otra moneda no se cuenta. Sin MONEDA, la salida estándar da la que está fijada.
usage-budget-currency = cola-ia budget currency [OPCIONES] [MONEDA]
examples-budget-currency =
    cola-ia budget currency EUR
about-deliveries = Lista todas las entregas de eventos, de la más nueva a la más vieja
about-deliveries-long =
    Una línea por entrega: número, veredicto, cuándo se recibió (UTC), cuánto después de ocurrir,
    origen e id. También salen las repetidas, los conflictos con su número y las rechazadas, con el
    lugar donde se leyeron, el código del motivo y de qué se trata.
usage-deliveries = cola-ia deliveries [OPCIONES]
examples-deliveries =
    cola-ia deliveries
    cola-ia deliveries --verdict inválido --since 2026-01-31 --until 2026-01-31
    cola-ia deliveries --source formulario,web --verdict conflicto,repetido --since 24h
    cola-ia deliveries --filter 'motivo=id_blank' --json

about-conflicts = Lista los otros textos que llegaron con ids conocidos, del más nuevo al más viejo
about-conflicts-long =
    Una línea por conflicto: cuándo llegó su texto la primera y la última vez, cuántas veces, qué se
    decidió, origen, número dentro del evento e id. Con --diff, cada uno sale con su diferencia
    frente al texto del evento: tras -, las líneas que desaparecen; tras +, las que aparecen; las
    palabras cambiadas, entre [-…-] y {"{"}+…+{"}"}.
usage-conflicts = cola-ia conflicts [OPCIONES]
examples-conflicts =
    cola-ia conflicts --undecided
    cola-ia conflicts --diff --limit 5
    cola-ia conflicts --source formulario --since 7d --json

about-errors = Lista lo rechazado y los intentos que salieron mal, de lo más nuevo a lo más viejo
about-errors-long =
    Una línea por error: cuándo, de qué clase, origen y qué pasó. De una entrada rechazada, su lugar
    y su motivo, como los dijo «add»; de un intento, su id, vuelta y número, cómo acabó y qué dijo.
    Sin --kind salen las dos clases.

    Con --group se cuentan juntos los que solo se distinguen en números e ids: cuántas veces, la
    primera y la última, lo que tienen en común, con # por cada número o id, y el más reciente.
usage-errors = cola-ia errors [OPCIONES]
examples-errors =
    cola-ia errors --since 24h
    cola-ia errors --group --since 7d
    cola-ia errors --kind entrada --since 2026-01-31 --until 2026-01-31
    cola-ia errors --kind intento --source formulario --json

about-tail = Muestra las entregas según van llegando
about-tail-long =
    Empieza por las últimas y sigue hasta que lo interrumpas o nadie lea su salida. Si el almacén
    aún no existe o está ocupado, espera; si lo sustituyen, sigue con el nuevo. Mientras no llega
    nada, no mantiene abierto el almacén.
usage-tail = cola-ia tail [OPCIONES]
examples-tail =
    cola-ia tail
    cola-ia tail -n 0 --verdict conflicto,inválido
    cola-ia tail --source formulario --json
exit-codes-tail =
    0    ya nadie lee su salida
    1    no se puede leer lo que hay en la ruta del almacén
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido
about-resolve = Decidir qué se hace con un conflicto
about-resolve-long =
    Un conflicto es otro texto con un id ya conocido. Nada de él entra hasta que alguien diga qué es:

    --keep: sigue siendo un conflicto. Se cuenta cada vez que llega y deja de dar la alarma.
    --accept: también es correcto. Desde entonces es un repetido, y el trabajo lo usa: el que espera
    toma el texto nuevo; cualquier otro se queda como está, salvo que --run le dé otra vuelta.
    --as NUEVOID: es otro evento, enviado con un id equivocado. Entra como NUEVOID y stdout recibe
    el veredicto, como con «add». Si NUEVOID ya se conoce, nada entra y el veredicto lo dice.

    Cada decisión se guarda con su hora y su nota, y «show» la enseña. Un conflicto que solo se
    mantuvo puede decidirse otra vez; lo aceptado o lo que entró no, porque ya se actuó.
usage-resolve = cola-ia resolve [OPCIONES] ID (--keep | --accept [--run] | --as NUEVOID)
examples-resolve =
    cola-ia show idea-42                               ver antes los dos textos
    cola-ia resolve idea-42 --keep --note "una prueba"
    cola-ia resolve idea-42 --conflict 2 --accept --run
    cola-ia resolve idea-42 --as idea-42b
exit-codes-resolve =
    0    decidido
    1    sin decidir: no existe ese id o ese conflicto, ya estaba decidido, o NUEVOID tiene otro texto
    2    no se entiende la orden, o qué conflicto se quiere decir; no se intentó nada

about-prune = Soltar textos viejos y entregas repetidas viejas
about-prune-long =
    Quita los textos y la historia (salidas, resultados) de los eventos cuyo trabajo terminó o se
    canceló, y las entregas que solo repitieron un evento conocido. La identidad, las huellas, las
    horas y las cuentas se quedan para siempre: un id viejo sigue siendo repetido, y con otro texto
    sigue siendo conflicto.

    Nunca se toca lo que está pendiente, en proceso, retenido, o fallido a la espera de alguien; ni
    un evento con un conflicto sin decidir o un efecto abierto. Las entregas repetidas se guardan al
    menos 7 días.

    Sin --older-than, los ajustes dicen qué es viejo: retention.deliveries (90 días) y
    retention.texts (nunca). Va en pasos pequeños, al lado de todo lo demás; puede interrumpirse y
    repetirse en cualquier momento.
usage-prune = cola-ia prune [OPCIONES]
examples-prune =
    cola-ia prune                                  según los ajustes; vale para cada noche
    cola-ia prune --older-than 180d --dry-run      qué se iría
    cola-ia prune --older-than 180d --shrink       y devolver el sitio al disco
exit-codes-prune =
    0    todo bien
    1    no se pudo, o no hasta el final; al repetirla sigue donde iba
    2    no se entiende la orden o un ajuste; no se intentó nada
    130  interrumpida; al repetirla sigue donde iba

about-erase = Borrar lo que decía un evento: el derecho al olvido
about-erase-long =
    Se van sus textos, también los de sus conflictos y revisiones, y su tipo, notas, salidas,
    resultados e id. Queda constancia de que estuvo: un resumen (hash) con el que el id se sigue
    conociendo, huellas, horas y cuentas. La misma entrega sigue siendo repetida y otro texto sigue
    siendo conflicto, y de ninguno se guarda nada. El trabajo que no ha acabado se cancela; mientras
    lo tiene un trabajador, no se borra nada.

    Los bytes se sobrescriben en el archivo del almacén y en su registro de escritura (-wal). Las
    copias de seguridad hechas antes no se tocan.
usage-erase = cola-ia erase [OPCIONES] ID --yes
examples-erase =
    cola-ia erase ana@example.org            dice qué se iría
    cola-ia erase ana@example.org --yes
    cola-ia show ana@example.org             dice cuándo se borró
exit-codes-erase =
    0    borrado, ahora o antes
    1    sin borrar: no existe ese id, o un trabajador tiene su trabajo
    2    falta --yes, o no se entiende la orden; no se intentó nada
about-backup = Hace una copia de seguridad: un solo archivo, comprobado, con todo lo que guarda el almacén
about-backup-long =
    Funciona mientras entran eventos y se trabaja. Contiene todo lo que se respondió antes de empezar.
    El archivo se hace con otro nombre y modo 0600, se lleva al disco, se vuelve a leer y se comprueba
    hasta la última página, y solo entonces recibe su nombre: lo que tiene ese nombre está completo.
    No reemplaza nada.

    A una copia simple (cp) de un almacén en uso le faltan los eventos que están en su registro de
    escritura; para eso está este comando.
usage-backup = cola-ia backup [OPCIONES] ARCHIVO
examples-backup =
    cola-ia backup "/srv/copias/cola-$(date +%F).sqlite3"
    cola-ia backup --json copia.sqlite3
    cola-ia doctor --db copia.sqlite3     ¿está bien mi copia?
exit-codes-backup =
    0    la copia está hecha y comprobada
    1    no se pudo hacer; no queda nada de ella
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido; no queda nada de ella

about-move = Traslada el almacén entero a otro lugar: una base de datos o un archivo nuevo
about-move-long =
    Copia todo: eventos, trabajos, conflictos, entregas, intentos, efectos con sus claves, y dinero.
    Detén antes los trabajadores y el servidor; mientras un trabajador tenga un trabajo en la mano no
    se traslada nada.

    El almacén se marca antes de copiar nada: desde entonces se puede leer y no admite nada, para que
    nadie siga con los dos. El otro lugar tiene que estar vacío o no existir aún. Al final se comparan
    los dos registro por registro. Si se interrumpe, repítelo: continúa. --undo quita la marca,
    mientras nadie trabaje con el otro lugar. Los tokens no se copian: crea otros nuevos.
usage-move = cola-ia move --to LUGAR | --undo [OPCIONES]
examples-move =
    cola-ia move --to postgres://cola@db.example/cola
    cola-ia move --db postgres://cola@db.example/cola --to cola_ia.sqlite3
    cola-ia move --undo
exit-codes-move =
    0    todo está allí
    1    no se pudo hacer, o no hasta el final: repítelo
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido: repítelo

about-restore = Pone una copia de seguridad en el lugar del almacén
about-restore-long =
    Solo mientras nadie tenga abierto el almacén. La copia se duplica, se comprueba hasta la última
    página y se pone al día con esta versión antes de reemplazar nada; a ella solo se la lee. Lo que
    había se guarda como NOMBRE.before-restore-FECHA.

    El almacén queda marcado como restaurado: lo que pasó después de la copia no está en él. Los
    trabajos que estaban en proceso vuelven a esperar, y los efectos que no constan como hechos cuentan
    como quizá hechos, hasta «cola-ia restored --clear». Quien envía puede entregar otra vez todo lo
    que llegó desde entonces: nada entra dos veces.
usage-restore = cola-ia restore [OPCIONES] ARCHIVO
examples-restore =
    cola-ia restore /srv/copias/cola-2026-01-31.sqlite3
    cola-ia restore --db nuevo.sqlite3 copia.sqlite3     en otro lugar, para mirarla
exit-codes-restore =
    0    la copia está en su lugar
    1    no se pudo hacer; el almacén está como estaba
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido; el almacén está como estaba

about-restored = Dice que el almacén se restauró por otros medios, o que eso ya se revisó
about-restored-long =
    Para un almacén que se recuperó sin «cola-ia restore»: de una instantánea del disco o de la
    máquina, o de un archivo. No sabe qué pasó desde entonces; --at dice cuándo se recuperó. Los
    trabajos que estaban en proceso vuelven a esperar, y los efectos que no constan como hechos cuentan
    como quizá hechos.

    --clear termina con eso, cuando alguien ha revisado lo que pudo haber pasado.
usage-restored = cola-ia restored --at INSTANTE | --clear [OPCIONES]
examples-restored =
    cola-ia restored --at now             ahora mismo
    cola-ia restored --at 2h                       hace dos horas
    cola-ia restored --at 2026-01-31T21:00:00Z
    cola-ia restored --clear

about-serve = Recibe webhooks y formularios, ofrece la API, lleva los horarios y cuida del almacén
about-serve-long =
    Escucha lo que envían los orígenes de cola-ia.toml (POST /in/ORIGEN), comprueba quién lo firma y
    responde cuando está guardado. Los trabajadores y los programas usan /v1 con un token; «/»,
    /metrics, /livez y /readyz son para las personas y para quien vigila. Mientras funciona se
    disparan los horarios, se recogen los trabajos perdidos, se podan los registros viejos y se hacen
    copias de seguridad.

    El primer arranque crea un token para todo, lo escribe en un archivo privado junto al almacén y
    muestra un enlace que abre una sesión en el navegador, una sola vez.

    Escucha solo en esta máquina si no se le dice otra cosa. TERM o una interrupción lo paran: lo que
    ha llegado se responde, dentro del plazo; una segunda lo corta ya. El registro va a stderr.
usage-serve = cola-ia serve [OPCIONES]
examples-serve =
    cola-ia serve
    cola-ia serve --listen 127.0.0.1:9000 --log-format text
exit-codes-serve =
    0    se le pidió parar, y paró
    1    no pudo escuchar, o el almacén no se puede abrir
    2    no se entiende la orden o un ajuste; no se intentó nada
    130  una segunda señal lo cortó

about-doctor = Busca qué está mal en el almacén y a su alrededor
about-doctor-long =
    Páginas y tablas, el registro de escritura, quién tiene abierto el almacén, el disco, lo que espera a alguien y
    lo que dejaron los procesos que murieron. Cada hallazgo tiene un código (docs/ERRORES.md), y lo que
    está mal dice qué hacer. Sirve con un almacén que no se puede abrir, con uno en uso y con una copia
    de seguridad (--db ARCHIVO). No escribe nada en el almacén.
usage-doctor = cola-ia doctor [OPCIONES]
examples-doctor =
    cola-ia doctor
    cola-ia doctor --quick --json
    cola-ia doctor --db /srv/copias/cola-2026-01-31.sqlite3
exit-codes-doctor =
    0    todo bien, quizá con notas
    1    hay un aviso o un error
    2    no se entiende el comando o un ajuste; no se intentó nada
    130  interrumpido

about-claim = Reserva trabajos pendientes para hacerlos
about-claim-long =
    Un trabajador es quien reserva un trabajo, lo hace y dice cómo fue. Cada trabajo reservado es una
    línea en stdout: la reserva, un espacio y el id como lo escribe «add». La reserva son 36 letras y
    cifras, y acompaña a todo lo que se diga del trabajo: complete, fail, release, extend.

    Una reserva dura lo que diga el ajuste «lease» (60s), salvo que se alargue. Quien la deja vencer
    se da por perdido: el siguiente claim, o «recover», le da el trabajo a otro, y lo que diga el
    primero desde entonces no cambia nada (código de salida 7).

    Con --text, el texto del único trabajo va a un archivo; con --json, todo está en la línea. Si un
    trabajo no se puede entregar, porque no se puede escribir en stdout o en el archivo, se devuelve
    enseguida.
usage-claim = cola-ia claim [OPCIONES]
examples-claim =
    cola-ia claim --text texto.txt                un trabajo: escribe RESERVA ID
    cola-ia claim --wait 1m --lease 5m            espera hasta un minuto a que haya uno
    cola-ia claim --source web --limit 20 --json

    while read -r reserva id < <(cola-ia claim --text texto.txt); do
      if ./mi-modelo < texto.txt > respuesta.txt 2> dicho.txt; then
        cola-ia complete "$reserva" --result-text respuesta.txt
      else
        cola-ia fail "$reserva" --class "exit_$?" --stderr dicho.txt
      fi
    done
exit-codes-claim =
    0    al menos un trabajo es tuyo
    1    no se pudo; ningún trabajo es tuyo
    2    no se entiende el comando o un ajuste; no se intentó nada
    8    no hay nada que reservar
    130  interrumpido mientras esperaba; ningún trabajo es tuyo

about-extend = Alarga reservas
about-extend-long =
    Desde ahora, tanto como diga el ajuste «lease», o --lease. Una reserva nunca se acorta. Hazlo
    bastante antes de que venza: cada tercio de su duración es buen ritmo.

    Sin RESERVA es la del entorno (COLA_IA_LEASE).
usage-extend = cola-ia extend [OPCIONES] [RESERVA...]
examples-extend =
    cola-ia extend "$reserva"
    cola-ia extend "$reserva" --lease 10m
exit-codes-extend =
    0    alargada
    1    no se pudo
    2    no se entiende el comando o un ajuste; no se intentó nada
    7    se perdió una reserva: deja de hacer su trabajo; las demás se alargaron

about-complete = Dice que un trabajo está terminado
about-complete-long =
    Con él se puede guardar lo que creó, lo que respondió y lo que costó. --result es un objeto JSON
    (un archivo, o - para la entrada estándar): de él se toman resource_id, cost, tokens_in,
    tokens_out y model, como las opciones del mismo nombre, y todo lo demás se guarda como resultado
    del trabajo. --result-text guarda como resultado un texto, por ejemplo la respuesta de un modelo.
    Un resultado tiene 64 KiB como mucho.

    Repetirlo con la misma reserva recibe la misma respuesta y no cambia nada. Sin RESERVA es la del
    entorno (COLA_IA_LEASE).
usage-complete = cola-ia complete [OPCIONES] [RESERVA]
examples-complete =
    cola-ia complete "$reserva"
    cola-ia complete "$reserva" --resource-id post-9 --cost 0.0123
    cola-ia complete "$reserva" --result-text respuesta.txt
    echo '{"{"}"cost":0.0123,"titulo":"Dos modelos"{"}"}' | cola-ia complete "$reserva" --result -
exit-codes-complete =
    0    quedó guardado, ahora o antes
    1    no se pudo
    2    no se entiende el comando, su resultado o un ajuste; no se intentó nada
    7    se perdió la reserva: no se cambió nada

about-fail = Dice que un intento salió mal
about-fail-long =
    El trabajo se vuelve a intentar más tarde, cada vez tras una espera más larga, hasta que hayan
    fallado «max_attempts» (5); entonces queda «fallido» a la espera de una persona: «retry».
    --permanent dice que nunca saldrá bien: queda «fallido» enseguida. --retry-after dice cuándo
    volver como muy pronto, en segundos o como fecha HTTP, igual que la cabecera Retry-After. Lo que
    solo llegó demasiado pronto, como un límite de uso, no es un fallo: release --retry-after.

    --class es un código breve para la clase de error (http_500), con el que se pueden filtrar;
    --error es lo que dijo; --stderr, un archivo con todo lo que escribió. Sin RESERVA es la del entorno (COLA_IA_LEASE).
usage-fail = cola-ia fail [OPCIONES] [RESERVA]
examples-fail =
    cola-ia fail "$reserva" --class http_500 --error "el modelo dijo que no"
    cola-ia fail "$reserva" --class "exit_$?" --stderr dicho.txt
    cola-ia fail "$reserva" --class http_503 --retry-after 120
    cola-ia fail "$reserva" --permanent --class too_long
exit-codes-fail =
    0    quedó guardado, ahora o antes
    1    no se pudo
    2    no se entiende el comando, su resultado o un ajuste; no se intentó nada
    7    se perdió la reserva: no se cambió nada

about-release = Devuelve un trabajo
about-release-long =
    No cuesta ningún intento. Sin --retry-after, otro puede tomarlo enseguida: para un trabajador que
    se detiene. Con él, nadie lo toma antes: para un límite de uso.

    Sin RESERVA es la del entorno (COLA_IA_LEASE).
usage-release = cola-ia release [OPCIONES] [RESERVA]
examples-release =
    cola-ia release "$reserva"
    cola-ia release "$reserva" --retry-after 30
    cola-ia release "$reserva" --retry-after "Sat, 31 Jan 2026 21:00:00 GMT"
exit-codes-release =
    0    devuelto, ahora o antes
    1    no se pudo
    2    no se entiende el comando o un ajuste; no se intentó nada
    7    se perdió la reserva: no se cambió nada

about-recover = Recoge los trabajos de trabajadores perdidos
about-recover-long =
    Un trabajo cuya reserva venció vuelve a estar pendiente, o queda «fallido» cuando ya se perdieron
    con él «max_crashes» (3) trabajadores. Todo lo que se ejecuta mucho tiempo lo hace solo, y también
    «claim»: a mano sirve para mirar (--dry-run) y para un almacén en el que nadie trabaja. Cada
    trabajo es una línea en stdout: su id y su estado desde entonces.
usage-recover = cola-ia recover [OPCIONES]
examples-recover =
    cola-ia recover --dry-run    los trabajos cuyo trabajador se perdió
    cola-ia recover
exit-codes-recover =
    0    hecho, o no había nada que hacer
    1    no se pudo
    2    no se entiende el comando o un ajuste; no se intentó nada

about-resume = Reanuda un origen en pausa
about-resume-long =
    Con el ajuste «source.pause_after», tantos trabajos seguidos de un origen que fallan, todos con la
    misma clase de error, lo ponen en pausa: ningún trabajador recibe trabajos suyos, y lo demás sigue.
    Los eventos siguen entrando y esperan. Cuando desaparezca la causa, esto acaba con la pausa, y los
    fallos se cuentan desde el principio. «stats» dice qué orígenes están en pausa.
usage-resume = cola-ia resume [OPCIONES] ORIGEN
examples-resume =
    cola-ia resume web
    cola-ia resume --source web --json
exit-codes-resume =
    0    sus trabajos se reparten otra vez, o no estaba en pausa: stderr dice cuál de las dos
    1    no existe ese origen, o no se pudo
    2    no se entiende el comando o un ajuste; no se intentó nada

about-cancel = Detiene un trabajo para siempre
about-cancel-long =
    Desde entonces nadie lo hace; si lo tenía un trabajador, perdió la reserva y se le dirá en cuanto
    diga algo. Un trabajo terminado sigue terminado. «retry» lo retoma. stdout recibe el id y el
    estado.
usage-cancel = cola-ia cancel [OPCIONES] ID
examples-cancel =
    cola-ia cancel idea-42
    cola-ia cancel idea-42 --source formulario
exit-codes-cancel =
    0    cancelado
    1    sin cancelar: no existe ese id, o el trabajo ya acabó
    2    no se entiende el comando, o qué origen se quiere decir; no se intentó nada

about-retry = Vuelve a intentar trabajos fallidos
about-retry-long =
    Un trabajo fallido, retenido o cancelado vuelve a estar pendiente, con todos sus intentos por
    delante; el que esperaba a más tarde puede tomarse ya. La vuelta es la misma, y también las claves
    de sus efectos: nada de lo hecho se hace dos veces. Para lo terminado está «replay».

    De un id, o de todos los trabajos que deje pasar un filtro, sean cuantos sean: si el filtro no
    nombra un estado, los fallidos. Solo se miran los trabajos que había al empezar, cada uno una vez;
    puede interrumpirse y repetirse en cualquier momento. Cada trabajo es una línea en stdout: su id y
    su estado.
usage-retry = cola-ia retry [OPCIONES] (ID | --filter FILTRO)
examples-retry =
    cola-ia retry idea-42
    cola-ia retry --filter "origen=web desde=24h" --dry-run
    cola-ia retry --filter "estado=fallido motivo=attempts_exhausted"
exit-codes-retry =
    0    todo bien; también si el filtro no deja pasar nada
    1    algún trabajo no lo admite: stderr dice cuál y por qué; los demás se reintentan
    2    no se entiende el comando, o qué origen se quiere decir; no se intentó nada
    130  interrumpido; al repetirlo sigue donde iba

about-replay = Hace un trabajo una vez más, en otra vuelta
about-replay-long =
    De lo terminado, fallido o cancelado. Es una vuelta nueva y deliberada: sus efectos tienen otras
    claves, así que lo que publique se publica otra vez. Para volver a intentar lo que falló, con las
    mismas claves, está «retry».
usage-replay = cola-ia replay [OPCIONES] ID
examples-replay =
    cola-ia replay idea-42
    cola-ia replay idea-42 --source formulario
exit-codes-replay =
    0    está pendiente, en otra vuelta
    1    sin hacer: no existe ese id, el trabajo no ha acabado, ya no está su texto, o hay un efecto abierto
    2    no se entiende el comando, o qué origen se quiere decir; no se intentó nada

about-work = Ejecuta una orden por cada trabajo y anota cómo fue
about-work-long =
    Toma los trabajos a los que les toca, el más antiguo primero, y ejecuta ORDEN por cada uno: el texto
    en su entrada estándar; el id, el origen y una clave que no cambia de un intento a otro, en su
    entorno (COLA_IA_ID, COLA_IA_SOURCE, COLA_IA_KEY…). No hay shell de por medio: para tener una,
    escribe sh -c '…'.

    El código de salida dice cómo fue. 0: terminado. 75: más tarde, sin gastar intento. 65: nunca.
    Cualquier otro, una señal o el tiempo límite: el intento falló y el trabajo se repite tras una
    espera que va creciendo, hasta --max-attempts. Lo que la orden escriba en el archivo
    COLA_IA_RESULT, un objeto JSON, se guarda: resource_id, cost, tokens_in, tokens_out, model,
    retry_after, error y todo lo demás. Con el intento se guardan los últimos 64 KiB de cada salida.

    Lo que no debe ocurrir dos veces se protege con «cola-ia effect run» dentro de la orden, o con
    --effect para la orden entera: solo se ejecuta como permite el libro de efectos, y su código de
    salida dice qué pasó, como en «effect run».

    Cada trabajo se retiene con una reserva que se renueva mientras su orden se ejecuta. Si un
    trabajador muere, sus trabajos se retoman cuando vence su reserva; este también retoma los de otros.

    En stdout sale una línea por cada orden que acaba: el id y el estado en que queda el trabajo,
    terminado, fallido o pendiente (se repetirá); con --lang en, done, failed, pending. Sin --drain se
    queda a la espera de trabajos. SIGTERM o Ctrl-C lo paran con orden: las órdenes tienen su plazo y lo
    que no se acabó se devuelve; una segunda señal acaba ya. Se puede matar en cualquier momento:
    basta con volver a ejecutarlo.
usage-work = cola-ia work [OPCIONES] -- ORDEN [ARGUMENTO]...
examples-work =
    cola-ia work -- ./analizar.py
    cola-ia work -j 4 --timeout 5m --drain -- ./analizar.py
    cola-ia work -- sh -c 'cat > "/srv/textos/$COLA_IA_JOB.txt"'
    cola-ia work --effect publish --lookup ./buscar.sh --timeout 1m -- ./publicar.sh
exit-codes-work =
    0    con --drain no queda nada a lo que le toque; o se paró con orden por SIGTERM
    1    no se pudo hacer: no existe esa orden, el almacén no se puede abrir
    2    no se entiende la línea de órdenes o un ajuste; no se intentó nada
    130  interrumpido: Ctrl-C o una segunda señal

about-effect = Protege lo que no debe ocurrir dos veces: la llamada de pago, lo publicado
about-effect-long =
    Un efecto es una acción de un trabajo fuera de aquí, con nombre. Quien lo envía pregunta antes,
    manda una clave que no cambia, mira antes de repetir y dice qué pasó. Al menos una vez, con los
    efectos protegidos.

    A un script de shell le basta una línea, «effect run». Los demás verbos son lo mismo a mano; dentro
    de un trabajo no piden reserva ni almacén. «list» y «find» son para personas, y «resolve» para lo
    que solo una persona puede saber.
usage-effect = cola-ia effect [OPCIONES] COMANDO
examples-effect =
    cola-ia effect run publish --lookup ./buscar.sh -- ./publicar.sh
    cola-ia effect list --state incierto,retenido
    cola-ia effect resolve idea-42 publish --happened post-991
    cola-ia effect find --resource post-991

about-effect-run = Ejecuta una orden como un solo efecto protegido
about-effect-run-long =
    Pregunta al libro de efectos y hace lo que responde: enviar, que es ejecutar la ORDEN; mirar
    antes; usar lo anotado; esperar, o parar. Va dentro de un trabajo de «cola-ia work», o con la
    reserva que dio «cola-ia claim».

    La ORDEN lee lo que lee effect run. Recibe en COLA_IA_EFFECT_KEY la clave que debe mandar, y en
    COLA_IA_RESULT un archivo para su resultado: un objeto JSON con resource_id, cost, tokens_in,
    tokens_out, model y todo lo demás. Si no lo escribe, el resultado es lo que imprime. Su código de
    salida dice qué pasó. 0: hecho. 65: rechazado para siempre. 75: no se envió nada. Cualquier otro,
    una señal o el fin de su tiempo: no se sabe. Pasado su tiempo se la mata con todo su grupo de procesos.

    En stdout sale el resultado anotado, o el id del recurso: lo mismo si se envió ahora o ya antes.

    --lookup es una línea para la shell que busca el efecto por su clave, que es su último argumento y
    COLA_IA_EFFECT_KEY. Salida 0 con el id del recurso en stdout: ahí está. 1: no hay nada. Cualquier
    otra: no lo pudo saber. Cuida de que, si se rompe, no salga con 1, y de que una clave que empiece
    por «-» no se tome por una opción.

    Si nadie puede saberlo (ni clave ni búsqueda), el trabajo queda retenido hasta que mire una persona;
    --otherwise retry y --retry-below lo envían otra vez. Una llamada posterior debe decir lo mismo de todo esto.
usage-effect-run = cola-ia effect run [OPCIONES] NOMBRE -- ORDEN [ARGUMENTO]...
examples-effect-run =
    cola-ia effect run publish --lookup ./buscar.sh -- ./publicar.sh
    cola-ia effect run pay --key-ttl 24h --timeout 30s -- ./pagar.sh
    borrador=$(cola-ia effect run draft --max-cost 0.02 --retry-below 0.05 -- ./borrador.sh) || exit
exit-codes-effect-run =
    0    está hecho, ahora o de antes
    1    no se pudo empezar: no existe la orden, no se abre el almacén
    2    no se entiende el comando; no se intentó nada
    7    se perdió la reserva; lo que pasó queda anotado igual
    9    queda retenido, o no se admite: stderr dice por qué
    65   el destino lo rechazó para siempre
    70   se envió y no se sabe si ocurrió: el próximo intento lo averigua
    75   no se envió nada; otra vez más tarde, sin gastar intento

about-effect-begin = Pregunta si se puede enviar un efecto
about-effect-begin-long =
    La primera palabra de stdout es la respuesta: go (envíalo antes de send_before, con la clave, y
    luego di qué fue del envío), done (usa lo anotado), check (búscalo por la clave y resuelve con el
    ticket), wait (hasta entonces no se vería lo enviado), held (decide una persona; el trabajo queda
    retenido y la reserva acabó), used (ese begin id ya se usó), refused. Detrás va lo que trae, como
    nombre=valor, entrecomillado para una shell.

    Cada proceso que vaya a enviar debe sacar su propio begin id; sin --begin-id se hace solo. El mismo,
    repetido, recibe la misma respuesta con el mismo instante.
usage-effect-begin = cola-ia effect begin [OPCIONES] NOMBRE
examples-effect-begin =
    dicho=$(cola-ia effect begin publish --lookup --call-time 30s) || exit
    palabra=$(printf %s "$dicho" | cut -d ' ' -f 1); eval "$(printf %s "$dicho" | cut -s -d ' ' -f 2-)"
    case $palabra in go) ./publicar.sh "$key" ;; done) echo "$resource_id" ;; check) ./buscar.sh "$key" ;; esac
exit-codes-effect-begin =
    0    go, done o check
    1    no se pudo; si llegó a empezar solo se sabe con el mismo --begin-id
    2    no se entiende el comando; no se intentó nada
    7    se perdió la reserva
    9    held, used o refused
    75   wait, o se agotó el presupuesto del día: otra vez más tarde

about-effect-done = Dice que un efecto ocurrió
about-effect-done-long =
    Se anota en cualquier estado, con cualquier reserva y cuantas veces haga falta: es la prueba más
    fuerte. --result es un objeto JSON, o un archivo que lo contiene: de él se toman resource_id, cost,
    tokens_in, tokens_out y model, y todo lo demás se guarda como resultado.
usage-effect-done = cola-ia effect done [OPCIONES] NOMBRE --try N
examples-effect-done =
    cola-ia effect done publish --try 1 --resource post-991
    cola-ia effect done draft --try 1 --cost 0.0123 --result respuesta.json
exit-codes-effect-done =
    0    queda anotado, ahora o de antes
    1    no se pudo; dilo otra vez
    2    no se entiende el comando o su resultado; no se intentó nada
    7    se perdió la reserva; queda anotado igual

about-effect-failed = Dice que un efecto no ocurrió con este envío
about-effect-failed-long =
    Por una de dos razones: el destino lo rechazó para siempre (--rejected), o no se envió nada
    (--not-sent). Quien no lo sabe dice «effect unknown».
usage-effect-failed = cola-ia effect failed [OPCIONES] NOMBRE --try N (--rejected | --not-sent)
examples-effect-failed =
    cola-ia effect failed publish --try 1 --rejected --note "falta el título"
    cola-ia effect failed publish --try 1 --not-sent
exit-codes-effect-failed =
    0    queda anotado, ahora o de antes
    1    no se pudo; dilo otra vez
    2    no se entiende el comando; no se intentó nada
    7    se perdió la reserva: no se cambió nada
    9    no existe ese envío

about-effect-unknown = Dice que no se sabe si un efecto ocurrió
about-effect-unknown-long =
    El próximo «effect begin» lo averigua según la política del efecto. El fin de una reserva dice lo
    mismo de lo que quedó sin contar.
usage-effect-unknown = cola-ia effect unknown [OPCIONES] NOMBRE --try N
examples-effect-unknown =
    cola-ia effect unknown publish --try 1 --note "sin respuesta en 30 s"
exit-codes-effect-unknown =
    0    queda anotado, ahora o de antes
    1    no se pudo; dilo otra vez
    2    no se entiende el comando; no se intentó nada
    7    se perdió la reserva: no se cambió nada
    9    no existe ese envío

about-effect-resolve = Dice qué se encontró de un efecto incierto
about-effect-resolve-long =
    Una persona lo dice de un efecto retenido, tras mirar en el destino, con el id del evento y el nombre
    del efecto: ocurrió (--happened, con el id de cada cosa que hay), no ocurrió (--did-not-happen), o
    nadie lo sabrá (--abandon: el trabajo falla). --try nombra el último envío que miró, como lo dice
    «show»; sin él, es el último de ahora. Después el trabajo sigue, o acaba como iba a acabar.

    Un trabajador lo dice tras «check», con el nombre del efecto y el ticket: --found o --absent. Una
    búsqueda que no lo pudo saber no dice nada.
usage-effect-resolve =
    cola-ia effect resolve ID NOMBRE (--happened RECURSO... | --did-not-happen | --abandon) [--try N]
           cola-ia effect resolve NOMBRE --ticket N (--found RECURSO | --absent)
examples-effect-resolve =
    cola-ia effect resolve idea-42 publish --happened post-991
    cola-ia effect resolve idea-42 publish --did-not-happen --try 1 --note "miré en el blog"
    cola-ia effect resolve publish --ticket 1 --absent
exit-codes-effect-resolve =
    0    queda anotado
    1    no se pudo, o no existe ese evento o ese efecto
    2    no se entiende el comando; no se intentó nada
    7    se perdió la reserva; lo encontrado queda anotado igual
    9    no cuenta: no está retenido, se envió otra vez entre tanto, o es pronto
    75   para un trabajador: es pronto, mira otra vez más tarde

about-effect-list = Lista los efectos, de lo último empezado a lo primero
about-effect-list-long =
    Una línea por efecto: su estado, su nombre, cuántos envíos tuvo, cuándo cambió, de qué evento es, y
    qué creó o por qué sigue abierto. Todos, salvo con --limit. Dentro de un trabajo lista los suyos.
usage-effect-list = cola-ia effect list [OPCIONES]
examples-effect-list =
    cola-ia effect list --state incierto,retenido
    cola-ia effect list --alarm --json
exit-codes-effect-list =
    0    todo bien
    1    no se pudo hacer
    2    no se entiende el comando; no se intentó nada

about-effect-find = Encuentra el evento que creó un recurso
about-effect-find-long =
    Del id de lo que está en el destino, de vuelta al efecto y al evento del que es.
usage-effect-find = cola-ia effect find [OPCIONES] --resource RECURSO
examples-effect-find =
    cola-ia effect find --resource post-991
exit-codes-effect-find =
    0    se encontró
    1    ningún efecto lo creó, o no se pudo hacer
    2    no se entiende el comando; no se intentó nada

about-source = Emisores de webhooks y formularios: añadir, listar, explicar, probar
about-source-long =
    Un origen es un emisor: cómo firma, dónde está su secreto y dónde llevan sus eventos el id y el
    texto. Los orígenes están en cola-ia.toml; «cola-ia serve» acepta sus peticiones en /in/NOMBRE.
usage-source = cola-ia source ORDEN
examples-source =
    cola-ia source list --schemes      los emisores que se conocen
    cola-ia source add github
    cola-ia source test github
about-source-add = Añadir un emisor a cola-ia.toml y escribir su dirección
about-source-add-long =
    Añade un bloque comentado al final de los ajustes y no cambia nada más en ellos. El esquema es
    cómo firma el emisor: uno de «source list --schemes». Escribe la dirección que hay que dar al
    emisor; el secreto va en una variable o en un archivo, nunca en los ajustes.
usage-source-add = cola-ia source add [OPCIONES] ESQUEMA
examples-source-add =
    cola-ia source add github
    cola-ia source add stripe --name tienda
    cola-ia source add form --name contacto
exit-codes-source-add =
    0    el bloque está en el archivo
    1    ya hay un origen con ese nombre, o no se puede escribir el archivo
    2    no existe el esquema, o no se entienden los ajustes
about-source-list = Listar los emisores configurados, o los esquemas que se conocen
about-source-list-long =
    Sin opciones: los emisores de los ajustes, con la dirección de cada uno y dónde están sus
    secretos, nunca los secretos. Con --schemes: cómo firman los emisores conocidos y qué de ello
    está comprobado.
usage-source-list = cola-ia source list [OPCIONES]
examples-source-list =
    cola-ia source list                     los configurados
    cola-ia source list --schemes --json
about-source-check = Explicar por qué se acepta o se rechaza una petición capturada
about-source-check-long =
    El archivo tiene una petición tal como llegó: su primera línea, sus cabeceras, una línea vacía
    y el cuerpo byte a byte. Se cuenta cada paso, y nunca se muestra la firma que habría sido
    correcta. No se guarda nada.
usage-source-check = cola-ia source check [OPCIONES] ORIGEN --request ARCHIVO
examples-source-check =
    cola-ia source check github --request peticion.txt
    cola-ia source check stripe --request - --at 2026-01-31T09:00:00Z < peticion.txt
exit-codes-source-check =
    0    la petición se acepta
    1    se rechaza, o no se puede leer
    2    no existe el origen, o no se entienden los ajustes
about-source-test = Enviar una muestra firmada al servidor en marcha
about-source-test-long =
    Hace un evento como lo haría el emisor, lo firma con el primer secreto del origen y lo envía al
    servidor que nombran los ajustes, o a --url. Es un evento de verdad y se convierte en un
    trabajo. El mismo --id por segunda vez es un repetido.
usage-source-test = cola-ia source test [OPCIONES] ORIGEN
examples-source-test =
    cola-ia source test github
    cola-ia source test github --id prueba-1 --text "otra vez"
    cola-ia source test contacto --url https://cola.example
exit-codes-source-test =
    0    el servidor la aceptó; stdout dice como qué
    1    no se puede firmar, el servidor no está, o no la aceptó
    2    no existe el origen, o no se entienden los ajustes

about-token = Tokens de la API: quién puede hacer qué por la red
about-token-long =
    Un token se escribe una vez, cuando se hace; solo se guarda su huella. Permisos: ingest
    (entregar eventos), work (tomar trabajos e informar), read (verlo todo), operate (decidir:
    resolver, reintentar, cancelar, presupuestos), admin (todo).
usage-token = cola-ia token ORDEN
examples-token =
    cola-ia token create trabajador-1 --scope work
    cola-ia token list
    cola-ia token revoke trabajador-1
about-token-create = Hacer un token y escribirlo, una vez
about-token-create-long =
    stdout lleva el token y nada más. Su nombre no se vuelve a dar, para que lo que hizo un token
    siga siendo lo que hizo.
usage-token-create = cola-ia token create [OPCIONES] NOMBRE --scope PERMISO
examples-token-create =
    cola-ia token create trabajador-1 --scope work > trabajador-1.token
    cola-ia token create sitio --scope ingest --source contacto --expires 90d
    cola-ia token create ana --scope read,operate
about-token-list = Listar los tokens, sin nada con lo que se pueda usar uno
about-token-list-long =
    También los revocados y los vencidos.
usage-token-list = cola-ia token list [OPCIONES]
about-token-revoke = Revocar un token, para siempre
about-token-revoke-long =
    Quien lo lleve deja de ser alguien, en un segundo como mucho si el servidor está en marcha.
usage-token-revoke = cola-ia token revoke NOMBRE

about-config = Muestra o revisa los ajustes
about-config-long =
    Cada ajuste se toma de la opción; si no, del entorno; si no, de cola-ia.toml; y si no, vale lo
    predeterminado.
usage-config = cola-ia config [OPCIONES] COMANDO

about-config-show = Muestra los ajustes vigentes como TOML que puedes volver a pegar
about-config-show-long = Los secretos no se muestran: en su lugar sale ***.
usage-config-show = cola-ia config show [OPCIONES]
examples-config-show =
    cola-ia config show --origin       con la procedencia de cada uno

about-config-check = Revisa los ajustes y responde ok
about-config-check-long =
    Lee el archivo, el entorno y las opciones como lo hace cualquier comando, y nada más.
    En la salida estándar sale «ok»; un error se explica por la salida de errores y termina con 2.
usage-config-check = cola-ia config check [OPCIONES]

about-id = Escribe un id de evento nuevo, para un remitente que no tiene
about-id-long =
    Es un UUID de versión 7. Créalo donde nace el evento, una sola vez, y consérvalo en todos los
    reintentos: un id que se crea de nuevo en cada intento no permite reconocer un repetido.
usage-id = cola-ia id [OPCIONES]
examples-id =
    cola-ia id                         uno
    cola-ia id -n 100                  cien

about-completions = Escribe el autocompletado para un intérprete de comandos
about-completions-long = Los intérpretes son bash, elvish, fish, powershell y zsh.
usage-completions = cola-ia completions [OPCIONES] SHELL
examples-completions =
    cola-ia completions bash > ~/.local/share/bash-completion/completions/cola-ia
    cola-ia completions zsh > "$HOME/.zfunc/_cola-ia"
    cola-ia completions fish > ~/.config/fish/completions/cola-ia.fish

about-man = Escribe una página de manual, o todas en una carpeta
about-man-long = Sin comando, es la página del programa.
usage-man = cola-ia man [OPCIONES] [COMANDO]...
examples-man =
    cola-ia man add | man -l -
    cola-ia man --dir ~/.local/share/man/es/man1

about-help = Muestra la ayuda de un comando
about-help-long = Lo mismo que COMANDO --help.
usage-help = cola-ia help [COMANDO]...

## Ayuda: opciones

arg-help = Muestra la ayuda; -h es más breve
arg-version = Muestra la versión
arg-db = El archivo del almacén [ajuste db, COLA_IA_DB; predeterminado: cola_ia.sqlite3]
arg-server = La dirección de un servidor con el que trabajar en lugar de un archivo [ajuste server, COLA_IA_SERVER; su token: COLA_IA_TOKEN o COLA_IA_TOKEN_FILE]
arg-config = El archivo de ajustes [COLA_IA_CONFIG; predeterminado: cola-ia.toml en la carpeta de trabajo, si está]
arg-lang = Idioma de la ayuda, los mensajes y las palabras de la salida: es o en [COLA_IA_LANG; predeterminado: los mensajes según la configuración regional, las palabras en español]
arg-color = Cuándo usar color: auto, always (siempre) o never (nunca) [predeterminado: auto; respeta NO_COLOR]
arg-quiet = Solo avisos y errores: sin resumen, sin progreso y sin pistas
arg-inputs = Archivos que leer, en este orden; - es la entrada estándar
arg-source = El origen de todos los eventos; se rechaza el que nombre otro
arg-source-only = Solo los de este origen
arg-source-same = El origen, como opción
arg-of-source = El origen
arg-source-filter = Solo los de estos orígenes; como todo filtro, admite una lista (web,formulario) y se puede repetir
arg-json = Escribe un objeto JSON por línea, con palabras en inglés (docs/JSON.es.md)
arg-fail-on = Termina con 3 si hay conflictos; el único valor es conflict
arg-scheme = Cómo firma el emisor: uno de «source list --schemes»
arg-schemes = Listar en su lugar los esquemas que se conocen
arg-name-of-source = El nombre del origen, si no es el del esquema
arg-request-file = La petición capturada; - lee stdin
arg-check-at = Juzgarla como si fuera este instante (RFC 3339)
arg-url = Dónde está el servidor: https, o http en esta máquina
arg-sample-id = El id de la muestra; si no está, uno nuevo
arg-sample-text = El texto de la muestra
arg-token = El nombre del token
arg-scope = Lo que permite: ingest, work, read, operate, admin; varios, con comas
arg-token-source = Con ingest, solo de este origen; varias veces para varios
arg-expires = Cuánto vale, como 90d; si no está, para siempre
arg-rejects = Agrega a este archivo las líneas rechazadas, tal cual, para arreglarlas y volver a agregarlas después
arg-dry-run = Dice qué pasaría y no guarda nada
arg-max-text-bytes = Texto más largo, como 512KiB o 4MiB [ajuste max_text_bytes, COLA_IA_MAX_TEXT_BYTES; predeterminado: 1MiB]
arg-no-progress = Sin barra de progreso (aparece en stderr cuando stdout va a otro sitio)
arg-to-file = El archivo nuevo; no debe existir
arg-from-file = La copia de seguridad
arg-no-progress-there = No muestra por dónde va
arg-to = Adónde va el almacén: postgres://USUARIO@MÁQUINA/BASE, o un archivo nuevo
arg-undo = Quita la marca de un traslado: este almacén vuelve a admitir cosas
arg-move-json = Escribe los recuentos como JSON, un objeto por clase
arg-at = Cuándo se recuperó el almacén: now (ahora), una antigüedad como 2h, una fecha (su comienzo, UTC) o un instante RFC 3339
arg-clear = Quita la marca: ya se revisó lo que pudo haber pasado
arg-quick = Solo las últimas filas de cada tabla, y no cada entrada de cada índice
arg-target = El archivo que se crea; - o nada es stdout
arg-export = La exportación; - es stdin
arg-no-bar = Sin barra de progreso
arg-state = Solo en estos estados: pendiente, en_proceso, terminado, fallido, retenido, cancelado (o pending, running, done, failed, held, cancelled)
arg-type = Solo de estos tipos
arg-since = Solo lo recibido desde entonces: una antigüedad como 15m, 24h o 7d, una fecha (UTC) o un instante RFC 3339
arg-until = Solo lo recibido antes de entonces; una fecha incluye su día
arg-filter = Lo mismo y más, con palabras clave=valor: "origen=web,formulario desde=24h"
arg-by = Una línea por cada uno de estos [predeterminado: origen]
arg-costs-since = Solo desde este día: una antigüedad como 7d, una fecha (UTC) o un instante RFC 3339
arg-costs-until = Solo antes de entonces; una fecha incluye ese día
arg-amount = Cuánto por día, como 2.50; seis decimales como mucho
arg-currency = Tres letras, como EUR; sin ellas se dice la que está fijada
arg-limit = Cuántos como máximo, hasta 1000 [predeterminado: 50]
arg-after-place = La página siguiente: el lugar que indicó la página anterior
arg-verdict = Solo con estos veredictos: nuevo, repetido, conflicto, inválido (o new, duplicate, conflict, invalid)
arg-undecided = Solo aquellos sobre los que no se ha decidido nada
arg-diff = Muestra cada uno con la diferencia entre los dos textos (con --json: con ambos textos)
arg-kind = Solo esta clase: entrada o intento (o intake, attempt)
arg-latest = Con cuántas de las últimas empieza, de 0 a 1000 [predeterminado: 10]
arg-after = La página siguiente: solo trabajos anteriores a este número de evento
arg-conflict = El conflicto de este número, el que enseña «show»; puede darse varias veces. Hace falta si no hay exactamente uno sin decidir
arg-keep = Sigue siendo un conflicto: se cuenta y deja de dar la alarma
arg-accept = También es correcto: repetido desde entonces, y el texto con el que se trabaja
arg-run = Con --accept: dar otra vuelta a un trabajo que ya no espera
arg-as = Es otro evento: entra con este id
arg-note = Por qué, con tus palabras; se guarda con la decisión
arg-older-than = Se va lo que sea más viejo que esto, como 90d, 12h o 0s, digan lo que digan los ajustes
arg-prune-dry-run = Decir qué se iría y no quitar nada
arg-shrink = Escribir después el archivo de nuevo, sin el sitio libre. Nadie más puede escribir mientras tanto, y el disco necesita sitio para dos más como él
arg-yes = Hacerlo. Sin esto no se hace nada y stderr dice qué se iría
arg-id = El id, exactamente como se envió
arg-group = Cuenta juntos los errores que solo se distinguen en números e ids, los más frecuentes primero (todos, no una página)
arg-claim-limit = Cuántos trabajos como máximo, hasta 1000 [predeterminado: 1]
arg-lease = Cuánto dura la reserva desde ahora, de 1s a 7d [ajuste lease, COLA_IA_LEASE_TIME; predeterminado: 60s]
arg-wait = Cuánto esperar a que haya un trabajo, como 30s o 5m [predeterminado: no espera]
arg-worker = Cómo se llama este trabajador, para las personas [predeterminado: el nombre de la máquina y el número del proceso que llama]
arg-text-file = Escribe el texto del trabajo en este archivo (un trabajo cada vez; cada trabajador, su propio archivo)
arg-held = La reserva, como la escribió «claim» [COLA_IA_LEASE]
arg-resource-id = Lo que creó el trabajo, como el id de una publicación
arg-result = Lo que hay que decir de él, como objeto JSON: un archivo, o - para la entrada estándar
arg-result-text = El resultado del trabajo como texto: un archivo, o - para la entrada estándar
arg-cost = Lo que costó, como 0.0123
arg-tokens-in = Tokens que entraron en un modelo
arg-tokens-out = Tokens que salieron de él
arg-model = El modelo
arg-error = Qué salió mal, en palabras; se guardan 4 KiB
arg-stderr = Lo que el programa escribió en stderr: un archivo, o - para la entrada estándar. Se guardan sus últimos 64 KiB; sin --error, el error es su última línea
arg-class = Qué clase de error fue, un código como http_500
arg-permanent = No saldrá bien por más que se intente
arg-retry-after = No antes: dentro de tantos segundos, o en una fecha HTTP
arg-exec = Lo que se ejecuta por cada trabajo, con sus argumentos tal como están
arg-jobs = Cuántas órdenes a la vez, hasta 1000 [predeterminado: 1]
arg-timeout = Cuánto puede durar una orden, como 90s o 5m; 0s o never es sin límite [ajuste time_limit, COLA_IA_TIME_LIMIT; predeterminado: never, con --effect 5m]
arg-lease-work = Cuánto se queda un trabajo con un trabajador del que no se sabe nada, de 1s a 7d [ajuste lease, COLA_IA_LEASE_TIME; predeterminado: 60s]
arg-drain = Acaba cuando no queda nada a lo que le toque ni nada en marcha aquí
arg-stdin = Lo que lee la orden: text, o json: el trabajo entero, como lo escribe «claim --json» [predeterminado: text]
arg-grace = Cuánto tiene una orden para acabar desde que se le pide, antes de matarla [ajuste grace, COLA_IA_GRACE; predeterminado: 10s]
arg-show-output = Cuando una orden acaba, escribe sus salidas en stderr, cada línea tras el id
arg-max-attempts = Tras tantos intentos fallidos el trabajo queda fallido, de 1 a 1000 [ajuste max_attempts, COLA_IA_MAX_ATTEMPTS; predeterminado: 5]
arg-order-dry-run = Dice qué pasaría con cada trabajo y no cambia nada
arg-origin = Agrega como comentario de dónde sale cada valor
arg-count = Cuántos [predeterminado: 1]
arg-shell = bash, elvish, fish, powershell o zsh
arg-command = El comando, como add o config show
arg-dir = Escribe todas las páginas en esta carpeta
arg-abandon = Nadie lo sabrá: el trabajo falla, y lo que pudo costar queda en riesgo
arg-absent = La búsqueda no encontró nada
arg-alarm = Solo los que llevan una alarma: una prueba tardía o un efecto doble
arg-begin-id = 32 cifras hexadecimales, nuevas en cada proceso que vaya a enviar [predeterminado: uno nuevo]
arg-call-time = Lo más que puede durar la llamada [predeterminado: 5m]
arg-did-not-happen = No ocurrió
arg-effect = Trata la orden entera como un solo efecto protegido con este nombre; admite las opciones de «effect run», y sin --timeout puede durar 5 minutos
arg-effect-limit = Como mucho tantos, hasta 1000 [predeterminado: todos]
arg-effect-name = El nombre del efecto dentro del trabajo: minúsculas, cifras, «.», «_» y «-», hasta 64
arg-effect-note = Por qué, con tus palabras; se guarda con el efecto
arg-effect-result = Lo que hay que decir de él: un objeto JSON, un archivo con uno, o - para la entrada estándar
arg-effect-state = Solo en estos estados: intentado, hecho, no_hecho, incierto, retenido, abandonado (o intended, done, failed, unknown, held, abandoned)
arg-effect-timeout = Cuánto puede durar la orden antes de matarla [predeterminado: 5m]
arg-find-resource = El id de lo que hay en el destino
arg-found = La búsqueda encontró esto
arg-happened = Ocurrió, y esto es lo que hay; otra vez por cada cosa más
arg-key-ttl = El destino responde a una clave conocida con su primera respuesta durante este tiempo, como 24h
arg-lookup = Se puede preguntar al destino qué tiene con la clave
arg-lookup-line = Una línea para la shell que busca el efecto por su clave: salida 0 y su id en stdout, 1 si no hay nada
arg-max-cost = Lo más que puede costar, como 0.02; hace falta si el origen tiene presupuesto, y para --retry-below
arg-not-sent = No se envió nada
arg-of-effect = El id del evento y el nombre del efecto; un trabajador, solo el nombre
arg-of-lease = La reserva, como la escribió «claim» [COLA_IA_LEASE]
arg-otherwise = Qué hacer si ni clave ni búsqueda pueden saberlo: retenerlo para una persona (hold), o repetirlo, quizá dos veces (retry) [predeterminado: hold]
arg-rejected = El destino lo rechazó para siempre
arg-request = Lo que se va a enviar, en una forma que se repita igual: otra cosa con la misma clave no se admite
arg-request-hash = Lo mismo, como su SHA-256
arg-request-run = Lo que hace que el envío sea el que es, si no es la orden con sus argumentos y el texto del trabajo
arg-resource = El id de lo que creó
arg-result-file = Lo mismo desde un archivo, o - para la entrada estándar
arg-retry-below = Envía otra vez lo que cuesta menos que esto, aunque no se sepa si ocurrió
arg-send-within = Cuánto tiempo se puede enviar desde la respuesta [predeterminado: 30s]
arg-settle = Cuánto puede tardar una búsqueda en ver lo que ocurrió [predeterminado: 60s]
arg-ticket = El ticket que dio «check»
arg-try = El envío, como lo nombró «go»
arg-try-looked-at = El último envío que se miró, como lo dice «show» [predeterminado: el último]

## Errores de uso

usage-unknown-language = no hay idioma «{ $value }» para --lang
usage-unknown-language-variable = no hay idioma «{ $value }», que pide { $variable }
usage-known-languages = los idiomas son es (español) y en (inglés)
usage-unknown-option = aquí no existe la opción { $option }
usage-option-after-command = la opción de un comando va después de él: cola-ia { $command } { $option } …
usage-file-after-dashes = un archivo cuyo nombre empieza con - va después de --: cola-ia add -- { $file }
usage-id-after-dashes = un id que empieza con - va después de --: cola-ia { $command } -- { $id }
usage-extra-argument = sobra el argumento «{ $value }»
usage-unknown-command = no existe el comando «{ $command }»
usage-planned-command = «{ $command }» no está en esta versión
usage-file-as-command = para dejar entrar los eventos de ese archivo: cola-ia add { $path }
usage-quote-id = un id con espacios va entre comillas: cola-ia { $command } { $id }
usage-missing = falta { $argument }
usage-add-what = nombra los archivos, o - para la entrada estándar: cola-ia add ARCHIVO, o cola-ia add -
usage-backup-what = nombra el archivo nuevo: cola-ia backup ARCHIVO
usage-backup-pipe = una copia de seguridad es un archivo y no pasa por una tubería; un archivo que se llame - es ./-
usage-restore-what = nombra la copia: cola-ia restore ARCHIVO
usage-work-what = la orden va tras dos guiones: cola-ia work -- ORDEN
usage-restored-what = di cuándo se recuperó el almacén con --at INSTANTE, o que ya se revisó con --clear: una de las dos
usage-not-an-instant = { $option } admite now, una antigüedad como 2h, una fecha, o una fecha con hora y desfase, no «{ $value }»
usage-no-value = { $option } necesita un valor
usage-value-not-taken = { $option } no lleva valor
usage-option-twice = { $option } solo se puede dar una vez
usage-argument-not-utf8 = un argumento no es UTF-8 válido
usage-not-utf8 = el valor «{ $value }» de { $option } no es UTF-8 válido
usage-other = no se entiende el comando: { $cause }
usage-see-help = todos los comandos y opciones: cola-ia --help
usage-unknown-word = { $option } no acepta «{ $value }»
usage-known-words = acepta: { $known }
usage-moment-hint = escribe una antigüedad (15m, 24h, 7d, 2w), una fecha (2026-01-31, en UTC) o un instante (2026-01-31T21:00:00Z)
usage-type-hint = un tipo no está en blanco, tiene 256 bytes como máximo y ningún carácter de control; si lleva una coma, va entre comillas
usage-reason-hint = un motivo es un código como id_blank o effect_unknown; --json los muestra
usage-codes-hint = los códigos de rechazo están en docs/ERRORES.md
usage-filter-pair = «{ $value }», en { $option }, no es clave=valor
usage-filter-pair-hint = escribe por ejemplo: --filter "origen=web desde=24h"; un valor con espacios va entre comillas: tipo="a b"
usage-filter-quotes = las comillas de «{ $value }», en { $option }, no se cierran o llevan algo detrás
usage-filter-key = { $option } no tiene la clave «{ $key }»
usage-filter-key-not-taken = esta lista no se puede filtrar por «{ $key }» ({ $option })
usage-filter-keys = esta lista admite: { $known }
usage-filter-twice = «{ $key }» admite un solo valor y se le dieron dos
usage-not-a-number = { $option } necesita un número entero de 1 a { $max }, no «{ $value }»
usage-stdin-twice = la entrada estándar (-) solo se puede leer una vez
usage-rejects-is-input = las líneas rechazadas no pueden ir a { $path }, que se lee como entrada
usage-resolve-how = falta decir qué se hace con el conflicto
usage-resolve-how-hint = uno de --keep, --accept o --as NUEVOID; los dos textos se ven con «cola-ia show ID»
usage-resolve-one = solo puede darse uno de --keep, --accept y --as
usage-resolve-run = --run va con --accept
usage-resolve-as-one = --as trata de un solo conflicto: un id tiene un texto
usage-prune-shrink = --shrink no va con --dry-run
server-token-missing = el servidor { $server } necesita un token y no hay ninguno
server-token-missing-hint = dalo en COLA_IA_TOKEN, o nombra en COLA_IA_TOKEN_FILE un archivo que lo tenga; «cola-ia token create» crea uno
server-token-none = { $path } no contiene ningún token
server-token-open = otros pueden leer el token de { $path }
server-token-open-hint = chmod 600 { $path }
server-token-unreadable = no se puede leer el archivo del token, { $path }: { $cause }
usage-lease-what = una reserva es lo primero que escribe «cola-ia claim»: 36 cifras hexadecimales
usage-lease-missing = no se nombra ninguna reserva, y { $variable } no está en el entorno
usage-not-a-lease = «{ $value }» no es una reserva
usage-too-many-leases = como mucho { $limit } reservas a la vez
usage-claim-text = --text trata de un solo trabajo y su línea: no va con --limit ni con --json
usage-claim-text-pipe = --text escribe un archivo, y stdout lleva la reserva; con --json el texto está en la línea
usage-not-an-amount = «{ $value }» no es un importe: un número de 0 a 1000000000 con seis decimales como mucho
usage-amount-hint = los decimales van detrás de un punto: 2.50
usage-not-a-cost = { $option } admite un número decimal como 0.0123, no «{ $value }»
usage-class-hint = una clase es un código de 64 letras, cifras, «_», «-», «.» y «:» como mucho, por ejemplo http_500
usage-permanent-later = lo que nunca saldrá bien no se vuelve a intentar: --permanent no va con --retry-after
usage-not-retry-after = { $option } admite segundos o una fecha HTTP, no «{ $value }»
usage-retry-after-hint = escribe por ejemplo 120, o: "Sat, 31 Jan 2026 21:00:00 GMT"
usage-why-failed = di por qué no ocurrió: --rejected o --not-sent, una de las dos
usage-effect-name = «{ $value }» no es un nombre de efecto
usage-effect-name-hint = minúsculas, cifras, «.», «_» y «-», empezando por letra o cifra, 64 como mucho: publish
usage-effect-endless = con --effect una orden necesita un final: --timeout de más de 0s
usage-effect-resolve-how = di de qué efecto y qué se encontró, como persona o como trabajador
usage-effect-resolve-how-hint = cola-ia effect resolve ID NOMBRE con una de --happened RECURSO, --did-not-happen, --abandon, y coste, tokens, modelo y resultado con un solo --happened; un trabajador: cola-ia effect resolve NOMBRE --ticket N con --found RECURSO o --absent
usage-effect-run-what = nombra el efecto, y la orden tras dos guiones: cola-ia effect run NOMBRE -- ORDEN
usage-effect-ticket = falta el ticket de «check»: --ticket N
usage-effect-try = falta el envío de «go»: --try N
usage-not-hex = { $option } admite { $digits } cifras hexadecimales, no «{ $value }»
usage-request-both = --request y --request-hash no van juntas
usage-resource-too-long = el id de un recurso no está vacío y tiene como mucho { $limit } bytes
usage-retry-below-max-cost = --retry-below compara lo que puede costar un envío, y eso no se ha dicho
usage-retry-below-max-cost-hint = dilo con --max-cost, por ejemplo: --max-cost 0.02 --retry-below 0.05
usage-settle-without-lookup = --settle trata de una búsqueda, y no hay ninguna: --lookup
usage-without-effect = { $option } va con --effect NOMBRE
usage-resume-what = «cola-ia stats» dice qué orígenes están en pausa
usage-resume-one = se reanuda un origen cada vez: ORIGEN y --source no van juntos
usage-retry-what = di qué trabajos: un id, o un filtro que no esté vacío
usage-retry-what-hint = todos los fallidos son: cola-ia retry --state fallido
usage-retry-both = un id y un filtro no van juntos; con un id solo cabe --source
usage-group-after = --group lo cuenta todo y no tiene página siguiente: --after no va con él
usage-result-both = hay un solo resultado: lo que guarda --result no va junto con --result-text
usage-man-both = --dir escribe todas las páginas; no va junto con el nombre de un comando

## Ajustes

setting-value = { $place }: { $fault }
fault-not-utf8 = «{ $value }» no es UTF-8 válido
fault-not-bool = «{ $value }» no es ni true ni false
fault-empty-path = la ruta está vacía
fault-path-nul = la ruta tiene un carácter U+0000
fault-postgres = { $value } no es la dirección de una base de datos: { $cause }
fault-server-url = «{ $value }» no es la dirección de un servidor
fault-server-url-user = «{ $value }» nombra un usuario: un servidor se abre con un token, COLA_IA_TOKEN o COLA_IA_TOKEN_FILE
fault-server-url-open = «{ $value }» enviaría el token por una red abierta
fault-server-url-hint = escribe https://HOST[:PUERTO], o http://127.0.0.1:PUERTO para un servidor en esta máquina
fault-token = lo que hay ahí no es un token
fault-token-hint = un token es una sola palabra de caracteres ASCII visibles, como la que imprime «token create»
usage-server-and-db = se nombran a la vez un servidor, { $server }, y un archivo, { $db }
usage-server-and-db-hint = nombra uno de los dos: --server o --db, COLA_IA_SERVER o COLA_IA_DB, o los ajustes server y db
usage-server-refused = «{ $command }» trabaja en esta máquina, y no con el servidor { $server }
usage-server-refused-hint = ejecútalo donde está el archivo del almacén, sin --server y sin COLA_IA_SERVER
fault-postgres-hint = escríbela como postgres://USUARIO@EQUIPO:PUERTO/BASE; la contraseña va en PGPASSWORD, o tras el usuario y dos puntos
fault-store-url = un almacén es un archivo o una base de datos de PostgreSQL, y { $value } es otra dirección
fault-store-url-hint = da solo la ruta, como cola_ia.sqlite3, o postgres://USUARIO@EQUIPO/BASE
fault-schema = «{ $value }» no es el nombre de un esquema
fault-schema-hint = de 1 a 63 bytes; los que empiezan por pg_ son de PostgreSQL
fault-source = «{ $value }» no es el nombre de un origen
fault-source-hint = un origen tiene de 1 a 64 caracteres de a–z, 0–9, «.», «_» y «-», y empieza con letra o cifra
fault-not-bytes = «{ $value }» no es un tamaño
fault-not-bytes-hint = escribe bytes, o un número con su unidad: 65536, 64KiB, 8MiB, 1GiB, 10MB
fault-count-bounds = «{ $value }» no es un número entero de { $min } a { $max }
fault-bytes-bounds = { $value } está fuera de los límites: como mínimo { $min }, como máximo { $max }
fault-not-duration = «{ $value }» no es una duración
fault-not-duration-hint = escribe un número con su unidad: 500ms, 60s, 5m, 1h, 7d
fault-not-age = «{ $value }» no es una edad
fault-not-age-hint = escribe un número entero con su unidad: 90d, 12w, 36h, 15m, 0s; en un ajuste también vale «never» (nunca)
fault-duration-bounds = { $value } está fuera de los límites: como mínimo { $min }, como máximo { $max }
fault-type-bool = se esperaba true o false y hay un valor de tipo { $value }
fault-type-count = se esperaba un número entero y hay un valor de tipo { $value }
fault-type-bytes = se esperaba un tamaño como 65536 o "64KiB" y hay un valor de tipo { $value }
fault-type-duration = se esperaba una duración como "60s" y hay un valor de tipo { $value }
fault-type-age = se esperaba una edad como "90d", o "never", y hay un valor de tipo { $value }
fault-price = «{ $value }» no es un precio: un número de 0 a 1000000000 con seis decimales como mucho
fault-type-price = se esperaba un precio como 2.5 y hay un valor de tipo { $value }
fault-type-prices = se esperaba una tabla como [prices."MODELO"] y hay un valor de tipo { $value }
fault-type-string = se esperaba un texto entre comillas y hay un valor de tipo { $value }
fault-type-table = se esperaba una tabla y hay un valor de tipo { $value }
fault-type-texts = se esperaba un texto entre comillas o una lista de ellos y hay un valor de tipo { $value }
fault-not-listen = «{ $value }» no es un sitio donde escuchar
fault-not-listen-hint = escribe la dirección de esta máquina y un puerto: 127.0.0.1:8787, 0.0.0.0:8787, [::1]:8787
fault-not-url = «{ $value }» no es una dirección para emisores
fault-not-url-hint = escribe https:// y el nombre del servidor, con el puerto y la ruta que van antes de /in si los hay, y nada más: https://cola.example
fault-not-host = «{ $value }» no es el nombre de un servidor
fault-not-address = «{ $value }» no es una dirección IP
fault-type-addresses = se esperaba una lista de direcciones como ["127.0.0.1"] y hay un valor de tipo { $value }
fault-type-hosts = se esperaba una lista de nombres como ["cola.example"] y hay un valor de tipo { $value }

config-unreadable = no se pueden leer los ajustes de { $file }: { $cause }
config-unreadable-hint = «cola-ia init» escribe uno comentado; --config y COLA_IA_CONFIG deben nombrar un archivo que exista
config-syntax = { $place }: no es TOML válido: { $cause }
config-unknown-key = { $place }: no existe el ajuste «{ $key }»
cost-no-currency = un coste viene en «{ $told }», que no es una moneda (tres letras, como EUR), y no se cuenta
cost-other-currency = un coste viene en { $told } y no se cuenta: las cantidades de este almacén están en { $currency }
config-price-hint = un precio tiene input y output (por millón de tokens) y request (por cada petición)
config-unknown-key-hint = todos los ajustes: cola-ia config show
config-read = se leyó { $file }
config-read-no-file = aquí no hay { $file }; se leyeron el entorno y las opciones
origin-default = predeterminado

warning-unknown-variable = { $variable } tiene valor y nada la lee
warning-line-bound = max_line_bytes ({ $line }) es menor que max_text_bytes ({ $text }): ningún texto podrá ser tan largo como se permite
warning-line-bound-hint = quita max_line_bytes: se adapta a max_text_bytes

config-file-head =
    Ajustes de cola-ia. Cada línea que empieza con «# nombre =» muestra lo predeterminado; quítale el # para cambiarlo.
    Una opción gana al entorno, y el entorno a este archivo. Mira lo que está vigente con: cola-ia config show --origin
config-file-prices = Lo que cuestan los modelos, en la moneda del almacén: por millón de tokens que entran y que salen, y por cada petición. Se usan cuando un resultado dice modelo y tokens y no dice el coste. El nombre es el que dan los resultados, letra por letra.
config-file-variable = En el entorno: { $variable }.
setting-db =
    El archivo del almacén, o una base de datos de PostgreSQL: postgres://USUARIO@EQUIPO:PUERTO/BASE. Una ruta relativa parte de la carpeta de este archivo.
setting-schema = El esquema de la base de datos en el que está el almacén. Una base puede tener varios almacenes.
setting-db-connections = El máximo de conexiones que un proceso mantiene con la base de datos.
setting-server =
    La dirección de un servidor con el que trabajan todas las órdenes en lugar del archivo del almacén: https, o http en esta máquina. Vacía: ninguno.
setting-token = El token que abre el servidor. Mejor en un archivo: token_file.
setting-token-file = Un archivo con el token que abre el servidor, que solo su dueño pueda leer. Si se da token, cuenta ese.
setting-default-source = El origen de los eventos que no nombran ninguno.
setting-max-text-bytes = El texto más largo de un evento, en bytes o con unidad (KiB, MiB). Como máximo, 256 MiB.
setting-max-line-bytes =
    La línea más larga de una entrada, en bytes o con unidad. Como máximo, 1 GiB. Si no está, se adapta a max_text_bytes: seis veces eso y 2 MiB más, y nunca menos de 8 MiB.
setting-lock-wait = Cuánto esperar mientras otro proceso escribe en el almacén o su base de datos no puede responder (ms, s, m, h). Como máximo, 24h.
setting-allow-network-filesystem =
    Abrir de todos modos un almacén que está en un sistema de archivos de red. Allí los bloqueos no son fiables y el almacén puede dañarse: úsalo solo si lo monta una única máquina.
setting-lease =
    Cuánto se queda un trabajo con su trabajador sin que se sepa nada de él (ms, s, m, h, d): después se da por perdido y otro toma el trabajo. De 1s a 7 días.
setting-max-attempts = Intentos que pueden fallar antes de que el trabajo quede «fallido» a la espera de una persona. De 1 a 1000.
setting-max-crashes = Intentos que pueden perderse con su trabajador antes de que el trabajo quede «fallido»: el que tumba a quien lo hace no debe hacerlo sin fin. De 1 a 1000.
setting-retry-first =
    La espera más larga tras el primer fallo. Se dobla con cada fallo más; la espera misma se sortea hasta ese tope, para que los que fallaron juntos no vuelvan juntos.
setting-retry-max = La espera más larga tras cualquier fallo.

setting-time-limit =
    Cuánto puede durar una orden de «cola-ia work» antes de que se la acabe y el intento falle (s, m, h, d; o never).
setting-grace = Cuánto tiene una orden de «cola-ia work» para acabar desde que se le pide, antes de matarla (ms, s, m, h). Como mucho 1h.
setting-source-pause-after =
    Tantos trabajos seguidos de un origen que fallan, todos con la misma clase de error, lo ponen en pausa: ningún trabajador recibe trabajos suyos hasta que una persona diga «cola-ia resume ORIGEN». 0: nunca.
setting-retention-deliveries =
    «cola-ia prune» quita las entregas que solo repitieron un evento conocido cuando son más viejas que esto, y guarda su cuenta (s, m, h, d, w; o never, nunca). Jamás antes de 7 días.
setting-retention-texts =
    «cola-ia prune» quita los textos y la historia de los eventos que llevan más que esto terminados o cancelados, y guarda identidad, huella y cuentas (s, m, h, d, w; o never, nunca).
setting-listen =
    Dónde escucha «cola-ia serve», DIRECCIÓN:PUERTO. A lo que no sea 127.0.0.1 pueden llegar otros: ponle delante un proxy que hable https.
setting-public-url = La dirección con la que los emisores llegan al servidor, como https://cola.example. Algunos la firman. La usan «source add» y «source test».
setting-allowed-hosts =
    Nombres con los que se puede preguntar al servidor, además de los de public_url y listen: se rechaza toda petición con otro Host.
setting-trusted-proxies =
    Direcciones de los proxies que están delante de «cola-ia serve». De una petición que pasa uno de ellos, la dirección del emisor se toma de X-Forwarded-For; en cualquier otra, esa cabecera no dice nada.
setting-backup-every = Cada cuánto hace «cola-ia serve» una copia de seguridad (s, m, h, d, w; o never).
setting-backup-keep = Cuántas de esas copias se guardan, las más nuevas. De 1 a 10000.
setting-backup-folder = La carpeta de esas copias. Una ruta relativa parte de la carpeta de este archivo.
setting-serve-max-connections = Conexiones que «cola-ia serve» tiene abiertas a la vez; las demás se cierran al momento.
setting-serve-header-deadline = Hasta cuándo debe haber llegado la cabecera entera de una petición; después se cierra la conexión.
setting-serve-body-deadline = Hasta cuándo debe haber llegado el cuerpo entero de una petición; después se responde 408.
setting-serve-grace = Cuánto deja seguir «cola-ia serve» a las peticiones en curso cuando tiene que parar.
setting-serve-body-budget = Bytes de cuerpos en memoria a la vez, entre todas las conexiones; los demás esperan, y después reciben 503.
setting-serve-queue = Peticiones que esperan al almacén a la vez; las demás reciben 503.
setting-serve-token-requests-a-minute = Peticiones que cada token puede hacer en un minuto; las demás reciben 429. 0: las que quiera.

## Orígenes y horarios en la configuración

config-table-value = { $place }: no se puede leer: { $cause }
config-sources-ready = { $count ->
    [one] 1 origen está listo
   *[other] { $count } orígenes están listos
}
config-schedule = horario { $name }: el próximo, a las { $next }
source-keys-hint = todas las claves de un origen: docs/WEBHOOKS.es.md
source-secret-inside = un secreto no va dentro de este archivo
source-secret-hint = da el nombre de su variable (secret_env = "NOMBRE") o su archivo (secret_file = "ARCHIVO"); varios, en una lista, mientras se cambia de secreto
source-no-secret = no tiene secreto: cualquiera podría enviar
source-unsigned-secret = un origen con secreto no es unsigned: quita uno de los dos
source-form-unsigned = los navegadores no firman nada
source-form-unsigned-hint = di «unsigned = true» a su lado: cualquiera que pueda abrir la página puede enviar
source-secret-twice = los secretos están en variables o en archivos, no en ambos
source-secret-none = no nombra nada
source-secret-env-name = lleva el nombre de una variable, no un secreto
source-one-verify-token = lleva uno solo
source-no-scheme = no dice cómo firma su emisor
source-unknown-scheme = no existe el esquema «{ $scheme }»
source-schemes-hint = todos los esquemas: cola-ia source list --schemes
source-conflict-status = la respuesta a un conflicto es un estado de 200 a 299, o de 400 a 599
source-not-a-rate = «{ $value }» no es un ritmo; escribe cuántos y en cuánto: 60/m, 5/s, 1000/h, 10000/d
source-form-keys-hint = un formulario lleva { $keys }
source-not-an-origin = «{ $value }» no es de donde viene una página; escríbelo como los navegadores: https://www.example.org
source-not-a-thanks = «{ $value }» no es una dirección a la que ir; escribe https://… o una ruta que empiece por /
source-empty-name = está vacío
source-fallback-unneeded = { $field }: su emisor tiene un id ({ $detail }), y eso vale más que cualquier sustituto: quita esta clave
source-id-needed = su emisor no tiene un id que sea el mismo en cada intento: di dónde hay uno (id = "/…") o acepta un sustituto por su nombre (fallback_id = "body-sha256")
source-id-documented = su emisor no tiene un id que sea el mismo en cada intento: di dónde hay uno (id = "/…") o acepta un sustituto por su nombre (fallback_id = "documented": { $detail })
source-id-of-several = { $field }: «{ $detail }» puede dar varios valores, y un id es uno
source-no-fallback = { $field }: el esquema { $detail } no documenta ningún sustituto; usa "body-sha256" o di dónde hay un id
source-no-signed-time = { $field }: los emisores de { $detail } no firman la hora
source-nothing-pending = { $field }: el esquema { $detail } no tiene un saludo que traiga el secreto
source-only-generic = { $field }: ya se sabe cómo firma { $detail }; esta clave es de los esquemas hmac y token
source-not-a-place = { $field }: «{ $detail }» no es un lugar; escribe /a/b, header:NOMBRE, form:CAMPO, o una plantilla con ellos entre llaves
source-not-a-pointer = { $field }: «{ $detail }» no es un puntero JSON, o no uno que pueda ir aquí
source-signed-id = { $field }: un id en lo firmado y la clave signed_id van juntos («{ $detail }»)
source-not-a-template = { $field }: «{ $detail }» no es algo que se pueda firmar
source-time-not-signed = { $field }: la hora no está en lo firmado («{ $detail }») y por eso no prueba nada
source-no-timestamp = { $field }: en lo firmado hay una hora («{ $detail }») y nada dice dónde está
source-by-name-only = el esquema { $detail } acepta lo que envíe cualquiera: di «unsigned = true» a su lado si es lo que quieres
source-spec-fault = { $field } no puede ser así: { $code } ({ $detail })
secret-variable-missing = la variable { $place }, que debe tener su secreto, no está o está vacía
secret-file-unreadable = no se puede leer el archivo de su secreto, { $place }: { $cause }
secret-unusable = lo que hay en { $place } no es un secreto de este esquema: { $fault }
secret-trimmed = el fin de línea que hay detrás del secreto en { $place } no cuenta
secret-fault-empty = está vacío
secret-fault-too-long = pasa de 8 KiB
secret-fault-not-base64 = no es base64
secret-fault-not-hex = no es hexadecimal
secret-fault-other-kind = es una clave de otra clase
secret-fault-length = no tiene la longitud de una clave
secret-fault-not-a-key = se descifra y no es una clave
schedule-keys-hint = un horario lleva { $keys }
schedule-missing = le falta { $key }
schedule-fields = una expresión cron tiene cinco campos (minuto, hora, día del mes, mes, día de la semana) y esta tiene { $found }
schedule-cron = no es una expresión cron: { $cause }
schedule-never = no se cumple nunca
schedule-zone = aquí no existe la zona horaria «{ $zone }»; los nombres son como Europe/Madrid y los tiene el paquete tzdata del sistema

## init, man, add, jobs, show

init-file-written = se escribió { $path }
init-file-there = { $path } ya está y se queda como está
init-file-failed = no se puede escribir { $path }: { $cause }
init-file-failed-hint = crea antes la carpeta
init-store-made = se creó el almacén { $path }
init-store-there = el almacén { $path } ya está y se puede usar
init-next-hint = deja entrar eventos con: cola-ia add eventos.jsonl
man-written =
    { $count ->
        [one] se escribió una página en { $path }
       *[other] se escribieron { $count } páginas en { $path }
    }
man-failed = no se puede escribir la página de manual { $path }: { $cause }

add-summary = { $parts }
add-summary-dry-run = no se guardó nada; esto pasaría: { $parts }
add-summary-and = { $before }, { $last }
add-summary-new =
    { $count ->
        [one] 1 nuevo
       *[other] { $count } nuevos
    }
add-summary-duplicates =
    { $count ->
        [one] 1 repetido
       *[other] { $count } repetidos
    }
add-summary-conflicts =
    { $count ->
        [one] 1 conflicto
       *[other] { $count } conflictos
    }
add-summary-decided =
    { $count ->
        [one] 1 conflicto ya decidido
       *[other] { $count } conflictos ya decididos
    }
add-summary-refused =
    { $count ->
        [one] 1 rechazado
       *[other] { $count } rechazados
    }
add-summary-unfinished =
    { $count ->
        [one] 1 última línea sin terminar
       *[other] { $count } últimas líneas sin terminar
    }
add-conflicts-hint = alguien reutilizó un id o cambió un texto que no debía cambiar; mira ambos con: { $command }
add-conflicts-hint-id = alguien reutilizó un id o cambió un texto que no debía cambiar; el primero es { $id }
add-refused-hint = con --rejects ARCHIVO se guardan las líneas rechazadas, para arreglarlas y agregarlas después
add-rejects-hint = las líneas rechazadas están en { $path }: arréglalas y agrega ese archivo
add-unfinished-hint = la línea sin terminar no entró; agrega otra vez la misma entrada cuando esté completa

column-event = EVENTO
column-state = ESTADO
column-source = ORIGEN
column-attempts = INTENTOS
column-received = RECIBIDO
column-id = ID
column-late-half = RETRASO P50
column-late-most = RETRASO P95
word-expired = vencido
column-expired = VENCIDOS
column-total = TOTAL
column-verdict = VEREDICTO
column-delivery = ENTREGA
column-late = RETRASO
column-gap = TRAS
column-detail = DETALLE
column-first = PRIMERA
column-last = ÚLTIMA
column-count = VECES
column-model = MODELO
column-day = DÍA
column-costs = COSTES
column-spent = GASTADO
column-at-risk = EN RIESGO
column-avoided = EVITADO
column-tokens-in = TOKENS ENTRADA
column-tokens-out = TOKENS SALIDA
column-limit = LÍMITE
column-reserved = RESERVADO
column-left = QUEDA
column-decision = DECISIÓN
column-number = N.º
column-time = MOMENTO
column-kind = CLASE
column-what = QUÉ
column-run = VUELTA
column-attempt = INTENTO
column-started = EMPEZÓ
column-took = DURÓ
column-outcome = RESULTADO
column-worker = QUIÉN
column-effect = EFECTO
column-tries = ENVÍOS
column-deadline = PLAZO
column-send-before = ENVIAR ANTES DE
column-try = ENVÍO
try-absent = ausente
try-done = hecho
try-not-sent = no_enviado
try-open = abierto
try-rejected = rechazado
try-restored = abierto, de la restauración
column-changed = CAMBIÓ
jobs-expired =
    { $count ->
        [one] uno de los trabajos en proceso perdió a su trabajador: su reserva venció, y lo retomará el próximo («cola-ia recover» lo hace ya)
       *[other] { $count } de los trabajos en proceso perdieron a sus trabajadores: sus reservas vencieron, y los retomará el próximo («cola-ia recover» lo hace ya)
    }
jobs-more-hint = hay más: --after { $next }
jobs-none = no hay trabajos
jobs-no-source = no ha llegado ningún evento del origen { $source }

show-not-found = ningún evento tiene el id { $id }
show-not-found-in = ningún evento del origen { $source } tiene el id { $id }
show-not-found-hint = un id se compara byte a byte: cuentan las mayúsculas, los espacios y los acentos
show-elsewhere-hint = un evento con este id llegó de: { $sources }
show-source = origen
show-event = número de evento
show-type = tipo
show-reason = motivo
show-run = vuelta
show-attempts = intentos
show-resource = recurso
show-result = resultado
show-time = ocurrió
show-received = recibido
show-due = disponible desde
show-duplicates = repetidos
show-fingerprint = huella
show-erased = borrado
show-pruned = de ellos podados
show-pruned-between = { $count }, del { $first } al { $last }
show-revision = texto { $number }, del { $time }
show-text-revision = texto { $number }, el que vale
show-kept = { $time } se mantuvo como conflicto
show-accepted = { $time } aceptado
show-entered = { $time } entró como evento { $event }
show-first = primera vez
show-last = última vez
show-late = ({ $time } después de ocurrir)
show-early = ({ $time } antes de la hora del proveedor: uno de los dos relojes está mal)
show-text = texto
show-text-gone = (ya no se conserva)
show-conflict =
    { $count ->
        [one] conflicto { $number }, llegó una vez
       *[other] conflicto { $number }, llegó { $count } veces
    }
show-changed = cambió
show-text-cut = … { $bytes } bytes más; --json lo da entero
show-difference-cut = … los textos siguen; --json da ambos enteros
show-receptions = recepciones
show-receptions-more = (no se listan { $count } anteriores, entre la primera y estas)
show-attempts-head = últimos intentos
show-late-answer = el intento { $attempt } respondió tarde («{ $said }»), cuando el trabajo ya no era suyo
show-late-superseded = el intento { $attempt } respondió tarde («{ $said }»), cuando el { $by } ya ocupaba su lugar
show-stderr = el final de su salida de errores
show-effect = efecto { $name }: { $state }
show-effect-of-run = efecto { $name } de la vuelta { $run }: { $state }
show-effect-abandoned = nadie lo sabrá, así que el trabajo ya no se termina; para hacerlo otra vez, en una vuelta nueva: cola-ia replay ID
show-effect-at-risk = en riesgo
show-effect-cost = coste
show-effect-double-effect = ALARMA: creó dos cosas
show-effect-held = solo una persona puede saberlo: mira en el destino con la clave, no antes de { $settled }, y di qué hay:
show-effect-held-now = solo una persona puede saberlo: mira en el destino con la clave y di qué hay:
show-effect-key = clave
show-effect-late-evidence = ALARMA: ocurrió, después de anotarse que no había ocurrido o que nadie lo sabría
show-effect-note = nota
show-effect-replays = veces reutilizado
show-effect-unknown = no se sabe si ocurrió; el próximo intento lo averigua según su política
show-decided-note = { $decision } («{ $note }»)

why-waits = aún no se ejecutó: lleva { $time } a la espera y nadie lo ha tomado
why-waits-again = aún no terminó: lleva { $time } a la espera de otro intento; intentos hasta ahora: { $attempts }, el último: { $last }
why-later = aún no se ejecutó: espera hasta { $due } (faltan { $time })
why-later-again = aún no terminó: el próximo intento será { $due } (faltan { $time }); intentos hasta ahora: { $attempts }, el último: { $last }
why-running = se está ejecutando: lo tiene { $worker } desde hace { $time }
why-running-lapsed = { $worker } lo tomó hace { $time } y no se sabe nada de él desde { $until }; otro intento puede tomarlo
why-done = se ejecutó y terminó { $time }
why-failed = no se vuelve a intentar, desde { $time }: { $reason }; intentos: { $attempts }, el último: { $last }
why-held = no se ejecuta: retenido desde { $time } hasta que una consulta o una persona lo aclare: { $reason }
why-cancelled = no se ejecuta: alguien lo detuvo { $time } ({ $reason })
why-time-unknown = no se sabe con cuánto retraso llegó: quien lo envía no dijo cuándo ocurrió
why-on-time = llegó { $time } después de ocurrir
why-late = llegó { $time } después de ocurrir y antes no había llegado nada: se retrasó por el camino
why-early = llegó { $time } antes de la hora a la que dice quien lo envía que ocurrió: uno de los dos relojes está mal

deliveries-none = no hay entregas
conflicts-none = no hay conflictos
conflicts-diff-hint = mira en qué difieren con --diff
conflicts-times = primera vez { $first }, última { $last }
conflicts-texts-gone = (uno de los dos textos ya no se conserva)
errors-none = no se rechazó nada ni salió mal ningún intento
errors-none-intake = no se rechazó nada
errors-none-attempt = no salió mal ningún intento
tail-waiting = a la espera: { $problem }
tail-again = ya se puede leer el almacén
tail-rewound = el almacén se sustituyó por uno anterior; se sigue desde su final

source-needed = varios orígenes conocen el id { $id }
source-needed-hint = nombra uno de ellos con --source: { $sources }
resolve-no-conflict = { $id } no tiene conflictos
resolve-all-decided = todos los conflictos de { $id } están decididos
resolve-all-decided-hint = para decidir otra vez uno que se mantuvo, nómbralo con --conflict N
resolve-which = { $count ->
    [one] { $id } tiene un conflicto sin decidir
   *[other] { $id } tiene { $count } conflictos sin decidir
}
resolve-which-hint = nombra los que quieras decir: --conflict N, varias veces si hace falta
resolve-listed =
    { $count ->
        [one] --conflict { $number }  llegó una vez, el { $last }: { $text }
       *[other] --conflict { $number }  llegó { $count } veces, la última el { $last }: { $text }
    }
resolve-kept =
    { $count ->
        [one] el conflicto { $numbers } de { $id } lo sigue siendo: se cuenta y deja de dar la alarma
       *[other] los conflictos { $numbers } de { $id } lo siguen siendo: se cuentan y dejan de dar la alarma
    }
resolve-accepted =
    { $count ->
        [one] el conflicto { $numbers } de { $id } queda aceptado: ese texto es un repetido desde ahora
       *[other] los conflictos { $numbers } de { $id } quedan aceptados: esos textos son repetidos desde ahora
    }
resolve-entered =
    { $count ->
        [one] el conflicto { $numbers } de { $id } entró como { $other }
       *[other] los conflictos { $numbers } de { $id } entraron como { $other }
    }
resolve-known =
    { $count ->
        [one] el conflicto { $numbers } de { $id }: { $other } ya se conoce con este texto, y nada entró
       *[other] los conflictos { $numbers } de { $id }: { $other } ya se conoce con este texto, y nada entró
    }
resolve-job-waits = su trabajo espera y toma el texto nuevo
resolve-job-rerun = su trabajo tiene otra vuelta, la { $run }, con el texto nuevo
resolve-job-untouched = su trabajo se queda como está: { $state }

prune-nothing = no hay nada que podar
prune-done = podado: { $parts }
prune-would = no se quitó nada; se iría esto: { $parts }
prune-events =
    { $count ->
        [one] texto e historia de 1 evento
       *[other] textos e historia de { $count } eventos
    }
prune-deliveries =
    { $count ->
        [one] 1 entrega repetida
       *[other] { $count } entregas repetidas
    }
prune-ops =
    { $count ->
        [one] el apunte de 1 llamada
       *[other] los apuntes de { $count } llamadas
    }
prune-shrink-remote = --shrink trabaja sobre el archivo del almacén, y no con un servidor
prune-shrink-remote-hint = ejecútalo donde está el archivo, sin --server
prune-shrunk = el almacén ocupaba { $from } y ocupa { $to }
prune-shrink-hint = el sitio lo usarán los eventos nuevos; para devolverlo al disco: cola-ia prune --shrink

erase-would =
    { $count ->
        [one] { $id } del origen { $source }: se iría un texto, y el tipo, las salidas, los resultados y el id; su trabajo está { $state }
       *[other] { $id } del origen { $source }: se irían { $count } textos, y el tipo, las salidas, los resultados y el id; su trabajo está { $state }
    }
erase-needs-yes = no se borró nada: falta --yes
erase-needs-yes-hint = no se puede deshacer; con --yes se hace
erase-done = borrado { $id }; su identidad queda como un resumen (hash)
erase-again = ya se borró el { $time }, y sigue borrado
erase-cancelled = su trabajo no había acabado y queda cancelado
erase-resource-hint = lo que hizo su trabajo en otro sitio sigue allí: { $resource }
erase-entered-hint = un texto suyo entró con otro id y sigue ahí: evento { $events }
erase-database-kept = el servidor de la base de datos lo tiene hasta que limpie (VACUUM), y en sus registros archivados
erase-database-kept-hint = haz VACUUM de las tablas events, conflicts, revisions y deliveries; los registros y copias antiguos acaban según sus propias reglas
erase-log-kept = alguien está leyendo un estado anterior del almacén: hasta que acabe, su registro de escritura (-wal) aún tiene lo borrado
erase-log-kept-hint = repite lo mismo más tarde: vacía ese registro
erase-copies-hint = las copias hechas antes aún lo tienen
costs-none = no se informó de ningún coste
costs-none-hint = los trabajadores dicen los costes con sus resultados: el campo cost, o model, tokens_in y tokens_out y un precio en la configuración
costs-between = del { $since } al { $until }, días enteros de UTC
costs-sources = de estos orígenes: { $sources }
costs-currency = cantidades en { $currency }
costs-no-currency = nadie ha dicho en qué moneda están las cantidades
costs-no-currency-hint = para decirlo: cola-ia budget currency EUR
budget-none = ningún origen tiene presupuesto
budget-day = sumas del { $day } (UTC)
budget-set = presupuesto de { $source }: { $amount } por día
budget-removed = { $source } ya no tiene presupuesto
budget-had-none = { $source } no tenía presupuesto
stats-since = recibido desde { $since }; los trabajos, como están ahora
stats-between = recibido desde { $since } hasta { $until }; los trabajos, como están ahora
stats-ahead =
    { $count ->
        [one] 1 entrega trae una fecha posterior a su recepción, adelantada { $time }: uno de los dos relojes está mal
       *[other] { $count } entregas traen una fecha posterior a su recepción, casi todas adelantadas { $time } o menos: uno de los dos relojes está mal
    }
stats-refused-hint = lo que se rechazó y por qué: cola-ia errors --kind intake
stats-more =
    { $count ->
        [one] 1 origen más está solo en el total
       *[other] { $count } orígenes más están solo en el total
    }

## claim, extend, complete, fail, release

claim-nothing = no hay nada que reservar
claim-nothing-yet = todavía no hay nada que reservar: el próximo trabajo espera hasta { $due }, dentro de { $time }
claim-recovered =
    { $count ->
        [one] se retoma un trabajo cuyo trabajador se perdió
       *[other] se retoman { $count } trabajos cuyos trabajadores se perdieron
    }
claim-text-failed = no se puede escribir el texto en { $path }, y el trabajo se devolvió: { $cause }
lease-lost = se perdió la reserva: le quitaron el trabajo, o este intento ya había acabado; no se cambió nada
lease-superseded = se perdió la reserva: el intento { $attempt } de su trabajo ocupó el lugar de este; no se cambió nada
leases-lost = reservas perdidas, de las que no se cambió nada: { $leases }
lease-lost-hint = deja de hacerlo; «cola-ia show ID» cuenta qué fue del trabajo
lease-unresolved = el trabajo no puede darse por terminado: nadie ha dicho qué fue de { $effects }
lease-unresolved-hint = dilo con «cola-ia effect done», «failed» o «unknown», o acaba el intento con «cola-ia fail»
lease-again = se vuelve a intentar desde { $due }
lease-for-good = su trabajo queda fallido a la espera de una persona
report-not-an-object = { $file } no es un objeto JSON
report-field = «{ $field }», en { $file }, no tiene la forma debida
report-hint = números para cost, tokens_in y tokens_out; textos para resource_id, model, error y error_class; segundos o una fecha para retry_after
report-not-utf8 = { $file } no es UTF-8 válido
report-unreadable = no se puede leer el resultado de { $file }: { $cause }
report-output-unreadable = no se puede leer de { $file } lo que escribió el programa: { $cause }
report-too-long = { $file } es demasiado largo para un resultado: como mucho { $limit } bytes, como JSON
report-too-long-hint = déjalo en otro sitio, y su nombre en --resource-id

## recover, cancel, retry, replay

recover-none = no venció ninguna reserva
recover-done =
    { $count ->
        [one] se recogió un trabajo
       *[other] se recogieron { $count } trabajos
    }
recover-would =
    { $count ->
        [one] se recogería un trabajo
       *[other] se recogerían { $count } trabajos
    }
recover-failed =
    { $count ->
        [one] uno de ellos queda fallido: se perdieron demasiados trabajadores con él
       *[other] { $count } de ellos quedan fallidos: se perdieron demasiados trabajadores con ellos
    }
recover-more = y hay más
resume-done = el origen { $source } se reanudó: sus trabajos se reparten otra vez
resume-not-paused = el origen { $source } no estaba en pausa
source-failing =
    { $count ->
        [one] un trabajo de { $source } falló con { $class } desde el { $since }; el último: { $last }
       *[other] { $count } trabajos seguidos de { $source } fallaron con { $class } desde el { $since }; el último: { $last }
    }
source-failing-hint = qué pasó: cola-ia errors --group --source { $source }
source-paused = el origen { $source } está en pausa desde el { $since }: sus trabajos no se reparten
source-paused-after =
    { $count ->
        [one] el origen { $source } está en pausa desde el { $since }, porque un trabajo falló con { $class }: sus trabajos no se reparten
       *[other] el origen { $source } está en pausa desde el { $since }, porque { $count } trabajos seguidos fallaron con { $class }: sus trabajos no se reparten
    }
source-paused-hint = cuando desaparezca la causa: cola-ia resume { $source }
order-missing = { $id } ya no tiene trabajo
order-state = { $id } está { $state } y así se queda
order-running-hint = lo tiene un trabajador: espera a que acabe, o detenlo con «cola-ia cancel»
order-replay-hint = para hacerlo una vez más, en otra vuelta: cola-ia replay ID
order-held-hint = no se sabe cómo acabó un efecto: míralo antes con «cola-ia show ID»
order-waits-hint = se hará de todos modos; si espera a más tarde, «cola-ia retry» lo adelanta a ahora
order-done-hint = aquí no se puede deshacer lo terminado
order-content-gone = no queda nada que hacer: el texto de { $id } se podó o se borró
order-effects-open = { $id } tiene un efecto que no se sabe cómo acabó
order-effects-open-hint = otra vuelta podría hacerlo dos veces: míralo antes con «cola-ia show ID»
order-effect-abandoned = { $id } ya no puede terminar: se dio por perdido un efecto suyo
order-none = no hay ningún trabajo así
order-would =
    { $count ->
        [one] se reintentaría un trabajo
       *[other] se reintentarían { $count } trabajos
    }
order-cancelled =
    { $count ->
        [one] se canceló un trabajo
       *[other] se cancelaron { $count } trabajos
    }
order-retried =
    { $count ->
        [one] vuelve a intentarse un trabajo
       *[other] vuelven a intentarse { $count } trabajos
    }
order-replayed =
    { $count ->
        [one] un trabajo espera su nueva vuelta
       *[other] { $count } trabajos esperan su nueva vuelta
    }
order-refused =
    { $count ->
        [one] un trabajo se queda como está
       *[other] { $count } trabajos se quedan como están
    }
errors-groups-more =
    { $count ->
        [one] hay una clase de error más: se ve con un --limit mayor
       *[other] hay { $count } clases de error más: se ven con un --limit mayor
    }
errors-ungrouped = hay más de { $groups } clases de error: { $count } errores no están en ningún grupo; redúcelos con un filtro

## effect

effect-abandoned = { $name }: una persona lo dio por perdido; el trabajo ya no puede terminarse
effect-begin-again-hint = si llegó a empezar solo se sabe con el mismo id: --begin-id { $id }
effect-budget = { $name }: se agotó el presupuesto del día; no se envió nada, y se renueva en { $until }
effect-cost-required = { $name }: el origen tiene presupuesto y no se dijo cuánto puede costar; no se envió nada
effect-cost-required-hint = dilo con --max-cost
effect-could-not-tell = { $name }: la búsqueda no pudo saber si ocurrió ({ $why }); no se envió nada, y se mira otra vez más tarde
effect-decide-early = { $name } de { $id }: lo que se mandó con el envío { $number } aún puede ocurrir; cuenta desde { $until }
effect-decide-early-hint = mira entonces otra vez en el destino y di qué hay
effect-decide-failed-hint = consta que no ocurrió nada; si algo ocurrió, dilo con --happened en cuanto vuelva a estar retenido, o con «cola-ia effect done»
effect-decide-newer = { $name } de { $id }: hubo otro envío después del { $number } que se miró: el { $newest }
effect-decide-newer-hint = mira otra vez en el destino y nombra ese envío
effect-decide-state = { $name } de { $id } no está retenido, sino { $state }; no se cambió nada
effect-decide-unknown-hint = el próximo intento lo averigua según su política
effect-decided-abandoned = { $name } de { $id } se da por perdido, tras el envío { $number }
effect-decided-absent = { $name } de { $id } no ocurrió, hasta el envío { $number }
effect-decided-happened = { $name } de { $id } ocurrió, hasta el envío { $number }
effect-find-nothing = ningún efecto creó { $resource }
effect-find-nothing-hint = un id se compara byte a byte; «cola-ia effect list --json» los dice todos
effect-held = { $name }: el trabajo queda retenido hasta que mire una persona ({ $reason }); no se envió nada
effect-held-hint = cola-ia effect list --state retenido; después: cola-ia effect resolve ID { $name } con --happened RECURSO, --did-not-happen o --abandon
effect-late = { $name }: queda anotado que ocurrió; pero entre tanto se perdió la reserva
effect-lease-lost = { $name }: se perdió la reserva; no se cambió nada
effect-list-none = no hay efectos así
effect-mismatch = { $name }: se enviaría otra cosa con una clave que el destino ya conoce; no se envió nada
effect-mismatch-hint = la orden, sus argumentos y el texto deben ser los mismos en cada intento; lo que puede variar (la ruta de un archivo temporal) se deja fuera con --request
effect-missing = { $id } no tiene ningún efecto { $name }
effect-missing-hint = tiene: { $known }
effect-no-try = { $name }: no existe el envío { $number }
effect-not-begun = { $name }: nadie respondió si se puede enviar, y no se envió nada: { $problem }
effect-not-recorded = { $name }: lo que pasó no se pudo anotar, así que para el registro es incierto: { $problem }
effect-not-recorded-done = { $name }: ocurrió ({ $resource }) y no se pudo anotar, así que para el registro es incierto: { $problem }
effect-not-sent = { $name }: no se envió nada ({ $why })
effect-not-started = no se pudo poner en marcha la orden: { $cause }
effect-other-policy = { $name } empezó con otra política; no se envió nada
effect-other-policy-hint = --key-ttl, --lookup, --settle, --otherwise y --retry-below deben seguir siendo los de este efecto; «cola-ia show ID --json» los dice
effect-outer-result = lo que debe saber el trabajo no se puede escribir en { $path }: { $cause }
effect-reason-begun-again = otro proceso lo empezó mientras no se sabía qué fue del primero
effect-reason-job-ends = su trabajo iba a acabar mientras no se sabía si ocurrió
effect-reason-lease-ended = la reserva con la que empezó acabó antes de que nadie dijera qué pasó
effect-reason-nobody-can-tell = pudo ocurrir, y ni clave ni búsqueda pueden saberlo
effect-reason-other-try-open = un envío no ocurrió, y de otro no se sabe
effect-reason-reported = quien lo envió no sabe si ocurrió
effect-reason-restored = el almacén se restauró de un estado anterior, y pudo ocurrir desde entonces
effect-rejected = { $name }: el destino lo rechazó para siempre ({ $why })
effect-replayed = { $name } ya había ocurrido; no se envió nada
effect-replayed-resource = { $name } ya había ocurrido, como { $resource }; no se envió nada
effect-report-again-hint = no se sabe si se oyó: dilo otra vez
effect-result-field = el campo «{ $field }» de COLA_IA_RESULT no tiene la forma que debe; se guarda con el resultado
effect-result-no-object = COLA_IA_RESULT no es un objeto JSON y no se usa
effect-output-not-kept = { $name }: ya ocurrió, y lo que imprimió la orden es demasiado largo para guardarlo con el efecto
effect-output-not-kept-hint = haz que la orden escriba el texto en un archivo e imprima su nombre
effect-result-too-long = COLA_IA_RESULT pasa de 64 KiB y no se usa
effect-result-unreadable = COLA_IA_RESULT no se puede leer: { $cause }
effect-too-many = { $name }: el trabajo tiene ya todos los efectos, o el efecto todos los envíos, que puede haber; no se envió nada
effect-unknown = { $name }: se envió y no se sabe si ocurrió ({ $why })
effect-unknown-hint = el próximo intento lo averigua según la política del efecto; «cola-ia show ID» cuenta más
effect-used = { $name }: ese begin id ya hizo su envío; empieza otra vez con uno nuevo
effect-void = { $name }: { $number } habla de lo que ya pasó; no se cambió nada
effect-void-hint = empieza otra vez
effect-wait = { $name }: lo que pudo enviarse aún no se vería; no se envió nada, y sigue en { $until }

## work

work-no-threads = no se puede poner en marcha el trabajador: { $cause }
work-no-folder = no se puede crear en { $path } una carpeta para los sockets y los archivos de resultado: { $cause }
work-no-folder-hint = haz sitio ahí o indica otra carpeta con TMPDIR
work-no-program = no existe el programa «{ $program }»
work-no-program-hint = un nombre se busca en PATH; lo demás se escribe como ruta: cola-ia work -- ./NOMBRE
work-no-program-here = está en esta carpeta, que no está en PATH: cola-ia work -- ./{ $program }
work-no-program-line = no hay shell de por medio; para tener una: cola-ia work -- sh -c '{ $program }'
work-no-interpreter = { $program } pide un intérprete que no está: { $interpreter }
work-no-interpreter-hint = está en la primera línea del script, tras #! (un retorno de carro al final cuenta)
work-no-format = { $program } no es un programa que este sistema pueda ejecutar
work-no-format-hint = un script empieza con la línea #!/bin/sh, o el nombre de lo que lo ejecuta
work-denied = { $program } no es ejecutable
work-denied-hint = dale permiso: chmod +x { $program }
work-cause = { $cause }
work-cause-denied = no está permitido ejecutarla
work-cause-too-long = sus argumentos y su entorno son más de lo que admite el sistema
work-cause-stopped = se paró
work-not-started = no se pudo poner en marcha la orden de { $id }: { $cause }; el trabajo espera y no se cuenta ningún intento
work-store-waits = el almacén no se puede usar: { $problem }; las órdenes siguen, y lo que acaba se guarda hasta poder anotarlo
work-store-again = el almacén se puede usar otra vez
work-recovered =
    { $count ->
        [one] un trabajo estaba en manos de un trabajador que se perdió; se retoma
       *[other] { $count } trabajos estaban en manos de trabajadores que se perdieron; se retoman
    }
work-recovered-failed =
    { $count ->
        [one] uno de ellos ha perdido demasiados trabajadores y queda fallido
       *[other] { $count } de ellos han perdido demasiados trabajadores y quedan fallidos
    }
work-recovered-and = { $recovered }; { $failed }
work-lost = { $id }: su reserva venció y se perdió; se para su orden y nada de ella cuenta
work-lost-to = { $id }: su reserva venció y el trabajo lo tiene el intento { $attempt }; se para su orden y nada de ella cuenta
work-late = { $id }: el intento { $attempt } acabó tras perder su reserva; queda anotado y no cambia nada
work-late-by = { $id }: el intento { $attempt } acabó cuando el trabajo ya lo tenía el intento { $newer }; queda anotado y no cambia nada
work-later-lookup = { $id }: la búsqueda no pudo saberlo: { $why }; otra vez a partir de { $due } (effect_lookup), no se cuenta ningún intento
work-later = { $id }: otra vez a partir de { $due }, como pidió; no se cuenta ningún intento
work-failed-again = { $id }: el intento { $attempt } falló ({ $class }): { $said }; se repite a partir de { $due }
work-failed-for-good = { $id }: el intento { $attempt } falló ({ $class }): { $said }; no se repite y espera a una persona
work-said = { $line }
work-said-nothing = no escribió nada en stderr
work-cost = { $id }: { $fault }
work-escaped = { $id }: un proceso de su orden se ha salido de su grupo y sigue vivo
work-failed-held = { $id }: el intento { $attempt } falló ({ $class }): { $said }; no se sabe qué fue de un efecto suyo y queda retenido: cola-ia show ID
work-held = { $id }: retenido hasta que una persona mire uno de sus efectos: cola-ia show ID; no se cuenta ningún intento
work-summary-held =
    { $count ->
        [one] 1 retenido
       *[other] { $count } retenidos
    }
work-result-no-object = { $id }: COLA_IA_RESULT no es un objeto JSON y no se usa; su comienzo se guarda como error
work-result-too-long = { $id }: COLA_IA_RESULT pasa de 64 KiB y no se usa
work-result-unreadable = { $id }: COLA_IA_RESULT no se puede leer: { $cause }
work-result-field = { $id }: el campo «{ $field }» de COLA_IA_RESULT no tiene la forma que debe; se guarda con el resultado
work-stopping =
    { $seconds ->
        [one] parando: las órdenes tienen un segundo para acabar; otra señal las acaba ya
       *[other] parando: las órdenes tienen { $seconds } segundos para acabar; otra señal las acaba ya
    }
work-progress =
    { $done ->
        [one] 1 terminado
       *[other] { $done } terminados
    }, { $failed ->
        [one] 1 fallido
       *[other] { $failed } fallidos
    }, { $running } en marcha, { $rate }/s
work-progress-left = { $now }, quedan { $left }
work-summary-done =
    { $count ->
        [one] 1 terminado
       *[other] { $count } terminados
    }
work-summary-failed =
    { $count ->
        [one] 1 fallido
       *[other] { $count } fallidos
    }
work-summary-again =
    { $count ->
        [one] 1 intento por repetir
       *[other] { $count } intentos por repetir
    }
work-summary-released =
    { $count ->
        [one] 1 devuelto
       *[other] { $count } devueltos
    }
work-summary-lost =
    { $count ->
        [one] 1 perdido ante otro trabajador
       *[other] { $count } perdidos ante otros trabajadores
    }
work-left =
    { $count ->
        [one] un trabajo espera hasta { $due }
       *[other] { $count } trabajos esperan, el primero hasta { $due }
    }
work-left-elsewhere =
    { $count ->
        [one] un trabajo está en manos de otro trabajador, o de uno que se perdió y cuya reserva no ha vencido
       *[other] { $count } trabajos están en manos de otros trabajadores, o de algunos que se perdieron y cuyas reservas no han vencido
    }
inside-no-worker = el trabajador de este trabajo no contesta en { $path }: { $cause }
inside-no-worker-hint = COLA_IA_SOCKET es para la orden de un trabajo, mientras se ejecuta
inside-refused = el trabajador de este trabajo se niega: { $code }

## backup, restore, restored, doctor

progress-check = comprobando cada página
progress-place = poniéndola en su lugar
progress-tables =
    { $count ->
        [one] una fila comparada
       *[other] { $count } filas comparadas
    }
backup-made =
    { $count ->
        [one] un evento copiado en { $path } ({ $size }), comprobado hasta la última página
       *[other] { $count } eventos copiados en { $path } ({ $size }), comprobados hasta la última página
    }
backup-waited = se hizo esperar { $seconds } s a quienes escribían, para que mientras tanto el registro de escritura no creciera más
restore-done =
    { $count ->
        [one] { $path } es ahora lo que era { $from }, con un evento
       *[other] { $path } es ahora lo que era { $from }, con { $count } eventos
    }
restore-kept = lo que había se guarda como { $path }; bórralo cuando ya no lo necesites
restore-since = lo que pasó después del { $at } no está: pide que te entreguen otra vez lo enviado desde entonces; nada entra dos veces
restore-since-unknown = lo que pasó después de hacerse la copia no está: pide que te entreguen otra vez lo enviado desde entonces; nada entra dos veces
keeping-interrupted = interrumpido; no se cambió nada
restored-marked = el almacén queda marcado como restaurado el { $at }
restored-cleared = el almacén no lleva ninguna marca de restauración
restored-leases =
    { $count ->
        [one] un trabajo estaba en proceso; perdió su reserva y vuelve a esperar
       *[other] { $count } trabajos estaban en proceso; perdieron su reserva y vuelven a esperar
    }
restored-hint = un efecto que no consta como hecho puede haber ocurrido de todos modos; cuando lo hayas revisado: cola-ia restored --clear
severity-ok = bien
severity-note = nota
severity-warning = aviso
severity-error = error
doctor-well = no hay nada mal en { $path }
doctor-unwell = { $path }: { $errors }, { $warnings }
doctor-errors =
    { $count ->
        [one] 1 error
       *[other] { $count } errores
    }
doctor-warnings =
    { $count ->
        [one] 1 aviso
       *[other] { $count } avisos
    }
doctor-versions = cola-ia { $program }, SQLite { $sqlite }, esquema { $schema }, hecho por cola-ia { $made_by }
doctor-versions_postgres = cola-ia { $program }, PostgreSQL { $server }, esquema { $schema }, hecho por cola-ia { $made_by }
doctor-connections = están ocupadas { $count } de { $most } conexiones del servidor
doctor-connections_few = están ocupadas { $count } de { $most } conexiones del servidor: la próxima puede ser rechazada
doctor-connections_few-hint = pon en medio un repartidor de conexiones (PgBouncer, por transacción) o sube max_connections
doctor-server_old = el servidor es PostgreSQL { $server }: tiene que ser el 13 o uno más nuevo
doctor-server_old-hint = pasa la base de datos a un servidor más nuevo
doctor-server_fsync = { $setting } está en off: si la máquina se para, la base de datos puede quedar rota y nada la recupera
doctor-server_fsync-hint = ponlo en on y reinicia el servidor; solo un servidor de pruebas puede ir sin él
doctor-server_full_pages = { $setting } está en off: si la máquina se para, puede haber páginas rotas
doctor-server_full_pages-hint = ponlo en on, salvo que el propio sistema de archivos escriba páginas enteras
doctor-server_commits = { $setting } está en off: lo que se respondió como guardado se pierde si el servidor se para al momento
doctor-server_commits-hint = ponlo en on, al menos para esta base de datos: ALTER DATABASE NOMBRE SET synchronous_commit = on
doctor-server_autovacuum = { $setting } está en off: las filas muertas se quedan, y el almacén es cada día más lento y más grande
doctor-server_autovacuum-hint = ponlo en on
doctor-server_replica = el servidor es una réplica: se puede mirar, y no recibe nada
doctor-server_replica-hint = da la dirección del principal, o de lo que lleva a él
doctor-server_hides = no se ven las conexiones de otros usuarios: si una de ellas frena al servidor, aquí no se dice
doctor-server_hides-hint = GRANT pg_read_all_stats TO el usuario del almacén
doctor-clocks_apart = el reloj del servidor y el de esta máquina se llevan { $seconds } s; las horas son las del servidor
doctor-clocks_apart-hint = que ambos sigan a los mismos servidores de hora (NTP)
doctor-transaction_old = una transacción de { $who } (proceso { $pid } del servidor) está abierta desde el { $since_at }: mientras tanto no se pueden quitar las filas muertas
doctor-transaction_old-hint = termínala donde se empezó, o con: SELECT pg_terminate_backend({ $pid })
doctor-prepared_old = la transacción { $name } está preparada desde el { $since_at } y sin terminar: mientras tanto no se pueden quitar las filas muertas
doctor-prepared_old-hint = termínala con COMMIT PREPARED o ROLLBACK PREPARED
doctor-slot_unused = nadie usa la ranura de réplica { $name }: por ella se guardan { $behind_bytes } de registro, y cada día más
doctor-slot_unused-hint = arranca la réplica a la que pertenece, o quítala con: SELECT pg_drop_replication_slot('{ $name }')
doctor-table_bloated = la tabla { $table } tiene { $count } filas muertas y { $rows } de las otras
doctor-table_bloated_since = la tabla { $table } tiene { $count } filas muertas y { $rows } de las otras; se limpió por última vez el { $vacuumed_at }
doctor-table_bloated-hint = mira quién frena al servidor, arriba si hay alguien; después, haz VACUUM de ella
doctor-table_aged = la tabla { $table } lleva { $count } transacciones sin limpiarse: al llegar a 2 147 483 648, el servidor no recibe nada más
doctor-table_aged-hint = haz VACUUM (FREEZE) de ella, y mira por qué el servidor no lo hace solo
doctor-table_untidied = el servidor no limpia por sí solo la tabla { $table }
doctor-table_untidied-hint = corrígelo con: ALTER TABLE { $table } RESET (autovacuum_enabled)
doctor-table_unlogged = la tabla { $table } no está en el registro: el servidor la vacía si no se paró en orden
doctor-table_unlogged-hint = corrígelo con: ALTER TABLE { $table } SET LOGGED
doctor-table_missing = la tabla { $table } no está
doctor-table_missing-hint = otro programa cambió la base de datos: detén la entrada y carga una copia de seguridad
doctor-index_missing = el índice { $name } no está, o ya no impide que esté dos veces lo que debe estar una
doctor-index_missing-hint = hazlo otra vez como está en un almacén nuevo de otro esquema: pg_dump --schema-only lo enseña
doctor-index_invalid = el índice { $name } no es válido: no se usa
doctor-index_invalid-hint = corrígelo con: REINDEX INDEX CONCURRENTLY { $name }
doctor-numbers_behind = los números de { $table } van por detrás de los que se dieron: los próximos estarían ocupados
doctor-numbers_behind-hint = la base de datos se cargó en parte: carga la copia entera, también sus secuencias
doctor-arrivals_ahead = la base de datos se cargó desde otro servidor: { $count } lotes tienen números de transacciones a las que este no ha llegado
doctor-arrivals_ahead-hint = el próximo programa que abra el almacén para escribir los pone en orden; «tail» empieza entonces de nuevo
doctor-database_damaged-hint = otro programa cambió la base de datos, o está dañada: detén la entrada, guárdate una copia con pg_dump y carga una copia de seguridad
doctor-file = el archivo tiene { $bytes }
doctor-file_cut = el archivo tiene { $bytes } y dice que tiene { $expected_bytes }: le falta el final
doctor-file_cut-hint = copia el archivo y su -wal tal como están, y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-file_longer = el archivo tiene { $bytes } y dice que tiene { $expected_bytes }: así queda una copia hecha mientras estaba en uso
doctor-file_longer-hint = si se hizo con cp, usa el original o un archivo de «cola-ia backup»; a este pueden faltarle los últimos eventos
doctor-filesystem = el sistema de archivos es { $filesystem }
doctor-filesystem_fuse = el sistema de archivos es FUSE: desde aquí no se ve qué hay detrás
doctor-filesystem_fuse-hint = en una carpeta de red, dos máquinas pueden tener el bloqueo a la vez: que una sola use el almacén
doctor-filesystem_passing = el sistema de archivos es { $filesystem }: lo que hay en él puede acabarse con la máquina o el contenedor
doctor-filesystem_passing-hint = para eventos que haya que conservar, pon el almacén en un disco o un volumen que permanezca
doctor-disk = quedan libres { $free_bytes }
doctor-disk_low = solo quedan libres { $free_bytes }: pronto no habrá espacio para lo que entre
doctor-disk_low-hint = libera espacio; solo el registro de escritura puede ocupar 128 MiB
doctor-disk_tight = quedan libres { $free_bytes }: menos de lo que ocupa el almacén, así que a su lado no cabe ni una actualización ni una copia
doctor-disk_tight-hint = libera espacio antes de la próxima actualización, y pon las copias en otro disco
doctor-log = el registro de escritura tiene { $bytes }, de los que { $waiting_bytes } aún no están en el archivo
doctor-log_large = el registro de escritura ha crecido hasta { $bytes }, de los que { $waiting_bytes } aún no están en el archivo
doctor-log_large-hint = alguien lee un estado antiguo, o lee sin pausa: mira quién tiene abierto el almacén y cierra las sesiones de sqlite3 olvidadas; después el registro se encoge solo
doctor-log_foreign = el archivo solo está sano, y con el registro de escritura { $wal } no lo está: es de otro archivo, o uno de los dos es una copia más antigua
doctor-log_foreign-hint = que nada lo abra; copia ambos tal como están, y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-in_use = lo tienen abierto: { $who }
doctor-reader_old = el proceso { $who } lee un estado anterior a los últimos { $behind_bytes } escritos, y no deja que el registro de escritura se encoja
doctor-reader_old-hint = termina su transacción, o el proceso
doctor-leftover = un proceso que murió dejó { $path } ({ $bytes })
doctor-leftover-hint = se puede borrar
doctor-second_name = { $path } es un segundo nombre de los archivos del propio almacén, que dejó una restauración que murió
doctor-second_name-hint = bórralo (el almacén conserva su nombre), o ejecuta otra vez la restauración
doctor-readable_by_others = otros usuarios pueden leer { $path }
doctor-readable_by_others-hint = si no deben: chmod 600 ARCHIVO
doctor-pages = cada página está como la escribió SQLite
doctor-pages_quick = todas las páginas se pueden leer; no se compararon los índices (--quick)
doctor-pages_damaged = hay páginas dañadas: { $cause }
doctor-pages_damaged-hint = deja de usarlo, copia el archivo y su -wal tal como están, y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-pages_unfinished = no se pudieron comprobar todas las páginas: mientras tanto se escribió demasiado, y la comprobación no deja que el registro de escritura se encoja
doctor-pages_unfinished-hint = comprueba en su lugar una copia: cola-ia backup ARCHIVO la comprueba
doctor-tables =
    { $rows ->
        [one] una fila encaja con las demás
       *[other] { $rows } filas encajan entre sí
    }
doctor-tables_quick =
    { $rows ->
        [one] la última fila encaja con las demás
       *[other] las últimas { $rows } filas encajan entre sí (--quick)
    }
doctor-event_without_job = eventos sin trabajo (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-event_without_job-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-event_without_identity = eventos a los que su id no lleva (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-event_without_identity-hint = un evento repetido podría entrar otra vez: detén la entrada, guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-identity_of_nothing = identidades de un evento que no está (tabla { $table }): { $count }; la primera es del número { $row }
doctor-identity_of_nothing-hint = con un id así no puede entrar nada: guarda una copia del almacén y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-identity_twice = eventos con más de una identidad (tabla { $table }): { $count }; el primero es el número { $row }
doctor-identity_twice-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-slot_twice = lugares de identidades ocupados dos veces (tabla { $table }): { $count }; el primero es { $row }
doctor-slot_twice-hint = un evento repetido podría entrar otra vez: detén la entrada, guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-identities_broken = bloques de identidades dañados (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-identities_broken-hint = un evento repetido podría entrar otra vez: detén la entrada, guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-identities_miscounted = no hay tantos bloques de identidades como dice el almacén
doctor-identities_miscounted-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-event_without_source = eventos de un origen que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-event_without_source-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-number_twice = números que comparten un evento y otra entrega (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-number_twice-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-job_without_event = trabajos sin evento (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-job_without_event-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-job_without_state = trabajos en un estado que no existe, o en proceso sin reserva (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-job_without_state-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-jobs_miscounted = las cuentas de trabajos por estado y origen difieren de los trabajos en { $count } sitios
doctor-jobs_miscounted-hint = «cola-ia stats» da números de trabajos equivocados, y nada más falla por ello; otro programa cambió trabajos
doctor-jobs_uncounted = no se pudieron contar todos los trabajos: mientras tanto se escribió demasiado, y contarlos no deja que el registro de escritura se encoja
doctor-jobs_uncounted-hint = mira en su lugar una copia de seguridad: cola-ia doctor --db ARCHIVO
doctor-delivery_of_nothing = entregas de un evento que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-delivery_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-delivery_of_no_conflict = entregas de un conflicto que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-delivery_of_no_conflict-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-conflict_of_nothing = conflictos de un evento que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-conflict_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-revision_of_nothing = revisiones de un conflicto que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-revision_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-decision_of_nothing = decisiones sobre un conflicto, o para un evento, que no está (tabla { $table }): { $count }; la primera, en la fila { $row }
doctor-decision_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-pruned_of_nothing = entregas podadas de un evento que no está (tabla { $table }): { $count }; la primera, en la fila { $row }
doctor-pruned_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-attempt_of_nothing = intentos de un trabajo que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-attempt_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-effect_of_nothing = efectos de un trabajo que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-effect_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-try_of_nothing = intentos de un efecto que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-try_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-record_of_nothing = registros de un efecto que no está (tabla { $table }): { $count }; el primero, en la fila { $row }
doctor-record_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-body_of_nothing = resúmenes de bytes firmados de un evento que no está, o de otro origen (tabla { $table }): { $count }; el primero es del número { $row }
doctor-body_of_nothing-hint = otro programa cambió el almacén, o está dañado: guarda una copia y recupera una copia de seguridad con: cola-ia restore ARCHIVO
doctor-money_miscounted =
    { $count ->
        [one] las sumas dan en riesgo otra cantidad que la que retienen los envíos abiertos, en un día de un origen
       *[other] las sumas dan en riesgo otras cantidades que las que retienen los envíos abiertos, en { $count } días de orígenes
    }
doctor-money_miscounted-hint = «cola-ia costs» se equivoca ahí, y un presupuesto también mientras sea ese día; otro programa cambió el almacén
doctor-money_uncounted = no se pudo sumar todo lo que retienen los envíos abiertos: mientras tanto se escribió demasiado, y sumarlo no deja que el registro de escritura se encoja
doctor-money_uncounted-hint = mira en su lugar una copia de seguridad: cola-ia doctor --db ARCHIVO
doctor-double_effect =
    { $count ->
        [one] un efecto ocurrió dos veces; se supo por última vez el { $latest_at }
       *[other] { $count } efectos ocurrieron dos veces; el último se supo el { $latest_at }
    }
doctor-double_effect-hint = algo puede haberse pagado o publicado dos veces: deshaz uno de cada en su destino; míralos con: cola-ia effect list --alarm
doctor-late_evidence =
    { $count ->
        [one] ocurrió un efecto que constaba como no hecho o abandonado; se supo el { $latest_at }
       *[other] ocurrieron { $count } efectos que constaban como no hechos o abandonados; el último se supo el { $latest_at }
    }
doctor-late_evidence-hint = alguien dijo que no había pasado nada y se equivocó: puede que haya que deshacer lo que se hizo por eso; míralos con: cola-ia effect list --alarm
doctor-backup = esto es una copia de seguridad, hecha el { $taken_at }
doctor-backup-hint = para usarla: cola-ia restore ARCHIVO
doctor-restored = el almacén se restauró el { $restored_at }: lo que pasó entremedias no está; efectos registrados que pueden haber ocurrido desde entonces: { $effects }
doctor-restored_from = el almacén se restauró el { $restored_at } desde una copia hecha el { $taken_at }: lo que pasó entremedias no está; efectos registrados que pueden haber ocurrido desde entonces: { $effects }
doctor-restored-hint = los efectos que no constan como hechos pueden haber ocurrido de todos modos, también los que no están registrados: hasta entonces el próximo intento mira antes, o decide una persona; cuando una persona lo haya revisado: cola-ia restored --clear
doctor-copied = este archivo es una copia que no hizo cola-ia: si el original estaba en uso, pueden faltar los últimos eventos, y nada en el archivo lo dice
doctor-copied_before = este archivo era una copia que no hizo cola-ia cuando se abrió el { $noticed_at }: si el original estaba en uso, pueden faltar los últimos eventos, y nada en el archivo lo dice
doctor-copied-hint = si ocupó el lugar de un almacén que había seguido trabajando: cola-ia restored --at now; si se movió mientras nadie lo usaba, todo está bien: cola-ia restored --clear
doctor-jobs_past_lease =
    { $count ->
        [one] un trabajo sigue en proceso con la reserva vencida, desde el { $oldest_at }
       *[other] { $count } trabajos siguen en proceso con la reserva vencida, el primero desde el { $oldest_at }
    }
doctor-jobs_past_lease-hint = se perdieron quienes los hacían; los toma el próximo que trabaje
doctor-jobs_held =
    { $count ->
        [one] un trabajo está retenido y necesita a una persona
       *[other] { $count } trabajos están retenidos y necesitan a una persona
    }
doctor-jobs_held-hint = míralos con: cola-ia jobs --state retenido
doctor-jobs_failed =
    { $count ->
        [one] un trabajo ha fallado
       *[other] { $count } trabajos han fallado
    }
doctor-jobs_failed-hint = míralos con: cola-ia jobs --state fallido
doctor-sources_paused =
    { $count ->
        [one] un origen está en pausa desde el { $oldest_at }: { $sources }
       *[other] { $count } orígenes están en pausa, el primero desde el { $oldest_at }: { $sources }
    }
doctor-sources_paused-hint = sus trabajos no se reparten; cuando desaparezca la causa: cola-ia resume ORIGEN
doctor-sources_failing =
    { $count ->
        [one] los trabajos de un origen fallan uno tras otro desde el { $oldest_at }: { $sources }
       *[other] los trabajos de { $count } orígenes fallan uno tras otro, el primero desde el { $oldest_at }: { $sources }
    }
doctor-sources_failing-hint = qué pasó: cola-ia errors --group
doctor-jobs_waiting =
    { $count ->
        [one] un trabajo espera desde hace más de un día, desde el { $oldest_at }
       *[other] { $count } trabajos esperan desde hace más de un día, el primero desde el { $oldest_at }
    }
doctor-jobs_waiting-hint = nadie trabaja, o muy pocos: míralos con: cola-ia jobs --state pendiente
doctor-conflicts_undecided =
    { $count ->
        [one] un conflicto espera una decisión; llegó por última vez el { $latest_at }
       *[other] { $count } conflictos esperan una decisión; el último llegó el { $latest_at }
    }
doctor-conflicts_undecided-hint = alguien usó un id dos veces o cambió un texto que no debía cambiar; míralos con: cola-ia conflicts --undecided --diff

stdout-closed = ya nadie lee la salida estándar: { $cause }
stdout-failed = no se puede escribir en la salida estándar: { $cause }

## Motivos del sistema

io-not-found = no existe
io-permission-denied = permiso denegado
io-already-exists = ya existe
io-is-a-directory = es una carpeta
io-not-a-directory = una parte de la ruta no es una carpeta
io-storage-full = el disco está lleno
io-read-only-filesystem = el sistema de archivos es de solo lectura
io-invalid-data = no es texto UTF-8
io-file-too-large = es demasiado grande
io-quota = la cuota está agotada
io-device = el dispositivo falla al leer o escribir
io-device-gone = no existe ese dispositivo
io-busy = está en uso
io-too-many-open = hay demasiados archivos abiertos
io-name-too-long = el nombre es demasiado largo
io-link-loop = sus enlaces simbólicos forman un círculo
io-timed-out = tardó demasiado
io-numbered = { $cause } (error { $number } del sistema)

sqlite-permission = permiso denegado
sqlite-busy = otro proceso lo tiene bloqueado
sqlite-read-only = solo se puede leer
sqlite-io = el disco o el sistema de archivos falla al leer o escribir
sqlite-corrupt = su contenido no es como SQLite lo escribió
sqlite-full = el disco está lleno
sqlite-cannot-open = no se puede abrir el archivo o su carpeta
sqlite-not-a-database = no es una base de datos de SQLite

## Lo que rechaza la puerta. El lugar va delante; el detalle y el código, detrás

refusal-counted =
    { $count ->
        [one] una línea más
       *[other] { $count } líneas más
    }
refusal-lines = líneas { $first }–{ $last }
refusal-bytes = { $bytes } bytes; como máximo { $most }
refusal-json_syntax = la línea no es JSON válido
refusal-json_syntax-hint = JSON Lines es un objeto JSON completo en cada línea
refusal-json_trailing = hay algo más después del final del objeto
refusal-json_trailing-hint = pon cada objeto en su propia línea, sin nada detrás
refusal-json_not_a_number = JSON no tiene NaN ni Infinity
refusal-json_not_a_number-hint = escribe null o quita el campo
refusal-json_duplicate_key = una clave está dos veces en el mismo objeto
refusal-json_duplicate_key-hint = unos programas toman una y otros la otra; deja una
refusal-json_too_deep = hay listas y objetos anidados a más de 64 niveles
refusal-json_lone_surrogate = una secuencia \u es la mitad de un par sustituto
refusal-json_lone_surrogate-hint = el remitente partió un carácter en dos; envía el par completo, o el carácter en UTF-8
refusal-json_not_object = la línea es JSON, pero no un objeto
refusal-json_not_object-hint = cada línea es un objeto con «id» y «texto»; una lista de ellos se convierte en líneas con: jq -c '.[]' ARCHIVO
refusal-json_document =
    { $count ->
        [one] es un solo documento JSON en varias líneas, no JSON Lines
       *[other] son { $count } documentos JSON en varias líneas, no JSON Lines
    }
refusal-json_document-hint = conviértelo en un objeto por línea: una lista con jq -c '.[]' ARCHIVO, unos objetos con jq -c . ARCHIVO
refusal-utf8_invalid = los bytes no son UTF-8 válido
refusal-utf8_invalid-hint = convierte el archivo, por ejemplo con: iconv -f LATIN1 -t UTF-8 ARCHIVO
refusal-utf16 = la entrada es UTF-16
refusal-utf16-hint = conviértela con: iconv -f UTF-16 -t UTF-8 ARCHIVO
refusal-format_unsupported = la entrada está en un formato que no se lee
refusal-format_unsupported-hint = descomprímela o conviértela antes; se lee JSON Lines, tal cual o comprimido con gzip o zstd
refusal-line_too_long = la línea es más larga de lo permitido
refusal-line_too_long-hint = el límite es el ajuste max_line_bytes
refusal-id_missing = al objeto le falta «id»
refusal-id_number = el «id» es un número, y los ids son cadenas
refusal-id_number-hint = ponlo entre comillas: "id": "42"
refusal-id_not_string = el «id» no es una cadena
refusal-id_not_string-hint = los ids son cadenas: "id": "idea-42"
refusal-id_blank = el «id» está vacío o en blanco
refusal-id_blank-hint = «cola-ia id» crea ids para un remitente que no tiene
refusal-id_too_long = el «id» es más largo de lo permitido
refusal-id_control = el «id» tiene un carácter de control
refusal-text_missing = al objeto le falta «texto» (o «text»)
refusal-text_not_string = el «texto» no es una cadena
refusal-text_blank = el «texto» está vacío o en blanco
refusal-text_too_long = el «texto» es más largo de lo permitido
refusal-text_too_long-hint = el límite es el ajuste max_text_bytes, o --max-text-bytes
refusal-text_nul = el «texto» tiene un carácter U+0000
refusal-type_invalid = el «tipo» no vale: debe ser una cadena no vacía, de 256 bytes como máximo y sin caracteres de control
refusal-time_invalid = la «fecha» no es una fecha y hora con su desfase
refusal-time_invalid-hint = escríbela como pide RFC 3339: 2026-01-31T23:00:00+02:00 o 2026-01-31T21:00:00Z
refusal-source_invalid = el «origen» no es el nombre de un origen
refusal-source_invalid-hint = un origen tiene de 1 a 64 caracteres de a–z, 0–9, «.», «_» y «-», y empieza con letra o cifra
refusal-source_mismatch = el «origen» no es el que nombra --source
refusal-source_mismatch-hint = quita --source, y cada evento tendrá el origen que nombra
refusal-field_twice = el campo está escrito de las dos formas
refusal-field_twice-hint = deja la forma española o la inglesa
refusal-signature_missing = la petición no lleva una firma o un token que se pueda leer
refusal-signature_invalid = la firma o el token no es de los secretos del origen
refusal-timestamp_invalid = falta la hora firmada, o no es una hora
refusal-timestamp_outside = la hora firmada está demasiado lejos del reloj del servidor
refusal-body_too_large = el cuerpo es mayor de lo que el origen admite
refusal-body_too_slow = el cuerpo llegó demasiado despacio
refusal-media_type_unsupported = el cuerpo es de un tipo o una codificación que el origen no admite
refusal-body_malformed = el cuerpo no es lo que dice su tipo
refusal-too_many_events = un cuerpo trae más eventos de los que el origen admite de una vez
refusal-origin_not_allowed = el formulario se envió desde una página que no es del origen
refusal-honeypot = está relleno el campo que las personas no ven
refusal-rate_limited = llegó más de lo que puede llegar

## Lo que el almacén no puede hacer

store-unknown = el almacén responde { $code } ({ $facts })
store-store_missing = no hay ningún almacén en { $path }
store-store_missing-hint = «cola-ia add» y «cola-ia init» crean uno; con --db nombras otro
store-store_parent_missing = no se puede crear el almacén { $path }: su carpeta no existe
store-store_parent_missing-hint = crea antes la carpeta, o nombra otro lugar con --db
store-store_not_writable = no se puede escribir en el almacén { $path }: { $cause }
store-store_not_writable-hint = hay que poder escribir en el archivo y en su carpeta: SQLite guarda su registro de escritura (-wal) junto al archivo
store-store_not_readable = no se puede leer el almacén { $path }: { $cause }
store-store_not_readable-hint = este usuario debe poder leer el archivo y entrar en su carpeta
store-store_newer = el almacén { $path } tiene el esquema { $found }, y esta versión solo conoce hasta el { $known }; no se cambió nada
store-store_newer-hint = usa la versión de cola-ia que lo escribió, o una más nueva
store-store_needs_migration = el almacén { $path } tiene el esquema { $found } y antes hay que llevarlo al { $known }
store-store_needs_migration-hint = «cola-ia add» lo hace, y antes guarda una copia del archivo
store-store_foreign = { $path } es la base de datos de otro programa ({ $what }); no se cambió nada
store-store_foreign-hint = nombra otro archivo con --db
store-store_not_sqlite = { $path } no es una base de datos de SQLite; no se cambió nada
store-store_not_sqlite-hint = nombra otro archivo con --db
store-store_empty_file = { $path } es un archivo vacío, no un almacén; no se cambió nada
store-store_empty_file-hint = si no debía tener nada tuyo, bórralo y prueba otra vez; si no, recupera una copia de seguridad
store-store_not_a_file = { $path } no es un archivo normal
store-store_not_a_file-hint = nombra un archivo con --db
store-store_wal_orphan = falta el almacén { $path }, pero está su registro de escritura { $wal }; no se cambió nada
store-store_wal_orphan-hint = vuelve a poner el almacén junto a su registro de escritura (-wal): los últimos eventos pueden estar solo ahí; si ya no hacen falta, aparta ese archivo
store-store_network_fs = el almacén { $path } está en un sistema de archivos de red ({ $filesystem }), donde los bloqueos no son fiables
store-store_network_fs-hint = llévalo a un disco local; si lo monta una única máquina: allow_network_filesystem = true
store-store_locked = otro proceso tiene bloqueado el almacén { $path } desde hace { $seconds } s; no se cambió nada
store-store_locked-hint = prueba otra vez cuando termine, o espera más con el ajuste lock_wait
store-store_damaged = el almacén { $path } está dañado: { $cause }
store-store_damaged-hint = deja de usarlo, copia el archivo y su -wal tal como están, y recupera una copia de seguridad
store-store_full = no hay espacio para escribir en el almacén { $path }: { $cause }
store-store_full-hint = libera espacio y ejecuta lo mismo otra vez: no se pierde nada y nada entra dos veces
store-store_io = no se puede leer o escribir el almacén { $path }: { $cause }
store-store_io-hint = revisa el disco y el registro del sistema; ejecutar lo mismo otra vez no tiene riesgo
store-store_unreachable = no se llega a la base de datos { $path }, o se cortó: { $cause }
store-store_unreachable-hint = ejecutar lo mismo otra vez no tiene riesgo: lo que se hizo no se hace dos veces
store-store_refuses = la base de datos { $path } no deja entrar a este usuario, o no le deja hacer esto: { $cause }
store-store_refuses-hint = revisa usuario y contraseña (PGPASSWORD), y que el usuario pueda crear y usar el esquema
store-store_no_database = no hay tal base de datos: { $path } ({ $cause })
store-store_no_database-hint = créala antes, en UTF-8: createdb -E UTF8 NOMBRE
store-store_address = { $path } no es la dirección de una base de datos: { $cause }
store-store_address-hint = escríbela como postgres://USUARIO@EQUIPO:PUERTO/BASE
store-store_tls = no hay TLS con la base de datos { $path }: { $cause }
store-store_tls-hint = sslrootcert=ARCHIVO nombra la autoridad de su certificado
store-store_encoding = la base de datos { $path } guarda el texto en { $encoding }, que cambiaría identificadores y textos
store-store_encoding-hint = usa una base en UTF-8: createdb -E UTF8 -T template0 NOMBRE
store-store_is_database = { $command } trabaja con un archivo, y { $path } es una base de datos de PostgreSQL
store-store_is_database-hint = las copias de una base de datos se hacen con sus propias herramientas: véase «PostgreSQL» en docs/OPERACION.md
store-store_article = { $path } es una base de datos del script del artículo, y solo «cola-ia add» se hace cargo de ella; no se cambió nada
store-store_article-hint = «cola-ia add ARCHIVO» guarda antes una copia; «cola-ia add --dry-run ARCHIVO» solo dice qué haría
store-store_in_use = otro proceso tiene abierto el almacén { $path }: { $who }; no se cambió nada
store-store_in_use-hint = deténlo primero y ejecuta lo mismo otra vez
store-store_in_use_unseen = un proceso que desde aquí no se ve tiene abierto el almacén { $path }; no se cambió nada
store-store_in_use_unseen-hint = es de otro usuario o está en otro contenedor: detén lo que use el almacén y ejecuta lo mismo otra vez
store-backup_exists = { $path } ya existe, y una copia de seguridad no reemplaza nada
store-backup_exists-hint = dale otro nombre a la copia, por ejemplo con la fecha
store-backup_is_store = { $path } es un archivo del propio almacén
store-backup_is_store-hint = nombra otro archivo
store-backup_missing = no hay ninguna copia de seguridad en { $path }
store-backup_not_ours = { $path } no es una copia de seguridad de cola-ia; no se cambió nada
store-backup_not_ours-hint = nombra un archivo que haya hecho «cola-ia backup», o un almacén que nadie use
store-backup_newer = la copia { $path } tiene el esquema { $found }, y esta versión solo conoce hasta el { $known }; no se cambió nada
store-backup_newer-hint = usa la versión de cola-ia que la hizo, o una más nueva
store-backup_has_log = junto a la copia { $path } hay un registro de escritura, { $wal }: una copia es un solo archivo; no se cambió nada
store-backup_has_log-hint = si ambos son copia de un almacén, haz antes de ellos un solo archivo: cola-ia --db { $path } backup NUEVO; si el registro de escritura es de otro archivo, apártalo
store-backup_unsound = lo que se copió para la copia { $path }, o de ella, está dañado: { $cause }; no se cambió nada
store-backup_unsound-hint = con «backup», mira el almacén con «cola-ia doctor»; con «restore», toma otra copia
store-backup_full = no hay espacio para la copia { $path }: { $cause }
store-backup_full-hint = libera espacio, o ponla en otro disco; no queda nada de ella
store-backup_io = la copia { $path } no se puede leer o escribir: { $cause }
store-backup_io-hint = mira la carpeta y el disco; no queda nada de ella
store-restored_in_future = { $at } todavía no ha llegado: es { $now }; no se cambió nada
store-restored_in_future-hint = di cuándo se recuperó el almacén, o «now»
store-takeover_refused = cola-ia no puede hacerse cargo de la base de datos del script del artículo, { $path }: { $cause }; no se cambió nada
store-takeover_refused-hint = arregla lo que se indica, o empieza otro almacén con --db
store-cursor_unknown = esta lista no dio el lugar «{ $cursor }»
store-cursor_unknown-hint = --after admite lo que indicó la página anterior
store-op_reused = se repitió una llamada con otro contenido y el mismo nombre; es un fallo de cola-ia
store-op_reused-hint = avísanos de este fallo, por favor; no se cambió nada
store-op_expired = se repitió una llamada después de más de 7 días, y su primera respuesta ya no está
store-op_expired-hint = haz lo mismo de nuevo: nada entra dos veces
store-token_malformed = { $reason ->
    [name] el nombre de un token tiene de 1 a 128 bytes, no está en blanco y no lleva caracteres de control
    [scopes] un token necesita al menos un permiso
    [hash] otro token tiene el mismo resumen: hay que hacer uno nuevo
   *[sources] solo un token con el permiso “ingest” se limita a orígenes
 }
store-token_name_taken = hay, o hubo, un token con el nombre { $name }
store-event_unknown = no hay ningún evento número { $event }
store-source_unknown = no llegó ningún evento del origen { $source }
store-source_unknown-hint = «cola-ia stats» dice qué orígenes hay
store-conflict_unknown = no hay ningún conflicto { $conflict }
store-conflict_unknown-hint = «cola-ia show ID» dice los números
store-conflict_not_named = no hay exactamente un conflicto sin decidir
store-conflict_not_named-hint = nombra los que quieras decir con --conflict N
store-conflict_decided = sobre el conflicto { $conflict } ya se actuó ({ $decision }); no se cambió nada
store-conflict_decided-hint = «cola-ia show ID» dice qué se decidió y cuándo
store-content_gone = el texto del conflicto { $conflict } ya no se guarda: se podó o se borró
store-content_gone-hint = todavía puede mantenerse como conflicto, con --keep
store-id_taken = el id { $id } del origen { $source } tiene otro texto; nada entró
store-id_taken-hint = elige un id que nadie use; «cola-ia id» hace uno
store-currency_malformed = «{ $currency }» no es una moneda
store-currency_malformed-hint = tres letras mayúsculas como en ISO 4217, por ejemplo EUR o USD
store-currency_other = las cantidades de este almacén están en { $currency }, y nunca se convierten
store-currency_other-hint = lo que tiene otra moneda va en un almacén propio
store-effects_open = un efecto de una vuelta anterior sigue abierto, y otra vuelta podría repetirlo; no se cambió nada
store-effects_open-hint = resuelve antes el efecto, o acepta sin --run
store-resolve_too_many = así pueden decidirse a la vez { $limit } conflictos como mucho
store-note_too_long = una nota tiene como mucho { $limit } bytes
store-job_running = un trabajador tiene el trabajo de este evento; no se borró nada
store-job_running-hint = espera a que termine y repite lo mismo
store-batch_too_long = un lote tiene más eventos de los que admite una llamada; es un fallo de cola-ia
store-batch_too_long-hint = avísanos de este fallo, por favor; no se cambió nada
store-too_many_leases = se pueden nombrar como mucho { $limit } reservas a la vez
store-too_many_jobs = se pueden nombrar como mucho { $limit } trabajos a la vez
store-import_other_namespace = el almacén { $path } tiene eventos de otro origen que la exportación; no se cambió nada
store-import_other_namespace-hint = importa en un almacén nuevo: cola-ia import --db NUEVO ARCHIVO
store-store_moved = el almacén { $path } se trasladó a otro lugar: se puede leer y no admite nada
store-store_moved-hint = usa el otro lugar (--db, COLA_IA_DB); para quedarse aquí: cola-ia move --undo
store-move_running = el almacén { $path } tiene { $count } trabajos en proceso: se traslada cuando nadie tiene uno en la mano
store-move_running-hint = detén los trabajadores y el servidor; de trabajadores que murieron: cola-ia recover
store-import_out_of_order = los registros de una importación no están en el orden de una exportación; es un fallo de cola-ia
store-import_out_of_order-hint = avísanos, por favor; no se cambió nada de ese lote
store-server_address = no se puede usar la dirección del servidor: { $cause }
store-server_address-hint = escribe https://HOST[:PUERTO], o http://127.0.0.1:PUERTO para un servidor en esta máquina
store-server_answer = el servidor { $server } respondió otra cosa: { $cause }
store-server_answer-hint = mira si en esa dirección hay un servidor cola-ia de esta versión o de una más nueva, y ningún otro programa delante
store-server_certificates = no se pueden leer los certificados en los que confía este sistema: { $cause }
store-server_certificates-hint = instala el paquete de certificados del sistema, que suele llamarse ca-certificates; si está puesta SSL_CERT_FILE o SSL_CERT_DIR, mira si existe lo que nombra
store-server_forbidden = el token vale, pero el servidor { $server } no le permite esto: { $what }
store-server_forbidden-hint = pide un token con ese permiso o ese origen: cola-ia token create
store-server_insecure = el token iría por una red abierta hasta { $server }
store-server_insecure-hint = da la dirección https del servidor
store-server_token = lo que se dio como token no lo es
store-server_token-hint = un token es una sola palabra de caracteres ASCII visibles, como la que imprime «token create»
store-server_unauthorised = el servidor { $server } no conoce este token, o ya caducó
store-server_unauthorised-hint = da uno que valga, en COLA_IA_TOKEN o en el archivo que nombra COLA_IA_TOKEN_FILE
store-server_unreachable = el servidor { $server } no responde: { $cause }
store-server_unreachable-hint = mira si allí se ejecuta «cola-ia serve» y si la dirección es la correcta; lo que no tuvo respuesta se puede repetir
store-server_untrusted = no se confía en el certificado del servidor { $server }: { $cause }
store-server_untrusted-hint = escribe la dirección con el nombre que lleva su certificado; si este es de una autoridad tuya, nombra en SSL_CERT_FILE el archivo con el certificado de esa autoridad
store-interrupted = interrumpido; lo que se respondió está guardado
store-interrupted-hint = ejecuta lo mismo otra vez: nada entra dos veces
store-store_closed = el almacén está cerrado

## Qué hizo abrir un almacén

store-created = se creó el almacén { $path }
store-migrated = el almacén { $path } pasó del esquema { $from } al { $to }
store-copy = el archivo tal como estaba: { $path }
store-waiting = otro proceso tiene bloqueado el almacén desde hace { $seconds } s; a la espera
store-backup-in-place = { $path } es una copia de seguridad que se puso en su lugar sin «cola-ia restore»; desde ahora está marcada como restaurada
store-copied = { $path } es una copia que no hizo cola-ia: si el original estaba en uso, pueden faltarle sus últimos eventos
store-copied-hint = si ocupó el lugar de un almacén que había seguido trabajando: cola-ia restored --at now; si se movió mientras nadie lo usaba, todo está bien: cola-ia restored --clear
takeover-done =
    cola-ia se hizo cargo de la base del script del artículo, { $path }: { $pending ->
        [one] 1 pendiente
       *[other] { $pending } pendientes
    }, { $done ->
        [one] 1 terminado
       *[other] { $done } terminados
    }, { $held ->
        [one] 1 retenido
       *[other] { $held } retenidos
    }
takeover-would =
    sin --dry-run, cola-ia se haría cargo de la base del script del artículo, { $path }: { $pending ->
        [one] 1 pendiente
       *[other] { $pending } pendientes
    }, { $done ->
        [one] 1 terminado
       *[other] { $done } terminados
    }, { $held ->
        [one] 1 retenido
       *[other] { $held } retenidos
    }
takeover-mismatch = la huella de { $id } no es la de su texto; su trabajo queda retenido
takeover-state = { $id } tiene el estado «{ $state }», que el artículo no conoce; su trabajo queda retenido
takeover-columns = estas columnas no son del artículo y se quedan en la tabla vieja: { $columns }
takeover-untaken = la fila { $row } de la tabla vieja no puede ser un evento y se queda allí: { $reason } [{ $code }]
takeover-untaken-more = { $count ->
    [one] otra fila se queda en la tabla vieja
   *[other] otras { $count } filas se quedan en la tabla vieja
}

## move

usage-move-where = «move» quiere --to con un lugar, o --undo
usage-move-to = { $to } no es un lugar para un almacén
move-same-place = { $path } es el propio almacén
move-elsewhere = { $path } se trasladó a { $to }, y solo va a un lugar
move-elsewhere-hint = para terminarlo: cola-ia move --to el mismo lugar; para empezar de nuevo: cola-ia move --undo
move-already = { $path } ya se trasladó a { $to }; no se cambió nada
move-target-not-empty = { $to } ya tiene eventos; no se cambió nada
move-target-not-empty-hint = traslada a un lugar vacío; para unir dos almacenes de un mismo origen usa export e import
move-differs = { $to } no contiene lo mismo que { $path }; el almacén sigue marcado y no se cambió nada en él
move-differs-hint = si alguien ha trabajado con el otro lugar, vacíalo, usa «cola-ia move --undo» y empieza de nuevo
move-done = { $path } está ahora en { $to }, entero; el almacén anterior se puede leer y no admite nada
move-done-hint = desde ahora usa --db { $to } (COLA_IA_DB); los tokens no se copiaron
move-undo-nothing = el almacén no se había trasladado; no se cambió nada
move-undone = el almacén vuelve a admitir cosas; lo que se copió a { $to } sigue allí
move-undone-hint = no trabajes con los dos: elimina el otro

## export, import

export-done = { $path }: líneas { $lines }, eventos { $events }, otras entregas { $deliveries }
export-not-written = no se puede escribir la exportación en { $path }: { $cause }
export-not-written-hint = nombra otro archivo: uno que existe no se sustituye nunca
import-not-an-export = { $input } no es una exportación de cola-ia; no se cambió nada
import-not-an-export-hint = una exportación empieza por la línea que escribe «cola-ia export»; para que entren eventos: cola-ia add { $input }
import-newer = { $input } es una exportación de la versión { $found }, y este programa lee hasta la { $known }; no se cambió nada
import-newer-hint = usa la versión de cola-ia que la escribió, o una más nueva
import-cut = { $input } termina a medias: falta la última línea, la de los recuentos; entró lo que estaba completo
import-cut-hint = consigue el archivo completo e impórtalo otra vez: nada entra dos veces
import-counts = { $input } no contiene lo que cuenta su última línea: faltan líneas
import-nothing-new = nada nuevo: lo que hay en el archivo ya estaba o se queda fuera
import-kept =
    { $count ->
        [one] un registro ha seguido adelante aquí desde la exportación, y se queda como está aquí
       *[other] { $count } registros han seguido adelante aquí desde la exportación, y se quedan como están aquí
    }
import-restored = el almacén cuenta como restaurado: lo que se ejecutó en otro sitio después de la exportación no se sabe aquí
import-contradicting =
    { $count ->
        [one] un registro contradice a lo que hay y se quedó fuera
       *[other] { $count } registros contradicen a lo que hay y se quedaron fuera
    }
import-contradicting-hint = para tener la exportación tal cual, impórtala en un almacén vacío: cola-ia import --db NUEVO ARCHIVO
import-refused =
    { $count ->
        [one] se rechazó una línea
       *[other] se rechazaron { $count } líneas
    }
import-refused-hint = un evento con una línea que no se puede leer se queda fuera entero; consigue una buena copia del archivo e impórtala otra vez
import-more =
    { $count ->
        [one] … y una línea más
       *[other] … y { $count } líneas más
    }
import-line-export_json = la línea no es un objeto JSON, desde este byte
import-line-export_kind = no hay líneas de esa clase
import-line-export_field_missing = falta un campo
import-line-export_field_twice = un campo está dos veces
import-line-export_field_unknown = un campo no se conoce y se perdería
import-line-export_fingerprint = la huella no es la del texto
import-line-export_format = es otro formato
import-line-export_value = un valor no tiene la forma de su campo
import-line-export_order = no está detrás de aquello a lo que pertenece
import-line-export_after_end = está detrás de la última línea de la exportación
import-line-export_incomplete = un evento se queda fuera, porque una línea suya no se puede leer o falta
import-line-line_too_long = la línea es más larga de lo permitido (ajuste max_line_bytes)
import-line-import_differs = lo que no cambia nunca es distinto aquí
import-line-import_older_here = el archivo sabe de un cambio posterior al que tiene el almacén
import-line-import_number_taken = su número o su clave es de otra cosa aquí
import-line-import_identity_taken = este origen e id son aquí un evento con otro número
import-line-import_belongs = pertenece a lo que se quedó fuera

column-entered = ENTRÓ
column-same = ESTABA
column-kept = SIGUIÓ
column-contradicting = CONTRADICE

## Entradas de «add»

signals-failed = no se pueden escuchar las interrupciones: { $cause }
input-not-readable = no se puede leer { $path }: { $cause }
input-is-folder = { $path } es una carpeta
input-is-folder-hint = nombra sus archivos, por ejemplo: cola-ia add { $path }/*.jsonl
input-is-store = { $path } es el propio almacén
input-is-rejects = { $path } no puede leerse y recibir a la vez las líneas rechazadas; no se leyó nada
input-io = no se pudo leer { $input } hasta el final: { $detail }; lo leído antes ya tiene respuesta
input-io-hint = revisa el disco, o copia el archivo a uno sano, y agrégalo otra vez: nada entra dos veces
input-gzip-cut = { $input } está cortado: el flujo gzip termina a la mitad; lo que se pudo leer ya tiene respuesta
input-gzip-damaged = { $input } está dañado: el flujo gzip no es lo que se comprimió ({ $detail }); lo leído antes ya tiene respuesta
input-zstd-cut = { $input } está cortado: el flujo zstd termina a la mitad; lo que se pudo leer ya tiene respuesta
input-zstd-damaged = { $input } está dañado: el flujo zstd no es lo que se comprimió ({ $detail }); lo leído antes ya tiene respuesta
input-zstd-window = { $input } necesita una ventana zstd mayor que la que se lee aquí (8 MiB)
input-cut-hint = consigue el archivo completo y agrégalo otra vez: nada entra dos veces
input-damaged-hint = consigue una copia buena y agrégala; mira lo que entró, sus últimas líneas también pueden estar dañadas
input-zstd-window-hint = descomprímelo antes, con «zstd -d --long=31 -c ARCHIVO | cola-ia add -», o comprímelo sin --long
rejects-is-store = las líneas rechazadas no pueden ir a { $path }, que es del almacén; no se leyó nada
rejects-not-writable = no se pueden guardar las líneas rechazadas en { $path }: { $cause }
add-unfinished-line = { $input }:{ $line }: la última línea está incompleta y no se tomó

arg-listen = Dónde escuchar, DIRECCIÓN:PUERTO; el puerto 0 toma uno libre
arg-log-format = Cómo se escribe el registro: «json» (lo normal) o «text»
value-listen = DIRECCIÓN:PUERTO
value-log-format = FORMATO
usage-log-format = --log-format { $value }: no existe esa forma
usage-log-format-hint = es «json» o «text»
serve-listening = escuchando en http://{ $address }
serve-sources = { $count ->
    [one] un origen: { $names }
   *[other] { $count } orígenes: { $names }
 }
serve-no-sources = no hay ningún origen configurado: «cola-ia source add» crea uno
serve-admin-token = hay un token para todo en { $path }, solo para ti
serve-login = para abrir una sesión en el navegador, una vez y antes de diez minutos: { $link }
serve-cannot-listen = no se puede escuchar en { $address }: { $cause }
serve-cannot-listen-hint = quizá otro programa tiene el puerto; --listen toma otro
serve-token-file = no se pudo escribir el token en { $path }: { $cause }
serve-runtime = el servidor no pudo arrancar: { $cause }
serve-exposed = a { $address } pueden llegar otros, y sin https si no lo añade un proxy
serve-stopped = parado
serve-backup-database = backup.every no hace copias de { $path }: son cosa de su servidor
store-is-database-backup-hint = usa pg_dump o el archivo de registros: véase «PostgreSQL» en docs/OPERACION.md

page-what = Este servidor deja entrar cada evento una sola vez y guarda su trabajo hasta que está hecho. Lo que llegó y cómo va lo dicen también «cola-ia stats» y /metrics
page-login = Para ver aquí los recuentos, abre el enlace que el servidor mostró al arrancar por primera vez. Los programas usan un token: cola-ia token create
page-code = Este enlace abre una sesión de doce horas en este navegador, una sola vez
page-enter = Entrar
page-code-spent = Este enlace ya se usó o tiene más de diez minutos. Los comandos y los programas usan un token: cola-ia token create
page-leave = Salir
page-total = todas

## source, token

source-unknown = no hay ningún origen «{ $source }» en los ajustes
source-unknown-hint = los configurados: cola-ia source list
source-exists = ya hay un origen «{ $source }»
source-exists-hint = para añadir otro: cola-ia source add { $scheme } --name OTRO
source-added = { $file } tiene ahora el origen { $source }, al final
source-file-failed = no se puede escribir { $file }: { $cause }
source-not-appended = un bloque al final de { $file } no se entendería: { $cause }
source-not-appended-hint = escribe en él [source.NOMBRE] a mano; docs/WEBHOOKS.es.md tiene los bloques
source-public-url-hint = la dirección es la de esta máquina; pon en public_url la que usa el emisor para llegar a ella
source-next-secret = pon el secreto en { $variable }, da la dirección al emisor, mira que todo esté con «cola-ia config check» y pruébalo: cola-ia source test { $source }
source-next-unsigned = mira que todo esté con «cola-ia config check» y pruébalo: cola-ia source test { $source }
source-block-head = { $title }. Leído en: { $docs }.
source-block-unverified = De memoria y sin comprobar: { $parts }. Pruébalo antes con el emisor de verdad.
source-block-unsigned = No se comprueba nada: puede enviar cualquiera que conozca la dirección.
source-block-form = Páginas que pueden enviarlo, como "https://www.example.org"; si no se nombra ninguna, todas. El campo trampa queda vacío cuando envía una persona. Después el navegador va a «thanks».
source-block-secret = La variable que tiene el secreto, o un archivo. Mientras se cambia de secreto, los dos en una lista: [ "NUEVO", "VIEJO" ].
source-block-verify = Lo que el emisor pide una vez, cuando se registra la dirección.
source-block-pending = Mientras el emisor no haya dicho su secreto: acepta su primera petición sin él. Después quita esta línea.
source-block-generic = Cómo firma el emisor, si no es así:
source-block-id = Dónde está el id. El mismo id es el mismo evento, para siempre.
source-block-body-id = El emisor no tiene id: los cuerpos iguales son un evento.
source-block-fallback = El emisor no tiene un id propio. Este es el sustituto documentado ({ $places }); si conoces un «id» mejor, ponlo delante.
source-block-text = El texto del trabajo.
source-list-none = no hay ningún origen configurado
source-list-none-hint = para añadir uno: cola-ia source add ESQUEMA
source-schemes-note = «no»: la firma o el id son de memoria; pruébalos antes con el emisor de verdad
source-schemes-next = para añadir uno: cola-ia source add ESQUEMA
source-word-unsigned = sin_firma
source-word-no-id = (ninguno)
column-scheme = ESQUEMA
column-id-at = ID_EN
column-secrets = SECRETOS
column-url = DIRECCIÓN
column-verified = COMPROBADO
column-title = EMISOR
column-token-state = ESTADO
column-scopes = PERMISOS
column-sources = ORÍGENES
column-created = CREADO
column-name = NOMBRE
column-ends = VENCE
word-yes = sí
word-no = no
check-request-unreadable = no se puede leer la petición de { $file }: { $cause }
check-request-empty = no hay ninguna petición en { $file }
check-request-line = { $file } no empieza con la primera línea de una petición
check-request-header = { $file } tiene en la cabecera una línea que no es «Nombre: valor»
check-request-no-body = { $file } no tiene una línea vacía detrás de las cabeceras
check-request-encoded = el cuerpo en { $file } está codificado para el transporte, y se firmó sin eso
check-request-hint = debe ser así: POST /in/NOMBRE HTTP/1.1, una línea por cabecera, una línea vacía y el cuerpo tal como llegó
check-request-cut = { $bytes ->
    [one] 1 byte de fin de línea detrás del cuerpo no es suyo, según su Content-Length
   *[other] { $bytes } bytes de fin de línea detrás del cuerpo no son suyos, según su Content-Length
}
check-request-length = Content-Length dice { $said } bytes y el cuerpo tiene { $found }: no se capturó tal como llegó
check-at-hint = una petición capturada antes se juzga en su momento con --at
check-passed = bien
check-failed = mal
step-method = método: { $method }
step-url = dirección: { $url }
step-body = cuerpo: { $bytes } bytes, como máximo { $limit }
step-header = cabecera { $name }: está
step-header-twice = cabecera { $name }: está dos veces, y dos lectores podrían tomar cada uno otra
step-header-missing = cabecera { $name }: falta
step-signature-form = firmas con la forma debida: { $found } de { $items }
step-timestamp = hora firmada: { $sent }, aquí { $now }; { $difference_s } s de diferencia, se permiten { $tolerance_s } s
step-timestamp-odd = hora firmada: falta, o tiene otra forma
step-signature = firma: hecha con el secreto { $matched } de { $secrets }
step-signature-none = firma: ninguno de los secretos ({ $secrets }) la hace a partir de estos bytes: es otro secreto, o el cuerpo cambió por el camino
step-content-type = tipo del cuerpo: { $type }
step-content-type-odd = tipo del cuerpo: no vale, { $reason }
step-handshake = saludo: { $kind }
step-events = eventos: { $count }
step-part = evento { $event }, { $step }: { $facts } (de { $place })
step-part-missing = evento { $event }, { $step }: no está ({ $facts })
step-accepted = aceptada
step-reply = se responde con { $status }; no se guarda nada
step-refused = rechazada con { $status }: { $reason } [{ $code }] { $detail }
step-other = { $step }: { $facts }
sample-text = Una muestra de «cola-ia source test»
sample-taken = { $url } respondió { $status }
sample-again-hint = lo mismo otra vez es un repetido: cola-ia source test { $source } --id { $id }
sample-refused = { $url } respondió { $status }: { $said }
sample-refused-hint = por qué: cola-ia errors --kind entrada
sample-unreachable = no se puede llegar a { $url }: { $cause }
sample-unreachable-hint = ¿está en marcha allí «cola-ia serve»? --url nombra otra dirección
sample-asymmetric = solo el emisor de { $source } puede firmar: tiene la clave privada
sample-asymmetric-hint = envía una prueba desde la consola del emisor
sample-id-not-a-number = los ids de { $source } son números enteros
sample-not-signable = esta muestra no se puede firmar como firma { $source }: prueba con otro --id
sample-not-a-url = «{ $url }» no es la dirección de un servidor
sample-not-https = { $url } no está en esta máquina, y una muestra solo sale de ella por https
token-created = token { $name }: permite { $scopes }
token-ends = vence a las { $end }
token-created-hint = solo se muestra esta vez; guárdalo donde solo pueda leerlo quien lo lleva
token-none = no hay ningún token
token-none-hint = para hacer uno: cola-ia token create NOMBRE --scope PERMISO
token-state-live = vigente
token-state-expired = vencido
token-state-revoked = revocado
token-revoked = el token { $name } queda revocado
token-was-revoked = el token { $name } ya estaba revocado
token-unknown = no hay ningún token «{ $name }»
token-unknown-hint = todos los tokens: cola-ia token list
