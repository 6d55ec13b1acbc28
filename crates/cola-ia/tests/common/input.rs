//! Inputs with the answers that they must get.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Random;

/// A line of input.
pub(crate) struct Line {
    /// As JSON, with its line end.
    pub(crate) json: String,
    /// `None`: the line is refused.
    pub(crate) event: Option<(String, String)>,
}

/// What the gate knows, and what it must therefore say: written down a second time, as simply as can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Text by id.
    pub(crate) events: BTreeMap<String, String>,
    /// Other texts that came under a known id.
    pub(crate) conflicts: BTreeSet<(String, String)>,
}

impl Gate {
    pub(crate) fn verdict(&mut self, id: &str, text: &str) -> &'static str {
        match self.events.get(id) {
            None => {
                self.events.insert(id.to_owned(), text.to_owned());
                "nuevo"
            }
            Some(known) if known == text => "repetido",
            Some(_) => {
                self.conflicts.insert((id.to_owned(), text.to_owned()));
                "conflicto"
            }
        }
    }

    /// The lines on stdout for this input.
    pub(crate) fn answers(&mut self, lines: &[Line]) -> Vec<String> {
        let events = lines.iter().filter_map(|line| line.event.as_ref());
        events.map(|(id, text)| format!("{id} {}", self.verdict(id, text))).collect()
    }
}

/// New ones, repeated ones, conflicts and refused lines, mixed; `filler` makes the texts longer.
pub(crate) fn mixed(random: &mut Random, count: usize, filler: usize) -> Vec<Line> {
    let filler = "x".repeat(filler);
    let mut known: Vec<(String, String)> = Vec::new();
    (0..count)
        .map(|number| {
            let old = (!known.is_empty()).then(|| known[random.below(known.len() as u64) as usize].clone());
            let (id, text) = match (random.below(10), old) {
                (0..=1, Some(old)) => old,
                (2, Some((id, _))) => (id, format!("otro texto {number}")),
                (3, _) => return Line { json: format!("{{\"id\":{number},\"texto\":\"un número\"}}\n"), event: None },
                _ => (format!("ev-{:016x}", random.next()), format!("texto {number} {filler}")),
            };
            known.push((id.clone(), text.clone()));
            Line { json: format!("{{\"id\":\"{id}\",\"texto\":\"{text}\"}}\n"), event: Some((id, text)) }
        })
        .collect()
}

/// The whole input.
pub(crate) fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.json.as_str()).collect()
}

/// `count` new events with these texts, which need no escapes.
pub(crate) fn with_texts(prefix: &str, count: usize, text: impl Fn(usize) -> String) -> String {
    let mut lines = String::new();
    for n in 0..count {
        writeln!(lines, "{{\"id\":\"{prefix}-{n}\",\"texto\":\"{}\"}}", text(n)).unwrap();
    }
    lines
}

/// `count` new events `PREFIX-0`, `PREFIX-1`, ….
pub(crate) fn numbered(prefix: &str, count: usize) -> String {
    with_texts(prefix, count, |n| format!("texto {n}"))
}
