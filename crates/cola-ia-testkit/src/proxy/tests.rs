//! The relay before a server that only keeps what it hears, and answers each statement with one message and "ready".

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// What the server heard, connection by connection, each message as it came; `None` where it asked for TLS.
type Heard = Arc<Mutex<Vec<Vec<Vec<u8>>>>>;

struct Server {
    address: SocketAddr,
    heard: Heard,
}

impl Server {
    /// Serves so many connections. A request for TLS is answered with `tls`.
    fn start(connections: usize, tls: u8) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Heard::default();
        let of_server = Arc::clone(&heard);
        thread::spawn(move || {
            for number in 0..connections {
                let (client, _) = listener.accept().unwrap();
                of_server.lock().unwrap().push(Vec::new());
                let heard = Arc::clone(&of_server);
                thread::spawn(move || serve(&client, tls, |message| heard.lock().unwrap()[number].push(message)));
            }
        });
        Self { address, heard }
    }

    /// What this connection was told, once that is so many messages.
    fn heard(&self, connection: usize, messages: usize) -> Vec<Vec<u8>> {
        let started = Instant::now();
        loop {
            let heard = self.heard.lock().unwrap().get(connection).cloned().unwrap_or_default();
            if heard.len() >= messages || started.elapsed() > PATIENCE {
                return heard;
            }
            thread::yield_now();
        }
    }
}

fn serve(mut client: &TcpStream, tls: u8, hear: impl Fn(Vec<u8>)) {
    loop {
        let Ok(start) = message::Message::read_start(&mut client) else { return };
        let asks = start.start() == message::Start::Encryption;
        hear(start.bytes);
        if !asks {
            break;
        }
        client.write_all(&[tls]).unwrap();
        if tls == b'S' {
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).unwrap();
            return hear(rest);
        }
    }
    client.write_all(&[said(b'R', &[0; 4]), said(b'Z', b"I")].concat()).unwrap();
    while let Ok(Some(message)) = message::Message::read(&mut client) {
        let kind = message.kind;
        hear(message.bytes);
        let answer = match kind {
            b'Q' => [said(b'C', b"DONE\0"), said(b'Z', b"I")].concat(),
            b'E' => said(b'C', b"DONE\0"),
            b'S' => said(b'Z', b"I"),
            _ => continue,
        };
        // The client may be gone, and what it said is heard all the same.
        let _written = client.write_all(&answer);
    }
}

fn said(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

fn query(statement: &str) -> Vec<u8> {
    said(b'Q', format!("{statement}\0").as_bytes())
}

fn start(code: u32) -> Vec<u8> {
    [8_u32.to_be_bytes(), code.to_be_bytes()].concat()
}

/// A client that has begun a session.
fn session(proxy: &Proxy) -> TcpStream {
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&start(196_608)).unwrap();
    let mut ready = vec![0; 9 + 6];
    client.read_exact(&mut ready).unwrap();
    client
}

/// All that arrives until the connection ends or the server is ready.
fn answer(mut client: &TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut byte = [0];
    while !all.ends_with(&said(b'Z', b"I")) && matches!(client.read(&mut byte), Ok(1)) {
        all.push(byte[0]);
    }
    all
}

fn done() -> Vec<u8> {
    [said(b'C', b"DONE\0"), said(b'Z', b"I")].concat()
}

/// Where one commit is cut: what the server heard of it, and how much of the answer arrived.
fn cut_commit(plan: Plan, words: &[Vec<u8>]) -> (Vec<Vec<u8>>, Vec<u8>, u64) {
    let server = Server::start(1, b'N');
    let proxy = Proxy::start(server.address, plan).unwrap();
    let mut client = session(&proxy);
    client.write_all(&query("INSERT")).unwrap();
    assert_eq!(answer(&client), done());
    client.write_all(&words.concat()).unwrap();
    let arrived = answer(&client);
    // Its last byte has arrived or the connection is gone; what was passed on has been read or will be.
    let expected = if arrived.is_empty() { 2 } else { 2 + words.len() };
    let heard = server.heard(0, expected);
    (heard[2..].to_vec(), arrived, proxy.cuts())
}

#[test]
fn without_a_cut_all_passes() {
    let words = [query("COMMIT")];
    let (heard, arrived, cuts) = cut_commit(Arc::new(|_| Cut::Nothing), &words);
    assert_eq!((heard, arrived, cuts), (words.to_vec(), done(), 0));
}

#[test]
fn before_a_commit_the_server_hears_nothing_of_it() {
    let (heard, arrived, cuts) = cut_commit(at_commits(|_| Cut::Before), &[query("COMMIT")]);
    assert_eq!((heard, arrived, cuts), (vec![], vec![], 1));
}

