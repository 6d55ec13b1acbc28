//! Whether lines, one after the other, are the lines of a JSON document.
//!
//! Only the outline is followed: brackets, commas, colons and the extent of strings, with one bit of memory a bracket.
//! Nothing depends on it but how refused lines are reported, so it takes some texts that are not quite JSON; a document
//! written by any tool passes. No token of JSON goes over the end of a line, which is what makes it possible to go on line
//! by line, however long the document is.

use memchr::memchr2;

/// Deeper documents are not followed: 1 MiB of memory.
const DEPTH_MAX: usize = 1 << 20;

/// How far the lines so far go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// They are the beginning of a document.
    Open,
    /// They are whole documents.
    Complete,
    /// They are not.
    Broken,
}

/// The lines so far.
#[derive(Debug)]
pub(super) struct Outline {
    /// The brackets that are open, each an object (`true`) or an array.
    open: Vec<bool>,
    next: Next,
    documents: u64,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A document, or nothing.
    Document,
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

impl Outline {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), next: Next::Document, documents: 0 }
    }

    /// Documents that were completed.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// Goes on with one more line.
    pub(super) fn line(&mut self, line: &[u8]) -> Progress {
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                at += 1;
                continue;
            }
            match self.token(*byte, &line[at..]) {
                Some(length) => at += length,
                None => return Progress::Broken,
            }
        }
        if self.next == Next::Document { Progress::Complete } else { Progress::Open }
    }

    /// Takes the token that `rest` starts with and gives its length; `None` where it may not stand here.
    fn token(&mut self, first: u8, rest: &[u8]) -> Option<usize> {
        let value_may_come = matches!(self.next, Next::Value | Next::ValueOrEnd);
        match (first, self.next) {
            (b'{' | b'[', _) if value_may_come || self.next == Next::Document => {
                if self.open.len() == DEPTH_MAX {
                    return None;
                }
                self.open.push(first == b'{');
                self.next = if first == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd };
                Some(1)
            }
            (b'}', Next::KeyOrEnd | Next::CommaOrEnd) | (b']', Next::ValueOrEnd | Next::CommaOrEnd) => {
                if self.open.pop() != Some(first == b'}') {
                    return None;
                }
                if self.open.is_empty() {
                    self.documents += 1;
                    self.next = Next::Document;
                } else {
                    self.next = Next::CommaOrEnd;
                }
                Some(1)
            }
            // Documents in a row are sometimes parted by commas, when they were cut out of an array.
            (b',', Next::Document) if self.documents > 0 => Some(1),
            (b',', Next::CommaOrEnd) => {
                self.next = if self.open.last() == Some(&true) { Next::Key } else { Next::Value };
                Some(1)
            }
            (b':', Next::Colon) => {
                self.next = Next::Value;
                Some(1)
            }
            (b'"', Next::Key | Next::KeyOrEnd) => {
                self.next = Next::Colon;
                string_length(rest)
            }
            (b'"', _) if value_may_come => {
                self.next = Next::CommaOrEnd;
                string_length(rest)
            }
            (_, _) if value_may_come => {
                self.next = Next::CommaOrEnd;
                scalar_length(rest)
            }
            _ => None,
        }
    }
}

/// `None` where the string does not end on the line.
fn string_length(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', rest.get(at..)?)?;
        if rest[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// A number, or one of the words that JSON or its writers know.
fn scalar_length(rest: &[u8]) -> Option<usize> {
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    let token = &rest[..length];
    let number = matches!(token.first(), Some(b'-' | b'0'..=b'9'))
        && token.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    let word = matches!(token, b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"-Infinity");
    (number || word).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(lines: &[&str]) -> Vec<Progress> {
        let mut outline = Outline::new();
        lines.iter().map(|line| outline.line(line.as_bytes())).collect()
    }

    #[test]
    fn documents_are_followed_line_by_line() {
        use Progress::{Broken, Complete, Open};
        let cases: [(&[&str], &[Progress]); 14] = [
            (&["[", "]"], &[Open, Complete]),
            (
                &["{\r\n", "\"a\": [1,\r\n", "true,null],\r\n", "\"b\":{}\r\n", "}\r\n"],
                &[Open, Open, Open, Open, Complete],
            ),
            (&["[ {\"a\": \"x\\\"]}\"", "} ]"], &[Open, Complete]),
            (&["[-1.5e+9,", "NaN,-Infinity", "]"], &[Open, Open, Complete]),
            (&["[", "},"], &[Open, Broken]),
            (&["{", "{"], &[Open, Broken]),
            (&["{\"a\":", "{\"b\":1}", "{\"c\":1}"], &[Open, Open, Broken]),
            (&["[\"a", "\"]"], &[Broken, Broken]),
            (&["[", "INFO x"], &[Open, Broken]),
            (&["[1", "2]"], &[Open, Broken]),
            (&["[1,", "]"], &[Open, Broken]),
            (&["{", "},", "{", "}"], &[Open, Complete, Open, Complete]),
            (&["{", "}{", "}"], &[Open, Open, Complete]),
            (&["{", "\"a\"", ":1", ",", "\"b\":2", "}"], &[Open, Open, Open, Open, Open, Complete]),
        ];
        for (lines, expected) in cases {
            assert_eq!(progress(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn documents_are_counted() {
        let mut outline = Outline::new();
        for line in ["[", "]", "{", "}{", "}"] {
            outline.line(line.as_bytes());
        }
        assert_eq!(outline.documents(), 3);
    }
}
