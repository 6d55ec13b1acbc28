//! Sources whose jobs fail one after the other, and pauses, with the real program.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use common::{Place, check_exit, err, out, signal, until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// What fails is tried again at once, and three in a row pause a source.
fn place() -> Place {
    Place::new()
        .with("COLA_IA_LANG", "en")
        .with("COLA_IA_RETRY_FIRST", "0s")
        .with("COLA_IA_RETRY_MAX", "0s")
        .with("COLA_IA_SOURCE_PAUSE_AFTER", "3")
}

fn add(place: &Place, source: &str, count: usize) {
    let lines = (1..=count).fold(String::new(), |mut lines, number| {
        writeln!(lines, r#"{{"id":"{source}-{number}","texto":"t"}}"#).unwrap();
        lines
    });
    check_exit(&place.run_with(&["add", "-q", "--source", source, "-"], lines.as_bytes()), 0);
}

/// Leases jobs of the source: their leases.
#[track_caller]
fn claim(place: &Place, source: &str, count: usize) -> Vec<String> {
    let claimed = place.run(&["claim", "--source", source, "--limit", &count.to_string()]);
    check_exit(&claimed, 0);
    let leases: Vec<String> = out(&claimed).lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(leases.len(), count);
    leases
}

#[track_caller]
fn fail(place: &Place, leases: &[String], class: &str) {
    for lease in leases {
        check_exit(&place.run(&["fail", lease, "--class", class]), 0);
    }
}

/// The line of `stats --json` for this source.
fn stats(place: &Place, source: &str) -> Value {
    let stats = place.run(&["stats", "--json", "--source", source]);
    check_exit(&stats, 0);
    serde_json::from_str(out(&stats).lines().nth(1).unwrap()).unwrap()
}

fn is_paused(place: &Place, source: &str) -> bool {
    !stats(place, source)["paused_at"].is_null()
}

#[test]
fn so_many_failures_in_a_row_pause_a_source_until_a_person_resumes_it() {
    let place = place();
    add(&place, "web", 5);
    add(&place, "form", 2);
    let leases = claim(&place, "web", 4);
    fail(&place, &leases[..2], "http_503");
    assert!(!is_paused(&place, "web"));
    fail(&place, &leases[2..3], "http_503");
    let line = stats(&place, "web");
    assert_eq!((&line["failing"]["class"], &line["failing"]["count"]), (&"http_503".into(), &3.into()));
    assert_eq!(line["failing"]["event"], 3);
    assert!(line["failing"]["since"].is_string() && line["paused_at"].is_string(), "{line}");

    // It waits, and is not given out.
    assert_eq!(line["jobs"]["pending"], 4);
    let refused = place.run(&["claim", "--source", "web"]);
    check_exit(&refused, 8);
    assert_eq!(out(&refused), "");
    assert!(err(&refused).contains("the source web is paused since"), "{}", err(&refused));
    let why = "because 3 jobs failed in a row with http_503";
    assert!(err(&refused).contains(why) && err(&refused).contains("cola-ia resume web"), "{}", err(&refused));
    // What is held goes on to its end; that ends no pause.
    check_exit(&place.run(&["complete", &leases[3]]), 0);
    assert!(is_paused(&place, "web"));
    // Other sources are worked on, and events still come in.
    fail(&place, &claim(&place, "form", 1), "http_503");
    check_exit(&place.run_with(&["add", "--source", "web", "-"], b"{\"id\":\"late\",\"texto\":\"t\"}\n"), 0);
    let all = place.run(&["claim", "--limit", "9"]);
    check_exit(&all, 0);
    assert!(out(&all).lines().all(|line| line.contains(" form-")), "{}", out(&all));

    let told = place.run(&["stats"]);
    assert!(err(&told).contains("the source web is paused") && !err(&told).contains("form is"), "{}", err(&told));
    let examined = place.run(&["doctor", "--quiet"]);
    check_exit(&examined, 1);
    assert!(out(&examined).contains("a source is paused since") && out(&examined).contains("[sources_paused]"));

    let resumed = place.run(&["resume", "web", "--json"]);
    check_exit(&resumed, 0);
    assert_eq!(out(&resumed), "{\"v\":1,\"source\":\"web\",\"resumed\":true}\n");
    assert!(err(&resumed).contains("the source web is resumed"), "{}", err(&resumed));
    // From the beginning: two more are too few.
    let leases = claim(&place, "web", 5);
    fail(&place, &leases[..2], "http_503");
    assert_eq!((stats(&place, "web")["failing"]["count"].as_u64(), is_paused(&place, "web")), (Some(2), false));
}

#[test]
fn nothing_pauses_a_source_unless_it_is_asked_for() {
    for place in [place().with("COLA_IA_SOURCE_PAUSE_AFTER", "0"), Place::new().with("COLA_IA_LANG", "en")] {
        add(&place, "web", 12);
        fail(&place, &claim(&place, "web", 11), "http_503");
        assert!(!is_paused(&place, "web"));
        let told = place.run(&["stats"]);
        let said = err(&told);
        assert!(said.contains("warning: 11 jobs of web failed in a row with http_503 since 20"), "{said}");
        assert!(said.contains("Z; last: web-11\n") && said.contains("cola-ia errors --group --source web"), "{said}");
        assert!(out(&place.run(&["doctor", "--quiet"])).contains("[sources_failing]"));
        check_exit(&place.run(&["complete", &claim(&place, "web", 1)[0]]), 0);
        assert!(!err(&place.run(&["stats"])).contains("in a row"));
    }
    let file = Place::new().file("cola-ia.toml", "[source]\npause_after = 2\n");
    add(&file, "web", 2);
    fail(&file, &claim(&file, "web", 2), "http_503");
    assert!(is_paused(&file, "web"));
}

#[test]
fn a_job_that_fails_alone_or_in_another_way_pauses_nothing() {
    let place = place();
    add(&place, "web", 3);
    add(&place, "form", 1);
    for _ in 0..4 {
        fail(&place, &claim(&place, "form", 1), "http_503");
    }
    assert!(!is_paused(&place, "form"));
    let leases = claim(&place, "web", 3);
    fail(&place, &leases[..1], "http_503");
    fail(&place, &leases[1..2], "http_500");
    fail(&place, &leases[2..], "http_503");
    assert!(!is_paused(&place, "web"));
}

#[test]
fn resume_says_what_it_did_in_both_languages() {
    for (language, unpaused, missing, meant) in [
        ("en", "the source web was not paused", "no event of the source wbe has come", "did you mean “web”?"),
        ("es", "el origen web no estaba en pausa", "no llegó ningún evento del origen wbe", "«web»"),
    ] {
        let place = Place::new().with("COLA_IA_LANG", language);
        add(&place, "web", 1);
        for args in [["resume", "web"], ["resume", "--source=web"]] {
            let done = place.run(&args);
            check_exit(&done, 0);
            assert_eq!((out(&done), err(&done).contains(unpaused)), (String::new(), true), "{}", err(&done));
        }
        let unknown = place.run(&["resume", "wbe"]);
        check_exit(&unknown, 1);
        assert!(err(&unknown).contains(missing) && err(&unknown).contains(meant), "{}", err(&unknown));
        for mistake in
            [&["resume"][..], &["resume", "web", "--source", "web"], &["resume", "a b"], &["resume", "a", "b"]]
        {
            check_exit(&place.run(mistake), 2);
        }
    }
}

#[test]
fn a_running_job_is_told_from_one_that_has_lost_its_worker() {
    for (language, state, head) in [("en", "running (expired)", "EXPIRED"), ("es", "en_proceso (vencido)", "VENCIDOS")]
    {
        let place = Place::new().with("COLA_IA_LANG", language);
        add(&place, "web", 2);
        check_exit(&place.run(&["claim", "--lease", "1h"]), 0);
        check_exit(&place.run(&["claim", "--lease", "1s"]), 0);
        until("the lease to run out", || (stats(&place, "web")["expired"] == 1).then_some(()));
        assert_eq!(stats(&place, "web")["jobs"]["running"], 2);
        let listed = out(&place.run(&["jobs"]));
        assert_eq!(listed.matches(state).count(), 1, "{listed}");
        assert!(out(&place.run(&["show", "web-2"])).starts_with(&format!("web-2  {state}\n")));
        assert!(out(&place.run(&["stats"])).contains(head));
        let total: Value = serde_json::from_str(out(&place.run(&["stats", "--json"])).lines().next().unwrap()).unwrap();
        assert_eq!(
            (&total["expired"], &total["failing"], &total["paused_at"]),
            (&1.into(), &Value::Null, &Value::Null)
        );
    }
}

#[test]
fn a_worker_says_once_that_a_source_fails_and_that_it_is_paused() {
    for (language, failing, paused) in [
        ("en", "10 jobs of web failed in a row with exit_3", "the source web is paused since"),
        ("es", "10 trabajos seguidos de web fallaron con exit_3", "el origen web está en pausa desde"),
    ] {
        let place = Place::new()
            .with("COLA_IA_LANG", language)
            .with("COLA_IA_RETRY_FIRST", "1h")
            .with("COLA_IA_SOURCE_PAUSE_AFTER", "10");
        add(&place, "web", 30);
        let drained = place.run(&["work", "--drain", "--", "sh", "-c", "exit 3"]);
        check_exit(&drained, 0);
        let said = err(&drained);
        assert_eq!((said.matches(failing).count(), said.matches(paused).count()), (1, 1), "{said}");
        assert!(said.contains("cola-ia resume web"), "{said}");
        assert_eq!(stats(&place, "web")["failing"]["count"], 10);
        // The next one is told at its start, before there is anything to do.
        let idle = Idle::start(&place, &[]);
        idle.hears(paused);
        let rest = idle.ends();
        assert_eq!((rest.matches(paused).count(), rest.matches(failing).count()), (1, 1), "{rest}");
    }
}

/// A worker that has nothing to do.
struct Idle {
    child: Child,
    said: PathBuf,
}

impl Idle {
    fn start(place: &Place, options: &[&str]) -> Self {
        let said = place.path("idle.err");
        let child = place
            .command(&[&["work"], options, &["--", "true"]].concat())
            .stdout(Stdio::null())
            .stderr(File::create(&said).unwrap())
            .spawn()
            .unwrap();
        Self { child, said }
    }

    #[track_caller]
    fn hears(&self, words: &str) {
        until(words, || fs::read_to_string(&self.said).unwrap().contains(words).then_some(()));
    }

    /// All that it said.
    fn ends(mut self) -> String {
        signal(&self.child, Signal::SIGTERM);
        until("the end of the worker", || self.child.try_wait().unwrap());
        fs::read_to_string(&self.said).unwrap()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_idle_worker_hears_of_a_pause_that_came_from_elsewhere() {
    let place = place();
    add(&place, "web", 3);
    let leases = claim(&place, "web", 3);
    let idle = Idle::start(&place, &["--source", "web"]);
    for lease in &leases {
        check_exit(&place.run(&["fail", lease, "--class", "http_503", "--permanent"]), 0);
    }
    idle.hears("the source web is paused since");
    idle.hears("cola-ia resume web\n");
    assert_eq!(idle.ends().matches("is paused since").count(), 1);
}
