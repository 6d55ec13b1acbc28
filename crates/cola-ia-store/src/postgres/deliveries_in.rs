//! Deliveries on their way into their table, and the contents in conflict that they bring.

use std::collections::{HashMap, HashSet};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Delivery, Fingerprint};
use cola_ia_core::intake::{EventNumber, Refusal};
use cola_ia_core::store::Receipt;
use cola_ia_core::verdict::Verdict;

use super::accept::{Fate, Series};
use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
use crate::common::batch::said;

/// An event and another content than the one that entered.
type Content = (i64, Fingerprint);

/// What is recorded of a series, written at its end in a statement for each table.
pub(super) struct Deliveries<'a> {
    series: &'a Series<'a>,
    now: Timestamp,
    /// Contents that were accepted for their events, besides the ones that entered.
    revisions: HashSet<Content>,
    conflicts: HashMap<Content, Conflict<'a>>,
    rows: Rows<'a>,
}

/// A content in conflict.
struct Conflict<'a> {
    number: i64,
    decided: bool,
    /// Whether it came before this series.
    is_known: bool,
    /// The first delivery of it in this series, and whether its event was erased: then nothing of what it says is kept.
    first: Option<(&'a Delivery, bool)>,
    /// How often it comes in this series.
    count: i64,
}

impl Conflict<'_> {
    const fn of(number: i64, decided: bool, is_known: bool) -> Self {
        Self { number, decided, is_known, first: None, count: 0 }
    }
}

/// Rows of `deliveries`.
#[derive(Default)]
struct Rows<'a> {
    numbers: Vec<i64>,
    events: Vec<Option<i64>>,
    sources: Vec<Option<i64>>,
    times: Vec<Option<i64>>,
    conflicts: Vec<Option<i64>>,
    counts: Vec<i64>,
    decided: Vec<Option<bool>>,
    replayed: Vec<Option<bool>>,
    verdicts: Vec<&'static str>,
    types: Vec<Option<&'a str>>,
    codes: Vec<Option<&'static str>>,
    details: Vec<Option<&'a str>>,
    origins: Vec<Option<String>>,
}

impl<'a> Deliveries<'a> {
    /// Reads what is known of the contents that are not the ones that entered. Their events are locked: numbers of conflicts are
    /// given one after the other.
    pub(super) async fn new(tx: &Tx, series: &'a Series<'a>, fates: &[Fate]) -> Result<Self, Fault> {
        let mut contents: Vec<Content> = Vec::new();
        for (index, fate) in fates.iter().enumerate() {
            let (Fate::Known(event, entered) | Fate::Erased(event, entered)) = *fate else { continue };
            let Some(content) = series.delivery(index).map(|delivery| delivery.content.fingerprint()) else { continue };
            if content != entered {
                contents.push((event, content));
            }
        }
        let mut deliveries =
            Self { series, now: tx.now, revisions: HashSet::new(), conflicts: HashMap::new(), rows: Rows::default() };
        if contents.is_empty() {
            return Ok(deliveries);
        }
        let in_order = contents.clone();
        contents.sort_unstable_by_key(|(event, content)| (*event, content.0));
        contents.dedup();
        let events: Vec<i64> = contents.iter().map(|(event, _)| *event).collect();
        let fingerprints: Vec<&[u8]> = contents.iter().map(|(_, content)| &content.0[..]).collect();
        tx.execute("SELECT seq FROM events WHERE seq = ANY($1) ORDER BY seq FOR NO KEY UPDATE", params![events])
            .await?;
        let rows = tx
            .query(
                "SELECT u.event, u.fingerprint,
                     EXISTS (SELECT 1 FROM revisions r WHERE r.event = u.event AND r.fingerprint = u.fingerprint),
                     c.number, coalesce(c.decided, false),
                     (SELECT coalesce(max(m.number), 0) FROM conflicts m WHERE m.event = u.event)
                 FROM unnest($1, $2) u(event, fingerprint)
                     LEFT JOIN LATERAL (SELECT number, decision IS NOT NULL AS decided FROM conflicts c
                                        WHERE c.event = u.event AND c.fingerprint = u.fingerprint LIMIT 1) c ON true",
                params![events, fingerprints],
            )
            .await?;
        let mut last: HashMap<i64, i64> = HashMap::new();
        for row in &rows {
            let content = (row.read(0)?, Fingerprint(row.bytes(1)?));
            last.insert(content.0, row.read(5)?);
            if row.read(2)? {
                deliveries.revisions.insert(content);
            } else if let Some(number) = row.read::<Option<i64>>(3)? {
                deliveries.conflicts.insert(content, Conflict::of(number, row.read(4)?, true));
            }
        }
        // New ones are numbered in the order in which they come.
        for content in in_order {
            if !deliveries.revisions.contains(&content) && !deliveries.conflicts.contains_key(&content) {
                let number = last.entry(content.0).or_default();
                *number += 1;
                deliveries.conflicts.insert(content, Conflict::of(*number, false, false));
            }
        }
        Ok(deliveries)
    }

