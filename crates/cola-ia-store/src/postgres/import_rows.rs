//! What the records of an import may meet in this store, and what they put there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::UtcDay;
use cola_ia_core::store::erased_id;
use cola_ia_core::store::export::{Kind, Record, Role, Shape, Value};
use cola_ia_core::verdict::Verdict;

use super::counters::{self, Tally};
use super::error::Fault;
use super::export;
use super::money::{self, MoneySums};
use super::records::{Column, column, columns, read, table};
use super::row::Columns as _;
use super::sql::{Param, params};
use super::sums::Sums;
use super::tx::Tx;
use crate::common::import::{Counts, Here, Identified};
use crate::common::records::has_row_of_source;

/// Weight of the rows of one statement.
const STATEMENT_WEIGHT: usize = 16 << 20;

/// Every look-up goes along an index, however few rows the server believes that there are.
const ALONG_INDEXES: &str =
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

/// Columns, besides the key, of which no two rows have the same values. `source` is the row of the source. An event's identity is
/// looked after for itself.
const fn other_keys(kind: Kind) -> &'static [&'static [&'static str]] {
    match kind {
        Kind::Attempt => &[&["lease"]],
        Kind::Effect => &[&["key"], &["event", "run", "name"]],
        Kind::Revision | Kind::Conflict => &[&["event", "fingerprint"]],
        Kind::SignedBody => &[&["source", "body"]],
        _ => &[],
    }
}

fn values_of(record: &Record, source: i64, key: &[&str]) -> Vec<Value> {
    let value = |name: &&str| if *name == "source" { Value::Number(source) } else { record.get(name).clone() };
    key.iter().map(value).collect()
}

fn key_of(record: &Record) -> Vec<Value> {
    record.key().into_iter().cloned().collect()
}

fn shape_of(kind: Kind, name: &str) -> Shape {
    let field = kind.fields().iter().find(|field| field.name == name);
    field.map_or(Shape::Source, |field| field.shape)
}

/// What may be met is read at first; what entered is found here too, and written at the end.
#[derive(Default)]
pub(super) struct Rows {
    sources: HashMap<String, i64>,
    /// Names that were made for this batch, as far as no record has said so yet.
    made: HashSet<String>,
    there: HashMap<(Kind, Vec<Value>), Arc<Record>>,
    taken: HashMap<(Kind, &'static [&'static str]), HashSet<Vec<Value>>>,
    numbers: HashSet<(Kind, i64)>,
    /// Events by the row of their source and their id, and whether they were erased.
    identities: HashMap<(i64, String), (i64, bool)>,
    /// Events that were erased, by the row of their source and what stands for their id.
    erased: HashMap<(i64, String), i64>,
    namespace: [u8; 16],
    budgets: HashMap<i64, i64>,
    money: HashMap<(UtcDay, i64, String), MoneySums>,
    counts: Counts,
    inserted: BTreeMap<Kind, Vec<(Arc<Record>, i64)>>,
    erased_elsewhere: Vec<i64>,
    new_budgets: (Vec<i64>, Vec<i64>),
    sums: Sums,
    deltas: counters::Rows,
}

/// The records of a batch, by kind, with the row of the source of the event that they stand behind.
type ByKind<'b> = BTreeMap<Kind, Vec<(&'b Record, i64)>>;

