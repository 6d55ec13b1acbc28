//! Which event holds a slot.
//!
//! A batch of random ids meets slots all over the table, and a row each would have it write nearly every page of the table
//! again. So identities lie in blocks of some hundreds, and in three levels:
//!
//! 1. *young*: a row each, for events that come a few at a time;
//! 2. *recent*: few blocks; a large batch is merged into them, and so are the young when there are many;
//! 3. *settled*: many blocks; recent ones are merged into them a part at a time, so that no transaction does much at once.
//!
//! A slot stands in one level only. What is free is read and taken in one transaction under the store's only write lock, so
//! nobody comes between. Everything here is inside the caller's transaction.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row};

use super::row;
use super::rows::Rows;

/// Bytes of an entry in a block: its slot and its event, big-endian.
const ENTRY: usize = 16;

/// The sizes at which identities go from one level to the next. Tests take small ones.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// Most identities of a block.
    pub block: usize,
    /// From so many on, slots are looked up by reading a level through, and what enters goes to the recent blocks.
    pub large: usize,
    /// Most young ones, about.
    pub young: i64,
    /// The young are counted when one in so many enters.
    pub counted_every: i64,
    /// Recent blocks that may always be there.
    pub recent_min: i64,
    /// Recent blocks that there may be at all.
    pub recent_max: i64,
    /// Settled blocks that one transaction writes, about, to merge recent ones into them.
    pub settle: i64,
}

impl Packing {
    /// What stores use: a block fills a page of 8 KiB and never overflows it.
    pub const USUAL: Self = Self {
        block: 500,
        large: 4_096,
        young: 32_768,
        counted_every: 4_096,
        recent_min: 64,
        recent_max: 2_048,
        settle: 4_096,
    };
    /// A few identities fill every level.
    pub const TINY: Self =
        Self { block: 3, large: 4, young: 5, counted_every: 2, recent_min: 2, recent_max: 6, settle: 4 };
}

/// Recent blocks that are merged further at once.
const SETTLE_BLOCKS: usize = 16;

/// An identity's slot and its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) slot: i64,
    pub(super) event: i64,
}

/// The event that holds a slot; `None`: it is free.
pub(super) fn holder(connection: &Connection, slot: i64) -> rusqlite::Result<Option<i64>> {
    let young = connection
        .prepare_cached("SELECT event FROM identities WHERE slot = ?1")?
        .query_row([slot], |row| row.get(0))
        .optional()?;
    if young.is_some() {
        return Ok(young);
    }
    for level in [Level::Recent, Level::Settled] {
        let held = connection
            .prepare_cached(level.block_of())?
            .query_row([slot], |row| Block::read(row).map(|block| block.find(slot)))?;
        if held.is_some() {
            return Ok(held);
        }
    }
    Ok(None)
}

/// The event that holds each slot, `None` where one is free. The slots rise; equal ones may stand side by side.
pub(super) fn holders(connection: &Connection, packing: Packing, slots: &[i64]) -> rusqlite::Result<Vec<Option<i64>>> {
    debug_assert!(slots.is_sorted(), "slots rise");
    if slots.len() < packing.large {
        return slots.iter().map(|slot| holder(connection, *slot)).collect();
    }
    let mut held = vec![None; slots.len()];
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return Ok(held) };
    let mut young =
        connection.prepare_cached("SELECT slot, event FROM identities WHERE slot BETWEEN ?1 AND ?2 ORDER BY slot")?;
    let mut rows = young.query((first, last))?;
    let mut next = 0;
    while let Some(row) = rows.next()? {
        let entry = Identity { slot: row.get(0)?, event: row.get(1)? };
        next += slots[next..].partition_point(|slot| *slot < entry.slot);
        for (_, held) in slots[next..].iter().zip(&mut held[next..]).take_while(|(slot, _)| **slot == entry.slot) {
            *held = Some(entry.event);
        }
    }
    for level in [Level::Recent, Level::Settled] {
        let mut blocks = connection.prepare_cached(level.blocks_of())?;
        let mut rows = blocks.query((first, last))?;
        let mut next = 0;
        while let Some(row) = rows.next()? {
            let block = Block::read(row)?;
            let Some(highest) = block.len().checked_sub(1).map(|last| block.entry(last).slot) else { continue };
            next += slots[next..].partition_point(|slot| *slot < block.low);
            let mut place = 0;
            while next < slots.len() && slots[next] <= highest {
                place = block.place(slots[next], place);
                let entry = block.entry(place);
                if entry.slot == slots[next] {
                    held[next] = Some(entry.event);
                }
                next += 1;
            }
        }
    }
    Ok(held)
}

