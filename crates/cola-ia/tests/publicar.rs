//! `examples/publicar.sh` against a model and a blog that cut connections, cannot be asked, and are slow: one post, and no draft
//! paid a second time that was recorded.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cola_ia_core::clock::SystemClock;
use cola_ia_testkit::destination::{Destination, Ending, Looking, Sending, Server};
use common::later::later;
use common::{PROGRAM, Place, check_exit, has_tool, until};
use nix::sys::signal::Signal;
use rusqlite::Connection;
use serde_json::Value;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/publicar.sh");
const EVENT: &str = r#"{"id":"idea-42","texto":"Comparar dos modelos\nen mi producto"}"#;
/// What the model answers.
const ANSWER: &str = r#"{"id":"{id}","model":"m-1","usage":{"prompt_tokens":7,"completion_tokens":9},
    "choices":[{"message":{"content":"Un borrador de {id}"}}]}"#;
/// More than any of the script's instants is ahead.
const HOUR: Duration = Duration::from_hours(1);

struct Scene {
    place: Place,
    model: Server,
    blog: Server,
}

/// How the job stands.
#[derive(Debug, PartialEq, Eq)]
struct Job {
    state: String,
    resource_id: Option<String>,
    /// Attempts that count.
    attempts: u32,
}

impl Scene {
    /// One idea, not yet worked on. None where a tool is missing.
    fn new() -> Option<Self> {
        let place = Place::new().file("eventos.jsonl", EVENT);
        let tools = ["curl", "jq", "bash"];
        if !tools.iter().all(|tool| has_tool(tool, place.tool(tool).arg("--version"))) {
            return None;
        }
        check_exit(&place.run(&["add", "eventos.jsonl"]), 0);
        let mut model = Destination::new("chat");
        ANSWER.clone_into(&mut model.body);
        let mut blog = Destination::new("post");
        // As WordPress: a second post with the same slug is made all the same.
        blog.sending.honours_keys = false;
        let [model, blog] = [model, blog].map(|it| Server::start(it, SystemClock).unwrap());
        Some(Self { place, model, blog })
    }

