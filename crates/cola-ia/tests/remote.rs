//! The commands with `--server`: the real program against a server in this process.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;
#[path = "common/served.rs"]
mod served;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::sync::Arc;

use cola_ia::http::auth::hash_of;
use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::store::{OpId, Store as _, TokenRequest, TokenScope};
use cola_ia_store::sqlite::{Options, SqliteStore};
use common::redact::redacted;
use common::{Place, check_exit, code, err, out};
use pollster::block_on;
use serde_json::Value;
use served::{Served, TOKEN};

/// Ids that a path, a query, a shell or an option would take for something else.
const ODD_IDS: [&str; 11] =
    ["a/b", "a%2Fb", "../admin", "?x=1", "#h", "x y", "日本", "a%00b", "--x", "a+b&c=d", "'\"$(x)"];

/// A folder to run commands in, and a server with a store of its own, in another folder.
struct Behind {
    place: Place,
    home: Place,
    server: Served,
    store: Arc<SqliteStore>,
}

impl Behind {
    fn new() -> Self {
        let (place, home) = (place(), Place::new());
        let (store, _) = SqliteStore::open(&home.store(), &Options::default()).unwrap();
        let store = Arc::new(store);
        let path = home.store();
        let settings = [("COLA_IA_DB", path.to_str().unwrap())];
        let server =
            Served::start_with(Arc::clone(&store) as _, Arc::new(SystemClock), Arc::new(SystemEntropy), &settings);
        Self { place, home, server: server.unwrap(), store }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        command.env("COLA_IA_SERVER", self.server.url()).env("COLA_IA_TOKEN", TOKEN);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        check_exit(&done, 0);
        out(&done)
    }

    fn token(&self, name: &str, scopes: &[TokenScope]) -> String {
        let token = format!("cia_{name}");
        let request = TokenRequest {
            name: name.to_owned(),
            hash: hash_of(&token),
            scopes: scopes.to_vec(),
            sources: Vec::new(),
            expires_at: None,
        };
        block_on(self.store.token_create(OpId::new(&SystemClock, &SystemEntropy), request)).unwrap();
        token
    }

    fn run_as(&self, token: &str, args: &[&str]) -> Output {
        self.command(args).env("COLA_IA_TOKEN", token).output().unwrap()
    }
}

/// In English, and what is tried again is due at once.
fn place() -> Place {
    Place::new().with("COLA_IA_LANG", "en").with("COLA_IA_RETRY_FIRST", "0s")
}

