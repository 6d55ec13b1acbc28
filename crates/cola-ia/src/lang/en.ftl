# English. Spanish is es.ftl; a test keeps the two in step.
#
# Messages: lower case, no full stop; what was attempted and with which value. A hint says what to do next.

label-error = error:
label-hint = hint:
label-warning = warning:
did-you-mean = did you mean “{ $meant }”?

## Help: headings and names of values

heading-usage = Usage:
heading-commands = Commands
heading-arguments = Arguments
heading-options = Options
heading-general = General options
heading-examples = Examples
heading-exit-codes = Exit codes
help-more = More, with examples, with --help.

value-file = FILE
value-folder = FOLDER
value-source = NAME
value-number = N
value-size = SIZE
value-state = STATE
value-verdict = VERDICT
value-id = ID
value-shell = SHELL
value-command = COMMAND
value-lang = es|en
value-when = auto|always|never

man-name = NAME
man-synopsis = SYNOPSIS
man-description = DESCRIPTION

## Help: commands

about-cola-ia = The inbox that lets an event into an AI pipeline once
about-cola-ia-long =
    Each event has an id and a text. A new id enters and becomes one job; the same id with the same
    text is a repeat and does not enter; the same id with another text is a conflict and is shown.
    Everything is kept in one SQLite file.
usage-cola-ia = cola-ia [OPTIONS] COMMAND
examples-cola-ia =
    cola-ia init                    a commented cola-ia.toml and a store
    cola-ia add eventos.jsonl       let the events of a file in, each one once
    cola-ia jobs --state pending    what waits to be done
    cola-ia show idea-42            all that happened to one id
exit-codes-cola-ia =
    0    all well
    1    it could not be done
    2    the command or a setting is not understood; nothing was attempted
    3    conflicts were found and --fail-on conflict was given
    4    some input was refused; everything else entered
    6    only the last line is unfinished; the next run takes it
    130  interrupted; what was answered is stored

about-init = Write a commented cola-ia.toml and make a store, ready to use
about-init-long =
    Nothing that exists is changed: a file or a store that is there already stays as it is.
    Both are made readable by you alone (mode 0600).
usage-init = cola-ia init [OPTIONS]
examples-init =
    cola-ia init                          here
    cola-ia init --db /srv/cola/ia.db     with the store in another place

about-add = Let the events of files or of stdin in, each one once
about-add-long =
    Reads JSON Lines: one object a line, with "id" and "texto" (or "text"). Optional: "tipo" or
    "type", "fecha" or "time" (RFC 3339), "origen" or "source". Other fields are ignored and not
    stored. Files may be compressed with gzip or zstd.

    Writes one line an event to stdout, in the order of the input and only once it is stored for
    good: the id and a verdict. The verdicts are nuevo (it entered), repetido (same id, same text)
    and conflicto (same id, other text); with --lang en they are new, duplicate and conflict.
    Refused lines are told on stderr with their place and reason. Running it again is always safe.
usage-add = cola-ia add [OPTIONS] FILE...
examples-add =
    cola-ia add eventos.jsonl
    cola-ia add --source form june.jsonl.gz july.jsonl.zst
    tail -F events.jsonl | cola-ia add -
    cola-ia add --fail-on conflict --rejects refused.jsonl eventos.jsonl
exit-codes-add =
    0    all well, conflicts included unless --fail-on conflict is given
    1    it could not be done, or not to its end: a file cannot be read, the store cannot be opened
    2    the command or a setting is not understood; nothing was attempted
    3    conflicts were found and --fail-on conflict was given
    4    some input was refused; everything else entered
    6    only the last line is unfinished; the next run takes it
    130  interrupted; what was answered is stored

about-jobs = List jobs, newest first
about-jobs-long =
    One line a job: event number, state, source, attempts, when it was received (UTC) and id.
    Where more is left, stderr says how to ask for the next page.
usage-jobs = cola-ia jobs [OPTIONS]
examples-jobs =
    cola-ia jobs
    cola-ia jobs --state failed --state held
    cola-ia jobs --source form --limit 1000 --json

