//! What must hold between our tables, looked at in pieces: each is a transaction of its own.

use cola_ia_core::store::StoreError;

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Examination, Finding, Look, Severity};

/// Rows of a piece.
const PIECE: i64 = 10_000;
/// Of each table a quick look takes so many rows, the newest.
const QUICK: i64 = 100_000;

/// A table and by what it is gone through.
#[derive(Debug, Clone, Copy)]
struct Table {
    name: &'static str,
    /// Its rows are numbered by this, of which it may have several.
    number: &'static str,
    rules: &'static [Rule],
}

/// What must not be: a code, and what holds of the rows `t` that are wrong.
type Rule = (&'static str, &'static str);

const NO_EVENT: &str = "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)";
const NO_JOB: &str = "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.event)";
const NO_EFFECT: &str = "NOT EXISTS (SELECT 1 FROM effects e WHERE e.effect = t.effect)";

const TABLES: &[Table] = &[
    Table {
        name: "events",
        number: "seq",
        rules: &[
            ("event_without_job", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.seq)"),
            ("event_without_source", "NOT EXISTS (SELECT 1 FROM sources s WHERE s.source = t.source)"),
            ("number_twice", "EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = t.seq)"),
            // Of all others the index leads to them; what stands for the id of an erased one is in a table of its own.
            (
                "event_without_identity",
                "t.erased_at IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM erased x WHERE x.source = t.source AND x.id = t.id AND x.event = t.seq)",
            ),
        ],
    },
    Table {
        name: "jobs",
        number: "event",
        rules: &[
            ("job_without_event", NO_EVENT),
            (
                "job_without_state",
                "t.state NOT IN ('pending', 'running', 'done', 'failed', 'held', 'cancelled')
                 OR t.state = 'running' AND t.lease IS NULL",
            ),
        ],
    },
    Table {
        name: "deliveries",
        number: "seq",
        rules: &[
            (
                "delivery_of_nothing",
                "t.event IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)
                 OR t.verdict NOT IN ('duplicate', 'conflict', 'invalid')",
            ),
            (
                "delivery_of_no_conflict",
                "t.conflict IS NOT NULL AND NOT EXISTS
                     (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)",
            ),
        ],
    },
    Table { name: "conflicts", number: "event", rules: &[("conflict_of_nothing", NO_EVENT)] },
    Table {
        name: "revisions",
        number: "event",
        rules: &[(
            "revision_of_nothing",
            "NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)
             OR NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)",
        )],
    },
    Table {
        name: "decisions",
        number: "event",
        rules: &[(
            "decision_of_nothing",
            "NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)
             OR NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)
             OR t.entered IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.entered)",
        )],
    },
    Table { name: "pruned_deliveries", number: "event", rules: &[("pruned_of_nothing", NO_EVENT)] },
    Table { name: "erased", number: "event", rules: &[("identity_of_nothing", NO_EVENT)] },
    Table { name: "attempts", number: "attempt", rules: &[("attempt_of_nothing", NO_JOB)] },
    Table { name: "effects", number: "effect", rules: &[("effect_of_nothing", NO_JOB)] },
    Table { name: "effect_tries", number: "effect", rules: &[("try_of_nothing", NO_EFFECT)] },
    Table { name: "effect_records", number: "effect", rules: &[("record_of_nothing", NO_EFFECT)] },
    Table {
        name: "signed_bodies",
        number: "event",
        rules: &[(
            "body_of_nothing",
            "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event AND e.source = t.source)",
        )],
    },
];

/// Tables that number their rows, and the columns of their numbers.
const NUMBERED: &[(&str, &str)] =
    &[("sources", "source"), ("attempts", "attempt"), ("effects", "effect"), ("counter_deltas", "delta")];

/// How many rows are wrong, and which was the first.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    many: i64,
    first: Option<i64>,
}

/// The end of a piece, how many rows it has, and what is wrong with them by rule.
struct Piece {
    last: i64,
    rows: i64,
    wrong: Vec<Count>,
}

pub(super) async fn examine(examination: &Examination<'_>, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let quick = examination.asked.quick;
    let (mut rows, mut found) = (0_u64, Vec::new());
    for table in TABLES {
        let mut wrong = vec![Count::default(); table.rules.len()];
        let mut after =
            if quick { examination.view(table, |tx, table| Box::pin(newest_but(tx, *table))).await? } else { i64::MIN };
        while let Some(piece) =
            examination.view(&(*table, after), |tx, (table, after)| Box::pin(piece(tx, *table, *after))).await?
        {
            for (wrong, more) in wrong.iter_mut().zip(piece.wrong) {
                wrong.many += more.many;
                wrong.first = wrong.first.or(more.first);
            }
            rows += piece.rows.unsigned_abs();
            (examination.look)(Look::Tables { rows });
            after = piece.last;
        }
        let broken = |((code, _), wrong): (&Rule, Count)| {
            let finding = Finding::new(Severity::Error, code).text("table", table.name).number("count", wrong.many);
            (wrong.many > 0).then(|| finding.number("row", wrong.first.unwrap_or_default()))
        };
        found.extend(table.rules.iter().zip(wrong).filter_map(broken));
    }
    found.extend(examination.view(&(), |tx, ()| Box::pin(numbers(tx))).await?);
    if !quick {
        for (code, sql) in [("jobs_miscounted", JOBS_MISCOUNTED), ("money_miscounted", MONEY_MISCOUNTED)] {
            let many: i64 = examination
                .view(&sql, |tx, sql| Box::pin(async move { tx.one(sql, params![]).await?.read(0) }))
                .await?;
            if many > 0 {
                found.push(Finding::new(Severity::Warning, code).number("count", many));
            }
        }
    }
    if found.iter().all(|finding| finding.severity < Severity::Warning) {
        let code = if quick { "tables_quick" } else { "tables" };
        found.push(Finding::new(Severity::Ok, code).number("rows", rows));
    }
    findings.extend(found);
    Ok(())
}

