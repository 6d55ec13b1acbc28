//! What people see: the real binary, in a clean environment, in both languages.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use cola_ia::cli::add::Input;
use cola_ia::cli::args::{self, Command as Asked, Parsed};
use cola_ia::cli::init::{self, StoreMade};
use cola_ia::cli::{Exit, Session};
use cola_ia::config::{Environment, Flags, NamedFile, Settings};
use cola_ia::lang::{Lang, Language};
use cola_ia::print::Colour;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{ErrorKind, StoreError};
use common::{BOTH, Place};

const COMMANDS: [&[&str]; 51] = [
    &[],
    &["init"],
    &["add"],
    &["jobs"],
    &["export"],
    &["import"],
    &["move"],
    &["deliveries"],
    &["conflicts"],
    &["errors"],
    &["tail"],
    &["show"],
    &["resolve"],
    &["prune"],
    &["erase"],
    &["stats"],
    &["costs"],
    &["budget"],
    &["budget", "list"],
    &["budget", "set"],
    &["budget", "remove"],
    &["budget", "currency"],
    &["claim"],
    &["extend"],
    &["complete"],
    &["fail"],
    &["release"],
    &["recover"],
    &["resume"],
    &["cancel"],
    &["retry"],
    &["replay"],
    &["backup"],
    &["restore"],
    &["restored"],
    &["doctor"],
    &["source"],
    &["source", "add"],
    &["source", "list"],
    &["source", "check"],
    &["source", "test"],
    &["token"],
    &["token", "create"],
    &["token", "list"],
    &["token", "revoke"],
    &["config"],
    &["config", "show"],
    &["config", "check"],
    &["id"],
    &["completions"],
    &["man"],
];

#[test]
fn the_help_of_every_command_in_both_languages() {
    let place = Place::new();
    for language in BOTH {
        for command in COMMANDS {
            let name = if command.is_empty() { "cola-ia".to_owned() } else { command.join("-") };
            let long = place.shown(&[&["--lang", language], command, &["--help"]].concat());
            insta::assert_snapshot!(format!("help-{name}-{language}"), long);
            let through_help = place.run(&[&["--lang", language, "help"], command].concat());
            assert!(long.contains(&String::from_utf8(through_help.stdout).unwrap()), "{name}");
        }
        insta::assert_snapshot!(format!("help-short-{language}"), place.shown(&["--lang", language, "add", "-h"]));
    }
}

#[test]
fn no_word_of_the_parser_is_left_in_the_spanish_help() {
    const WORDS: [&str; 8] =
        ["Usage", "Options", "Commands", "Arguments", "[OPTIONS]", "possible values", "[default", "[env"];
    let place = Place::new();
    for command in COMMANDS {
        let help = place.shown(&[&["--lang", "es"], command, &["--help"]].concat());
        for word in WORDS {
            assert!(!help.contains(word), "{word} in {help}");
        }
    }
}

const MISTAKES: &[&[&str]] = &[
    &[],
    &["wrok"],
    &["demo"],
    &["jbos"],
    &["eventos.jsonl"],
    &["it's mine.jsonl"],
    &["add"],
    &["add", "--soruce", "x", "f"],
    &["add", "--source"],
    &["add", "--source", "Mi Blog", "f"],
    &["add", "--json=1", "f"],
    &["add", "--source", "a", "--source", "b", "f"],
    &["add", "-", "-"],
    &["add", "--rejects", "f", "f"],
    &["add", "--fail-on", "conflictos", "f"],
    &["add", "--max-text-bytes", "1M", "f"],
    &["add", "--max-text-bytes", "1GiB", "f"],
    &["show"],
    &["show", "-42"],
    &["show", "--limit", "a b"],
    &["show", "-$(x)"],
    &["add", "-x.jsonl"],
    &["add", "--dryrun", "f"],
    &["show", "--json", "it's", "so"],
    &["--json", "add", "f"],
    &["--source", "form", "jobs"],
    &["--orign", "config", "show"],
    &["work"],
    &["mcp", "there"],
    &["move"],
    &["move", "--to", "x", "--undo"],
    &["move", "--to", "mysql://ana:s3cret@db"],
    &["help", "demo"],
    &["man", "mcp", "there"],
    &["effect", "run", "publish"],
    &["effect", "run", "publish", "./publish.sh"],
    &["effect", "run", "Publish", "--", "true"],
    &["effect", "begin", "publish", "--retry-below", "0.05"],
    &["effect", "begin", "publish", "--key-ttl", "soon"],
    &["effect", "begin", "publish", "--begin-id", "7"],
    &["effect", "resolve", "publish", "--did-not-happen"],
    &["effect", "failed", "publish", "--try", "1"],
    &["work", "--lookup", "./find.sh", "--", "true"],
    &["show", "a", "b"],
    &["jobs", "--state", "pendient"],
    &["jobs", "--limit", "1001"],
    &["jobs", "--after", "x"],
    &["jobs", "--foo"],
    &["id", "-n", "0"],
    &["--color", "red", "id"],
    &["completions", "ksh"],
    &["completions"],
    &["man", "ad"],
    &["man", "--dir", "m", "add"],
    &["help", "confg"],
    &["config", "shwo"],
    &["--config", "no.toml", "config", "show"],
    &["--db", "postgres://ana:s3cret@db", "config", "check"],
    &["--db", "mysql://db/ia", "config", "check"],
    &["--db", "", "config", "check"],
    &["show", "a\u{1b}[2J\nerror: x", "b\u{202e}\nerror: y"],
];

