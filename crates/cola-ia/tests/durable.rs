//! A verdict is printed only after the commit that makes it true is on the disk: shown by a trace of the system calls.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use common::input::{numbered, with_texts};
use common::stored::stored;
use common::{Place, STORE, check_exit, has_tool, read_until};

/// A system call that counts here. Its beginning and its end are two moments.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A write begins.
    Write(String),
    /// A write begins that ends a transaction in a log.
    Commit(String),
    /// A flush has ended well.
    Synced(String),
    /// A name now stands for a file: (old, new).
    Named(String, String),
    /// Verdicts are written to stdout: so many lines.
    Answer(usize),
}

/// Reads what `strace -f -y` wrote. A call that another thread's interrupts is in two lines, told by the process number.
fn steps(trace: &str) -> Vec<Step> {
    let mut open: HashMap<&str, &str> = HashMap::new();
    let mut steps = Vec::new();
    for line in trace.lines() {
        let (process, call) = line.split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if let Some(resumed) = call.strip_prefix("<... ") {
            if let Some(begun) = open.remove(process) {
                steps.extend(ended(begun, resumed));
            }
        } else if let Some(begun) = call.strip_suffix(" <unfinished ...>") {
            steps.extend(begins(begun));
            open.insert(process, begun);
        } else {
            steps.extend(begins(call));
            steps.extend(ended(call, call));
        }
    }
    steps
}

/// The path that `-y` adds to the first argument, a file descriptor: `fsync(7</a/b>`.
fn path_of(call: &str) -> Option<String> {
    let path = call.split_once('<')?.1.split_once('>')?.0;
    Some(path.trim_end_matches(" (deleted)").to_owned())
}

fn begins(call: &str) -> Option<Step> {
    let (name, arguments) = call.split_once('(')?;
    match name {
        "write" | "writev" if arguments.starts_with("1<") => Some(Step::Answer(call.matches("\\n").count())),
        "pwrite64" if is_commit(arguments) => path_of(arguments).map(Step::Commit),
        "write" | "writev" | "pwrite64" | "pwritev" | "ftruncate" | "fallocate" => path_of(arguments).map(Step::Write),
        _ => None,
    }
}

/// Whether what is written is the head of the last page of a transaction in SQLite's log: 24 bytes, the page's number and,
/// only there, how many pages the file then has.
fn is_commit(arguments: &str) -> bool {
    let Some((_, rest)) = arguments.split_once(">, \"") else { return false };
    let Some((text, rest)) = rest.rsplit_once('"') else { return false };
    // What is long ends in dots.
    let length = rest.trim_start_matches('.').trim_start_matches(", ");
    length.starts_with("24, ") && bytes(text).get(4..8).is_some_and(|pages| pages != [0; 4])
}

/// The bytes of a string of C, as `strace` writes it.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
        if digits > 0 {
            let octal = rest[..digits].iter().fold(0_u32, |number, digit| number * 8 + u32::from(digit - b'0'));
            bytes.push(octal as u8);
            rest = &rest[digits..];
        } else if let Some((letter, after)) = rest.split_first() {
            bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'v' => 0x0b,
                b'f' => 0x0c,
                other => *other,
            });
            rest = after;
        }
    }
    bytes
}

/// `begun` names the call and its arguments, `result` ends in what came of it.
fn ended(begun: &str, result: &str) -> Option<Step> {
    let succeeded = result.rsplit_once(" = ").is_some_and(|(_, value)| value.trim().starts_with('0'));
    let (name, arguments) = begun.split_once('(')?;
    match name {
        "fsync" | "fdatasync" if succeeded => path_of(arguments).map(Step::Synced),
        "link" | "linkat" | "rename" | "renameat" | "renameat2" if succeeded => {
            let mut names = arguments.split('"').skip(1).step_by(2);
            Some(Step::Named(names.next()?.to_owned(), names.next()?.to_owned()))
        }
        _ => None,
    }
}