fn lines(ids: &[&str]) -> String {
    ids.iter().fold(String::new(), |mut lines, id| {
        writeln!(lines, "{}", serde_json::json!({ "id": id, "texto": format!("text of {id}") })).unwrap();
        lines
    })
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Without what a store and a process draw: leases and namespaces, and the number of the process in a worker's name.
fn without_names(text: &str) -> String {
    let is_drawn = |word: &str| {
        let hex = word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex || (word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let words = text.split_inclusive(|character: char| !character.is_ascii_alphanumeric());
    words
        .map(|word| {
            let bare = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
            if is_drawn(bare) { word.replacen(bare, "DRAWN", 1) } else { word.to_owned() }
        })
        .collect()
}

#[test]
fn every_command_says_with_a_server_what_it_says_with_a_file() {
    let behind = Behind::new();
    let local = place();
    for place in [&behind.place, &local] {
        place.write("eventos.jsonl", lines(&["idea-42", "idea-43", "idea-44", "gone", "idea-42"]));
        place.write("otros.jsonl", "{\"id\":\"idea-43\",\"texto\":\"otro\"}\n{\"id\":\"\"}\n");
    }
    let script = "read -r text; case $text in *44*) echo no >&2; exit 65;; esac; echo \"did $text\"; \
                  printf '{\"resource_id\":\"r-1\",\"cost\":\"0.25\",\"currency\":\"EUR\"}' > \"$COLA_IA_RESULT\"";
    let steps: &[&[&str]] = &[
        &["add", "--dry-run", "eventos.jsonl"],
        &["add", "eventos.jsonl"],
        &["add", "--json", "otros.jsonl"],
        &["jobs"],
        &["jobs", "--json", "--state", "pending", "--limit", "2"],
        &["conflicts", "--diff"],
        &["deliveries", "--json"],
        &["errors", "--json"],
        &["stats"],
        &["resolve", "idea-43", "--keep", "--note", "so it is"],
        &["cancel", "gone"],
        &["cancel", "nobody"],
        &["work", "-j", "1", "--drain", "--max-attempts", "1", "--", "sh", "-c", script],
        &["jobs"],
        &["show", "idea-44"],
        &["show", "nobody"],
        &["show", "--json", "idea-42"],
        &["errors", "--group", "class"],
        &["retry", "idea-44"],
        &["replay", "idea-42"],
        &["recover"],
        &["claim", "--json", "--source", "nobody"],
        &["budget", "set", "default", "10"],
        &["budget", "list", "--json"],
        &["budget", "currency"],
        &["budget", "remove", "default"],
        &["costs", "--json"],
        &["costs", "--by", "day"],
        &["effect", "list"],
        &["resume", "default"],
        &["resume", "nobody"],
        &["prune", "--dry-run", "--older-than", "0s"],
        &["prune", "--older-than", "0s", "--json"],
        &["erase", "gone", "--yes"],
        &["restored", "--at", "2026-01-01T00:00:00Z", "--json"],
        &["restored", "--clear"],
        &["stats", "--json"],
        &["export"],
    ];
    for step in steps {
        let (there, here) = (behind.run(step), local.run(step));
        let words = |output: &Output| {
            // A file is made by the first event; a server has its store.
            let said = err(output).replace("made the store cola_ia.sqlite3\n", "");
            without_names(&redacted(&format!("{}--\n{said}", out(output))))
        };
        assert_eq!(words(&there), words(&here), "{step:?}");
        assert_eq!(code(&there), code(&here), "{step:?}");
    }
    // No store was made where the commands ran.
    assert!(!behind.place.names().iter().any(|name| name.contains("sqlite3")), "{:?}", behind.place.names());
}

#[test]
fn ids_reach_what_they_name_and_nothing_else() {
    let behind = Behind::new();
    behind.place.write("odd.jsonl", lines(&ODD_IDS));
    behind.ok(&["add", "odd.jsonl"]);
    let shown = |args: &[&str], id: &str| {
        let args = [args, &["--", id]].concat();
        let done = behind.run(&args);
        check_exit(&done, 0);
        (out(&done), err(&done))
    };
    let state = |id: &str| {
        let found = json(&shown(&["show", "--json"], id).0);
        assert_eq!(found.len(), 1, "{id}");
        assert_eq!(found[0]["id"], id);
        assert_eq!(found[0]["text"], format!("text of {id}"));
        (found[0]["state"].as_str().unwrap().to_owned(), found[0]["run"].clone())
    };
    for id in ODD_IDS {
        assert_eq!(state(id).0, "pending", "{id}");
        shown(&["cancel"], id);
        assert_eq!(state(id).0, "cancelled", "{id}");
        shown(&["replay"], id);
        assert_eq!(state(id), ("pending".to_owned(), 2.into()), "{id}");
        // Another content, decided by its id.
        let other = format!("{}\n", serde_json::json!({ "id": id, "texto": "another" }));
        behind.place.write("other.jsonl", other);
        assert!(behind.ok(&["add", "--json", "other.jsonl"]).contains("\"conflict\""));
        shown(&["resolve", "--keep"], id);
    }
    // All others are as they were: each was one.
    assert_eq!(json(&behind.ok(&["jobs", "--json"])).len(), ODD_IDS.len());
    // Through a worker, into the job and back.
    let done = behind.ok(&["work", "--drain", "--", "sh", "-c", "printf %s \"$COLA_IA_ID\" >> ids; echo >> ids"]);
    let mut seen: Vec<String> =
        String::from_utf8(behind.place.read("ids")).unwrap().lines().map(str::to_owned).collect();
    seen.sort_unstable();
    let mut expected = ODD_IDS.map(str::to_owned).to_vec();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{done}");
    for id in ODD_IDS {
        assert_eq!(state(id).0, "done", "{id}");
        shown(&["erase", "--yes"], id);
        // It is still known, by a hash, and by nothing else.
        let found = json(&shown(&["show", "--json"], id).0);
        assert!(found.len() == 1 && found[0]["id"] != id && !found[0]["erased_at"].is_null(), "{found:?}");
    }
}

#[test]
fn a_worker_on_another_machine_guards_effects_and_tells_its_command_nothing_of_the_server() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["idea-42"]));
    behind.ok(&["add", "eventos.jsonl"]);
    let script = format!(
        "env > seen; {} effect run publish -- sh -c 'echo sent >> sent; printf %s post-1' && exit 9",
        common::PROGRAM
    );
    let worked = behind.run(&["work", "--drain", "--max-attempts", "3", "--", "sh", "-c", &script]);
    check_exit(&worked, 0);
    let environment = String::from_utf8(behind.place.read("seen")).unwrap();
    for name in ["COLA_IA_SERVER", "COLA_IA_TOKEN", TOKEN] {
        assert!(!environment.contains(name), "{environment}");
    }
    assert!(environment.contains("COLA_IA_SOCKET="), "{environment}");
    // Three attempts, and it was sent once.
    assert_eq!(behind.place.read("sent"), b"sent\n", "{}", err(&worked));
    let effects = json(&behind.ok(&["effect", "list", "--json"]));
    assert_eq!((effects.len(), effects[0]["state"].as_str()), (1, Some("done")));
    let event = &json(&behind.ok(&["show", "--json", "idea-42"]))[0];
    assert_eq!((event["state"].as_str(), event["attempts"].as_u64()), (Some("failed"), Some(3)), "{event}");
}