about-show = Show all that happened to one id
about-show-long =
    Identity, state, times with how late the event came, its text, the other texts that came under
    the same id, and the latest deliveries. Where several sources know the id, each is shown.
usage-show = cola-ia show [OPTIONS] ID
examples-show =
    cola-ia show idea-42
    cola-ia show --source form idea-42 --json
    cola-ia show -- -42                   an id that starts with a dash

about-export = Write all that the store keeps, as lines that can be read again
about-export-long =
    Every event with its job, conflicts, revisions, deliveries, attempts and effects, what was refused,
    and the counts: JSON Lines, described in docs/EXPORT.md. "cola-ia import" takes them into an empty
    store, or into a copy of this one, with the same numbers and the same keys of effects.

    Work can go on meanwhile: what was there at the start is in the export, each event as it was at one
    moment. A file is made readable by you alone (mode 0600) and has its name only once it is whole;
    one that exists already is never replaced.
usage-export = cola-ia export [OPTIONS] [FILE|-]
examples-export =
    cola-ia export june.jsonl
    cola-ia export | zstd > june.jsonl.zst
    cola-ia export | ssh server cola-ia import -
exit-codes-export =
    0    the whole export is written
    1    it could not be done; no file of that name was made
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted; no file of that name was made

about-import = Take an export in: what is not there enters, what is there stays
about-import-long =
    Reads what "cola-ia export" wrote, plain or compressed with gzip or zstd. The store must be empty
    or of the same origin: a copy, a backup, an earlier import. Nothing is ever overwritten. What
    contradicts what is there is told line by line and left out. Running it again is always safe.

    What was running elsewhere does not run here: its jobs wait again, and the effects that were under
    way are unknown. To let events in, use "cola-ia add".
usage-import = cola-ia import [OPTIONS] FILE|-
examples-import =
    cola-ia import june.jsonl
    cola-ia import --db new.sqlite3 june.jsonl.zst
    cola-ia import --json june.jsonl
exit-codes-import =
    0    all of it is in the store
    1    it could not be done, or the file is cut off; what was whole entered
    2    the command or a setting is not understood; nothing was attempted
    4    something contradicts what is there, or a line cannot be read; everything else entered
    130  interrupted; what was counted is stored

about-config = Show or check the settings
about-config-long =
    A setting is taken from the flag, else from the environment, else from cola-ia.toml, else it
    has its default.
usage-config = cola-ia config [OPTIONS] COMMAND

about-config-show = Print the settings in force, as TOML that can be pasted back
about-config-show-long = Secrets are not printed: *** stands for them.
usage-config-show = cola-ia config show [OPTIONS]
examples-config-show =
    cola-ia config show --origin

about-config-check = Check the settings and say ok
about-config-check-long =
    Reads the file, the environment and the flags as every command does, and does nothing else.
    stdout gets “ok”; a mistake is told on stderr and ends with 2.
usage-config-check = cola-ia config check [OPTIONS]

about-id = Print a new event id, for a sender that has none
about-id-long =
    A UUID of version 7. Make it where the event is born, once, and keep it over every retry: an id
    that is made anew for each attempt cannot tell a repeat.
usage-id = cola-ia id [OPTIONS]
examples-id =
    cola-ia id
    cola-ia id -n 100

about-completions = Print completions for a shell
about-completions-long = The shells are bash, elvish, fish, powershell and zsh.
usage-completions = cola-ia completions [OPTIONS] SHELL
examples-completions =
    cola-ia completions bash > ~/.local/share/bash-completion/completions/cola-ia
    cola-ia completions zsh > "$HOME/.zfunc/_cola-ia"
    cola-ia completions fish > ~/.config/fish/completions/cola-ia.fish

about-man = Print a manual page, or write all of them into a folder
about-man-long = Without a command it is the page of the program itself.
usage-man = cola-ia man [OPTIONS] [COMMAND]...
examples-man =
    cola-ia man add | man -l -
    cola-ia man --dir ~/.local/share/man/man1

