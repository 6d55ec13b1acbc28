//! What waits for somebody: jobs past their lease, held ones, old ones, paused and failing sources, conflicts that nobody has
//! decided.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::Alarm;
use cola_ia_core::job::STREAK_WORTH_A_WARNING;

use super::{Examination, Finding, Severity};
use crate::doctor::{self, ALARM_MICROS, COUNTED_MAX, WAITING_LONG_MICROS};

/// The condition of the index by state: it is repeated, because SQLite uses an index only where it finds its words.
const BY_STATE: &str = "state NOT IN ('pending', 'done')";

pub(super) fn waiting(examination: &Examination<'_>, findings: &mut Vec<Finding>) -> rusqlite::Result<()> {
    let connection = &examination.connection;
    let now = examination.options.clock.now();
    let (count, oldest) = counted(connection, &past_lease(), now.as_micros())?;
    push(findings, Severity::Warning, "jobs_past_lease", count, Some(("oldest_at", oldest)));
    for (state, severity, code) in [("held", Severity::Warning, "jobs_held"), ("failed", Severity::Note, "jobs_failed")]
    {
        let (count, _) = counted(connection, &in_state(state), i64::MAX)?;
        push(findings, severity, code, count, None);
    }
    let (count, oldest) = waiting_long(examination, now)?;
    push(findings, Severity::Warning, "jobs_waiting", count, Some(("oldest_at", oldest)));
    // Older stores know nothing of it.
    if has_streaks(connection)? {
        for (code, since, which) in [
            ("sources_paused", "paused_at", "k.paused_at IS NOT NULL".to_owned()),
            ("sources_failing", "since", format!("k.count >= {STREAK_WORTH_A_WARNING}")),
        ] {
            findings.extend(sources(connection, code, since, &which)?);
        }
    }
    Ok(())
}