/// Gives slots, all free, to their events. The slots rise and differ.
pub(super) fn take(connection: &Connection, packing: Packing, entries: &[Identity]) -> rusqlite::Result<()> {
    debug_assert!(entries.is_sorted_by(|a, b| a.slot < b.slot), "slots rise and differ");
    if entries.is_empty() {
        return Ok(());
    }
    if entries.len() < packing.large {
        let mut insert = Rows::new(connection, "INSERT OR FAIL INTO identities (slot, event) VALUES ", "(?, ?)", "");
        insert.execute(entries, |row, entry| {
            row.bind(entry.slot)?;
            row.bind(entry.event)
        })?;
        // Slots are random, so this is a draw that no pattern of deliveries can avoid.
        if entries.iter().all(|entry| entry.slot % packing.counted_every != 0) {
            return Ok(());
        }
        let young: i64 =
            connection.prepare_cached("SELECT count(*) FROM identities")?.query_row([], |row| row.get(0))?;
        if young <= packing.young {
            return Ok(());
        }
        return Packed::read(connection, packing)?.write(|packed| {
            packed.pack_young()?;
            packed.settle()
        });
    }
    Packed::read(connection, packing)?.write(|packed| {
        packed.pack_young()?;
        packed.recent += Merge::new(connection, packing, Level::Recent)?.merge(entries)?.made;
        packed.settle()
    })
}

/// The levels that have blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Recent,
    Settled,
}

macro_rules! for_level {
    ($level:expr, $before:literal, $after:literal) => {
        match $level {
            Level::Recent => concat!($before, "identities_recent", $after),
            Level::Settled => concat!($before, "identities_settled", $after),
        }
    };
}

impl Level {
    /// The block that holds a slot if any does.
    fn block_of(self) -> &'static str {
        for_level!(self, "SELECT low, entries FROM ", " WHERE low <= ?1 ORDER BY low DESC LIMIT 1")
    }

    /// The blocks that hold slots from ?1 to ?2.
    fn blocks_of(self) -> &'static str {
        match self {
            Self::Recent => {
                "SELECT low, entries FROM identities_recent
                 WHERE low >= (SELECT max(low) FROM identities_recent WHERE low <= ?1) AND low <= ?2 ORDER BY low"
            }
            Self::Settled => {
                "SELECT low, entries FROM identities_settled
                 WHERE low >= (SELECT max(low) FROM identities_settled WHERE low <= ?1) AND low <= ?2 ORDER BY low"
            }
        }
    }
}

/// A block in the hands of SQLite.
struct Block<'a> {
    low: i64,
    entries: &'a [[u8; ENTRY]],
}

impl<'a> Block<'a> {
    /// From `low, entries`.
    fn read(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        let bytes = row.get_ref(1)?.as_blob()?;
        let (entries, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(row::unexpected("block of identities", &format!("{} bytes", bytes.len())));
        }
        Ok(Self { low: row.get(0)?, entries })
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn entry(&self, place: usize) -> Identity {
        decode(&self.entries[place])
    }

    /// Where a slot is or would be, looking from `from` on.
    fn place(&self, slot: i64, from: usize) -> usize {
        from + self.entries[from..].partition_point(|entry| decode(entry).slot < slot)
    }

    fn find(&self, slot: i64) -> Option<i64> {
        let place = self.place(slot, 0);
        (place < self.len()).then(|| self.entry(place)).filter(|entry| entry.slot == slot).map(|entry| entry.event)
    }
}

fn decode(bytes: &[u8; ENTRY]) -> Identity {
    let word = |from: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[from..from + 8]);
        i64::from_be_bytes(word)
    };
    Identity { slot: word(0), event: word(8) }
}

fn encode(entry: Identity) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[..8].copy_from_slice(&entry.slot.to_be_bytes());
    bytes[8..].copy_from_slice(&entry.event.to_be_bytes());
    bytes
}

/// Blocks of a level that a [`Piece`] reaches over.
const PIECE_BLOCKS: i64 = 20;
/// Young ones in a [`Piece`].
const PIECE_YOUNG: i64 = 10_000;