about-help = Print the help of a command
about-help-long = The same as COMMAND --help.
usage-help = cola-ia help [COMMAND]...

## Help: options

arg-help = Print help; -h is shorter
arg-version = Print the version
arg-db = The store's file [setting db, COLA_IA_DB; default: cola_ia.sqlite3]
arg-config = The file of settings [COLA_IA_CONFIG; default: cola-ia.toml in the working folder, if it is there]
arg-lang = Language of help, messages and the words on stdout: es or en [COLA_IA_LANG; default: prose as the locale says, words in Spanish]
arg-color = When to use colour: auto, always or never [default: auto; NO_COLOR is respected]
arg-quiet = Say nothing but warnings and errors: no summary, no progress, no hints
arg-inputs = Files to read, in this order; - is stdin
arg-source = The source of every event; one that names another is refused
arg-source-filter = Only of this source
arg-json = Print one JSON object a line, with English words (docs/JSON.md)
arg-fail-on = Exit with 3 where there are conflicts; the only value is conflict
arg-rejects = Append the refused lines, as they are, to this file, to be mended and added again
arg-dry-run = Say what would happen and store nothing
arg-max-text-bytes = Longest text, such as 512KiB or 4MiB [setting max_text_bytes, COLA_IA_MAX_TEXT_BYTES; default: 1MiB]
arg-no-progress = No progress bar (one is shown on stderr while stdout goes elsewhere)
arg-target = The file to make; - or nothing is stdout
arg-export = The export; - is stdin
arg-no-bar = No progress bar
arg-state = Only in this state; can be given several times: pendiente, en_proceso, terminado, fallido, retenido, cancelado (or pending, running, done, failed, held, cancelled)
arg-limit = At most so many, up to 1000 [default: 50]
arg-after = The next page: only jobs older than this event number
arg-id = The id, exactly as it was sent
arg-origin = Add where each value came from, as a comment
arg-count = How many [default: 1]
arg-shell = bash, elvish, fish, powershell or zsh
arg-command = The command, such as add or config show
arg-dir = Write all pages into this folder

## Usage mistakes

usage-unknown-language = there is no language “{ $value }” for --lang
usage-unknown-language-variable = there is no language “{ $value }”, which { $variable } asks for
usage-known-languages = the languages are es (Spanish) and en (English)
usage-unknown-option = there is no option { $option } here
usage-option-after-command = an option of a command goes after it: cola-ia { $command } { $option } …
usage-file-after-dashes = a file whose name starts with - goes after --: cola-ia add -- { $file }
usage-id-after-dashes = an id that starts with - goes after --: cola-ia show -- { $id }
usage-extra-argument = the argument “{ $value }” is one too many
usage-unknown-command = there is no command “{ $command }”
usage-planned-command = “{ $command }” is not in this version
usage-file-as-command = to let the events of that file in: cola-ia add { $path }
usage-quote-id = an id with spaces goes in quotation marks: cola-ia show { $id }
usage-missing = { $argument } is missing
usage-add-what = name the files, or - for stdin: cola-ia add FILE, or cola-ia add -
usage-no-value = { $option } needs a value
usage-value-not-taken = { $option } takes no value
usage-option-twice = { $option } can be given only once
usage-argument-not-utf8 = an argument is not valid UTF-8
usage-not-utf8 = the value “{ $value }” of { $option } is not valid UTF-8
usage-other = the command is not understood: { $cause }
usage-see-help = all commands and options: cola-ia --help
usage-unknown-word = { $option } does not take “{ $value }”
usage-known-words = it takes: { $known }
usage-not-a-number = { $option } takes a whole number from 1 to { $max }, not “{ $value }”
usage-stdin-twice = stdin (-) can be read only once
usage-rejects-is-input = the refused lines cannot go to { $path }, which is read as an input
usage-man-both = --dir writes every page; it does not go with the name of a command

## Settings

