//! What may be spent on a source's jobs in a day.

use cola_ia_core::effect::{Micros, UtcDay};
use cola_ia_core::event::Source;
use cola_ia_core::store::{BudgetView, OpId};

use super::error::Fault;
use super::money;
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::common::digest::digest;

/// See [`Store::set_budget`](cola_ia_core::store::Store::set_budget).
pub(super) async fn set_budget(tx: &Tx, op: OpId, source: &Source, limit: Option<Micros>) -> Result<(), Fault> {
    let amount = limit.map(|limit| limit.get().to_le_bytes());
    let parts = [source.as_str().as_bytes(), amount.as_ref().map_or(&[], |bytes| bytes)];
    let call = Call { op, verb: "set_budget", request: digest(&parts) };
    if call.first_answer(tx).await?.is_some() {
        return Ok(());
    }
    put(tx, source.as_str(), limit).await?;
    call.record(tx, &[]).await
}

async fn put(tx: &Tx, source: &str, limit: Option<Micros>) -> Result<(), Fault> {
    let Some(limit) = limit else {
        // A source that nobody knows has none.
        tx.execute("DELETE FROM budgets WHERE source = (SELECT source FROM sources WHERE name = $1)", params![source])
            .await?;
        return Ok(());
    };
    let row = tx.make_sources(&[source]).await?.get(source).copied().ok_or_else(|| unexpected("source", source))?;
    tx.execute(
        "INSERT INTO budgets (source, limit_micros) VALUES ($1, $2)
         ON CONFLICT (source) DO UPDATE SET limit_micros = excluded.limit_micros",
        params![row, limit.get()],
    )
    .await
    .map(drop)
}

/// See [`Store::budgets`](cola_ia_core::store::Store::budgets). Of today by the store's clock.
pub(super) async fn budgets(tx: &Tx) -> Result<Vec<BudgetView>, Fault> {
    let day = UtcDay::of(tx.now);
    let rows = tx
        .query(
            "SELECT b.source, s.name, b.limit_micros FROM budgets b JOIN sources s ON s.source = b.source
             ORDER BY s.name",
            params![],
        )
        .await?;
    let sources = rows.iter().map(|row| row.read(0)).collect::<Result<Vec<i64>, Fault>>()?;
    let taken = money::taken(tx, &sources, day).await?;
    rows.iter()
        .zip(taken)
        .map(|(row, (spent, reserved))| {
            let limit: i64 = row.read(2)?;
            Ok(BudgetView {
                source: row.source(1)?,
                limit: Micros::new(limit).ok_or_else(|| unexpected("limit_micros", &limit.to_string()))?,
                day,
                spent,
                reserved,
            })
        })
        .collect()
}
