//! Inputs as they come: pipes that trickle, interrupts, readers that go away, compression, several files, refused lines.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;
use std::time::{Duration, Instant};

use common::input::{Gate, joined, mixed, numbered, with_texts};
use common::stored::{article_rows, make_article, stored};
use common::{BOTH, Place, Random, STORE, check_exit, code, err, out, signal};
use nix::sys::signal::Signal;

#[test]
fn a_pipe_that_trickles_is_answered_at_once() {
    let place = Place::new();
    let mut child = place.start(&["add", "-"]);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut times: Vec<Duration> = numbered("a", 24)
        .lines()
        .map(|line| {
            let began = Instant::now();
            writeln!(stdin, "{line}").unwrap();
            let mut answer = String::new();
            stdout.read_line(&mut answer).unwrap();
            assert!(answer.ends_with(" nuevo\n"), "{answer}");
            began.elapsed()
        })
        // The first ones wait for the start of the program and the making of the store.
        .skip(4)
        .collect();
    drop(stdin);
    check_exit(&child.wait_with_output().unwrap(), 0);
    times.sort_unstable();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("answers to a pipe: median {median:?}, worst {worst:?}");
    assert!(
        median < Duration::from_millis(100) && worst < Duration::from_secs(1),
        "median {median:?}, worst {worst:?}"
    );
}

#[test]
fn a_refused_line_of_a_pipe_is_told_at_once() {
    let place = Place::new();
    let mut child = place.start(&["add", "--lang", "en", "--rejects", "r.jsonl", "-"]);
    let (mut stdin, mut stderr) = (child.stdin.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
    stdin.write_all(b"{\"id\":1,\"texto\":\"x\"}\n").unwrap();
    let mut said = String::new();
    while !said.contains("[id_number]") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    assert_eq!(place.read("r.jsonl"), b"{\"id\":1,\"texto\":\"x\"}\n");
    drop(stdin);
    check_exit(&child.wait_with_output().unwrap(), 4);
}

#[test]
fn a_line_that_comes_in_two_parts_is_one_event() {
    let place = Place::new();
    let mut child = place.start(&["add", "-"]);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    stdin.write_all(b"{\"id\":\"t1\",\"texto\":\"ok\"}\n{\"id\":\"t2\",\"te").unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert_eq!(answer, "t1 nuevo\n");
    stdin.write_all(b"xto\":\"late\"}\n").unwrap();
    drop(stdin);
    stdout.read_line(&mut answer).unwrap();
    check_exit(&child.wait_with_output().unwrap(), 0);
    assert_eq!(answer, "t1 nuevo\nt2 nuevo\n");
}

/// A pipe whose first lines were answered, and that stays open.
fn answered(place: &Place, count: usize) -> (Child, std::process::ChildStdin, BufReader<std::process::ChildStdout>) {
    let mut child = place.start(&["add", "--lang", "en", "-"]);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    stdin.write_all(numbered("a", count).as_bytes()).unwrap();
    for _ in 0..count {
        stdout.read_line(&mut String::new()).unwrap();
    }
    (child, stdin, stdout)
}

#[test]
fn an_interrupt_says_what_entered_and_running_again_completes() {
    for name in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let place = Place::new();
        let (child, stdin, _stdout) = answered(&place, 5);
        signal(&child, name);
        // stdin is still open: the signal alone ends it.
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        check_exit(&output, 130);
        assert!(err(&output).contains("5 new"), "{}", err(&output));
        assert!(err(&output).contains("interrupted"), "{}", err(&output));
        assert_eq!(stored(&place.store(), true).gate.events.len(), 5);
        assert_eq!(place.names(), [STORE], "the log is put away");
        let again = place.run_with(&["add", "-"], numbered("a", 8).as_bytes());
        check_exit(&again, 0);
        assert_eq!(out(&again).matches(" repetido\n").count(), 5);
        assert_eq!(out(&again).matches(" nuevo\n").count(), 3);
    }
}

