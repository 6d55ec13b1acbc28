//! Whether the server keeps our tables tidy: rows that are dead, transactions that grow old.

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Bounds, Finding, Severity};

/// From here on the server is about to take no more writes, in transactions.
const AGE_MAX: i64 = 1_600_000_000;

pub(super) async fn look(tx: &Tx, bounds: &Bounds) -> Result<Vec<Finding>, Fault> {
    let rows = tx
        .query(
            "SELECT c.relname::text, c.relpersistence = 'u', coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0),
                 (extract(epoch FROM greatest(s.last_vacuum, s.last_autovacuum)) * 1000000)::bigint,
                 greatest(age(c.relfrozenxid), age(t.relfrozenxid))::bigint,
                 coalesce(pg_catalog.array_to_string(c.reloptions, ' '), '') ~ 'autovacuum_enabled=(off|false|no|0)'
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                 LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
                 LEFT JOIN pg_catalog.pg_stat_user_tables s ON s.relid = c.oid
             WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.relname",
            params![tx.shared.address.schema.as_str()],
        )
        .await?;
    let mut findings = Vec::new();
    for row in rows {
        let table: &str = row.read(0)?;
        let about = |severity, code| Finding::new(severity, code).text("table", table);
        if row.read(1)? {
            findings.push(about(Severity::Error, "table_unlogged"));
        }
        let (live, dead): (i64, i64) = (row.read(2)?, row.read(3)?);
        if dead >= bounds.dead_rows && dead > live {
            let finding = about(Severity::Warning, "table_bloated").number("count", dead).number("rows", live);
            findings.push(match row.read::<Option<i64>>(4)? {
                Some(at) => finding.number("vacuumed_at", at),
                None => finding,
            });
        }
        let age: i64 = row.read::<Option<i64>>(5)?.unwrap_or(0);
        if age >= bounds.transactions {
            let severity = if age >= AGE_MAX { Severity::Error } else { Severity::Warning };
            findings.push(about(severity, "table_aged").number("count", age));
        }
        if row.read(6)? {
            findings.push(about(Severity::Warning, "table_untidied"));
        }
    }
    Ok(findings)
}
