-- Looking and keeping. Until the release that has it, this file may still be edited.

-- identities: packed

-- deliveries: filters by source, lists of refused ones and of conflicts

ALTER TABLE deliveries ADD COLUMN source INTEGER; -- NULL for refused ones that named none
UPDATE deliveries SET source = (SELECT e.source FROM events e WHERE e.seq = deliveries.event) WHERE event IS NOT NULL;

-- counters: folded deltas

-- decisions, pruning, erasure

-- Both stand behind `text` and are NULL but for rows that have none: reading them never reads a text.
ALTER TABLE events ADD COLUMN erased_at INTEGER; -- a person had it erased: `id` is a hash, `text` and `type` are NULL
ALTER TABLE events ADD COLUMN pruned_at INTEGER; -- `text` and history went; what happens to its job later is pruned again

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
