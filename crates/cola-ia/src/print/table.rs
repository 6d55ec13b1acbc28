//! A list in columns.

use std::fmt;

use super::Paint;

/// What stands in one place of a table. Whoever makes it sees to it that it is safe on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    paint: Option<Paint>,
    to_the_right: bool,
}

impl Cell {
    /// Words, to the left.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: None, to_the_right: false }
    }

    /// A number, to the right.
    #[allow(clippy::needless_pass_by_value, reason = "numbers are given away")]
    pub fn number(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), paint: None, to_the_right: true }
    }

    /// In this colour.
    #[must_use]
    pub const fn painted(mut self, paint: Paint) -> Self {
        self.paint = Some(paint);
        self
    }

    fn padded(&self, width: usize, is_last: bool, colour: bool) -> String {
        let padding = " ".repeat(width - self.text.chars().count());
        // Padding is put outside the colour, whose codes have a length too.
        let text = self.paint.map_or_else(|| self.text.clone(), |paint| paint.on(&self.text, colour));
        match (self.to_the_right, is_last) {
            (true, _) => format!("{padding}{text}"),
            (false, true) => text,
            (false, false) => format!("{text}{padding}"),
        }
    }
}

/// A head and rows of as many cells. Nothing but the last column may hold spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    head: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these heads; each stands as its column does.
    pub fn new(head: Vec<Cell>) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// One more row.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The lines: the head and each row with a line feed; nothing where there is no row.
    pub fn render(&self, colour: bool) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self.rows.iter().chain([&self.head]).filter_map(|row| row.get(column));
                cells.map(|cell| cell.text.chars().count()).max().unwrap_or_default()
            })
            .collect();
        let line = |row: &[Cell], colour| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| cell.padded(*width, at + 1 == row.len(), colour));
            cells.collect::<Vec<_>>().join("  ").trim_end_matches(' ').to_owned()
        };
        let mut out = Paint::Head.on(&line(&self.head, false), colour);
        out.push('\n');
        for row in &self.rows {
            out.push_str(&line(row, colour));
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(vec![Cell::number("N"), Cell::new("WORD"), Cell::new("ID")]);
        assert_eq!(table.render(false), "");
        table.push(vec![Cell::number(7), Cell::new("sí").painted(Paint::Good), Cell::new("a b")]);
        table.push(vec![Cell::number(123), Cell::new("larger"), Cell::new("")]);
        assert_eq!(table.render(false), "  N  WORD    ID\n  7  sí      a b\n123  larger\n");
        assert!(table.render(true).contains("\u{1b}["));
    }
}
