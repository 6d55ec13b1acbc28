//! Lists that are read downwards by number, so many rows a call, from one table or from several.

/// Rows that one call looks at in each table, whatever its filter lets through: the page comes short then, and the next call
/// goes on. A view is over in some milliseconds, and nothing long holds the log back.
pub(crate) const ROWS_MAX: i64 = 4_000;

/// What was found in one table.
#[derive(Debug)]
pub(crate) struct Stretch<T> {
    /// By number, highest first.
    found: Vec<(i64, T)>,
    /// Everything down to this number was looked at; `None`: there is nothing below.
    floor: Option<i64>,
}

impl<T> Stretch<T> {
    /// What was found by a statement with `LIMIT limit + 1` that looked down to `floor`.
    pub(crate) fn new(found: Vec<(i64, T)>, limit: usize, floor: Option<i64>) -> Self {
        let floor = if found.len() > limit { found.last().map(|(number, _)| *number) } else { floor };
        Self { found, floor }
    }
}

/// The highest `limit` of several tables, and below which number the next page starts.
pub(crate) fn merge<T>(stretches: Vec<Stretch<T>>, limit: usize) -> (Vec<T>, Option<i64>) {
    // Below the highest floor, one of the tables has not been looked at.
    let floor = stretches.iter().filter_map(|stretch| stretch.floor).max();
    let mut found: Vec<(i64, T)> = stretches
        .into_iter()
        .flat_map(|stretch| stretch.found)
        .filter(|(number, _)| floor.is_none_or(|floor| *number >= floor))
        .collect();
    found.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    let next = if found.len() > limit {
        found.truncate(limit);
        found.last().map(|(number, _)| *number)
    } else {
        floor
    };
    (found.into_iter().map(|(_, item)| item).collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(numbers: &[i64], limit: usize, floor: Option<i64>) -> Stretch<i64> {
        Stretch::new(numbers.iter().map(|number| (*number, *number)).collect(), limit, floor)
    }

    #[test]
    fn nothing_below_an_unseen_number_is_given() {
        // The second table was looked at down to 6 only.
        let merged = merge(vec![stretch(&[9, 5, 1], 4, None), stretch(&[8], 4, Some(6))], 4);
        assert_eq!(merged, (vec![9, 8], Some(6)));
        // Both to their end.
        let merged = merge(vec![stretch(&[9, 5, 1], 4, None), stretch(&[8], 4, None)], 4);
        assert_eq!(merged, (vec![9, 8, 5, 1], None));
        // More than fits.
        let merged = merge(vec![stretch(&[9, 5, 1], 2, None), stretch(&[8, 7, 6], 2, None)], 2);
        assert_eq!(merged, (vec![9, 8], Some(8)));
        // Nothing found, and more to look at.
        assert_eq!(merge(vec![stretch(&[], 2, Some(3))], 2), (vec![], Some(3)));
    }
}