impl Rows {
    /// Reads what these records may meet, and makes the sources that they name.
    pub(super) async fn read(tx: &Tx, records: &[Record]) -> Result<Self, Fault> {
        tx.batch(ALONG_INDEXES).await?;
        let mut rows =
            Self { namespace: tx.one("SELECT namespace FROM store", params![]).await?.bytes(0)?, ..Self::default() };
        rows.make_sources(tx, records).await?;
        let by_kind = rows.by_kind(records);
        for (kind, of_kind) in &by_kind {
            if !matches!(kind, Kind::Source | Kind::Budget | Kind::Counter | Kind::Money) {
                rows.read_keys(tx, *kind, of_kind).await?;
                rows.read_other_keys(tx, *kind, of_kind).await?;
            }
        }
        rows.read_numbers(tx, &by_kind).await?;
        rows.read_identities(tx, by_kind.get(&Kind::Event).map_or(&[], Vec::as_slice)).await?;
        rows.read_pruned(tx, records).await?;
        rows.read_budgets(tx, by_kind.get(&Kind::Budget).map_or(&[], Vec::as_slice)).await?;
        rows.read_money(tx, by_kind.get(&Kind::Money).map_or(&[], Vec::as_slice)).await?;
        if by_kind.contains_key(&Kind::Counter) {
            for sum in export::counters(tx).await? {
                rows.counts.insert(((sum.row != 0).then_some(sum.row), sum.counter), sum.n);
            }
        }
        Ok(rows)
    }

