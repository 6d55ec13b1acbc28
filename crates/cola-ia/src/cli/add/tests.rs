use cola_ia_core::event::{Content, EventId, Origin};
use cola_ia_core::intake::{DeliveryNumber, EventNumber};

use super::*;
use crate::config::Environment;
use crate::config::{Flags, NamedFile};
use crate::lang::{Choice, Language};
use crate::print::Colour;

fn delivery(id: &str) -> Delivery {
    Delivery {
        source: Source::default(),
        id: EventId::new(id).unwrap(),
        content: Content::new("texto".to_owned(), 100).unwrap(),
        event_type: None,
        time: None,
        origin: Origin { input: "eventos.jsonl".into(), line: 1 },
        body: None,
    }
}

fn receipt(number: i64, verdict: Verdict) -> Receipt {
    let conflict = (verdict == Verdict::Conflict).then_some(1);
    Receipt {
        number: DeliveryNumber(number),
        verdict,
        event: Some(EventNumber(1)),
        conflict,
        decided: false,
        replayed: false,
    }
}

const BOUNDS: Bounds = Bounds { line: 10, text: 5 };

fn refusal(code: RefusalCode) -> Refusal {
    Refusal::new(code, Origin { input: "eventos.jsonl".into(), line: 3 })
}

#[test]
fn answers_are_what_the_articles_script_prints() {
    let locale = Lang::new(Choice { prose: Language::English, words: Language::Spanish });
    let mut out = String::new();
    for (number, verdict) in [(1, Verdict::New), (2, Verdict::Duplicate), (3, Verdict::Conflict)] {
        push_answer(&mut out, &locale, false, &delivery("idea-42"), &receipt(number, verdict));
    }
    assert_eq!(out, "idea-42 nuevo\nidea-42 repetido\nidea-42 conflicto\n");
    let mut out = String::new();
    push_answer(&mut out, &Lang::only(Language::English), false, &delivery("idea-42"), &receipt(1, Verdict::New));
    push_preview(&mut out, &locale, false, &delivery("a b\u{a0}"), Foretold { verdict: Verdict::New, decided: false });
    assert_eq!(out, "idea-42 new\n\"a b\\u00a0\" nuevo\n");
}

#[test]
fn answers_as_json_are_documented_lines() {
    let lang = Lang::only(Language::Spanish);
    let mut out = String::new();
    for (number, verdict) in [(1, Verdict::New), (2, Verdict::Duplicate), (3, Verdict::Conflict)] {
        push_answer(&mut out, &lang, true, &delivery("idea-42"), &receipt(number, verdict));
    }
    let mut refused = refusal(RefusalCode::JsonDuplicateKey).at_column(12).about("id");
    refused.origin.line = 4;
    push_refusal(&mut out, true, &refused);
    for name in ["JSON.md", "JSON.es.md"] {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read_to_string(path).unwrap().contains(&out), "{name} does not show\n{out}");
    }
    let mut out = String::new();
    push_preview(&mut out, &lang, true, &delivery("ñ\""), Foretold { verdict: Verdict::New, decided: false });
    let line = r#"{"v":1,"verdict":"new","source":"default","id":"ñ\"","delivery":null,"event":null}"#;
    assert_eq!(out, format!("{line}\n"));
}

#[test]
fn a_refusal_goes_to_stderr_with_its_place_and_its_hint_once() {
    for language in Language::ALL {
        let lang = Lang::only(language);
        let session = Session { lang, colour: Colour::default(), quiet: false, environment: Environment::default() };
        let (mut out, mut stdout, mut refusals) = (String::new(), String::new(), Refusals::new(BOUNDS));
        let mut counted = refusal(RefusalCode::IdNumber);
        counted.count = 12;
        let mut documents = refusal(RefusalCode::JsonDocument).about("9");
        documents.count = 2;
        for refusal in [
            refusal(RefusalCode::IdNumber).at_column(7).about("42"),
            refusal(RefusalCode::IdNumber).at_column(7).about("43\u{1b}[2J"),
            refusal(RefusalCode::IdMissing),
            refusal(RefusalCode::LineTooLong).about("35"),
            refusal(RefusalCode::TextTooLong).at_column(20).about("12"),
            refusal(RefusalCode::IdTooLong).at_column(7).about("2000"),
            refusal(RefusalCode::JsonDocument).about("6"),
            documents,
            counted,
        ] {
            refusals.push(&mut out, &session, &refusal);
            push_refusal(&mut stdout, false, &refusal);
        }
        insta::assert_snapshot!(format!("refusals-{}", language.tag()), out);
        assert_eq!(stdout, "");
    }
}

#[test]
fn every_refusal_has_a_sentence() {
    for language in Language::ALL {
        let lang = Lang::only(language);
        let said: String =
            RefusalCode::ALL.iter().map(|code| refusal_line(&lang, &refusal(*code), BOUNDS) + "\n").collect();
        assert!(!said.contains('⟨'), "{said}");
        insta::assert_snapshot!(format!("every-refusal-{}", language.tag()), said);
    }
}

