//! The server: signed webhooks, each durable before its answer, against an axum program that says hello and stores nothing; and
//! how much memory connections and large bodies take.
//!
//! Both servers are processes of their own, and the clients are the same: 64 threads with one connection each, which send a
//! request once the one before is answered. All requests are made and signed before the clock starts.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::gate::{Bench, rate};
use super::host;
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

/// The part of this program that says hello.
pub(crate) const HELLO: &str = "hello";

const CONNECTIONS: usize = 64;
const SLOW: usize = 500;
const IDLE: usize = 1_000;
const LARGE_BODIES: usize = 20;
const LARGE_BYTES: usize = 24 << 20;
const SECRET: &str = "a secret of the benchmark";
/// Longest wait for a server to listen, and for one answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Of the requests that hello answers in the same time.
const OF_HELLO: f64 = 0.2;
/// Of hello's p99.
const P99_OF_HELLO: f64 = 4.0;
/// Of its own p99 without slow clients.
const P99_WITH_SLOW: f64 = 2.0;
const IDLE_MAX_MIB: f64 = 128.0;
const LARGE_MAX_MIB: f64 = 512.0;

const CONFIG: &str = "\
[serve]
max_connections = 4096
header_deadline = \"10m\"
body_deadline = \"10m\"

[source.web]
scheme = \"hmac\"
secret_file = \"secret\"
max_body = \"26MiB\"
";

/// Measures, in turn, and checks what is promised.
///
/// # Errors
/// If a request is not answered as it should be, or a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    println!("{} requests over {CONNECTIONS} connections, {} runs", options.events, options.runs);
    let (mut hello_rate, mut rates, mut hello_p99, mut p99, mut slow_p99) =
        (Figures::default(), Figures::default(), Figures::default(), Figures::default(), Figures::default());
    let (mut idle, mut large) = (Figures::default(), Figures::default());
    for run in 0..options.runs {
        let hello = Server::hello()?;
        let gets: Vec<_> = (0..options.events).map(|_| b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()).collect();
        let load = Load::send(&hello.address, &gets)?;
        drop(hello);
        hello_rate.push(rate(options.events, load.took));
        hello_p99.push(load.quantile(0.99));
        print!("run {run}: hello {load}");

        let server = Server::cola_ia(&bench, &format!("run-{run}"))?;
        let load = Load::send(&server.address, &webhooks("fast", options.events))?;
        rates.push(rate(options.events, load.took));
        p99.push(load.quantile(0.99));
        print!("; webhooks {load}");
        let slow = slow_clients(&server.address)?;
        let load = Load::send(&server.address, &webhooks("beside", options.events))?;
        slow_p99.push(load.quantile(0.99));
        println!("; beside {SLOW} slow clients {load}");
        drop((slow, server));

        let server = Server::cola_ia(&bench, &format!("idle-{run}"))?;
        idle.push(idle_memory(&server)?);
        drop(server);
        let server = Server::cola_ia(&bench, &format!("large-{run}"))?;
        large.push(large_memory(&server)?);
    }
    bench.remove_folder()?;
    println!("{}", report::rates("hello, requests a second", &hello_rate));
    println!("{}", report::rates("signed webhooks, requests a second", &rates));
    report::check(&[
        Promise::new("signed webhooks / hello, requests", rates.over(&hello_rate), Bound::AtLeast(OF_HELLO)),
        Promise::new("signed webhooks / hello, p99", p99.over(&hello_p99), Bound::MedianBelow(P99_OF_HELLO)),
        Promise::new("beside slow clients / without, p99", slow_p99.over(&p99), Bound::MedianBelow(P99_WITH_SLOW)),
        Promise::new(format!("MiB with {IDLE} idle connections"), idle, Bound::Below(IDLE_MAX_MIB)),
        Promise::new(format!("MiB with {LARGE_BODIES} bodies of 24 MiB"), large, Bound::Below(LARGE_MAX_MIB)),
    ])
}

/// Signed webhooks a second, of a server on this database or, without one, on a file of its own.
///
/// # Errors
/// If a request is not answered as it should be.
pub(super) fn webhook_rate(
    bench: &Bench<'_>,
    name: &str,
    database: Option<&str>,
    requests: u64,
) -> Result<f64, Failure> {
    let server = Server::cola_ia_on(bench, name, database)?;
    let load = Load::send(&server.address, &webhooks(name, requests))?;
    println!("{name}: webhooks {load}");
    Ok(rate(requests, load.took))
}

