//! Instants as senders write them.

use cola_ia_core::clock::Timestamp;

use crate::scheme::TimeUnit;

/// The first second of 2015, from which Discord counts, in milliseconds.
const DISCORD_EPOCH_MS: i64 = 1_420_070_400_000;

/// A signed time: whole digits, or RFC 3339. `None` for anything else, a sign, a fraction, a time that no calendar of ours has.
pub(crate) fn signed(unit: TimeUnit, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= 64)?;
    if matches!(unit, TimeUnit::S | TimeUnit::Ms) && !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    event(unit, text)
}

/// When something happened: also with a fraction, which is cut to whole microseconds.
pub(crate) fn event(unit: TimeUnit, text: &str) -> Option<Timestamp> {
    let instant = match unit {
        TimeUnit::S => decimal(text, 6)?,
        TimeUnit::Ms => decimal(text, 3)?,
        TimeUnit::Rfc3339 => Timestamp::parse_rfc3339(text)?,
        TimeUnit::Utc => Timestamp::parse_rfc3339(&format!("{text}Z"))?,
        TimeUnit::Snowflake => {
            let id: u64 = text.parse().ok()?;
            Timestamp::from_micros((((id >> 22) as i64).checked_add(DISCORD_EPOCH_MS)?).checked_mul(1_000)?)
        }
    };
    (instant <= Timestamp::LATEST).then_some(instant)
}

/// Digits, with a fraction or not, times a power of ten.
fn decimal(text: &str, places: usize) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(places).collect();
    let micros = whole.parse::<i64>().ok()?.checked_mul(10_i64.pow(places as u32))?;
    micros.checked_add(kept.parse().ok()?).map(Timestamp::from_micros)
}

/// The instant as a sender of this unit writes it.
pub(crate) fn written(unit: TimeUnit, at: Timestamp) -> String {
    let micros = at.as_micros();
    match unit {
        TimeUnit::S => (micros / 1_000_000).to_string(),
        TimeUnit::Ms => (micros / 1_000).to_string(),
        TimeUnit::Rfc3339 => at.to_rfc3339(),
        TimeUnit::Utc => at.to_rfc3339().trim_end_matches('Z').to_owned(),
        TimeUnit::Snowflake => ((micros / 1_000 - DISCORD_EPOCH_MS).max(0) << 22).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_exactly() {
        let micros = |unit, text: &str| event(unit, text).map(Timestamp::as_micros);
        assert_eq!(micros(TimeUnit::S, "1600112492"), Some(1_600_112_492_000_000));
        assert_eq!(micros(TimeUnit::S, "1600112492.1234567"), Some(1_600_112_492_123_456));
        assert_eq!(micros(TimeUnit::Ms, "1750000000123"), Some(1_750_000_000_123_000));
        assert_eq!(micros(TimeUnit::Utc, "1970-01-01T00:00:01"), Some(1_000_000));
        // The example of Discord's reference: 2016-04-30T11:18:25.796Z.
        assert_eq!(micros(TimeUnit::Snowflake, "175928847299117063"), Some(1_462_015_105_796_000));
        for (unit, wrong) in [
            (TimeUnit::S, ""),
            (TimeUnit::S, "-1"),
            (TimeUnit::S, "1e9"),
            (TimeUnit::S, "99999999999999999999"),
            (TimeUnit::S, "999999999999"),
            (TimeUnit::Ms, "1."),
            (TimeUnit::Rfc3339, "1600112492"),
            (TimeUnit::Snowflake, "x"),
        ] {
            assert_eq!(micros(unit, wrong), None, "{wrong}");
        }
        assert_eq!(signed(TimeUnit::S, b"1600112492.5"), None);
        assert_eq!(signed(TimeUnit::S, b"+1"), None);
    }

    #[test]
    fn what_is_written_is_read() {
        let at = Timestamp::from_micros(1_750_000_000_000_000);
        for unit in [TimeUnit::S, TimeUnit::Ms, TimeUnit::Rfc3339, TimeUnit::Utc, TimeUnit::Snowflake] {
            assert_eq!(event(unit, &written(unit, at)), Some(at), "{unit:?}");
        }
    }
}