#[test]
fn usage_mistakes_are_explained_in_both_languages() {
    for language in BOTH {
        let place = Place::new().with("COLA_IA_LANG", language).file("eventos.jsonl", "").file("it's mine.jsonl", "");
        // The first is help, told as an error: its text has its own snapshot.
        let shown: Vec<String> = MISTAKES[1..].iter().map(|args| place.shown(args)).collect();
        insta::assert_snapshot!(format!("usage-{language}"), shown.join("\n"));
        for args in MISTAKES {
            let output = place.run(args);
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert!(output.stdout.is_empty(), "{args:?}");
            assert!(!output.stderr.contains(&0x1b), "{args:?}");
        }
    }
}

#[test]
fn general_options_alone_ask_for_help() {
    let place = Place::new();
    let help = |args: &[&str]| {
        let output = place.run(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(help(&[]).contains("Usage: cola-ia [OPTIONS] COMMAND"));
    assert_eq!(help(&[]), help(&["--lang", "en"]));
    assert!(help(&["--lang", "es", "-q"]).contains("Uso: cola-ia [OPCIONES] COMANDO"));
    assert!(help(&["config", "--db", "x"]).contains("Usage: cola-ia config"));
}

#[test]
fn first_steps_in_both_languages() {
    for language in BOTH {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        // Noise, so that what is cut off is no small part.
        let line = |n: u32| format!("{{\"id\":\"{n}\",\"texto\":\"{}\"}}\n", n.wrapping_mul(2_654_435_761));
        std::io::Write::write_all(&mut packed, (0..4).map(line).collect::<String>().as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let place = Place::new()
            .with("COLA_IA_LANG", language)
            .file("a.jsonl", "{\"id\":\"a b\",\"texto\":\"1\"}\n{\"id\":\"a b\",\"texto\":\"2\"}\n")
            .file("long.jsonl", "{\"id\":\"x\",\"texto\":\"123456\"}\n[\n{\"id\":\"x\"},\n{\"id\":\"y\"}\n]\n");
        fs::write(place.folder.path().join("cut.gz"), &packed[..packed.len() - 12]).unwrap();
        let shown = [
            place.shown(&["add", "--source", "form", "--db", "x y.db", "--dry-run", "a.jsonl"]),
            place.shown(&["add", "--source", "form", "--db", "x y.db", "a.jsonl"]),
            place.shown(&["show", "--db", "x y.db", "--source", "blog", "a b"]),
            place.shown(&["jobs", "--db", "x y.db", "--source", "blog"]),
            place.shown(&["add", "--db", "x y.db", "--max-text-bytes", "5", "long.jsonl"]),
            place.shown(&["add", "--db", "x y.db", "cut.gz"]),
        ];
        insta::assert_snapshot!(format!("first-steps-{language}"), shown.join("\n"));
    }
}

#[test]
fn init_beside_the_articles_database_leaves_nothing() {
    let place = Place::new();
    let db = rusqlite::Connection::open(place.folder.path().join("cola_ia.sqlite3")).unwrap();
    db.execute_batch("CREATE TABLE trabajos (id TEXT PRIMARY KEY, texto TEXT, huella TEXT, estado TEXT)").unwrap();
    drop(db);
    let output = place.run(&["init"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("only “cola-ia add” takes it over"), "{said}");
    assert!(!place.folder.path().join("cola-ia.toml").exists());
}

#[test]
fn the_language_is_the_flags_the_variables_or_the_locales() {
    let said = |place: &Place, args: &[&str]| String::from_utf8(place.run(args).stderr).unwrap();
    let english = "error: there is no command “x”";
    let spanish = "error: no existe el comando «x»";
    assert!(said(&Place::new(), &["x"]).starts_with(english));
    assert!(said(&Place::new().with("LANG", "es_MX.UTF-8"), &["x"]).starts_with(spanish));
    assert!(said(&Place::new().with("LANG", "de_DE.UTF-8"), &["x"]).starts_with(english));
    assert!(said(&Place::new().with("LC_ALL", "es").with("COLA_IA_LANG", "en"), &["x"]).starts_with(english));
    assert!(said(&Place::new().with("COLA_IA_LANG", "en"), &["x", "--lang=es"]).starts_with(spanish));
    let output = Place::new().run(&["--lang", "fr", "id"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        said(&Place::new().with("COLA_IA_LANG", "fr").with("LANG", "es"), &["id"]),
        "error: no hay idioma «fr», que pide COLA_IA_LANG\npista: los idiomas son es (español) y en (inglés)\n"
    );
}

#[test]
fn settings_are_shown_with_their_origin() {
    let file = "# mine\ndb = \"datos/ia.db\"\nmax_text_bytes = \"2MiB\"\n";
    for language in BOTH {
        let place = Place::new()
            .file("cola-ia.toml", file)
            .with("COLA_IA_LANG", language)
            .with("COLA_IA_LOCK_WAIT", "1500ms")
            .with("COLA_IA_LOKC_WAIT", "1s")
            .with("COLA_IA_SOURCE", "a worker's");
        let shown = [
            place.shown(&["config", "show"]),
            place.shown(&["config", "show", "--origin", "--db", "otro.db"]),
            place.shown(&["config", "show", "--json"]),
            place.shown(&["config", "check"]),
        ];
        insta::assert_snapshot!(format!("config-{language}"), shown.join("\n"));
    }
}

#[test]
fn a_mistake_in_the_file_stops_every_command_that_reads_it() {
    for language in BOTH {
        let place = Place::new().file("cola-ia.toml", "lock_wiat = \"1s\"\n").with("COLA_IA_LANG", language);
        let shown: Vec<String> =
            [["config", "check"], ["add", "f"], ["show", "x"]].iter().map(|args| place.shown(args)).collect();
        insta::assert_snapshot!(format!("config-mistake-{language}"), shown.join("\n"));
        assert_eq!(place.run(&["id"]).status.code(), Some(0));
    }
}

#[test]
fn ids_are_printed_one_a_line() {
    let output = Place::new().run(&["id", "-n", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((text.lines().count(), text.len()), (3, 3 * 37));
    assert!(output.stderr.is_empty());
}

#[test]
fn completions_and_manual_pages_speak_the_language() {
    for language in BOTH {
        let place = Place::new().with("COLA_IA_LANG", language);
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let output = place.run(&["completions", shell]);
            assert_eq!(output.status.code(), Some(0));
            assert!(String::from_utf8(output.stdout).unwrap().contains("fail-on"), "{shell}");
        }
        insta::assert_snapshot!(format!("man-{language}"), place.shown(&["man"]));
        insta::assert_snapshot!(format!("man-add-{language}"), place.shown(&["man", "add"]));
        let shown = place.shown(&["man", "--dir", "pages"]);
        let mut pages: Vec<_> = fs::read_dir(place.folder.path().join("pages"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        pages.sort_unstable();
        insta::assert_snapshot!(format!("man-all-{language}"), format!("{shown}{}", pages.join("\n")));
    }
}

#[test]
fn colour_is_only_where_it_is_asked_for() {
    let place = Place::new();
    assert!(!place.run(&["--help"]).stdout.contains(&0x1b));
    assert!(place.run(&["--help", "--color=always"]).stdout.contains(&0x1b));
    assert!(place.run(&["--color", "always", "x"]).stderr.contains(&0x1b));
    assert!(!place.run(&["--color", "never", "x"]).stderr.contains(&0x1b));
}

#[test]
fn a_reader_that_goes_away_is_nothing_to_complain_about() {
    use std::io::Read as _;
    let mut child = Command::new(env!("CARGO_BIN_EXE_cola-ia"))
        .args(["id", "-n", "1000000"])
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 37];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

fn silent(language: Language) -> Session {
    let lang = Lang::only(language);
    Session { lang, colour: Colour::default(), quiet: true, environment: Environment::default() }
}

/// `init` with a store that is only counted.
fn init_with(flags: &Flags, language: Language) -> (Exit, Vec<Settings>) {
    let session = silent(language);
    let mut made = Vec::new();
    let settings = Settings::load(flags, &session.environment, NamedFile::MayBeMissing).unwrap();
    let exit = init::run(&session, flags, &settings, |settings| {
        made.push(settings.clone());
        Ok(StoreMade::Created)
    });
    (exit.unwrap(), made)
}

#[test]
fn init_writes_a_private_commented_file_once() {
    for language in Language::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cola-ia.toml");
        let db = folder.path().join("ia.db");
        let flags = Flags { config: Some(path.clone()), settings: vec![("db", db.clone().into())] };
        let (exit, made) = init_with(&flags, language);
        assert_eq!((exit, made.len(), made[0].db.file()), (Exit::Done, 1, Some(&*db)));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        insta::assert_snapshot!(
            format!("init-file-{}", language.tag()),
            text.replace(&folder.path().display().to_string(), "/FOLDER")
        );
        // Again, without the flag: the file says where the store is, and stays as it is.
        let (exit, made) = init_with(&Flags { config: Some(path.clone()), settings: Vec::new() }, language);
        assert_eq!((exit, made[0].db.file()), (Exit::Done, Some(&*db)));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn init_says_what_the_store_says() {
    let folder = tempfile::tempdir().unwrap();
    let session = silent(Language::English);
    let flags = Flags { config: Some(folder.path().join("c.toml")), settings: Vec::new() };
    let settings = Settings::load(&flags, &session.environment, NamedFile::MayBeMissing).unwrap();
    let refused = init::run(&session, &flags, &settings, |settings| {
        Err(StoreError::new(ErrorKind::Corrupt, "store_not_sqlite").with("path", &settings.db))
    });
    let problem = refused.unwrap_err();
    assert_eq!(problem.exit(), Exit::Failed);
    assert!(problem.render(&session.lang, false).starts_with("error: cola_ia.sqlite3 is not an SQLite database"));
    let nowhere = Flags { config: Some(folder.path().join("no/c.toml")), settings: Vec::new() };
    let refused = init::run(&session, &nowhere, &settings, |_| Ok(StoreMade::AlreadyThere));
    assert!(refused.unwrap_err().render(&session.lang, false).contains("hint: make the folder first"));
}

fn asked(args: &[&str]) -> (Asked, Flags) {
    let args: Vec<OsString> = std::iter::once(&"cola-ia").chain(args).map(OsString::from).collect();
    match args::parse(&Lang::only(Language::Spanish), &args) {
        Ok(Parsed::Run(invocation)) => (invocation.command, invocation.flags),
        _ => panic!("{args:?}"),
    }
}

#[test]
fn an_id_that_starts_with_a_dash_goes_after_two() {
    for id in ["-42", "--lang", "-", "--", " ", "ñ"] {
        let (Asked::Show(options), _) = asked(&["show", "--json", "--", id]) else { panic!("{id}") };
        assert_eq!((options.id.as_str(), options.json), (id, true));
    }
}

#[test]
fn states_are_taken_in_both_languages_and_once() {
    let args = ["jobs", "--state", "fallido", "--state", "held", "--state=failed", "--after", "7", "--limit", "1000"];
    let (Asked::Jobs(options), _) = asked(&args) else { panic!() };
    assert_eq!(options.filter.states, [JobState::Failed, JobState::Held]);
    assert_eq!((options.page.below, options.page.limit), (Some(EventNumber(7)), 1_000));
    let (Asked::Jobs(options), _) = asked(&["jobs"]) else { panic!() };
    assert_eq!((options.page.below, options.page.limit, options.filter.states.len()), (None, 50, 0));
}

#[test]
fn add_takes_files_and_stdin_in_their_order() {
    let args = ["add", "b", "--db=x.db", "-", "--fail-on", "conflicto", "--max-text-bytes", "4MiB", "--", "-a"];
    let (Asked::Add(options), flags) = asked(&args) else { panic!() };
    assert_eq!(options.inputs, [Input::File("b".into()), Input::Stdin, Input::File("-a".into())]);
    assert!(options.fail_on_conflict && options.progress && !options.dry_run);
    assert_eq!(flags.settings, [("db", OsString::from("x.db")), ("max-text-bytes", OsString::from("4MiB"))]);
}