    /// In the order in which they are named: exports have them in the order of their rows.
    async fn make_sources(&mut self, tx: &Tx, records: &[Record]) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        let names: Vec<&str> = records
            .iter()
            .filter_map(|record| match record.kind() {
                Kind::Source => record.text("name"),
                Kind::Event | Kind::Delivery | Kind::Budget | Kind::Counter | Kind::Money => record.text("source"),
                _ => None,
            })
            .filter(|name| seen.insert(*name))
            .collect();
        let known = tx.sources(&names).await?;
        self.made = names.iter().filter(|name| !known.contains_key(**name)).map(|name| (*name).to_owned()).collect();
        self.sources = tx.make_sources_in_order(&names).await?;
        Ok(())
    }

    fn row_of(&self, name: Option<&str>) -> i64 {
        name.and_then(|name| self.sources.get(name)).copied().unwrap_or_default()
    }

    fn by_kind<'b>(&self, records: &'b [Record]) -> ByKind<'b> {
        let (mut by_kind, mut of_event) = (ByKind::new(), 0);
        for record in records {
            let source = match record.kind() {
                Kind::Event => {
                    of_event = self.row_of(record.text("source"));
                    of_event
                }
                Kind::Budget | Kind::Money => self.row_of(record.text("source")),
                _ => of_event,
            };
            by_kind.entry(record.kind()).or_default().push((record, source));
        }
        by_kind
    }

    async fn read_keys(&mut self, tx: &Tx, kind: Kind, records: &[(&Record, i64)]) -> Result<(), Fault> {
        let fields = kind.fields().iter().filter(|field| field.role == Role::Key);
        let key: Vec<(&str, &str, Shape)> =
            fields.map(|field| (field.name, column(kind, field), field.shape)).collect();
        let keys: Vec<Column<'_>> = key
            .iter()
            .map(|(name, _, shape)| Column::of(*shape, records.iter().map(|(record, _)| record.get(name))))
            .collect();
        let names: Vec<String> = (1..=key.len()).map(|place| format!("k{place}")).collect();
        let places: Vec<String> = (1..=key.len()).map(|place| format!("${place}")).collect();
        let same: Vec<String> =
            key.iter().zip(&names).map(|((_, column, _), name)| format!("t.{column} = k.{name}")).collect();
        let sql = format!(
            "SELECT {} FROM unnest({}) k({}) JOIN {} t ON {}",
            columns(kind),
            places.join(", "),
            names.join(", "),
            table(kind).unwrap_or_default(),
            same.join(" AND "),
        );
        let params: Vec<Param<'_>> = keys.iter().map(Column::param).collect();
        for row in &tx.query(&sql, &params).await? {
            let record = read(kind, row)?;
            self.there.insert((kind, key_of(&record)), Arc::new(record));
        }
        Ok(())
    }

    async fn read_other_keys(&mut self, tx: &Tx, kind: Kind, records: &[(&Record, i64)]) -> Result<(), Fault> {
        for key in other_keys(kind) {
            let wanted: Vec<Vec<Value>> =
                records.iter().map(|(record, source)| values_of(record, *source, key)).collect();
            let arrays: Vec<Column<'_>> = key
                .iter()
                .enumerate()
                .map(|(place, name)| Column::of(shape_of(kind, name), wanted.iter().map(move |values| &values[place])))
                .collect();
            let names: Vec<String> = (1..=key.len()).map(|place| format!("k{place}")).collect();
            let places: Vec<String> = (1..=key.len()).map(|place| format!("${place}")).collect();
            let same: Vec<String> =
                key.iter().zip(&names).map(|(column, name)| format!("t.{column} = k.{name}")).collect();
            let sql = format!(
                "SELECT k.place - 1 FROM unnest({}) WITH ORDINALITY k({}, place) JOIN {} t ON {}",
                places.join(", "),
                names.join(", "),
                table(kind).unwrap_or_default(),
                same.join(" AND "),
            );
            let params: Vec<Param<'_>> = arrays.iter().map(Column::param).collect();
            let found = tx.query(&sql, &params).await?;
            let taken = self.taken.entry((kind, *key)).or_default();
            for row in &found {
                taken.extend(wanted.get(row.count::<usize>(0)?).cloned());
            }
        }
        Ok(())
    }

    /// Numbers of events that deliveries have, and the other way round.
    async fn read_numbers(&mut self, tx: &Tx, by_kind: &ByKind<'_>) -> Result<(), Fault> {
        for (of, among) in [(Kind::Event, Kind::Delivery), (Kind::Delivery, Kind::Event)] {
            let records = by_kind.get(&of).map_or(&[][..], Vec::as_slice);
            let numbers: Vec<i64> = records.iter().filter_map(|(record, _)| record.number("number")).collect();
            if numbers.is_empty() {
                continue;
            }
            let sql = format!("SELECT seq FROM {} WHERE seq = ANY($1)", table(among).unwrap_or_default());
            for row in &tx.query(&sql, params![numbers]).await? {
                self.numbers.insert((among, row.read(0)?));
            }
        }
        Ok(())
    }

    async fn read_identities(&mut self, tx: &Tx, events: &[(&Record, i64)]) -> Result<(), Fault> {
        if events.is_empty() {
            return Ok(());
        }
        let sources: Vec<i64> = events.iter().map(|(_, source)| *source).collect();
        let ids: Vec<&str> = events.iter().map(|(event, _)| event.text("id").unwrap_or_default()).collect();
        let found = tx
            .query(
                "SELECT t.source, t.id, t.seq, t.erased_at IS NOT NULL FROM unnest($1, $2) k(source, id)
                 JOIN events t ON t.source = k.source AND t.id = k.id",
                params![sources, ids],
            )
            .await?;
        for row in &found {
            self.identities.insert((row.read(0)?, row.read(1)?), (row.read(2)?, row.read(3)?));
        }
        if tx.maybe("SELECT 1 FROM erased LIMIT 1", params![]).await?.is_none() {
            return Ok(());
        }
        let hashes: Vec<String> = events.iter().map(|(event, _)| self.stands_for(event)).collect();
        let found = tx
            .query(
                "SELECT t.source, t.id, t.event FROM unnest($1, $2) k(source, id)
                 JOIN erased t ON t.source = k.source AND t.id = k.id",
                params![sources, hashes],
            )
            .await?;
        for row in &found {
            self.erased.insert((row.read(0)?, row.read(1)?), row.read(2)?);
        }
        Ok(())
    }

    /// What stands for the id of an event, or would once it is erased.
    fn stands_for(&self, event: &Record) -> String {
        let (source, id) = (event.text("source").unwrap_or_default(), event.text("id").unwrap_or_default());
        if event.is_erased() { id.to_owned() } else { erased_id(&self.namespace, source, id) }
    }

    /// What was pruned of every event that the batch names.
    async fn read_pruned(&mut self, tx: &Tx, records: &[Record]) -> Result<(), Fault> {
        let events: HashSet<i64> = records.iter().filter_map(Record::event).map(|event| event.0).collect();
        let events: Vec<i64> = events.into_iter().collect();
        let sql = format!("SELECT {} FROM pruned_deliveries t WHERE t.event = ANY($1)", columns(Kind::Pruned));
        for row in &tx.query(&sql, params![events]).await? {
            let record = read(Kind::Pruned, row)?;
            self.there.insert((Kind::Pruned, key_of(&record)), Arc::new(record));
        }
        Ok(())
    }

    async fn read_budgets(&mut self, tx: &Tx, budgets: &[(&Record, i64)]) -> Result<(), Fault> {
        let sources: Vec<i64> = budgets.iter().map(|(_, source)| *source).collect();
        let sql = "SELECT source, limit_micros FROM budgets WHERE source = ANY($1)";
        for row in &tx.query(sql, params![sources]).await? {
            self.budgets.insert(row.read(0)?, row.read(1)?);
        }
        Ok(())
    }

    async fn read_money(&mut self, tx: &Tx, sums: &[(&Record, i64)]) -> Result<(), Fault> {
        let days: Vec<i64> = sums.iter().filter_map(|(record, _)| record.number("day")).collect();
        let sources: Vec<i64> = sums.iter().map(|(_, source)| *source).collect();
        let models: Vec<&str> = sums.iter().map(|(record, _)| record.text("model").unwrap_or_default()).collect();
        for (day, (source, model)) in days.iter().zip(sources.iter().zip(&models)) {
            self.money.insert((UtcDay(*day), *source, (*model).to_owned()), MoneySums::default());
        }
        let found = tx
            .query(
                "SELECT t.costs, t.spent, t.reserved, t.tokens_in, t.tokens_out, t.replays, t.replayed,
                     t.day, t.source, t.model
                 FROM unnest($1, $2, $3) k(day, source, model)
                 JOIN money t ON t.day = k.day AND t.source = k.source AND t.model = k.model",
                params![days, sources, models],
            )
            .await?;
        for row in &found {
            self.money.insert((UtcDay(row.read(7)?), row.read(8)?, row.read(9)?), money::read(row, 0)?);
        }
        Ok(())
    }

    /// Writes what entered.
    pub(super) async fn write(self, tx: &Tx) -> Result<(), Fault> {
        for (kind, rows) in &self.inserted {
            let mut rest = rows.as_slice();
            while !rest.is_empty() {
                let mut weight = 0;
                let fits = rest.iter().take_while(|(record, _)| {
                    weight += record.weight();
                    weight <= STATEMENT_WEIGHT
                });
                let (now, later) = rest.split_at(fits.count().max(1));
                insert(tx, *kind, now).await?;
                rest = later;
            }
        }
        if !self.erased_elsewhere.is_empty() {
            tx.execute(
                "INSERT INTO erased (source, id, event) SELECT source, id, seq FROM events WHERE seq = ANY($1)
                 ON CONFLICT DO NOTHING",
                params![self.erased_elsewhere],
            )
            .await?;
        }
        let (sources, limits) = self.new_budgets;
        tx.execute("INSERT INTO budgets (source, limit_micros) SELECT * FROM unnest($1, $2)", params![sources, limits])
            .await?;
        go_on_above(tx, &self.inserted).await?;
        arrive(tx, &self.inserted).await?;
        self.deltas.append(tx).await?;
        self.sums.write(tx).await
    }
}

