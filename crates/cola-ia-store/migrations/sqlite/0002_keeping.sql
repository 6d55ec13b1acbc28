-- Looking and keeping. Until the release that has it, this file may still be edited.

-- identities: packed

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

-- backups and restores
