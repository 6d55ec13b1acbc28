use std::fs;

use cola_ia_core::effect::Micros;

use super::*;
use crate::cli::Exit;
use crate::lang::{Lang, Language};

/// A folder with this `cola-ia.toml`, and the flag that names it.
fn folder_with(text: &str) -> (tempfile::TempDir, Flags) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cola-ia.toml");
    fs::write(&path, text).unwrap();
    (folder, Flags { config: Some(path), settings: Vec::new() })
}

fn load(flags: &Flags, vars: &[(&str, &str)]) -> Result<Settings, Problem> {
    Settings::load(flags, &Environment::with(vars), NamedFile::MustExist)
}

/// What is said about this file, with its folder taken out.
fn mistake(text: &str) -> String {
    let (folder, flags) = folder_with(text);
    let problem = load(&flags, &[]).unwrap_err();
    assert_eq!(problem.exit(), Exit::Usage);
    let said = problem.render(&Lang::only(Language::English), false);
    said.replace(&format!("{}/", folder.path().display()), "")
}

fn none() -> Flags {
    let (_folder, flags) = folder_with("");
    // The folder is gone, so nothing is read; `MayBeMissing` lets that pass.
    flags
}

fn defaults_with(vars: &[(&str, &str)]) -> Result<Settings, Problem> {
    Settings::load(&none(), &Environment::with(vars), NamedFile::MayBeMissing)
}

#[test]
fn defaults_are_what_the_documents_say() {
    let settings = defaults_with(&[]).unwrap();
    assert_eq!(settings.db, Db::File("cola_ia.sqlite3".into()));
    assert_eq!(settings.default_source, Source::default());
    assert_eq!(settings.max_text_bytes, cola_ia_core::limits::TEXT_MAX_BYTES_DEFAULT);
    assert_eq!(settings.max_line_bytes, LINE_MAX_BYTES_DEFAULT);
    assert_eq!(settings.lock_wait, Duration::from_mins(1));
    assert!(!settings.allow_network_filesystem);
    assert_eq!(settings.lease, Duration::from_mins(1));
    assert_eq!(settings.retry, RetryPolicy::default());
    assert_eq!((settings.time_limit, settings.grace), (None, Duration::from_secs(10)));
    assert!(settings.resolved.iter().all(|one| one.origin == Origin::Default));
    assert!(settings.warnings.is_empty() && settings.file.is_none());
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let (folder, mut flags) = folder_with("\n# a comment\ndb = \"a.db\"\nlock_wait = \"1s\"\n");
    let settings = load(&flags, &[]).unwrap();
    assert_eq!(settings.db, Db::File(folder.path().join("a.db")));
    assert_eq!(settings.resolved[0].origin, Origin::File(folder.path().join("cola-ia.toml"), 3));
    let vars = [("COLA_IA_DB", "b.db"), ("COLA_IA_LOCK_WAIT", "")];
    let settings = load(&flags, &vars).unwrap();
    assert_eq!((settings.db, settings.lock_wait), (Db::File("b.db".into()), Duration::from_secs(1)));
    assert_eq!(settings.resolved[0].origin, Origin::Environment("COLA_IA_DB"));
    flags.settings.push(("db", "c.db".into()));
    let settings = load(&flags, &vars).unwrap();
    assert_eq!((settings.db, &settings.resolved[0].origin), (Db::File("c.db".into()), &Origin::Flag("db")));
}

#[test]
fn an_absolute_path_in_the_file_stays() {
    let (_folder, flags) = folder_with("db = \"/srv/ia.db\"");
    assert_eq!(load(&flags, &[]).unwrap().db, Db::File("/srv/ia.db".into()));
}

#[test]
fn the_variable_names_the_file_and_a_named_file_must_exist() {
    let (folder, flags) = folder_with("lock_wait = \"2m\"");
    let path = flags.config.unwrap();
    let by_variable = [("COLA_IA_CONFIG", path.to_str().unwrap())];
    assert_eq!(load(&Flags::default(), &by_variable).unwrap().lock_wait, Duration::from_mins(2));
    drop(folder);
    assert_eq!(load(&Flags::default(), &by_variable).unwrap_err().exit(), Exit::Usage);
}