/// Rows of a kind, in one statement.
async fn insert(tx: &Tx, kind: Kind, rows: &[(Arc<Record>, i64)]) -> Result<(), Fault> {
    let sources: Vec<Value> = rows.iter().map(|(_, source)| Value::Number(*source)).collect();
    let mut names: Vec<&str> = kind.fields().iter().map(|field| column(kind, field)).collect();
    let mut arrays: Vec<Column<'_>> = kind
        .fields()
        .iter()
        .enumerate()
        .map(|(place, field)| {
            let values = rows.iter().zip(&sources).map(|((record, _), source)| match &record.values()[place] {
                Value::Text(_) if field.shape == Shape::Source => source,
                value => value,
            });
            Column::of(field.shape, values)
        })
        .collect();
    if has_row_of_source(kind) {
        names.push("source");
        arrays.push(Column::of(Shape::Source, sources.iter()));
    }
    let places: Vec<String> = (1..=arrays.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "INSERT INTO {} ({}) SELECT * FROM unnest({})",
        table(kind).unwrap_or_default(),
        names.join(", "),
        places.join(", "),
    );
    let params: Vec<Param<'_>> = arrays.iter().map(Column::param).collect();
    tx.execute(&sql, &params).await.map(drop)
}

/// The highest number in a field of what entered.
fn highest(inserted: &BTreeMap<Kind, Vec<(Arc<Record>, i64)>>, kind: Kind, field: &str) -> Option<i64> {
    inserted.get(&kind)?.iter().filter_map(|(record, _)| record.number(field)).max()
}

