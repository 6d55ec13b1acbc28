//! Money of effects: reserved when a try begins, released when it closes, spent when it happened.
//!
//! Whole millionths of the store's one currency, never floating point. A day's money is counted where it was reserved, so that
//! what happens after midnight cannot overdraw the next day.

use crate::clock::Timestamp;
use crate::cost::cost_micros;

/// The dearest effect: a thousand million units. Some nine thousand of them fit into a sum.
pub const COST_MAX_MICROS: i64 = 1_000_000_000_000_000;

/// An amount of money, in millionths: from 0 to [`COST_MAX_MICROS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(i64);

impl Micros {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Checks the bounds; `None` for what is negative or too large.
    pub const fn new(micros: i64) -> Option<Self> {
        if micros >= 0 && micros <= COST_MAX_MICROS { Some(Self(micros)) } else { None }
    }

    /// Reads a decimal number, rounded up to a millionth; `None` for what is no number, negative or too large.
    pub fn parse(text: &str) -> Option<Self> {
        cost_micros(text).and_then(Self::new)
    }

    /// Millionths.
    pub const fn get(self) -> i64 {
        self.0
    }
}

const DAY_MICROS: i64 = 86_400_000_000;

/// A day in UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDay(pub i64);

impl UtcDay {
    /// The day of an instant.
    pub const fn of(at: Timestamp) -> Self {
        Self(at.as_micros().div_euclid(DAY_MICROS))
    }

    /// Its first instant.
    pub const fn start(self) -> Timestamp {
        Timestamp::from_micros(self.0.saturating_mul(DAY_MICROS))
    }

    /// The day after.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// As `2026-11-30`.
impl std::fmt::Display for UtcDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = self.start().to_rfc3339();
        f.write_str(start.split_once('T').map_or(start.as_str(), |(day, _)| day))
    }
}

/// The budget of a source for one day, read in the transaction that reserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// At most so much, in millionths.
    pub limit: i64,
    /// Spent of it, in millionths.
    pub spent: i64,
    /// Reserved of it by tries whose outcome is open, in millionths.
    pub reserved: i64,
}

impl Budget {
    /// Whether so much more fits. Sums that do not fit into a number do not.
    pub fn has_room_for(&self, amount: Micros, count_reserved: bool) -> bool {
        let reserved = if count_reserved { self.reserved } else { 0 };
        self.spent
            .checked_add(reserved)
            .and_then(|taken| taken.checked_add(amount.get()))
            .is_some_and(|taken| taken <= self.limit)
    }

    /// After a move of money. A sum that does not fit into a number is the largest one: the budget is used up, and evidence of
    /// what was paid is never refused.
    #[must_use]
    pub const fn after(self, change: MoneyMove) -> Self {
        Self {
            limit: self.limit,
            spent: self.spent.saturating_add(change.spent),
            reserved: self.reserved.saturating_add(change.reserved),
        }
    }
}

/// Money that a try holds until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// How much.
    pub amount: Micros,
    /// The day whose budget it was taken from, and goes back to.
    pub day: UtcDay,
}

/// What a verb adds to the sums of a day of the job's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MoneyMove {
    /// The day.
    pub day: UtcDay,
    /// Added to what is reserved; negative where it is released.
    pub reserved: i64,
    /// Added to what is spent.
    pub spent: i64,
}

/// Moves of one verb, one a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Money(Vec<MoneyMove>);

impl Money {
    pub(super) fn reserve(&mut self, reservation: Reservation) {
        self.add(reservation.day, reservation.amount.get(), 0);
    }

    pub(super) fn release(&mut self, reservation: Reservation) {
        self.add(reservation.day, -reservation.amount.get(), 0);
    }

    pub(super) fn spend(&mut self, day: UtcDay, amount: Micros) {
        self.add(day, 0, amount.get());
    }

    fn add(&mut self, day: UtcDay, reserved: i64, spent: i64) {
        match self.0.iter_mut().find(|change| change.day == day) {
            Some(change) => {
                change.reserved = change.reserved.saturating_add(reserved);
                change.spent = change.spent.saturating_add(spent);
            }
            None => self.0.push(MoneyMove { day, reserved, spent }),
        }
    }

    /// Those that change something.
    pub(super) fn moves(&self) -> impl Iterator<Item = MoneyMove> + '_ {
        self.0.iter().copied().filter(|change| (change.reserved, change.spent) != (0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_bounds() {
        for (micros, fits) in [(0, true), (COST_MAX_MICROS, true), (-1, false), (COST_MAX_MICROS + 1, false)] {
            assert_eq!(Micros::new(micros).is_some(), fits, "{micros}");
        }
        for (text, micros) in [("0.0000001", Some(1)), ("NaN", None), ("-0.1", None), ("1e10", None), ("inf", None)] {
            assert_eq!(Micros::parse(text).map(Micros::get), micros, "{text}");
        }
    }

    #[test]
    fn a_budget_counts_what_is_reserved_and_never_overflows() {
        let budget = Budget { limit: 10, spent: 3, reserved: 5 };
        let has_room = |amount| budget.has_room_for(Micros(amount), true);
        assert!(has_room(2) && !has_room(3));
        assert!(budget.has_room_for(Micros(7), false));
        let full = Budget { limit: i64::MAX, spent: i64::MAX, reserved: 1 };
        assert!(!full.has_room_for(Micros::ZERO, true));
        let more = MoneyMove { day: UtcDay(0), reserved: 0, spent: COST_MAX_MICROS };
        assert_eq!(full.after(more).spent, i64::MAX);
    }

    #[test]
    fn days_are_those_of_utc() {
        let day = |text| UtcDay::of(Timestamp::parse_rfc3339(text).unwrap());
        assert_eq!(day("1970-01-01T23:59:59.999999Z"), UtcDay(0));
        assert_eq!(day("1969-12-31T23:59:59Z"), UtcDay(-1));
        assert_eq!(day("2026-03-29T00:30:00+02:00"), day("2026-03-28T12:00:00Z"));
        assert_eq!(day("2026-03-28T12:00:00Z").to_string(), "2026-03-28");
        assert_eq!(day("2026-03-28T12:00:00Z").next().start().to_rfc3339(), "2026-03-29T00:00:00.000000Z");
    }
}
