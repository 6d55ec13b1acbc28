//! No input makes it use more memory than its bound, hang or panic.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::io::{BufWriter, Read as _, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{Place, code};
use nix::sys::resource::{UsageWho, getrusage};

/// The bound, in KiB.
/// `cargo xtask bench` holds the release binary to 128; a debug build, and one of a busy machine, needs some tenths more.
const BOUND: u64 = if cfg!(debug_assertions) { 160 << 10 } else { 128 << 10 };

/// One at a time: they are heavy, and the time of each is bounded.
static ONE: Mutex<()> = Mutex::new(());

struct Used {
    exit: i32,
    stderr: String,
    answers: usize,
}

/// Runs `add` on what `write` gives, and checks the memory that it used and the time that it took.
#[track_caller]
fn check(
    what: &str,
    args: &[&str],
    limit: Duration,
    write: impl FnOnce(&mut BufWriter<ChildStdin>) -> std::io::Result<()> + Send,
) -> Used {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let place = Place::new();
    let mut child = place
        .command(&[&["--lang", "en", "add"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, mut stdout, mut stderr) =
        (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let began = Instant::now();
    let mut peak = 0;
    let (status, answers, stderr) = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut stdin = BufWriter::with_capacity(1 << 20, stdin);
            // A command that ends early closes the pipe; its exit says why.
            let _ = write(&mut stdin).and_then(|()| stdin.flush());
        });
        let answers = scope.spawn(move || {
            let (mut count, mut buffer) = (0, vec![0; 64 << 10]);
            loop {
                match stdout.read(&mut buffer).unwrap() {
                    0 => return count,
                    length => count += memchr::memchr_iter(b'\n', &buffer[..length]).count(),
                }
            }
        });
        let told = scope.spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let status = loop {
            peak = peak.max(peak_of(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                child.kill().unwrap();
            }
            std::thread::park_timeout(Duration::from_millis(2));
        };
        (status, answers.join().unwrap(), told.join().unwrap())
    });
    // The operating system's own account of all children of this test: none was larger than the bound, this one included.
    let largest = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() as u64;
    println!("{what}: {} MiB, {:?}, exit {:?}", peak >> 10, began.elapsed(), status.code());
    assert!(began.elapsed() < limit, "{what}: not done within {limit:?}");
    assert!(status.code().is_some(), "{what}: {status:?}");
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    assert!(peak > 0 && peak < BOUND, "{what}: {} MiB", peak >> 10);
    assert!(largest < BOUND, "{what}: {} MiB", largest >> 10);
    assert_eq!(code(&place.run(&["jobs"])), 0, "{what}: the store is usable");
    Used { exit: status.code().unwrap(), stderr, answers }
}

/// `VmHWM` of a process, in KiB.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn repeat(into: &mut impl Write, bytes: &[u8], times: usize) -> std::io::Result<()> {
    (0..times).try_for_each(|_| into.write_all(bytes))
}

const GOOD: &[u8] = b"{\"id\":\"good\",\"texto\":\"x\"}\n";

#[test]
fn a_line_of_60_megabytes() {
    for (what, start, end) in [
        ("a long text", &b"{\"id\":\"a\",\"texto\":\""[..], &b"\"}\n"[..]),
        ("a long ignored field", b"{\"id\":\"a\",\"texto\":\"x\",\"other\":\"", b"\"}\n"),
        ("no JSON", b"", b"\n"),
    ] {
        let used = check(what, &["-"], Duration::from_secs(30), |stdin| {
            stdin.write_all(start)?;
            repeat(stdin, &vec![b'x'; 1 << 16], 60 << 4)?;
            stdin.write_all(end)?;
            stdin.write_all(GOOD)
        });
        assert_eq!((used.exit, used.answers), (4, 1), "{}", used.stderr);
        assert!(used.stderr.contains("[line_too_long]"), "{}", used.stderr);
    }
}

