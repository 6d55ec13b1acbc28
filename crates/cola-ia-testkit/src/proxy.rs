//! A relay before a PostgreSQL server that cuts connections at chosen messages.
//!
//! What matters is a commit: whether it reached the server, and whether its answer came back. The relay reads both directions
//! message by message (PostgreSQL's documentation, chapter "Frontend/Backend Protocol"), asks a plan about each one, and cuts both
//! sides at once where the plan says so. It knows where messages end and which of them hold a statement, and nothing of SQL but
//! the word `COMMIT`. A client that is to be read must not encrypt: its request for TLS is passed on, and what follows a consent
//! is relayed unread.

mod message;
mod relay;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum From {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// A message that has arrived whole and was not passed on yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The connection's number, from 0, in the order in which they came.
    pub connection: u64,
    /// Who sent it.
    pub from: From,
    /// How many this sender sent before it on this connection, the start included.
    pub number: u64,
    /// Its type, such as `b'Q'`; 0 for those of the start, which have none.
    pub kind: u8,
    /// From the client: the statement of a `Query`, or of the portal that an `Execute` runs. From the server: the statement that
    /// this is in the answer to, up to `ReadyForQuery`; of several between two `Sync`, the one that commits, else the last.
    pub statement: Option<Arc<str>>,
    /// That statement is `COMMIT` or `END`.
    pub commit: bool,
}

/// Where a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Nowhere: the message is passed on.
    Nothing,
    /// Before the message: it is not passed on.
    Before,
    /// In the middle of it: its first half is passed on.
    Within,
    /// After it: it is passed on, and nothing that is said then. What the client said is carried out by the server.
    After,
}

/// What says where connections are cut.
pub type Plan = Arc<dyn Fn(&Seen) -> Cut + Send + Sync>;

/// A plan that cuts at the commits of which this says where: its argument is how many commits were seen before.
///
/// `Before` loses the commit, `After` its answer: the server has been asked, and the client never hears.
pub fn at_commits(cut: impl Fn(u64) -> Cut + Send + Sync + 'static) -> Plan {
    let commits = AtomicU64::new(0);
    Arc::new(move |seen| {
        if seen.from == From::Client && seen.commit {
            cut(commits.fetch_add(1, Ordering::SeqCst))
        } else {
            Cut::Nothing
        }
    })
}

/// A relay that listens. Dropped, it cuts all connections and takes no more.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    upstream: SocketAddr,
    plan: Plan,
    stopped: AtomicBool,
    connections: AtomicU64,
    cuts: AtomicU64,
    /// The sockets of both sides, to be cut at the end.
    open: Mutex<Vec<(u64, [TcpStream; 2])>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("upstream", &self.upstream).field("cuts", &self.cuts).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and relays to `upstream`.
    ///
    /// # Errors
    /// No port or no thread can be had.
    pub fn start(upstream: SocketAddr, plan: Plan) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            plan,
            stopped: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            cuts: AtomicU64::new(0),
            open: Mutex::default(),
        });
        let of_acceptor = Arc::clone(&shared);
        let acceptor = thread::Builder::new().name("proxy".into()).spawn(move || accept(&listener, &of_acceptor))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections were cut by the plan.
    pub fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    /// How many connections were taken.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The acceptor waits for a connection: this one is its last.
        let _woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ended = acceptor.join();
        }
        for (_, sides) in self.shared.open().drain(..) {
            relay::cut(&sides);
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Vec<(u64, [TcpStream; 2])>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        // A server that is not there is one that takes no connection: the client's is closed.
        let _closed = connect(client, shared);
    }
}

/// Joins a client to the server, with a thread for each direction.
fn connect(client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect(shared.upstream)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    shared.open().push((number, [client.try_clone()?, server.try_clone()?]));
    let talk = Arc::new(relay::Talk::default());
    for (from, input, output) in
        [(From::Client, client.try_clone()?, server.try_clone()?), (From::Server, server, client)]
    {
        let (shared, talk) = (Arc::clone(shared), Arc::clone(&talk));
        thread::Builder::new().name("proxy".into()).spawn(move || {
            let mut direction = relay::Direction::new(number, from, &talk);
            let ended = direction.run(&input, &output, &*shared.plan);
            if matches!(ended, Ok(relay::End::Cut(_))) {
                shared.cuts.fetch_add(1, Ordering::SeqCst);
            }
            // Whichever side went, the other is told at once.
            if from == From::Client && matches!(ended, Ok(relay::End::Cut(Cut::After))) {
                relay::cut_when_carried_out(&input, &output);
                return;
            }
            relay::cut(&[input, output]);
            if from == From::Server {
                shared.open().retain(|(open, _)| *open != number);
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
