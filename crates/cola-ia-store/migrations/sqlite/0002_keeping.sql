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

-- counters: folded deltas

-- decisions, pruning, erasure

-- backups and restores
