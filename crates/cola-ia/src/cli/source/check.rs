//! `source check`: why a captured request is taken or refused, step by step. What a signature should have been is never told:
//! whoever reads it could send.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_webhook::{Header, Request, Step};
use cola_ia_wire::{StepLine, VERSION};

use super::{CheckRequest, configured, url_of};
use crate::cli::add::push_json;
use crate::cli::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::Paint;

/// The largest request that is read: any body that a source may take, and a head.
const REQUEST_MAX_BYTES: u64 = (64 << 20) + (1 << 20);

/// Explains the request.
///
/// # Errors
/// The request cannot be read, or is none; the source's secrets cannot be read; stdout cannot be written.
pub(super) fn run(session: &Session, options: &CheckRequest, settings: &Settings) -> Result<Exit, Problem> {
    let source = configured(settings, &options.source)?;
    let opened = source.open(&session.environment, settings.max_text_bytes)?;
    opened.notes.iter().for_each(|note| session.note(note));
    let raw = read(&options.request)?;
    let captured = Captured::parse(&raw).map_err(|key| {
        Problem::failed(Message::new(key).with("file", options.request.display()))
            .hint(Message::new("check-request-hint"))
    })?;
    captured.oddities().into_iter().for_each(|message| session.note(&message));
    let query = captured.target.split_once('?').map_or_else(String::new, |(_, query)| format!("?{query}"));
    let url = format!("{}{query}", url_of(settings, &source.name));
    let request = Request { method: captured.method, url: &url, headers: &captured.headers, body: captured.body };
    let now = options.at.unwrap_or_else(|| SystemClock.now());
    let steps = opened.receiver.explain(&request, now);
    let passed = steps.last().is_some_and(|step| step.passed);
    let mut out = String::new();
    for step in &steps {
        if options.json {
            let facts = step.facts.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
            push_json(&mut out, &StepLine { v: VERSION, step: step.code.into(), passed: step.passed, facts });
        } else {
            push_step(&mut out, &session.lang, step, session.colour.stdout);
        }
    }
    print(&out)?;
    if options.at.is_none() && steps.iter().any(|step| step.code == "timestamp" && !step.passed) {
        session.hint(&Message::new("check-at-hint"));
    }
    Ok(if passed { Exit::Done } else { Exit::Failed })
}

fn push_step(out: &mut String, lang: &Lang, step: &Step, colour: bool) {
    let (mark, paint) = if step.passed { ("check-passed", Paint::Good) } else { ("check-failed", Paint::Bad) };
    let fact = |name: &str| step.facts.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str());
    let key = match step.code {
        "method" => "step-method",
        "url" => "step-url",
        "body" => "step-body",
        "header" => match fact("state") {
            "found" => "step-header",
            "twice" => "step-header-twice",
            _ => "step-header-missing",
        },
        "signature_form" => "step-signature-form",
        "timestamp" if fact("sent").is_empty() || fact("difference_s").is_empty() => "step-timestamp-odd",
        "timestamp" => "step-timestamp",
        "signature" if step.passed => "step-signature",
        "signature" => "step-signature-none",
        "content_type" if step.passed => "step-content-type",
        "content_type" => "step-content-type-odd",
        "handshake" => "step-handshake",
        "events" => "step-events",
        "id" | "type" | "time" | "text" if step.passed => "step-part",
        "id" | "type" | "time" | "text" => "step-part-missing",
        "accepted" => "step-accepted",
        "reply" => "step-reply",
        "refused" => "step-refused",
        _ => "step-other",
    };
    let mut sentence = Message::new(key).with("step", step.code);
    for name in FACTS {
        sentence = sentence.with(name, fact(name));
    }
    let parts: Vec<String> = step.facts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let found = match (fact("value"), fact("bytes")) {
        ("", "") => parts.join(" "),
        ("", bytes) => format!("{bytes} bytes"),
        (value, _) => value.to_owned(),
    };
    sentence = sentence.with("facts", found);
    if step.code == "refused" {
        sentence = sentence.message("reason", Message::new(format!("refusal-{}", fact("code"))));
    }
    // Writing to a string cannot fail.
    let mark = format!("{:<4}", lang.t(mark, &[]));
    let _ = writeln!(out, "{} {}", paint.on(&mark, colour), sentence.in_prose(lang).trim_end());
}

/// The names of facts that sentences use.
const FACTS: [&str; 24] = [
    "method",
    "url",
    "bytes",
    "limit",
    "name",
    "state",
    "found",
    "items",
    "sent",
    "now",
    "difference_s",
    "tolerance_s",
    "secrets",
    "matched",
    "type",
    "reason",
    "kind",
    "count",
    "event",
    "place",
    "value",
    "code",
    "detail",
    "status",
];

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let failed = |error: &std::io::Error| {
        Problem::failed(Message::new("check-request-unreadable").with("file", path.display()).caused_by(error))
    };
    let mut raw = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(REQUEST_MAX_BYTES + 1).read_to_end(&mut raw)
    } else {
        File::open(path).and_then(|file| file.take(REQUEST_MAX_BYTES + 1).read_to_end(&mut raw))
    };
    match read {
        Ok(_) if raw.len() as u64 > REQUEST_MAX_BYTES => Err(failed(&std::io::ErrorKind::FileTooLarge.into())),
        Ok(_) => Ok(raw),
        Err(error) => Err(failed(&error)),
    }
}

