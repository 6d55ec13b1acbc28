//! What docs/WEBHOOKS.md and its Spanish twin say of refusals and of senders, against the code's own tables.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cola_ia_core::intake::RefusalCode;
use cola_ia_webhook::{catalogue, status_of};

const PAGES: [(&str, &str, &str); 2] =
    [("WEBHOOKS.md", "## Refusals\n", "## Senders\n"), ("WEBHOOKS.es.md", "## Rechazos\n", "## Emisores\n")];

fn section(page: &str, heading: &str) -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).unwrap();
    let (_, rest) = page.split_once(heading).unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The cells of a table's rows, without its head.
fn rows(section: &str) -> Vec<Vec<String>> {
    let lines = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    lines.map(cells).collect()
}

/// What stands in code spans.
fn words(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_table_of_refusals_is_the_codes_own() {
    for (page, heading, _) in PAGES {
        let mut told = BTreeMap::new();
        for row in rows(&section(page, heading)) {
            let status: u16 = row[1].parse().unwrap();
            for word in words(&row[0]) {
                assert_eq!(told.insert(word.to_owned(), status), None, "{page}: {word} twice");
            }
        }
        for code in RefusalCode::ALL {
            match told.remove(code.as_str()) {
                Some(status) => assert_eq!(status, status_of(*code), "{page}: {}", code.as_str()),
                // The row of `id_missing` stands for what the gate refuses of any input; all else is listed.
                None => assert!(
                    status_of(*code) == 400 && (*code as usize) < RefusalCode::SignatureMissing as usize,
                    "{page} lacks {}",
                    code.as_str()
                ),
            }
        }
        assert_eq!(told, BTreeMap::new(), "{page} has codes that there are not");
    }
}

#[test]
fn the_schemes_of_the_senders_are_in_the_catalogue() {
    let mut seen = Vec::new();
    for (page, _, heading) in PAGES {
        let mut schemes = Vec::new();
        for row in rows(&section(page, heading)) {
            assert_eq!(row.len(), 6, "{page}: {row:?}");
            for word in words(&row[3]).iter().flat_map(|word| word.split(',')) {
                let name = word.trim().trim_start_matches("scheme = ");
                if let Some(name) = name.strip_prefix('"') {
                    let name = name.trim_end_matches('"');
                    assert!(catalogue().iter().any(|scheme| scheme.name == name), "{page}: {name}");
                    schemes.push(name.to_owned());
                }
            }
        }
        assert!(schemes.len() >= 17, "{page}: {schemes:?}");
        seen.push(schemes);
    }
    assert_eq!(seen[0], seen[1], "both pages have the same senders");
}
