//! A request as it came, and how its headers and query are looked up.

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