#[test]
fn an_interrupt_stops_a_file_between_batches() {
    let text = "x".repeat(900_000);
    let lines = with_texts("a", 200, |n| format!("{n} {text}"));
    let place = Place::new().file("in.jsonl", lines);
    let mut child = place.start(&["add", "in.jsonl"]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    stdout.read_line(&mut printed).unwrap();
    signal(&child, Signal::SIGTERM);
    stdout.read_to_string(&mut printed).unwrap();
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 130);
    let entered = printed.lines().count();
    assert!(entered < 200, "it was stopped");
    assert_eq!(stored(&place.store(), true).gate.events.len(), entered, "what was answered, and no more");
    assert!(err(&output).contains(&format!("{entered} new")), "{}", err(&output));
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    assert_eq!(stored(&place.store(), true).gate.events.len(), 200);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let place = Place::new();
    check_exit(&place.run(&["init"]), 0);
    // Held up where it cannot stop: in a write to a pipe that nobody reads.
    let mut child = place.start(&["add", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(numbered("a", 60_000).as_bytes());
        stdin
    });
    let full = || {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd as _;
        let stdout = child.stdout.as_ref().unwrap();
        let mut descriptors = [PollFd::new(stdout.as_fd(), PollFlags::POLLIN)];
        (poll(&mut descriptors, PollTimeout::ZERO) == Ok(1)).then_some(())
    };
    common::until("the first answers", full);
    signal(&child, Signal::SIGTERM);
    let began = Instant::now();
    // A second one of the same kind while the first is pending would be one signal.
    let ended = common::until("its end", || {
        signal(&child, Signal::SIGINT);
        signal(&child, Signal::SIGTERM);
        child.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(writer.join().unwrap());
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    let whole = printed.rfind('\n').map_or(0, |end| printed[..=end].lines().count());
    assert!(stored(&place.store(), true).gate.events.len() >= whole);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let place = Place::new();
    let mut child = place.start(&["add", "-"]);
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut stdout = BufReader::new(stdout);
    stdin.write_all(numbered("a", 1).as_bytes()).unwrap();
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    stdin.write_all(numbered("b", 1).as_bytes()).unwrap();
    // stdin is still open.
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 1);
    drop(stdin);
    assert!(!err(&output).contains("error"), "{}", err(&output));
    assert_eq!(stored(&place.store(), true).gate.events.len(), 2);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::encode_all(plain, 3).unwrap()
}

#[test]
fn packed_inputs_are_read_member_after_member() {
    for pack in [gzip, zstd] {
        let members = [pack(numbered("a", 50).as_bytes()), pack(numbered("b", 50).as_bytes())].concat();
        let place = Place::new().file("in", &members);
        let output = place.run(&["add", "in"]);
        check_exit(&output, 0);
        assert_eq!(out(&output).matches(" nuevo\n").count(), 100);
        let output = place.run_with(&["add", "-"], &members);
        check_exit(&output, 0);
        assert_eq!(out(&output).matches(" repetido\n").count(), 100);
    }
}

#[test]
fn a_cut_packed_input_enters_as_far_as_it_goes() {
    let mut random = Random::seeded("a_cut_packed_input_enters_as_far_as_it_goes");
    let lines = mixed(&mut random, 30_000, 10);
    let plain = joined(&lines);
    for (pack, es, en) in [
        (gzip as fn(&[u8]) -> Vec<u8>, "el flujo gzip termina", "the gzip stream ends"),
        (zstd, "el flujo zstd termina", "the zstd stream ends"),
    ] {
        let packed = pack(plain.as_bytes());
        let place = Place::new();
        for (language, cause) in [("es", es), ("en", en)] {
            let cut = &packed[..packed.len() / 2];
            let output = place.run_with(&["--lang", language, "add", "-"], cut);
            check_exit(&output, 1);
            assert!(err(&output).contains(cause), "{}", err(&output).lines().last().unwrap());
        }
        let end = stored(&place.store(), true);
        let mut gate = Gate::default();
        // Answers of both runs are the first lines of the input.
        let taken = (end.gate.events.len() as u64 + end.deliveries.values().sum::<u64>()) as usize;
        assert!(taken > 10_000, "{taken} lines");
        gate.answers(&lines[..lines.len() * 3 / 4]);
        assert!(end.gate.events.len() > 1_000);
        assert!(
            end.gate.events.iter().all(|(id, text)| gate.events.get(id) == Some(text)),
            "only what was in the input"
        );
        place.write("whole", &packed);
        check_exit(&place.run(&["add", "whole"]), 4);
        let mut whole = Gate::default();
        whole.answers(&lines);
        assert_eq!(stored(&place.store(), true).gate, whole);
    }
}

#[test]
fn a_large_zstd_window_is_refused() {
    let plain = numbered("a", 100);
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.set_parameter(zstd::zstd_safe::CParameter::WindowLog(27)).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.write_all(plain.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    for language in BOTH {
        let place = Place::new().file("in.zst", &packed);
        let output = place.run(&["--lang", language, "add", "in.zst"]);
        check_exit(&output, 1);
        assert!(err(&output).contains("in.zst") && err(&output).contains("8 MiB"), "{}", err(&output));
        assert_eq!(out(&output), "");
    }
}

#[test]
fn inputs_are_read_in_their_order() {
    let place = Place::new().file("one", numbered("a", 2)).file("three", gzip(numbered("c", 2).as_bytes()));
    let output = place.run_with(&["add", "one", "-", "three"], numbered("b", 2).as_bytes());
    check_exit(&output, 0);
    assert_eq!(out(&output), "a-0 nuevo\na-1 nuevo\nb-0 nuevo\nb-1 nuevo\nc-0 nuevo\nc-1 nuevo\n");
}

#[test]
fn one_missing_file_among_several_stops_all() {
    for missing in ["no.jsonl", "folder", "secret.jsonl/x"] {
        for language in BOTH {
            let place = Place::new().file("one.jsonl", numbered("a", 2)).file("secret.jsonl", "");
            fs::create_dir(place.path("folder")).unwrap();
            let before = place.names();
            let output = place.run(&["--lang", language, "add", "one.jsonl", missing, "one.jsonl"]);
            check_exit(&output, 1);
            assert!(err(&output).contains(missing), "{}", err(&output));
            assert_eq!(out(&output), "");
            assert_eq!(place.names(), before, "not even a store");
        }
    }
}

#[test]
fn an_input_that_is_the_store_or_the_rejects_is_refused() {
    let place = Place::new().file("in.jsonl", numbered("a", 2)).file("r.jsonl", "no\n");
    check_exit(&place.run(&["add", "in.jsonl"]), 0);
    let before = place.contents();
    std::os::unix::fs::symlink(STORE, place.path("link")).unwrap();
    fs::hard_link(place.path("r.jsonl"), place.path("hard")).unwrap();
    for (args, expected) in [
        (&["add", STORE][..], 1),
        (&["add", "in.jsonl", "link"], 1),
        (&["add", "--rejects", "r.jsonl", "in.jsonl", "hard"], 1),
        (&["add", "--rejects", "r.jsonl", "r.jsonl"], 2),
    ] {
        let output = place.run(args);
        check_exit(&output, expected);
        assert_eq!(out(&output), "", "{args:?}");
    }
    for name in ["link", "hard"] {
        fs::remove_file(place.path(name)).unwrap();
    }
    assert!(place.contents() == before);
}

#[test]
fn rejects_may_not_go_into_the_store() {
    for is_there in [true, false] {
        let place = Place::new().file("in.jsonl", "no\n");
        if is_there {
            check_exit(&place.run(&["init", "--config", "/dev/null"]), 0);
            fs::hard_link(place.store(), place.path("hard")).unwrap();
        }
        std::os::unix::fs::symlink(STORE, place.path("link")).unwrap();
        std::os::unix::fs::symlink(".", place.path("here")).unwrap();
        let before = place.contents();
        for language in BOTH {
            for ending in ["", "-wal", "-shm", "-journal"] {
                let rejects = [format!("{STORE}{ending}"), format!("./here/{STORE}{ending}")];
                for path in rejects
                    .iter()
                    .map(String::as_str)
                    .chain(is_there.then_some("link"))
                    .chain(is_there.then_some("hard"))
                {
                    let output = place.run(&["--lang", language, "add", "--rejects", path, "in.jsonl"]);
                    check_exit(&output, 1);
                    assert!(err(&output).contains(path), "{}", err(&output));
                    assert!(place.contents() == before, "{path}: {:?}", place.names());
                }
            }
        }
    }
}

#[test]
fn refused_lines_are_kept_byte_for_byte() {
    let good = numbered("a", 1);
    let bad: [&[u8]; 6] = [
        b"not json\r\n",
        b"{\"id\":\"e\xff\",\"texto\":\"x\"}\n",
        b"{\"id\":\"z\\u0000\",\"texto\":\"x\"}\n",
        b"  {\"id\":7,\"texto\":\"  seven \"}  \n",
        b"[]\n",
        b"{\"id\":\"g\",\"texto\":\"a\"} {}\n",
    ];
    let mut input = b"\xef\xbb\xbf".to_vec();
    for line in bad {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\n   \r\n");
        input.extend_from_slice(good.as_bytes());
    }
    let place = Place::new().file("in.jsonl", &input);
    for run in 1..=2 {
        let output = place.run(&["add", "--rejects", "r.jsonl", "in.jsonl"]);
        check_exit(&output, 4);
        assert!(place.read("r.jsonl") == bad.concat().repeat(run), "they are appended");
        assert_eq!(fs::metadata(place.path("r.jsonl")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // No refused line, no file; and a file that is there keeps its mode.
    check_exit(&place.run_with(&["add", "--rejects", "none.jsonl", "-"], good.as_bytes()), 0);
    assert!(!place.path("none.jsonl").exists());
    fs::set_permissions(place.path("r.jsonl"), Permissions::from_mode(0o640)).unwrap();
    place.run(&["add", "--rejects", "r.jsonl", "in.jsonl"]);
    assert_eq!(fs::metadata(place.path("r.jsonl")).unwrap().permissions().mode() & 0o777, 0o640);
    // Mended, they enter.
    let mended = "{\"id\":\"7\",\"texto\":\"  seven \"}\n";
    check_exit(&place.run_with(&["add", "-"], mended.as_bytes()), 0);
}

/// What a dry run says of an input, and that it leaves no trace.
#[track_caller]
fn check_dry_run(place: &Place) {
    let before = place.contents();
    let dry = place.run(&["add", "--dry-run", "--rejects", "r.jsonl", "in.jsonl"]);
    let mut after = place.contents();
    // The refused lines were asked for.
    after.retain(|(name, _)| name != "r.jsonl" || before.iter().any(|(old, _)| old == "r.jsonl"));
    assert!(after == before, "{:?}", place.names());
    let json = place.run(&["add", "--dry-run", "--json", "in.jsonl"]);
    let real = place.run(&["add", "in.jsonl"]);
    assert_eq!(out(&dry), out(&real));
    assert_eq!(code(&dry), code(&real));
    assert_eq!(code(&json), code(&real));
    let words = |text: &str| text.matches("\"verdict\":\"new\"").count();
    assert_eq!(words(&out(&json)), out(&real).matches(" nuevo\n").count());
}

#[test]
fn a_dry_run_says_what_would_happen_and_leaves_no_trace() {
    let mut random = Random::seeded("a_dry_run_says_what_would_happen_and_leaves_no_trace");
    let lines = mixed(&mut random, 400, 10);
    let absent = Place::new().file("in.jsonl", joined(&lines));
    check_dry_run(&absent);
    let present = Place::new().file("in.jsonl", joined(&lines[..200]));
    check_exit(&present.run(&["add", "in.jsonl"]), 4);
    present.write("in.jsonl", joined(&lines));
    check_dry_run(&present);
    let article = Place::new().file("in.jsonl", numbered("viejo", 5) + &joined(&lines));
    make_article(&article.store(), article_rows(10));
    check_dry_run(&article);
    assert!(stored(&article.store(), true).gate.conflicts.len() >= 5);
}

#[test]
fn exit_codes_say_the_worst_that_was_found() {
    let new = "{\"id\":\"a\",\"texto\":\"x\"}\n";
    let conflict = "{\"id\":\"a\",\"texto\":\"x\"}\n{\"id\":\"a\",\"texto\":\"y\"}\n";
    let refused = "{\"id\":1,\"texto\":\"x\"}\n";
    let unfinished = "{\"id\":\"b\",\"te";
    let fail_on = &["add", "--fail-on", "conflict", "-"][..];
    for (args, input, expected) in [
        (&["add", "-"][..], new.to_owned(), 0),
        (&["add", "-"], conflict.to_owned(), 0),
        (fail_on, new.to_owned(), 0),
        (fail_on, conflict.to_owned(), 3),
        (&["add", "--fail-on", "conflicto", "-"], conflict.to_owned(), 3),
        (&["add", "-"], format!("{new}{refused}"), 4),
        (&["add", "-"], format!("{new}{unfinished}"), 6),
        (&["add", "-"], format!("{refused}{new}{unfinished}"), 4),
        (fail_on, format!("{conflict}{refused}{unfinished}"), 3),
        (fail_on, format!("{new}{refused}{unfinished}"), 4),
        (fail_on, format!("{new}{unfinished}"), 6),
        (&["add", "-"], format!("{conflict}{refused}{unfinished}"), 4),
        (&["add", "-"], String::new(), 0),
    ] {
        for dry_run in [true, false] {
            let place = Place::new();
            let args = if dry_run { &[args, &["--dry-run"]].concat() } else { args };
            check_exit(&place.run_with(args, input.as_bytes()), expected);
        }
    }
}

#[test]
fn an_unfinished_line_is_taken_by_the_next_run() {
    let place = Place::new().file("in.jsonl", "{\"id\":\"t1\",\"texto\":\"ok\"}\n{\"id\":\"t2\",\"te");
    let output = place.run(&["add", "in.jsonl"]);
    check_exit(&output, 6);
    assert_eq!(out(&output), "t1 nuevo\n");
    assert!(err(&output).contains("in.jsonl:2") || err(&output).contains("line 2"), "{}", err(&output));
    place.write("in.jsonl", "{\"id\":\"t1\",\"texto\":\"ok\"}\n{\"id\":\"t2\",\"texto\":\"late\"}\n");
    let output = place.run(&["add", "in.jsonl"]);
    check_exit(&output, 0);
    assert_eq!(out(&output), "t1 repetido\nt2 nuevo\n");
}

#[test]
fn a_named_pipe_is_read_once() {
    let place = Place::new();
    nix::unistd::mkfifo(&place.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let child = place.start(&["add", "pipe"]);
    fs::write(place.path("pipe"), numbered("a", 3)).unwrap();
    let output = child.wait_with_output().unwrap();
    check_exit(&output, 0);
    assert_eq!(out(&output).lines().count(), 3);
}

#[test]
fn refusals_beyond_those_told_one_by_one_are_told_when_the_pipe_falls_silent() {
    let place = Place::new();
    let mut child = place.start(&["add", "--lang", "en", "-"]);
    let (mut stdin, mut stderr) = (child.stdin.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
    let writer = std::thread::spawn(move || {
        stdin.write_all("{\"id\":1,\"texto\":\"x\"}\n".repeat(10_007).as_bytes()).unwrap();
        stdin
    });
    let mut said = String::new();
    while !said.contains("7 ") || !said.lines().last().is_some_and(|line| line.contains(": 7 ")) {
        said.clear();
        assert!(stderr.read_line(&mut said).unwrap() > 0, "the seven are told while the pipe is open");
    }
    drop(writer.join().unwrap());
    check_exit(&child.wait_with_output().unwrap(), 4);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    let sum = "SELECT sum(count) FROM deliveries WHERE verdict = 'invalid'";
    assert_eq!(connection.query_row(sum, [], |row| row.get::<_, i64>(0)).unwrap(), 10_007);
}

/// The refusals of a file are buffered, and the pipe behind it never ends.
#[test]
fn an_interrupt_keeps_what_was_refused() {
    let bad = "{\"id\":1,\"texto\":\"x\"}\n";
    let place = Place::new().file("in.jsonl", bad);
    let mut child = place.start(&["add", "--lang", "en", "--rejects", "r.jsonl", "in.jsonl", "-"]);
    let (stdin, mut stderr) = (child.stdin.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
    let mut said = String::new();
    while !said.contains("[id_number]") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    signal(&child, Signal::SIGTERM);
    check_exit(&child.wait_with_output().unwrap(), 130);
    drop(stdin);
    assert_eq!(place.read("r.jsonl"), bad.as_bytes());
}

#[test]
fn refused_lines_of_different_inputs_stay_apart() {
    let bad = |id: u32| format!("{{\"id\":{id},\"texto\":\"x\"}}");
    // No line feed at the end of either.
    let place = Place::new().file("a.jsonl", bad(1)).file("b.jsonl", bad(2));
    check_exit(&place.run(&["add", "--rejects", "r.jsonl", "a.jsonl", "b.jsonl"]), 4);
    check_exit(&place.run(&["add", "--rejects", "r.jsonl", "a.jsonl"]), 4);
    let kept = String::from_utf8(place.read("r.jsonl")).unwrap();
    assert_eq!(kept, [bad(1), bad(2), bad(1)].join("\n"));
}

#[test]
fn as_many_sources_as_events_are_no_burden() {
    let line = |n: u32| format!("{{\"id\":\"a\",\"texto\":\"x\",\"origen\":\"s{n}\"}}\n");
    let lines: Vec<String> = (0..20_000).map(line).collect();
    let place = Place::new().file("in.jsonl", lines.concat());
    check_exit(&place.run(&["add", "-q", "in.jsonl"]), 0);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM jobs"), 20_000);
    assert_eq!(count("SELECT count(*) FROM counters"), 20_000);
    assert_eq!(count("SELECT count(*) FROM counter_deltas"), 0, "so many are added up at once");
    let shown = out(&place.run(&["stats", "--json"]));
    assert_eq!(shown.lines().count(), 1 + 1_000, "the total and the sources that received the most");
    assert!(shown.contains(r#""received":20000"#) && shown.contains(r#""sources_left_out":19000"#), "{shown:.400}");
}
