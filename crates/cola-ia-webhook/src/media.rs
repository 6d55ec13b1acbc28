//! `Content-Type`. Bodies are UTF-8 or are refused; nothing is ever read as another encoding.

use cola_ia_core::intake::RefusalCode;

use crate::outcome::Refused;

/// A media type with the parameters that matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Media {
    /// `type/subtype` in lower case; empty where there is none.
    pub(crate) essence: String,
    pub(crate) charset: Option<String>,
    pub(crate) boundary: Option<String>,
}

impl Media {
    /// Reads a header's value; `None` where it is no media type, or gives a parameter twice.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let mut media = Self { essence: essence.trim().to_ascii_lowercase(), ..Self::default() };
        if !media.essence.is_empty() && !media.essence.contains('/') {
            return None;
        }
        for parameter in parameters.split(';').filter(|parameter| !parameter.trim().is_empty()) {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim();
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
            let slot = match name.trim().to_ascii_lowercase().as_str() {
                "charset" => &mut media.charset,
                "boundary" => &mut media.boundary,
                _ => continue,
            };
            if slot.replace(value.to_owned()).is_some() {
                return None;
            }
        }
        Some(media)
    }

    /// Refuses a charset that contradicts UTF-8.
    pub(crate) fn check_charset(&self) -> Result<(), Refused> {
        match &self.charset {
            Some(charset) if !is_utf8(charset) => Err(Refused::new(RefusalCode::MediaTypeUnsupported, "charset")),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        matches!(self.essence.as_str(), "" | "application/json" | "text/json")
            || (self.essence.starts_with("application/") && self.essence.ends_with("+json"))
    }

    pub(crate) fn is_form(&self) -> bool {
        self.essence == "application/x-www-form-urlencoded"
    }
}

/// Whether a charset is UTF-8 or a part of it.
pub(crate) fn is_utf8(charset: &str) -> bool {
    ["utf-8", "utf8", "us-ascii"].iter().any(|name| charset.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contrary_charset_is_seen() {
        let charset = |text: &str| Media::parse(text.as_bytes()).map(|media| media.check_charset().is_ok());
        assert_eq!(charset("application/json"), Some(true));
        assert_eq!(charset("Application/JSON ; Charset=\"UTF-8\""), Some(true));
        assert_eq!(charset("application/json; charset=iso-8859-1"), Some(false));
        assert_eq!(charset("application/json; charset=utf-8; charset=latin1"), None);
        assert_eq!(charset("json"), None);
        assert!(Media::parse(b"application/cloudevents+json").unwrap().is_json());
        assert!(Media::parse(b"").unwrap().is_json());
        assert!(!Media::parse(b"text/plain").unwrap().is_json());
    }
}