#[test]
fn sizes_and_times_are_read_with_their_units() {
    for (text, bytes) in
        [("1", 1), ("65536", 65_536), ("64 KiB", 65_536), ("8MiB", 8 << 20), ("1kb", 1_000), ("10 MB", 10_000_000)]
    {
        let settings = defaults_with(&[("COLA_IA_MAX_TEXT_BYTES", text)]).unwrap();
        assert_eq!(settings.max_text_bytes, bytes, "{text}");
    }
    for text in ["", " ", "0", "-1", "1.5MiB", "8M", "MiB", "257MiB", "99999999999999999999", "8MiB ", "0x10"] {
        let refused = defaults_with(&[("COLA_IA_MAX_TEXT_BYTES", text)]).is_err();
        assert_eq!(refused, !text.is_empty(), "{text:?}");
    }
    for (text, ms) in
        [("0s", 0), ("500ms", 500), ("60s", 60_000), ("2 m", 120_000), ("5min", 300_000), ("1d", 86_400_000)]
    {
        let settings = defaults_with(&[("COLA_IA_LOCK_WAIT", text)]).unwrap();
        assert_eq!(settings.lock_wait, Duration::from_millis(ms), "{text}");
    }
    for text in ["60", "s", "2d", "25h", "-1s", "1.5s", "99999999999999999999h"] {
        assert!(defaults_with(&[("COLA_IA_LOCK_WAIT", text)]).is_err(), "{text:?}");
    }
}

#[test]
fn leases_and_retries_have_their_bounds() {
    let (_folder, flags) = folder_with("lease = \"7d\"\nmax_attempts = 1\nmax_crashes = 1_000\nretry_first = \"0s\"\n");
    let settings = load(&flags, &[("COLA_IA_RETRY_MAX", "500ms")]).unwrap();
    let retry = RetryPolicy {
        max_attempts: 1,
        max_crashes: 1_000,
        first_wait: Duration::ZERO,
        max_wait: Duration::from_millis(500),
        pause_after: None,
    };
    assert_eq!((settings.lease, settings.retry), (Duration::from_hours(168), retry));
    for (variable, wrong) in [
        ("COLA_IA_LEASE_TIME", "999ms"),
        ("COLA_IA_LEASE_TIME", "169h"),
        ("COLA_IA_MAX_ATTEMPTS", "0"),
        ("COLA_IA_MAX_ATTEMPTS", "1001"),
        ("COLA_IA_MAX_CRASHES", "+3"),
        ("COLA_IA_MAX_CRASHES", "99999999999"),
        ("COLA_IA_RETRY_FIRST", "8d"),
    ] {
        assert!(defaults_with(&[(variable, wrong)]).is_err(), "{variable}={wrong}");
    }
    for wrong in ["lease = 60", "max_attempts = \"5\"", "max_attempts = 0x5", "max_attempts = true"] {
        let (_folder, flags) = folder_with(wrong);
        assert_eq!(load(&flags, &[]).unwrap_err().exit(), Exit::Usage, "{wrong}");
    }
    // The lease of a worker's command is no length of a lease.
    assert!(defaults_with(&[("COLA_IA_LEASE", "0192")]).unwrap().warnings.is_empty());
}

#[test]
fn a_file_may_say_sizes_as_numbers_or_as_text() {
    let (_folder, flags) = folder_with("max_text_bytes = 2_097_152\nmax_line_bytes = \"64 MiB\"\n");
    let settings = load(&flags, &[]).unwrap();
    assert_eq!((settings.max_text_bytes, settings.max_line_bytes), (2 << 20, 64 << 20));
    let (_folder, flags) = folder_with("max_text_bytes = 0x100000\nallow_network_filesystem = true\n");
    assert_eq!(load(&flags, &[]).unwrap().max_text_bytes, 1 << 20);
}

#[test]
fn the_longest_line_follows_the_longest_text() {
    let line = |text: &str| defaults_with(&[("COLA_IA_MAX_TEXT_BYTES", text)]).unwrap().max_line_bytes;
    assert_eq!(line("1KiB"), LINE_MAX_BYTES_DEFAULT);
    assert_eq!(line("10MiB"), 62 << 20);
    assert_eq!(line("256MiB"), LINE_MAX_BYTES_CEILING);
    let vars = [("COLA_IA_MAX_TEXT_BYTES", "10MiB"), ("COLA_IA_MAX_LINE_BYTES", "5MiB")];
    let settings = defaults_with(&vars).unwrap();
    assert_eq!(settings.max_line_bytes, 5 << 20);
    assert_eq!(settings.warnings.len(), 1);
}