/// A request as it was written down: its first line, its header lines, an empty line, and the body byte for byte.
#[derive(Debug, PartialEq, Eq)]
struct Captured<'a> {
    method: &'a str,
    target: &'a str,
    headers: Vec<HeaderLine<'a>>,
    body: &'a [u8],
    /// Line ends behind the body that its length says are not its own: an editor puts them there.
    cut: usize,
}

type HeaderLine<'a> = Header<'a>;

impl<'a> Captured<'a> {
    /// # Errors
    /// The catalogue's key of what is wrong with it.
    fn parse(raw: &'a [u8]) -> Result<Self, &'static str> {
        let (first, mut rest) = line(raw).ok_or("check-request-empty")?;
        let first = std::str::from_utf8(first).map_err(|_| "check-request-line")?;
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Err("check-request-line") };
        let version = words.next().unwrap_or("HTTP/1.1");
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_target = target.starts_with('/') || target.starts_with("http://") || target.starts_with("https://");
        if !is_method || !is_target || !version.starts_with("HTTP/") || words.next().is_some() {
            return Err("check-request-line");
        }
        let mut headers = Vec::new();
        loop {
            let Some((header, after)) = line(rest) else { return Err("check-request-no-body") };
            rest = after;
            if header.is_empty() {
                break;
            }
            let colon = header.iter().position(|byte| *byte == b':').ok_or("check-request-header")?;
            let name = std::str::from_utf8(&header[..colon]).map_err(|_| "check-request-header")?;
            if name.is_empty() || name.contains([' ', '\t']) {
                return Err("check-request-header");
            }
            headers.push(Header { name, value: header[colon + 1..].trim_ascii() });
        }
        let mut captured = Self { method, target, headers, body: rest, cut: 0 };
        if captured.header("transfer-encoding").is_some() || captured.header("content-encoding").is_some() {
            return Err("check-request-encoded");
        }
        if let Some(length) = captured.length()
            && length < rest.len()
            && rest[length..].iter().all(|byte| matches!(byte, b'\r' | b'\n'))
        {
            captured.cut = rest.len() - length;
            captured.body = &rest[..length];
        }
        Ok(captured)
    }

    fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    }

    fn length(&self) -> Option<usize> {
        std::str::from_utf8(self.header("content-length")?).ok()?.parse().ok()
    }

    /// What people are told about how it was captured.
    fn oddities(&self) -> Vec<Message> {
        let mut told = Vec::new();
        if self.cut > 0 {
            told.push(Message::new("check-request-cut").number("bytes", self.cut as u64));
        }
        if let Some(length) = self.length().filter(|length| *length != self.body.len()) {
            let message = Message::new("check-request-length").number("said", length as u64);
            told.push(message.number("found", self.body.len() as u64));
        }
        told
    }
}

/// A line without its end, LF or CRLF, and what follows; none where no line ends any more.
fn line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', text)?;
    let line = &text[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_request_is_read_byte_for_byte() {
        let raw = b"POST /in/github?a=1 HTTP/1.1\r\nHost: x\r\nX-Odd:  \xe9 \r\n\r\n{\r\n\"a\": 1}\n\n";
        let captured = Captured::parse(raw).unwrap();
        assert_eq!((captured.method, captured.target), ("POST", "/in/github?a=1"));
        assert_eq!(captured.header("x-odd"), Some(&b"\xe9"[..]));
        assert_eq!(captured.body, b"{\r\n\"a\": 1}\n\n");
        let raw = b"POST /in/github\nContent-Length: 2\n\n{}\r\n";
        let captured = Captured::parse(raw).unwrap();
        assert_eq!((captured.body, captured.cut), (&b"{}"[..], 2));
        let captured = Captured::parse(b"POST / HTTP/1.1\nContent-Length: 3\n\n{}").unwrap();
        assert_eq!((captured.body, captured.oddities().len()), (&b"{}"[..], 1));
    }

    #[test]
    fn what_is_no_request_is_told() {
        let cases: [(&[u8], &str); 10] = [
            (b"", "check-request-empty"),
            (b"{\"id\": 1}\n", "check-request-line"),
            (b"post / HTTP/1.1\n\n", "check-request-line"),
            (b"POST in/github HTTP/1.1\n\n", "check-request-line"),
            (b"POST / HTTP/1.1 x\n\n", "check-request-line"),
            (b"POST / HTTP/1.1\nHost: x\n", "check-request-no-body"),
            (b"POST / HTTP/1.1\nHost\n\n", "check-request-header"),
            (b"POST / HTTP/1.1\n folded: x\n\n", "check-request-header"),
            (b"POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n2\r\n{}", "check-request-encoded"),
            (b"POST / HTTP/1.1\nContent-Encoding: gzip\n\n\x1f\x8b", "check-request-encoded"),
        ];
        for (raw, key) in cases {
            assert_eq!(Captured::parse(raw).unwrap_err(), key, "{}", String::from_utf8_lossy(raw));
        }
    }
}