setting-value = { $place }: { $fault }
fault-not-utf8 = “{ $value }” is not valid UTF-8
fault-not-bool = “{ $value }” is neither true nor false
fault-empty-path = the path is empty
fault-path-nul = the path has a character U+0000
fault-postgres = this version has no PostgreSQL backend and cannot open { $value }
fault-server = { $variable } names a server, and this version cannot talk to one
fault-server-hint = unset { $variable } to use the store that --db names
fault-postgres-hint = give the path of a file: cola-ia keeps its store in SQLite
fault-store-url = a store is a file, and { $value } is an address
fault-store-url-hint = give the path alone, such as cola_ia.sqlite3
fault-source = “{ $value }” is not the name of a source
fault-source-hint = a source is 1 to 64 characters of a–z, 0–9, “.”, “_” and “-”, and starts with a letter or a digit
fault-not-bytes = “{ $value }” is not a size
fault-not-bytes-hint = write bytes, or a number with its unit: 65536, 64KiB, 8MiB, 1GiB, 10MB
fault-bytes-bounds = { $value } is out of bounds: at least { $min }, at most { $max }
fault-not-duration = “{ $value }” is not a length of time
fault-not-duration-hint = write a number with its unit: 500ms, 60s, 5m, 1h
fault-duration-bounds = { $value } is out of bounds: at least { $min }, at most { $max }
fault-type-bool = expected true or false, found a value of type { $value }
fault-type-bytes = expected a size such as 65536 or "64KiB", found a value of type { $value }
fault-type-duration = expected a length of time such as "60s", found a value of type { $value }
fault-type-string = expected text in quotation marks, found a value of type { $value }

config-unreadable = the settings cannot be read from { $file }: { $cause }
config-unreadable-hint = “cola-ia init” writes a commented one; --config and COLA_IA_CONFIG must name a file that exists
config-syntax = { $place }: not valid TOML: { $cause }
config-unknown-key = { $place }: there is no setting “{ $key }”
config-unknown-key-hint = all settings: cola-ia config show
config-read = read { $file }
config-read-no-file = there is no { $file } here; the environment and the flags were read
origin-default = default

warning-unknown-variable = { $variable } is set, and nothing reads it
warning-line-bound = max_line_bytes ({ $line }) is less than max_text_bytes ({ $text }): no text can be as long as allowed
warning-line-bound-hint = leave max_line_bytes out: it follows max_text_bytes

config-file-head =
    Settings of cola-ia. Every line that starts with “# name =” shows a default; take the # away to change it.
    A flag wins over the environment, and the environment over this file. See what is in force with: cola-ia config show --origin
config-file-variable = In the environment: { $variable }.
setting-db = The store's file. A relative path is relative to the folder of this file.
setting-default-source = The source of events that name none.
setting-max-text-bytes = Longest text of an event, in bytes or with a unit (KiB, MiB). At most 256 MiB.
setting-max-line-bytes =
    Longest line of an input, in bytes or with a unit. At most 1 GiB. Left out, it follows max_text_bytes: six times that and 2 MiB, and never less than 8 MiB.
setting-lock-wait = How long to wait while another process writes to the store (ms, s, m, h). At most 24h.
setting-allow-network-filesystem =
    Open a store on a network filesystem all the same. Locks are not reliable there and the store can be damaged: use it only if one single machine has it mounted.

## init, man, add, jobs, show

init-file-written = wrote { $path }
init-file-there = { $path } is there already and stays as it is
init-file-failed = { $path } cannot be written: { $cause }
init-file-failed-hint = make the folder first
init-store-made = made the store { $path }
init-store-there = the store { $path } is there already and can be used
init-next-hint = let events in with: cola-ia add eventos.jsonl
man-written =
    { $count ->
        [one] wrote one page into { $path }
       *[other] wrote { $count } pages into { $path }
    }
man-failed = the manual page { $path } cannot be written: { $cause }

add-summary = { $parts }
add-summary-dry-run = nothing was stored; this would happen: { $parts }
add-summary-and = { $before }, { $last }
add-summary-new =
    { $count ->
        [one] 1 new
       *[other] { $count } new
    }
