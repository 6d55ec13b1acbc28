//! The canonical form of a JSON value that is taken as a text: equal values have equal texts.
//!
//! Keys are sorted by code point, there is no white space, strings have only the escapes that they need, and a number is its
//! exact decimal value in scientific notation: one digit but 0 before the point, no zero at the end, `e` and the exponent.
//! `100`, `1e2` and `100.00` are `1e2`; `-0` is `0e0`. Nothing passes through a floating-point number and nothing is written
//! out: `1e999999999` stays as short as it is.

use std::fmt::Write as _;

use cola_ia_core::intake::RefusalCode;

use crate::json::{Json, Kind, check};
use crate::pointer::Pointer;

/// The canonical text of one JSON text, at most so many bytes.
///
/// # Errors
/// The code of what is wrong with the JSON ([`RefusalCode::JsonDuplicateKey`], [`RefusalCode::JsonLoneSurrogate`], …), or
/// [`RefusalCode::TextTooLong`].
pub fn canonical_json(bytes: &[u8], max_bytes: usize) -> Result<String, RefusalCode> {
    let json = check(bytes).map_err(|fault| fault.code)?;
    canonical(json, &[], max_bytes).map_err(|TooLong| RefusalCode::TextTooLong)
}

/// The text would be longer than its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The canonical text of a value, without what `ignore` points at.
pub(crate) fn canonical(json: Json<'_>, ignore: &[Pointer], max_bytes: usize) -> Result<String, TooLong> {
    let mut writer = Writer { out: String::new(), max_bytes };
    let ignore: Vec<&[String]> = ignore.iter().map(Pointer::tokens).collect();
    writer.value(json, &ignore)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    max_bytes: usize,
}

impl Writer {
    fn value(&mut self, json: Json<'_>, ignore: &[&[String]]) -> Result<(), TooLong> {
        match json.kind() {
            Kind::Object => self.object(json, ignore)?,
            Kind::Array => {
                self.out.push('[');
                let mut any = false;
                for (index, element) in json.elements().enumerate() {
                    let (ignored, below) = step(ignore, &index.to_string());
                    if ignored {
                        continue;
                    }
                    if any {
                        self.out.push(',');
                    }
                    any = true;
                    self.value(element, &below)?;
                }
                self.out.push(']');
            }
            Kind::String => string(&mut self.out, &json.string().unwrap_or_default()),
            Kind::Number => number(&mut self.out, json.raw()),
            Kind::Bool | Kind::Null => self.out.push_str(json.raw()),
        }
        if self.out.len() > self.max_bytes { Err(TooLong) } else { Ok(()) }
    }

    /// Members are written as they come and then put in order: each level moves its bytes once.
    fn object(&mut self, json: Json<'_>, ignore: &[&[String]]) -> Result<(), TooLong> {
        let start = self.out.len();
        let mut written = Vec::new();
        for (key, value) in json.members() {
            let (ignored, below) = step(ignore, &key);
            if ignored {
                continue;
            }
            let from = self.out.len();
            string(&mut self.out, &key);
            self.out.push(':');
            self.value(value, &below)?;
            written.push((key, from..self.out.len()));
        }
        // The order of UTF-8's bytes is that of the code points.
        written.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut ordered = String::with_capacity(self.out.len() - start + written.len() + 2);
        ordered.push('{');
        for (place, (_, range)) in written.into_iter().enumerate() {
            if place > 0 {
                ordered.push(',');
            }
            ordered.push_str(&self.out[range]);
        }
        ordered.push('}');
        self.out.truncate(start);
        self.out.push_str(&ordered);
        Ok(())
    }
}

/// Whether what `token` leads to is left out, and what is left out below it.
fn step<'p>(ignore: &[&'p [String]], token: &str) -> (bool, Vec<&'p [String]>) {
    let mut below = Vec::new();
    for path in ignore {
        if let Some((first, rest)) = path.split_first()
            && (first == "*" || first == token)
        {
            if rest.is_empty() {
                return (true, below);
            }
            below.push(rest);
        }
    }
    (false, below)
}