#[test]
fn every_error_of_a_store_has_a_sentence() {
    use cola_ia_core::store::{ErrorKind, StoreError};
    for language in Language::ALL {
        let lang = Lang::only(language);
        let mut said = String::new();
        for known in super::super::errors::STORE_CODES {
            let error = StoreError::new(ErrorKind::Unavailable, known.code)
                .with("path", "cola_ia.sqlite3")
                .with("cause", "CAUSE")
                .with("found", 7)
                .with("known", 3)
                .with("what", "WHAT")
                .with("wal", "cola_ia.sqlite3-wal")
                .with("filesystem", "nfs")
                .with("cursor", "x")
                .with("event", 7)
                .with("conflict", 2)
                .with("currency", "EUR")
                .with("decision", "accept")
                .with("server", "https://cola.example")
                .with("source", "form")
                .with("id", "idea-43")
                .with("limit", 1_000)
                .with("seconds", 60)
                .with("who", "4711 (cola-ia)")
                .with("at", "2027-01-01T00:00:00Z")
                .with("now", "2026-01-31T21:00:00Z")
                .with("name", "form")
                .with("encoding", "LATIN1")
                .with("command", "backup")
                .with("count", 2)
                .with("reason", "hash");
            let problem = super::super::Problem::from_store(&error);
            let exit = match known.code {
                "interrupted" => Exit::Interrupted,
                "cursor_unknown" => Exit::Usage,
                "server_unauthorised" | "server_forbidden" => Exit::NotAuthorised,
                _ => Exit::Failed,
            };
            assert_eq!(problem.exit(), exit);
            said.push_str(&problem.render(&lang, false));
        }
        assert!(!said.contains('⟨') && !said.contains('?'), "{said}");
        insta::assert_snapshot!(format!("every-store-error-{}", language.tag()), said);
        let odd = StoreError::new(ErrorKind::Corrupt, "brand_new").with("path", "p");
        let said = super::super::Problem::from_store(&odd).render(&lang, false);
        assert!(said.contains("brand_new") && said.contains("path="), "{said}");
    }
}

#[test]
fn the_summary_counts_and_the_exit_code_says_the_worst() {
    let options = AddOptions {
        inputs: vec![Input::Stdin],
        source: None,
        json: false,
        fail_on_conflict: false,
        rejects: Some("r.jsonl".into()),
        dry_run: false,
        progress: true,
    };
    let mut tally = Tally::default();
    assert_eq!(tally.exit(true), Exit::Done);
    let said = |tally: &Tally, language, dry_run| tally.summary(dry_run).in_prose(&Lang::only(language));
    assert_eq!(said(&tally, Language::Spanish, false), "0 nuevos");
    tally.unfinished = 1;
    assert_eq!(tally.exit(true), Exit::Unfinished);
    tally.count(Verdict::New, 1);
    tally.count(Verdict::Duplicate, 2);
    let mut three = refusal(RefusalCode::IdNumber);
    three.count = 3;
    tally.refusal(&three);
    assert_eq!(tally.exit(true), Exit::Refused);
    tally.delivery(&delivery("it's"), Verdict::Conflict, false);
    assert_eq!((tally.exit(true), tally.exit(false)), (Exit::Conflicts, Exit::Refused));
    let mut decided = Tally::default();
    decided.delivery(&delivery("kept"), Verdict::Conflict, true);
    assert_eq!((decided.exit(true), &decided.first_conflict), (Exit::Done, &None), "what was decided is no alarm");
    assert_eq!(said(&decided, Language::Spanish, false), "0 nuevos, 1 conflicto ya decidido");
    assert_eq!(
        said(&tally, Language::Spanish, false),
        "1 nuevo, 2 repetidos, 1 conflicto, 3 rechazados, 1 última línea sin terminar"
    );
    assert_eq!(
        said(&tally, Language::English, true),
        "nothing was stored; this would happen: 1 new, 2 duplicates, 1 conflict, 3 refused, 1 unfinished last line"
    );
    let settings = Settings::load(&Flags::default(), &Environment::default(), NamedFile::MayBeMissing).unwrap();
    let hints = |options: &AddOptions, tally: &Tally| {
        let hints = tally.hints(options, &settings);
        hints.iter().map(|hint| hint.in_prose(&Lang::only(Language::English))).collect::<Vec<_>>()
    };
    let told = hints(&options, &tally);
    assert_eq!(told.len(), 3);
    assert!(told[0].ends_with(r"see both with: cola-ia show 'it'\''s'"), "{told:?}");
    let mut whole = Tally::default();
    whole.refusal(&refusal(RefusalCode::Utf16));
    assert_eq!((whole.exit(false), hints(&options, &whole).len()), (Exit::Refused, 0));
    let dry_run = AddOptions { dry_run: true, ..options.clone() };
    assert!(hints(&dry_run, &tally)[0].ends_with("the first is it's"));
    tally.first_conflict = Some((Source::default(), "a\u{200b}".to_owned()));
    assert!(hints(&options, &tally)[0].ends_with("cola-ia show ID"));
}