/// What a trace breaks of the promise. Answers how many times verdicts were printed.
fn check(steps: &[Step], store: &Path) -> Result<usize, String> {
    let store = store.display().to_string();
    let (log, folder) = (format!("{store}-wal"), Path::new(&store).parent().unwrap().display().to_string());
    // Transactions in the log, and those of them that were flushed; for each file whether it was written since its flush.
    // The answers to a batch are printed while the next one is committed: so each answer needs one flushed transaction more
    // than the one before, whatever else is in the log by then.
    let (mut committed, mut durable, mut unsynced): (usize, usize, HashMap<&str, bool>) = (0, 0, HashMap::new());
    let (mut named, mut folder_synced, mut answers) = (None, false, 0);
    for step in steps {
        match step {
            Step::Write(path) | Step::Commit(path) => {
                committed += usize::from(*path == log && matches!(step, Step::Commit(_)));
                unsynced.insert(path, true);
            }
            Step::Synced(path) => {
                if *path == log {
                    durable = committed;
                }
                unsynced.insert(path, false);
                folder_synced |= named.is_some() && *path == folder;
            }
            Step::Named(from, to) if Path::new(to).file_name() == Path::new(&store).file_name() => {
                let from = Path::new(from).file_name().unwrap().to_string_lossy().into_owned();
                let made = unsynced.iter().find(|(path, _)| path.ends_with(&format!("/{from}")));
                match made {
                    Some((_, false)) => named = Some(from),
                    found => return Err(format!("the new store was linked before it was flushed: {found:?}")),
                }
            }
            Step::Named(..) => {}
            Step::Answer(lines) => {
                answers += 1;
                if durable < answers {
                    return Err(format!(
                        "answer {answers} ({lines} lines): {committed} transactions were written, {durable} were flushed"
                    ));
                }
                if named.is_some() && !folder_synced {
                    return Err("the folder was not flushed after the new store was linked".to_owned());
                }
            }
        }
    }
    Ok(answers)
}

const CALLS: &str =
    "fsync,fdatasync,write,writev,pwrite64,pwritev,ftruncate,fallocate,link,linkat,rename,renameat,renameat2";

fn strace(place: &Place, args: &[&str]) -> Command {
    let mut command = place.tool("strace");
    command.args(["-f", "-y", "-o", "trace", "-e"]).arg(format!("trace={CALLS}"));
    command.arg(common::PROGRAM).args(args);
    command
}

fn can_trace() -> bool {
    let place = Place::new();
    has_tool("strace", place.tool("strace").args(["-f", "-y", "-o", "trace", "true"]))
}

/// Checks the trace, and that it saw the making of a store where one was made.
#[track_caller]
fn check_trace(place: &Place, made_store: bool) -> usize {
    let trace = String::from_utf8_lossy(&place.read("trace")).into_owned();
    let steps = steps(&trace);
    // Names in the trace are real ones.
    let store = place.folder.path().canonicalize().unwrap().join(STORE);
    let linked = steps.iter().any(|step| matches!(step, Step::Named(_, to) if to.ends_with(STORE)));
    assert_eq!(linked, made_store);
    check(&steps, &store).unwrap_or_else(|broken| panic!("{broken}; the trace has {} steps", steps.len()))
}

#[test]
fn a_file_is_answered_after_its_flush() {
    if !can_trace() {
        return;
    }
    let place = Place::new().file("in.jsonl", numbered("a", 100));
    for made_store in [true, false] {
        // New ones, then repeated ones: each delivery is kept, so a repeat waits for its flush too.
        check_exit(&strace(&place, &["add", "in.jsonl"]).output().unwrap(), 0);
        assert_eq!(check_trace(&place, made_store), 1);
    }
}

#[test]
fn batches_of_a_file_are_each_answered_after_their_flush() {
    if !can_trace() {
        return;
    }
    let text = "x".repeat(900_000);
    let lines = with_texts("a", 60, |n| format!("{n} {text}"));
    let place = Place::new().file("in.jsonl", lines);
    let mut command = strace(&place, &["add", "in.jsonl"]);
    check_exit(&command.output().unwrap(), 0);
    assert!(check_trace(&place, true) >= 3);
}