/// The piece after a number. Of those that share a number none is left for the next.
async fn piece(tx: &Tx, table: Table, after: i64) -> Result<Option<Piece>, Fault> {
    let Table { name, number, rules } = table;
    let columns: Vec<String> = rules
        .iter()
        .map(|(_, wrong)| format!("count(*) FILTER (WHERE {wrong}), min(t.{number}) FILTER (WHERE {wrong})"))
        .collect();
    let sql = format!(
        "SELECT max(t.{number}), count(*), {} FROM
             (SELECT * FROM {name} WHERE {number} > $1 ORDER BY {number} FETCH FIRST {PIECE} ROWS WITH TIES) t",
        columns.join(", ")
    );
    let row = tx.one(&sql, params![after]).await?;
    let Some(last) = row.read(0)? else { return Ok(None) };
    let wrong = |rule: usize| Ok(Count { many: row.read(2 + 2 * rule)?, first: row.read(3 + 2 * rule)? });
    let wrong = (0..rules.len()).map(wrong).collect::<Result<_, Fault>>()?;
    Ok(Some(Piece { last, rows: row.read(1)?, wrong }))
}

/// The number before the newest rows.
async fn newest_but(tx: &Tx, table: Table) -> Result<i64, Fault> {
    let Table { name, number, .. } = table;
    let sql = format!("SELECT {number} FROM {name} ORDER BY {number} DESC LIMIT 1 OFFSET {QUICK}");
    tx.maybe(&sql, params![]).await?.map_or(Ok(i64::MIN), |row| row.read(0))
}

/// Whether what gives numbers is behind those that were given, as where a database was loaded in part: the next ones would be
/// taken. And whether batches are of transactions that this server has not had.
async fn numbers(tx: &Tx) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    let behind = |table: &str| Finding::new(Severity::Error, "numbers_behind").text("table", table);
    let blocks = tx
        .one(
            "SELECT greatest((SELECT max(seq) FROM events), (SELECT max(seq) FROM deliveries)) >> 17
                 >= (SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM blocks)",
            params![],
        )
        .await?;
    if blocks.read::<Option<bool>>(0)?.unwrap_or(false) {
        findings.push(behind("blocks"));
    }
    for (table, column) in NUMBERED {
        let sql = format!(
            "SELECT (SELECT max({column}) FROM {table})
                 > coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', '{column}')::regclass), 0)"
        );
        if tx.one(&sql, params![]).await?.read::<Option<bool>>(0)?.unwrap_or(false) {
            findings.push(behind(table));
        }
    }
    let ahead: i64 = tx
        .one(
            "SELECT count(*) FROM arrivals WHERE tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
            params![],
        )
        .await?
        .read(0)?;
    if ahead > 0 {
        findings.push(Finding::new(Severity::Note, "arrivals_ahead").number("count", ahead));
    }
    Ok(findings)
}

/// Of how many states and sources the count of jobs is not what the jobs say.
const JOBS_MISCOUNTED: &str = "SELECT count(*) FROM (
    SELECT source, state FROM (
        SELECT source, state, n FROM job_counts
        UNION ALL SELECT source, substr(counter, 5), n FROM counter_deltas WHERE counter LIKE 'job\\_%'
        UNION ALL SELECT source, 'pending', n FROM counter_deltas WHERE counter = 'new'
        UNION ALL (SELECT source, state, -count(*) FROM jobs GROUP BY source, state)) counts
    GROUP BY source, state HAVING sum(n) <> 0) wrong";

/// On how many days of how many sources the sums say another amount to be at risk than the tries hold.
const MONEY_MISCOUNTED: &str = "SELECT count(*) FROM (
    SELECT day, source FROM (
        SELECT day, source, reserved FROM money
        UNION ALL
        SELECT t.reserved_day, j.source, -t.reserved_micros
        FROM effect_tries t JOIN effects e ON e.effect = t.effect JOIN jobs j ON j.event = e.event
        WHERE t.reserved_micros IS NOT NULL AND t.reserved_day IS NOT NULL AND t.outcome IS NULL) held
    GROUP BY day, source HAVING sum(reserved) <> 0) wrong";