#[test]
fn a_line_of_60_megabytes_without_an_end() {
    let used = check("a long line without an end", &["-"], Duration::from_secs(30), |stdin| {
        stdin.write_all(GOOD)?;
        repeat(stdin, &vec![b'x'; 1 << 16], 60 << 4)
    });
    assert_eq!(used.answers, 1, "{}", used.stderr);
    assert!([4, 6].contains(&used.exit), "{}", used.stderr);
}

#[test]
fn two_hundred_thousand_nested_arrays() {
    for (what, open, close) in
        [("arrays", &b"["[..], &b"]"[..]), ("objects", b"{\"a\":", b"}"), ("open arrays", b"[", b"")]
    {
        let used = check(what, &["-"], Duration::from_secs(30), |stdin| {
            stdin.write_all(b"{\"id\":\"a\",\"texto\":\"x\",\"n\":")?;
            repeat(stdin, open, 200_000)?;
            repeat(stdin, if close == b"}" { b"1" } else { b"" }, 1)?;
            repeat(stdin, close, 200_000)?;
            stdin.write_all(b"}\n")?;
            stdin.write_all(GOOD)
        });
        assert_eq!((used.exit, used.answers), (4, 1), "{}", used.stderr);
        assert!(used.stderr.contains("[json_too_deep]"), "{}", used.stderr);
    }
}

#[test]
fn a_gzip_bomb() {
    for (what, byte, exit) in [("zeros", 0, 4), ("newlines", b'\n', 0), ("brackets", b'[', 4)] {
        let used = check(&format!("300 MB of {what} in gzip"), &["-"], Duration::from_mins(1), |stdin| {
            let mut encoder = flate2::write::GzEncoder::new(stdin, flate2::Compression::fast());
            repeat(&mut encoder, &vec![byte; 1 << 20], 300)?;
            encoder.write_all(b"\n")?;
            encoder.write_all(GOOD)?;
            encoder.finish().map(drop)
        });
        assert_eq!((used.exit, used.answers), (exit, 1), "{}", used.stderr);
    }
}

#[test]
fn many_refused_lines() {
    let used = check("300,000 refused lines", &["-"], Duration::from_mins(1), |stdin| {
        repeat(stdin, b"{\"id\":1,\"texto\":\"x\"}\n", 150_000)?;
        repeat(stdin, b"no\n", 150_000)?;
        stdin.write_all(GOOD)
    });
    assert_eq!((used.exit, used.answers), (4, 1));
}

#[test]
fn a_million_small_events() {
    let used = check("1,000,000 events", &["-"], Duration::from_mins(2), |stdin| {
        // Ids in no order, as random ones come.
        (0..1_000_000_u64).try_for_each(|n| {
            let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            writeln!(stdin, "{{\"id\":\"{id:016x}\",\"texto\":\"{n}\"}}")
        })
    });
    assert_eq!((used.exit, used.answers), (0, 1_000_000), "{}", used.stderr);
}

#[test]
fn many_large_texts() {
    let text = vec![b'x'; (1 << 20) - 10];
    let used = check("100 texts of 1 MiB", &["-"], Duration::from_mins(1), |stdin| {
        (0..100).try_for_each(|n| {
            write!(stdin, "{{\"id\":\"{n}\",\"texto\":\"{n} ")?;
            stdin.write_all(&text[..(1 << 20) - 10])?;
            stdin.write_all(b"\"}\n")
        })
    });
    assert_eq!((used.exit, used.answers), (0, 100), "{}", used.stderr);
}

#[test]
fn many_large_conflicts() {
    let text = vec![b'x'; (1 << 20) - 10];
    let used = check("60 conflicts of 1 MiB on one id", &["-"], Duration::from_mins(1), |stdin| {
        (0..60).try_for_each(|n| {
            write!(stdin, "{{\"id\":\"a\",\"texto\":\"{n} ")?;
            stdin.write_all(&text[..(1 << 20) - 10])?;
            stdin.write_all(b"\"}\n")
        })
    });
    assert_eq!((used.exit, used.answers), (0, 60), "{}", used.stderr);
}
