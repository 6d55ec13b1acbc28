-- The gate, and the places of all that comes behind it. Times are microseconds since 1970 in UTC; words are the contract's.

-- What this store is. One row.
CREATE TABLE store (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    namespace   BLOB    NOT NULL, -- 16 random bytes: part of every effect's key, kept by export and import
    slot_key    BLOB    NOT NULL, -- 16 random bytes: nobody outside can choose ids that share a slot
    slot_bits   INTEGER NOT NULL, -- 64; tests take fewer, so that slots collide
    created_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL, -- the program's version
    restored_at INTEGER           -- when it was restored from a backup, until a person clears it
) STRICT;

CREATE TABLE sources (
    source INTEGER PRIMARY KEY,
    name   TEXT    NOT NULL UNIQUE
) STRICT;

-- Who is known. `slot` is a keyed hash of (source, id): it finds, it never decides. Whether two identities are the same is
-- decided by the bytes in `events`; another identity in a slot sends the newcomer to the next one. Rows are never removed,
-- so a chain of slots has no holes.
CREATE TABLE identities (
    slot  INTEGER PRIMARY KEY,
    event INTEGER NOT NULL
) STRICT;

-- Cold: written once, in the order of arrival. `seq` is the number of the delivery that made the event; `deliveries` draws
-- from the same series.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY,
    source      INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL, -- SHA-256 of the text that entered
    received_at INTEGER NOT NULL,
    time        INTEGER,          -- when it happened at the provider, as it says
    type        TEXT,
    text        TEXT              -- last, so that reading the rest never reads it; NULL once pruned or erased
) STRICT;

-- Hot: one narrow row an event, born with it. No CHECK here or on `deliveries`: it costs a tenth of the intake, and every
-- statement that writes them has its words as literals.
CREATE TABLE jobs (
    event       INTEGER PRIMARY KEY,
    source      INTEGER NOT NULL,
    state       TEXT    NOT NULL DEFAULT 'pending', -- running, done, failed, held, cancelled
    due_at      INTEGER,          -- while pending: not before
    run         INTEGER NOT NULL DEFAULT 1,
    attempts    INTEGER NOT NULL DEFAULT 0, -- of this run, counted when claimed
    crashes     INTEGER NOT NULL DEFAULT 0, -- of these, lost with their worker
    reason      TEXT    NOT NULL DEFAULT '', -- why it is held or failed, a stable code
    lease       BLOB,             -- while running: the token that every write must carry
    lease_until INTEGER,
    worker      TEXT,
    changed_at  INTEGER,          -- NULL while as it was born
    resource_id TEXT,
    result      TEXT
) STRICT;
-- A claim takes the oldest due one of a source; one index serves with and without a filter, source by source.
CREATE INDEX jobs_due ON jobs (source, due_at) WHERE state = 'pending';
CREATE INDEX jobs_state ON jobs (state, event) WHERE state NOT IN ('pending', 'done');
CREATE INDEX jobs_resource ON jobs (resource_id) WHERE resource_id IS NOT NULL;

-- Every handing-over that did not make an event: repeated, in conflict, refused.
CREATE TABLE deliveries (
    seq         INTEGER PRIMARY KEY,
    event       INTEGER,          -- NULL for refused ones
    verdict     TEXT    NOT NULL, -- duplicate, conflict, invalid
    received_at INTEGER NOT NULL,
    time        INTEGER,
    type        TEXT,
    conflict    INTEGER,          -- its number within the event
    code        TEXT,             -- why it was refused
    detail      TEXT,
    origin      TEXT,             -- input and line, for conflicts and refused ones
    count       INTEGER NOT NULL DEFAULT 1 -- refused ones of one input beyond a bound are only counted
) STRICT;
CREATE INDEX deliveries_event ON deliveries (event) WHERE event IS NOT NULL;

-- Other contents under a known identity: kept, counted, numbered within their event.
CREATE TABLE conflicts (
    event       INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL,
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    count       INTEGER NOT NULL DEFAULT 1,
    time        INTEGER,
    type        TEXT,
    decision    TEXT    CHECK (decision IN ('keep', 'accept', 'as')),
    decided_at  INTEGER,
    note        TEXT,
    text        TEXT,
    PRIMARY KEY (event, number),
    UNIQUE (event, fingerprint)
) STRICT;

