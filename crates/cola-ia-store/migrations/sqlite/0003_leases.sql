-- Leases. Until the release that has it, this file may still be edited.

ALTER TABLE jobs ADD COLUMN leases INTEGER NOT NULL DEFAULT 0; -- of this run: the number of its newest attempt

-- Attempts anew: each one is written twice, and SQLite makes a table of its own for every list of more than two words that
-- such a write is checked against.
CREATE TABLE attempts_of_leases (
    attempt     INTEGER PRIMARY KEY,
    event       INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    number      INTEGER NOT NULL, -- within the run, from 1
    lease       BLOB    NOT NULL UNIQUE,
    worker      TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    outcome     TEXT    CHECK (outcome = 'done' OR outcome = 'error' OR outcome = 'crashed' OR outcome = 'timed_out'
                               OR outcome = 'released' OR outcome = 'lease_lost'),
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
    stderr      BLOB,
    to_state    TEXT,             -- where it left its job, to be answered again …
    to_due      INTEGER           -- … and when that was due
) STRICT;
INSERT INTO attempts_of_leases
SELECT attempt, event, run, number, lease, worker, started_at, ended_at, outcome, exit_code, signal, error_class, error,
       cost_micros, tokens_in, tokens_out, model, late, stdout, stderr, NULL, NULL
FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_of_leases RENAME TO attempts;
CREATE INDEX attempts_event ON attempts (event, run, number);
CREATE INDEX attempts_failed ON attempts (attempt) WHERE outcome NOT IN ('done', 'released');

-- Sources whose jobs fail one after the other, or that are paused.
CREATE TABLE source_streaks (
    source    INTEGER PRIMARY KEY,
    class     TEXT,              -- NULL: the last one did not fail
    count     INTEGER NOT NULL,
    since     INTEGER,
    event     INTEGER,           -- the job that failed last
    paused_at INTEGER            -- no job of it is leased
) STRICT;