/// The child process that says hello: prints its address, and ends with its stdin.
///
/// # Errors
/// If it cannot listen.
pub(crate) fn hello() -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new().attempt(|| "start a runtime".to_owned())?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.attempt(|| "listen".to_owned())?;
        let address = listener.local_addr().attempt(|| "ask for the address".to_owned())?;
        println!("listening on http://{address}");
        let routes = axum::Router::new().route("/", axum::routing::get(async || "hello"));
        axum::serve(listener, routes).await.attempt(|| "serve".to_owned())
    })
}

/// A server that ends when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn hello() -> Result<Self, Failure> {
        let own = std::env::current_exe().attempt(|| "find this program".to_owned())?;
        let mut command = Command::new(own);
        command.args([super::INNER, HELLO]).stdout(Stdio::piped());
        let mut child = command.spawn().attempt(|| "start hello".to_owned())?;
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was asked for");
        BufReader::new(stdout).read_line(&mut line).attempt(|| "read the address of hello".to_owned())?;
        Self::listening(child, &line)
    }

    /// With a folder and a store of its own.
    fn cola_ia(bench: &Bench<'_>, name: &str) -> Result<Self, Failure> {
        Self::cola_ia_on(bench, name, None)
    }

    /// The same on this database, if one is given.
    fn cola_ia_on(bench: &Bench<'_>, name: &str, database: Option<&str>) -> Result<Self, Failure> {
        let folder = bench.folder.join(name);
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).attempt(|| format!("write {}", path.display()))
        };
        fs::create_dir_all(&folder).attempt(|| format!("create {}", folder.display()))?;
        write("cola-ia.toml", CONFIG)?;
        write("secret", SECRET)?;
        let log = folder.join("log");
        let stderr = File::create(&log).attempt(|| format!("create {}", log.display()))?;
        let mut command = Command::new(&bench.binary);
        command.envs(database.map(|address| ("COLA_IA_DB", address)));
        command.args(["serve", "--lang", "en", "--listen", "127.0.0.1:0"]).current_dir(&folder);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .attempt(|| "start the server".to_owned())?;
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if let Some(line) = text.lines().find(|line| line.contains("listening on")) {
                return Self::listening(child, line);
            }
            let ended = child.try_wait().attempt(|| "ask how the server is".to_owned())?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                let _ = child.kill();
                return Err(Failure::new(format!("the server does not listen\n{text}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn listening(child: Child, line: &str) -> Result<Self, Failure> {
        let address = line.trim().rsplit_once("http://").map(|(_, address)| address.to_owned());
        let address = address.ok_or_else(|| Failure::new(format!("no address in `{line}`")))?;
        Ok(Self { child, address })
    }

    /// The most memory that it had, in MiB.
    fn peak_mib(&self) -> Result<f64, Failure> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(&path).attempt(|| format!("read {path}"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        kib.map(|kib| kib / 1_024.0).ok_or_else(|| Failure::new(format!("no VmHWM in {path}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What clients saw.
struct Load {
    took: Duration,
    /// Sorted.
    latencies: Vec<Duration>,
}

impl Load {
    /// Sends the requests over all connections, in turn.
    fn send(address: &str, requests: &[Vec<u8>]) -> Result<Self, Failure> {
        let share = requests.len().div_ceil(CONNECTIONS).max(1);
        let shares: Vec<&[Vec<u8>]> = requests.chunks(share).collect();
        let barrier = Barrier::new(shares.len() + 1);
        thread::scope(|scope| {
            let connections: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let stream = connect(address);
                        // All wait for all, those too whose connection failed.
                        barrier.wait();
                        let mut stream = stream?;
                        share.iter().map(|request| exchange(&mut stream, request)).collect::<Result<Vec<_>, _>>()
                    })
                })
                .collect();
            barrier.wait();
            let start = Instant::now();
            let mut latencies = Vec::with_capacity(requests.len());
            for connection in connections {
                latencies.extend(connection.join().expect("no client panics")?);
            }
            let took = start.elapsed();
            latencies.sort_unstable();
            Ok(Self { took, latencies })
        })
    }

    /// In milliseconds.
    fn quantile(&self, of: f64) -> f64 {
        let at = ((self.latencies.len() as f64 * of) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(at).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}

impl std::fmt::Display for Load {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = self.latencies.len() as f64 / self.took.as_secs_f64();
        write!(out, "{rate:.0}/s, p50 {:.1} ms, p99 {:.1} ms", self.quantile(0.5), self.quantile(0.99))
    }
}

fn connect(address: &str) -> Result<TcpStream, Failure> {
    let stream = TcpStream::connect(address).attempt(|| format!("connect to {address}"))?;
    stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(PATIENCE))).attempt(|| "set up".to_owned())?;
    Ok(stream)
}

/// Sends a request, and reads its answer to the end.
fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<Duration, Failure> {
    let start = Instant::now();
    stream.write_all(request).attempt(|| "send a request".to_owned())?;
    let (mut answer, mut length) = ([0; 8_192], 0);
    loop {
        let more = stream.read(&mut answer[length..]).attempt(|| "read an answer".to_owned())?;
        length += more;
        let text = std::str::from_utf8(&answer[..length]).unwrap_or_default();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            if !head.starts_with("HTTP/1.1 200 ") {
                return Err(Failure::new(format!("answered {text}")));
            }
            let mut lengths = head.lines().filter_map(|line| line.split_once(':'));
            let wanted = lengths.rfind(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            if wanted.is_some_and(|(_, wanted)| wanted.trim().parse() == Ok(body.len())) {
                return Ok(start.elapsed());
            }
        }
        if more == 0 || length == answer.len() {
            return Err(Failure::new(format!("an answer is cut off, or longer than it may be: {text}")));
        }
    }
}

/// Signed, each with an id of its own.
fn webhooks(name: &str, count: u64) -> Vec<Vec<u8>> {
    (0..count)
        .map(|n| {
            webhook(&format!(r#"{{"id":"{name}-{n}","texto":"a text of some length, as webhooks have it: {n}"}}"#))
        })
        .collect()
}

fn webhook(body: &str) -> Vec<u8> {
    let (length, signature) = (body.len(), sign(body.as_bytes()));
    format!(
        "POST /in/web HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Signature: {signature}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// HMAC-SHA256 as RFC 2104 has it.
fn sign(body: &[u8]) -> String {
    let mut key = [0_u8; 64];
    key[..SECRET.len()].copy_from_slice(SECRET.as_bytes());
    let inner = Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    outer.iter().fold("sha256=".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// A third silent, a third in their heads, a third in their bodies.
fn slow_clients(address: &str) -> Result<Vec<TcpStream>, Failure> {
    let starts: [&[u8]; 3] = [
        b"",
        b"POST /in/web HTTP/1.1\r\nHo",
        b"POST /in/web HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{",
    ];
    let open = |n: usize| {
        let mut stream = connect(address)?;
        stream.write_all(starts[n % 3]).attempt(|| "begin a request".to_owned())?;
        Ok(stream)
    };
    (0..SLOW).map(open).collect()
}

fn idle_memory(server: &Server) -> Result<f64, Failure> {
    let mut idle = (0..IDLE).map(|_| connect(&server.address)).collect::<Result<Vec<_>, _>>()?;
    // Each has asked once, so that it has all that a connection has.
    for (stream, request) in idle.iter_mut().zip(webhooks("idle", IDLE as u64)) {
        exchange(stream, &request)?;
    }
    server.peak_mib()
}

/// All at once; one that finds no room in memory is told so and comes again, as senders do.
fn large_memory(server: &Server) -> Result<f64, Failure> {
    let ignored = "x".repeat(LARGE_BYTES - 64);
    let send = |n: usize| {
        let request = webhook(&format!(r#"{{"id":"large-{n}","texto":"t","ignored":"{ignored}"}}"#));
        let start = Instant::now();
        loop {
            match connect(&server.address).and_then(|mut stream| exchange(&mut stream, &request)) {
                Ok(_) => return Ok(()),
                Err(failure) if start.elapsed() > PATIENCE => return Err(failure),
                Err(_) => thread::sleep(Duration::from_millis(200)),
            }
        }
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..LARGE_BODIES).map(|n| scope.spawn(move || send(n))).collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("no client panics"))
    })?;
    server.peak_mib()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_seen() {
        let latencies = (1..=200).map(Duration::from_millis).collect();
        let load = Load { took: Duration::from_secs(1), latencies };
        assert!((load.quantile(0.5) - 101.0).abs() < 1e-9);
        assert!((load.quantile(0.99) - 199.0).abs() < 1e-9);
    }
}