/// A string with the escapes that it needs.
pub(crate) fn string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A number of JSON's grammar as its exact value.
fn number(out: &mut String, text: &str) {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        out.push_str("0e0");
        return;
    }
    let zeros = digits.len() - significant.len();
    let shift = whole.len() as i64 - 1 - zeros as i64;
    let significant = significant.trim_end_matches('0');
    if negative {
        out.push('-');
    }
    out.push_str(&significant[..1]);
    if significant.len() > 1 {
        out.push('.');
        out.push_str(&significant[1..]);
    }
    out.push('e');
    out.push_str(&sum(exponent, shift));
}

/// The sum of a decimal number of any length and a small one.
fn sum(exponent: &str, shift: i64) -> String {
    /// Digits that are added as one; a shift, which is at most as large as a text is long, has far fewer.
    const TAIL: usize = 18;
    const BASE: i128 = 1_000_000_000_000_000_000;
    let negative = exponent.starts_with('-');
    let magnitude = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let sign = if negative { -1 } else { 1 };
    if magnitude.len() <= TAIL {
        let value = magnitude.parse::<i128>().unwrap_or(0) * sign + i128::from(shift);
        return value.to_string();
    }
    // So large that the sign stays and at most one is carried.
    let (head, tail) = magnitude.split_at(magnitude.len() - TAIL);
    let tail = tail.parse::<i128>().unwrap_or(0) + i128::from(shift) * sign;
    let (head, tail) = match tail {
        ..0 => (stepped(head, b'0', b'9', -1), tail + BASE),
        BASE.. => (stepped(head, b'9', b'0', 1), tail - BASE),
        _ => (head.to_owned(), tail),
    };
    let digits = format!("{head}{tail:018}");
    format!("{}{}", if negative { "-" } else { "" }, digits.trim_start_matches('0'))
}