    /// A refused one.
    pub(super) fn refusal(&mut self, index: usize, refusal: &'a Refusal) {
        let source = self.series.sources[index];
        self.rows.push(Row {
            number: self.series.numbers[index],
            source: (source != 0).then_some(source),
            count: refusal.count as i64,
            code: Some(refusal.code.as_str()),
            detail: Some(&refusal.detail),
            origin: Some(refusal.origin.to_string()),
            ..Row::of(Verdict::Invalid)
        });
    }

    /// One that did not make its event: a duplicate, a replay or a conflict. Says so in its receipt.
    pub(super) fn repeated(&mut self, index: usize, fate: Fate, delivery: &'a Delivery, receipt: &mut Receipt) {
        let event = self.series.event_of(index, fate);
        let (is_erased, is_replay) = match fate {
            Fate::Erased(..) => (true, false),
            Fate::Replayed(_, is_erased) => (is_erased, true),
            Fate::Known(..) | Fate::Enters | Fate::Refused => (false, false),
        };
        let content = (event, delivery.content.fingerprint());
        let conflict = if is_replay { None } else { self.conflicts.get_mut(&content) };
        let (time, event_type) = said(delivery);
        let mut row = Row {
            number: self.series.numbers[index],
            event: Some(event),
            source: Some(self.series.sources[index]),
            time,
            event_type: event_type.filter(|_| !is_erased),
            replayed: is_replay.then_some(true),
            ..Row::of(Verdict::Duplicate)
        };
        (receipt.verdict, receipt.event, receipt.replayed) = (Verdict::Duplicate, Some(EventNumber(event)), is_replay);
        if let Some(conflict) = conflict {
            conflict.count += 1;
            conflict.first.get_or_insert((delivery, is_erased));
            receipt.verdict = Verdict::Conflict;
            receipt.conflict = u32::try_from(conflict.number).ok();
            receipt.decided = conflict.decided;
            row = Row {
                verdict: Verdict::Conflict,
                conflict: Some(conflict.number),
                decided: conflict.decided.then_some(true),
                origin: (!is_erased).then(|| delivery.origin.to_string()),
                ..row
            };
        }
        self.rows.push(row);
    }

    /// Writes all of it.
    pub(super) async fn write(self, tx: &Tx) -> Result<(), Fault> {
        self.write_conflicts(tx).await?;
        self.rows.write(tx, self.now).await
    }

