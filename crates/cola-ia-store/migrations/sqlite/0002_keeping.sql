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

-- decisions, pruning, erasure

-- Both stand behind `text` and are NULL but for rows that have none: reading them never reads a text.
ALTER TABLE events ADD COLUMN erased_at INTEGER; -- a person had it erased: `id` is a hash, `text` and `type` are NULL
ALTER TABLE events ADD COLUMN pruned_at INTEGER; -- `text` and history went; what happens to its job later is pruned again

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
