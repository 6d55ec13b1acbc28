//! The mark of a store that was moved.

use cola_ia_core::store::ErrorKind;

use super::error::Fault;
use super::migrate;
use super::row::{Columns as _, unexpected};
use super::sql::params;
use super::tx::Tx;
use crate::moved::{AT, Moved, OP, VERB, frozen};

/// The state by which the refusal of the triggers is told from every other error.
pub(super) const REFUSED: &str = "CIA01";

/// Sets the mark, or takes it away.
pub(super) async fn mark(tx: &Tx, mark: Option<&Moved>) -> Result<(), Fault> {
    let was_marked = find(tx).await?.is_some();
    if mark.is_some() && !was_marked {
        let running = "SELECT count(*) FROM jobs WHERE state = 'running' AND state NOT IN ('pending', 'done')";
        let running: i64 = tx.one(running, params![]).await?.read(0)?;
        if running > 0 {
            return Err(migrate::at(tx, ErrorKind::Conflict, "move_running").with("count", running).into());
        }
        tx.batch(&freeze()).await?;
    }
    if mark.is_none() && was_marked {
        tx.batch("DROP FUNCTION store_was_moved() CASCADE").await?;
    }
    match mark {
        Some(mark) => tx
            .execute(
                "INSERT INTO ops (op, verb, request, at, answer) VALUES ($1, $2, 0, $3, $4)
                 ON CONFLICT (op) DO UPDATE SET answer = excluded.answer",
                params![OP, VERB, AT, mark.packed()],
            )
            .await
            .map(drop),
        None => tx.execute("DELETE FROM ops WHERE op = $1", params![OP]).await.map(drop),
    }
}

/// A trigger of statements, and not of rows: who asks for work and finds none is told too.
fn freeze() -> String {
    let mut sql = format!(
        "CREATE FUNCTION store_was_moved() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'the store was moved' USING ERRCODE = '{REFUSED}'; END $$;\n"
    );
    for table in frozen() {
        sql.push_str("CREATE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE ON ");
        sql.push_str(table);
        sql.push_str(" FOR EACH STATEMENT EXECUTE FUNCTION store_was_moved();\n");
    }
    sql
}

/// The mark, if the store has one.
pub(super) async fn find(tx: &Tx) -> Result<Option<Moved>, Fault> {
    let Some(row) = tx.maybe("SELECT answer FROM ops WHERE op = $1", params![OP]).await? else { return Ok(None) };
    let bytes: Option<&[u8]> = row.read(0)?;
    match bytes.and_then(Moved::unpacked) {
        Some(moved) => Ok(Some(moved)),
        None => Err(unexpected("moved", "another shape")),
    }
}