/// All identities of a range of slots, for whoever checks them. A slot stays for good and stands in one level at any
/// moment, so pieces that are read one after the other show each once, whatever is merged between them.
pub(super) struct Piece {
    /// In the order of their slots. A slot that is there twice is damage.
    pub(super) identities: Vec<Identity>,
    /// Blocks that are not as they should be: of which table, from which slot on.
    pub(super) broken: Vec<(&'static str, i64)>,
    /// Where the next piece begins. `None`: this was the last.
    pub(super) next: Option<i64>,
}

/// Reads the piece that begins at a slot, inside the caller's transaction. `packed`: the store has blocks, which one of
/// schema 1 has not.
pub(super) fn piece(connection: &Connection, packed: bool, from: i64) -> rusqlite::Result<Piece> {
    let levels: &[Level] = if packed { &[Level::Recent, Level::Settled] } else { &[] };
    let bound = |sql: &str, after: i64| -> rusqlite::Result<Option<i64>> {
        connection.prepare_cached(sql)?.query_row((from, after), |row| row.get(0)).optional()
    };
    let mut next = bound("SELECT slot FROM identities WHERE slot >= ?1 ORDER BY slot LIMIT 1 OFFSET ?2", PIECE_YOUNG)?;
    for level in levels {
        let sql = for_level!(level, "SELECT low FROM ", " WHERE low > ?1 ORDER BY low LIMIT 1 OFFSET ?2");
        next = bound(sql, PIECE_BLOCKS - 1)?.into_iter().chain(next).min();
    }
    let last = next.map_or(i64::MAX, |next| next - 1);

    let mut piece = Piece { identities: Vec::new(), broken: Vec::new(), next };
    let mut young =
        connection.prepare_cached("SELECT slot, event FROM identities WHERE slot BETWEEN ?1 AND ?2 ORDER BY slot")?;
    let mut rows = young.query((from, last))?;
    while let Some(row) = rows.next()? {
        piece.identities.push(Identity { slot: row.get(0)?, event: row.get(1)? });
    }
    for level in levels {
        piece.add_blocks(connection, *level, from, last)?;
    }
    piece.identities.sort_unstable();
    Ok(piece)
}

impl Piece {
    fn add_blocks(&mut self, connection: &Connection, level: Level, from: i64, last: i64) -> rusqlite::Result<()> {
        let table = for_level!(level, "", "");
        let following: Option<i64> = connection
            .prepare_cached(for_level!(level, "SELECT low FROM ", " WHERE low > ?1 ORDER BY low LIMIT 1"))?
            .query_row([last], |row| row.get(0))
            .optional()?;
        // From the last on, so that each is seen after the one that it ends at.
        let mut blocks = connection.prepare_cached(for_level!(
            level,
            "SELECT low, entries FROM ",
            " WHERE low <= ?2 AND low >= ?1 ORDER BY low DESC"
        ))?;
        let first: Option<i64> = connection
            .prepare_cached(for_level!(level, "SELECT low FROM ", " WHERE low <= ?1 ORDER BY low DESC LIMIT 1"))?
            .query_row([from], |row| row.get(0))
            .optional()?;
        if first.is_none() {
            // There is a block for every slot.
            self.broken.push((table, i64::MIN));
        }
        let mut rows = blocks.query((first.unwrap_or(from), last))?;
        let mut end = following;
        while let Some(row) = rows.next()? {
            let (low, bytes): (i64, &[u8]) = (row.get(0)?, row.get_ref(1)?.as_blob()?);
            let (entries, rest) = bytes.as_chunks::<ENTRY>();
            let slots = || entries.iter().map(|entry| decode(entry).slot);
            let is_sound = rest.is_empty()
                && slots().is_sorted_by(|a, b| a < b)
                && slots().next().is_none_or(|slot| slot >= low)
                && slots().next_back().is_none_or(|slot| end.is_none_or(|end| slot < end));
            // A block that began before was told with its own piece.
            if !is_sound && low >= from {
                self.broken.push((table, low));
            }
            let inside = |entry: &Identity| (from..=last).contains(&entry.slot);
            self.identities.extend(entries.iter().map(decode).filter(inside));
            end = Some(low);
        }
        Ok(())
    }
}

/// Whether the store knows how many blocks it has.
pub(super) fn blocks_are_counted(connection: &Connection) -> rusqlite::Result<bool> {
    let counted = "SELECT recent = (SELECT count(*) FROM identities_recent)
                      AND settled = (SELECT count(*) FROM identities_settled) FROM identities_blocks";
    connection.query_row(counted, [], |row| row.get(0)).optional().map(|counted| counted == Some(true))
}

/// How many blocks there are, and whose turn it is to be merged.
struct Packed<'c> {
    connection: &'c Connection,
    packing: Packing,
    recent: i64,
    settled: i64,
    settle: i64,
}

