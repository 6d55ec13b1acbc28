//! Whether each event has its identity, once, and each identity its event.
//!
//! Identities are read by their slots and events by their numbers, so one side has to be remembered: the slots of a window
//! of numbers at a time. For each window the identities are read again from end to end, which is 16 bytes each.

use std::ops::Range;

use rusqlite::Connection;

use super::Examination;
use crate::sqlite::reader::Sight;
use crate::sqlite::{check, identities, preview, slots_of};

/// Numbers whose slots are remembered at once: 36 MB.
const WINDOW: i64 = 1 << 22;

/// How many, and which was the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) many: u64,
    pub(super) first: Option<i64>,
}

impl Count {
    pub(super) fn add(&mut self, one: i64) {
        self.many += 1;
        self.first = self.first.or(Some(one));
    }
}

/// What is known of a number in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// No identity leads to it.
    Nothing,
    /// An identity leads to it.
    Identity,
    /// And there is such an event.
    Both,
}

/// What the identities are compared with the events by.
pub(super) struct Identities<'a> {
    examination: &'a Examination<'a>,
    packed: bool,
    can_erase: bool,
    /// Events that came later are not looked at: of them either side may have been read before.
    newest: i64,
    window: i64,
    from: i64,
    /// Numbers between the window before and this one: no event has one.
    gap: Range<i64>,
    slots: Vec<i64>,
    seen: Vec<Seen>,
    is_first: bool,
    /// Events that their id does not lead to.
    pub(super) without: Count,
    /// Identities that lead to an event that is not there.
    pub(super) of_nothing: Count,
    /// Events with more than one identity.
    pub(super) twice: Count,
    /// Slots in more than one place.
    pub(super) slot_twice: Count,
    /// Blocks that are not as they should be, by table.
    pub(super) broken: [(&'static str, Count); 2],
}

impl<'a> Identities<'a> {
    pub(super) fn new(examination: &'a Examination<'a>) -> rusqlite::Result<Self> {
        Self::with_window(examination, WINDOW)
    }

    fn with_window(examination: &'a Examination<'a>, window: i64) -> rusqlite::Result<Self> {
        let connection = &examination.connection;
        let end = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let newest = end("SELECT max(seq) FROM events")?.unwrap_or(0);
        let oldest = end("SELECT min(seq) FROM events")?.unwrap_or(1);
        Ok(Self {
            examination,
            packed: examination.version >= 2,
            can_erase: check::has_column(connection, "events", "erased_at")?,
            newest,
            window,
            from: oldest,
            gap: 0..0,
            slots: Vec::new(),
            seen: Vec::new(),
            is_first: true,
            without: Count::default(),
            of_nothing: Count::default(),
            twice: Count::default(),
            slot_twice: Count::default(),
            broken: [("identities_recent", Count::default()), ("identities_settled", Count::default())],
        })
    }

    /// Looks at the events of a piece, which follows the piece before. `false`: nobody wants to know any more.
    pub(super) fn look(&mut self, mut after: i64, last: i64) -> rusqlite::Result<bool> {
        let last = last.min(self.newest);
        while after < last {
            if self.is_first && !self.read_window()? {
                return Ok(false);
            }
            let until = last.min(self.last());
            if after < until {
                self.compare(after, until)?;
                after = until;
            }
            if after < last && !self.go_on(after)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// After the last piece: what of the identities was not met.
    pub(super) fn finish(&mut self) -> rusqlite::Result<bool> {
        if self.is_first && !self.read_window()? {
            return Ok(false);
        }
        self.close_window();
        Ok(true)
    }

    /// The last number of the window.
    fn last(&self) -> i64 {
        self.from.saturating_add(self.slots.len() as i64 - 1)
    }

    /// To the window of the next event after a number.
    fn go_on(&mut self, after: i64) -> rusqlite::Result<bool> {
        self.close_window();
        let next =
            self.examination
                .connection
                .query_row("SELECT min(seq) FROM events WHERE seq > ?1", [after], |row| row.get::<_, Option<i64>>(0))?;
        let next = next.unwrap_or(self.newest);
        self.gap = self.from..next;
        self.from = next;
        self.read_window()
    }

    fn close_window(&mut self) {
        for place in (0..self.seen.len()).filter(|place| self.seen[*place] == Seen::Identity) {
            self.of_nothing.add(self.from + place as i64);
        }
        self.from = self.last().saturating_add(1);
        self.seen.clear();
        self.slots.clear();
    }

    /// Remembers the slots of the window. The first time everything else is looked at too.
    fn read_window(&mut self) -> rusqlite::Result<bool> {
        let numbers = self.newest.saturating_sub(self.from).saturating_add(1).clamp(1, self.window) as usize;
        self.slots.resize(numbers, 0);
        self.seen.resize(numbers, Seen::Nothing);
        let is_first = std::mem::take(&mut self.is_first);
        let oldest = self.from;
        let mut next = Some(i64::MIN);
        while let Some(from) = next {
            if self.examination.options.patience.is_over() {
                return Ok(false);
            }
            let transaction = self.examination.connection.unchecked_transaction()?;
            let piece = identities::piece(&transaction, self.packed, from)?;
            for identity in &piece.identities {
                let place = identity.event.checked_sub(self.from).and_then(|place| usize::try_from(place).ok());
                let place = place.filter(|place| *place < numbers && identity.event <= self.newest);
                if let Some(place) = place {
                    if self.seen[place] == Seen::Identity {
                        self.twice.add(identity.event);
                    }
                    (self.seen[place], self.slots[place]) = (Seen::Identity, identity.slot);
                } else if self.gap.contains(&identity.event)
                    || is_first
                        && !(oldest..=self.newest).contains(&identity.event)
                        && !exists(&transaction, identity.event)?
                {
                    self.of_nothing.add(identity.event);
                }
            }
            if is_first {
                for pair in piece.identities.windows(2).filter(|pair| pair[0].slot == pair[1].slot) {
                    self.slot_twice.add(pair[0].slot);
                }
                for (table, low) in piece.broken {
                    let of_table = self.broken.iter_mut().find(|(known, _)| *known == table);
                    of_table.expect("both tables are listed").1.add(low);
                }
            }
            next = piece.next;
        }
        Ok(true)
    }

    /// Compares events of the window with what it remembers. Of an erased one the id is gone: that it has an identity is all
    /// that can be seen.
    fn compare(&mut self, after: i64, last: i64) -> rusqlite::Result<()> {
        let transaction = self.examination.connection.unchecked_transaction()?;
        let sight = Sight { connection: &transaction, slots: slots_of(&transaction)? };
        let erased = if self.can_erase { "e.erased_at IS NOT NULL" } else { "false" };
        let sql = format!(
            "SELECT e.seq, s.name, e.id, {erased} FROM events e LEFT JOIN sources s ON s.source = e.source
             WHERE e.seq > ?1 AND e.seq <= ?2 ORDER BY e.seq"
        );
        let mut events = transaction.prepare_cached(&sql)?;
        let mut rows = events.query((after, last))?;
        while let Some(row) = rows.next()? {
            let event: i64 = row.get(0)?;
            let place = (event - self.from) as usize;
            let is_erased: bool = row.get(3)?;
            if self.seen[place] == Seen::Nothing {
                if !(is_erased && was_erased_elsewhere(&transaction, event)?) {
                    self.without.add(event);
                }
                continue;
            }
            self.seen[place] = Seen::Both;
            // Who has no source is told of by another rule.
            let Some(source) = row.get_ref(1)?.as_str_or_null()? else { continue };
            let id = row.get_ref(2)?.as_str()?;
            // Nearly every one stands in its own slot; another may hold that.
            if !is_erased && self.slots[place] != sight.slots.of(source, id) && !leads_to(&sight, source, id, event)? {
                self.without.add(event);
            }
        }
        Ok(())
    }
}

fn exists(connection: &Connection, event: i64) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM events WHERE seq = ?1")?.exists([event])
}

/// Whether an import brought it as erased: no slot can be known for it, and a table of its own leads to it.
fn was_erased_elsewhere(connection: &Connection, event: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events e JOIN erased x ON x.elsewhere = 1 AND x.source = e.source AND x.id = e.id
             WHERE e.seq = ?1 AND x.event = e.seq",
        )?
        .exists([event])
}

/// Whether the identity leads to this event.
fn leads_to(sight: &Sight<'_>, source: &str, id: &str, event: i64) -> rusqlite::Result<bool> {
    match preview::find(sight, source, id) {
        // On the way an identity leads to an event that is not there.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(false),
        found => Ok(found? == Some(event)),
    }
}

/// Of the events of a piece, those that their id does not lead to, each looked up: for a quick look, which has few.
pub(super) fn look_up(
    examination: &Examination<'_>,
    after: i64,
    last: i64,
    without: &mut Count,
) -> rusqlite::Result<()> {
    let transaction = examination.connection.unchecked_transaction()?;
    let sight = Sight { connection: &transaction, slots: slots_of(&transaction)? };
    let kept = if check::has_column(&transaction, "events", "erased_at")? { "e.erased_at IS NULL" } else { "true" };
    let sql = format!(
        "SELECT e.seq, s.name, e.id FROM events e JOIN sources s ON s.source = e.source
         WHERE e.seq > ?1 AND e.seq <= ?2 AND {kept} ORDER BY e.seq"
    );
    let mut events = transaction.prepare_cached(&sql)?;
    let mut rows = events.query((after, last))?;
    while let Some(row) = rows.next()? {
        let event: i64 = row.get(0)?;
        if !leads_to(&sight, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?, event)? {
            without.add(event);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use cola_ia_core::clock::{SystemClock, SystemEntropy};
    use cola_ia_core::store::{OpId, Store as _};
    use cola_ia_testkit::events::event;
    use cola_ia_testkit::harness::block_on;

    use super::*;
    use crate::sqlite::{Options, Packing, SqliteStore};

    struct Place {
        folder: tempfile::TempDir,
        options: Options,
    }

    impl Place {
        /// A store with numbers between its events that repeated deliveries have.
        fn new(slot_bits: u32) -> Self {
            let options = Options { packing: Packing::TINY, slot_bits, ..Options::default() };
            let place = Self { folder: tempfile::tempdir().unwrap(), options };
            let (store, _) = SqliteStore::open(&place.path(), &place.options).unwrap();
            for round in 0..8 {
                let mut batch = vec![event("a", "x"); 1 + round * 5 % 13];
                batch.extend((0..5).map(|n| event(&format!("{round}-{n}"), "x")));
                block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(batch))).unwrap();
            }
            place
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("s.sqlite3")
        }

        /// What is wrong, looked at with a window of so many numbers.
        fn counted(&self, window: i64) -> [u64; 6] {
            let path = self.path();
            let examination = Examination::start(&path, &path, &self.options).unwrap();
            let mut identities = Identities::with_window(&examination, window).unwrap();
            let mut after = i64::MIN;
            // Pieces that end at an event, as those of tables do.
            while let Some(last) = nth_after(&examination.connection, after, 4) {
                assert!(identities.look(after, last).unwrap());
                after = last;
            }
            assert!(identities.finish().unwrap());
            let Identities { without, of_nothing, twice, slot_twice, broken, .. } = identities;
            [without, of_nothing, twice, slot_twice, broken[0].1, broken[1].1].map(|count| count.many)
        }
    }

    #[test]
    fn what_is_found_does_not_depend_on_the_window() {
        for slot_bits in [6, 64] {
            let place = Place::new(slot_bits);
            for window in 1..=100 {
                assert_eq!(place.counted(window), [0; 6], "{slot_bits} bits, {window}");
            }
        }
        let place = Place::new(64);
        // One event is gone; another has two identities; two identities lead far beyond; one is missing.
        let connection = Connection::open(place.path()).unwrap();
        let seqs: Vec<i64> = connection
            .prepare("SELECT seq FROM events ORDER BY seq")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        connection
            .execute_batch(&format!(
                "DELETE FROM events WHERE seq = {};
                 INSERT INTO identities (slot, event) VALUES (1000, {}), (1001, 100000), (1002, -5);
                 INSERT INTO events (seq, source, id, fingerprint, received_at) VALUES (5000, 1, 'lost', x'', 1)",
                seqs[9], seqs[20]
            ))
            .unwrap();
        for window in 1..=100 {
            assert_eq!(place.counted(window), [1, 3, 1, 0, 0, 0], "{window}");
        }
        // Numbers that no window could reach one after the other.
        connection.execute_batch("UPDATE events SET seq = 9223372036854775807 WHERE seq = 5000").unwrap();
        assert_eq!(place.counted(100), [1, 3, 1, 0, 0, 0]);
    }

    /// The number of an event some places behind a number, or of the last.
    fn nth_after(connection: &Connection, after: i64, places: i64) -> Option<i64> {
        let sql = "SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2)";
        connection.query_row(sql, (after, places), |row| row.get(0)).unwrap()
    }
}
