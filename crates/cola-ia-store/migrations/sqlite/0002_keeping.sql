-- Looking and keeping. Until the release that has it, this file may still be edited.

-- identities: packed

-- deliveries: filters by source, lists of refused ones and of conflicts

ALTER TABLE deliveries ADD COLUMN source INTEGER; -- NULL for refused ones that named none
UPDATE deliveries SET source = (SELECT e.source FROM events e WHERE e.seq = deliveries.event) WHERE event IS NOT NULL;

-- counters: folded deltas

-- decisions, pruning, erasure

-- backups and restores