add-summary-duplicates =
    { $count ->
        [one] 1 duplicate
       *[other] { $count } duplicates
    }
add-summary-conflicts =
    { $count ->
        [one] 1 conflict
       *[other] { $count } conflicts
    }
add-summary-refused =
    { $count ->
        [one] 1 refused
       *[other] { $count } refused
    }
add-summary-unfinished =
    { $count ->
        [one] 1 unfinished last line
       *[other] { $count } unfinished last lines
    }
add-conflicts-hint = somebody used an id twice or changed a text that should not change; see both with: { $command }
add-conflicts-hint-id = somebody used an id twice or changed a text that should not change; the first is { $id }
add-refused-hint = with --rejects FILE the refused lines are kept, to be mended and added again
add-rejects-hint = the refused lines are in { $path }: mend them and add that file
add-unfinished-hint = the unfinished line was not taken; add the same input again once it is complete

column-event = EVENT
column-state = STATE
column-source = SOURCE
column-attempts = ATTEMPTS
column-received = RECEIVED
column-id = ID
jobs-more-hint = there are more: --after { $next }
jobs-none = no jobs
jobs-no-source = no event of the source { $source } has come

show-not-found = no event has the id { $id }
show-not-found-in = no event of the source { $source } has the id { $id }
show-not-found-hint = an id is compared byte for byte: capitals, spaces and accents count
show-elsewhere-hint = an event with this id has come from: { $sources }
show-source = source
show-event = event number
show-type = type
show-reason = reason
show-run = run
show-attempts = attempts
show-resource = resource
show-time = happened
show-received = received
show-due = due
show-duplicates = duplicates
show-fingerprint = fingerprint
show-first = first
show-last = last
show-late = ({ $time } after it happened)
show-early = ({ $time } before the provider's own time: one of the two clocks is wrong)
show-text = text
show-text-gone = (no longer kept)
show-conflict =
    { $count ->
        [one] conflict { $number }, came once
       *[other] conflict { $number }, came { $count } times
    }
show-deliveries = latest deliveries

stdout-closed = nobody reads stdout any more: { $cause }
stdout-failed = stdout cannot be written: { $cause }

## Reasons of the system

io-not-found = it does not exist
io-permission-denied = permission denied
io-already-exists = it exists already
io-is-a-directory = it is a folder
io-not-a-directory = a part of the path is not a folder
io-storage-full = the disk is full
io-read-only-filesystem = the filesystem is read-only
io-invalid-data = it is not UTF-8 text
io-file-too-large = it is too large
io-quota = the quota is used up
io-device = the device fails to read or write
io-device-gone = there is no such device
io-busy = it is in use
io-too-many-open = too many files are open
io-name-too-long = the name is too long
io-link-loop = its symbolic links go in a circle
io-timed-out = it took too long
io-numbered = { $cause } (os error { $number })

sqlite-permission = permission denied
sqlite-busy = another process has it locked
sqlite-read-only = it may only be read
sqlite-io = the disk or the filesystem fails to read or write
sqlite-corrupt = its content is not as SQLite wrote it
sqlite-full = the disk is full
sqlite-cannot-open = the file or its folder cannot be opened
sqlite-not-a-database = it is not an SQLite database

## What the gate refuses. The place stands before, the detail and the code after

refusal-counted =
    { $count ->
        [one] one more line
       *[other] { $count } more lines
    }
refusal-lines = lines { $first }–{ $last }
refusal-bytes = { $bytes } bytes; at most { $most }
refusal-json_syntax = the line is not valid JSON
refusal-json_syntax-hint = JSON Lines is one complete JSON object on each line
refusal-json_trailing = there is more after the end of the object
refusal-json_trailing-hint = put each object on its own line, with nothing behind it
refusal-json_not_a_number = JSON has no NaN and no Infinity
refusal-json_not_a_number-hint = write null, or leave the field out
refusal-json_duplicate_key = a key stands twice in one object
refusal-json_duplicate_key-hint = programs differ in which one they take; keep one
refusal-json_too_deep = arrays and objects are nested deeper than 64
refusal-json_lone_surrogate = a \u escape is half of a surrogate pair
refusal-json_lone_surrogate-hint = the sender cut a character in two; send the whole pair, or the character as UTF-8
refusal-json_not_object = the line is JSON, but not an object
refusal-json_not_object-hint = each line is an object with “id” and “texto”; an array of them becomes lines with: jq -c '.[]' FILE
refusal-json_document =
    { $count ->
        [one] this is one JSON document over several lines, not JSON Lines
       *[other] these are { $count } JSON documents over several lines, not JSON Lines
    }
refusal-json_document-hint = turn it into one object a line: an array with jq -c '.[]' FILE, objects with jq -c . FILE
refusal-utf8_invalid = the bytes are not valid UTF-8
refusal-utf8_invalid-hint = convert the file, for example with: iconv -f LATIN1 -t UTF-8 FILE
refusal-utf16 = the input is UTF-16
refusal-utf16-hint = convert it with: iconv -f UTF-16 -t UTF-8 FILE
refusal-format_unsupported = the input is in a format that is not read
refusal-format_unsupported-hint = unpack or convert it first; JSON Lines is read, plain or packed with gzip or zstd
refusal-line_too_long = the line is longer than allowed
refusal-line_too_long-hint = the bound is the setting max_line_bytes
refusal-id_missing = the object has no “id”
refusal-id_number = the “id” is a number, and ids are strings
refusal-id_number-hint = put it in quotation marks: "id": "42"
refusal-id_not_string = the “id” is not a string
refusal-id_not_string-hint = ids are strings: "id": "idea-42"
refusal-id_blank = the “id” is empty or blank
refusal-id_blank-hint = “cola-ia id” makes ids for a sender that has none
refusal-id_too_long = the “id” is longer than allowed
refusal-id_control = the “id” has a control character
refusal-text_missing = the object has no “texto” or “text”
refusal-text_not_string = the “texto” is not a string
refusal-text_blank = the “texto” is empty or blank
refusal-text_too_long = the “texto” is longer than allowed
refusal-text_too_long-hint = the bound is the setting max_text_bytes, or --max-text-bytes
refusal-text_nul = the “texto” has a character U+0000
refusal-type_invalid = the “tipo” is not a type: a string, not blank, of at most 256 bytes, with no control characters
refusal-time_invalid = the “fecha” is not a date and time with its offset
refusal-time_invalid-hint = write it as RFC 3339 asks: 2026-01-31T23:00:00+02:00 or 2026-01-31T21:00:00Z
refusal-source_invalid = the “origen” is not the name of a source
refusal-source_invalid-hint = a source is 1 to 64 characters of a–z, 0–9, “.”, “_” and “-”, and starts with a letter or a digit
refusal-source_mismatch = the “origen” is not the source that --source names
refusal-source_mismatch-hint = leave --source out, and each event has the source that it names
refusal-field_twice = the field stands in both its spellings
refusal-field_twice-hint = keep the Spanish spelling or the English one

## What the store cannot do

store-unknown = the store answers { $code } ({ $facts })
store-store_missing = there is no store at { $path }
store-store_missing-hint = “cola-ia add” and “cola-ia init” make one; --db names another
store-store_parent_missing = the store { $path } cannot be made: its folder does not exist
store-store_parent_missing-hint = make the folder first, or name another place with --db
store-store_not_writable = the store { $path } cannot be written: { $cause }
store-store_not_writable-hint = the file and its folder must both be writable: SQLite keeps its log beside the file
store-store_not_readable = the store { $path } cannot be read: { $cause }
store-store_not_readable-hint = this user must be allowed to read the file and to enter its folder
store-store_newer = the store { $path } has schema { $found }, and this version knows only up to { $known }; nothing was changed
store-store_newer-hint = use the version of cola-ia that wrote it, or a newer one
store-store_needs_migration = the store { $path } has schema { $found } and must be brought to { $known } first
store-store_needs_migration-hint = “cola-ia add” does that, and keeps a copy of the file before
store-store_foreign = { $path } is the database of another program ({ $what }); nothing was changed
store-store_foreign-hint = name another file with --db
store-store_not_sqlite = { $path } is not an SQLite database; nothing was changed
store-store_not_sqlite-hint = name another file with --db
store-store_empty_file = { $path } is an empty file, not a store; nothing was changed
store-store_empty_file-hint = if nothing of yours should be in it, remove it and try again; otherwise bring back a backup
store-store_not_a_file = { $path } is not a regular file
store-store_not_a_file-hint = name a file with --db
store-store_wal_orphan = the store { $path } is missing, but its log { $wal } is there; nothing was changed
store-store_wal_orphan-hint = put the store back beside its log: the latest events may be in the log alone; if neither is needed, move the log away
store-store_network_fs = the store { $path } is on a network filesystem ({ $filesystem }), where locks are not reliable
store-store_network_fs-hint = move it to a local disk; if one single machine has it mounted: allow_network_filesystem = true
store-store_locked = another process has kept the store { $path } locked for { $seconds } s; nothing was changed
store-store_locked-hint = try again when it has finished, or wait longer with the setting lock_wait
store-store_damaged = the store { $path } is damaged: { $cause }
store-store_damaged-hint = stop using it, copy the file and its -wal as they are, and bring back a backup
store-store_full = there is no room to write to the store { $path }: { $cause }
store-store_full-hint = make room and run the same again: nothing is lost, and nothing enters twice
store-store_io = the store { $path } cannot be read or written: { $cause }
store-store_io-hint = look at the disk and its log; running the same again is safe
store-store_article = { $path } is a database of the article's script, and only “cola-ia add” takes it over; nothing was changed
store-store_article-hint = “cola-ia add FILE” keeps a copy of it before; “cola-ia add --dry-run FILE” only tells what that would do
store-takeover_refused = the database of the article's script { $path } cannot be taken over: { $cause }; nothing was changed
store-takeover_refused-hint = mend what is said, or start another store with --db
store-op_reused = a call was repeated with other contents under the same name; this is a fault of cola-ia
store-op_reused-hint = please report it; nothing was changed
store-batch_too_long = a batch has more events than one call may carry; this is a fault of cola-ia
store-batch_too_long-hint = please report it; nothing was changed
store-import_other_namespace = the store { $path } has events of another origin than the export; nothing was changed
store-import_other_namespace-hint = import into a new store: cola-ia import --db NEW FILE
store-import_out_of_order = the records of an import do not stand in the order of an export; this is a fault of cola-ia
store-import_out_of_order-hint = please report it; nothing of that batch was changed
store-interrupted = interrupted; what was answered is stored
store-interrupted-hint = run the same again: nothing enters twice
store-store_closed = the store has been closed

## What opening a store did

store-created = made the store { $path }
store-migrated = brought the store { $path } from schema { $from } to { $to }
store-copy = the file as it was before: { $path }
store-waiting = another process has held the lock of the store for { $seconds } s; waiting
takeover-done = took over the database of the article's script, { $path }: { $pending } pending, { $done } done, { $held } held
takeover-would = a run without --dry-run would take over the database of the article's script, { $path }: { $pending } pending, { $done } done, { $held } held
takeover-mismatch = the fingerprint of { $id } is not that of its text; its job is held
takeover-state = { $id } has the state “{ $state }”, which the article does not know; its job is held
takeover-columns = these columns are not the article's and stay in the old table: { $columns }
takeover-untaken = row { $row } of the old table cannot be an event and stays there: { $reason } [{ $code }]
takeover-untaken-more = { $count ->
    [one] one more row stays in the old table
   *[other] { $count } more rows stay in the old table
}

## export, import

export-done = { $path }: { $lines } lines, { $events } events and { $deliveries } further deliveries
export-not-written = the export cannot be written to { $path }: { $cause }
export-not-written-hint = name another file: one that exists is never replaced
import-not-an-export = { $input } is not an export of cola-ia; nothing was changed
import-not-an-export-hint = an export starts with the line that “cola-ia export” writes; to let events in: cola-ia add { $input }
import-newer = { $input } is an export of version { $found }, and this program reads up to { $known }; nothing was changed
import-newer-hint = use the version of cola-ia that wrote it, or a newer one
import-cut = { $input } ends in the middle: its last line, with the counts, is missing; what was whole entered
import-cut-hint = bring the whole file and import it again: nothing enters twice
import-counts = { $input } does not hold what its last line counts: lines are missing
import-nothing-new = nothing new: what is in the file was there already or is left out
import-kept =
    { $count ->
        [one] one record has gone on here since the export, and stays as it is here
       *[other] { $count } records have gone on here since the export, and stay as they are here
    }
import-restored = the store counts as restored: what ran elsewhere after the export is not known here
import-contradicting =
    { $count ->
        [one] one record contradicts what is there and was left out
       *[other] { $count } records contradict what is there and were left out
    }
import-contradicting-hint = to have the export as it is, import it into an empty store: cola-ia import --db NEW FILE
import-refused =
    { $count ->
        [one] one line was refused
       *[other] { $count } lines were refused
    }
import-refused-hint = an event with a line that cannot be read stays out whole; bring a good copy of the file and import it again
import-more =
    { $count ->
        [one] … and one more line
       *[other] … and { $count } more lines
    }
import-line-export_json = the line is not a JSON object, from this byte on
import-line-export_kind = there is no such kind of line
import-line-export_field_missing = a field is missing
import-line-export_field_twice = a field stands twice
import-line-export_field_unknown = a field is not known and would be lost
import-line-export_fingerprint = the fingerprint is not that of the text
import-line-export_format = it is another format
import-line-export_value = a value has not the form of its field
import-line-export_order = it does not stand behind what it belongs to
import-line-export_after_end = it stands behind the last line of the export
import-line-export_incomplete = an event is left out, because a line of it cannot be read or is missing
import-line-line_too_long = the line is longer than allowed (setting max_line_bytes)
import-line-import_differs = what never changes is different here
import-line-import_older_here = the file knows of a later change than the store
import-line-import_number_taken = its number or its key belongs to something else here
import-line-import_identity_taken = this source and id are an event with another number here
import-line-import_belongs = it belongs to what was left out

column-kind = KIND
column-entered = ENTERED
column-same = THERE
column-kept = WENT ON
column-contradicting = CONTRADICTING

## Inputs of “add”

signals-failed = interrupts cannot be listened for: { $cause }
input-not-readable = { $path } cannot be read: { $cause }
input-is-folder = { $path } is a folder
input-is-folder-hint = name its files, for example: cola-ia add { $path }/*.jsonl
input-is-store = { $path } is the store itself
input-is-rejects = { $path } is to be read and to take the refused lines; nothing was read
input-io = { $input } could not be read to its end: { $detail }; what was read before has been answered
input-io-hint = look at the disk, or copy the file to a good one, and add it again: nothing enters twice
input-gzip-cut = { $input } is cut off: the gzip stream ends in the middle; what could be read has been answered
input-gzip-damaged = { $input } is damaged: the gzip stream is not what was packed ({ $detail }); what was read before has been answered
input-zstd-cut = { $input } is cut off: the zstd stream ends in the middle; what could be read has been answered
input-zstd-damaged = { $input } is damaged: the zstd stream is not what was packed ({ $detail }); what was read before has been answered
input-zstd-window = { $input } needs a zstd window of more than is read here (8 MiB)
input-cut-hint = bring the whole file and add it again: nothing enters twice
input-damaged-hint = bring a good copy and add it; look at what entered, its last lines may be damaged too
input-zstd-window-hint = unpack it first, with “zstd -d --long=31 -c FILE | cola-ia add -”, or pack it without --long
rejects-is-store = the refused lines cannot go to { $path }, which belongs to the store; nothing was read
rejects-not-writable = the refused lines cannot be kept in { $path }: { $cause }
add-unfinished-line = { $input }:{ $line }: the last line is unfinished and was not taken
