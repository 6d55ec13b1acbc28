//! Which migrations a store needs: the same rule for every engine.

/// One numbered step of a schema. Shipped ones are never edited.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The schema's version after it. Numbers start at 1 and have no gaps.
    pub version: u32,
    /// What it is about, for people.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
}

/// What to do with a store of some version.
#[derive(Debug, Clone, Copy)]
pub enum Plan<'a> {
    /// Apply these, in this order; none where the store is up to date.
    Apply(&'a [Migration]),
    /// The store was made by a newer program: change nothing. Carries the newest version that is known here.
    Newer(u32),
}

/// What brings a store from version `found` (0: empty) to the newest of `known`.
pub fn plan(known: &[Migration], found: u32) -> Plan<'_> {
    debug_assert!(
        known.iter().zip(1..).all(|(step, number)| step.version == number),
        "numbers start at 1 without gaps"
    );
    let newest = known.len() as u32;
    if found > newest { Plan::Newer(newest) } else { Plan::Apply(&known[found as usize..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Migration; 2] =
        [Migration { version: 1, name: "a", sql: "" }, Migration { version: 2, name: "b", sql: "" }];

    #[test]
    fn only_what_is_missing_is_applied() {
        let versions = |found| match plan(&KNOWN, found) {
            Plan::Apply(steps) => steps.iter().map(|step| step.version).collect::<Vec<_>>(),
            Plan::Newer(_) => panic!("not newer"),
        };
        assert_eq!(versions(0), [1, 2]);
        assert_eq!(versions(1), [2]);
        assert_eq!(versions(2), [0; 0]);
    }

    #[test]
    fn a_newer_store_is_left_alone() {
        assert!(matches!(plan(&KNOWN, 3), Plan::Newer(2)));
    }
}