/// No number is given again.
async fn go_on_above(tx: &Tx, inserted: &BTreeMap<Kind, Vec<(Arc<Record>, i64)>>) -> Result<(), Fault> {
    let number = [Kind::Event, Kind::Delivery].into_iter().filter_map(|kind| highest(inserted, kind, "number")).max();
    for (sequence, last) in [
        // Of a block that has a number of somebody else nothing is given.
        ("blocks", number.map(|number| number >> super::tx::BLOCK_BITS)),
        ("attempts_attempt_seq", highest(inserted, Kind::Attempt, "attempt")),
        ("effects_effect_seq", highest(inserted, Kind::Effect, "effect")),
    ] {
        if let Some(last) = last.filter(|last| *last > 0) {
            let sql = format!("SELECT setval('{sequence}', $1) FROM {sequence} WHERE last_value <= $1");
            tx.query(&sql, params![last]).await?;
        }
    }
    Ok(())
}

/// Notes what entered for those who follow: each stretch of numbers without a gap.
async fn arrive(tx: &Tx, inserted: &BTreeMap<Kind, Vec<(Arc<Record>, i64)>>) -> Result<(), Fault> {
    let rows = [Kind::Event, Kind::Delivery].into_iter().filter_map(|kind| inserted.get(&kind)).flatten();
    let mut numbers: Vec<i64> = rows.filter_map(|(record, _)| record.number("number")).collect();
    numbers.sort_unstable();
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    for stretch in numbers.chunk_by(|a, b| *b == *a + 1) {
        firsts.push(stretch[0]);
        lasts.push(stretch[stretch.len() - 1]);
    }
    tx.execute(
        "INSERT INTO arrivals (tx, first, last, at)
         SELECT pg_current_xact_id()::text::bigint, first, last, $3 FROM unnest($1, $2) u(first, last)",
        params![firsts, lasts, tx.now.as_micros()],
    )
    .await
    .map(drop)
}

impl Here for Rows {
    type Error = Fault;

    fn source(&mut self, name: &str) -> Result<(i64, bool), Fault> {
        let row = self.row_of(Some(name));
        Ok((row, self.made.remove(name)))
    }

    fn by_key(&mut self, record: &Record) -> Result<Option<Record>, Fault> {
        Ok(self.there.get(&(record.kind(), key_of(record))).map(|there| Record::clone(there)))
    }

    fn has_number(&mut self, kind: Kind, number: i64) -> Result<bool, Fault> {
        Ok(self.numbers.contains(&(kind, number)))
    }

    fn identify(&mut self, identified: &Identified<'_>) -> Result<i64, Fault> {
        let Identified { source, name, id, erased, event } = *identified;
        if erased {
            return Ok(self.erased.get(&(source, id.to_owned())).copied().unwrap_or(event));
        }
        if let Some((held, false)) = self.identities.get(&(source, id.to_owned())) {
            return Ok(*held);
        }
        if self.erased.is_empty() {
            return Ok(event);
        }
        let hash = erased_id(&self.namespace, name, id);
        Ok(self.erased.get(&(source, hash)).copied().unwrap_or(event))
    }

