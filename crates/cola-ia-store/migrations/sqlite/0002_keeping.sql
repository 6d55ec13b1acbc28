-- Looking and keeping. Until the release that has it, this file may still be edited.

-- identities: packed
--
-- Table `identities` keeps the youngest, a row each. Most lie in blocks: many identities a row, in the order of their slots,
-- each 16 bytes (slot, event; big-endian). A block holds the slots from its `low` on, up to the next block's. Recent blocks are
-- few and are written often; they are merged into the settled ones, which are many and are written seldom. A slot stands in
-- one of the three tables only.

CREATE TABLE identities_recent (low INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
CREATE TABLE identities_settled (low INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
-- The lowest block of each is always there, so every slot has a block.
INSERT INTO identities_recent VALUES (-9223372036854775808, x'');
INSERT INTO identities_settled VALUES (-9223372036854775808, x'');
CREATE TABLE identities_blocks (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    recent  INTEGER NOT NULL, -- blocks there
    settled INTEGER NOT NULL,
    settle  INTEGER NOT NULL  -- recent blocks are merged in turns: the next one starts at this slot
) STRICT;
INSERT INTO identities_blocks VALUES (1, 1, 1, -9223372036854775808);

-- deliveries: filters by source, lists of refused ones and of conflicts

ALTER TABLE deliveries ADD COLUMN source INTEGER; -- NULL for refused ones that named none
UPDATE deliveries SET source = (SELECT e.source FROM events e WHERE e.seq = deliveries.event) WHERE event IS NOT NULL;
-- Of what is rare, lists are read through an index; new and repeated deliveries are in none of these.
CREATE INDEX deliveries_refused ON deliveries (seq) WHERE code IS NOT NULL;
CREATE INDEX deliveries_conflict ON deliveries (seq) WHERE conflict IS NOT NULL;
CREATE INDEX conflicts_first ON conflicts (first_at, event, number);
CREATE INDEX conflicts_undecided ON conflicts (first_at, event, number) WHERE decision IS NULL;
CREATE INDEX attempts_failed ON attempts (attempt) WHERE outcome IN ('error', 'crashed', 'timed_out', 'lease_lost');

-- counters: folded deltas

-- A delta of `new`, `duplicate`, `conflict` or `invalid` counts deliveries; one of `job_STATE` moves jobs, and a new event's
-- pending job is part of its `new`. Numbers of deliveries: all that it counts lie between these two.
ALTER TABLE counter_deltas ADD COLUMN first INTEGER;
ALTER TABLE counter_deltas ADD COLUMN last  INTEGER;
ALTER TABLE counter_deltas ADD COLUMN late  BLOB; -- how late they came: pairs of LEB128 numbers, bucket (zigzag) and count

-- Deltas that were added up: of a minute, later of its hour, later of its day. Each folding moves them in one transaction. What
-- is asked for together lies together: a day is a thousand minutes of each source.
CREATE TABLE counters (
    span    INTEGER NOT NULL, -- seconds: 60, 3600, 86400
    start   INTEGER NOT NULL,
    source  INTEGER NOT NULL, -- 0: refused without a source
    counter TEXT    NOT NULL, -- new, duplicate, conflict, invalid
    n       INTEGER NOT NULL,
    PRIMARY KEY (span, start, source, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter_lateness (
    span   INTEGER NOT NULL,
    start  INTEGER NOT NULL,
    source INTEGER NOT NULL,
    late   BLOB    NOT NULL,
    PRIMARY KEY (span, start, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter_numbers (
    span  INTEGER NOT NULL,
    start INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (span, start)
) STRICT, WITHOUT ROWID;

-- How many jobs are in each state, but for what the deltas still say.
CREATE TABLE job_counts (
    source INTEGER NOT NULL,
    state  TEXT    NOT NULL,
    n      INTEGER NOT NULL,
    PRIMARY KEY (source, state)
) STRICT, WITHOUT ROWID;

-- What was counted before. Which numbers a minute has stands in `ops`; how late its deliveries came was not counted.
INSERT INTO counters (span, start, source, counter, n)
SELECT 60, at - ((at % 60000000) + 60000000) % 60000000, coalesce(source, 0), counter, sum(n)
FROM counter_deltas GROUP BY 2, 3, 4;
INSERT INTO counter_numbers (span, start, first, last)
SELECT 60, at - ((at % 60000000) + 60000000) % 60000000, min(first), max(first + count - 1)
FROM ops WHERE verb = 'accept' AND count > 0 GROUP BY 2;
DELETE FROM counter_deltas;
INSERT INTO job_counts (source, state, n) SELECT source, state, count(*) FROM jobs GROUP BY source, state;

-- decisions, pruning, erasure

-- Both stand behind `text` and are NULL but for rows that have none: reading them never reads a text.
ALTER TABLE events ADD COLUMN erased_at INTEGER; -- a person had it erased: `id` is a hash, `text` and `type` are NULL
ALTER TABLE events ADD COLUMN pruned_at INTEGER; -- `text` and history went; what happens to its job later is pruned again

-- Events that were erased, by what stands for their ids. Those that were erased in another store and imported have no slot that
-- their ids lead to: while there is one, whoever finds a free slot looks here too.
CREATE TABLE erased (
    elsewhere INTEGER NOT NULL, -- 1: in another store
    source    INTEGER NOT NULL,
    id        TEXT    NOT NULL, -- the hash
    event     INTEGER NOT NULL,
    PRIMARY KEY (elsewhere, source, id)
) STRICT, WITHOUT ROWID;

-- Of a conflict: it had been decided when it came, so it was no alarm.
ALTER TABLE deliveries ADD COLUMN decided INTEGER;

-- Each decision about a conflict; `conflicts` has the latest.
CREATE TABLE decisions (
    event      INTEGER NOT NULL,
    conflict   INTEGER NOT NULL, -- its number within the event
    number     INTEGER NOT NULL, -- within the conflict, from 1
    decision   TEXT    NOT NULL CHECK (decision IN ('keep', 'accept', 'as')),
    decided_at INTEGER NOT NULL,
    entered    INTEGER,          -- as: the event that the content became
    note       TEXT,
    PRIMARY KEY (event, conflict, number)
) STRICT;

-- Repeated deliveries that were pruned stay counted.
CREATE TABLE pruned_deliveries (
    event    INTEGER PRIMARY KEY,
    count    INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL
) STRICT;

-- backups and restores

ALTER TABLE store ADD COLUMN backed_up_at INTEGER; -- a backup, or restored from one: all that was answered before is in it
ALTER TABLE store ADD COLUMN inode INTEGER;        -- of the file, when it was last opened for intake: a copy has another
ALTER TABLE store ADD COLUMN copied_at INTEGER;    -- when it was first opened as a copy that somebody else had made