#[test]
fn a_lease_is_worked_on_by_hand() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["a", "b"]));
    behind.ok(&["add", "eventos.jsonl"]);
    let claim = || behind.ok(&["claim"]).split(' ').next().unwrap().to_owned();
    let lease = claim();
    behind.ok(&["extend", &lease, "--lease", "5m"]);
    let begun = json(&behind.ok(&["effect", "begin", "publish", "--lease", &lease, "--json"]));
    assert_eq!(begun[0]["result"], "go", "{begun:?}");
    check_exit(&behind.run(&["complete", &lease]), 9);
    behind.ok(&["effect", "done", "publish", "--try", "1", "--lease", &lease, "--resource", "post-7"]);
    behind.ok(&["complete", &lease, "--resource-id", "post-7"]);
    assert_eq!(json(&behind.ok(&["effect", "find", "--resource", "post-7", "--json"])).len(), 1);
    let lease = claim();
    behind.ok(&["release", &lease]);
    check_exit(&behind.run(&["complete", &lease]), 7);
    let lease = claim();
    behind.ok(&["fail", &lease, "--permanent", "--error", "no"]);
    check_exit(&behind.run(&["claim"]), 8);
}

#[test]
fn an_export_enters_another_store_over_the_network() {
    let (from, to) = (Behind::new(), Behind::new());
    from.place.write("eventos.jsonl", lines(&["a", "b", "c"]));
    from.ok(&["add", "eventos.jsonl"]);
    from.ok(&["work", "--drain", "--", "sh", "-c", "echo out; printf '\\377' >&2"]);
    let export = from.ok(&["export"]);
    to.place.write("all.jsonl", &export);
    to.ok(&["import", "all.jsonl"]);
    let records = |export: &str| export.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(records(&to.ok(&["export"])), records(&export));
    let local = place();
    local.write("all.jsonl", to.ok(&["export"]));
    check_exit(&local.run(&["import", "all.jsonl"]), 0);
    assert_eq!(records(&out(&local.run(&["export"]))), records(&export));
}

#[test]
fn a_backup_is_received_whole_and_private() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["a", "b", "c"]));
    behind.ok(&["add", "eventos.jsonl"]);
    let told = json(&behind.ok(&["backup", "b.sqlite3", "--json"]));
    let path = behind.place.path("b.sqlite3");
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!((told[0]["bytes"].as_u64(), told[0]["events"].as_u64()), (Some(metadata.len()), Some(3)));
    // It can be used as it is.
    let jobs = behind.place.run(&["--db", "b.sqlite3", "jobs", "--json"]);
    check_exit(&jobs, 0);
    assert_eq!(json(&out(&jobs)).len(), 3);
    // Nothing is overwritten, and nothing is left beside either store.
    check_exit(&behind.run(&["backup", "b.sqlite3"]), 1);
    assert_eq!(behind.home.names().iter().filter(|name| name.contains("backup")).count(), 0);
    assert!(behind.place.names().iter().all(|name| !name.ends_with(".partial")));
}

#[test]
fn doctor_looks_at_the_servers_store() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["a"]));
    behind.ok(&["add", "eventos.jsonl"]);
    let there = behind.run(&["doctor", "--json"]);
    let codes = |output: &Output| {
        let found = json(&out(output));
        let codes = found.iter().map(|finding| finding["code"].as_str().unwrap().to_owned());
        // A server does not report itself as somebody who uses its store.
        codes.filter(|code| code != "in_use").collect::<Vec<_>>()
    };
    let db = behind.home.store();
    let here = behind.place.run(&["--db", db.to_str().unwrap(), "doctor", "--json"]);
    assert_eq!(codes(&there), codes(&here));
    assert!(codes(&there).contains(&"pages".to_owned()));
    let said = behind.run(&["doctor"]);
    assert!(err(&said).contains(&behind.server.url()), "{}", err(&said));
}