-- Contents that a person accepted for an event, besides the one that entered.
CREATE TABLE revisions (
    event       INTEGER NOT NULL,
    number      INTEGER NOT NULL, -- from 2: the content that entered is revision 1
    fingerprint BLOB    NOT NULL,
    accepted_at INTEGER NOT NULL,
    conflict    INTEGER NOT NULL, -- the conflict it was
    text        TEXT,
    PRIMARY KEY (event, number),
    UNIQUE (event, fingerprint)
) STRICT;

-- One lease of a job by one worker.
CREATE TABLE attempts (
    attempt     INTEGER PRIMARY KEY,
    event       INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    number      INTEGER NOT NULL, -- within the run, from 1
    lease       BLOB    NOT NULL UNIQUE,
    worker      TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    outcome     TEXT    CHECK (outcome IN ('done', 'error', 'crashed', 'timed_out', 'released', 'lease_lost')),
    exit_code   INTEGER,
    signal      INTEGER,
    error_class TEXT,
    error       TEXT,
    cost_micros INTEGER,
    tokens_in   INTEGER,
    tokens_out  INTEGER,
    model       TEXT,
    late        TEXT,             -- what it reported after losing its lease
    stdout      BLOB,             -- the last part of each
    stderr      BLOB
) STRICT;
CREATE INDEX attempts_event ON attempts (event, run, number);

-- One named external action of a job's run.
CREATE TABLE effects (
    effect      INTEGER PRIMARY KEY,
    event       INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    key         TEXT    NOT NULL UNIQUE, -- sent to the destination, the same for ever
    state       TEXT    NOT NULL CHECK (state IN ('intended', 'done', 'failed', 'unknown', 'held', 'abandoned')),
    key_ttl     INTEGER,          -- the policy, fixed at the first begin; durations in microseconds
    lookup      INTEGER NOT NULL CHECK (lookup IN (0, 1)),
    settle      INTEGER NOT NULL,
    otherwise   TEXT    NOT NULL CHECK (otherwise IN ('hold', 'retry')),
    retry_below INTEGER,
    begun_at    INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    reason      TEXT,
    resource_id TEXT,
    cost_micros INTEGER,
    result      TEXT,
    UNIQUE (event, run, name)
) STRICT;
CREATE INDEX effects_open ON effects (state, effect) WHERE state IN ('intended', 'unknown', 'held');
CREATE INDEX effects_resource ON effects (resource_id) WHERE resource_id IS NOT NULL;

-- One permission to send.
CREATE TABLE effect_tries (
    effect          INTEGER NOT NULL,
    number          INTEGER NOT NULL, -- within the effect, from 1
    begin_id        BLOB    NOT NULL UNIQUE,
    attempt         INTEGER NOT NULL,
    request         BLOB,             -- hash of what is sent
    begun_at        INTEGER NOT NULL,
    send_before     INTEGER NOT NULL,
    deadline        INTEGER NOT NULL,
    open            INTEGER NOT NULL CHECK (open IN (0, 1)),
    outcome         TEXT,
    reserved_micros INTEGER,
    PRIMARY KEY (effect, number)
) STRICT;

-- Calls that changed something, by the name that their caller gave them: a repeated one gets the first answer.
CREATE TABLE ops (
    op      BLOB    PRIMARY KEY,
    verb    TEXT    NOT NULL,
    request INTEGER NOT NULL,      -- a digest: the same op for another call is refused
    at      INTEGER NOT NULL,
    first   INTEGER,               -- accept: the numbers it gave, from here …
    count   INTEGER,               -- … so many
    answer  BLOB
) STRICT, WITHOUT ROWID;

-- What changed in each transaction; sums are folded later, no row is written twice.
CREATE TABLE counter_deltas (
    delta   INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    source  INTEGER,
    counter TEXT    NOT NULL,
    n       INTEGER NOT NULL
) STRICT;
