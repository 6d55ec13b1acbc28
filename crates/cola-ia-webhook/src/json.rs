//! JSON as it stands in the body: checked once, then looked at in place.
//!
//! No tree is built, so a body costs no more memory than its bytes and the keys of one object at a time; numbers stay as they
//! were written, however long. What RFC 8259 leaves open is refused: a key twice in one object, half a surrogate pair.

use std::borrow::Cow;

use cola_ia_core::intake::RefusalCode;
use cola_ia_core::limits::JSON_MAX_DEPTH;

/// Why bytes are not one JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonFault {
    pub(crate) code: RefusalCode,
    /// The byte, from 1.
    pub(crate) at: usize,
}

/// A checked value, without white space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Json<'a>(&'a str);

/// What kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// Checks that these bytes are one JSON text in UTF-8, no deeper than 64. A byte order mark at the start is passed over.
pub(crate) fn check(bytes: &[u8]) -> Result<Json<'_>, JsonFault> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonFault { code: RefusalCode::Utf8Invalid, at: error.valid_up_to() + 1 })?;
    let mut walk = Walk { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    walk.space();
    let start = walk.at;
    walk.value(0)?;
    let end = walk.at;
    walk.space();
    if walk.at < text.len() {
        return Err(walk.fault(RefusalCode::JsonTrailing));
    }
    Ok(Json(&text[start..end]))
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walk<'a> {
    fn fault(&self, code: RefusalCode) -> JsonFault {
        JsonFault { code, at: self.at + 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        self.at = space(self.text.as_bytes(), self.at);
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonFault> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.fault(RefusalCode::JsonSyntax))
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), JsonFault> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(|_| ()),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') if self.text[self.at..].starts_with("null") => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.not_a_value()),
        }
    }

    /// A fault where no value starts: programs write `NaN` and `Infinity` for numbers that JSON does not have.
    fn not_a_value(&self) -> JsonFault {
        let rest = &self.text.as_bytes()[self.at..];
        let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        let starts = |word: &[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let code = if starts(b"nan") || starts(b"inf") { RefusalCode::JsonNotANumber } else { RefusalCode::JsonSyntax };
        self.fault(code)
    }

    fn word(&mut self, word: &str) -> Result<(), JsonFault> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.fault(RefusalCode::JsonSyntax))
        }
    }

    fn number(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => {
                self.at = start;
                return Err(self.not_a_value());
            }
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), JsonFault> {
        let bytes = &self.text.as_bytes()[self.at..];
        let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.fault(RefusalCode::JsonSyntax)) } else { Ok(()) }
    }

    /// A string; what stands between its quotes.
    fn string(&mut self) -> Result<&'a str, JsonFault> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek() {
                None | Some(0..=0x1f) => return Err(self.fault(RefusalCode::JsonSyntax)),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
        let inner = &self.text[start..self.at];
        self.at += 1;
        Ok(inner)
    }

    fn escape(&mut self) -> Result<(), JsonFault> {
        let backslash = self.at;
        let lone = JsonFault { code: RefusalCode::JsonLoneSurrogate, at: backslash + 1 };
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => match self.unit()? {
                0xdc00..=0xdfff => Err(lone),
                0xd800..=0xdbff => {
                    let bytes = self.text.as_bytes();
                    if bytes.get(self.at) != Some(&b'\\') || bytes.get(self.at + 1) != Some(&b'u') {
                        return Err(lone);
                    }
                    self.at += 1;
                    if (0xdc00..=0xdfff).contains(&self.unit()?) { Ok(()) } else { Err(lone) }
                }
                _ => Ok(()),
            },
            _ => Err(self.fault(RefusalCode::JsonSyntax)),
        }
    }

    /// The four digits behind a `u`, which stands here.
    fn unit(&mut self) -> Result<u32, JsonFault> {
        self.at += 1;
        let unit = hex4(self.text.as_bytes(), self.at).ok_or(self.fault(RefusalCode::JsonSyntax))?;
        self.at += 4;
        Ok(unit)
    }

    fn deep(&self, depth: usize) -> Result<(), JsonFault> {
        if depth > JSON_MAX_DEPTH { Err(self.fault(RefusalCode::JsonTooDeep)) } else { Ok(()) }
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonFault> {
        self.deep(depth)?;
        self.expect(b'[')?;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            self.value(depth)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return self.expect(b']'),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), JsonFault> {
        self.deep(depth)?;
        let start = self.at;
        self.expect(b'{')?;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut keys = Vec::new();
        loop {
            self.space();
            keys.push(decoded(self.string()?));
            self.space();
            self.expect(b':')?;
            self.space();
            self.value(depth)?;
            self.space();
            if self.peek() != Some(b',') {
                self.expect(b'}')?;
                break;
            }
            self.at += 1;
        }
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(JsonFault { code: RefusalCode::JsonDuplicateKey, at: start + 1 });
        }
        Ok(())
    }
}