#[test]
fn who_may_not_is_told_so_with_its_own_exit_code() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["a"]));
    behind.ok(&["add", "eventos.jsonl"]);
    let reader = behind.token("reader", &[TokenScope::Read]);
    let worker = behind.token("worker", &[TokenScope::Work]);
    let cases: &[(&str, &[&str], i32)] = &[
        ("cia_nobody", &["jobs"], 5),
        ("cia_nobody", &["add", "eventos.jsonl"], 5),
        ("cia_nobody", &["work", "--drain", "--", "true"], 5),
        (&reader, &["jobs"], 0),
        (&reader, &["show", "a"], 0),
        (&reader, &["stats"], 0),
        (&reader, &["cancel", "a"], 5),
        (&reader, &["claim"], 5),
        (&reader, &["export"], 5),
        (&reader, &["backup", "b.sqlite3"], 5),
        (&reader, &["doctor"], 5),
        (&worker, &["jobs"], 5),
        (&worker, &["add", "eventos.jsonl"], 5),
        (&worker, &["work", "--drain", "--", "true"], 0),
    ];
    for (token, args, exit) in cases {
        let done = behind.run_as(token, args);
        check_exit(&done, *exit);
        let said = out(&done) + &err(&done);
        assert!(!said.contains(token), "{said}");
    }
    assert!(err(&behind.run_as("cia_nobody", &["jobs"])).contains("hint: "));
    assert!(!behind.place.names().iter().any(|name| name == "b.sqlite3"));
    // Without any.
    let none = behind.command(&["jobs"]).env_remove("COLA_IA_TOKEN").output().unwrap();
    check_exit(&none, 5);
    assert!(err(&none).contains("COLA_IA_TOKEN_FILE"), "{}", err(&none));
}

#[test]
fn a_token_is_read_from_a_file_that_should_be_private() {
    let behind = Behind::new();
    let path = behind.place.path("token");
    behind.place.write("token", format!("{TOKEN}\n"));
    let run = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mut command = behind.command(&["jobs"]);
        command.env_remove("COLA_IA_TOKEN").env("COLA_IA_TOKEN_FILE", &path).output().unwrap()
    };
    let private = run(0o600);
    check_exit(&private, 0);
    assert!(!err(&private).contains("chmod"), "{}", err(&private));
    let open = run(0o644);
    check_exit(&open, 0);
    assert!(err(&open).contains("chmod 600"), "{}", err(&open));
    behind.place.write("token", "\n");
    check_exit(&run(0o600), 1);
    fs::remove_file(&path).unwrap();
    let mut gone = behind.command(&["jobs"]);
    check_exit(&gone.env_remove("COLA_IA_TOKEN").env("COLA_IA_TOKEN_FILE", &path).output().unwrap(), 1);
}

#[test]
fn a_server_that_is_not_there_is_told_and_no_store_is_made() {
    let place = place();
    place.write("eventos.jsonl", lines(&["a"]));
    // Nobody listens: the port was ours a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for args in [&["jobs"][..], &["work", "--drain", "--", "true"]] {
        let mut command = place.command(args);
        command.env("COLA_IA_SERVER", format!("http://{free}")).env("COLA_IA_TOKEN", "cia_x");
        let done = command.output().unwrap();
        check_exit(&done, 1);
        assert!(err(&done).contains("cola-ia serve"), "{}", err(&done));
    }
    assert_eq!(place.names(), ["eventos.jsonl"]);
}

#[test]
fn what_works_on_this_machine_alone_says_so() {
    let behind = Behind::new();
    for args in [&["init"][..], &["restore", "b.sqlite3"], &["prune", "--shrink"]] {
        let done = behind.run(args);
        check_exit(&done, 2);
        assert!(err(&done).contains("--server"), "{}", err(&done));
    }
    assert_eq!(behind.place.names(), [""; 0]);
    let shown = behind.ok(&["config", "show", "--origin"]);
    assert!(shown.contains(&format!("server = \"{}\"", behind.server.url())), "{shown}");
    assert!(shown.contains("token = \"***\"") && !shown.contains(TOKEN), "{shown}");
}

#[test]
fn the_closer_of_a_server_and_a_file_counts() {
    let behind = Behind::new();
    behind.place.write("eventos.jsonl", lines(&["a"]));
    // The flag is closer than the variable.
    check_exit(&behind.run(&["--db", "here.sqlite3", "add", "eventos.jsonl"]), 0);
    assert!(behind.place.path("here.sqlite3").exists());
    assert_eq!(behind.ok(&["jobs", "--json"]), "");
    let mut both = behind.place.command(&["jobs"]);
    both.env("COLA_IA_SERVER", behind.server.url()).env("COLA_IA_DB", "x.sqlite3").env("COLA_IA_TOKEN", TOKEN);
    check_exit(&both.output().unwrap(), 2);
    let url = behind.server.url();
    let mut by_flag = behind.place.command(&["--server", &url, "jobs", "--json"]);
    by_flag.env("COLA_IA_DB", "here.sqlite3").env("COLA_IA_TOKEN", TOKEN);
    let by_flag = by_flag.output().unwrap();
    check_exit(&by_flag, 0);
    assert_eq!(out(&by_flag), "");
    for open in ["http://cola.example", "cola.example", "https://a:b@cola.example"] {
        let done = behind.place.run(&["--server", open, "jobs"]);
        check_exit(&done, 2);
        assert!(!err(&done).contains("a:b@"), "{}", err(&done));
    }
}
