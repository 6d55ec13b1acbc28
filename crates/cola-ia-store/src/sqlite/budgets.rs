//! What may be spent on a source's jobs in a day.

use cola_ia_core::effect::{Micros, UtcDay};
use cola_ia_core::event::Source;
use cola_ia_core::store::{BudgetView, OpId, StoreError};
use rusqlite::Connection;

use super::ops::{Call, digest};
use super::reader::Sight;
use super::writer::Scope;
use super::{accept, money, row};

/// See [`Store::set_budget`](cola_ia_core::store::Store::set_budget).
pub(super) fn set_budget(
    scope: &Scope<'_>,
    op: OpId,
    source: &Source,
    limit: Option<Micros>,
) -> Result<(), StoreError> {
    let amount = limit.map(|limit| limit.get().to_le_bytes());
    let parts = [source.as_str().as_bytes(), amount.as_ref().map_or(&[], |bytes| bytes)];
    let call = Call { op, verb: "set_budget", request: digest(&parts) };
    if call.first_answer(scope)?.is_some() {
        return Ok(());
    }
    put(scope.connection, source, limit).map_err(|cause| scope.error(&cause))?;
    call.record(scope, scope.clock.now(), &[])
}

fn put(connection: &Connection, source: &Source, limit: Option<Micros>) -> rusqlite::Result<()> {
    match limit {
        Some(limit) => {
            let source = accept::source_row(connection, source.as_str())?;
            connection
                .prepare_cached(
                    "INSERT INTO budgets (source, limit_micros) VALUES (?1, ?2)
                     ON CONFLICT (source) DO UPDATE SET limit_micros = excluded.limit_micros",
                )?
                .execute([source, limit.get()])?;
        }
        // A source that nobody knows has none.
        None => {
            connection
                .prepare_cached("DELETE FROM budgets WHERE source = (SELECT source FROM sources WHERE name = ?1)")?
                .execute([source.as_str()])?;
        }
    }
    Ok(())
}

/// See [`Store::budgets`](cola_ia_core::store::Store::budgets).
pub(super) fn budgets(sight: &Sight<'_>, day: UtcDay) -> rusqlite::Result<Vec<BudgetView>> {
    let mut select = sight.connection.prepare_cached(
        "SELECT b.source, s.name, b.limit_micros FROM budgets b JOIN sources s ON s.source = b.source ORDER BY s.name",
    )?;
    let mut rows = select.query([])?;
    let mut views = Vec::new();
    while let Some(row) = rows.next()? {
        let limit: i64 = row.get(2)?;
        let (spent, reserved) = money::taken(sight.connection, row.get(0)?, day)?;
        views.push(BudgetView {
            source: row::source(row.get_ref(1)?.as_str()?)?,
            limit: Micros::new(limit).ok_or_else(|| row::unexpected("limit_micros", &limit.to_string()))?,
            day,
            spent,
            reserved,
        });
    }
    Ok(views)
}
