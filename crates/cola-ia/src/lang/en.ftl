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

value-store = PLACE
value-file = FILE
value-url = URL
value-folder = FOLDER
value-source = NAME
value-of-source = SOURCE
value-number = N
value-size = SIZE
value-state = STATE
value-verdict = VERDICT
value-type = TYPE
value-moment = TIME
value-filter = FILTER
value-length = LENGTH
value-worker = NAME
value-lease = LEASE
value-by = source|model|day
value-cost = AMOUNT
value-currency = CURRENCY
value-code = CODE
value-retry-after = SECONDS|DATE
value-kind = KIND
value-place = PLACE
value-id = ID
value-shell = SHELL
value-text = TEXT
value-age = AGE
value-exec = COMMAND
value-effect = NAME
value-hash = SHA256
value-hex = HEX
value-json = JSON|FILE
value-lookup = LINE
value-of-effect = [ID] NAME
value-otherwise = hold|retry
value-resource = RESOURCE
value-stdin = text|json
value-command = COMMAND
value-lang = es|en
value-instant = INSTANT
value-scheme = SCHEME
value-scope = SCOPE
value-token = NAME
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
    5    the server does not know the token, or it does not allow this
    6    only the last line is unfinished; the next run takes it
    7    the lease is lost; nothing was changed
    8    there is nothing to claim; where a source is paused, stderr says so
    9    the effect is refused, or held: a person decides
    65   the destination of an effect refused it for good
    70   an effect was sent, and nobody knows whether it happened
    75   nothing was sent now; again later
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
    One line a job: event number, state, source, attempts, when it was received (UTC) and id. A
    running one whose lease has run out is marked (expired): its worker is lost, and the next claim,
    or “recover”, takes it up again.
    Where more is left, stderr says how to ask for the next page.
usage-jobs = cola-ia jobs [OPTIONS]
examples-jobs =
    cola-ia jobs
    cola-ia jobs --state failed --state held
    cola-ia jobs --source form --limit 1000 --json
    cola-ia jobs --filter 'source=form,web state=failed since=24h'

about-show = Show all that happened to one id
about-show-long =
    Answers first: why its job did or did not run, and why it came when it came. Then identity, its
    text, accepted revisions, the other texts that came under the same id as differences and what
    was decided about them, each reception with its verdict, the time since the one before and how
    late it was, attempts and effects of the job. Long texts are cut; --json has all of them. Where
    several sources know the id, each is shown.
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

about-stats = Count what came, how late, and how many jobs wait
about-stats-long =
    Two tables with a line for each source: the deliveries received in a time, by verdict, with how
    late they came; and the jobs by state as they are now, whenever they came. A line - has what was
    refused without a source. Without --since it is the 24 hours before --until, or before now.
    EXPIRED are those of the running jobs whose workers are lost. Sources that are paused, or whose
    jobs fail one after the other, get a warning on stderr.

    LATE P50 and LATE P95: half, and 95 of 100, of the deliveries that carry a time came so late or
    less; each figure is within 6.25 % of the true one. Those whose time lies after their reception
    are counted apart: one of the two clocks is wrong.

    Counts are kept by the minute, after two days by the hour and after two months by the day (UTC);
    the time is widened to whole ones, and stderr says the time that is really counted.
usage-stats = cola-ia stats [OPTIONS]
examples-stats =
    cola-ia stats                                          the last 24 hours
    cola-ia stats --since 15m --source form
    cola-ia stats --since 2026-01-30 --until 2026-01-30    that day
    cola-ia stats --since 1970-01-01 --json                everything
about-costs = Show what was spent, what is at risk and what was avoided
about-costs-long =
    One line for each source, model or day (UTC): how many costs were counted, what was spent (by
    attempts, failed ones too, and by effects), what is reserved by effects of which nobody knows
    whether they happened, what was avoided, and tokens. A cost is what a worker tells with its
    result, or is worked out of model and tokens by the prices in the configuration
    ([prices."MODEL"]). A — stands where no cost was reported.

    AVOIDED is an estimate: what results that were used again had cost, and for each repeated
    delivery what an event of the line cost on average:

    replayed + spent / new × repeated

    By model, deliveries are not told apart, and only results that were used again count.

    A cost belongs to the day in which its attempt ended, that of an effect to the day in which it
    was begun. Costs are kept by the day: a part of one is counted whole.
usage-costs = cola-ia costs [OPTIONS]
examples-costs =
    cola-ia costs                           by source, from the first day on
    cola-ia costs --by model --since 30d
    cola-ia costs --by day --source form --since 2026-01-01 --until 2026-01-31
    cola-ia costs --json                    in millionths of the currency's unit
exit-codes-costs =
    0    shown, or there is nothing
    1    it could not be done
    2    the command or a setting is not understood

about-budget = Limit what may be spent on a source's jobs in a day
about-budget-long =
    Where a source has a budget, an effect is begun only if what it may cost at most still fits into
    the day (UTC): spent and reserved together never pass the limit, however many workers begin at
    once. An effect without a largest cost is refused then. The costs of attempts count too, but
    nobody asks before they are made. Without a command: the budgets, with today's sums.

    All amounts of a store are in one currency: the one that is set, or the first that a result tells.
usage-budget = cola-ia budget [OPTIONS] [COMMAND]
examples-budget =
    cola-ia budget
    cola-ia budget set form 2.50
    cola-ia budget remove form
    cola-ia budget currency EUR
exit-codes-budget =
    0    done
    1    it could not be done
    2    the command or a setting is not understood; nothing was attempted
about-budget-list = List the budgets, with today's sums
about-budget-list-long =
    One line a source: the limit of a day, what is spent of it today (UTC), what is reserved by
    effects of unknown outcome, and what is left.
usage-budget-list = cola-ia budget list [OPTIONS]
about-budget-set = Set the budget of a source
about-budget-set-long =
    It holds from the next effect on; what is spent and reserved today counts. The source need not
    have an event yet. 0 lets nothing begin that costs anything.
usage-budget-set = cola-ia budget set [OPTIONS] SOURCE AMOUNT
examples-budget-set =
    cola-ia budget set form 2.50
about-budget-remove = Take the budget of a source away
about-budget-remove-long =
    Nothing limits its effects from then on. What was spent stays counted.
usage-budget-remove = cola-ia budget remove [OPTIONS] SOURCE
about-budget-currency = Tell the currency of all amounts, or set it
about-budget-currency-long =
    Three letters, as EUR. Once it is said it stays: amounts are never converted, and a cost that is
    told in another currency is not counted. Without CURRENCY, stdout gets the one that is set.
usage-budget-currency = cola-ia budget currency [OPTIONS] [CURRENCY]
examples-budget-currency =
    cola-ia budget currency EUR
about-deliveries = List every handing-over of an event, newest first
about-deliveries-long =
    One line a delivery: number, verdict, when it was received (UTC), how long after it happened at
    the provider, source and id. Repeated deliveries are listed too, conflicts with their number,
    and refused ones with where they were read, the code of the reason and what it is about.
usage-deliveries = cola-ia deliveries [OPTIONS]
examples-deliveries =
    cola-ia deliveries
    cola-ia deliveries --verdict invalid --since 2026-01-31 --until 2026-01-31
    cola-ia deliveries --source form,web --verdict conflict,duplicate --since 24h
    cola-ia deliveries --filter 'reason=id_blank' --json

about-conflicts = List the other texts that came under known ids, newest first
about-conflicts-long =
    One line a conflict: when its text came first and last, how often, what was decided about it,
    source, number within the event, and id. With --diff each is shown with the difference to the
    text that the event has: lines that went stand behind -, lines that came behind +, and changed
    words in [-…-] and {"{"}+…+{"}"}.
usage-conflicts = cola-ia conflicts [OPTIONS]
examples-conflicts =
    cola-ia conflicts --undecided
    cola-ia conflicts --diff --limit 5
    cola-ia conflicts --source form --since 7d --json

about-errors = List what was refused and which attempts went wrong, newest first
about-errors-long =
    One line an error: when, what kind, source, and what it was: of a refused input its place and
    reason as “add” told them, of an attempt its id, run and number, how it ended and what it said.
    Without --kind both kinds are listed.

    With --group those are counted together that differ in numbers and ids only: how often, when
    first and last, what they have in common with numbers and ids as #, and the newest one.
usage-errors = cola-ia errors [OPTIONS]
examples-errors =
    cola-ia errors --since 24h
    cola-ia errors --group --since 7d
    cola-ia errors --kind intake --since 2026-01-31 --until 2026-01-31
    cola-ia errors --kind attempt --source form --json

about-tail = Show deliveries as they arrive
about-tail-long =
    Begins with the latest ones and goes on until it is interrupted or nobody reads its output. It
    waits for a store that is not there yet or is locked, and goes on with one that was replaced.
    While nothing arrives it does not keep the store open.
usage-tail = cola-ia tail [OPTIONS]
examples-tail =
    cola-ia tail
    cola-ia tail -n 0 --verdict conflict,invalid
    cola-ia tail --source form --json
exit-codes-tail =
    0    nobody reads its output any more
    1    what stands at the store's path cannot be read
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted
about-resolve = Decide what becomes of a conflict
about-resolve-long =
    A conflict is another text under a known id. Nothing of it enters until somebody says what it is:

    --keep: it stays a conflict. It is counted each time it comes and raises no alarm any more.
    --accept: it is right too. From then on it is a duplicate, and the job works with it: one that
    waits takes the new text; any other is left alone, unless --run gives it a new run.
    --as NEWID: it is another event, sent under the wrong id. It enters as NEWID and stdout gets the
    verdict, as from “add”. Where NEWID is known, nothing enters and the verdict says so.

    Each decision is recorded with its time and note, and shown by “show”. A kept conflict can be
    decided again; what was accepted or entered cannot, because it has been acted upon.
usage-resolve = cola-ia resolve [OPTIONS] ID (--keep | --accept [--run] | --as NEWID)
examples-resolve =
    cola-ia show idea-42                               see both texts first
    cola-ia resolve idea-42 --keep --note "a test"
    cola-ia resolve idea-42 --conflict 2 --accept --run
    cola-ia resolve idea-42 --as idea-42b
exit-codes-resolve =
    0    decided
    1    not decided: no such id or conflict, decided already, or NEWID has another text
    2    the command is not understood, or which conflict is meant; nothing was attempted

about-prune = Let go of old texts and of old repeated deliveries
about-prune-long =
    Removes the texts and the history (outputs, results) of events whose job is done or cancelled,
    and deliveries that only repeated a known event. Identity, fingerprints, times and counts stay
    for good: an old id is still a duplicate, and with another text still a conflict.

    Never touched: what is pending, running, held, or failed and waits for somebody; an event with
    an undecided conflict or an open effect. Repeated deliveries are kept for 7 days at least.

    Without --older-than the settings say what is old: retention.deliveries (90 days) and
    retention.texts (never). It works in small steps, beside everything else; it can be interrupted
    and repeated at any time.
usage-prune = cola-ia prune [OPTIONS]
examples-prune =
    cola-ia prune                                  as the settings say; good for a daily timer
    cola-ia prune --older-than 180d --dry-run      what would go
    cola-ia prune --older-than 180d --shrink       and give the room back to the disk
exit-codes-prune =
    0    all well
    1    it could not be done, or not to its end; running it again goes on
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted; running it again goes on

about-erase = Erase what an event said: a person’s right to be forgotten
about-erase-long =
    Its texts go, those of its conflicts and revisions too, and its type, notes, outputs, results
    and id. What stays is that it was there: a hash by which the id is still known, fingerprints,
    times and counts. The same delivery is still a duplicate and another text a conflict, and
    nothing of either is kept. A job that is not over is cancelled; while a worker has it, nothing
    is erased.

    The bytes are overwritten in the store’s file and its log. Copies and backups made before are
    not touched.
usage-erase = cola-ia erase [OPTIONS] ID --yes
examples-erase =
    cola-ia erase ana@example.org            says what would go
    cola-ia erase ana@example.org --yes
    cola-ia show ana@example.org             says when it was erased
exit-codes-erase =
    0    erased, now or before
    1    not erased: no such id, or a worker has its job
    2    without --yes, or the command is not understood; nothing was attempted
about-backup = Make a backup: one checked file of all that the store holds
about-backup-long =
    Works beside intake and workers. All that was answered before it began is in it. The file is
    made under another name with mode 0600, flushed, read back and checked to its last page, and
    gets its name only then: what has the name is whole. Nothing is replaced.

    A plain copy of a store in use (cp) lacks the events that are in its log; this is what to use.
usage-backup = cola-ia backup [OPTIONS] FILE
examples-backup =
    cola-ia backup "/srv/backups/cola-$(date +%F).sqlite3"
    cola-ia backup --json copy.sqlite3
    cola-ia doctor --db copy.sqlite3     is my backup good?
exit-codes-backup =
    0    the backup is made and checked
    1    it could not be made; nothing is left of it
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted; nothing is left of it

about-move = Move the whole store to another place: a database, or a new file
about-move-long =
    Copies everything: events, jobs, conflicts, deliveries, attempts, effects with their keys, and
    money. Stop workers and the server first; while a worker has a job in hand nothing is moved.

    The store is marked before anything is copied: from then on it can be read and takes nothing in,
    so that nobody goes on with both. The other place must be empty or not there yet. At the end both
    are compared record by record. Interrupted, run it again: it goes on. --undo takes the mark away
    again, as long as nobody works with the other place. Tokens are not copied: make new ones.
usage-move = cola-ia move --to PLACE | --undo [OPTIONS]
examples-move =
    cola-ia move --to postgres://cola@db.example/cola
    cola-ia move --db postgres://cola@db.example/cola --to cola_ia.sqlite3
    cola-ia move --undo
exit-codes-move =
    0    all of it is there
    1    it could not be done, or not to its end: run it again
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted: run it again

about-restore = Put a backup in the place of the store
about-restore-long =
    Only while nobody has the store open. The backup is copied, checked to its last page and brought
    to this version before anything is replaced; it is only read itself. What stood there is kept as
    NAME.before-restore-TIME.

    The store is marked as restored: what happened after the backup is not in it. Jobs that were
    running then wait again, and effects that are not recorded as done count as possibly done, until
    “cola-ia restored --clear”. Senders may deliver again all that came since: nothing enters twice.
usage-restore = cola-ia restore [OPTIONS] FILE
examples-restore =
    cola-ia restore /srv/backups/cola-2026-01-31.sqlite3
    cola-ia restore --db new.sqlite3 copy.sqlite3     to another place, to look into it
exit-codes-restore =
    0    the backup is in place
    1    it could not be done; the store is as it was
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted; the store is as it was

about-restored = Say that the store was restored by other means, or that this has been looked into
about-restored-long =
    For a store that was put back without “cola-ia restore”: from a snapshot of the disk or of the
    machine, or from an archive. It does not know what happened since; --at says when it was put
    back. Jobs that were running wait again, and effects that are not recorded as done count as
    possibly done.

    --clear ends that, once somebody has looked into what may have happened.
usage-restored = cola-ia restored --at INSTANT | --clear [OPTIONS]
examples-restored =
    cola-ia restored --at now
    cola-ia restored --at 2h                       two hours ago
    cola-ia restored --at 2026-01-31T21:00:00Z
    cola-ia restored --clear

about-serve = Receive webhooks and forms, offer the API, keep schedules and look after the store
about-serve-long =
    Listens for what the sources of cola-ia.toml send (POST /in/SOURCE), verifies who signed it, and
    answers once it is stored. Workers and programs use /v1 with a token; “/”, /metrics, /livez and
    /readyz are for people and for those who watch over it. Schedules fire, lost jobs are taken up
    again, old records are pruned and backups are made while it runs.

    The first start makes a token for everything, writes it to a private file beside the store, and
    prints a link that logs a browser in, once.

    It listens on this machine alone unless told otherwise. TERM or an interrupt ends it: what has
    arrived is answered, within the grace; a second one ends it now. The log goes to stderr.
usage-serve = cola-ia serve [OPTIONS]
examples-serve =
    cola-ia serve
    cola-ia serve --listen 127.0.0.1:9000 --log-format text
