//! Memory stays bounded by the longest line allowed, whatever the input. One test, as the peak is the process's.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;

use cola_ia::intake::{InputEnd, Settings, Sink, read_input};
use cola_ia_core::intake::Intake;

/// Counts and forgets.
#[derive(Default)]
struct Counting {
    items: u64,
    rejected_bytes: u64,
}

impl Sink for Counting {
    fn intake(&mut self, _: Intake) -> ControlFlow<()> {
        self.items += 1;
        ControlFlow::Continue(())
    }

    fn rejected(&mut self, raw: &[u8]) {
        self.rejected_bytes += raw.len() as u64;
    }
}

fn read(input: impl Read) -> (Counting, InputEnd) {
    let mut sink = Counting::default();
    let end = read_input(&"-".into(), input, &Settings::default(), &Arc::default(), &mut sink);
    (sink, end)
}

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// So many copies of a packed member, unpacked one after the other: a bomb that costs little to make.
fn bomb(unit: &[u8], copies: usize, pack: impl Fn(&[u8]) -> Vec<u8>) -> impl Read {
    let member = Arc::<[u8]>::from(pack(unit));
    Members { member, left: copies, at: 0 }
}

struct Members {
    member: Arc<[u8]>,
    left: usize,
    at: usize,
}

impl Read for Members {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.member.len() {
            self.at = 0;
            self.left = self.left.saturating_sub(1);
        }
        if self.left == 0 {
            return Ok(0);
        }
        let count = buf.len().min(self.member.len() - self.at);
        buf[..count].copy_from_slice(&self.member[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn check_peak(unit_bytes: usize, copies: usize) {
    let total = unit_bytes as u64 * copies as u64;

    let (sink, end) = read(bomb(&vec![0; unit_bytes], copies, gzip));
    assert_eq!((sink.items, sink.rejected_bytes, end.lines), (1, total, 1), "zeros");
    let (sink, end) = read(bomb(&vec![b'\n'; unit_bytes], copies, gzip));
    assert_eq!((sink.items, end.blank), (0, total), "line feeds");
    let (sink, _) = read(bomb(&vec![b'['; unit_bytes], copies, |bytes| zstd::encode_all(bytes, 3).unwrap()));
    assert_eq!((sink.items, sink.rejected_bytes), (1, total), "brackets");
    let (sink, _) = read(bomb(&b"[\n".repeat(unit_bytes / 2), copies.min(4), gzip));
    assert_eq!(sink.items, 1, "openers");

    // A line of 60 MB, one of 200,000 arrays, one with as many keys as a line can hold.
    let (sink, _) = read((&b"{\"id\":\""[..]).chain(std::io::repeat(b'x').take(60_000_000)).chain(&b"\"}\n"[..]));
    assert_eq!((sink.items, sink.rejected_bytes), (1, 60_000_010));
    let (sink, _) = read(std::io::repeat(b'[').take(200_000).chain(&b"\n"[..]));
    assert_eq!(sink.items, 1);
    let mut keys = String::from("{\"id\":\"a\",\"texto\":\"b\"");
    let mut number = 0_u32;
    while keys.len() < (8 << 20) - 20 {
        use std::fmt::Write as _;
        write!(keys, ",\"{number:x}\":0").unwrap();
        number += 1;
    }
    keys.push_str("}\n");
    let (sink, end) = read(keys.as_bytes());
    assert_eq!((sink.items, end.delivered), (1, 1), "{number} keys");

    // The line itself is held by the test too.
    let bound = 12 * (8 << 20);
    assert!(peak_bytes() < bound, "peak of {} MiB", peak_bytes() >> 20);
    println!("peak {} MiB", peak_bytes() >> 20);
}

#[test]
fn memory_is_bounded() {
    check_peak(4 << 20, 16);
}

/// A gigabyte each: `cargo test --release -- --ignored memory`.
#[test]
#[ignore = "takes a minute"]
fn memory_is_bounded_for_a_gigabyte() {
    check_peak(4 << 20, 256);
}