fn space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |unit, byte| Some(unit << 4 | char::from(*byte).to_digit(16)?))
}

/// What stands between the quotes of a checked string, with its escapes as characters.
fn decoded(inner: &str) -> Cow<'_, str> {
    let Some(first) = inner.find('\\') else {
        return Cow::Borrowed(inner);
    };
    let mut text = inner[..first].to_owned();
    let mut rest = &inner[first..];
    while let Some(escaped) = rest.strip_prefix('\\') {
        let letter = escaped.as_bytes().first().copied().unwrap_or(b'\\');
        let mut used = 1;
        text.push(match letter {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = |at| hex4(escaped.as_bytes(), at).unwrap_or(0xfffd);
                let mut point = unit(1);
                used = 5;
                if (0xd800..=0xdbff).contains(&point) {
                    point = 0x1_0000 + ((point - 0xd800) << 10) + (unit(7).wrapping_sub(0xdc00) & 0x3ff);
                    used = 11;
                }
                // A checked text has whole pairs only.
                char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => char::from(other),
        });
        rest = &escaped[used..];
        let next = rest.find('\\').unwrap_or(rest.len());
        text.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(text)
}

/// Where the value that starts here ends, in a checked text.
fn end_of(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => {
                at = end_of_string(bytes, at);
                if depth == 0 {
                    return at;
                }
            }
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b'}' | b']') => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            Some(b',' | b' ' | b'\t' | b'\n' | b'\r') if depth == 0 => return at,
            Some(_) => at += 1,
        }
    }
}

fn end_of_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

impl<'a> Json<'a> {
    pub(crate) fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// As it was written.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// A string's text.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| decoded(&self.0[1..self.0.len() - 1]))
    }

    /// The members of an object, in their order; none of anything else.
    pub(crate) fn members(self) -> Members<'a> {
        Members { text: self.0, at: if self.kind() == Kind::Object { 1 } else { self.0.len() } }
    }

    /// The elements of an array, in their order; none of anything else.
    pub(crate) fn elements(self) -> Elements<'a> {
        Elements { text: self.0, at: if self.kind() == Kind::Array { 1 } else { self.0.len() } }
    }

    /// The member or the element that one token of a pointer names.
    pub(crate) fn child(self, token: &str) -> Option<Self> {
        match self.kind() {
            Kind::Object => self.members().find(|(key, _)| *key == token).map(|(_, value)| value),
            Kind::Array => {
                // RFC 6901: digits without leading zeros.
                let index = token.parse::<usize>().ok().filter(|index| index.to_string() == token)?;
                self.elements().nth(index)
            }
            _ => None,
        }
    }
}

/// Passes over what stands between two values; `None` at the end.
fn next_value(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = space(bytes, at.min(bytes.len()));
    if bytes.get(at) == Some(&b',') {
        at = space(bytes, at + 1);
    }
    (at < bytes.len() && !matches!(bytes[at], b']' | b'}')).then_some(at)
}

/// See [`Json::members`].
pub(crate) struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let key = next_value(self.text, self.at)?;
        let key_end = end_of_string(bytes, key);
        let colon = space(bytes, key_end);
        let start = space(bytes, colon + 1);
        let end = end_of(bytes, start);
        self.at = end;
        Some((decoded(&self.text[key + 1..key_end - 1]), Json(&self.text[start..end])))
    }
}