#[test]
fn each_line_of_a_pipe_is_answered_after_its_flush() {
    if !can_trace() {
        return;
    }
    let place = Place::new();
    let mut child = strace(&place, &["add", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for line in numbered("a", 10).lines() {
        writeln!(stdin, "{line}").unwrap();
        assert!(read_until(&mut stdout, "\n").ends_with(" nuevo\n"));
    }
    drop(stdin);
    stdout.read_to_end(&mut Vec::new()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(check_trace(&place, true), 10);
    assert_eq!(stored(&place.store(), true).batches, 10);
}

/// What these tests rely on: a trace that breaks the promise is seen to break it.
#[test]
fn a_broken_promise_is_noticed() {
    let store = Path::new("/d/cola_ia.sqlite3");
    let kept = "1 pwrite64(5</d/.cola_ia.sqlite3.new-1>, \"x\", 1, 0) = 1\n\
                1 fsync(5</d/.cola_ia.sqlite3.new-1>) = 0\n\
                1 linkat(AT_FDCWD</d>, \"./.cola_ia.sqlite3.new-1\", AT_FDCWD</d>, \"cola_ia.sqlite3\", 0) = 0\n\
                1 fsync(6</d>) = 0\n\
                2 pwrite64(7</d/cola_ia.sqlite3-wal>, \"\\0\\0\\0\\5\\0\\0\\0\\n\\3\"..., 24, 32) = 24\n\
                2 pwrite64(7</d/cola_ia.sqlite3-wal>, \"\\r\"..., 8192, 56) = 8192\n\
                2 fdatasync(7</d/cola_ia.sqlite3-wal> <unfinished ...>\n\
                3 write(2</dev/null>, \"x\\n\", 2) = 2\n\
                2 <... fdatasync resumed>) = 0\n\
                1 write(1<pipe:[1]>, \"a nuevo\\n\", 8) = 8\n";
    assert_eq!(check(&steps(kept), store), Ok(1));
    for (what, from, to) in [
        ("no flush of the log", "fdatasync(7", "close(7"),
        ("a flush that failed", "resumed>) = 0", "resumed>) = -1 EIO (Input/output error)"),
        ("a flush that ends too late", "2 <... fdatasync resumed>) = 0\n", ""),
        ("no flush of the folder", "1 fsync(6</d>) = 0\n", ""),
        ("no flush of the new store", "1 fsync(5</d/.cola_ia.sqlite3.new-1>) = 0\n", ""),
        (
            "nothing written",
            "2 pwrite64(7</d/cola_ia.sqlite3-wal>, \"\\0",
            "2 pread64(7</d/cola_ia.sqlite3-wal>, \"\\0",
        ),
        ("a part of a transaction written", "\\0\\0\\0\\n", "\\0\\0\\0\\0"),
    ] {
        assert!(kept.contains(from), "{what}");
        let broken = kept.replace(from, to);
        assert!(check(&steps(&broken), store).is_err(), "{what}");
    }
    let head = "2 pwrite64(7</d/cola_ia.sqlite3-wal>, \"\\0\\0\\0\\5\\0\\0\\0\\n\\3\"..., 24, 32) = 24\n";
    let answer = "1 write(1<pipe:[1]>, \"a nuevo\\n\", 8) = 8\n";
    assert!(kept.contains(head) && kept.ends_with(answer));
    let late = kept.replace(head, "").replace(answer, &format!("{head}{answer}"));
    assert!(check(&steps(&late), store).is_err(), "the end of the transaction is written after the flush");
    let next = kept.replace(answer, &format!("{head}{answer}"));
    assert_eq!(check(&steps(&next), store), Ok(1), "the next transaction is under way");
    assert!(check(&steps(&format!("{next}{answer}")), store).is_err(), "and is not flushed when it is answered");
}