    async fn write_conflicts(&self, tx: &Tx) -> Result<(), Fault> {
        let mut changed: Vec<(&Content, &Conflict<'_>)> =
            self.conflicts.iter().filter(|(_, conflict)| conflict.count > 0).collect();
        if changed.is_empty() {
            return Ok(());
        }
        changed.sort_unstable_by_key(|((event, _), conflict)| (*event, conflict.number));
        let column = |conflicts: &[(&Content, &Conflict<'_>)]| -> (Vec<i64>, Vec<i64>, Vec<i64>) {
            let events = conflicts.iter().map(|((event, _), _)| *event).collect();
            let numbers = conflicts.iter().map(|(_, conflict)| conflict.number).collect();
            (events, numbers, conflicts.iter().map(|(_, conflict)| conflict.count).collect())
        };
        let (known, new): (Vec<_>, Vec<_>) = changed.into_iter().partition(|(_, conflict)| conflict.is_known);
        if !known.is_empty() {
            let (events, numbers, counts) = column(&known);
            tx.execute(
                "UPDATE conflicts c SET count = c.count + u.count, last_at = $1
                 FROM unnest($2, $3, $4) u(event, number, count) WHERE c.event = u.event AND c.number = u.number",
                params![self.now.as_micros(), events, numbers, counts],
            )
            .await?;
        }
        if new.is_empty() {
            return Ok(());
        }
        let (events, numbers, counts) = column(&new);
        let fingerprints: Vec<&[u8]> = new.iter().map(|((_, content), _)| &content.0[..]).collect();
        let (mut times, mut types, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (_, conflict) in &new {
            let (time, event_type) = conflict.first.map_or((None, None), |(delivery, _)| said(delivery));
            let kept = conflict.first.filter(|(_, is_erased)| !is_erased).map(|(delivery, _)| delivery);
            times.push(time);
            types.push(event_type.filter(|_| kept.is_some()));
            texts.push(kept.map(|delivery| delivery.content.text()));
        }
        tx.execute(
            "INSERT INTO conflicts (event, number, fingerprint, first_at, last_at, count, time, type, text)
             SELECT u.event, u.number, u.fingerprint, $1, $1, u.count, u.at, u.type, u.text
             FROM unnest($2, $3, $4, $5, $6, $7, $8) u(event, number, fingerprint, count, at, type, text)",
            params![self.now.as_micros(), events, numbers, fingerprints, counts, times, types, texts],
        )
        .await
        .map(drop)
    }
}

/// A row of `deliveries`.
struct Row<'a> {
    number: i64,
    event: Option<i64>,
    source: Option<i64>,
    time: Option<i64>,
    conflict: Option<i64>,
    count: i64,
    decided: Option<bool>,
    replayed: Option<bool>,
    verdict: Verdict,
    event_type: Option<&'a str>,
    code: Option<&'static str>,
    detail: Option<&'a str>,
    origin: Option<String>,
}

impl Row<'_> {
    const fn of(verdict: Verdict) -> Self {
        Self {
            number: 0,
            event: None,
            source: None,
            time: None,
            conflict: None,
            count: 1,
            decided: None,
            replayed: None,
            verdict,
            event_type: None,
            code: None,
            detail: None,
            origin: None,
        }
    }
}

impl<'a> Rows<'a> {
    fn push(&mut self, row: Row<'a>) {
        self.numbers.push(row.number);
        self.events.push(row.event);
        self.sources.push(row.source);
        self.times.push(row.time);
        self.conflicts.push(row.conflict);
        self.counts.push(row.count);
        self.decided.push(row.decided);
        self.replayed.push(row.replayed);
        self.verdicts.push(row.verdict.as_str());
        self.types.push(row.event_type);
        self.codes.push(row.code);
        self.details.push(row.detail);
        self.origins.push(row.origin);
    }

    async fn write(self, tx: &Tx, now: Timestamp) -> Result<(), Fault> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        tx.execute(
            "INSERT INTO deliveries (received_at, seq, event, source, time, conflict, count, decided, replayed, verdict, type,
                                     code, detail, origin)
             SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            params![
                now.as_micros(),
                self.numbers,
                self.events,
                self.sources,
                self.times,
                self.conflicts,
                self.counts,
                self.decided,
                self.replayed,
                self.verdicts,
                self.types,
                self.codes,
                self.details,
                self.origins,
            ],
        )
        .await
        .map(drop)
    }
}