impl<'c> Packed<'c> {
    fn read(connection: &'c Connection, packing: Packing) -> rusqlite::Result<Self> {
        connection.prepare_cached("SELECT recent, settled, settle FROM identities_blocks")?.query_row([], |row| {
            Ok(Self { connection, packing, recent: row.get(0)?, settled: row.get(1)?, settle: row.get(2)? })
        })
    }

    fn write(mut self, change: impl FnOnce(&mut Self) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        change(&mut self)?;
        self.connection
            .prepare_cached("UPDATE identities_blocks SET recent = ?1, settled = ?2, settle = ?3")?
            .execute((self.recent, self.settled, self.settle))?;
        Ok(())
    }

    /// Merges all young ones into the recent blocks.
    fn pack_young(&mut self) -> rusqlite::Result<()> {
        let mut merge = None;
        loop {
            let young: Vec<Identity> = self
                .connection
                .prepare_cached("SELECT slot, event FROM identities ORDER BY slot LIMIT 65536")?
                .query_map([], |row| Ok(Identity { slot: row.get(0)?, event: row.get(1)? }))?
                .collect::<rusqlite::Result<_>>()?;
            let Some(last) = young.last() else { return Ok(()) };
            let merge = match &mut merge {
                Some(merge) => merge,
                none => none.insert(Merge::new(self.connection, self.packing, Level::Recent)?),
            };
            self.recent += merge.merge(&young)?.made;
            self.connection.prepare_cached("DELETE FROM identities WHERE slot <= ?1")?.execute([last.slot])?;
        }
    }

    /// More recent blocks make each batch write more; fewer make the settled ones be written more often. The sum is least
    /// where the number of recent blocks grows with the root of the settled ones.
    fn too_many_recent(&self) -> bool {
        self.recent > self.packing.recent_min
            && (self.recent > self.packing.recent_max || self.recent * self.recent > 160 * self.settled)
    }

    /// Merges recent blocks into settled ones, in turns and within bounds.
    fn settle(&mut self) -> rusqlite::Result<()> {
        if !self.too_many_recent() {
            return Ok(());
        }
        let mut next = self.connection.prepare_cached(
            "SELECT low, entries FROM identities_recent WHERE low >= ?1 AND length(entries) > 0 ORDER BY low LIMIT ?2",
        )?;
        let mut merge = Merge::new(self.connection, self.packing, Level::Settled)?;
        let mut writes = 0;
        let mut entries = Vec::with_capacity(SETTLE_BLOCKS * self.packing.block);
        while self.too_many_recent() && writes < self.packing.settle {
            entries.clear();
            let mut rows = next.query((self.settle, SETTLE_BLOCKS as i64))?;
            let mut lows: Option<(i64, i64)> = None;
            let mut blocks = 0;
            while let Some(row) = rows.next()? {
                let block = Block::read(row)?;
                entries.extend(block.entries.iter().map(decode));
                lows = Some((lows.map_or(block.low, |(from, _)| from), block.low));
                blocks += 1;
            }
            drop(rows);
            let Some((from, to)) = lows else {
                if self.settle == i64::MIN {
                    return Ok(());
                }
                self.settle = i64::MIN;
                continue;
            };
            let merged = merge.merge(&entries)?;
            writes += merged.written;
            self.settled += merged.made;
            self.settle = to.saturating_add(1);
            self.connection
                .prepare_cached("DELETE FROM identities_recent WHERE low BETWEEN ?1 AND ?2 AND low > ?3")?
                .execute((from, to, i64::MIN))?;
            if from == i64::MIN {
                // The lowest block stays, empty.
                self.connection
                    .prepare_cached("UPDATE identities_recent SET entries = x'' WHERE low = ?1")?
                    .execute([i64::MIN])?;
                blocks -= 1;
            }
            self.recent -= blocks;
        }
        Ok(())
    }
}