exit-codes-serve =
    0    it was asked to stop, and stopped
    1    it could not listen, or the store cannot be opened
    2    the command or a setting is not understood; nothing was attempted
    130  a second signal ended it at once

about-doctor = Look for what is wrong with the store and around it
about-doctor-long =
    Pages and tables, the log, who has the store open, the disk, what waits for somebody, what killed
    processes left. Each finding has a code (docs/ERRORS.md), and what is wrong says what to do.
    Works on a store that cannot be opened, on one in use, and on a backup (--db FILE). Nothing is
    written to the store.
usage-doctor = cola-ia doctor [OPTIONS]
examples-doctor =
    cola-ia doctor
    cola-ia doctor --quick --json
    cola-ia doctor --db /srv/backups/cola-2026-01-31.sqlite3
exit-codes-doctor =
    0    all well, perhaps with notes
    1    there is a warning or an error
    2    the command or a setting is not understood; nothing was attempted
    130  interrupted

about-claim = Take jobs that are due, to work on them
about-claim-long =
    A worker is whoever claims a job, works on it and says how it went. Each job that is taken is a
    line on stdout: the lease, a space, and the id as “add” prints it. The lease is 36 letters and
    digits; everything that is said of the job carries it: complete, fail, release, extend.

    A lease lasts as long as the setting “lease” says (60s), unless it is extended. Whoever lets it
    run out counts as lost: the next claim, or “recover”, gives the job to somebody else, and what
    the first one says from then on changes nothing (exit code 7).

    With --text the text of the one job goes to a file; with --json everything is in the line. A job
    that cannot be handed over, because stdout or the file cannot be written, is given back at once.
usage-claim = cola-ia claim [OPTIONS]
examples-claim =
    cola-ia claim --text text.txt                 one job: prints LEASE ID
    cola-ia claim --wait 1m --lease 5m            waits up to a minute for one
    cola-ia claim --source web --limit 20 --json

    while read -r lease id < <(cola-ia claim --text text.txt); do
      if ./my-model < text.txt > answer.txt 2> said.txt; then
        cola-ia complete "$lease" --result-text answer.txt
      else
        cola-ia fail "$lease" --class "exit_$?" --stderr said.txt
      fi
    done
exit-codes-claim =
    0    at least one job is yours
    1    it could not be done; no job is yours
    2    the command or a setting is not understood; nothing was attempted
    8    there is nothing to claim
    130  interrupted while it waited; no job is yours

about-extend = Make leases last longer
about-extend-long =
    From now on for as long as the setting “lease” says, or --lease. A lease is never shortened.
    Do it well before the lease runs out: a third of its length is a good rhythm.

    Without LEASE it is the one in the environment (COLA_IA_LEASE).
usage-extend = cola-ia extend [OPTIONS] [LEASE...]
examples-extend =
    cola-ia extend "$lease"
    cola-ia extend "$lease" --lease 10m
exit-codes-extend =
    0    extended
    1    it could not be done
    2    the command or a setting is not understood; nothing was attempted
    7    a lease is lost: stop working on its job; the others were extended

about-complete = Say that a job is done
about-complete-long =
    What it made, what it answered and what it cost can be kept with it. --result is a JSON object
    (a file, or - for stdin): its resource_id, cost, tokens_in, tokens_out and model are taken as the
    options of that name are, and everything else is kept as the job’s result. --result-text keeps a
    text as the result, such as a model’s answer. A result has 64 KiB at most.

    Saying it again with the same lease is answered the same and changes nothing. Without LEASE it
    is the one in the environment (COLA_IA_LEASE).
usage-complete = cola-ia complete [OPTIONS] [LEASE]
examples-complete =
    cola-ia complete "$lease"
    cola-ia complete "$lease" --resource-id post-9 --cost 0.0123
    cola-ia complete "$lease" --result-text answer.txt
    echo '{"{"}"cost":0.0123,"title":"Two models"{"}"}' | cola-ia complete "$lease" --result -
exit-codes-complete =
    0    recorded, now or before
    1    it could not be done
    2    the command, its result or a setting is not understood; nothing was attempted
    7    the lease is lost: nothing was changed

about-fail = Say that an attempt went wrong
about-fail-long =
    The job is tried again later, each time after a longer wait, until “max_attempts” (5) have
    failed; then it is “failed” and waits for a person: “retry”. --permanent says that it will never
    succeed: it is “failed” at once. --retry-after says when to come back at the earliest, in
    seconds or as an HTTP date, as a Retry-After header has it. What was only too early, such as a
    rate limit, is no failure: release --retry-after.

    --class is a short code for the kind of error (http_500), by which errors can be filtered;
    --error is what it said; --stderr a file with all that it wrote. Without LEASE it is the one in the environment (COLA_IA_LEASE).
usage-fail = cola-ia fail [OPTIONS] [LEASE]
examples-fail =
    cola-ia fail "$lease" --class http_500 --error "the model said no"
    cola-ia fail "$lease" --class "exit_$?" --stderr said.txt
    cola-ia fail "$lease" --class http_503 --retry-after 120
    cola-ia fail "$lease" --permanent --class too_long
exit-codes-fail =
    0    recorded, now or before
    1    it could not be done
    2    the command, its result or a setting is not understood; nothing was attempted
    7    the lease is lost: nothing was changed

about-release = Give a job back
about-release-long =
    It costs no attempt. Without --retry-after somebody may take it at once: for a worker that stops.
    With it nobody takes it before: for a rate limit.

    Without LEASE it is the one in the environment (COLA_IA_LEASE).
usage-release = cola-ia release [OPTIONS] [LEASE]
examples-release =
    cola-ia release "$lease"
    cola-ia release "$lease" --retry-after 30
    cola-ia release "$lease" --retry-after "Sat, 31 Jan 2026 21:00:00 GMT"
exit-codes-release =
    0    given back, now or before
    1    it could not be done
    2    the command or a setting is not understood; nothing was attempted
    7    the lease is lost: nothing was changed

about-recover = Take jobs back from workers that are lost
about-recover-long =
    A job whose lease has run out waits again, or is “failed” once it has cost “max_crashes” (3) of
    its workers. Whatever runs for long does this by itself, and so does “claim”: by hand it is for
    looking (--dry-run), and for a store on which nobody works. Each job is a line on stdout: its id
    and its state from then on.
usage-recover = cola-ia recover [OPTIONS]
examples-recover =
    cola-ia recover --dry-run    whose workers are lost
    cola-ia recover
exit-codes-recover =
    0    done, or nothing was to be done
    1    it could not be done
    2    the command or a setting is not understood; nothing was attempted

about-resume = Work on a paused source again
about-resume-long =
    With the setting “source.pause_after”, so many jobs of one source that fail in a row, all with the
    same class of error, pause it: no job of it is given to a worker, and everything else goes on.
    Events still come in and wait. When the cause is gone, this ends the pause, and failures are
    counted from the beginning. “stats” tells which sources are paused.
usage-resume = cola-ia resume [OPTIONS] SOURCE
examples-resume =
    cola-ia resume web
    cola-ia resume --source web --json
exit-codes-resume =
    0    its jobs are given out again, or it was not paused: stderr says which
    1    there is no such source, or it could not be done
    2    the command or a setting is not understood; nothing was attempted

about-cancel = Stop a job for good
about-cancel-long =
    Nobody works on it from then on; a worker that has it has lost its lease and is told so when it
    next says something. A job that is done stays done. “retry” takes it up again. stdout gets the
    id and the state.
usage-cancel = cola-ia cancel [OPTIONS] ID
examples-cancel =
    cola-ia cancel idea-42
    cola-ia cancel idea-42 --source form
exit-codes-cancel =
    0    cancelled
    1    not cancelled: no such id, or the job has ended
    2    the command is not understood, or which source is meant; nothing was attempted

about-retry = Try jobs again that have failed
about-retry-long =
    A job that is failed, held or cancelled waits again, with all its attempts before it; one that
    waits for a later time is due now. The run is the same, and so are the keys of its effects:
    nothing that was done is done twice. What is done takes “replay”.

    Of one id, or of all jobs that a filter lets through, however many: without a state in the filter
    the failed ones are meant. Only jobs that are there at the start are looked at, each once; it can
    be interrupted and repeated at any time. Each job is a line on stdout: its id and its state.
usage-retry = cola-ia retry [OPTIONS] (ID | --filter FILTER)
examples-retry =
    cola-ia retry idea-42
    cola-ia retry --filter "source=web since=24h" --dry-run
    cola-ia retry --filter "state=failed reason=attempts_exhausted"
exit-codes-retry =
    0    all well; also where the filter lets nothing through
    1    a job does not take it: stderr says which and why; the others were retried
    2    the command is not understood, or which source is meant; nothing was attempted
    130  interrupted; running it again goes on

about-replay = Work on a job once more, as a new run
about-replay-long =
    Of what is done, failed or cancelled. It is a deliberate new run: its effects have other keys, so
    what it publishes is published again. To try again what failed, with the same keys, use “retry”.
usage-replay = cola-ia replay [OPTIONS] ID
examples-replay =
    cola-ia replay idea-42
    cola-ia replay idea-42 --source form
exit-codes-replay =
    0    it waits, as a new run
    1    not done: no such id, the job has not ended, its text is gone, or an effect is open
    2    the command is not understood, or which source is meant; nothing was attempted

about-work = Run a command once for each job, and record how it went
about-work-long =
    Takes jobs that are due, oldest first, and runs COMMAND for each: the text on its stdin, id, source
    and a key that stays the same over all attempts in its environment (COLA_IA_ID, COLA_IA_SOURCE,
    COLA_IA_KEY, …). No shell comes between: for one, write sh -c '…'.

    The exit code says how it went. 0: done. 75: again later, which costs no attempt. 65: never. Any
    other one, a signal or the time limit: the attempt failed, and the job is tried again after a wait
    that grows, up to --max-attempts. What the command writes into the file COLA_IA_RESULT, a JSON
    object, is kept: resource_id, cost, tokens_in, tokens_out, model, retry_after, error, and anything
    else. The last 64 KiB of each output are kept with the attempt.

    What must not happen twice is guarded with “cola-ia effect run” inside of the command, or with
    --effect for the command as a whole: it is then run only as the ledger of effects allows, and its
    exit code says what happened, as for “effect run”.

    A job is held by a lease that is renewed while its command runs. Where a worker dies, its jobs are
    taken up again when their leases run out; so does this one with those of others.

    stdout gets one line for each command that ended, the id and the state of the job from then on:
    terminado, fallido or pendiente (it is tried again); with --lang en done, failed, pending. Without
    --drain it goes on waiting for jobs. SIGTERM or Ctrl-C stops it in order: commands have their grace, and what is not finished
    is given back; a second one ends it now. It can be killed at any time: run it again.
usage-work = cola-ia work [OPTIONS] -- COMMAND [ARGUMENT]...
examples-work =
    cola-ia work -- ./analizar.py
    cola-ia work -j 4 --timeout 5m --drain -- ./analizar.py
    cola-ia work -- sh -c 'cat > "/srv/textos/$COLA_IA_JOB.txt"'
    cola-ia work --effect publish --lookup ./buscar.sh --timeout 1m -- ./publicar.sh
exit-codes-work =
    0    with --drain nothing more is due; or it was stopped in order by SIGTERM
    1    it could not be done: no such command, a store that cannot be opened
    2    the command line or a setting is not understood; nothing was attempted
    130  interrupted: Ctrl-C, or a second signal

about-effect = Guard what must not happen twice: the paid call, the published post
about-effect-long =
    An effect is a named action of a job outside of here. Whoever sends it asks first, sends a key that
    stays the same, looks before repeating, and says what happened. At least once, effects guarded.

    A shell script needs one line, “effect run”. The other verbs are the same by hand; inside of a job
    they need neither lease nor store. “list” and “find” are for people, and “resolve” for what only a
    person can tell.
usage-effect = cola-ia effect [OPTIONS] COMMAND
examples-effect =
    cola-ia effect run publish --lookup ./find.sh -- ./publish.sh
    cola-ia effect list --state unknown,held
    cola-ia effect resolve idea-42 publish --happened post-991
    cola-ia effect find --resource post-991

about-effect-run = Run a command as one guarded effect
about-effect-run-long =
    Asks the ledger and does what it answers: sends, which is running COMMAND; looks first; uses what is
    recorded; waits; or stops. Run inside of a job of “cola-ia work”, or with the lease of “cola-ia claim”.

    COMMAND reads what effect run reads. It gets the key in COLA_IA_EFFECT_KEY, to be sent along, and a
    file for its result in COLA_IA_RESULT: a JSON object with resource_id, cost, tokens_in, tokens_out,
    model, and anything else. Where it writes none, what it prints is the result. Its exit code says
    what happened. 0: done. 65: refused for good. 75: nothing was sent. Any other one, a signal or the
    end of its time: nobody knows. It is killed with its whole process group when its time is over.

    stdout is the recorded result, or the id of the resource, the same whether it was sent now or before.

    --lookup is a line for the shell that looks the effect up by its key, which is its last argument and
    COLA_IA_EFFECT_KEY. Exit 0 with the resource’s id on stdout: it is there. 1: nothing is there. Any
    other one: it could not tell. Take care that a crash of it is not a 1, and that a key which begins
    with “-” is not taken for an option.

    Where nobody can tell (no key, no lookup) the job is held until a person has looked; --otherwise
    retry and --retry-below send again instead. What a later call says of all this must be the same.
usage-effect-run = cola-ia effect run [OPTIONS] NAME -- COMMAND [ARGUMENT]...
examples-effect-run =
    cola-ia effect run publish --lookup ./find.sh -- ./publish.sh
    cola-ia effect run pay --key-ttl 24h --timeout 30s -- ./pay.sh
    draft=$(cola-ia effect run draft --max-cost 0.02 --retry-below 0.05 -- ./draft.sh) || exit
exit-codes-effect-run =
    0    it is done, now or before
    1    it could not be begun: no such command, a store that cannot be opened
    2    the command is not understood; nothing was attempted
    7    the lease is lost; what happened is recorded all the same
    9    it is held, or refused: stderr says why
    65   the destination refused it for good
    70   it was sent, and nobody knows whether it happened: the next attempt finds out
    75   nothing was sent; again later, which costs no attempt

about-effect-begin = Ask whether an effect may be sent
about-effect-begin-long =
    The first word on stdout is the answer: go (send it before send_before, with the key, then report
    the try), done (use what is recorded), check (look it up by the key, then resolve with the ticket),
    wait (until then what was sent could not be seen), held (a person decides; the job is held and the
    lease has ended), used (that begin id was used), refused. Behind it stands what it carries, as
    name=value, quoted for a shell.

    Each process that will send must draw its own begin id; without --begin-id that is done. One that is
    said again gets the same answer again, with the same instant.
usage-effect-begin = cola-ia effect begin [OPTIONS] NAME
examples-effect-begin =
    answer=$(cola-ia effect begin publish --lookup --call-time 30s) || exit
    word=$(printf %s "$answer" | cut -d ' ' -f 1); eval "$(printf %s "$answer" | cut -s -d ' ' -f 2-)"
    case $word in go) ./publish.sh "$key" ;; done) echo "$resource_id" ;; check) ./find.sh "$key" ;; esac
exit-codes-effect-begin =
    0    go, done or check
    1    it could not be done; whether it was begun only the same --begin-id tells
    2    the command is not understood; nothing was attempted
    7    the lease is lost
    9    held, used or refused
    75   wait, or the budget of the day is used up: again later

about-effect-done = Say that an effect happened
about-effect-done-long =
    Recorded in every state and from any lease, any number of times: it is the strongest evidence there
    is. --result is a JSON object, or a file with one: of it, resource_id, cost, tokens_in, tokens_out
    and model are taken, and all else is kept as the result.
usage-effect-done = cola-ia effect done [OPTIONS] NAME --try N
examples-effect-done =
    cola-ia effect done publish --try 1 --resource post-991
    cola-ia effect done draft --try 1 --cost 0.0123 --result answer.json