#[test]
fn a_mistake_in_the_file_names_line_column_and_the_nearest_key() {
    assert_eq!(
        mistake("# x\nmax_text_byte = 5\n"),
        "error: cola-ia.toml:2:1: there is no setting “max_text_byte”\nhint: did you mean “max_text_bytes”?\n"
    );
    assert_eq!(
        mistake("[sources.github]\nx = 1\n"),
        "error: cola-ia.toml:1:2: there is no setting “sources”\nhint: did you mean “source”?\n"
    );
    assert_eq!(
        mistake("lock_wait = 60"),
        "error: cola-ia.toml:1:13: lock_wait: expected a length of time such as \"60s\", found a value of type integer\n"
    );
    assert_eq!(
        mistake("\n\n  db = 5"),
        "error: cola-ia.toml:3:8: db: expected text in quotation marks, found a value of type integer\n"
    );
    assert_eq!(
        mistake("allow_network_filesystem = \"yes\""),
        "error: cola-ia.toml:1:28: allow_network_filesystem: expected true or false, found a value of type string\n"
    );
    assert_eq!(
        mistake("max_text_bytes = -1"),
        "error: cola-ia.toml:1:18: max_text_bytes: -1 is out of bounds: at least 1, at most 256MiB\n"
    );
    assert!(mistake("db = \"a\"\ndb = \"b\"").starts_with("error: cola-ia.toml:2:1: not valid TOML: duplicate key"));
    assert!(mistake("db = ").starts_with("error: cola-ia.toml:1:6: not valid TOML: "));
    // The mistake that stands first is told.
    assert!(mistake("db = 1\nzz = 2").starts_with("error: cola-ia.toml:1:6: db"));
}