/// What merging did, in blocks.
#[derive(Debug, Default)]
struct Merged {
    written: i64,
    made: i64,
}

/// Merges entries into the blocks of a level.
struct Merge<'c> {
    block: usize,
    seek: CachedStatement<'c>,
    next: CachedStatement<'c>,
    update: CachedStatement<'c>,
    insert: CachedStatement<'c>,
}

impl<'c> Merge<'c> {
    fn new(connection: &'c Connection, packing: Packing, level: Level) -> rusqlite::Result<Self> {
        Ok(Self {
            block: packing.block,
            seek: connection.prepare_cached(level.block_of())?,
            next: connection.prepare_cached(for_level!(
                level,
                "SELECT low, entries FROM ",
                " WHERE low > ?1 ORDER BY low LIMIT 1"
            ))?,
            update: connection.prepare_cached(for_level!(level, "UPDATE ", " SET entries = ?2 WHERE low = ?1"))?,
            insert: connection.prepare_cached(for_level!(level, "INSERT INTO ", " (low, entries) VALUES (?1, ?2)"))?,
        })
    }

    /// The slots rise and differ, and are in no block of the level.
    fn merge(&mut self, entries: &[Identity]) -> rusqlite::Result<Merged> {
        let owned = |row: &Row<'_>| Block::read(row).map(|block| (block.low, block.entries.to_vec()));
        let mut merged = Merged::default();
        let mut rest = entries;
        let mut ahead: Option<(i64, Vec<[u8; ENTRY]>)> = None;
        while let Some(first) = rest.first() {
            // Blocks that follow each other are the rule in a large batch: each is read once.
            let following = match ahead.take() {
                Some((low, old)) => Some((self.next.query_row([low], owned).optional()?, low, old)),
                None => None,
            };
            let (next, low, old) = match following {
                Some((next, low, old)) if next.as_ref().is_none_or(|(next, _)| first.slot < *next) => (next, low, old),
                _ => {
                    let (low, old) = self.seek.query_row([first.slot], owned)?;
                    (self.next.query_row([low], owned).optional()?, low, old)
                }
            };
            let until = next.as_ref().map_or(rest.len(), |(next, _)| rest.partition_point(|entry| entry.slot < *next));
            let (now, later) = rest.split_at(until);
            let block = interleave(&old, now)?;
            let pieces = block.len().div_ceil(self.block);
            let size = block.len().div_ceil(pieces);
            for (number, piece) in block.chunks(size).enumerate() {
                let bytes = piece.as_flattened();
                if number == 0 {
                    self.update.execute((low, bytes))?;
                } else {
                    self.insert.execute((decode(&piece[0]).slot, bytes))?;
                    merged.made += 1;
                }
                merged.written += 1;
            }
            rest = later;
            ahead = next;
        }
        Ok(merged)
    }
}