exit-codes-effect-done =
    0    it is on record, now or before
    1    it could not be done; say it again
    2    the command or its result is not understood; nothing was attempted
    7    the lease is lost; it is recorded all the same

about-effect-failed = Say that an effect did not happen by this try
about-effect-failed-long =
    One of two reasons: the destination refused it for good (--rejected), or nothing was sent
    (--not-sent). Whoever does not know says “effect unknown”.
usage-effect-failed = cola-ia effect failed [OPTIONS] NAME --try N (--rejected | --not-sent)
examples-effect-failed =
    cola-ia effect failed publish --try 1 --rejected --note "title is missing"
    cola-ia effect failed publish --try 1 --not-sent
exit-codes-effect-failed =
    0    it is on record, now or before
    1    it could not be done; say it again
    2    the command is not understood; nothing was attempted
    7    the lease is lost: nothing was changed
    9    there is no such try

about-effect-unknown = Say that nobody knows whether an effect happened
about-effect-unknown-long =
    The next “effect begin” finds out, by the effect’s policy. The end of a lease says the same of what
    was not reported.
usage-effect-unknown = cola-ia effect unknown [OPTIONS] NAME --try N
examples-effect-unknown =
    cola-ia effect unknown publish --try 1 --note "no answer within 30 s"
exit-codes-effect-unknown =
    0    it is on record, now or before
    1    it could not be done; say it again
    2    the command is not understood; nothing was attempted
    7    the lease is lost: nothing was changed
    9    there is no such try

about-effect-resolve = Say what was found about an effect of unknown outcome
about-effect-resolve-long =
    A person says it of an effect that is held, after looking at the destination, with the event’s id and
    the effect’s name: it --happened (with the id of each thing that is there), it --did-not-happen, or
    nobody will find out (--abandon: the job fails). --try names the newest try that was looked at, as
    “show” tells it; without it, it is the newest now. Then the job goes on, or ends as it was to end.

    A worker says it after “check”, with the effect’s name and the ticket: --found or --absent. A lookup
    that could not tell says nothing.
usage-effect-resolve =
    cola-ia effect resolve ID NAME (--happened RESOURCE... | --did-not-happen | --abandon) [--try N]
           cola-ia effect resolve NAME --ticket N (--found RESOURCE | --absent)
examples-effect-resolve =
    cola-ia effect resolve idea-42 publish --happened post-991
    cola-ia effect resolve idea-42 publish --did-not-happen --try 1 --note "looked at the blog"
    cola-ia effect resolve publish --ticket 1 --absent
exit-codes-effect-resolve =
    0    it is on record
    1    it could not be done, or there is no such event or effect
    2    the command is not understood; nothing was attempted
    7    the lease is lost; what was found is recorded all the same
    9    it does not count: it is not held, was tried again meanwhile, or it is too early
    75   for a worker: too early, look again later

about-effect-list = List effects, the one that was begun last first
about-effect-list-long =
    One line an effect: its state, its name, how many tries it had, when it changed, the event it is of,
    and what it made or why it is open. All of them, unless --limit is given. Inside of a job it lists
    the job’s own.
usage-effect-list = cola-ia effect list [OPTIONS]
examples-effect-list =
    cola-ia effect list --state unknown,held
    cola-ia effect list --alarm --json
exit-codes-effect-list =
    0    all well
    1    it could not be done
    2    the command is not understood; nothing was attempted

about-effect-find = Find the event that made a resource
about-effect-find-long =
    From the id of what is at the destination back to the effect and the event that it is of.
usage-effect-find = cola-ia effect find [OPTIONS] --resource RESOURCE
examples-effect-find =
    cola-ia effect find --resource post-991
exit-codes-effect-find =
    0    it was found
    1    no effect made it, or it could not be done
    2    the command is not understood; nothing was attempted

about-source = Senders of webhooks and forms: add, list, explain, try
about-source-long =
    A source is a sender: how it signs, where its secret is, and where its events have their id and
    text. Sources stand in cola-ia.toml; “cola-ia serve” takes their requests at /in/NAME.
usage-source = cola-ia source COMMAND
examples-source =
    cola-ia source list --schemes
    cola-ia source add github
    cola-ia source test github
about-source-add = Add a sender to cola-ia.toml and print its address
about-source-add-long =
    Appends a commented block to the settings and changes nothing else in them. The scheme is how
    the sender signs: one of “source list --schemes”. Prints the address to give to the sender; the
    secret goes into a variable or a file, never into the settings.
usage-source-add = cola-ia source add [OPTIONS] SCHEME
examples-source-add =
    cola-ia source add github
    cola-ia source add stripe --name shop
    cola-ia source add form --name contact
exit-codes-source-add =
    0    the block stands in the file
    1    a source has that name already, or the file cannot be written
    2    there is no such scheme, or the settings are not understood
about-source-list = List the configured senders, or the schemes that are known
about-source-list-long =
    Without options: the senders in the settings, with the address of each and where its secrets
    are, never the secrets. With --schemes: how known senders sign, and which of it is verified.
usage-source-list = cola-ia source list [OPTIONS]
examples-source-list =
    cola-ia source list
    cola-ia source list --schemes --json
about-source-check = Explain why a captured request is taken or refused
about-source-check-long =
    The file holds a request as it came: its first line, its header lines, an empty line, and the
    body byte for byte. Each step is told, and no signature is ever shown that would have been
    right. Nothing is stored.
usage-source-check = cola-ia source check [OPTIONS] SOURCE --request FILE
examples-source-check =
    cola-ia source check github --request request.txt
    cola-ia source check stripe --request - --at 2026-01-31T09:00:00Z < request.txt
exit-codes-source-check =
    0    the request is taken
    1    it is refused, or cannot be read
    2    there is no such source, or the settings are not understood
about-source-test = Send a signed sample to the running server
about-source-test-long =
    Makes an event as the sender would, signs it with the source's first secret and sends it to the
    server that the settings name, or to --url. It is a real event and becomes a job. The same --id
    a second time is a repeat.
usage-source-test = cola-ia source test [OPTIONS] SOURCE
examples-source-test =
    cola-ia source test github
    cola-ia source test github --id test-1 --text "once more"
    cola-ia source test contact --url https://cola.example
exit-codes-source-test =
    0    the server took it; stdout says as what
    1    it cannot be signed, the server is not there, or it did not take it
    2    there is no such source, or the settings are not understood

about-token = Tokens for the API: who may do what over the network
about-token-long =
    A token is printed once, when it is made; only its hash is kept. Scopes: ingest (hand events
    over), work (claim jobs and report), read (look at everything), operate (decide: resolve,
    retry, cancel, budgets), admin (everything).
usage-token = cola-ia token COMMAND
examples-token =
    cola-ia token create worker-1 --scope work
    cola-ia token list
    cola-ia token revoke worker-1
about-token-create = Make a token and print it, once
about-token-create-long =
    stdout carries the token and nothing else. Its name is never given again, so that what a token
    did stays what it did.
usage-token-create = cola-ia token create [OPTIONS] NAME --scope SCOPE
examples-token-create =
    cola-ia token create worker-1 --scope work > worker-1.token
    cola-ia token create site --scope ingest --source contact --expires 90d
    cola-ia token create ana --scope read,operate
about-token-list = List tokens, without anything by which one could be used
about-token-list-long =
    Revoked and expired ones are listed too.
usage-token-list = cola-ia token list [OPTIONS]
about-token-revoke = Revoke a token, for good
about-token-revoke-long =
    Whoever bears it is nobody from then on, within a second on a running server.
usage-token-revoke = cola-ia token revoke NAME

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
arg-server = The address of a server to work with in place of a file [setting server, COLA_IA_SERVER; its token: COLA_IA_TOKEN or COLA_IA_TOKEN_FILE]
arg-config = The file of settings [COLA_IA_CONFIG; default: cola-ia.toml in the working folder, if it is there]
arg-lang = Language of help, messages and the words on stdout: es or en [COLA_IA_LANG; default: prose as the locale says, words in Spanish]
arg-color = When to use colour: auto, always or never [default: auto; NO_COLOR is respected]
arg-quiet = Say nothing but warnings and errors: no summary, no progress, no hints
arg-inputs = Files to read, in this order; - is stdin
arg-source = The source of every event; one that names another is refused
arg-source-only = Only of this source
arg-source-same = The source, as an option
arg-of-source = The source
arg-source-filter = Only of these sources; like every filter it takes a list (web,form) and can be given again
arg-json = Print one JSON object a line, with English words (docs/JSON.md)
arg-fail-on = Exit with 3 where there are conflicts; the only value is conflict
arg-scheme = How the sender signs: one of “source list --schemes”
arg-schemes = List the schemes that are known instead
arg-name-of-source = The name of the source, if not that of the scheme
arg-request-file = The captured request; - reads stdin
arg-check-at = Judge it as if it were this instant (RFC 3339)
arg-url = Where the server is: https, or http on this machine
arg-sample-id = The sample's id; a new one if left out
arg-sample-text = The sample's text
arg-token = The token's name
arg-scope = What it allows: ingest, work, read, operate, admin; several with commas
arg-token-source = With ingest, only of this source; several times for several
arg-expires = How long it is good for, such as 90d; for good if left out
arg-rejects = Append the refused lines, as they are, to this file, to be mended and added again
arg-dry-run = Say what would happen and store nothing
arg-max-text-bytes = Longest text, such as 512KiB or 4MiB [setting max_text_bytes, COLA_IA_MAX_TEXT_BYTES; default: 1MiB]
arg-no-progress = No progress bar (one is shown on stderr while stdout goes elsewhere)
arg-to-file = The new file; it must not exist
arg-from-file = The backup
arg-no-progress-there = Do not show how far it is
arg-to = Where the store goes: postgres://USER@HOST/DATABASE, or a new file
arg-undo = Take the mark of a move away: this store takes things in again
arg-move-json = Print the counts as JSON, one object a kind
arg-at = When the store was put back: now, an age such as 2h, a date (its start, UTC), or an RFC 3339 instant
arg-clear = Take the mark away: what may have happened has been looked into
arg-quick = Only the newest rows of each table, and not every entry of every index
arg-target = The file to make; - or nothing is stdout
arg-export = The export; - is stdin
arg-no-bar = No progress bar
arg-state = Only in these states: pendiente, en_proceso, terminado, fallido, retenido, cancelado (or pending, running, done, failed, held, cancelled)
arg-type = Only of these types
arg-since = Only what was received from then on: an age such as 15m, 24h or 7d, a date (UTC), or an RFC 3339 instant
arg-until = Only what was received before then; a date is meant with the day itself
arg-filter = The same and more as words key=value: "source=web,form since=24h"
arg-by = One line for each of these [default: source]
arg-costs-since = Only from this day on: an age such as 7d, a date (UTC), or an RFC 3339 instant
arg-costs-until = Only before then; a date is meant with the day itself
arg-amount = How much a day, such as 2.50; at most six decimals
arg-currency = Three letters, as EUR; without them the one that is set is told
arg-limit = At most so many, up to 1000 [default: 50]
arg-after-place = The next page: the place that the page before named
arg-verdict = Only with these verdicts: nuevo, repetido, conflicto, inválido (or new, duplicate, conflict, invalid)
arg-undecided = Only those about which nothing was decided
arg-diff = Show each with the difference of both texts (with --json: with both texts)
arg-kind = Only this kind: entrada or intento (intake or attempt)
arg-latest = Begin with the latest so many, 0 to 1000 [default: 10]
arg-after = The next page: only jobs older than this event number
arg-id = The id, exactly as it was sent
arg-conflict = The conflict of this number, as “show” tells it; can be given several times. Needed where not exactly one is undecided
arg-keep = It stays a conflict, counted, and raises no alarm any more
arg-accept = It is right too: a duplicate from then on, and the text that the job works with
arg-run = With --accept: give a job that no longer waits a new run
arg-as = It is another event: it enters under this id
arg-note = Why, in your words; kept with the decision
arg-older-than = What is older than this goes, such as 90d, 12h or 0s, whatever the settings say
arg-prune-dry-run = Say what would go and remove nothing
arg-shrink = Then write the file anew without the room that is free. Nobody else can write meanwhile, and the disk needs room for it twice more
arg-yes = Do it. Without this, nothing is done and stderr says what would go
arg-group = Count errors together that differ in numbers and ids only, the most frequent first (all of them, not a page)
arg-claim-limit = At most so many jobs, up to 1000 [default: 1]
arg-lease = How long the lease lasts from now on, from 1s to 7d [setting lease, COLA_IA_LEASE_TIME; default: 60s]
arg-wait = Wait so long for a job to become due, such as 30s or 5m [default: do not wait]
arg-worker = What this worker is called, for people [default: the host’s name and the number of the process that called]
arg-text-file = Write the job’s text to this file (one job at a time; each worker has a file of its own)
arg-held = The lease, as “claim” printed it [COLA_IA_LEASE]
arg-resource-id = What the job made, such as the id of a post
arg-result = What there is to say of it, as a JSON object: a file, or - for stdin
arg-result-text = The job’s result as a text: a file, or - for stdin
arg-cost = What it cost, such as 0.0123
arg-tokens-in = Tokens that went into a model
arg-tokens-out = Tokens that came out of it
arg-model = The model
arg-error = What went wrong, in words; 4 KiB are kept
arg-stderr = What the program wrote to stderr: a file, or - for stdin. Its last 64 KiB are kept; without --error its last line is the error
arg-class = What kind of error it was, a code such as http_500
arg-permanent = It will not succeed, however often it is tried
arg-retry-after = Not before: in so many seconds, or at an HTTP date
arg-exec = What to run for each job, and its arguments, as they are
arg-jobs = So many commands at a time, up to 1000 [default: 1]
arg-timeout = How long a command may run, such as 90s or 5m; 0s or never is no limit [setting time_limit, COLA_IA_TIME_LIMIT; default: never, with --effect 5m]
arg-lease-work = How long a job stays with a worker of which nothing is heard, from 1s to 7d [setting lease, COLA_IA_LEASE_TIME; default: 60s]
arg-drain = End when nothing is due and nothing runs here
arg-stdin = What the command reads: text, or json: the whole job, as “claim --json” prints it [default: text]
arg-grace = How long a command has to end once it is asked to, before it is killed [setting grace, COLA_IA_GRACE; default: 10s]
arg-show-output = When a command has ended, print its outputs on stderr, each line behind the id
arg-max-attempts = After so many failed attempts the job is failed, from 1 to 1000 [setting max_attempts, COLA_IA_MAX_ATTEMPTS; default: 5]
arg-order-dry-run = Say what would become of each job and change nothing
arg-origin = Add where each value came from, as a comment
arg-count = How many [default: 1]
arg-shell = bash, elvish, fish, powershell or zsh
arg-command = The command, such as add or config show
arg-dir = Write all pages into this folder
arg-abandon = Nobody will find out: the job fails, and what it may have cost stays at risk
arg-absent = The lookup found nothing
arg-alarm = Only those that carry an alarm: late evidence, or a double effect
arg-begin-id = 32 hexadecimal digits, drawn anew by each process that will send [default: a new one]
arg-call-time = The longest time that the call may take [default: 5m]
arg-did-not-happen = It did not happen
arg-effect = Treat the whole command as one guarded effect of this name; the options of “effect run” go with it, and without --timeout it may run for 5 minutes
arg-effect-limit = At most so many, up to 1000 [default: all]
arg-effect-name = The effect’s name within the job: small letters, digits, “.”, “_” and “-”, up to 64
arg-effect-note = Why, in your words; kept with the effect
arg-effect-result = What there is to say of it: a JSON object, a file with one, or - for stdin
arg-effect-state = Only in these states: intentado, hecho, no_hecho, incierto, retenido, abandonado (or intended, done, failed, unknown, held, abandoned)
arg-effect-timeout = How long the command may run before it is killed [default: 5m]
arg-find-resource = The id of what is at the destination
arg-found = The lookup found this
arg-happened = It happened, and this is there; again for each further thing
arg-key-ttl = The destination answers a key that it knows with its first answer, for so long, such as 24h
arg-lookup = The destination can be asked what it has under the key
arg-lookup-line = A line for the shell that looks the effect up by its key: exit 0 and its id on stdout, 1 where nothing is there
arg-max-cost = The most it may cost, such as 0.02; needed where the source has a budget, and for --retry-below
arg-not-sent = Nothing was sent
arg-of-effect = The event’s id and the effect’s name; for a worker the name alone
arg-of-lease = The lease, as “claim” printed it [COLA_IA_LEASE]
arg-otherwise = What to do where neither key nor lookup can tell: hold it for a person, or retry it, which may do it twice [default: hold]
arg-rejected = The destination refused it for good
arg-request = What will be sent, in whatever form is found again: another one under the same key is refused
arg-request-hash = The same as its SHA-256
arg-request-run = What makes the request what it is, where that is not the command with its arguments and the job’s text
arg-resource = The id of what it made
arg-result-file = The same from a file, or - for stdin
arg-retry-below = Send again what cost less than this, though nobody knows whether it happened
arg-send-within = How long after the answer it may still be sent [default: 30s]
arg-settle = How long a lookup may miss what happened [default: 60s]
arg-ticket = The ticket that “check” gave
arg-try = The try, as “go” named it
arg-try-looked-at = The newest try that was looked at, as “show” tells it [default: the newest]

