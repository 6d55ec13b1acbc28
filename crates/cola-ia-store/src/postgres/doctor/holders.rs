//! Who keeps the server from tidying up, and followers from what comes.

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Bounds, Finding, Severity};

pub(super) async fn look(tx: &Tx, bounds: &Bounds) -> Result<Vec<Finding>, Fault> {
    let held = i64::try_from(bounds.held.as_micros()).unwrap_or(i64::MAX);
    let mut findings = Vec::new();
    findings.extend(transaction(tx, held).await?);
    findings.extend(prepared(tx, held).await?);
    findings.extend(slots(tx, bounds.slot_bytes).await?);
    Ok(findings)
}

/// The oldest transaction that has looked at this database or writes in any of the server. What the server does by itself while
/// it tidies up holds nothing back.
async fn transaction(tx: &Tx, held: i64) -> Result<Option<Finding>, Fault> {
    let row = tx
        .maybe(
            "SELECT pid::bigint, coalesce(nullif(application_name, ''), usename, '?'),
                 (extract(epoch FROM xact_start) * 1000000)::bigint
             FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
                 AND xact_start <= clock_timestamp() - $1 * interval '1 microsecond'
                 AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL AND datname = current_database())
             ORDER BY xact_start LIMIT 1",
            params![held],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let finding = Finding::new(Severity::Warning, "transaction_old").number("pid", row.read::<i64>(0)?);
    Ok(Some(finding.text("who", row.read::<&str>(1)?).number("since_at", row.read::<i64>(2)?)))
}

/// The oldest transaction that was prepared and neither committed nor rolled back: it outlives whoever began it.
async fn prepared(tx: &Tx, held: i64) -> Result<Option<Finding>, Fault> {
    let row = tx
        .maybe(
            "SELECT gid, (extract(epoch FROM prepared) * 1000000)::bigint FROM pg_prepared_xacts
             WHERE prepared <= clock_timestamp() - $1 * interval '1 microsecond' ORDER BY prepared LIMIT 1",
            params![held],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let finding = Finding::new(Severity::Warning, "prepared_old").text("name", row.read::<&str>(0)?);
    Ok(Some(finding.number("since_at", row.read::<i64>(1)?)))
}

/// Replication slots that nobody uses: what they keep grows until the disk is full.
async fn slots(tx: &Tx, bytes: i64) -> Result<Vec<Finding>, Fault> {
    let rows = tx
        .query(
            "SELECT slot_name::text, kept FROM (
                 SELECT slot_name, coalesce(xmin, catalog_xmin) IS NOT NULL AS holds,
                     CASE WHEN restart_lsn IS NULL OR pg_is_in_recovery() THEN 0
                          ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) END::bigint AS kept
                 FROM pg_replication_slots WHERE NOT active) s
             WHERE holds OR kept >= $1 ORDER BY slot_name",
            params![bytes],
        )
        .await?;
    let slot = |row: &tokio_postgres::Row| {
        let finding = Finding::new(Severity::Warning, "slot_unused").text("name", row.read::<&str>(0)?);
        Ok(finding.number("behind_bytes", row.read::<i64>(1)?))
    };
    rows.iter().map(slot).collect()
}
