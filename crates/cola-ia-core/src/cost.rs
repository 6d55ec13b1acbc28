//! Money as people and programs write it.

/// Digits behind the point that are kept.
const DECIMALS: i64 = 6;

/// Reads a decimal number (`0.0123`, `3`, `1.2e-05`) as whole millionths, rounded up: nothing is ever counted as less than it
/// was. Nothing goes through floating point. `None`: it is no such number, it is negative, or it does not fit.
pub fn cost_micros(text: &str) -> Option<i64> {
    let (micros, rest) = millionths(text)?;
    micros.checked_add(i64::from(rest))
}

/// The same for what must not be rounded: `None` too where it has more than six decimals.
pub fn exact_micros(text: &str) -> Option<i64> {
    millionths(text).and_then(|(micros, rest)| (!rest).then_some(micros))
}

/// Writes millionths as a decimal number, as short as it can be: `0.25`, `-3`.
pub fn decimal(micros: i64) -> String {
    let (whole, rest) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let sign = if micros < 0 { "-" } else { "" };
    let fraction = format!("{rest:06}");
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// Whole millionths, and whether there is more behind them.
fn millionths(text: &str) -> Option<(i64, bool)> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !are_digits(whole) || !are_digits(fraction) || !are_digits(unsigned) {
        return None;
    }
    let digits = whole.trim_start_matches('0').to_owned() + fraction;
    let digits = digits.trim_end_matches('0');
    if digits.trim_start_matches('0').is_empty() {
        return Some((0, false));
    }
    // An exponent that is out of bounds makes the number too small to be more than one millionth, or too large.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
    let point = (whole.trim_start_matches('0').len() as i64).saturating_add(exponent).saturating_add(DECIMALS);
    let Ok(point) = usize::try_from(point) else { return Some((0, true)) };
    let (kept, cut) = digits.split_at(point.min(digits.len()));
    let mut micros: i64 = 0;
    for digit in kept.bytes() {
        micros = micros.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    for _ in digits.len()..point {
        // Leading zeros of a fraction are digits too; a number that is not zero grows out of bounds within a few steps.
        micros = micros.checked_mul(10)?;
    }
    Some((micros, !cut.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_read_exactly_and_rounded_up() {
        let table = [
            ("0", Some(0)),
            ("0.000000", Some(0)),
            ("3", Some(3_000_000)),
            ("0.0123", Some(12_300)),
            ("0.1", Some(100_000)),
            ("1.2e-05", Some(12)),
            ("1.2E+2", Some(120_000_000)),
            ("0.00000001", Some(1)),
            ("0.0000019", Some(2)),
            ("1e-7", Some(1)),
            ("1e-99999999999999999999", Some(1)),
            ("0e99999999999999999999", Some(0)),
            ("0.00001e1", Some(100)),
            ("000.5", Some(500_000)),
            ("9223372036854.775807", Some(i64::MAX)),
            ("9223372036854.775808", None),
            ("9223372036854.7758071", None),
            ("1e13", None),
            ("1e99999999999999999999", None),
            ("1e9223372036854775807", None),
            ("", None),
            (".5", None),
            ("5.", None),
            ("-1", None),
            ("+1", None),
            ("1,5", None),
            (" 1", None),
            ("1e", None),
            ("1e+", None),
            ("0x10", None),
            ("NaN", None),
            ("１", None),
        ];
        for (text, micros) in table {
            assert_eq!(cost_micros(text), micros, "{text:?}");
        }
    }

    #[test]
    fn what_must_not_be_rounded_is_refused() {
        for (text, micros) in [("0.25", Some(250_000)), ("0.000001", Some(1)), ("1e-7", None), ("0.0000001", None)] {
            assert_eq!(exact_micros(text), micros, "{text}");
        }
        assert_eq!(exact_micros("0.1000000"), Some(100_000));
        assert_eq!(exact_micros("nan"), None);
        assert_eq!(exact_micros("1e-99999999999999999999"), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let table = [
            (0, "0"),
            (1, "0.000001"),
            (250_000, "0.25"),
            (3_000_000, "3"),
            (1_000_010, "1.00001"),
            (-1_500_000, "-1.5"),
        ];
        for (micros, text) in table {
            assert_eq!(decimal(micros), text);
        }
        assert_eq!(decimal(i64::MIN), "-9223372036854.775808");
        for micros in [0, 1, 999_999, 1_000_000, i64::MAX] {
            assert_eq!(exact_micros(&decimal(micros)), Some(micros));
        }
    }
}