## Usage mistakes

usage-unknown-language = there is no language “{ $value }” for --lang
usage-unknown-language-variable = there is no language “{ $value }”, which { $variable } asks for
usage-known-languages = the languages are es (Spanish) and en (English)
usage-unknown-option = there is no option { $option } here
usage-option-after-command = an option of a command goes after it: cola-ia { $command } { $option } …
usage-file-after-dashes = a file whose name starts with - goes after --: cola-ia add -- { $file }
usage-id-after-dashes = an id that starts with - goes after --: cola-ia { $command } -- { $id }
usage-extra-argument = the argument “{ $value }” is one too many
usage-unknown-command = there is no command “{ $command }”
usage-planned-command = “{ $command }” is not in this version
usage-file-as-command = to let the events of that file in: cola-ia add { $path }
usage-quote-id = an id with spaces goes in quotation marks: cola-ia { $command } { $id }
usage-missing = { $argument } is missing
usage-add-what = name the files, or - for stdin: cola-ia add FILE, or cola-ia add -
usage-backup-what = name the new file: cola-ia backup FILE
usage-backup-pipe = a backup is a file and goes through no pipe; a file that is called - is ./-
usage-restore-what = name the backup: cola-ia restore FILE
usage-work-what = name the command behind two dashes: cola-ia work -- COMMAND
usage-restored-what = say when the store was put back with --at INSTANT, or that it has been looked into with --clear: one of the two
usage-not-an-instant = { $option } takes now, an age such as 2h, a date, or a date and time with its offset, not “{ $value }”
usage-no-value = { $option } needs a value
usage-value-not-taken = { $option } takes no value
usage-option-twice = { $option } can be given only once
usage-argument-not-utf8 = an argument is not valid UTF-8
usage-not-utf8 = the value “{ $value }” of { $option } is not valid UTF-8
usage-other = the command is not understood: { $cause }
usage-see-help = all commands and options: cola-ia --help
usage-unknown-word = { $option } does not take “{ $value }”
usage-known-words = it takes: { $known }
usage-moment-hint = write an age (15m, 24h, 7d, 2w), a date (2026-01-31, in UTC) or an instant (2026-01-31T21:00:00Z)
usage-type-hint = a type is not blank, has at most 256 bytes and no control characters; one with a comma stands in quotation marks
usage-reason-hint = a reason is a code such as id_blank or effect_unknown; --json shows them
usage-codes-hint = the codes of refusals are in docs/ERRORS.md
usage-filter-pair = “{ $value }” in { $option } is no key=value
usage-filter-pair-hint = write for example: --filter "source=web since=24h"; a value with spaces stands in quotation marks: type="a b"
usage-filter-quotes = the quotation marks of “{ $value }” in { $option } do not end, or something follows them
usage-filter-key = { $option } has no key “{ $key }”
usage-filter-key-not-taken = this list cannot be filtered by “{ $key }” ({ $option })
usage-filter-keys = this list takes: { $known }
usage-filter-twice = “{ $key }” takes one value and was given two
usage-not-a-number = { $option } takes a whole number from 1 to { $max }, not “{ $value }”
usage-stdin-twice = stdin (-) can be read only once
usage-rejects-is-input = the refused lines cannot go to { $path }, which is read as an input
usage-resolve-how = say what becomes of the conflict
usage-resolve-how-hint = one of --keep, --accept or --as NEWID; see both texts with “cola-ia show ID”
usage-resolve-one = only one of --keep, --accept and --as can be given
usage-resolve-run = --run goes with --accept
usage-resolve-as-one = --as is about one conflict: an id has one text
usage-prune-shrink = --shrink does not go with --dry-run
server-token-missing = the server { $server } needs a token, and there is none
server-token-missing-hint = give it in COLA_IA_TOKEN, or name a file that holds it in COLA_IA_TOKEN_FILE; “cola-ia token create” makes one
server-token-none = { $path } holds no token
server-token-open = others can read the token in { $path }
server-token-open-hint = chmod 600 { $path }
server-token-unreadable = the token's file { $path } cannot be read: { $cause }
usage-lease-what = a lease is what “cola-ia claim” prints first: 36 hexadecimal digits
usage-lease-missing = no lease is named, and { $variable } is not set
usage-not-a-lease = “{ $value }” is no lease
usage-too-many-leases = at most { $limit } leases at once
usage-claim-text = --text is about one job and its line: it does not go with --limit or --json
usage-claim-text-pipe = --text writes a file, and stdout has the lease; with --json the text is in the line
usage-not-an-amount = “{ $value }” is no amount: a number from 0 to 1000000000 with at most six decimals
usage-amount-hint = decimals stand behind a point: 2.50
usage-not-a-cost = { $option } takes a decimal number such as 0.0123, not “{ $value }”
usage-class-hint = a class is a code of at most 64 letters, digits, “_”, “-”, “.” and “:”, such as http_500
usage-permanent-later = what will never succeed is not tried again: --permanent does not go with --retry-after
usage-not-retry-after = { $option } takes seconds or an HTTP date, not “{ $value }”
usage-retry-after-hint = write for example 120, or: "Sat, 31 Jan 2026 21:00:00 GMT"
usage-why-failed = say why it did not happen: --rejected or --not-sent, one of the two
usage-effect-name = “{ $value }” is no name of an effect
usage-effect-name-hint = small letters, digits, “.”, “_” and “-”, beginning with a letter or a digit, at most 64: publish
usage-effect-endless = with --effect a command needs an end: --timeout longer than 0s
usage-effect-resolve-how = say of which effect what was found, as a person or as a worker
usage-effect-resolve-how-hint = cola-ia effect resolve ID NAME with one of --happened RESOURCE, --did-not-happen, --abandon, and cost, tokens, model and result with a single --happened; a worker: cola-ia effect resolve NAME --ticket N with --found RESOURCE or --absent
usage-effect-run-what = name the effect, and the command behind two dashes: cola-ia effect run NAME -- COMMAND
usage-effect-ticket = the ticket of “check” is missing: --ticket N
usage-effect-try = the try of “go” is missing: --try N
usage-not-hex = { $option } takes { $digits } hexadecimal digits, not “{ $value }”
usage-request-both = only one of --request and --request-hash can be given
usage-resource-too-long = the id of a resource is not empty and has at most { $limit } bytes
usage-retry-below-max-cost = --retry-below compares what a try may cost, and that is not said
usage-retry-below-max-cost-hint = say it with --max-cost, such as: --max-cost 0.02 --retry-below 0.05
usage-settle-without-lookup = --settle is about a lookup, and there is none: --lookup
usage-without-effect = { $option } goes with --effect NAME
usage-resume-what = “cola-ia stats” tells which sources are paused
usage-resume-one = one source is resumed at a time: SOURCE and --source do not go together
usage-retry-what = say which jobs: an id, or a filter that is not empty
usage-retry-what-hint = all that have failed are: cola-ia retry --state failed
usage-retry-both = an id and a filter do not go together; of an id only --source can be said
usage-group-after = --group counts everything and has no next page: --after does not go with it
usage-result-both = there is one result: what --result keeps and --result-text do not go together
usage-man-both = --dir writes every page; it does not go with the name of a command

## Settings

setting-value = { $place }: { $fault }
fault-not-utf8 = “{ $value }” is not valid UTF-8
fault-not-bool = “{ $value }” is neither true nor false
fault-empty-path = the path is empty
fault-path-nul = the path has a character U+0000
fault-postgres = { $value } is not the address of a database: { $cause }
fault-server-url = “{ $value }” is not the address of a server
fault-server-url-user = “{ $value }” names a user: a server is opened with a token, COLA_IA_TOKEN or COLA_IA_TOKEN_FILE
fault-server-url-open = “{ $value }” would send the token over an open network
fault-server-url-hint = write https://HOST[:PORT], or http://127.0.0.1:PORT for a server on this machine
fault-token = what stands there is no token
fault-token-hint = a token is one word of visible ASCII characters, such as “token create” prints
usage-server-and-db = both a server, { $server }, and a file, { $db }, are named
usage-server-and-db-hint = name one of the two: --server and --db, COLA_IA_SERVER and COLA_IA_DB, or the settings server and db
usage-server-refused = “{ $command }” works on this machine, and not with the server { $server }
usage-server-refused-hint = run it where the store's file is, without --server and with COLA_IA_SERVER unset
fault-postgres-hint = write it as postgres://USER@HOST:PORT/DATABASE; the password goes into PGPASSWORD, or behind the user after a colon
fault-store-url = a store is a file or a database of PostgreSQL, and { $value } is another address
fault-store-url-hint = give the path alone, such as cola_ia.sqlite3, or postgres://USER@HOST/DATABASE
fault-schema = “{ $value }” is not the name of a schema
fault-schema-hint = 1 to 63 bytes; those that start with pg_ are PostgreSQL's own
fault-source = “{ $value }” is not the name of a source
fault-source-hint = a source is 1 to 64 characters of a–z, 0–9, “.”, “_” and “-”, and starts with a letter or a digit
fault-not-bytes = “{ $value }” is not a size
fault-not-bytes-hint = write bytes, or a number with its unit: 65536, 64KiB, 8MiB, 1GiB, 10MB
fault-count-bounds = “{ $value }” is no whole number from { $min } to { $max }
fault-bytes-bounds = { $value } is out of bounds: at least { $min }, at most { $max }
fault-not-duration = “{ $value }” is not a length of time
fault-not-duration-hint = write a number with its unit: 500ms, 60s, 5m, 1h, 7d
fault-not-age = “{ $value }” is not an age
fault-not-age-hint = write a whole number with its unit: 90d, 12w, 36h, 15m, 0s; a setting also takes “never”
fault-duration-bounds = { $value } is out of bounds: at least { $min }, at most { $max }
fault-type-bool = expected true or false, found a value of type { $value }
fault-type-count = expected a whole number, found a value of type { $value }
fault-type-bytes = expected a size such as 65536 or "64KiB", found a value of type { $value }
fault-type-duration = expected a length of time such as "60s", found a value of type { $value }
fault-type-age = expected an age such as "90d", or "never", found a value of type { $value }
fault-price = “{ $value }” is no price: a number from 0 to 1000000000 with at most six decimals
fault-type-price = expected a price such as 2.5, found a value of type { $value }
fault-type-prices = expected a table as [prices."MODEL"], found a value of type { $value }
fault-type-string = expected text in quotation marks, found a value of type { $value }
fault-type-table = expected a table, found a value of type { $value }
fault-type-texts = expected text in quotation marks or a list of such, found a value of type { $value }
fault-not-listen = “{ $value }” is no place to listen
fault-not-listen-hint = write the address of this machine and a port: 127.0.0.1:8787, 0.0.0.0:8787, [::1]:8787
fault-not-url = “{ $value }” is no address for senders
fault-not-url-hint = write https:// and the host, with the port and the path that stand before /in if there are any, and nothing else: https://cola.example
fault-not-host = “{ $value }” is not the name of a host
fault-not-address = “{ $value }” is not an IP address
fault-type-addresses = expected a list of addresses as ["127.0.0.1"], found a value of type { $value }
fault-type-hosts = expected a list of names as ["cola.example"], found a value of type { $value }

config-unreadable = the settings cannot be read from { $file }: { $cause }
config-unreadable-hint = “cola-ia init” writes a commented one; --config and COLA_IA_CONFIG must name a file that exists
config-syntax = { $place }: not valid TOML: { $cause }
config-unknown-key = { $place }: there is no setting “{ $key }”
cost-no-currency = a cost is told in “{ $told }”, which is no currency (three letters, as EUR), and is not counted
cost-other-currency = a cost is told in { $told } and is not counted: this store's amounts are in { $currency }
config-price-hint = a price has input and output (for a million tokens) and request (for each request)
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
config-file-prices = What models cost, in the store's currency: for a million tokens that go in and come out, and for each request. They are used where a result tells model and tokens and no cost. The name is the one that results tell, letter for letter.
config-file-variable = In the environment: { $variable }.
setting-db =
    The store's file, or a database of PostgreSQL: postgres://USER@HOST:PORT/DATABASE. A relative path is relative to the folder of this file.
setting-schema = The schema of the database that the store is in. One database can hold several stores.
setting-db-connections = Most connections that a process keeps to the database.
setting-server =
    The address of a server that all commands work with in place of the store's file: https, or http on this machine. Empty: none.
setting-token = The token that opens the server. Better kept in a file: token_file.
setting-token-file = A file with the token that opens the server, readable by its owner alone. token goes before it.
setting-default-source = The source of events that name none.
setting-max-text-bytes = Longest text of an event, in bytes or with a unit (KiB, MiB). At most 256 MiB.
setting-max-line-bytes =
    Longest line of an input, in bytes or with a unit. At most 1 GiB. Left out, it follows max_text_bytes: six times that and 2 MiB, and never less than 8 MiB.
setting-lock-wait = How long to wait while another process writes to the store, or its database cannot answer (ms, s, m, h). At most 24h.
setting-allow-network-filesystem =
    Open a store on a network filesystem all the same. Locks are not reliable there and the store can be damaged: use it only if one single machine has it mounted.
setting-lease =
    How long a job stays with its worker while nothing is heard of it (ms, s, m, h, d): from then on it counts as lost, and another one takes the job up. 1s to 7 days.
setting-max-attempts = Attempts that may fail before a job is “failed” and waits for a person. 1 to 1000.
setting-max-crashes = Attempts that may be lost with their worker before a job is “failed”: one that brings its workers down must not do so for ever. 1 to 1000.
setting-retry-first =
    The longest wait after the first failure. It doubles with each further one; the wait itself is drawn at random up to it, so that jobs that failed together do not come back together.
setting-retry-max = The longest wait after any failure.

setting-time-limit =
    How long a command of “cola-ia work” may run before it is ended and the attempt fails (s, m, h, d; or never).
setting-grace = How long a command of “cola-ia work” has to end once it is asked to, before it is killed (ms, s, m, h). At most 1h.
setting-source-pause-after =
    So many jobs of one source that fail in a row, all with the same class of error, pause it: no job of it is given to a worker until a person says “cola-ia resume SOURCE”. 0: never.
setting-retention-deliveries =
    “cola-ia prune” removes deliveries that only repeated a known event once they are older than this, and keeps their count (s, m, h, d, w; or never). Never before 7 days.
setting-retention-texts =
    “cola-ia prune” removes texts and history of events that have been done or cancelled for longer than this, and keeps identity, fingerprint and counts (s, m, h, d, w; or never).
setting-listen =
    Where “cola-ia serve” listens, ADDRESS:PORT. Anything but 127.0.0.1 can be reached by others: put a proxy that speaks https in front of it.
setting-public-url = The address by which senders reach the server, such as https://cola.example. Some sign it. “source add” and “source test” use it.
setting-allowed-hosts =
    Names under which the server may be asked for, besides those of public_url and of listen: requests with another Host are refused.
