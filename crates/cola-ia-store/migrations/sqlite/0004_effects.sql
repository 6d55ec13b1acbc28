-- The effect ledger and money. Until the release that has it, this file may still be edited.

ALTER TABLE store ADD COLUMN currency TEXT; -- of all amounts, three letters; NULL: nobody has said it yet

-- One named external action of a job's run. Anew: each one is written twice, and SQLite makes a table of its own for every
-- list of more than two words that such a write is checked against.
CREATE TABLE effects_of_ledger (
    effect      INTEGER PRIMARY KEY,
    event       INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    key         TEXT    NOT NULL UNIQUE, -- sent to the destination, the same for ever
    state       TEXT    NOT NULL CHECK (state = 'intended' OR state = 'done' OR state = 'failed' OR state = 'unknown'
                                        OR state = 'held' OR state = 'abandoned'),
    reason      TEXT,             -- while unknown or held
    key_ttl     INTEGER,          -- the policy, fixed at the first begin; durations in microseconds
    lookup      INTEGER NOT NULL CHECK (lookup = 0 OR lookup = 1),
    settle      INTEGER NOT NULL,
    otherwise   TEXT    NOT NULL CHECK (otherwise = 'hold' OR otherwise = 'retry'),
    retry_below INTEGER,
    begun_at    INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    look_first  INTEGER NOT NULL DEFAULT 0, -- the next try takes a look first
    alarm       TEXT,
    note        TEXT,             -- what a sender or a person said last
    replays     INTEGER NOT NULL DEFAULT 0, -- how often its result was given to a later attempt …
    replayed_to BLOB,             -- … and the lease of the last one: an attempt that asks again is not counted again
    UNIQUE (event, run, name)
) STRICT;
INSERT INTO effects_of_ledger
SELECT effect, event, run, name, key, state, reason, key_ttl, lookup, settle, otherwise, retry_below, begun_at, changed_at,
       0, NULL, NULL, 0, NULL
FROM effects;

-- What an effect made: one thing, or more where something went wrong.
CREATE TABLE effect_records (
    effect         INTEGER NOT NULL,
    number         INTEGER NOT NULL, -- within the effect, from 1
    try            INTEGER,          -- that it was told of; NULL: of none in particular
    at             INTEGER NOT NULL,
    witness        TEXT    NOT NULL,
    resource_id    TEXT,
    result         TEXT,             -- JSON
    cost_micros    INTEGER,          -- as it was told
    tokens_in      INTEGER,
    tokens_out     INTEGER,
    model          TEXT,
    charged_micros INTEGER NOT NULL, -- what was counted as spent …
    day            INTEGER NOT NULL, -- … in this day of UTC, from 1970-01-01
    PRIMARY KEY (effect, number)
) STRICT;
INSERT INTO effect_records
SELECT effect, 1, NULL, changed_at, 'sender', resource_id, result, cost_micros, NULL, NULL, NULL, coalesce(cost_micros, 0),
       changed_at / 86400000000
FROM effects WHERE state = 'done';
DROP TABLE effects;
ALTER TABLE effects_of_ledger RENAME TO effects;
CREATE INDEX effects_unsettled ON effects (state, effect) WHERE state NOT IN ('done', 'failed');
CREATE INDEX effects_alarm ON effects (effect) WHERE alarm IS NOT NULL;
CREATE INDEX effect_records_resource ON effect_records (resource_id) WHERE resource_id IS NOT NULL;

-- One permission to send.
CREATE TABLE effect_tries_of_ledger (
    effect          INTEGER NOT NULL,
    number          INTEGER NOT NULL, -- within the effect, from 1
    begin_id        BLOB,             -- the call that made it; NULL: what a restored store does not know
    attempt         INTEGER,          -- under which it was made
    request         BLOB,             -- hash of what is sent
    begun_at        INTEGER NOT NULL,
    send_before     INTEGER NOT NULL,
    deadline        INTEGER NOT NULL,
    key_until       INTEGER,          -- under key: the destination knows the key until then
    outcome         TEXT,             -- NULL: open
    expected_micros INTEGER,          -- the most that it may cost, as was said
    reserved_micros INTEGER,          -- what it holds now …
    reserved_day    INTEGER,          -- … of this day's budget
    PRIMARY KEY (effect, number)
) STRICT;
INSERT INTO effect_tries_of_ledger
SELECT effect, number, begin_id, attempt, request, begun_at, send_before, deadline, NULL,
       CASE WHEN open = 0 THEN coalesce(outcome, 'done') END, reserved_micros,
       CASE WHEN open = 1 THEN reserved_micros END,
       CASE WHEN open = 1 AND reserved_micros IS NOT NULL THEN begun_at / 86400000000 END
FROM effect_tries;
DROP TABLE effect_tries;
ALTER TABLE effect_tries_of_ledger RENAME TO effect_tries;

-- The most that may be spent on a source's jobs in a day of UTC.
CREATE TABLE budgets (
    source       INTEGER PRIMARY KEY,
    limit_micros INTEGER NOT NULL
) STRICT;

-- Money by day of UTC, source and model, summed as it is told: views and budgets read sums, never all attempts.
CREATE TABLE money (
    day          INTEGER NOT NULL,
    source       INTEGER NOT NULL,
    model        TEXT    NOT NULL, -- '' where none was told
    costs        INTEGER NOT NULL DEFAULT 0, -- how many were counted
    spent        INTEGER NOT NULL DEFAULT 0,
    reserved     INTEGER NOT NULL DEFAULT 0,
    tokens_in    INTEGER NOT NULL DEFAULT 0,
    tokens_out   INTEGER NOT NULL DEFAULT 0,
    replays      INTEGER NOT NULL DEFAULT 0,
    replayed     INTEGER NOT NULL DEFAULT 0, -- what the results that were used again had cost
    PRIMARY KEY (day, source, model)
) STRICT, WITHOUT ROWID;
-- What attempts cost before.
INSERT INTO money (day, source, model, costs, spent, tokens_in, tokens_out)
SELECT a.ended_at / 86400000000, j.source, coalesce(a.model, ''), count(*), sum(a.cost_micros),
       sum(max(coalesce(a.tokens_in, 0), 0)), sum(max(coalesce(a.tokens_out, 0), 0))
FROM attempts a JOIN jobs j ON j.event = a.event
WHERE a.ended_at IS NOT NULL AND a.cost_micros >= 0 AND a.cost_micros <= 1000000000000000
GROUP BY 1, 2, 3;
