//! A server of the real program, and requests to it.

#![allow(dead_code, clippy::format_push_string, reason = "no test file uses all of it, and a request is short")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use sha2::{Digest as _, Sha256};

use super::{Place, signal, until};

/// A server that ends with its test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    log: PathBuf,
}

impl Server {
    pub(crate) fn start(place: &Place) -> Self {
        let log = place.path("log");
        let mut child = place
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let address = until("the server to listen", || {
            let text = std::fs::read_to_string(&log).unwrap();
            assert!(child.try_wait().unwrap().is_none(), "it ended: {text}");
            let (_, rest) = text.split_once("listening on http://")?;
            rest.split_once('\n').map(|(address, _)| address.to_owned())
        });
        Self { child, address, log }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        let sized = ["content-length", "transfer-encoding"];
        if !headers.iter().any(|(name, _)| sized.contains(&name.to_ascii_lowercase().as_str())) {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut stream = self.connect();
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // Who is refused early need not be listened to.
        let _ = stream.write_all(body);
        Reply::read(&mut stream)
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and gives how it ended and how long that took.
    pub(crate) fn stop(mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        signal(&self.child, Signal::SIGTERM);
        let status = until("the server to stop", || self.child.try_wait().unwrap());
        (status.code(), start.elapsed())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    /// Name and value of the cookie that is set, as they were sent.
    pub(crate) cookie: Option<String>,
    pub(crate) body: String,
}

impl Reply {
    /// Reads to the end of the connection. Status 0: it was closed without an answer.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // What was not read of a refused body may reset the connection after its answer.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: "));
        let cookie = line.and_then(|line| line["set-cookie: ".len()..].split(';').next()).map(str::to_owned);
        Self { status, head: head.to_ascii_lowercase(), cookie, body: body.to_owned() }
    }

    pub(crate) fn result(&self) -> &str {
        self.body.split('"').nth(3).unwrap_or_default()
    }
}

/// HMAC-SHA256 by its definition (RFC 2104), so that the program's is not judged by itself.
pub(crate) fn sign(secret: &str, body: &[u8]) -> String {
    let mut key = [0_u8; 64];
    key[..secret.len()].copy_from_slice(secret.as_bytes());
    let inner = Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    outer.iter().fold("sha256=".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}
