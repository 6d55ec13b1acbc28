//! A destination behind HTTP, on loopback.
//!
//! `POST` to any path acts. The key is the header `Idempotency-Key`, or else the text `key` or `slug` of a JSON body, as with
//! destinations that know no such header. `GET` with `?key=` or `?slug=` looks up. One request a connection; what is not needed
//! for tests (chunks, encoded query values) is not read.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock, Timestamp};

use super::{Destination, Looked, RealEffect, Reply};

const HEAD_MAX_BYTES: u64 = 64 * 1024;
const BODY_MAX_BYTES: usize = 4 * 1024 * 1024;
/// A client that says nothing for so long is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// A destination that is reached by HTTP. Dropped, it takes no more connections; late answers are given up.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    destination: Mutex<Destination>,
    clock: Box<dyn Clock>,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("destination", &self.destination).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens on a free port of 127.0.0.1. Instants are those of the clock; late answers are late by the machine's time.
    ///
    /// # Errors
    /// No port or no thread can be had.
    pub fn start(destination: Destination, clock: impl Clock) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            destination: Mutex::new(destination),
            clock: Box::new(clock),
            stopped: AtomicBool::new(false),
        });
        let of_acceptor = Arc::clone(&shared);
        let acceptor =
            thread::Builder::new().name("destination".into()).spawn(move || accept(&listener, &of_acceptor))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it is: `http://127.0.0.1:PORT/`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The place itself: to change its switches, to plan, to see. Requests wait while it is held.
    pub fn destination(&self) -> MutexGuard<'_, Destination> {
        self.shared.destination()
    }

    /// All that happened until now.
    pub fn effects(&self) -> Vec<RealEffect> {
        let now = self.now();
        self.destination().effects(now).to_vec()
    }

    /// The present instant of its clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The acceptor waits for a connection: this one is its last.
        let _woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ended = acceptor.join();
        }
    }
}

impl Shared {
    fn destination(&self) -> MutexGuard<'_, Destination> {
        // A test that failed while it held the place is no reason to fail another one.
        self.destination.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, unless the server ends.
    fn wait(&self, time: Duration) {
        const STEP: Duration = Duration::from_millis(5);
        let start = Instant::now();
        while !self.stopped.load(Ordering::SeqCst)
            && let Some(rest) = time.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero())
        {
            thread::sleep(rest.min(STEP));
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let shared = Arc::clone(shared);
        // A client that goes away is what this is for: its connection's error is nobody's concern.
        let _detached = thread::Builder::new().spawn(move || serve(&connection, &shared));
    }
}

fn serve(connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    connection.set_nodelay(true)?;
    let Some((status, body)) = answer(connection, shared)? else { return Ok(()) };
    if shared.stopped.load(Ordering::SeqCst) {
        return Ok(());
    }
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        if status < 400 { "OK" } else { "Refused" },
        body.len()
    );
    let mut connection = connection;
    connection.write_all(head.as_bytes())?;
    connection.write_all(body.as_bytes())
}

/// A status and a body; `None`: the connection is cut.
fn answer(connection: &TcpStream, shared: &Shared) -> io::Result<Option<(u16, String)>> {
    let refused = |status: u16, word: &str| Ok(Some((status, format!(r#"{{"error":"{word}"}}"#))));
    let request = match read_request(connection)? {
        Ok(request) => request,
        Err(status) => return refused(status, "not_read"),
    };
    match request.method.as_str() {
        "POST" => {
            let (late, body) = {
                let now = shared.clock.now();
                let mut destination = shared.destination();
                (destination.create(&request.key, &request.body, now), destination.body.clone())
            };
            shared.wait(late.after);
            match late.answer {
                Reply::Created(id) => Ok(Some((201, body.replace("{id}", &id)))),
                Reply::Again(id) => Ok(Some((200, body.replace("{id}", &id)))),
                Reply::OtherRequest => refused(422, "key_reused"),
                Reply::Refused(status) => refused(status, "refused"),
                Reply::Cut => Ok(None),
            }
        }
        "GET" => {
            let now = shared.clock.now();
            let late = shared.destination().lookup(&request.key, now);
            shared.wait(late.after);
            match late.answer {
                Looked::Found(ids) => {
                    let ids: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
                    Ok(Some((200, format!("[{}]", ids.join(",")))))
                }
                Looked::Absent => Ok(Some((200, "[]".to_owned()))),
                Looked::Refused(status) => refused(status, "refused"),
                Looked::Cut => Ok(None),
            }
        }
        _ => refused(405, "method"),
    }
}

struct Request {
    method: String,
    key: String,
    body: String,
}

/// The inner error is the status that it is answered with.
fn read_request(mut connection: &TcpStream) -> io::Result<Result<Request, u16>> {
    let mut head = BufReader::new(connection.take(HEAD_MAX_BYTES));
    let first = read_line(&mut head)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(Err(400)) };
    let mut headers = HashMap::new();
    loop {
        let line = read_line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(Err(400)) };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = match headers.get("content-length").map(|length| length.parse::<usize>()) {
        None if headers.contains_key("transfer-encoding") => return Ok(Err(411)),
        None => 0,
        Some(Ok(length)) if length <= BODY_MAX_BYTES => length,
        Some(Ok(_)) => return Ok(Err(413)),
        Some(Err(_)) => return Ok(Err(400)),
    };
    if headers.get("expect").is_some_and(|expect| expect.eq_ignore_ascii_case("100-continue")) {
        connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = vec![0; length];
    head.get_mut().set_limit(length as u64);
    head.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let key = headers.remove("idempotency-key").or_else(|| key_of(target, &body)).unwrap_or_default();
    Ok(Ok(Request { method: method.to_owned(), key, body }))
}

fn read_line(head: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    head.read_line(&mut line)?;
    // A connection that ends within the head has no request.
    line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// The key in the query or in the body.
fn key_of(target: &str, body: &str) -> Option<String> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
    if let Some((_, key)) = in_query.into_iter().find(|(name, _)| matches!(*name, "key" | "slug")) {
        return Some(key.to_owned());
    }
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let in_body = |name: &str| body.get(name).and_then(|key| key.as_str()).map(str::to_owned);
    in_body("key").or_else(|| in_body("slug"))
}
