//! Whether everything is there that the migrations make: a table that is gone loses what it had, an index that is gone or invalid
//! makes slow, and one that is unique lets in twice what must be there once.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Finding, Severity};
use crate::migration::Migration;

pub(super) async fn look(tx: &Tx, known: &[Migration]) -> Result<Vec<Finding>, Fault> {
    let mut made = Made::default();
    for migration in known {
        made.apply(migration.sql);
    }
    let rows = tx
        .query(
            "SELECT c.relname::text, c.relkind::text, coalesce(i.indisvalid AND i.indisready, true),
                 coalesce(i.indisunique, false)
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                 LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
             WHERE n.nspname = $1 ORDER BY c.relname",
            params![tx.shared.address.schema.as_str()],
        )
        .await?;
    let (mut findings, mut unique_there) = (Vec::new(), BTreeMap::new());
    for row in &rows {
        let (name, kind): (&str, &str) = (row.read(0)?, row.read(1)?);
        match kind {
            "i" => {
                unique_there.insert(name, row.read::<bool>(3)?);
                if !row.read::<bool>(2)? {
                    let is_unique = made.indexes.get(name).copied().unwrap_or(false);
                    let severity = if is_unique { Severity::Error } else { Severity::Warning };
                    findings.push(Finding::new(severity, "index_invalid").text("name", name));
                }
            }
            "r" | "S" | "p" => drop(made.tables.remove(name)),
            _ => {}
        }
    }
    for name in &made.tables {
        findings.push(Finding::new(Severity::Error, "table_missing").text("table", name));
    }
    for (name, is_unique) in &made.indexes {
        let is_there = unique_there.get(&name[..]).is_some_and(|there| *there || !is_unique);
        if !is_there {
            let severity = if *is_unique { Severity::Error } else { Severity::Warning };
            findings.push(Finding::new(severity, "index_missing").text("name", name));
        }
    }
    Ok(findings)
}

/// What stands after some migrations, by name. Of our own SQL, in the forms in which we write it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Made {
    /// Tables and sequences.
    tables: BTreeSet<String>,
    /// Indexes, and whether they are unique.
    indexes: BTreeMap<String, bool>,
}

impl Made {
    fn apply(&mut self, sql: &str) {
        let code: Vec<&str> = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
        for statement in code.join(" ").split(';') {
            let words: Vec<&str> = statement.split_whitespace().collect();
            match words[..] {
                ["CREATE", "TABLE", name, ..] => self.table(name, statement),
                ["CREATE", "SEQUENCE", name, ..] => drop(self.tables.insert(name.to_owned())),
                ["CREATE", "INDEX", name, "ON", ..] => drop(self.indexes.insert(name.to_owned(), false)),
                ["CREATE", "UNIQUE", "INDEX", name, "ON", ..] => drop(self.indexes.insert(name.to_owned(), true)),
                ["DROP", "INDEX", name] => drop(self.indexes.remove(name)),
                ["DROP", "TABLE", name] => drop(self.tables.remove(name)),
                _ => {}
            }
        }
    }

    /// A table with the indexes of its keys, which the server names.
    fn table(&mut self, table: &str, statement: &str) {
        self.tables.insert(table.to_owned());
        for part in parts(statement) {
            let words: Vec<&str> = part.split(|c: char| c.is_whitespace() || "(),".contains(c)).collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            match words[..] {
                ["CONSTRAINT", name, "UNIQUE", ..] => drop(self.indexes.insert(name.to_owned(), true)),
                ["UNIQUE", ref columns @ ..] => {
                    self.indexes.insert(format!("{table}_{}_key", columns.join("_")), true);
                }
                [column, ..] if words.contains(&"UNIQUE") => {
                    self.indexes.insert(format!("{table}_{column}_key"), true);
                }
                _ if part.contains("PRIMARY KEY") => drop(self.indexes.insert(format!("{table}_pkey"), true)),
                _ => {}
            }
        }
    }
}

/// Columns and constraints: what stands between the outer brackets, apart.
fn parts(statement: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in statement.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match (c, depth) {
            // What stands behind is about how the table is kept.
            (')', 0) => break,
            (',', 1) => parts.push(String::new()),
            ('(', 1) | (_, 0) => {}
            _ => parts.last_mut().expect("there is always one").push(c),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_server_gives() {
        let mut made = Made::default();
        made.apply(
            "-- A table; of two.
             CREATE TABLE a (one bigint PRIMARY KEY CHECK (one IN (1, 2)), name text COLLATE \"C\" NOT NULL UNIQUE, -- UNIQUE
                 b bigint, CONSTRAINT pair UNIQUE (one, b), UNIQUE (b, name)) WITH (fillfactor = 90);
             CREATE TABLE c (x bigint, y bigint,
                 PRIMARY KEY (x, y));
             CREATE SEQUENCE numbers;
             CREATE INDEX c_y ON c (y) WHERE y IS NOT NULL; CREATE UNIQUE INDEX c_x ON c (x);",
        );
        assert_eq!(made.tables.iter().collect::<Vec<_>>(), ["a", "c", "numbers"]);
        let unique = |is| -> Vec<&str> {
            made.indexes.iter().filter(|(_, unique)| **unique == is).map(|(name, _)| &name[..]).collect()
        };
        assert_eq!(unique(true), ["a_b_name_key", "a_name_key", "a_pkey", "c_pkey", "c_x", "pair"]);
        assert_eq!(unique(false), ["c_y"]);
        made.apply("DROP INDEX c_y; DROP TABLE a;");
        assert!(!made.indexes.contains_key("c_y") && !made.tables.contains("a"));
    }
}