/// Both in the order of their slots. A slot in both is damage: it would have two events.
fn interleave(old: &[[u8; ENTRY]], new: &[Identity]) -> rusqlite::Result<Vec<[u8; ENTRY]>> {
    let mut both = Vec::with_capacity(old.len() + new.len());
    let mut rest = old;
    for entry in new {
        let encoded = encode(*entry);
        let (before, after) = rest.split_at(rest.partition_point(|old| decode(old).slot < entry.slot));
        if after.first().is_some_and(|old| old[..8] == encoded[..8]) {
            return Err(row::unexpected("slot", "taken twice"));
        }
        both.extend_from_slice(before);
        both.push(encoded);
        rest = after;
    }
    both.extend_from_slice(rest);
    Ok(both)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::migrate::{MIGRATIONS, apply};
    use super::*;

    fn empty() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for step in MIGRATIONS {
            apply(&connection, step).unwrap();
        }
        connection
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ (mixed >> 31)
        }
    }

    /// Every level of the store, as one map; fails where a slot stands twice or a block holds what is not its own.
    fn all(connection: &Connection) -> BTreeMap<i64, i64> {
        let mut all = BTreeMap::new();
        let mut young = connection.prepare("SELECT slot, event FROM identities").unwrap();
        for row in young.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap() {
            let (slot, event) = row.unwrap();
            assert!(all.insert(slot, event).is_none(), "{slot} twice");
        }
        let mut counts = Vec::new();
        for table in ["identities_recent", "identities_settled"] {
            let mut blocks =
                connection.prepare(&format!("SELECT low, entries FROM {table} ORDER BY low DESC")).unwrap();
            let mut rows = blocks.query([]).unwrap();
            let (mut below, mut count) = (None, 0);
            while let Some(row) = rows.next().unwrap() {
                let block = Block::read(row).unwrap();
                for entry in block.entries.iter().map(decode) {
                    assert!(
                        entry.slot >= block.low && below.is_none_or(|below| entry.slot < below),
                        "{entry:?} of {table}"
                    );
                    assert!(all.insert(entry.slot, entry.event).is_none(), "{} twice", entry.slot);
                }
                (below, count) = (Some(block.low), count + 1);
            }
            assert_eq!(below, Some(i64::MIN), "the lowest block of {table}");
            counts.push(count);
        }
        let counted: (i64, i64) = connection
            .query_row("SELECT recent, settled FROM identities_blocks", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!((counted.0, counted.1), (counts[0], counts[1]), "blocks as counted");
        all
    }

    fn grow(packing: Packing, mask: u64, seed: u64, batches: usize, batch_max: u64) -> Connection {
        eprintln!("seed {seed}");
        let connection = empty();
        let mut random = Random(seed);
        let mut model = BTreeMap::new();
        let mut event = 0;
        for _ in 0..batches {
            let wanted = 1 + random.next() % batch_max;
            let mut slots: Vec<i64> = (0..wanted).map(|_| (random.next() & mask) as i64).collect();
            slots.extend(model.keys().filter(|_| random.next().is_multiple_of(97)).copied().collect::<Vec<_>>());
            slots.sort_unstable();
            let held = holders(&connection, packing, &slots).unwrap();
            let expected: Vec<Option<i64>> = slots.iter().map(|slot| model.get(slot).copied()).collect();
            assert!(held == expected, "seed {seed}");
            assert_eq!(holder(&connection, slots[0]).unwrap(), expected[0]);
            slots.dedup();
            let entries: Vec<Identity> = slots
                .into_iter()
                .filter(|slot| !model.contains_key(slot))
                .map(|slot| {
                    event += 1;
                    Identity { slot, event }
                })
                .collect();
            take(&connection, packing, &entries).unwrap();
            model.extend(entries.iter().map(|entry| (entry.slot, entry.event)));
        }
        assert!(all(&connection) == model, "seed {seed}");
        connection
    }

    fn rows(connection: &Connection, table: &str) -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_is_taken_is_found_at_every_size() {
        for seed in 0..150 {
            grow(Packing::TINY, u64::MAX, seed, 40, 1 + seed % 17);
            grow(Packing::TINY, 0xff, seed, 40, 1 + seed % 17);
        }
    }

    #[test]
    fn every_level_is_used() {
        let connection = grow(Packing::TINY, u64::MAX, 7, 100, 9);
        for table in ["identities", "identities_recent", "identities_settled"] {
            assert!(rows(&connection, table) > 1, "{table}");
        }
        let connection = grow(Packing::USUAL, u64::MAX, 7, 12, 40_000);
        assert!(rows(&connection, "identities_settled") > 100);
        assert!(rows(&connection, "identities_recent") < 600, "{}", rows(&connection, "identities_recent"));
    }

    /// Events that come one at a time stay few as rows.
    #[test]
    fn the_young_are_packed_when_they_are_many() {
        let packing = Packing { young: 100, counted_every: 10, ..Packing::TINY };
        let connection = grow(packing, u64::MAX, 3, 1_000, 1);
        assert!(rows(&connection, "identities") <= 160, "{}", rows(&connection, "identities"));
        assert!(rows(&connection, "identities_settled") > 10);
    }

    #[test]
    fn a_slot_that_is_taken_twice_is_damage() {
        let connection = empty();
        let entries: Vec<Identity> = (0..5).map(|slot| Identity { slot, event: slot + 1 }).collect();
        take(&connection, Packing::TINY, &entries).unwrap();
        assert!(take(&connection, Packing::TINY, &entries).is_err());
    }

    #[test]
    fn a_block_that_was_cut_is_damage() {
        let connection = empty();
        connection.execute("UPDATE identities_settled SET entries = x'00'", []).unwrap();
        assert!(holder(&connection, 5).is_err());
        assert!(holders(&connection, Packing::TINY, &[1, 2, 3, 4, 5]).is_err());
    }
}
