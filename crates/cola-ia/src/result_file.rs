//! What a worker says of its job in a JSON object: the file that `COLA_IA_RESULT` names, or `--result`.
//!
//! Some fields have a meaning here; whatever else there is, is the job's result and is kept as it was written.

use std::fmt;

use cola_ia_core::cost::cost_micros;
use cola_ia_core::filter::is_code;
use cola_ia_core::store::RESULT_MAX_BYTES;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What the object says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultFile {
    /// `resource_id`: the resource that the job made.
    pub resource_id: Option<String>,
    /// `cost`, in millionths, rounded up.
    pub cost_micros: Option<i64>,
    /// `currency`: of the cost; without it the store's.
    pub currency: Option<String>,
    /// `tokens_in`
    pub tokens_in: Option<i64>,
    /// `tokens_out`
    pub tokens_out: Option<i64>,
    /// `model`
    pub model: Option<String>,
    /// `retry_after`: seconds, or an HTTP date; not read yet.
    pub retry_after: Option<String>,
    /// `error_class`: a stable code.
    pub error_class: Option<String>,
    /// `error`
    pub error: Option<String>,
    /// Every other field, as a JSON object; `None` where there is none.
    pub rest: Option<String>,
}

/// Why it is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultFault {
    /// It has more than [`RESULT_MAX_BYTES`].
    TooLong,
    /// It is no JSON object.
    NotAnObject,
    /// This field does not have the form that it must have.
    Field(String),
}

impl ResultFile {
    /// Reads the object. A field that is `null` says nothing; of one that stands twice, the last counts.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn read(bytes: &[u8]) -> Result<Self, ResultFault> {
        match Self::read_what_can_be(bytes)? {
            (read, None) => Ok(read),
            (_, Some(field)) => Err(ResultFault::Field(field)),
        }
    }

    /// The same of somebody who has gone: a field that does not have the form that it must have is kept with the rest, and
    /// the first one is named.
    ///
    /// # Errors
    /// It is too long, or no object.
    pub fn read_what_can_be(bytes: &[u8]) -> Result<(Self, Option<String>), ResultFault> {
        if bytes.len() > RESULT_MAX_BYTES {
            return Err(ResultFault::TooLong);
        }
        let Fields(fields) = serde_json::from_slice(bytes).map_err(|_| ResultFault::NotAnObject)?;
        let mut read = Self::default();
        let (mut rest, mut fault) = (Vec::new(), None);
        for (name, value) in fields {
            let taken = read.take(&name, value.get());
            if taken != Some(true) {
                rest.push(format!("{}:{}", serde_json::Value::from(&*name), value.get()));
            }
            if taken.is_none() {
                fault.get_or_insert(name);
            }
        }
        read.rest = (!rest.is_empty()).then(|| format!("{{{}}}", rest.join(",")));
        Ok((read, fault))
    }

    /// `Some(false)`: the field has no meaning here. `None`: it has, and not this form.
    fn take(&mut self, name: &str, value: &str) -> Option<bool> {
        match name {
            "resource_id" => self.resource_id = said(value, text_or_number)?,
            "cost" => self.cost_micros = said(value, |value| cost_micros(&text_or_number(value)?))?,
            "currency" => self.currency = said(value, text)?,
            "tokens_in" => self.tokens_in = said(value, whole)?,
            "tokens_out" => self.tokens_out = said(value, whole)?,
            "model" => self.model = said(value, text)?,
            "retry_after" => self.retry_after = said(value, text_or_number)?,
            "error_class" => self.error_class = said(value, |value| text(value).filter(|word| is_code(word)))?,
            "error" => self.error = said(value, text)?,
            _ => return Some(false),
        }
        Some(true)
    }
}

/// The value, `Some(None)` where it is `null`.
#[allow(clippy::option_option, reason = "a value that says nothing is no mistake")]
fn said<T>(value: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if value == "null" { Some(None) } else { read(value).map(Some) }
}

fn text(value: &str) -> Option<String> {
    serde_json::from_str(value).ok()
}

/// A number as it is written: nothing goes through floating point.
fn text_or_number(value: &str) -> Option<String> {
    let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if is_number { Some(value.to_owned()) } else { text(value) }
}

fn whole(value: &str) -> Option<i64> {
    serde_json::from_str(value).ok().filter(|number| *number >= 0)
}

/// The members of an object in their order, values as they are written.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ResultFile, ResultFault> {
        ResultFile::read(text.as_bytes())
    }

    #[test]
    fn what_has_a_meaning_is_taken_and_the_rest_is_kept_as_it_is() {
        let text = r#"{"resource_id": 12, "cost": 0.0000012, "tokens_in": 3, "tokens_out": null, "model": "m",
            "retry_after": 1.5, "error_class": "http_429", "error": "no", "cost_of": 1e400, "currency": "EUR", "ñ\"": [1, {}]}"#;
        let expected = ResultFile {
            resource_id: Some("12".into()),
            cost_micros: Some(2),
            currency: Some("EUR".into()),
            tokens_in: Some(3),
            tokens_out: None,
            model: Some("m".into()),
            retry_after: Some("1.5".into()),
            error_class: Some("http_429".into()),
            error: Some("no".into()),
            rest: Some(r#"{"cost_of":1e400,"ñ\"":[1, {}]}"#.into()),
        };
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("{}"), Ok(ResultFile::default()));
        assert_eq!(read(r#"{"cost":"0.5","cost":"1"}"#).unwrap().cost_micros, Some(1_000_000));
    }

    #[test]
    fn what_is_not_as_it_must_be_is_named() {
        for wrong in ["", "[]", "1", "\"x\"", "{", "{} {}", "{\"a\":NaN}", "{'a':1}", "\u{feff}{}"] {
            assert_eq!(read(wrong), Err(ResultFault::NotAnObject), "{wrong:?}");
        }
        assert_eq!(ResultFile::read(b"{\"a\":\"\xff\"}"), Err(ResultFault::NotAnObject));
        for (field, value) in [
            ("cost", "-1"),
            ("cost", "\"much\""),
            ("cost", "1e99"),
            ("tokens_in", "1.5"),
            ("tokens_out", "-1"),
            ("model", "1"),
            ("resource_id", "[]"),
            ("error_class", "\"a b\""),
            ("error", "{}"),
        ] {
            let text = format!("{{\"{field}\":{value}}}");
            assert_eq!(read(&text), Err(ResultFault::Field(field.into())), "{value}");
            let kept = ResultFile { rest: Some(text.clone()), ..ResultFile::default() };
            assert_eq!(ResultFile::read_what_can_be(text.as_bytes()), Ok((kept, Some(field.into()))), "{value}");
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(RESULT_MAX_BYTES));
        assert_eq!(read(&long), Err(ResultFault::TooLong));
    }
}
