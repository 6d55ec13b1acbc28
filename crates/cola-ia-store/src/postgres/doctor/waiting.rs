//! What waits for somebody: jobs past their lease, held ones, old ones, paused and failing sources, conflicts that nobody has
//! decided; and whether the store was restored.

use cola_ia_core::effect::Alarm;
use cola_ia_core::job::STREAK_WORTH_A_WARNING;

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Finding, Severity};
use crate::doctor::{ALARM_MICROS, COUNTED_MAX, WAITING_LONG_MICROS, counted, sources};

/// The condition of the index by state: it is repeated, because an index is used only where its own stands.
const BY_STATE: &str = "state NOT IN ('pending', 'done')";

pub(super) async fn look(tx: &Tx) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    findings.extend(restored(tx).await?);
    jobs(tx, &mut findings).await?;
    for (code, since, which) in [
        ("sources_paused", "paused_at", "k.paused_at IS NOT NULL".to_owned()),
        ("sources_failing", "since", format!("k.count >= {STREAK_WORTH_A_WARNING}")),
    ] {
        let sql = format!(
            "SELECT s.name, coalesce(k.{since}, 0) FROM source_streaks k JOIN sources s ON s.source = k.source
             WHERE {which} ORDER BY s.name"
        );
        let rows = tx.query(&sql, params![]).await?;
        let found = rows.iter().map(|row| Ok((row.read(0)?, row.read(1)?))).collect::<Result<Vec<_>, Fault>>()?;
        findings.extend(sources(code, &found));
    }
    for alarm in Alarm::ALL {
        let row = tx
            .one(
                "SELECT count(*), max(changed_at) FROM effects WHERE alarm = $1 AND alarm IS NOT NULL",
                params![alarm.as_str()],
            )
            .await?;
        let (count, latest): (i64, Option<i64>) = (row.read(0)?, row.read(1)?);
        let is_recent = latest.is_some_and(|at| at > tx.now.as_micros().saturating_sub(ALARM_MICROS));
        let severity = if is_recent { Severity::Warning } else { Severity::Note };
        findings.extend(counted(severity, alarm.as_str(), count, Some(("latest_at", latest))));
    }
    let sql = format!(
        "SELECT count(*), max(at) FROM
             (SELECT last_at AS at FROM conflicts WHERE decision IS NULL ORDER BY first_at DESC LIMIT {COUNTED_MAX}) c"
    );
    let row = tx.one(&sql, params![]).await?;
    let latest = ("latest_at", row.read(1)?);
    findings.extend(counted(Severity::Warning, "conflicts_undecided", row.read(0)?, Some(latest)));
    Ok(findings)
}

async fn jobs(tx: &Tx, findings: &mut Vec<Finding>) -> Result<(), Fault> {
    let now = tx.now.as_micros();
    let past_lease = format!(
        "SELECT lease_until AS at FROM jobs WHERE state = 'running' AND {BY_STATE} AND lease_until < $1 LIMIT {COUNTED_MAX}"
    );
    let of_state = |state: &str| {
        format!(
            "SELECT changed_at AS at FROM jobs WHERE state = '{state}' AND {BY_STATE} AND event < $1 LIMIT {COUNTED_MAX}"
        )
    };
    // Source by source, as the index of due jobs is, of each the oldest first.
    let waiting = format!(
        "SELECT j.at FROM sources s, LATERAL (
             SELECT due_at AS at FROM jobs WHERE state = 'pending' AND source = s.source AND due_at < $1
             ORDER BY due_at LIMIT {COUNTED_MAX}) j LIMIT {COUNTED_MAX}"
    );
    let asked = [
        (past_lease, now, Severity::Warning, "jobs_past_lease", true),
        (of_state("held"), i64::MAX, Severity::Warning, "jobs_held", false),
        (of_state("failed"), i64::MAX, Severity::Note, "jobs_failed", false),
        (waiting, now - WAITING_LONG_MICROS, Severity::Warning, "jobs_waiting", true),
    ];
    for (sql, bound, severity, code, is_dated) in asked {
        let row = tx.one(&format!("SELECT count(*), min(at) FROM ({sql}) j"), params![bound]).await?;
        let oldest = if is_dated { Some(("oldest_at", row.read(1)?)) } else { None };
        findings.extend(counted(severity, code, row.read(0)?, oldest));
    }
    Ok(())
}

/// That the store was restored and nobody has said since that all is well, with the effects of jobs that are not over which may
/// have happened after what it knows.
async fn restored(tx: &Tx) -> Result<Option<Finding>, Fault> {
    let row = tx.one("SELECT restored_at, backed_up_at FROM store", params![]).await?;
    let Some(restored_at) = row.read::<Option<i64>>(0)? else { return Ok(None) };
    let mut effects = 0;
    for jobs in ["state = 'pending'", "state IN ('running', 'held') AND state NOT IN ('pending', 'done')"] {
        let sql = format!(
            "SELECT count(*) FROM (SELECT event, run FROM jobs WHERE {jobs} LIMIT {COUNTED_MAX}) j
             JOIN effects e ON e.event = j.event AND e.run = j.run AND e.state NOT IN ('done', 'abandoned')"
        );
        effects += tx.one(&sql, params![]).await?.read::<i64>(0)?;
    }
    let finding = Finding::new(Severity::Warning, "restored").number("restored_at", restored_at);
    let finding = finding.number("effects", effects);
    Ok(Some(match row.read::<Option<i64>>(1)? {
        Some(at) => finding.number("taken_at", at),
        None => finding,
    }))
}