#[test]
fn a_store_elsewhere_is_refused_without_its_password() {
    let said = mistake("db = \"postgres://ana:s3cret@db\"");
    assert!(said.contains("no database") && said.contains("ana:***@db"), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
    assert!(mistake("db = \"sqlite:///x.db\"").contains("a store is a file or a database"));
    assert!(mistake("db = \"\"").contains("the path is empty"));
}

#[test]
fn an_unknown_variable_is_a_warning_and_a_workers_is_none() {
    let vars = [("COLA_IA_DBB", "x"), ("COLA_IA_SOURCE", "x"), ("COLA_IA_EFFECT_KEY", "x"), ("COLA_IA_LANG", "es")];
    let settings = defaults_with(&vars).unwrap();
    let [warning] = settings.warnings.as_slice() else { panic!("{:?}", settings.warnings) };
    let lang = Lang::only(Language::English);
    assert_eq!(warning.message.in_prose(&lang), "COLA_IA_DBB is set, and nothing reads it");
    assert_eq!(warning.hint.as_ref().unwrap().in_prose(&lang), "did you mean “COLA_IA_DB”?");
    let far = defaults_with(&[("COLA_IA_FOO", "x"), ("COLA_IA_", "x")]).unwrap();
    assert!(far.warnings.len() == 2 && far.warnings.iter().all(|warning| warning.hint.is_none()), "{far:?}");
}

#[test]
fn what_is_shown_can_be_pasted_back() {
    let vars = [
        ("COLA_IA_DB", "a \"quoted\" \\ path\tñ.db"),
        ("COLA_IA_DEFAULT_SOURCE", "form"),
        ("COLA_IA_MAX_TEXT_BYTES", "3MiB"),
        ("COLA_IA_LOCK_WAIT", "1500ms"),
        ("COLA_IA_ALLOW_NETWORK_FILESYSTEM", "1"),
    ];
    let shown = defaults_with(&vars).unwrap();
    let text: String = shown.resolved.iter().map(|one| pasteable_line(one) + "\n").collect();
    let (folder, flags) = folder_with(&text);
    let pasted = load(&flags, &[]).unwrap();
    assert_eq!(pasted.db, Db::File(folder.path().join(shown.db.file().unwrap())));
    for (one, other) in shown.resolved.iter().zip(&pasted.resolved).skip(1) {
        match &one.value {
            Value::Path(path) => assert_eq!(other.value, Value::Path(folder.path().join(path))),
            value => assert_eq!(*value, other.value),
        }
    }
}

#[test]
fn a_size_is_shown_as_one_writes_it() {
    let cases =
        [(1 << 20, "\"1MiB\""), (3 << 30, "\"3GiB\""), (64 << 10, "\"64KiB\""), (1_000_000, "1000000"), (1, "1")];
    for (bytes, shown) in cases {
        assert_eq!(toml_literal(&Value::Bytes(bytes)), shown);
    }
}

#[test]
fn a_secret_is_not_shown() {
    static SECRET: Setting = Setting {
        name: "token",
        env: "COLA_IA_X",
        flag: None,
        kind: Kind::Store,
        default: "",
        about: "setting-db",
        secret: true,
    };
    let resolved = Resolved { setting: &SECRET, value: Value::Path("s3cret".into()), origin: Origin::Default };
    assert_eq!(pasteable_line(&resolved), "token = \"***\"");
    assert_eq!(toml_literal(&Value::Path("postgres://a:s3cret@h/".into())), "\"postgres://a:***@h/\"");
}

#[test]
fn the_commented_file_is_all_defaults_and_means_what_it_says() {
    for language in Language::ALL {
        let text = commented_file(&Lang::only(language), &[]);
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
        let is_setting = |line: &&str| SETTINGS.iter().any(|setting| line.starts_with(&format!("{} = ", setting.name)));
        let settings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# ")).filter(is_setting).collect();
        let uncommented = settings.join("\n");
        assert_eq!(uncommented.lines().count(), SETTINGS.len(), "{text}");
        let (folder, flags) = folder_with(&uncommented);
        let settings = load(&flags, &[]).unwrap();
        assert_eq!(settings.db, Db::File(folder.path().join("cola_ia.sqlite3")));
        for (one, other) in settings.resolved.iter().zip(defaults_with(&[]).unwrap().resolved).skip(1) {
            // A path in a file is relative to its folder.
            match other.value {
                Value::Path(path) => assert_eq!(one.value, Value::Path(folder.path().join(path))),
                other => assert_eq!(one.value, other),
            }
        }
    }
    let chosen = commented_file(&Lang::only(Language::English), &[("db", Value::Path("x.db".into()))]);
    assert!(chosen.contains("\ndb = \"x.db\"\n"), "{chosen}");
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused() {
    let (folder, flags) = folder_with("");
    let path = folder.path().join("cola-ia.toml");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    let said = |flags: &Flags| load(flags, &[]).unwrap_err().render(&Lang::only(Language::English), false);
    assert!(said(&flags).contains("it is not UTF-8 text"), "{}", said(&flags));
    fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(said(&flags).contains("it is too large"), "{}", said(&flags));
    let folder_as_file = Flags { config: Some(folder.path().into()), settings: Vec::new() };
    assert!(said(&folder_as_file).contains("it is a folder"), "{}", said(&folder_as_file));
    fs::write(&path, "\u{feff}lock_wait = \"1s\"\r\n").unwrap();
    assert_eq!(load(&flags, &[]).unwrap().lock_wait, Duration::from_secs(1));
}

#[test]
fn how_long_things_are_kept_is_a_table_of_ages() {
    let day = Duration::from_hours(24);
    let settings = defaults_with(&[]).unwrap();
    assert_eq!((settings.retention_deliveries, settings.retention_texts), (Some(90 * day), None));
    for text in [
        "[retention]\ndeliveries = \"2w\"\ntexts = \"36h\"\n",
        "retention.texts = \"36h\"\nretention.deliveries = \"14d\"\n",
    ] {
        let (_folder, flags) = folder_with(text);
        let settings = load(&flags, &[]).unwrap();
        assert_eq!((settings.retention_deliveries, settings.retention_texts), (Some(14 * day), Some(day + day / 2)));
        let line = settings.resolved.iter().find(|one| one.setting.name == "retention.texts").unwrap();
        assert!(matches!(line.origin, Origin::File(_, 1 | 3)), "{line:?}");
        assert_eq!(pasteable_line(line), "retention.texts = \"36h\"");
        let settings = load(&flags, &[("COLA_IA_RETENTION_DELIVERIES", "never")]).unwrap();
        assert_eq!(settings.retention_deliveries, None);
    }
    for (text, said) in [
        ("[retention]\ntexts = \"90\"\n", "“90” is not an age"),
        ("[retention]\ntexts = 90\n", "expected an age such as \"90d\", or \"never\", found a value of type integer"),
        ("[retention]\ntext = \"9d\"\n", "there is no setting “retention.text”"),
        ("[retension]\ntexts = \"9d\"\n", "there is no setting “retension”"),
        ("retention = \"9d\"\n", "there is no setting “retention”"),
    ] {
        let (_folder, flags) = folder_with(text);
        let shown = load(&flags, &[]).unwrap_err().render(&Lang::only(Language::English), false);
        assert!(shown.contains(said), "{shown}");
    }
}

#[test]
fn prices_are_exact_and_stand_in_a_table_a_model() {
    let text = "[prices.\"m-1 \\\"x\\\"\"]\ninput = 2.5\noutput = 10\n[prices.small]\nrequest = \"0.000001\"\n";
    let (folder, flags) = folder_with(text);
    let settings = load(&flags, &[]).unwrap();
    let cost = |model, tokens| settings.prices.cost(model, Some(tokens), Some(tokens)).map(Micros::get);
    assert_eq!(cost("m-1 \"x\"", 1_000_000), Some(12_500_000));
    assert_eq!((cost("small", 5), cost("Small", 5)), (Some(1), None));
    let shown: String = settings.price_lines.iter().map(|line| line.pasteable() + "\n").collect();
    assert!(shown.contains("prices.\"small\".request = 0.000001\n"), "{shown}");
    assert_eq!(settings.price_lines[0].origin, Origin::File(folder.path().join("cola-ia.toml"), 2));
    let (_folder, flags) = folder_with(&shown);
    assert_eq!(load(&flags, &[]).unwrap().prices, settings.prices);
}

#[test]
fn what_is_no_price_is_refused_with_its_place() {
    for wrong in ["nan", "inf", "-1", "-0.5", "1e10", "0.0000001", "1000000000.000001", "\"1,5\"", "\"\""] {
        let said = mistake(&format!("[prices.m]\ninput = {wrong}\n"));
        assert!(said.starts_with("error: cola-ia.toml:2:9: prices.\"m\".input: “"), "{wrong}: {said}");
    }
    assert_eq!(
        mistake("[prices.m]\ninputs = 1"),
        "error: cola-ia.toml:2:1: there is no setting “prices.\"m\".inputs”\nhint: did you mean “input”?\n"
    );
    assert!(
        mistake("[prices.m]\ninput = true").contains("expected a price such as 2.5, found a value of type boolean")
    );
    assert!(mistake("prices = 3").contains("expected a table as [prices.\"MODEL\"]"));
    assert!(mistake("[prices]\nm = 3").starts_with("error: cola-ia.toml:2:5: prices.\"m\": expected a table"));
}

#[test]
fn the_prices_of_the_commented_file_are_prices() {
    let text = commented_file(&Lang::only(Language::English), &[]);
    let (_, prices) = text.split_once("# [prices.").unwrap();
    let uncommented = format!("[prices.{}", prices.replace("\n# ", "\n"));
    let (_folder, flags) = folder_with(&uncommented);
    assert_eq!(load(&flags, &[]).unwrap().price_lines.len(), 3);
}

#[test]
fn a_source_stands_beside_the_settings_of_the_same_table() {
    let text = "source.pause_after = 3\n[source.github]\nscheme = \"github\"\nsecret_env = [\"NEW\", \"OLD\"]\n\
                rate_limit = \"60/m\"\nmax_body = \"2MiB\"\nconflict_status = 409\nreplays = \"enter\"\n\
                [source.\"a.b\"]\nscheme = \"stripe\"\nsecret_file = \"s/stripe\"\ntolerance = \"10m\"\nid = [\"/id\", \"/data/id\"]\n\
                [source.open]\nscheme = \"unsigned\"\nunsigned = true\n";
    let (folder, flags) = folder_with(text);
    let settings = load(&flags, &[]).unwrap();
    assert_eq!(settings.retry.pause_after, Some(3));
    let names: Vec<&str> = settings.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["a.b", "github", "open"]);
    let [stripe, github, open] = &settings.sources[..] else { panic!() };
    assert_eq!(github.secrets, ["NEW", "OLD"].map(|name| SecretPlace::Variable(name.into())));
    assert_eq!(github.rate_limit.map(|rate| (rate.count.get(), rate.per.as_secs())), Some((60, 60)));
    assert_eq!((github.spec.max_body_bytes, github.spec.conflict_status), (Some(2 << 20), Some(409)));
    assert_eq!(stripe.secrets, [SecretPlace::File(folder.path().join("s/stripe"))]);
    assert_eq!(stripe.spec.tolerance_s, Some(600));
    assert!(open.unsigned && open.spec.unsigned && open.secrets.is_empty());
    let lines: Vec<String> = settings.table_lines().map(TableLine::pasteable).collect();
    assert_eq!(lines[0], "source.\"a.b\".scheme = \"stripe\"");
    // What is shown can be pasted back and says the same.
    let shown =
        settings.resolved.iter().map(pasteable_line).chain(lines.iter().cloned()).collect::<Vec<_>>().join("\n");
    fs::write(flags.config.as_ref().unwrap(), &shown).unwrap();
    let again = load(&flags, &[]).unwrap();
    assert_eq!(again.table_lines().map(TableLine::pasteable).collect::<Vec<_>>(), lines);
    assert_eq!(again.retry.pause_after, Some(3));
}

#[test]
fn the_variable_of_a_secret_is_no_unknown_one() {
    let (_folder, flags) = folder_with("[source.a]\nscheme = \"github\"\nsecret_env = \"COLA_IA_GITHUB\"\n");
    let settings = load(&flags, &[("COLA_IA_GITHUB", "x"), ("COLA_IA_GITLAB", "y")]).unwrap();
    assert_eq!(settings.warnings.len(), 1);
    assert_eq!(settings.secret_variables(), ["COLA_IA_GITHUB"]);
}

#[test]
fn what_is_wrong_with_a_source_is_told_with_its_place() {
    let cases = [
        (
            "scheme = \"githup\"\nsecret_env = \"S\"",
            "cola-ia.toml:2:10: source.a.scheme: there is no scheme “githup”",
            "did you mean “github”?",
        ),
        (
            "scheme = \"github\"\nsecret_en = \"S\"",
            "cola-ia.toml:3:1: there is no setting “source.a.secret_en”",
            "did you mean “secret_env”?",
        ),
        (
            "scheme = \"github\"\nsecret = \"s3cret\"",
            "cola-ia.toml:1:1: source.a: a secret does not stand in this file",
            "secret_env",
        ),
        ("scheme = \"github\"", "source.a: it has no secret", "secret_file"),
        ("scheme = \"github\"\nsecret_env = \"\"", "secret_env: it takes the name of a variable", ""),
        ("scheme = \"github\"\nsecret_env = []", "secret_env: it names nothing", ""),
        ("scheme = \"github\"\nsecret_env = \"A\"\nsecret_file = \"b\"", "not in both", ""),
        ("scheme = \"github\"\nsecret_env = \"A\"\nunsigned = true", "unsigned: a source with a secret", ""),
        ("scheme = \"unsigned\"\nsecret_env = \"A\"", "takes what anyone sends", ""),
        ("secret_env = \"A\"", "does not say how its sender signs", "source list --schemes"),
        ("scheme = 5\nsecret_env = \"A\"", "cola-ia.toml:2:10: source.a.scheme: cannot be read: invalid type", ""),
        ("scheme = \"github\"\nsecret_env = \"A\"\nid = 5", "cola-ia.toml:4:6: source.a.id: expected text", ""),
        (
            "scheme = \"github\"\nsecret_env = \"A\"\nid = [\"/a\", 5]",
            "cola-ia.toml:4:13: source.a.id: expected text",
            "",
        ),
        (
            "scheme = \"github\"\nsecret_env = \"A\"\ntolerance = \"5m\"",
            "tolerance: senders of github sign no time",
            "",
        ),
        (
            "scheme = \"github\"\nsecret_env = \"A\"\nalgorithm = \"hmac-sha1\"",
            "this key is for the schemes hmac and token",
            "",
        ),
        ("scheme = \"calcom\"\nsecret_env = \"A\"", "its sender has no id", ""),
        (
            "scheme = \"github\"\nsecret_env = \"A\"\nconflict_status = 301",
            "conflict_status: the answer to a conflict",
            "",
        ),
        ("scheme = \"github\"\nsecret_env = \"A\"\nmax_body = \"65MiB\"", "max_body: 65MiB is out of bounds", ""),
        ("scheme = \"github\"\nsecret_env = \"A\"\nrate_limit = \"60\"", "“60” is no rate", ""),
        ("scheme = \"github\"\nsecret_env = \"A\"\nrate_limit = \"0/m\"", "“0/m” is no rate", ""),
        ("form = true", "browsers sign nothing", "unsigned = true"),
        (
            "unsigned = true\n[source.a.form]\nallowed_origins = \"example.org\"",
            "“example.org” is not where a page comes from",
            "",
        ),
        ("unsigned = true\n[source.a.form]\nthanks = \"//evil.example\"", "is no address to go to", ""),
        (
            "unsigned = true\n[source.a.form]\nhoneypott = \"x\"",
            "cola-ia.toml:4:1: there is no setting “source.a.form.honeypott”",
            "did you mean “honeypot”?",
        ),
    ];
    for (text, said, hint) in cases {
        let mistake = mistake(&format!("[source.a]\n{text}\n"));
        assert!(mistake.contains(said) && mistake.contains(hint), "{text}\n{mistake}");
        assert!(!mistake.contains("s3cret"), "{mistake}");
    }
    assert!(
        mistake("[source.A]\nscheme = \"github\"")
            .contains("cola-ia.toml:1:9: source.A: “A” is not the name of a source")
    );
    assert!(mistake("[surce.a]\nscheme = \"github\"").contains("did you mean “source”?"));
}

#[test]
fn every_key_of_the_scheme_crate_is_a_key_of_the_file() {
    let said = toml::from_str::<cola_ia_webhook::Spec>("zzz = 1").unwrap_err().to_string();
    let listed: Vec<&str> = said.split("expected one of").nth(1).unwrap().split('`').skip(1).step_by(2).collect();
    assert!(listed.len() > 20);
    let (_folder, flags) = folder_with("[source.a]\nzzz = 1");
    assert!(load(&flags, &[]).is_err());
    for key in listed {
        let of_file = match key {
            "tolerance_s" => "tolerance",
            "max_body_bytes" => "max_body",
            other => other,
        };
        let said = mistake(&format!("[source.a]\n{of_file} = 1979-05-27\n"));
        assert!(!said.contains("there is no setting"), "{said}");
    }
}

#[test]
fn a_form_says_where_its_page_is() {
    let text = "[source.contact]\nunsigned = true\n[source.contact.form]\nallowed_origins = [\"https://WWW.example.org/\"]\n\
                honeypot = \"web/site\"\nthanks = \"https://www.example.org/gracias\"\n";
    let (_folder, flags) = folder_with(text);
    let source = load(&flags, &[]).unwrap().sources.remove(0);
    let form = source.form.clone().unwrap();
    assert_eq!(form.allowed_origins, ["https://www.example.org"]);
    assert_eq!(source.spec.scheme, "form");
    assert_eq!(source.spec.ignore.as_deref().unwrap(), ["/id", "/web~1site"]);
    source.open(&Environment::with(&[]), 1 << 20).unwrap();
}

#[test]
fn secrets_are_read_where_they_are_and_never_shown() {
    let text = "[source.a]\nscheme = \"github\"\nsecret_file = \"secret\"\n[source.b]\nscheme = \"svix\"\nsecret_env = \"B\"\n";
    let (folder, flags) = folder_with(text);
    let settings = load(&flags, &[]).unwrap();
    let english = Lang::only(Language::English);
    let open = |index: usize, vars: &[(&str, &str)]| {
        let opened = settings.sources[index].open(&Environment::with(vars), 1 << 20);
        opened.map(|opened| opened.notes.len()).map_err(|problem| problem.render(&english, false))
    };
    assert!(open(0, &[]).unwrap_err().contains("the file of its secret"));
    let file = folder.path().join("secret");
    for (bytes, said) in [(&b""[..], "it is empty"), (b" \n", "it is empty"), (&[b'x'; 9_000], "longer than 8 KiB")] {
        fs::write(&file, bytes).unwrap();
        assert!(open(0, &[]).unwrap_err().contains(said));
    }
    fs::write(&file, "s3cret").unwrap();
    assert_eq!(open(0, &[]).unwrap(), 0);
    fs::write(&file, "s3cret\n").unwrap();
    assert_eq!(open(0, &[]).unwrap(), 1);
    assert!(open(1, &[]).unwrap_err().contains("the variable B, which is to hold its secret, is not set"));
    assert!(open(1, &[("B", "")]).unwrap_err().contains("not set or empty"));
    let said = open(1, &[("B", "whsec_n0 base64!")]).unwrap_err();
    assert!(said.contains("it is not base64") && !said.contains("n0"), "{said}");
    assert_eq!(open(1, &[("B", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]).unwrap(), 0);
    assert!(!format!("{:?}", settings.sources[0].open(&Environment::with(&[]), 9).unwrap()).contains("s3cret"));
}

#[test]
fn a_schedule_says_when_and_what() {
    let text = "[schedule.daily]\ncron = \"0 9 * * 1-5\"\ntime_zone = \"Europe/Madrid\"\ntext = \"the summary\"\ntype = \"summary\"\ncatch_up = 3\n\
                [schedule.hourly]\ncron = \"@hourly\"\ntext = \"x\"\nsource = \"clock\"\n";
    let (_folder, flags) = folder_with(text);
    let settings = load(&flags, &[]).unwrap();
    let [daily, hourly] = &settings.schedules[..] else { panic!() };
    assert_eq!((daily.source.as_str(), daily.catch_up), ("schedule", 3));
    assert_eq!((hourly.source.as_str(), hourly.catch_up), ("clock", 1));
    let cases = [
        ("text = \"x\"", "schedule.a: it has no cron"),
        ("cron = \"@daily\"", "schedule.a: it has no text"),
        ("cron = \"@daily\"\ntext = \" \"", "schedule.a.text: "),
        ("cron = \"0 9 * *\"\ntext = \"x\"", "has five fields"),
        ("cron = \"0 25 * * *\"\ntext = \"x\"", "not a cron expression: "),
        ("cron = \"0 0 30 2 *\"\ntext = \"x\"", "it never fires"),
        ("cron = \"@daily\"\ntext = \"x\"\ntime_zone = \"Mars/Base\"", "there is no time zone “Mars/Base” here"),
        ("cron = \"@daily\"\ntext = \"x\"\ncatch_up = 1001", "no whole number from 0 to 1000"),
        ("cron = \"@daily\"\ntext = \"x\"\ntimezone = \"UTC\"", "did you mean “time_zone”?"),
        ("cron = \"@daily\"\ntext = \"x\"\nsource = \"A\"", "schedule.a.source: “A” is not the name of a source"),
    ];
    for (text, said) in cases {
        let mistake = mistake(&format!("[schedule.a]\n{text}\n"));
        assert!(mistake.contains(said), "{text}\n{mistake}");
    }
    let long = format!("max_text_bytes = 5\n[schedule.a]\ncron = \"@daily\"\ntext = \"{}\"", "x".repeat(6));
    assert!(mistake(&long).contains("schedule.a.text"), "{}", mistake(&long));
}

#[test]
fn where_the_server_is_and_its_backups_are_settings() {
    let (folder, flags) = folder_with(
        "listen = \"localhost:9000\"\npublic_url = \"https://cola.example/x/\"\nallowed_hosts = [\"Cola.Example\"]\n\
         [backup]\nevery = \"6h\"\nkeep = 3\nfolder = \"copies\"\n",
    );
    let settings = load(&flags, &[]).unwrap();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:9000");
    assert_eq!(settings.public_url.as_deref(), Some("https://cola.example/x"));
    assert_eq!(settings.allowed_hosts, ["cola.example"]);
    assert_eq!((settings.backup_every, settings.backup_keep), (Some(Duration::from_hours(6)), 3));
    assert_eq!(settings.backup_folder, folder.path().join("copies"));
    let settings = defaults_with(&[("COLA_IA_ALLOWED_HOSTS", "a.example, b.example:8443")]).unwrap();
    assert_eq!(settings.allowed_hosts, ["a.example", "b.example:8443"]);
    assert!(settings.trusted_proxies.is_empty());
    let (_folder, flags) = folder_with("trusted_proxies = [\"127.0.0.1\", \"::1\"]\n");
    let (listed, written) =
        (load(&flags, &[]).unwrap(), defaults_with(&[("COLA_IA_TRUSTED_PROXIES", "127.0.0.1, ::1")]).unwrap());
    assert_eq!(listed.trusted_proxies, ["127.0.0.1", "::1"].map(|text| text.parse::<std::net::IpAddr>().unwrap()));
    assert_eq!(listed.trusted_proxies, written.trusted_proxies);
    assert_eq!((settings.backup_every, settings.public_url), (None, None));
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8787");
    for (name, value) in [
        ("COLA_IA_LISTEN", "8787"),
        ("COLA_IA_LISTEN", "example.org:80"),
        ("COLA_IA_PUBLIC_URL", "cola.example"),
        ("COLA_IA_PUBLIC_URL", "https://"),
        ("COLA_IA_PUBLIC_URL", "https://cola.example/?a=b"),
        ("COLA_IA_PUBLIC_URL", "https://ana:s3cret@cola.example"),
        ("COLA_IA_ALLOWED_HOSTS", "https://cola.example"),
        ("COLA_IA_TRUSTED_PROXIES", "cola.example"),
        ("COLA_IA_TRUSTED_PROXIES", "10.0.0.0/8"),
        ("COLA_IA_BACKUP_KEEP", "0"),
    ] {
        let problem = defaults_with(&[(name, value)]).unwrap_err();
        assert!(!problem.render(&Lang::only(Language::English), false).contains("s3cret"));
    }
}

#[test]
fn a_store_is_a_file_or_a_schema_of_a_database() {
    let (_folder, flags) = folder_with("db = \"postgres://ana:s3cret@db.example:6000/cola\"\nschema = \"uno\"");
    let settings = load(&flags, &[]).unwrap();
    let Db::Postgres(address) = &settings.db else { panic!("{:?}", settings.db) };
    assert_eq!((address.to_string().as_str(), address.schema()), ("postgres://ana@db.example:6000/cola", "uno"));
    assert_eq!((settings.db.file(), settings.db.base()), (None, PathBuf::from("uno")));
    let shown: Vec<String> = settings.resolved.iter().map(pasteable_line).collect();
    assert!(shown.iter().all(|line| !line.contains("s3cret")), "{shown:?}");
    // What the address says of itself counts first.
    let told = load(&flags, &[("COLA_IA_DB", "postgres://ana@db/cola?schema=dos")]).unwrap();
    assert!(matches!(&told.db, Db::Postgres(address) if address.schema() == "dos"), "{:?}", told.db);
}

#[test]
fn an_address_that_is_none_is_refused_without_its_password() {
    for (text, cause) in
        [("postgres://ana:s3cret@db", "no database"), ("postgres://ana:s3cret@db/cola?sslmode=maybe", "sslmode")]
    {
        let problem = defaults_with(&[("COLA_IA_DB", text)]).unwrap_err();
        let said = problem.message().in_prose(&Lang::only(Language::English));
        assert!(said.contains(cause) && !said.contains("s3cret"), "{said}");
    }
    for schema in ["", "pg_x", &"x".repeat(64)] {
        let refused = Kind::Schema.parse_flag("schema", schema.as_ref());
        assert!(refused.is_err(), "{schema:?}");
    }
}