setting-trusted-proxies =
    Addresses of proxies in front of “cola-ia serve”. Of a request that one of them hands on, the sender's address is taken from X-Forwarded-For; of any other, that header says nothing.
setting-backup-every = “cola-ia serve” makes a backup this often (s, m, h, d, w; or never).
setting-backup-keep = So many of these backups are kept, the newest. 1 to 10000.
setting-backup-folder = The folder of these backups. A relative path is relative to the folder of this file.
setting-serve-max-connections = Connections that “cola-ia serve” has open at the same time; more are closed at once.
setting-serve-header-deadline = Until the whole head of a request must have come; then its connection is closed.
setting-serve-body-deadline = Until the whole body of a request must have come; then it is answered 408.
setting-serve-grace = How long “cola-ia serve” lets requests in progress go on once it is to stop.
setting-serve-body-budget = Bytes of bodies in memory at the same time, over all connections; more wait, and then are answered 503.
setting-serve-queue = Requests that wait for the store at the same time; more are answered 503.
setting-serve-token-requests-a-minute = Requests that each token may make in a minute; more are answered 429. 0: as many as it likes.

## Sources and schedules in the configuration

config-table-value = { $place }: cannot be read: { $cause }
config-sources-ready = { $count ->
    [one] 1 source is ready
   *[other] { $count } sources are ready
}
config-schedule = schedule { $name }: next at { $next }
source-keys-hint = all keys of a source: docs/WEBHOOKS.md
source-secret-inside = a secret does not stand in this file
source-secret-hint = give the name of its variable (secret_env = "NAME") or its file (secret_file = "FILE"); several, in a list, while a secret is being changed
source-no-secret = it has no secret: anyone could send
source-unsigned-secret = a source with a secret is not unsigned: leave one of the two out
source-form-unsigned = browsers sign nothing
source-form-unsigned-hint = say “unsigned = true” beside it: anyone who can open the page can send
source-secret-twice = secrets are in variables or in files, not in both
source-secret-none = it names nothing
source-secret-env-name = it takes the name of a variable, not a secret
source-one-verify-token = it takes one
source-no-scheme = it does not say how its sender signs
source-unknown-scheme = there is no scheme “{ $scheme }”
source-schemes-hint = all schemes: cola-ia source list --schemes
source-conflict-status = the answer to a conflict is a status from 200 to 299, or from 400 to 599
source-not-a-rate = “{ $value }” is no rate; write how many and in what: 60/m, 5/s, 1000/h, 10000/d
source-form-keys-hint = a form takes { $keys }
source-not-an-origin = “{ $value }” is not where a page comes from; write it as browsers do: https://www.example.org
source-not-a-thanks = “{ $value }” is no address to go to; write https://… or a path that starts with /
source-empty-name = it is empty
source-fallback-unneeded = { $field }: its sender has an id ({ $detail }), and that is better than any substitute: leave this key out
source-id-needed = its sender has no id that is the same in every try: say where one stands (id = "/…"), or take a substitute by name (fallback_id = "body-sha256")
source-id-documented = its sender has no id that is the same in every try: say where one stands (id = "/…"), or take a substitute by name (fallback_id = "documented": { $detail })
source-id-of-several = { $field }: “{ $detail }” can stand for several values, and an id is one
source-no-fallback = { $field }: the scheme { $detail } documents no substitute; take "body-sha256", or say where an id stands
source-no-signed-time = { $field }: senders of { $detail } sign no time
source-nothing-pending = { $field }: the scheme { $detail } has no handshake that brings a secret
source-only-generic = { $field }: how { $detail } signs is known; this key is for the schemes hmac and token
source-not-a-place = { $field }: “{ $detail }” is no place; write /a/b, header:NAME, form:FIELD, or a template with these in braces
source-not-a-pointer = { $field }: “{ $detail }” is no JSON pointer, or not one that may stand here
source-signed-id = { $field }: an id in what is signed and the key signed_id belong together (“{ $detail }”)
source-not-a-template = { $field }: “{ $detail }” is nothing that can be signed
source-time-not-signed = { $field }: the time is not in what is signed (“{ $detail }”), and so proves nothing
source-no-timestamp = { $field }: a time is in what is signed (“{ $detail }”), and nothing says where it stands
source-by-name-only = the scheme { $detail } takes what anyone sends: say “unsigned = true” beside it if that is meant
source-spec-fault = { $field } cannot be so: { $code } ({ $detail })
secret-variable-missing = the variable { $place }, which is to hold its secret, is not set or empty
secret-file-unreadable = the file of its secret, { $place }, cannot be read: { $cause }
secret-unusable = what { $place } holds is no secret of this scheme: { $fault }
secret-trimmed = the line end behind the secret in { $place } does not count
secret-fault-empty = it is empty
secret-fault-too-long = it is longer than 8 KiB
secret-fault-not-base64 = it is not base64
secret-fault-not-hex = it is not hexadecimal
secret-fault-other-kind = it is a key of another kind
secret-fault-length = it does not have the length of a key
secret-fault-not-a-key = it decodes to something that is no key
schedule-keys-hint = a schedule takes { $keys }
schedule-missing = it has no { $key }
schedule-fields = a cron expression has five fields (minute, hour, day of the month, month, day of the week), and this one has { $found }
schedule-cron = not a cron expression: { $cause }
schedule-never = it never fires
schedule-zone = there is no time zone “{ $zone }” here; names are as Europe/Madrid, and the system's package tzdata has them

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
add-summary-decided =
    { $count ->
        [one] 1 conflict decided before
       *[other] { $count } conflicts decided before
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
column-late-half = LATE P50
column-late-most = LATE P95
word-expired = expired
column-expired = EXPIRED
column-total = TOTAL
column-verdict = VERDICT
column-delivery = DELIVERY
column-late = LATE
column-gap = AFTER
column-detail = DETAIL
column-first = FIRST
column-last = LAST
column-count = TIMES
column-model = MODEL
column-day = DAY
column-costs = COSTS
column-spent = SPENT
column-at-risk = AT RISK
column-avoided = AVOIDED
column-tokens-in = TOKENS IN
column-tokens-out = TOKENS OUT
column-limit = LIMIT
column-reserved = RESERVED
column-left = LEFT
column-decision = DECISION
column-number = NO
column-time = TIME
column-kind = KIND
column-what = WHAT
column-run = RUN
column-attempt = ATTEMPT
column-started = STARTED
column-took = TOOK
column-outcome = OUTCOME
column-worker = WORKER
column-effect = EFFECT
column-tries = TRIES
column-deadline = DEADLINE
column-send-before = SEND BEFORE
column-try = TRY
try-absent = absent
try-done = done
try-not-sent = not_sent
try-open = open
try-rejected = rejected
try-restored = open, of the restore
column-changed = CHANGED
jobs-expired =
    { $count ->
        [one] one of the running jobs has lost its worker: its lease has run out, and it is taken up again by the next one (“cola-ia recover” does it now)
       *[other] { $count } of the running jobs have lost their workers: their leases have run out, and they are taken up again by the next one (“cola-ia recover” does it now)
    }
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
show-result = result
show-time = happened
show-received = received
show-due = due
show-duplicates = duplicates
show-fingerprint = fingerprint
show-erased = erased
show-pruned = of these pruned
show-pruned-between = { $count }, from { $first } to { $last }
show-revision = text { $number }, of { $time }
show-text-revision = text { $number }, the one in force
show-kept = { $time } kept as a conflict
show-accepted = { $time } accepted
show-entered = { $time } entered as event { $event }
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
show-changed = changed
show-text-cut = … { $bytes } more bytes; --json has all of it
show-difference-cut = … the texts go on; --json has all of both
show-receptions = receptions
show-receptions-more = ({ $count } earlier ones between the first and these are not listed)
show-attempts-head = latest attempts
show-late-answer = attempt { $attempt } answered late (“{ $said }”), when the job was no longer its own
show-late-superseded = attempt { $attempt } answered late (“{ $said }”), superseded by { $by }
show-stderr = the end of its stderr
show-effect = effect { $name }: { $state }
show-effect-of-run = effect { $name } of run { $run }: { $state }
show-effect-abandoned = nobody will find out, so the job is not done any more; to work on it once more, as a new run: cola-ia replay ID
show-effect-at-risk = at risk
show-effect-cost = cost
show-effect-double-effect = ALARM: it made two things
show-effect-held = only a person can tell: look at the destination by the key, not before { $settled }, and say what is there:
show-effect-held-now = only a person can tell: look at the destination by the key, and say what is there:
show-effect-key = key
show-effect-late-evidence = ALARM: it happened, after it had been recorded that it had not or that nobody would know
show-effect-note = note
show-effect-replays = used again
show-effect-unknown = nobody knows whether it happened; the next attempt finds out, by its policy
show-decided-note = { $decision } (“{ $note }”)

why-waits = not run yet: it has been waiting for a worker for { $time }, and none has taken it
why-waits-again = not done yet: it has been waiting for its next attempt for { $time }; attempts so far: { $attempts }, the last: { $last }
why-later = not run yet: it waits until { $due } (in { $time })
why-later-again = not done yet: its next attempt is at { $due } (in { $time }); attempts so far: { $attempts }, the last: { $last }
why-running = it runs: { $worker } has had it for { $time }
why-running-lapsed = its worker { $worker } took it { $time } ago and has not been heard of since { $until }; another attempt may take it
why-done = it ran and was done at { $time }
why-failed = it is not tried again, since { $time }: { $reason }; attempts: { $attempts }, the last: { $last }
why-held = it does not run: held since { $time } until a lookup or a person settles it: { $reason }
why-cancelled = it does not run: a person stopped it at { $time } ({ $reason })
why-time-unknown = how late it came is not known: the sender did not say when it happened
why-on-time = it came { $time } after it happened
why-late = it came { $time } after it happened, and nothing of it had come before: it was delayed on its way here
why-early = it came { $time } before the time at which the sender says it happened: one of the two clocks is wrong

deliveries-none = no deliveries
conflicts-none = no conflicts
conflicts-diff-hint = see what differs with --diff
conflicts-times = first { $first }, last { $last }
conflicts-texts-gone = (one of the two texts is no longer kept)
errors-none = nothing was refused and no attempt went wrong
errors-none-intake = nothing was refused
errors-none-attempt = no attempt went wrong
tail-waiting = waiting: { $problem }
tail-again = the store can be read again
tail-rewound = the store was replaced by an older one; going on from its end

source-needed = several sources know the id { $id }
source-needed-hint = name one of them with --source: { $sources }
resolve-no-conflict = { $id } has no conflict
resolve-all-decided = every conflict of { $id } is decided
resolve-all-decided-hint = to decide a kept one again, name it with --conflict N
resolve-which = { $count ->
    [one] { $id } has one undecided conflict
   *[other] { $id } has { $count } undecided conflicts
}
resolve-which-hint = name those that are meant: --conflict N, several times if need be
resolve-listed =
    { $count ->
        [one] --conflict { $number }  came once, on { $last }: { $text }
       *[other] --conflict { $number }  came { $count } times, last on { $last }: { $text }
    }
resolve-kept =
    { $count ->
        [one] conflict { $numbers } of { $id } stays one: it is counted and raises no alarm any more
       *[other] conflicts { $numbers } of { $id } stay conflicts: they are counted and raise no alarm any more
    }
resolve-accepted =
    { $count ->
        [one] conflict { $numbers } of { $id } is accepted: that text is a duplicate from now on
       *[other] conflicts { $numbers } of { $id } are accepted: those texts are duplicates from now on
    }
resolve-entered =
    { $count ->
        [one] conflict { $numbers } of { $id } entered as { $other }
       *[other] conflicts { $numbers } of { $id } entered as { $other }
    }
resolve-known =
    { $count ->
        [one] conflict { $numbers } of { $id }: { $other } is known with this text, and nothing entered
       *[other] conflicts { $numbers } of { $id }: { $other } is known with this text, and nothing entered
    }
resolve-job-waits = its job waits and takes the new text
resolve-job-rerun = its job has a new run, number { $run }, with the new text
resolve-job-untouched = its job is left as it is: { $state }

prune-nothing = there is nothing to prune
prune-done = pruned { $parts }
prune-would = nothing was removed; this would go: { $parts }
prune-events =
    { $count ->
        [one] text and history of 1 event
       *[other] texts and history of { $count } events
    }
prune-deliveries =
    { $count ->
        [one] 1 repeated delivery
       *[other] { $count } repeated deliveries
    }
prune-ops =
    { $count ->
        [one] the record of 1 call
       *[other] the records of { $count } calls
    }
prune-shrink-remote = --shrink works on the store's file, and not with a server
prune-shrink-remote-hint = run it where the file is, without --server
prune-shrunk = the store took { $from } and takes { $to }
prune-shrink-hint = the room is used again by new events; to give it back to the disk: cola-ia prune --shrink

erase-would =
    { $count ->
        [one] { $id } of the source { $source }: one text would go, and type, outputs, results and the id; its job is { $state }
       *[other] { $id } of the source { $source }: { $count } texts would go, and type, outputs, results and the id; its job is { $state }
    }
erase-needs-yes = nothing was erased: --yes is missing
erase-needs-yes-hint = it cannot be undone; with --yes it is done
erase-done = erased { $id }; its identity stays as a hash
erase-again = it was erased on { $time } already, and is still gone
erase-cancelled = its job was not over and is cancelled
erase-resource-hint = what its job made elsewhere is still there: { $resource }
erase-entered-hint = a text of it entered under another id and is still there: event { $events }
erase-database-kept = the database's server has it until it tidies up (VACUUM), and in its archived logs
erase-database-kept-hint = VACUUM the tables events, conflicts, revisions and deliveries; old logs and backups end by their own rules
erase-log-kept = somebody is reading an older state of the store: until that ends, its log still has what was erased
erase-log-kept-hint = run the same again later; it empties the log
erase-copies-hint = copies and backups made before still have it
costs-none = no cost was reported
costs-none-hint = workers tell costs with their results: the field cost, or model, tokens_in and tokens_out and a price in the configuration
costs-between = from { $since } to { $until }, whole days of UTC
costs-sources = of these sources: { $sources }
costs-currency = amounts in { $currency }
costs-no-currency = nobody has said in which currency the amounts are
costs-no-currency-hint = to say it: cola-ia budget currency EUR
budget-none = no source has a budget
budget-day = sums of { $day } (UTC)
budget-set = budget of { $source }: { $amount } a day
budget-removed = { $source } has no budget any more
budget-had-none = { $source } had no budget
stats-since = received since { $since }; jobs as they are now
stats-between = received from { $since } until { $until }; jobs as they are now
stats-ahead =
    { $count ->
        [one] 1 delivery carries a time after its reception, { $time } ahead: one of the two clocks is wrong
       *[other] { $count } deliveries carry a time after their reception, nearly all by { $time } or less: one of the two clocks is wrong
    }
stats-refused-hint = what was refused, and why: cola-ia errors --kind intake
stats-more =
    { $count ->
        [one] 1 source more is in the total only
       *[other] { $count } sources more are in the total only
    }

## claim, extend, complete, fail, release

claim-nothing = there is nothing to claim
claim-nothing-yet = there is nothing to claim yet: the next job is due { $due }, in { $time }
claim-recovered =
    { $count ->
        [one] one job whose worker was lost is taken up again
       *[other] { $count } jobs whose workers were lost are taken up again
    }
claim-text-failed = the text cannot be written to { $path }, and the job was given back: { $cause }
lease-lost = the lease is lost: its job was taken away, or this attempt has ended already; nothing was changed
lease-superseded = the lease is lost: attempt { $attempt } of its job has superseded this one; nothing was changed
leases-lost = lost leases, for which nothing was changed: { $leases }
lease-lost-hint = stop working on it; “cola-ia show ID” tells what became of the job
lease-unresolved = the job cannot be completed: nobody has said what became of { $effects }
lease-unresolved-hint = say it with “cola-ia effect done”, “failed” or “unknown”, or end the attempt with “cola-ia fail”
lease-again = it is tried again from { $due } on
lease-for-good = its job has failed and waits for a person
report-not-an-object = { $file } is no JSON object
report-field = “{ $field }” in { $file } does not have the form that it must have
report-hint = numbers for cost, tokens_in and tokens_out; texts for resource_id, model, error and error_class; seconds or a date for retry_after
report-not-utf8 = { $file } is not valid UTF-8
report-unreadable = the result cannot be read from { $file }: { $cause }
report-output-unreadable = what the program wrote cannot be read from { $file }: { $cause }
report-too-long = { $file } is too long for a result: at most { $limit } bytes, as JSON
report-too-long-hint = put it elsewhere, and its name into --resource-id

## recover, cancel, retry, replay

recover-none = no lease has run out
recover-done =
    { $count ->
        [one] recovered one job
       *[other] recovered { $count } jobs
    }
recover-would =
    { $count ->
        [one] one job would be recovered
       *[other] { $count } jobs would be recovered
    }
recover-failed =
    { $count ->
        [one] one of them failed: it has cost too many of its workers
       *[other] { $count } of them failed: they have cost too many of their workers
    }
recover-more = and there are more
resume-done = the source { $source } is resumed: its jobs are given out again
resume-not-paused = the source { $source } was not paused
source-failing =
    { $count ->
        [one] one job of { $source } failed with { $class } since { $since }; last: { $last }
       *[other] { $count } jobs of { $source } failed in a row with { $class } since { $since }; last: { $last }
    }
source-failing-hint = what went wrong: cola-ia errors --group --source { $source }
source-paused = the source { $source } is paused since { $since }: none of its jobs is given to workers
source-paused-after =
    { $count ->
        [one] the source { $source } is paused since { $since }, because a job failed with { $class }: none of its jobs is given to workers
       *[other] the source { $source } is paused since { $since }, because { $count } jobs failed in a row with { $class }: none of its jobs is given to workers
    }
source-paused-hint = when the cause is gone: cola-ia resume { $source }
order-missing = { $id } has no job any more
order-state = { $id } is { $state } and stays so
order-running-hint = a worker has it: wait until it has ended, or stop it with “cola-ia cancel”
order-replay-hint = to work on it once more, as a new run: cola-ia replay ID
order-held-hint = the outcome of an effect is not known: look at it with “cola-ia show ID” first
order-waits-hint = it is worked on anyway; one that waits for a later time is due at once with “cola-ia retry”
order-done-hint = what is done cannot be undone here
order-content-gone = there is nothing to work on: the text of { $id } was pruned or erased
order-effects-open = { $id } has an effect whose outcome is open
order-effects-open-hint = a new run could do it twice: look at it with “cola-ia show ID” first
order-effect-abandoned = { $id } cannot be finished any more: an effect of it was given up
order-none = there is no such job
order-would =
    { $count ->
        [one] one job would be retried
       *[other] { $count } jobs would be retried
    }
order-cancelled =
    { $count ->
        [one] cancelled one job
       *[other] cancelled { $count } jobs
    }
order-retried =
    { $count ->
        [one] retried one job
       *[other] retried { $count } jobs
    }
order-replayed =
    { $count ->
        [one] one job waits for its new run
       *[other] { $count } jobs wait for their new run
    }
order-refused =
    { $count ->
        [one] one job was left as it is
       *[other] { $count } jobs were left as they are
    }
errors-groups-more =
    { $count ->
        [one] one kind of error more: see it with a larger --limit
       *[other] { $count } kinds of errors more: see them with a larger --limit
    }
errors-ungrouped = there are more than { $groups } kinds of errors: { $count } errors are in no group; narrow them down with a filter

## effect

effect-abandoned = { $name }: a person has given it up; the job cannot be done any more
effect-begin-again-hint = whether it was begun only the same id tells: --begin-id { $id }
effect-budget = { $name }: the budget of the day is used up; nothing was sent, and it resets at { $until }
effect-cost-required = { $name }: the source has a budget, and what it may cost was not said; nothing was sent
effect-cost-required-hint = say it with --max-cost
effect-could-not-tell = { $name }: the lookup could not tell whether it happened ({ $why }); nothing was sent, and it looks again later
effect-decide-early = { $name } of { $id }: what was sent with try { $number } may still happen; it counts from { $until } on
effect-decide-early-hint = look at the destination again then, and say what is there
effect-decide-failed-hint = it is recorded that nothing happened; where something did, say it with --happened as soon as it is held again, or tell “cola-ia effect done”
effect-decide-newer = { $name } of { $id }: another try was made since try { $number } was looked at: { $newest }
effect-decide-newer-hint = look at the destination once more, and name that try
effect-decide-state = { $name } of { $id } is not held but { $state }; nothing was changed
effect-decide-unknown-hint = the next attempt finds out, by its policy
effect-decided-abandoned = { $name } of { $id } is given up, after try { $number }
effect-decided-absent = { $name } of { $id } did not happen, as of try { $number }
effect-decided-happened = { $name } of { $id } happened, as of try { $number }
effect-find-nothing = no effect has made { $resource }
effect-find-nothing-hint = an id is compared byte by byte; “cola-ia effect list --json” tells all of them
effect-held = { $name }: the job is held until a person has looked ({ $reason }); nothing was sent
effect-held-hint = cola-ia effect list --state held; then: cola-ia effect resolve ID { $name } with --happened RESOURCE, --did-not-happen or --abandon
effect-late = { $name }: it is recorded that it happened; but the lease was lost meanwhile
effect-lease-lost = { $name }: the lease is lost; nothing was changed
effect-list-none = there are no such effects
effect-mismatch = { $name }: something else would be sent under a key that the destination knows; nothing was sent
effect-mismatch-hint = the command, its arguments and the text must be the same on each attempt; what may differ (a path of a temporary file) is left out with --request
effect-missing = { $id } has no effect { $name }
effect-missing-hint = it has: { $known }
effect-no-try = { $name }: there is no try { $number }
effect-not-begun = { $name }: nobody answered whether it may be sent, and nothing was sent: { $problem }
effect-not-recorded = { $name }: what happened could not be recorded, so that for the ledger it is unknown: { $problem }
effect-not-recorded-done = { $name }: it happened ({ $resource }), and that could not be recorded, so that for the ledger it is unknown: { $problem }
effect-not-sent = { $name }: nothing was sent ({ $why })
effect-not-started = the command could not be started: { $cause }
effect-other-policy = { $name } was begun under another policy; nothing was sent
effect-other-policy-hint = --key-ttl, --lookup, --settle, --otherwise and --retry-below must stay what they were for this effect; “cola-ia show ID --json” tells them
effect-outer-result = what the job is to know cannot be written to { $path }: { $cause }
effect-reason-begun-again = another process began it, while the first one’s outcome was open
effect-reason-job-ends = its job was to end while its outcome was open
effect-reason-lease-ended = the lease under which it was begun ended before anybody said what happened
effect-reason-nobody-can-tell = it may have happened, and neither key nor lookup can tell
effect-reason-other-try-open = one try did not happen, and the outcome of another one is open
effect-reason-reported = its sender does not know whether it happened
effect-reason-restored = the store was restored from an older state, and it may have happened since
effect-rejected = { $name }: the destination refused it for good ({ $why })
effect-replayed = { $name } had happened before; nothing was sent
effect-replayed-resource = { $name } had happened before, as { $resource }; nothing was sent
effect-report-again-hint = whether it was heard is not known: say it again
effect-result-field = the field “{ $field }” of COLA_IA_RESULT does not have the form it must have; it is kept with the result
effect-result-no-object = COLA_IA_RESULT is no JSON object and is not used
effect-output-not-kept = { $name }: it has happened, and what the command printed is too long to be kept with it
effect-output-not-kept-hint = have the command write the text to a file and print its name
effect-result-too-long = COLA_IA_RESULT is longer than 64 KiB and is not used
effect-result-unreadable = COLA_IA_RESULT cannot be read: { $cause }
effect-too-many = { $name }: the job has as many effects, or the effect as many tries, as there may be; nothing was sent
effect-unknown = { $name }: it was sent, and nobody knows whether it happened ({ $why })
effect-unknown-hint = the next attempt finds out, by the effect’s policy; “cola-ia show ID” tells more
effect-used = { $name }: that begin id has made its try; begin again with a new one
effect-void = { $name }: { $number } speaks of what is over; nothing was changed
effect-void-hint = begin again
effect-wait = { $name }: what may have been sent could not be seen yet; nothing was sent, and it goes on at { $until }

## work

work-no-threads = the worker cannot be started: { $cause }
work-no-folder = no folder for sockets and result files can be made in { $path }: { $cause }
work-no-folder-hint = make room there, or name another folder with TMPDIR
work-no-program = there is no program “{ $program }”
work-no-program-hint = a name is looked for in PATH; anything else is written as a path: cola-ia work -- ./NAME
work-no-program-here = it is in this folder, which is not in PATH: cola-ia work -- ./{ $program }
work-no-program-line = no shell comes between; to have one: cola-ia work -- sh -c '{ $program }'
work-no-interpreter = { $program } names an interpreter that is not there: { $interpreter }
work-no-interpreter-hint = it stands in the first line of the script, behind #! (a carriage return at its end counts)
work-no-format = { $program } is no program that this system can run
work-no-format-hint = a script begins with the line #!/bin/sh, or the name of what runs it
work-denied = { $program } is not executable
work-denied-hint = chmod +x { $program }
work-cause = { $cause }
work-cause-denied = it may not be executed
work-cause-too-long = its arguments and its environment are more than the system takes
work-cause-stopped = it was stopped
work-not-started = the command for { $id } could not be started: { $cause }; the job waits, and no attempt is counted
work-store-waits = the store cannot be used: { $problem }; commands go on, and what has ended is kept until it is recorded
work-store-again = the store can be used again
work-recovered =
    { $count ->
        [one] one job was in the hands of a worker that is lost; it is taken up again
       *[other] { $count } jobs were in the hands of workers that are lost; they are taken up again
    }
work-recovered-failed =
    { $count ->
        [one] one of them has lost too many workers and is failed
       *[other] { $count } of them have lost too many workers and are failed
    }
work-recovered-and = { $recovered }; { $failed }
work-lost = { $id }: its lease ran out and is lost; its command is stopped, and nothing of it counts
work-lost-to = { $id }: its lease ran out, and attempt { $attempt } has the job; its command is stopped, and nothing of it counts
work-late = { $id }: attempt { $attempt } ended after its lease was lost; that is on record and changes nothing
work-late-by = { $id }: attempt { $attempt } ended after attempt { $newer } had taken the job over; that is on record and changes nothing
work-later-lookup = { $id }: the lookup could not tell: { $why }; again at { $due } (effect_lookup), no attempt is counted
work-later = { $id }: again at { $due }, as it asked for; no attempt is counted
work-failed-again = { $id }: attempt { $attempt } failed ({ $class }): { $said }; it is tried again at { $due }
work-failed-for-good = { $id }: attempt { $attempt } failed ({ $class }): { $said }; it is not tried again and waits for a person
work-said = { $line }
work-said-nothing = it wrote nothing to stderr
work-cost = { $id }: { $fault }
work-escaped = { $id }: a process of its command has left its group and lives on
work-failed-held = { $id }: attempt { $attempt } failed ({ $class }): { $said }; nobody knows what became of an effect of it, so that it is held: cola-ia show ID
work-held = { $id }: held until a person has looked at one of its effects: cola-ia show ID; no attempt is counted
work-summary-held = { $count } held
work-result-no-object = { $id }: COLA_IA_RESULT is no JSON object and is not used; its beginning is kept as the error
work-result-too-long = { $id }: COLA_IA_RESULT is longer than 64 KiB and is not used
work-result-unreadable = { $id }: COLA_IA_RESULT cannot be read: { $cause }
work-result-field = { $id }: the field “{ $field }” of COLA_IA_RESULT does not have the form it must have; it is kept with the result
work-stopping =
    { $seconds ->
        [one] stopping: commands have one second to end; a second signal ends them now
       *[other] stopping: commands have { $seconds } seconds to end; a second signal ends them now
    }
work-progress = { $done } done, { $failed } failed, { $running } running, { $rate }/s
work-progress-left = { $now }, { $left } left
work-summary-done =
    { $count ->
        [one] 1 done
       *[other] { $count } done
    }
work-summary-failed =
    { $count ->
        [one] 1 failed
       *[other] { $count } failed
    }
work-summary-again =
    { $count ->
        [one] 1 attempt to be repeated
       *[other] { $count } attempts to be repeated
    }
work-summary-released =
    { $count ->
        [one] 1 given back
       *[other] { $count } given back
    }
work-summary-lost =
    { $count ->
        [one] 1 lost to another worker
       *[other] { $count } lost to other workers
    }
work-left =
    { $count ->
        [one] one job waits until { $due }
       *[other] { $count } jobs wait, the first until { $due }
    }
work-left-elsewhere =
    { $count ->
        [one] one job is in the hands of another worker, or of one that is lost and whose lease has not run out
       *[other] { $count } jobs are in the hands of other workers, or of some that are lost and whose leases have not run out
    }
inside-no-worker = the worker that runs this job does not answer at { $path }: { $cause }
inside-no-worker-hint = COLA_IA_SOCKET is for the command of a job, while it runs
inside-refused = the worker that runs this job refuses: { $code }

## backup, restore, restored, doctor

progress-check = checking every page
progress-place = putting it in its place
progress-tables =
    { $count ->
        [one] one row compared
       *[other] { $count } rows compared
    }
backup-made =
    { $count ->
        [one] one event backed up in { $path } ({ $size }), checked to the last page
       *[other] { $count } events backed up in { $path } ({ $size }), checked to the last page
    }
backup-waited = writers were made to wait { $seconds } s, so that the log would not grow further meanwhile
restore-done =
    { $count ->
        [one] { $path } is now what { $from } was, with one event
       *[other] { $path } is now what { $from } was, with { $count } events
    }
restore-kept = what stood there before is kept as { $path }; remove it when you no longer need it
restore-since = what happened after { $at } is not in it: let the senders deliver again what they sent since; nothing enters twice
restore-since-unknown = what happened after the backup was taken is not in it: let the senders deliver again what they sent since; nothing enters twice
keeping-interrupted = interrupted; nothing was changed
restored-marked = the store is marked as restored at { $at }
restored-cleared = the store bears no mark of a restore
restored-leases =
    { $count ->
        [one] one job was running; its lease has ended and it waits again
       *[other] { $count } jobs were running; their leases have ended and they wait again
    }
restored-hint = an effect that is not recorded as done may have happened all the same; once that has been looked into: cola-ia restored --clear
severity-ok = ok
severity-note = note
severity-warning = warning
severity-error = error
doctor-well = nothing is wrong with { $path }
doctor-unwell = { $path }: { $errors }, { $warnings }
doctor-errors =
    { $count ->
        [one] 1 error
       *[other] { $count } errors
    }
doctor-warnings =
    { $count ->
        [one] 1 warning
       *[other] { $count } warnings
    }
doctor-versions = cola-ia { $program }, SQLite { $sqlite }, schema { $schema }, made by cola-ia { $made_by }
doctor-versions_postgres = cola-ia { $program }, PostgreSQL { $server }, schema { $schema }, made by cola-ia { $made_by }
doctor-connections = { $count } of { $most } connections of the server are taken
doctor-connections_few = { $count } of { $most } connections of the server are taken: the next one may be refused
doctor-connections_few-hint = put a pooler in between (PgBouncer, by transaction), or raise max_connections
doctor-server_old = the server is PostgreSQL { $server }: it must be 13 or newer
doctor-server_old-hint = move the database to a newer server
doctor-server_fsync = { $setting } is off: when the machine stops, the database may be torn and nothing brings it back
doctor-server_fsync-hint = set it to on and restart the server; only a server for tests does without
doctor-server_full_pages = { $setting } is off: when the machine stops, pages may be torn
doctor-server_full_pages-hint = set it to on, unless the filesystem itself writes whole pages
doctor-server_commits = { $setting } is off: what was answered as stored is lost when the server stops within a moment
doctor-server_commits-hint = set it to on, for this database at least: ALTER DATABASE NAME SET synchronous_commit = on
doctor-server_autovacuum = { $setting } is off: dead rows stay, and the store becomes slower and larger every day
doctor-server_autovacuum-hint = set it to on
doctor-server_replica = the server is a replica: it can be looked at, and takes nothing in
doctor-server_replica-hint = give the address of the primary, or of what leads to it
doctor-server_hides = connections of other users cannot be seen: if one of them holds the server back, it is not told here
doctor-server_hides-hint = GRANT pg_read_all_stats TO the user of the store
doctor-clocks_apart = the clocks of the server and of this machine are { $seconds } s apart; times are the server's
doctor-clocks_apart-hint = let both follow the same time servers (NTP)
doctor-transaction_old = a transaction of { $who } (process { $pid } of the server) is open since { $since_at }: dead rows cannot be removed meanwhile
doctor-transaction_old-hint = end it where it was begun, or with: SELECT pg_terminate_backend({ $pid })
doctor-prepared_old = the transaction { $name } is prepared since { $since_at } and not ended: dead rows cannot be removed meanwhile
doctor-prepared_old-hint = end it with COMMIT PREPARED or ROLLBACK PREPARED
doctor-slot_unused = nobody uses the replication slot { $name }: for it { $behind_bytes } of log are kept, and more every day
doctor-slot_unused-hint = start the replica that it is for, or remove it with: SELECT pg_drop_replication_slot('{ $name }')
doctor-table_bloated = the table { $table } has { $count } dead rows and { $rows } others
doctor-table_bloated_since = the table { $table } has { $count } dead rows and { $rows } others; it was tidied last at { $vacuumed_at }
doctor-table_bloated-hint = see who holds the server back, above if anybody; then VACUUM it
doctor-table_aged = the table { $table } has not been tidied for { $count } transactions: at 2,147,483,648 the server takes nothing more
doctor-table_aged-hint = VACUUM (FREEZE) it, and see why the server does not do it by itself
doctor-table_untidied = the server does not tidy the table { $table } by itself
doctor-table_untidied-hint = put it right with: ALTER TABLE { $table } RESET (autovacuum_enabled)
doctor-table_unlogged = the table { $table } is not in the log: the server empties it when it has not been stopped in order
doctor-table_unlogged-hint = put it right with: ALTER TABLE { $table } SET LOGGED
doctor-table_missing = the table { $table } is not there
doctor-table_missing-hint = the database was changed by another program: stop the intake and load a backup
doctor-index_missing = the index { $name } is not there, or no longer keeps what must be there once
doctor-index_missing-hint = make it again as it is in a new store in another schema: pg_dump --schema-only shows it
doctor-index_invalid = the index { $name } is invalid: it is not used
doctor-index_invalid-hint = put it right with: REINDEX INDEX CONCURRENTLY { $name }
doctor-numbers_behind = the numbers of { $table } are behind those that were given: the next ones would be taken
doctor-numbers_behind-hint = the database was loaded in part: load the whole backup, its sequences too
doctor-arrivals_ahead = the database was loaded from another server: { $count } batches have numbers of transactions that this server has not reached
doctor-arrivals_ahead-hint = the next program that opens the store to write puts them in order; “tail” then begins anew
doctor-database_damaged-hint = the database was changed by another program or is damaged: stop the intake, keep a copy with pg_dump, and load a backup
doctor-file = the file has { $bytes }
doctor-file_cut = the file has { $bytes } and says that it has { $expected_bytes }: its end is missing
doctor-file_cut-hint = copy the file and its -wal as they are, and bring back a backup with: cola-ia restore FILE
doctor-file_longer = the file has { $bytes } and says that it has { $expected_bytes }: a copy made while it was in use looks like this
doctor-file_longer-hint = if it was made with cp, use the original or a file of “cola-ia backup”; the last events may be missing in this one
doctor-filesystem = the filesystem is { $filesystem }
doctor-filesystem_fuse = the filesystem is FUSE: what stands behind it cannot be seen from here
doctor-filesystem_fuse-hint = on a network share two machines can hold the lock at once: only one may use the store
doctor-filesystem_passing = the filesystem is { $filesystem }: what is on it may end with the machine or the container
doctor-filesystem_passing-hint = for events that are to be kept, put the store on a disk or a volume that stays
doctor-disk = { $free_bytes } are free
doctor-disk_low = only { $free_bytes } are free: intake will soon find no room
doctor-disk_low-hint = make room; the log alone may take 128 MiB
doctor-disk_tight = { $free_bytes } are free: less than the store has, so no upgrade and no backup fits beside it
doctor-disk_tight-hint = make room before the next upgrade, and put backups on another disk
doctor-log = the log has { $bytes }, of which { $waiting_bytes } are not in the file yet
doctor-log_large = the log has grown to { $bytes }, of which { $waiting_bytes } are not in the file yet
doctor-log_large-hint = somebody reads an old state, or reads without a pause: look who has the store open, and close forgotten shells of sqlite3; the log shrinks by itself afterwards
doctor-log_foreign = the file alone is sound, and with the log { $wal } it is not: the log is another file's, or one of the two is an older copy
doctor-log_foreign-hint = let nothing open it; copy both as they are, and bring back a backup with: cola-ia restore FILE
doctor-in_use = it is open in: { $who }
doctor-reader_old = the process { $who } reads a state from before the last { $behind_bytes } were written, and keeps the log from shrinking
doctor-reader_old-hint = end its transaction, or the process
doctor-leftover = a killed process left { $path } ({ $bytes })
doctor-leftover-hint = it can be removed
doctor-second_name = { $path } is a second name of the store's own files, left by a restore that was killed
doctor-second_name-hint = remove it (the store keeps its own name), or run the restore again
doctor-readable_by_others = other users may read { $path }
doctor-readable_by_others-hint = unless they should: chmod 600 FILE
doctor-pages = every page is as SQLite wrote it
doctor-pages_quick = every page can be read; the indices were not compared (--quick)
doctor-pages_damaged = pages are damaged: { $cause }
doctor-pages_damaged-hint = stop using it, copy the file and its -wal as they are, and bring back a backup with: cola-ia restore FILE
doctor-pages_unfinished = the pages could not be checked to the end: too much was written meanwhile, and the check keeps the log from shrinking
doctor-pages_unfinished-hint = check a backup instead: cola-ia backup FILE checks it
doctor-tables =
    { $rows ->
        [one] one row fits the others
       *[other] { $rows } rows fit each other
    }
doctor-tables_quick =
    { $rows ->
        [one] the newest row fits the others
       *[other] the newest { $rows } rows fit each other (--quick)
    }
doctor-event_without_job = events without a job (table { $table }): { $count }; the first is in row { $row }
doctor-event_without_job-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-event_without_identity = events that their id does not lead to (table { $table }): { $count }; the first is in row { $row }
doctor-event_without_identity-hint = a repeated delivery could enter again: stop the intake, keep a copy and bring back a backup with: cola-ia restore FILE
doctor-identity_of_nothing = identities of an event that is not there (table { $table }): { $count }; the first is of the number { $row }
doctor-identity_of_nothing-hint = a delivery under such an id cannot enter: keep a copy of the store and bring back a backup with: cola-ia restore FILE
doctor-identity_twice = events with more than one identity (table { $table }): { $count }; the first is the number { $row }
doctor-identity_twice-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-slot_twice = places of identities that are taken twice (table { $table }): { $count }; the first is { $row }
doctor-slot_twice-hint = a repeated delivery could enter again: stop the intake, keep a copy and bring back a backup with: cola-ia restore FILE
doctor-identities_broken = blocks of identities that are damaged (table { $table }): { $count }; the first is in row { $row }
doctor-identities_broken-hint = a repeated delivery could enter again: stop the intake, keep a copy and bring back a backup with: cola-ia restore FILE
doctor-identities_miscounted = there are not as many blocks of identities as the store says
doctor-identities_miscounted-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-event_without_source = events of a source that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-event_without_source-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-number_twice = numbers that an event and another delivery share (table { $table }): { $count }; the first is in row { $row }
doctor-number_twice-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-job_without_event = jobs without an event (table { $table }): { $count }; the first is in row { $row }
doctor-job_without_event-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-job_without_state = jobs in a state that does not exist, or running without a lease (table { $table }): { $count }; the first is in row { $row }
doctor-job_without_state-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-jobs_miscounted = the counts of jobs by state and source differ from the jobs in { $count } places
doctor-jobs_miscounted-hint = “cola-ia stats” tells wrong numbers of jobs, and nothing else is wrong by it; another program changed jobs
doctor-jobs_uncounted = the jobs could not be counted to the end: too much was written meanwhile, and counting keeps the log from shrinking
doctor-jobs_uncounted-hint = look at a backup instead: cola-ia doctor --db FILE
doctor-delivery_of_nothing = deliveries of an event that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-delivery_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-delivery_of_no_conflict = deliveries of a conflict that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-delivery_of_no_conflict-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-conflict_of_nothing = conflicts of an event that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-conflict_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-revision_of_nothing = revisions of a conflict that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-revision_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-decision_of_nothing = decisions about a conflict, or for an event, that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-decision_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-pruned_of_nothing = pruned deliveries of an event that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-pruned_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-attempt_of_nothing = attempts of a job that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-attempt_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-effect_of_nothing = effects of a job that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-effect_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-try_of_nothing = tries of an effect that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-try_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-record_of_nothing = records of an effect that is not there (table { $table }): { $count }; the first is in row { $row }
doctor-record_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-body_of_nothing = hashes of signed bytes of an event that is not there, or of another source (table { $table }): { $count }; the first is of the number { $row }
doctor-body_of_nothing-hint = the store was changed by another program or is damaged: keep a copy of it and bring back a backup with: cola-ia restore FILE
doctor-money_miscounted =
    { $count ->
        [one] the sums say another amount to be at risk than the open tries hold, on one day of a source
       *[other] the sums say other amounts to be at risk than the open tries hold, on { $count } days of sources
    }
doctor-money_miscounted-hint = “cola-ia costs” is wrong there, and so is a budget while it is that day; another program changed the store
doctor-money_uncounted = what open tries hold could not be added up to the end: too much was written meanwhile, and adding it up keeps the log from shrinking
doctor-money_uncounted-hint = look at a backup instead: cola-ia doctor --db FILE
doctor-double_effect =
    { $count ->
        [one] an effect has happened twice; last heard of at { $latest_at }
       *[other] { $count } effects have happened twice; the last one was heard of at { $latest_at }
    }
doctor-double_effect-hint = something may have been paid or published twice: take one of each back at its destination; see them with: cola-ia effect list --alarm
doctor-late_evidence =
    { $count ->
        [one] an effect has happened that had been recorded as failed or abandoned; heard of at { $latest_at }
       *[other] { $count } effects have happened that had been recorded as failed or abandoned; the last one was heard of at { $latest_at }
    }
doctor-late_evidence-hint = somebody said that nothing had happened, and was wrong: what was done because of it may have to be taken back; see them with: cola-ia effect list --alarm
doctor-backup = this is a backup, taken at { $taken_at }
doctor-backup-hint = to use it: cola-ia restore FILE
doctor-restored = the store was restored at { $restored_at }: what happened between is not in it; effects on record that may have happened since: { $effects }
doctor-restored_from = the store was restored at { $restored_at } from a backup taken at { $taken_at }: what happened between is not in it; effects on record that may have happened since: { $effects }
doctor-restored-hint = effects that are not recorded as done may have happened all the same, those too that are not on record: until then the next attempt looks first, or a person decides; once a person has looked into it: cola-ia restored --clear
doctor-copied = this file is a copy that was not made by cola-ia: if the original was in use then, the last events may be missing, and nothing in the file tells
doctor-copied_before = this file was a copy not made by cola-ia when it was opened at { $noticed_at }: if the original was in use then, the last events may be missing, and nothing in the file tells
doctor-copied-hint = if it took the place of a store that had gone on: cola-ia restored --at now; if it was moved while nobody used it, all is well: cola-ia restored --clear
doctor-jobs_past_lease =
    { $count ->
        [one] one job is running past its lease, since { $oldest_at }
       *[other] { $count } jobs are running past their lease, the first since { $oldest_at }
    }
doctor-jobs_past_lease-hint = their workers were lost; the next worker takes them
doctor-jobs_held =
    { $count ->
        [one] one job is held and needs a person
       *[other] { $count } jobs are held and need a person
    }
doctor-jobs_held-hint = see them with: cola-ia jobs --state held
doctor-jobs_failed =
    { $count ->
        [one] one job has failed
       *[other] { $count } jobs have failed
    }
doctor-jobs_failed-hint = see them with: cola-ia jobs --state failed
doctor-sources_paused =
    { $count ->
        [one] a source is paused since { $oldest_at }: { $sources }
       *[other] { $count } sources are paused, the first since { $oldest_at }: { $sources }
    }
doctor-sources_paused-hint = none of their jobs is given to workers; when the cause is gone: cola-ia resume SOURCE
doctor-sources_failing =
    { $count ->
        [one] the jobs of a source have failed one after the other since { $oldest_at }: { $sources }
       *[other] the jobs of { $count } sources have failed one after the other, the first since { $oldest_at }: { $sources }
    }
doctor-sources_failing-hint = what went wrong: cola-ia errors --group
doctor-jobs_waiting =
    { $count ->
        [one] one job has waited for longer than a day, since { $oldest_at }
       *[other] { $count } jobs have waited for longer than a day, the first since { $oldest_at }
    }
doctor-jobs_waiting-hint = nobody works, or too few: see them with: cola-ia jobs --state pending
doctor-conflicts_undecided =
    { $count ->
        [one] one conflict waits for a decision; it came last at { $latest_at }
       *[other] { $count } conflicts wait for a decision; the latest came at { $latest_at }
    }
doctor-conflicts_undecided-hint = somebody used an id twice or changed a text that should not change; see them with: cola-ia conflicts --undecided --diff

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
refusal-signature_missing = the request bears no signature or token that can be read
refusal-signature_invalid = the signature or token is not one that the source’s secrets make
refusal-timestamp_invalid = the signed time is missing or is none
refusal-timestamp_outside = the signed time is too far from the server’s clock
refusal-body_too_large = the body is larger than the source takes
refusal-body_too_slow = the body came too slowly
refusal-media_type_unsupported = the body is of a type or an encoding that the source does not take
refusal-body_malformed = the body is not what its type says
refusal-too_many_events = one body has more events than the source takes at once
refusal-origin_not_allowed = the form was sent from a page that is not one of the source’s
refusal-honeypot = the field that people do not see is filled in
refusal-rate_limited = more came than may come

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
store-store_unreachable = the database { $path } cannot be reached, or broke off: { $cause }
store-store_unreachable-hint = running the same again is safe: what was done is not done twice
store-store_refuses = the database { $path } does not let this user in, or not do this: { $cause }
store-store_refuses-hint = check user and password (PGPASSWORD), and that the user may create and use the schema
store-store_no_database = there is no such database: { $path } ({ $cause })
store-store_no_database-hint = make it first, in UTF-8: createdb -E UTF8 NAME
store-store_address = { $path } is not the address of a database: { $cause }
store-store_address-hint = write it as postgres://USER@HOST:PORT/DATABASE
store-store_tls = no TLS with the database { $path }: { $cause }
store-store_tls-hint = sslrootcert=FILE names the authority of its certificate
store-store_encoding = the database { $path } keeps text in { $encoding }, which would change ids and texts
store-store_encoding-hint = use a database in UTF-8: createdb -E UTF8 -T template0 NAME
store-store_is_database = { $command } works with a file, and { $path } is a database of PostgreSQL
store-store_is_database-hint = backups of a database are made by its own tools: see “PostgreSQL” in docs/OPERATIONS.md
store-store_article = { $path } is a database of the article's script, and only “cola-ia add” takes it over; nothing was changed
store-store_article-hint = “cola-ia add FILE” keeps a copy of it before; “cola-ia add --dry-run FILE” only tells what that would do
store-store_in_use = another process has the store { $path } open: { $who }; nothing was changed
store-store_in_use-hint = stop it first, then run the same again
store-store_in_use_unseen = a process that cannot be seen from here has the store { $path } open; nothing was changed
store-store_in_use_unseen-hint = it is another user's or in another container: stop what uses the store, then run the same again
store-backup_exists = { $path } exists already, and a backup replaces nothing
store-backup_exists-hint = give the backup another name, such as one with the date
store-backup_is_store = { $path } is a file of the store itself
store-backup_is_store-hint = name another file
store-backup_missing = there is no backup at { $path }
store-backup_not_ours = { $path } is no backup of cola-ia; nothing was changed
store-backup_not_ours-hint = name a file that “cola-ia backup” has made, or a store that nobody uses
store-backup_newer = the backup { $path } has schema { $found }, and this version knows only up to { $known }; nothing was changed
store-backup_newer-hint = use the version of cola-ia that made it, or a newer one
store-backup_has_log = beside the backup { $path } there is a log, { $wal }: a backup is one file; nothing was changed
store-backup_has_log-hint = if both are a copy of a store, make one file of them first: cola-ia --db { $path } backup NEWFILE; if the log is another file's, move it away
store-backup_unsound = what was copied for or from the backup { $path } is damaged: { $cause }; nothing was changed
store-backup_unsound-hint = for “backup”, look at the store with “cola-ia doctor”; for “restore”, take another backup
store-backup_full = there is no room for the backup { $path }: { $cause }
store-backup_full-hint = make room, or put it on another disk; nothing is left of it
store-backup_io = the backup { $path } cannot be read or written: { $cause }
store-backup_io-hint = look at the folder and the disk; nothing is left of it
store-restored_in_future = { $at } has not come yet: it is { $now }; nothing was changed
store-restored_in_future-hint = say when the store was put back, or “now”
store-takeover_refused = the database of the article's script { $path } cannot be taken over: { $cause }; nothing was changed
store-takeover_refused-hint = mend what is said, or start another store with --db
store-cursor_unknown = this list did not give the place “{ $cursor }”
store-cursor_unknown-hint = --after takes what the hint of the page before named
store-op_reused = a call was repeated with other contents under the same name; this is a fault of cola-ia
store-op_reused-hint = please report it; nothing was changed
store-op_expired = a call was repeated after more than 7 days, and its first answer is gone
store-op_expired-hint = run the same anew: nothing enters twice
store-token_malformed = { $reason ->
    [name] a token’s name is 1 to 128 bytes, not blank, without control characters
    [scopes] a token needs at least one scope
    [hash] another token has the same hash: make a new one
   *[sources] only a token with the scope “ingest” is bound to sources
 }
store-token_name_taken = there is a token with the name { $name }, or was one
store-event_unknown = there is no event number { $event }
store-source_unknown = no event of the source { $source } has come
store-source_unknown-hint = “cola-ia stats” tells the sources
store-conflict_unknown = there is no conflict { $conflict }
store-conflict_unknown-hint = “cola-ia show ID” tells the numbers
store-conflict_not_named = not exactly one conflict is undecided
store-conflict_not_named-hint = name those that are meant with --conflict N
store-conflict_decided = conflict { $conflict } has been acted upon already ({ $decision }); nothing was changed
store-conflict_decided-hint = “cola-ia show ID” tells what was decided and when
store-content_gone = the text of conflict { $conflict } is no longer kept: it was pruned or erased
store-content_gone-hint = it can still be kept as a conflict, with --keep
store-id_taken = the id { $id } of the source { $source } has another text; nothing entered
store-id_taken-hint = choose an id that nobody uses; “cola-ia id” makes one
store-currency_malformed = “{ $currency }” is no currency
store-currency_malformed-hint = three capital letters as ISO 4217 has them, such as EUR or USD
store-currency_other = this store's amounts are in { $currency }, and amounts are never converted
store-currency_other-hint = what has another currency goes into a store of its own
store-effects_open = an effect of an earlier run is still open, and a new run could repeat it; nothing was changed
store-effects_open-hint = settle the effect first, or accept without --run
store-resolve_too_many = at most { $limit } conflicts can be decided so at once
store-note_too_long = a note has at most { $limit } bytes
store-job_running = a worker has the job of this event; nothing was erased
store-job_running-hint = wait until it has finished and run the same again
store-batch_too_long = a batch has more events than one call may carry; this is a fault of cola-ia
store-batch_too_long-hint = please report it; nothing was changed
store-too_many_leases = at most { $limit } leases can be named at once
store-too_many_jobs = at most { $limit } jobs can be named at once
store-import_other_namespace = the store { $path } has events of another origin than the export; nothing was changed
store-import_other_namespace-hint = import into a new store: cola-ia import --db NEW FILE
store-store_moved = the store { $path } was moved to another place: it can be read and takes nothing in
store-store_moved-hint = use the other place (--db, COLA_IA_DB); to stay here after all: cola-ia move --undo
store-move_running = the store { $path } has { $count } running jobs: a store is moved when nobody has one in hand
store-move_running-hint = stop the workers and the server; of workers that died: cola-ia recover
store-import_out_of_order = the records of an import do not stand in the order of an export; this is a fault of cola-ia
store-import_out_of_order-hint = please report it; nothing of that batch was changed
store-server_address = the server's address cannot be used: { $cause }
store-server_address-hint = write https://HOST[:PORT], or http://127.0.0.1:PORT for a server on this machine
store-server_answer = the server { $server } answered something else: { $cause }
store-server_answer-hint = look whether a cola-ia server of this version or a newer one is at that address, and no other program before it
store-server_certificates = the certificates that this system trusts cannot be read: { $cause }
store-server_certificates-hint = install the system's package of certificates, often called ca-certificates; where SSL_CERT_FILE or SSL_CERT_DIR is set, look whether what it names is there
store-server_forbidden = the token is good, and the server { $server } does not allow it this: { $what }
store-server_forbidden-hint = ask for a token with that scope or source: cola-ia token create
store-server_insecure = the token would go over an open network to { $server }
store-server_insecure-hint = give the server's https address
store-server_token = what was given as a token is none
store-server_token-hint = a token is one word of visible ASCII characters, such as “token create” prints
store-server_unauthorised = the server { $server } does not know this token, or it has ended
store-server_unauthorised-hint = give one that is good, in COLA_IA_TOKEN or in the file that COLA_IA_TOKEN_FILE names
store-server_unreachable = the server { $server } does not answer: { $cause }
store-server_unreachable-hint = look whether “cola-ia serve” runs there, and whether the address is right; what was not answered can be said again
store-server_untrusted = the certificate of the server { $server } is not trusted: { $cause }
store-server_untrusted-hint = write the address with the name that its certificate has; where that is of an authority of your own, name the file with the authority's certificate in SSL_CERT_FILE
store-interrupted = interrupted; what was answered is stored
store-interrupted-hint = run the same again: nothing enters twice
store-store_closed = the store has been closed

## What opening a store did

store-created = made the store { $path }
store-migrated = brought the store { $path } from schema { $from } to { $to }
store-copy = the file as it was before: { $path }
store-waiting = another process has held the lock of the store for { $seconds } s; waiting
store-backup-in-place = { $path } is a backup that was put in place without “cola-ia restore”; it is marked as restored now
store-copied = { $path } is a copy that was not made by cola-ia: if the original was in use then, its last events may be missing here
store-copied-hint = if it took the place of a store that had gone on: cola-ia restored --at now; if it was moved while nobody used it, all is well: cola-ia restored --clear
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

## move

usage-move-where = “move” wants --to with a place, or --undo
usage-move-to = { $to } is no place for a store
move-same-place = { $path } is the store itself
move-elsewhere = { $path } was moved to { $to }, and goes to one place only
move-elsewhere-hint = to the end with that: cola-ia move --to the same place; to begin anew: cola-ia move --undo
move-already = { $path } was moved to { $to } before; nothing was changed
move-target-not-empty = { $to } has events already; nothing was changed
move-target-not-empty-hint = move to an empty place; to bring two stores of one origin together use export and import
move-differs = { $to } does not hold the same as { $path }; the store stays marked, and nothing of it was changed
move-differs-hint = if somebody has worked with the other place, empty it, run “cola-ia move --undo”, and begin anew
move-done = { $path } is at { $to } now, whole; the old store can be read and takes nothing in
move-done-hint = from now on use --db { $to } (COLA_IA_DB); tokens were not copied
move-undo-nothing = the store was not moved; nothing was changed
move-undone = the store takes things in again; what was copied to { $to } is still there
move-undone-hint = do not work with both: remove the other one

## export, import

export-done = { $path }: lines { $lines }, events { $events }, further deliveries { $deliveries }
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

arg-listen = Where to listen, ADDRESS:PORT; port 0 takes a free one
arg-log-format = How the log is written: “json” (the default) or “text”
value-listen = ADDRESS:PORT
value-log-format = FORMAT
usage-log-format = --log-format { $value }: no such form
usage-log-format-hint = it is “json” or “text”
serve-listening = listening on http://{ $address }
serve-sources = { $count ->
    [one] one source: { $names }
   *[other] { $count } sources: { $names }
 }
serve-no-sources = no source is configured: “cola-ia source add” makes one
serve-admin-token = a token for everything is in { $path }, for you alone
serve-login = to log a browser in, once and within ten minutes: { $link }
serve-cannot-listen = cannot listen on { $address }: { $cause }
serve-cannot-listen-hint = another program may hold the port; --listen takes another one
serve-token-file = the token could not be written to { $path }: { $cause }
serve-runtime = the server could not start: { $cause }
serve-exposed = { $address } can be reached by others, without https unless a proxy adds it
serve-stopped = stopped
serve-backup-database = backup.every makes no backups of { $path }: they are its server's
store-is-database-backup-hint = use pg_dump or archived logs: see “PostgreSQL” in docs/OPERATIONS.md

page-what = This server lets each event in once and keeps its job until it is done. What came and how it stands is also told by “cola-ia stats” and by /metrics
page-login = To see counts here, open the link that the server printed when it started for the first time. Programs use a token: cola-ia token create
page-code = This link opens a session of twelve hours in this browser, once
page-enter = Log in
page-code-spent = This link was used before, or is older than ten minutes. Commands and programs use a token instead: cola-ia token create
page-leave = Log out
page-total = all

## source, token

source-unknown = there is no source “{ $source }” in the settings
source-unknown-hint = the configured ones: cola-ia source list
source-exists = there is a source “{ $source }” already
source-exists-hint = to add another one: cola-ia source add { $scheme } --name OTHER
source-added = { $file } has the source { $source } now, at its end
source-file-failed = { $file } cannot be written: { $cause }
source-not-appended = a block at the end of { $file } would not be understood: { $cause }
source-not-appended-hint = write [source.NAME] into it by hand; docs/WEBHOOKS.md has the blocks
source-public-url-hint = the address is that of this machine; set public_url to the one by which the sender reaches it
source-next-secret = put the secret into { $variable }, give the address to the sender, see that all is there with “cola-ia config check”, and try it: cola-ia source test { $source }
source-next-unsigned = see that all is there with “cola-ia config check”, and try it: cola-ia source test { $source }
source-block-head = { $title }. Read in: { $docs }.
source-block-unverified = From memory and not verified: { $parts }. Try it with the real sender first.
source-block-unsigned = Nothing is verified: whoever knows the address can send.
source-block-form = Pages that may send it, such as "https://www.example.org"; none named: any. The field of the honeypot stays empty when a person sends. Afterwards the browser goes to “thanks”.
source-block-secret = The variable that holds the secret, or a file. While a secret is being changed, two in a list: [ "NEW", "OLD" ].
source-block-verify = What the sender asks for once, when the address is registered.
source-block-pending = While the sender has not yet said its secret: take its first request without one. Then take this line away.
source-block-generic = How the sender signs, where it differs from this:
source-block-id = Where the id stands. The same id is the same event, for ever.
source-block-body-id = The sender has no id: equal bodies are one event.
source-block-fallback = The sender has no id of its own. This is the documented substitute ({ $places }); an “id” that you know to be better goes first.
source-block-text = The text of the job.
source-list-none = no source is configured
source-list-none-hint = to add one: cola-ia source add SCHEME
source-schemes-note = “no”: signature or id are from memory; try those with the real sender first
source-schemes-next = to add one: cola-ia source add SCHEME
source-word-unsigned = unsigned
source-word-no-id = (none)
column-scheme = SCHEME
column-id-at = ID AT
column-secrets = SECRETS
column-url = URL
column-verified = VERIFIED
column-title = SENDER
column-token-state = STATE
column-scopes = SCOPES
column-sources = SOURCES
column-created = CREATED
column-name = NAME
column-ends = ENDS
word-yes = yes
word-no = no
check-request-unreadable = the request cannot be read from { $file }: { $cause }
check-request-empty = there is no request in { $file }
check-request-line = { $file } does not begin with the first line of a request
check-request-header = { $file } has a line in the head that is no “Name: value”
check-request-no-body = { $file } has no empty line behind the head
check-request-encoded = the body in { $file } is encoded for transport, and was signed without that
check-request-hint = it should be as: POST /in/NAME HTTP/1.1, a line for each header, an empty line, and the body as it came
check-request-cut = { $bytes ->
    [one] 1 byte of line ends behind the body is not part of it, as its Content-Length says
   *[other] { $bytes } bytes of line ends behind the body are not part of it, as its Content-Length says
}
check-request-length = Content-Length says { $said } bytes and the body has { $found }: it was not captured as it came
check-at-hint = a request that was captured earlier is judged at its own time with --at
check-passed = ok
check-failed = no
step-method = method: { $method }
step-url = address: { $url }
step-body = body: { $bytes } bytes, at most { $limit }
step-header = header { $name }: there
step-header-twice = header { $name }: twice, and two readers could take another of the two
step-header-missing = header { $name }: missing
step-signature-form = signatures of the right form: { $found } of { $items }
step-timestamp = signed time: { $sent }, here { $now }; { $difference_s } s apart, allowed { $tolerance_s } s
step-timestamp-odd = signed time: missing, or of another form
step-signature = signature: made with secret { $matched } of { $secrets }
step-signature-none = signature: none of the secrets ({ $secrets }) makes it from these bytes: another secret, or the body was changed on its way
step-content-type = type of the body: { $type }
step-content-type-odd = type of the body: { $reason }
step-handshake = handshake: { $kind }
step-events = events: { $count }
step-part = event { $event }, { $step }: { $facts } (from { $place })
step-part-missing = event { $event }, { $step }: not there ({ $facts })
step-accepted = accepted
step-reply = answered with { $status }; nothing is stored
step-refused = refused with { $status }: { $reason } [{ $code }] { $detail }
step-other = { $step }: { $facts }
sample-text = A sample of “cola-ia source test”
sample-taken = { $url } answered { $status }
sample-again-hint = the same once more is a repeat: cola-ia source test { $source } --id { $id }
sample-refused = { $url } answered { $status }: { $said }
sample-refused-hint = why: cola-ia errors --kind intake
sample-unreachable = { $url } cannot be reached: { $cause }
sample-unreachable-hint = is “cola-ia serve” running there? --url names another address
sample-asymmetric = only the sender of { $source } can sign: it has the private key
sample-asymmetric-hint = send a test from the sender's own console
sample-id-not-a-number = ids of { $source } are whole numbers
sample-not-signable = this sample cannot be signed as { $source } signs: try another --id
sample-not-a-url = “{ $url }” is no address of a server
sample-not-https = { $url } is not on this machine, and a sample goes elsewhere over https only
token-created = token { $name }: { $scopes }
token-ends = it ends at { $end }
token-created-hint = it is shown this once; keep it where only its bearer can read it
token-none = there is no token
token-none-hint = to make one: cola-ia token create NAME --scope SCOPE
token-state-live = live
token-state-expired = expired
token-state-revoked = revoked
token-revoked = token { $name } is revoked
token-was-revoked = token { $name } was revoked before
token-unknown = there is no token “{ $name }”
token-unknown-hint = all tokens: cola-ia token list
