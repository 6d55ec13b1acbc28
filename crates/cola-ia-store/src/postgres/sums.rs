//! What one transaction adds to the sums of money, and what is left of a budget.

use cola_ia_core::effect::{Budget, UtcDay};

use super::error::Fault;
use super::money;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;
pub(super) use crate::common::money::Sums;

impl Sums {
    /// Adds all of it to what is there, row by row in one order: two who add to the same rows wait for each other and for
    /// nobody else. It comes last in a transaction, for everybody's ends meet here.
    pub(super) async fn write(&self, tx: &Tx) -> Result<(), Fault> {
        let mut columns: [Vec<i64>; 9] = std::array::from_fn(|_| Vec::new());
        let mut models = Vec::new();
        for (day, source, model, more) in self.iter() {
            let values = [
                day.0,
                source,
                more.costs,
                more.spent,
                more.reserved,
                more.tokens_in,
                more.tokens_out,
                more.replays,
                more.replayed,
            ];
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            models.push(model);
        }
        if models.is_empty() {
            return Ok(());
        }
        let [days, sources, costs, spent, reserved, tokens_in, tokens_out, replays, replayed] = columns;
        tx.execute(
            ADD,
            params![days, sources, models, costs, spent, reserved, tokens_in, tokens_out, replays, replayed],
        )
        .await
        .map(drop)
    }
}

/// A sum that does not fit is the largest number: `numeric` holds it until then.
const ADD: &str = "
    INSERT INTO money AS m (day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed)
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS more
        (day, source, model, costs, spent, reserved, tokens_in, tokens_out, replays, replayed)
    ORDER BY more.day, more.source, more.model COLLATE \"C\"
    ON CONFLICT (day, source, model) DO UPDATE SET
        costs = least(m.costs::numeric + excluded.costs, 9223372036854775807)::bigint,
        spent = least(m.spent::numeric + excluded.spent, 9223372036854775807)::bigint,
        reserved = least(m.reserved::numeric + excluded.reserved, 9223372036854775807)::bigint,
        tokens_in = least(m.tokens_in::numeric + excluded.tokens_in, 9223372036854775807)::bigint,
        tokens_out = least(m.tokens_out::numeric + excluded.tokens_out, 9223372036854775807)::bigint,
        replays = least(m.replays::numeric + excluded.replays, 9223372036854775807)::bigint,
        replayed = least(m.replayed::numeric + excluded.replayed, 9223372036854775807)::bigint";

/// The budget of a source on this day, if it has one, with the sums as they are in this transaction.
///
/// Where something is to be taken from it (`takes`), nobody else takes from it until this transaction has ended: what two saw
/// room for at once need not have room together. The sums are read only then, when nothing of it is open any more. It is locked
/// after the job and before any sums.
pub(super) async fn budget(tx: &Tx, source: i64, day: UtcDay, takes: bool) -> Result<Option<Budget>, Fault> {
    let select = if takes {
        "SELECT limit_micros FROM budgets WHERE source = $1 FOR UPDATE"
    } else {
        "SELECT limit_micros FROM budgets WHERE source = $1"
    };
    let Some(row) = tx.maybe(select, params![source]).await? else { return Ok(None) };
    let limit = row.read(0)?;
    let (spent, reserved) = match money::taken(tx, &[source], day).await?.first() {
        Some(sums) if takes => *sums,
        _ => (0, 0),
    };
    Ok(Some(Budget { limit, spent, reserved }))
}