/// Effects that happened though they had been given up, or twice: nothing else can tell a person.
pub(super) fn alarms(examination: &Examination<'_>, findings: &mut Vec<Finding>) -> rusqlite::Result<()> {
    let now = examination.options.clock.now().as_micros();
    for alarm in Alarm::ALL {
        let (count, latest): (i64, Option<i64>) =
            examination.connection.query_row(ALARMED, [alarm.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let is_recent = latest.is_some_and(|at| at > now.saturating_sub(ALARM_MICROS));
        let severity = if is_recent { Severity::Warning } else { Severity::Note };
        push(findings, severity, alarm.as_str(), count, Some(("latest_at", latest)));
    }
    Ok(())
}

const ALARMED: &str = "SELECT count(*), max(changed_at) FROM effects WHERE alarm = ?1 AND alarm IS NOT NULL";

/// Effects of jobs that are not over which may have happened after what a restored store knows.
pub(super) fn doubtful(connection: &rusqlite::Connection) -> rusqlite::Result<i64> {
    let count = |state: &str| connection.query_row(&doubtful_in(state), [], |row| row.get::<_, i64>(0));
    Ok(count("state = 'pending'")? + count(&format!("{BY_STATE} AND state IN ('running', 'held')"))?)
}

fn doubtful_in(state: &str) -> String {
    format!(
        "SELECT count(*) FROM (SELECT event, run FROM jobs WHERE {state} LIMIT {COUNTED_MAX}) j
         CROSS JOIN effects e ON e.event = j.event AND e.run = j.run AND e.state NOT IN ('done', 'abandoned')"
    )
}

fn has_streaks(connection: &rusqlite::Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'source_streaks')";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Sources whose row of `source_streaks k` is so: how many, since when, and the first of them by name.
fn sources(
    connection: &rusqlite::Connection,
    code: &'static str,
    since: &str,
    which: &str,
) -> rusqlite::Result<Option<Finding>> {
    let sql = format!(
        "SELECT s.name, k.{since} FROM source_streaks k JOIN sources s ON s.source = k.source WHERE {which} ORDER BY s.name"
    );
    let mut select = connection.prepare(&sql)?;
    let found: Vec<(String, i64)> =
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    Ok(doctor::sources(code, &found))
}

fn past_lease() -> String {
    format!("SELECT lease_until AS at FROM jobs WHERE state = 'running' AND {BY_STATE} AND lease_until < ?1")
}

fn in_state(state: &str) -> String {
    format!("SELECT changed_at AS at FROM jobs WHERE state = '{state}' AND {BY_STATE} AND event < ?1")
}

fn waiting_of(source: i64) -> String {
    format!("SELECT due_at AS at FROM jobs WHERE state = 'pending' AND source = {source} AND due_at < ?1")
}

/// Source by source, as the index of due jobs is.
fn waiting_long(examination: &Examination<'_>, now: Timestamp) -> rusqlite::Result<(i64, Option<i64>)> {
    let connection = &examination.connection;
    let sources: Vec<i64> = connection
        .prepare("SELECT source FROM sources")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let (mut count, mut oldest) = (0, None);
    for source in sources {
        let (more, first) = counted(connection, &waiting_of(source), now.as_micros() - WAITING_LONG_MICROS)?;
        count += more;
        oldest = [oldest, first].into_iter().flatten().min();
        if count >= COUNTED_MAX {
            break;
        }
    }
    Ok((count, oldest))
}

fn counting(sql: &str) -> String {
    format!("SELECT count(*), min(at) FROM ({sql} LIMIT {COUNTED_MAX})")
}

fn counted(connection: &rusqlite::Connection, sql: &str, bound: i64) -> rusqlite::Result<(i64, Option<i64>)> {
    connection.query_row(&counting(sql), [bound], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn push(
    findings: &mut Vec<Finding>,
    severity: Severity,
    code: &'static str,
    count: i64,
    at: Option<(&'static str, Option<i64>)>,
) {
    findings.extend(doctor::counted(severity, code, count, at));
}

/// In a backup nobody is to work or decide: what waits there says nothing against it.
pub(super) fn nobodys_in_a_backup(findings: &mut [Finding]) {
    const CODES: [&str; 8] = [
        "jobs_past_lease",
        "jobs_held",
        "jobs_waiting",
        "sources_paused",
        "sources_failing",
        "conflicts_undecided",
        "late_evidence",
        "double_effect",
    ];
    for finding in findings.iter_mut().filter(|finding| CODES.contains(&finding.code)) {
        finding.severity = Severity::Note;
    }
}

/// Conflicts without a decision, and when the latest came: counted in pieces with the other rows.
pub(super) fn undecided(count: u64, latest: Option<i64>) -> Option<Finding> {
    doctor::counted(Severity::Warning, "conflicts_undecided", count as i64, Some(("latest_at", latest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_counted_by_reading_a_whole_table() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        for step in crate::sqlite::migrate::MIGRATIONS {
            connection.execute_batch(step.sql).unwrap();
        }
        for sql in [past_lease(), in_state("held"), in_state("failed"), waiting_of(1)] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", counting(&sql))).unwrap();
            let steps: Vec<String> =
                plan.query_map([1], |row| row.get(3)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
            assert!(steps.iter().any(|step| step.contains("jobs USING")), "{sql}: {steps:?}");
            assert!(!steps.iter().any(|step| step == "SCAN jobs"), "{sql}: {steps:?}");
        }
        let pending = doubtful_in("state = 'pending'");
        let others = doubtful_in(&format!("{BY_STATE} AND state IN ('running', 'held')"));
        for (sql, by) in [(ALARMED, "effects_alarm"), (&pending, "jobs_due"), (&others, "jobs_state")] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps: Vec<String> =
                plan.raw_query().mapped(|row| row.get(3)).collect::<rusqlite::Result<_>>().unwrap();
            assert!(steps.iter().any(|step| step.contains(by)), "{sql}: {steps:?}");
            assert!(!steps.iter().any(|step| step == "SCAN effects" || step == "SCAN e"), "{sql}: {steps:?}");
        }
    }
}