    fn worker(&self) -> Command {
        let mut command = self.place.command(&["work", "--drain", "--", SCRIPT]);
        let folder = Path::new(PROGRAM).parent().unwrap();
        command
            .env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display()))
            .env("PUBLICAR_MODELO_URL", self.model.url() + "v1/chat/completions")
            .env("PUBLICAR_MODELO", "m-1")
            .env("PUBLICAR_BLOG_URL", self.blog.url() + "wp-json/wp/v2/posts")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Works until nothing is due.
    fn work(&self) {
        check_exit(&self.worker().output().unwrap(), 0);
    }

    fn later(&self, time: Duration) {
        later(&self.place.store(), time);
    }

    fn store(&self) -> Connection {
        let connection = Connection::open(self.place.store()).unwrap();
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        connection
    }

    fn job(&self) -> Job {
        let sql = "SELECT state, resource_id, attempts FROM jobs";
        let row =
            |row: &rusqlite::Row<'_>| Ok(Job { state: row.get(0)?, resource_id: row.get(1)?, attempts: row.get(2)? });
        self.store().query_row(sql, [], row).unwrap()
    }

    /// The state of an effect, and how many tries it has.
    fn effect(&self, name: &str) -> (String, u32) {
        let sql = "SELECT state, (SELECT count(*) FROM effect_tries t WHERE t.effect = e.effect) FROM effects e WHERE name = ?";
        self.store().query_row(sql, [name], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    /// So many drafts were made, and these posts.
    #[track_caller]
    fn check(&self, drafts: usize, posts: &[&str]) {
        let made: Vec<_> = self.blog.effects().into_iter().map(|effect| effect.resource_id).collect();
        assert_eq!((self.model.effects().len(), made), (drafts, posts.iter().map(|id| (*id).to_owned()).collect()));
    }

    #[track_caller]
    fn check_done(&self) {
        let job = self.job();
        assert_eq!((job.state.as_str(), job.resource_id.as_deref()), ("done", Some("post-1")));
        assert_eq!(self.effect("publish").0, "done");
    }
}

#[test]
fn an_idea_becomes_one_draft_and_one_post() {
    let Some(scene) = Scene::new() else { return };
    scene.work();
    scene.check(1, &["post-1"]);
    scene.check_done();
    let post: Value = serde_json::from_str(&scene.blog.effects()[0].request).unwrap();
    assert_eq!((&post["title"], &post["status"]), (&"Comparar dos modelos".into(), &"draft".into()));
    assert_eq!(post["content"], "Un borrador de chat-1");
    let asked: Value = serde_json::from_str(&scene.model.effects()[0].request).unwrap();
    assert_eq!(asked["messages"][1]["content"], "Comparar dos modelos\nen mi producto\n");
    let found = scene.place.run(&["effect", "find", "--resource", "post-1", "--json"]);
    check_exit(&found, 0);
    let lines = String::from_utf8(found.stdout).unwrap();
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(found.iter().all(|line| line["id"] == "idea-42"), "{lines}");
    assert!(found.iter().any(|line| line["name"] == "publish" && line["resource_id"] == "post-1"), "{lines}");
    scene.work();
    scene.check(1, &["post-1"]);
}

#[test]
fn a_post_whose_answer_was_lost_is_found_and_not_made_again() {
    for ending in [Ending::CutsAfter, Ending::FailsAfter(502)] {
        let Some(scene) = Scene::new() else { return };
        scene.blog.destination().plan_sendings([Sending { honours_keys: false, ..Sending::ending(ending) }]);
        scene.work();
        scene.check(1, &["post-1"]);
        assert_eq!(scene.effect("publish"), ("unknown".to_owned(), 1));
        // Too early: what may still be on its way could not be seen.
        scene.later(Duration::from_secs(20));
        scene.work();
        assert_eq!((scene.effect("publish").0.as_str(), scene.blog.destination().asked().1), ("unknown", 0));
        scene.later(HOUR);
        scene.work();
        scene.check(1, &["post-1"]);
        scene.check_done();
    }
}

#[test]
fn a_post_that_did_not_arrive_is_made_after_a_look() {
    let Some(scene) = Scene::new() else { return };
    scene.blog.destination().plan_sendings([Sending { honours_keys: false, ..Sending::ending(Ending::CutsBefore) }]);
    scene.work();
    scene.check(1, &[]);
    scene.later(HOUR);
    scene.work();
    scene.check(1, &["post-1"]);
    scene.check_done();
    assert_eq!(scene.effect("publish").1, 2);
}

#[test]
fn a_lookup_that_cannot_tell_is_no_absence() {
    let Some(scene) = Scene::new() else { return };
    scene.blog.destination().plan_sendings([Sending { honours_keys: false, ..Sending::ending(Ending::CutsAfter) }]);
    scene.work();
    let endings = [Ending::Rejects(503), Ending::CutsBefore, Ending::Rejects(404)];
    for ending in endings {
        scene.blog.destination().plan_lookings([Looking { ending, ..Looking::default() }]);
        scene.later(HOUR);
        scene.work();
        assert_eq!(scene.effect("publish"), ("unknown".to_owned(), 1), "{ending:?}");
    }
    assert_eq!(scene.blog.destination().asked().1, endings.len() as u64);
    scene.later(HOUR);
    scene.work();
    scene.check(1, &["post-1"]);
    scene.check_done();
    assert_eq!(scene.job().attempts, 2, "to look and not to know costs no attempt");
}

#[test]
fn a_draft_whose_answer_was_lost_is_paid_again_and_shown() {
    let Some(scene) = Scene::new() else { return };
    scene.model.destination().plan_sendings([Sending::ending(Ending::CutsAfter)]);
    scene.work();
    assert_eq!(scene.effect("draft"), ("unknown".to_owned(), 1));
    scene.later(HOUR);
    scene.work();
    scene.check(2, &["post-1"]);
    scene.check_done();
    let at_risk: i64 =
        scene.store().query_row("SELECT sum(reserved_micros) FROM effect_tries", [], |row| row.get(0)).unwrap();
    assert_eq!(at_risk, 20_000, "of the first one nobody knows");
}

#[test]
fn a_draft_that_is_dear_waits_for_a_person() {
    let Some(scene) = Scene::new() else { return };
    scene.model.destination().plan_sendings([Sending::ending(Ending::CutsAfter)]);
    let work = || check_exit(&scene.worker().env("PUBLICAR_COSTE_MAX", "0.05").output().unwrap(), 0);
    work();
    scene.later(HOUR);
    work();
    scene.check(1, &[]);
    assert_eq!((scene.job().state.as_str(), scene.effect("draft").0.as_str()), ("held", "held"));
}

#[test]
fn what_the_blog_refuses_is_not_tried_again() {
    let Some(scene) = Scene::new() else { return };
    scene.blog.destination().sending.ending = Ending::Rejects(422);
    scene.work();
    scene.check(1, &[]);
    assert_eq!((scene.job().state.as_str(), scene.effect("publish").0.as_str()), ("failed", "failed"));
}

#[test]
fn a_service_that_is_away_costs_no_attempt() {
    let Some(scene) = Scene::new() else { return };
    let work = |url: &str| check_exit(&scene.worker().env("PUBLICAR_BLOG_URL", url).output().unwrap(), 0);
    work("http://127.0.0.1:1/");
    assert_eq!((scene.job().state.as_str(), scene.effect("publish").0.as_str()), ("pending", "failed"));
    scene.later(HOUR);
    scene.work();
    scene.check(1, &["post-1"]);
    scene.check_done();
}

#[test]
fn killed_while_the_post_is_on_its_way_it_is_published_once() {
    let Some(scene) = Scene::new() else { return };
    let slow = Sending { answers_after: Duration::from_mins(1), honours_keys: false, ..Sending::default() };
    scene.blog.destination().plan_sendings([slow]);
    let mut worker = scene.worker().spawn().unwrap();
    until("the post", || (!scene.blog.effects().is_empty()).then_some(()));
    common::signal(&worker, Signal::SIGKILL);
    worker.wait().unwrap();
    // Its commands go on without it. The next worker takes the job back, and after a wait works on it.
    for _ in 0..2 {
        scene.later(HOUR);
        scene.work();
    }
    scene.check(1, &["post-1"]);
    scene.check_done();
}

/// Ends everything that this worker started, whatever group it is in: all of it has the mark in its environment.
#[cfg(target_os = "linux")]
fn kill_all(mark: &str) {
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    let marked = |pid: i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    // Who is born while we look is found by the next look.
    until("the end of them", || {
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let living: Vec<i32> = numbers.filter(|pid| marked(*pid)).collect();
        for pid in &living {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        living.is_empty().then_some(())
    });
}

/// The power goes once or twice, at moments drawn by a seed. However far it was: one post, no recorded draft paid again, and
/// the ledger says what really happened.
#[cfg(target_os = "linux")]
#[test]
fn killed_at_moments_drawn_by_a_seed_it_publishes_once() {
    use cola_ia_testkit::clock::SeededEntropy;
    use cola_ia_testkit::driver::{amount, seed};

    let (runs, seed) = (amount(12) as u64, seed());
    println!("{runs} runs, seed {seed}");
    let Some(undisturbed) = Scene::new() else { return };
    let begun = std::time::Instant::now();
    undisturbed.work();
    let whole = begun.elapsed();
    let entropy = SeededEntropy::new(seed);
    let below = |bound: u64| entropy.next_u64() % bound.max(1);
    for run in 0..runs {
        let scene = Scene::new().unwrap();
        let kills = 1 + below(2);
        for kill in 0..kills {
            let mark = format!("{}-{run}-{kill}", std::process::id());
            let mut worker = scene.worker().env("PUBLICAR_MARK", &mark).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(below(whole.as_micros() as u64 * 11 / 10)));
            kill_all(&format!("PUBLICAR_MARK={mark}"));
            worker.wait().unwrap();
            scene.later(HOUR);
        }
        for _ in 0..4 {
            scene.work();
            scene.later(HOUR);
        }
        let what = format!("seed {seed}, run {run}, {kills} kills");
        let made: Vec<_> = scene.blog.effects().into_iter().map(|effect| effect.resource_id).collect();
        assert_eq!(made, ["post-1"], "{what}");
        let drafts = scene.model.effects().len() as u64;
        assert!((1..=1 + kills).contains(&drafts), "{what}: {drafts} drafts");
        let job = scene.job();
        assert_eq!((job.state.as_str(), job.resource_id.as_deref()), ("done", Some("post-1")), "{what}");
        assert_eq!(scene.effect("publish").0, "done", "{what}");
        // Each draft is one that was recorded, or one of a try whose outcome is open and shown so.
        let (state, tries) = scene.effect("draft");
        assert_eq!(state, "done", "{what}");
        assert!(u64::from(tries) >= drafts, "{what}: {drafts} drafts, {tries} tries");
    }
}
