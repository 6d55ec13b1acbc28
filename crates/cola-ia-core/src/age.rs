//! Ages and moments as people write them: `15m`, `2026-01-31`, `2026-01-31T21:00:00Z`.

use std::time::Duration;

use crate::clock::Timestamp;

const DAY_MICROS: i64 = 86_400_000_000;

/// Reads a length of time: a whole number and one unit of `s`, `m`, `h`, `d` (24 hours) and `w` (7 days), as in `15m`.
/// `0s` is one. `None` for anything else: a sign, a fraction, white space, no unit, more than fits.
pub fn parse_age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds_each: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(seconds_each).map(Duration::from_secs)
}

/// Which end of a stretch of time is asked for: it decides what a date alone stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// Its first instant: a date is the start of that day.
    Start,
    /// The first instant after it: a date is the end of that day, so that the day itself is within.
    End,
}

/// Reads a moment: an RFC 3339 date-time, a date (in UTC), or an age, which is so long before `now`. An age that reaches
/// beyond the range of instants is its beginning.
pub fn parse_moment(text: &str, edge: Edge, now: Timestamp) -> Option<Timestamp> {
    if let Some(age) = parse_age(text) {
        let micros = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        return Some(Timestamp::from_micros(now.as_micros().saturating_sub(micros)));
    }
    if text.len() == "2026-01-31".len() {
        let start = Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))?.as_micros();
        return Some(Timestamp::from_micros(match edge {
            Edge::Start => start,
            Edge::End => start + DAY_MICROS,
        }));
    }
    Timestamp::parse_rfc3339(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_whole_number_and_a_unit() {
        let seconds = |text| parse_age(text).map(|age| age.as_secs());
        for (text, expected) in
            [("0s", 0), ("15m", 900), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), ("007s", 7)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "s",
            "7",
            "-1s",
            "+1s",
            "1.5h",
            " 1s",
            "1s ",
            "1 s",
            "1S",
            "1y",
            "1ms",
            "1h30m",
            "1ñ",
            "٣s",
            "18446744073709551615w",
            "18446744073709551616s",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(seconds("18446744073709551615s"), Some(u64::MAX));
    }

    #[test]
    fn a_moment_is_an_instant_a_date_or_an_age() {
        let now = Timestamp::parse_rfc3339("2026-01-31T21:00:00Z").expect("an instant");
        let read = |text, edge| parse_moment(text, edge, now).map(Timestamp::to_rfc3339);
        for (text, start, end) in [
            ("2026-01-31", "2026-01-31T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z"),
            ("2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00.000000Z", "2026-01-31T08:00:00.000000Z"),
            ("24h", "2026-01-30T21:00:00.000000Z", "2026-01-30T21:00:00.000000Z"),
            ("0s", "2026-01-31T21:00:00.000000Z", "2026-01-31T21:00:00.000000Z"),
        ] {
            assert_eq!(read(text, Edge::Start).as_deref(), Some(start), "{text}");
            assert_eq!(read(text, Edge::End).as_deref(), Some(end), "{text}");
        }
        for wrong in ["", "yesterday", "2026-02-30", "2026-1-31", "31/01/2026", "2026-01-31 21:00", "-1h"] {
            assert_eq!(read(wrong, Edge::Start), None, "{wrong}");
        }
        assert!(read("18446744073709551615s", Edge::Start).is_some());
    }
}