/// A decimal number that is not 0, one more or one less: digits `at_end` become `wrapped` and carry on.
fn stepped(digits: &str, at_end: u8, wrapped: u8, by: i8) -> String {
    let mut digits = digits.as_bytes().to_vec();
    let mut carried = true;
    for digit in digits.iter_mut().rev() {
        if *digit == at_end {
            *digit = wrapped;
        } else {
            *digit = digit.wrapping_add_signed(by);
            carried = false;
            break;
        }
    }
    let head = if carried && by > 0 { "1" } else { "" };
    head.chars().chain(digits.into_iter().map(char::from)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form(text: &str) -> String {
        canonical_json(text.as_bytes(), usize::MAX).unwrap()
    }

    #[test]
    fn numbers_are_their_exact_value() {
        let cases = [
            ("0", "0e0"),
            ("-0", "0e0"),
            ("0.000e5", "0e0"),
            ("1", "1e0"),
            ("100", "1e2"),
            ("1E+2", "1e2"),
            ("100.00", "1e2"),
            ("-12.50", "-1.25e1"),
            ("0.001", "1e-3"),
            ("0.1", "1e-1"),
            ("9007199254740993", "9.007199254740993e15"),
            ("0.1000000000000000055511151231257827", "1.000000000000000055511151231257827e-1"),
            ("1e999999999", "1e999999999"),
            ("10e999999999999999999", "1e1000000000000000000"),
            ("10e9999999999999999999999", "1e10000000000000000000000"),
            ("0.1e10000000000000000000000", "1e9999999999999999999999"),
            ("0.1e-9999999999999999999999", "1e-10000000000000000000000"),
            ("10e-10000000000000000000000", "1e-9999999999999999999999"),
            ("1e00000000000000000000000007", "1e7"),
        ];
        for (text, expected) in cases {
            assert_eq!(form(text), expected, "{text}");
            assert_eq!(form(expected), expected, "{text}");
        }
    }

    #[test]
    fn keys_are_sorted_by_code_point() {
        // In UTF-16, which other canonical forms sort by, U+1F600 comes before U+FF5E.
        assert_eq!(form(r#" {"～":1, "😀":2, "b":[ true , null ], "a":{"d":"x","c":"\/\u0001\u00e9"}} "#), {
            "{\"a\":{\"c\":\"/\\u0001é\",\"d\":\"x\"},\"b\":[true,null],\"～\":1e0,\"😀\":2e0}"
        });
    }

    #[test]
    fn what_two_readers_could_take_for_two_things_is_refused() {
        let code = |text: &str| canonical_json(text.as_bytes(), 100).unwrap_err();
        assert_eq!(code(r#"{"a":1,"a":1}"#), RefusalCode::JsonDuplicateKey);
        assert_eq!(code(r#"["\udc00"]"#), RefusalCode::JsonLoneSurrogate);
        assert_eq!(code(&format!("\"{}\"", "x".repeat(100))), RefusalCode::TextTooLong);
    }

    #[test]
    fn what_changes_from_try_to_try_is_left_out() {
        let ignore: Vec<Pointer> =
            ["/attempt", "/list/*/n", "/a~1b/0"].iter().map(|text| Pointer::parse(text).unwrap()).collect();
        let json = check(br#"{"attempt":3,"list":[{"n":1,"x":2},{"n":3}],"a/b":[7,8],"n":5}"#).unwrap();
        let text = canonical(json, &ignore, 1000).unwrap();
        assert_eq!(text, r#"{"a/b":[8e0],"list":[{"x":2e0},{}],"n":5e0}"#);
    }

    /// JSON written in one of its many ways: white space, order of keys, spelling of numbers and strings are chosen by `seed`.
    fn written(value: &serde_json::Value, seed: &mut u64) -> String {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let choice = *seed >> 33;
        let gap = if choice.is_multiple_of(2) { "" } else { " \n" };
        match value {
            serde_json::Value::Object(members) => {
                let mut parts: Vec<String> = members
                    .iter()
                    .map(|(key, value)| {
                        let key = written(&serde_json::Value::String(key.clone()), seed);
                        format!("{gap}{key}{gap}:{}", written(value, seed))
                    })
                    .collect();
                let turn = choice as usize % parts.len().max(1);
                parts.rotate_left(turn);
                format!("{{{}{gap}}}", parts.join(","))
            }
            serde_json::Value::Array(elements) => {
                let parts: Vec<String> = elements.iter().map(|element| written(element, seed)).collect();
                format!("[{}{gap}]", parts.join(","))
            }
            serde_json::Value::String(text) if choice.is_multiple_of(3) => {
                let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{}\"", units.concat())
            }
            serde_json::Value::Number(number) => match choice % 3 {
                0 => format!("{number}.00"),
                1 => format!("{number}000e-3"),
                _ => format!("{number}e0"),
            },
            other => other.to_string(),
        }
    }

    pub(crate) fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn all_spellings_of_a_value_have_one_form(value in any_json(), seeds in any::<(u64, u64)>()) {
            let (mut first, mut second) = seeds;
            let one = form(&written(&value, &mut first));
            prop_assert_eq!(&one, &form(&written(&value, &mut second)));
            prop_assert_eq!(&one, &form(&one), "the form is its own");
        }

        #[test]
        fn different_values_have_different_forms(one in any_json(), other in any_json()) {
            prop_assert_eq!(one == other, form(&one.to_string()) == form(&other.to_string()));
        }

        #[test]
        fn numbers_agree_with_exact_arithmetic(digits in 0..1_000_000_000_u64, scale in 0..12_usize, exponent in -40..40_i32) {
            let whole = format!("{digits:012}");
            let (left, right) = whole.split_at(whole.len() - scale);
            let left = left.trim_start_matches('0');
            let left = if left.is_empty() { "0" } else { left };
            let text = if scale == 0 { format!("{left}e{exponent}") } else { format!("{left}.{right}e{exponent}") };
            let found = form(&text);
            let (mantissa, power) = found.split_once('e').unwrap();
            let power: i32 = power.parse().unwrap();
            let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let value: u64 = mantissa.replace('.', "").parse().unwrap();
            // digits * 10^(exponent - scale) == value * 10^(power - fraction), compared as whole numbers.
            let (ours, theirs) = (power - fraction as i32, exponent - scale as i32);
            if digits == 0 {
                prop_assert_eq!(found, "0e0");
            } else {
                let raised = ours - theirs;
                prop_assert!(raised >= 0);
                prop_assert_eq!(u128::from(value) * 10_u128.pow(raised as u32), u128::from(digits));
            }
        }
    }
}