    fn insert(&mut self, record: &Record, source: i64) -> Result<bool, Fault> {
        let kind = record.kind();
        let place = (kind, key_of(record));
        let others: Vec<_> = other_keys(kind).iter().map(|key| (*key, values_of(record, source, key))).collect();
        let is_taken = |(key, values): &(&'static [&'static str], Vec<Value>)| {
            self.taken.get(&(kind, *key)).is_some_and(|taken| taken.contains(values))
        };
        if self.there.contains_key(&place) || others.iter().any(is_taken) {
            return Ok(false);
        }
        if kind == Kind::Event {
            let identity = (source, record.text("id").unwrap_or_default().to_owned());
            let held = (record.number("number").unwrap_or_default(), record.is_erased());
            if *self.identities.entry(identity).or_insert(held) != held {
                return Ok(false);
            }
        }
        if matches!(kind, Kind::Event | Kind::Delivery) {
            self.numbers.insert((kind, record.number("number").unwrap_or_default()));
        }
        for (key, values) in others {
            self.taken.entry((kind, key)).or_default().insert(values);
        }
        let record = Arc::new(record.clone());
        self.inserted.entry(kind).or_default().push((Arc::clone(&record), source));
        self.there.insert(place, record);
        Ok(true)
    }

    fn remember_erased(&mut self, event: i64) -> Result<(), Fault> {
        let key = (Kind::Event, vec![Value::Number(event)]);
        let Some(record) = self.there.get(&key) else { return Ok(()) };
        let identity = (self.row_of(record.text("source")), record.text("id").unwrap_or_default().to_owned());
        self.erased.entry(identity).or_insert(event);
        self.erased_elsewhere.push(event);
        Ok(())
    }

    fn was_pruned(&mut self, event: i64, at: i64) -> Result<bool, Fault> {
        let pruned = self.there.get(&(Kind::Pruned, vec![Value::Number(event)]));
        let bound = |record: &Arc<Record>, name: &str| record.number(name).unwrap_or_default();
        Ok(pruned.is_some_and(|pruned| (bound(pruned, "first_at")..=bound(pruned, "last_at")).contains(&at)))
    }

    fn budget(&mut self, source: i64, limit: i64) -> Result<Option<i64>, Fault> {
        if let Some(here) = self.budgets.get(&source) {
            return Ok(Some(*here));
        }
        self.budgets.insert(source, limit);
        self.new_budgets.0.push(source);
        self.new_budgets.1.push(limit);
        Ok(None)
    }

    fn money(&mut self, day: UtcDay, source: i64, model: &str) -> Result<MoneySums, Fault> {
        Ok(self.money.get(&(day, source, model.to_owned())).copied().unwrap_or_default())
    }

    fn add_money(&mut self, day: UtcDay, source: i64, model: &str, more: MoneySums) -> Result<(), Fault> {
        if let Some(here) = self.money.get_mut(&(day, source, model.to_owned())) {
            *here = here.plus(more);
        }
        self.sums.add(day, source, model, more);
        Ok(())
    }

    fn counts(&mut self) -> Result<Counts, Fault> {
        Ok(self.counts.clone())
    }

    fn count(&mut self, at: Timestamp, tally: &Tally) -> Result<(), Fault> {
        for ((source, verdict), sum) in &tally.deliveries {
            self.add_count(*source, *verdict, sum.n);
        }
        self.deltas.count(at, tally);
        Ok(())
    }

    fn count_gone(&mut self, at: Timestamp, source: i64, verdict: Verdict, n: i64) -> Result<(), Fault> {
        self.add_count(source, verdict, n);
        self.deltas.count_gone(at, source, verdict, n);
        Ok(())
    }
}

impl Rows {
    fn add_count(&mut self, source: i64, verdict: Verdict, n: i64) {
        let count = self.counts.entry(((source != 0).then_some(source), verdict.as_str().to_owned())).or_default();
        *count = count.saturating_add(n);
    }
}
