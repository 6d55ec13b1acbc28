//! A request as it came, and how its headers and query are looked up.

use std::borrow::Cow;

use crate::form::{self, Fields};

/// One line of a request's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// In any case: names are compared without it.
    pub name: &'a str,
    /// As it came; header values need not be UTF-8.
    pub value: &'a [u8],
}

/// A request whose body is complete.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// In capitals.
    pub method: &'a str,
    /// The address as the sender sees it, with its query: some sign it. Never rebuilt from `Host`, which a proxy may have changed,
    /// but from the configured public address.
    pub url: &'a str,
    /// All lines, in their order, repeated names too.
    pub headers: &'a [Header<'a>],
    /// The raw bytes.
    pub body: &'a [u8],
}

/// A header that stands in several lines: two readers could take another of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Twice;

impl<'a> Request<'a> {
    /// The value of a header, without the white space around it.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&'a [u8]>, Twice> {
        let mut lines = self.headers.iter().filter(|line| line.name.eq_ignore_ascii_case(name));
        let first = lines.next().map(|line| line.value.trim_ascii());
        if lines.next().is_some() { Err(Twice) } else { Ok(first) }
    }

    /// Whether there is such a header, once or more often.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|line| line.name.eq_ignore_ascii_case(name))
    }

    /// The fields of the query; none where they are not UTF-8.
    pub(crate) fn query(&self) -> Fields {
        let query = self.url.split_once('?').map_or("", |(_, query)| query);
        let query = query.split_once('#').map_or(query, |(query, _)| query);
        form::urlencoded(query.as_bytes()).unwrap_or_default()
    }
}

/// Two families of header names for one scheme: which of them a request uses is decided by its signature, for all names at once,
/// so that no request can mix them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'s> {
    swap: Option<(&'s str, &'s str)>,
}

impl<'s> Names<'s> {
    pub(crate) fn of(alias: Option<&'s [String; 2]>, signature: Option<&str>, request: &Request<'_>) -> Self {
        let swap = alias.zip(signature).and_then(|([from, to], name)| {
            let other = swapped(name, from, to)?;
            (!request.has_header(name) && request.has_header(&other)).then_some((from.as_str(), to.as_str()))
        });
        Self { swap }
    }

    /// The name to look for.
    pub(crate) fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.swap.and_then(|(from, to)| swapped(name, from, to)).map_or(Cow::Borrowed(name), Cow::Owned)
    }
}

fn swapped(name: &str, from: &str, to: &str) -> Option<String> {
    let start = name.get(..from.len())?;
    start.eq_ignore_ascii_case(from).then(|| format!("{to}{}", &name[from.len()..]))
}