/// See [`Json::elements`].
pub(crate) struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = next_value(self.text, self.at)?;
        let end = end_of(self.text.as_bytes(), start);
        self.at = end;
        Some(Json(&self.text[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(text: &str) -> Option<RefusalCode> {
        check(text.as_bytes()).err().map(|fault| fault.code)
    }

    #[test]
    fn what_is_no_json_has_its_code() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let cases = [
            ("", RefusalCode::JsonSyntax),
            ("{", RefusalCode::JsonSyntax),
            ("{\"a\" 1}", RefusalCode::JsonSyntax),
            ("[1,]", RefusalCode::JsonSyntax),
            ("[01]", RefusalCode::JsonSyntax),
            ("[1.]", RefusalCode::JsonSyntax),
            ("[1e]", RefusalCode::JsonSyntax),
            ("\"\u{1}\"", RefusalCode::JsonSyntax),
            ("\"\\x\"", RefusalCode::JsonSyntax),
            ("\"\\u12g4\"", RefusalCode::JsonSyntax),
            ("nul", RefusalCode::JsonSyntax),
            ("NaN", RefusalCode::JsonNotANumber),
            ("[-Infinity]", RefusalCode::JsonNotANumber),
            ("{} {}", RefusalCode::JsonTrailing),
            (r#"{"a":1,"\u0061":2}"#, RefusalCode::JsonDuplicateKey),
            (r#"[{"b":{"a":1,"a":1}}]"#, RefusalCode::JsonDuplicateKey),
            (r#""\ud83d""#, RefusalCode::JsonLoneSurrogate),
            (r#""\ude00\ud83d""#, RefusalCode::JsonLoneSurrogate),
            (r#""\ud83d\u0041""#, RefusalCode::JsonLoneSurrogate),
            (&deep(65), RefusalCode::JsonTooDeep),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), Some(expected), "{text}");
        }
        assert_eq!(check(b"\"\xff\"").unwrap_err().code, RefusalCode::Utf8Invalid);
        assert_eq!(code(&deep(64)), None);
        assert_eq!(code(&"9".repeat(10_000)), None);
        assert_eq!(code("\u{feff} {} \r\n"), None);
    }

    #[test]
    fn parts_are_found_in_place() {
        let json = check(br#" { "a" : [ 1 , {"b~/":"x\u00e9\ud83d\ude00\n"} , [] ] , "c" : null } "#).unwrap();
        let list = json.child("a").unwrap();
        assert_eq!(list.elements().count(), 3);
        assert_eq!(list.child("0").unwrap().raw(), "1");
        assert_eq!(list.child("1").unwrap().child("b~/").unwrap().string().unwrap(), "xé😀\n");
        assert_eq!(list.child("01"), None);
        assert_eq!(list.child("3"), None);
        assert_eq!(json.child("c").unwrap().kind(), Kind::Null);
        assert_eq!(json.child("d"), None);
    }

    proptest! {
        #[test]
        fn another_parser_agrees(text in r#"[\[\]{}:,"\\ueE0-9.+tfalsn -]{0,24}"#) {
            let ours = code(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match ours {
                // What the other one takes or bounds otherwise: equal keys, the range of a double.
                Some(RefusalCode::JsonDuplicateKey) => {}
                None => prop_assert!(theirs.is_ok() || text.contains(['e', 'E']), "{text}"),
                Some(_) => prop_assert!(theirs.is_err(), "{text}"),
            }
        }

        #[test]
        fn another_parser_agrees_about_one_wrong_byte(
            value in crate::canonical::tests::any_json(),
            at in any::<prop::sample::Index>(),
            byte in prop::sample::select(b"{}[],:\"\\0-.eE+tn \n\0x".to_vec()),
        ) {
            let mut text = value.to_string().into_bytes();
            prop_assert!(check(&text).is_ok());
            let at = at.index(text.len());
            text[at] = byte;
            match (check(&text).map_err(|fault| fault.code), serde_json::from_slice::<serde_json::Value>(&text)) {
                // Equal keys and numbers beyond a double are what the other one takes otherwise.
                (Err(RefusalCode::JsonDuplicateKey), _) => {}
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("number out of range"), "{error}"),
                (ours, theirs) => prop_assert_eq!(ours.is_ok(), theirs.is_ok()),
            }
        }

        #[test]
        fn any_string_is_read_back(text in any::<String>()) {
            let quoted = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(check(quoted.as_bytes()).unwrap().string().unwrap(), text.as_str());
            let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            let escaped = format!("\"{}\"", units.concat());
            prop_assert_eq!(check(escaped.as_bytes()).unwrap().string().unwrap(), text);
        }

        #[test]
        fn no_bytes_panic(bytes in any::<Vec<u8>>()) {
            let _ = check(&bytes);
        }
    }
}