#[test]
fn after_a_commit_the_server_has_heard_it_and_the_client_hears_nothing() {
    let server = Server::start(1, b'N');
    let proxy = Proxy::start(server.address, at_commits(|_| Cut::After)).unwrap();
    let mut client = session(&proxy);
    client.write_all(&query("commit;")).unwrap();
    assert!(answer(&client).is_empty());
    assert_eq!(server.heard(0, 2)[1..], [query("commit;")]);
    assert_eq!(proxy.cuts(), 1);
}

#[test]
fn in_the_middle_of_the_answer_half_of_it_arrives() {
    let plan: Plan = Arc::new(|seen| {
        if seen.from == From::Server && seen.commit && seen.kind == b'C' { Cut::Within } else { Cut::Nothing }
    });
    let (heard, arrived, cuts) = cut_commit(plan, &[query("COMMIT")]);
    assert_eq!(arrived, done()[..5]);
    assert_eq!((heard, cuts), (vec![query("COMMIT")], 1));
}

#[test]
fn a_commit_that_is_executed_is_seen_and_its_answer_too() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let of_plan = Arc::clone(&seen);
    let plan: Plan = Arc::new(move |message| {
        of_plan.lock().unwrap().push((message.from, message.kind, message.commit));
        Cut::Nothing
    });
    let words =
        [said(b'P', b"\0COMMIT\0\0\0"), said(b'B', b"\0\0\0\0\0\0\0\0"), said(b'E', b"\0\0\0\0\0"), said(b'S', b"")];
    let (heard, arrived, _) = cut_commit(plan, &words);
    assert_eq!((heard, arrived), (words.to_vec(), done()));
    let seen = seen.lock().unwrap();
    let commits = |from| seen.iter().filter(|seen| seen.0 == from && seen.2).map(|seen| seen.1).collect::<Vec<_>>();
    assert_eq!(commits(From::Client), b"E");
    assert_eq!(commits(From::Server), b"CZ");
}

#[test]
fn the_nth_message_of_either_side_can_be_cut() {
    for (from, number, heard) in [(From::Client, 0, 0), (From::Client, 2, 2), (From::Server, 3, 2)] {
        let server = Server::start(1, b'N');
        let plan: Plan =
            Arc::new(move |seen| if (seen.from, seen.number) == (from, number) { Cut::Before } else { Cut::Nothing });
        let proxy = Proxy::start(server.address, plan).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        // All at once: an answer is not waited for.
        client.write_all(&[start(196_608), query("A"), query("B")].concat()).unwrap();
        let mut all = Vec::new();
        // A cut may reach the client as an end or as a reset.
        let _ended = client.read_to_end(&mut all);
        assert_eq!(proxy.cuts(), 1, "{from:?} {number}");
        assert!(server.heard(0, heard).len() >= heard, "{from:?} {number}");
        if from == From::Client {
            drop(proxy);
            assert_eq!(server.heard(0, heard).len(), heard, "{number}");
        }
    }
}

#[test]
fn a_client_that_is_refused_tls_begins_without_it() {
    let server = Server::start(1, b'N');
    let proxy = Proxy::start(server.address, at_commits(|_| Cut::Before)).unwrap();
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&start(80_877_103)).unwrap();
    let mut refused = [0];
    client.read_exact(&mut refused).unwrap();
    assert_eq!(&refused, b"N");
    client.write_all(&start(196_608)).unwrap();
    client.read_exact(&mut [0; 9 + 6]).unwrap();
    client.write_all(&query("COMMIT")).unwrap();
    assert!(answer(&client).is_empty());
    assert_eq!(server.heard(0, 2).len(), 2);
}

#[test]
fn what_is_encrypted_passes_unread() {
    let server = Server::start(1, b'S');
    let proxy = Proxy::start(server.address, at_commits(|_| Cut::Before)).unwrap();
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&start(80_877_103)).unwrap();
    client.read_exact(&mut [0]).unwrap();
    client.write_all(&query("COMMIT")).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(server.heard(0, 2)[1], query("COMMIT"));
    assert_eq!(proxy.cuts(), 0);
}

#[test]
fn connections_are_counted_and_cut_one_by_one() {
    let server = Server::start(2, b'N');
    let proxy =
        Proxy::start(server.address, at_commits(|commits| if commits == 0 { Cut::Before } else { Cut::Nothing }));
    let proxy = proxy.unwrap();
    for (arrived, cuts) in [(vec![], 1), (done(), 1)] {
        let mut client = session(&proxy);
        client.write_all(&query("COMMIT")).unwrap();
        assert_eq!((answer(&client), proxy.cuts()), (arrived, cuts));
    }
    assert_eq!(proxy.connections(), 2);
}
