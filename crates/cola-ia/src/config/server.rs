//! A server in place of a store's file: its address, and the token that opens it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hyper::Uri;

/// No token is anywhere near this long.
const TOKEN_MAX_BYTES: u64 = 4_096;

/// The address of a server: `https://host[:port][/path]`, or `http://` where the host is this machine. Without a final slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// Checks the address.
    ///
    /// # Errors
    /// The catalogue's key of what is wrong.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const NOT_ONE: &str = "fault-server-url";
        let uri: Uri = text.parse().map_err(|_| NOT_ONE)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(NOT_ONE) };
        // A fragment is cut by whoever parses addresses; a query would be glued to every path.
        if uri.query().is_some() || text.contains(['#', '?']) || authority.host().is_empty() {
            return Err(NOT_ONE);
        }
        if authority.as_str().contains('@') {
            return Err("fault-server-url-user");
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(authority.host()) => {}
            "http" => return Err("fault-server-url-open"),
            _ => return Err(NOT_ONE),
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether what is sent to this host stays on this machine.
fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for whom it is meant.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A server, and where its token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its address.
    pub url: ServerUrl,
    /// The token, where it was said itself.
    pub token: Option<Secret>,
    /// Else the file that holds it.
    pub token_file: Option<PathBuf>,
}

/// A token that was read from a file.
pub struct FoundToken {
    /// The token.
    pub token: Secret,
    /// Whether others than its owner may read the file.
    pub open_to_others: bool,
}

/// Why a file holds no token.
#[derive(Debug)]
pub enum TokenFault {
    /// It cannot be read.
    Io(io::Error),
    /// It holds nothing, or something that is no token.
    NoToken,
}

/// Whether this can be a token: something, and only what can stand in a header.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() as u64 <= TOKEN_MAX_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads a token from a file. White space around it is not part of it.
///
/// # Errors
/// The file cannot be read, or holds no token.
pub fn read_token(path: &Path) -> Result<FoundToken, TokenFault> {
    let file = File::open(path).map_err(TokenFault::Io)?;
    let mode = file.metadata().map_err(TokenFault::Io)?.mode();
    let mut text = String::new();
    // Something larger is no token and is not read; bytes that are no text are none either.
    file.take(TOKEN_MAX_BYTES + 2).read_to_string(&mut text).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => TokenFault::NoToken,
        _ => TokenFault::Io(error),
    })?;
    let token = text.trim();
    if !is_token(token) {
        return Err(TokenFault::NoToken);
    }
    Ok(FoundToken { token: Secret::new(token), open_to_others: mode & 0o077 != 0 })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_never_goes_over_an_open_network() {
        for (text, expected) in [
            ("https://cola.example", Ok("https://cola.example")),
            ("https://cola.example:8443/", Ok("https://cola.example:8443")),
            ("https://example.org/cola/", Ok("https://example.org/cola")),
            ("http://127.0.0.1:8787", Ok("http://127.0.0.1:8787")),
            ("http://localhost:8787/", Ok("http://localhost:8787")),
            ("http://[::1]:8787", Ok("http://[::1]:8787")),
            ("http://127.9.9.9", Ok("http://127.9.9.9")),
            ("http://cola.example", Err("fault-server-url-open")),
            ("http://127.0.0.1.example.org", Err("fault-server-url-open")),
            ("http://localhost.example.org", Err("fault-server-url-open")),
            ("http://192.168.1.5:8787", Err("fault-server-url-open")),
            ("https://ana:s3cret@cola.example", Err("fault-server-url-user")),
            ("http://127.0.0.1@cola.example", Err("fault-server-url-user")),
            ("https://cola.example/?token=x", Err("fault-server-url")),
            ("https://cola.example/#x", Err("fault-server-url")),
            ("ftp://cola.example", Err("fault-server-url")),
            ("cola.example", Err("fault-server-url")),
            ("https://", Err("fault-server-url")),
            ("localhost:8787", Err("fault-server-url")),
            ("https://a b", Err("fault-server-url")),
        ] {
            assert_eq!(ServerUrl::parse(text).as_ref().map(ServerUrl::as_str).map_err(|key| *key), expected, "{text}");
        }
    }

    #[test]
    fn a_token_is_read_from_its_file_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for (bytes, expected) in [
            (&b"cia_abc"[..], Some("cia_abc")),
            (b"cia_abc\n", Some("cia_abc")),
            (b" cia_abc\r\n\n", Some("cia_abc")),
            (b"", None),
            (b"\n", None),
            (b"two words", None),
            (b"cia_\xff", None),
            (&[b'a'; 9_000], None),
        ] {
            fs::write(&path, bytes).unwrap();
            let found = read_token(&path).ok();
            assert_eq!(found.as_ref().map(|found| found.token.reveal()), expected);
            assert!(!format!("{:?}", found.map(|found| found.token)).contains("abc"));
        }
        fs::write(&path, "cia_abc").unwrap();
        for (mode, open) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_token(&path).unwrap().open_to_others, open, "{mode:o}");
        }
        assert!(matches!(read_token(&folder.path().join("none")), Err(TokenFault::Io(_))));
    }
}
