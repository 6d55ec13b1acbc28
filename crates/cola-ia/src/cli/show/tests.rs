use cola_ia_core::effect::{BeginId, Effect, EffectName, EffectState, Micros, Policy, Reason, Try, TryOutcome};
use cola_ia_core::event::Fingerprint;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::job::JobState;
use cola_ia_core::store::{DeliveryView, JobPage, JobSummary, PageRequest, PrunedDeliveries};
use cola_ia_core::verdict::Verdict;

use super::*;
use crate::cli::jobs::{self, JobsOptions};
use crate::lang::{Choice, Language};

const MINUTE: i64 = 60_000_000;
const START: i64 = 1_769_893_200_000_000;
const NOW: Timestamp = Timestamp::from_micros(START + 60 * MINUTE);

fn job(event: i64, id: &str, state: JobState) -> JobSummary {
    JobSummary {
        event: EventNumber(event),
        source: Source::default(),
        id: id.to_owned(),
        erased_at: None,
        event_type: None,
        state,
        reason: String::new(),
        run: 1,
        attempts: 0,
        resource_id: None,
        time: None,
        received_at: Timestamp::from_micros(START),
        due_at: None,
        lease_until: None,
    }
}

fn decision(kind: DecisionKind, minute: i64, note: Option<&str>, entered: Option<i64>) -> DecisionView {
    DecisionView {
        kind,
        decided_at: Timestamp::from_micros(START + minute * MINUTE),
        note: note.map(str::to_owned),
        entered: entered.map(EventNumber),
    }
}

fn full() -> EventHistory {
    let mut job = job(7, "idea-42", JobState::Held);
    job.source = Source::new("form").unwrap();
    job.event_type = EventType::new("idea\u{202e}").ok();
    job.reason = "effect_unknown".to_owned();
    job.attempts = 3;
    job.resource_id = Some("post-9".to_owned());
    job.time = Some(Timestamp::from_micros(START - 90 * MINUTE));
    job.due_at = Some(Timestamp::from_micros(START + MINUTE));
    EventHistory {
        job,
        text: Some("Comparar dos modelos\n\nen mi producto\u{1b}[2J".to_owned()),
        fingerprint: Fingerprint::of("a"),
        changed_at: Some(Timestamp::from_micros(START + 5 * MINUTE)),
        worker: None,
        result: None,
        revision: 2,
        revisions: vec![RevisionView {
            number: 1,
            fingerprint: Fingerprint::of("z"),
            accepted_at: Timestamp::from_micros(START),
            conflict: None,
            text: Some("Comparar modelos".to_owned()),
        }],
        duplicates: 1_001,
        pruned: Some(PrunedDeliveries {
            count: 1_000,
            first_at: Timestamp::from_micros(START + MINUTE),
            last_at: Timestamp::from_micros(START + 90 * MINUTE),
        }),
        conflicts: vec![
            ConflictView {
                number: 1,
                fingerprint: Fingerprint::of("b"),
                text: Some("Publicar sin revisión humana".to_owned()),
                count: 2,
                first_at: Timestamp::from_micros(START + MINUTE),
                last_at: Timestamp::from_micros(START + 2 * MINUTE),
                decisions: vec![
                    decision(DecisionKind::Keep, 3, Some("una prueba\u{202e}\nde Ana"), None),
                    decision(DecisionKind::As, 4, None, Some(12)),
                ],
            },
            ConflictView {
                number: 2,
                fingerprint: Fingerprint::of("c"),
                text: None,
                count: 1,
                first_at: Timestamp::from_micros(START + MINUTE),
                last_at: Timestamp::from_micros(START + MINUTE),
                decisions: vec![decision(DecisionKind::Accept, 5, None, None)],
            },
        ],
        deliveries: vec![
            DeliveryView {
                number: DeliveryNumber(9),
                verdict: Verdict::Conflict,
                received_at: Timestamp::from_micros(START + 2 * MINUTE),
                time: None,
                conflict: Some(1),
                origin: Some("eventos.jsonl:3".to_owned()),
                replayed: false,
            },
            DeliveryView {
                number: DeliveryNumber(8),
                verdict: Verdict::Duplicate,
                received_at: Timestamp::from_micros(START + MINUTE),
                time: None,
                conflict: None,
                origin: None,
                replayed: false,
            },
        ],
        attempts: vec![attempt(3, "crashed"), attempt(2, "error"), attempt(1, "released")],
        effects: vec![effect()],
    }
}

/// One that waits for a person, with two tries and a result that came late.
fn effect() -> EffectView {
    let at = |minutes| Timestamp::from_micros(START + minutes * MINUTE);
    let one = |begun: i64, outcome| Try {
        begin_id: Some(BeginId([begun as u8; 16])),
        lease: None,
        request: None,
        begun_at: at(begun),
        send_before: at(begun + 1),
        deadline: at(begun + 3),
        key_until: None,
        expected: Micros::new(20_000),
        reserved: None,
        outcome,
    };
    EffectView {
        key: "k".repeat(43),
        changed_at: at(9),
        note: Some("no answer\u{1b}[2J".to_owned()),
        replays: 0,
        effect: Effect {
            run: 1,
            name: EffectName::new("publish").unwrap(),
            policy: Policy::default(),
            state: EffectState::Held,
            reason: Some(Reason::NobodyCanTell),
            begun_at: at(1),
            tries: vec![one(1, Some(TryOutcome::NotSent)), one(4, None)],
            records: Vec::new(),
            look_first: false,
            alarm: None,
        },
    }
}

fn attempt(number: u32, outcome: &str) -> AttemptView {
    AttemptView {
        attempt: i64::from(number),
        event: EventNumber(7),
        source: Source::new("form").unwrap(),
        id: "idea-42".to_owned(),
        run: 1,
        number,
        worker: "host\u{202e}:42".to_owned(),
        started_at: Timestamp::from_micros(START + i64::from(number) * MINUTE),
        ended_at: Some(Timestamp::from_micros(START + i64::from(number) * MINUTE + 1_500_000)),
        outcome: Some(outcome.to_owned()),
        exit_code: (outcome == "error").then_some(1),
        signal: (outcome == "crashed").then_some(9),
        error_class: (outcome == "error").then(|| "http_500".to_owned()),
        error: (outcome == "error").then(|| "the model\nsaid no\u{9b}".to_owned()),
        cost_micros: None,
        tokens_in: None,
        tokens_out: None,
        model: None,
        late: None,
        stdout: None,
        stderr: Some("first\nTraceback\u{1b}[31m\nlast".to_owned()),
    }
}

fn bare() -> EventHistory {
    let mut job = job(1, "a ", JobState::Pending);
    job.erased_at = Some(Timestamp::from_micros(START + 10 * MINUTE));
    job.time = Some(Timestamp::from_micros(START + 1_500_000));
    EventHistory {
        job,
        text: None,
        fingerprint: Fingerprint::of("a"),
        changed_at: None,
        worker: None,
        result: None,
        revision: 1,
        revisions: Vec::new(),
        duplicates: 0,
        pruned: None,
        conflicts: Vec::new(),
        deliveries: Vec::new(),
        attempts: Vec::new(),
        effects: Vec::new(),
    }
}

#[test]
fn the_story_is_told_in_both_languages() {
    for language in Language::ALL {
        let story = as_story(&Lang::only(language), &[full(), bare()], NOW, false);
        assert!(!story.contains('\u{1b}') && !story.contains('\u{202e}'));
        insta::assert_snapshot!(format!("story-{}", language.tag()), story);
    }
}

#[test]
fn a_locale_changes_the_prose_of_a_story_and_not_its_words() {
    let lang = Lang::new(Choice { prose: Language::English, words: Language::Spanish });
    let story = as_story(&lang, &[full()], NOW, false);
    assert!(story.starts_with("idea-42  retenido\n  it does not run") && story.contains("\n  source"), "{story}");
    assert!(story.contains("conflicto  +1m0s"), "{story}");
}

#[test]
fn a_story_as_json_has_every_field() {
    let json = as_json(&[full(), bare()], NOW);
    insta::assert_snapshot!("story-json", json);
    for line in json.lines() {
        let event: Event<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(event.job.v, 1);
    }
}

fn page() -> JobPage {
    let jobs = vec![
        full().job,
        job(6, "x", JobState::Pending),
        job(5, "caf\u{e9} con leche", JobState::Running),
        job(4, "cafe\u{301}", JobState::Cancelled),
        job(3, "b", JobState::Done),
    ];
    JobPage { jobs, next: Some(EventNumber(3)) }
}

#[test]
fn jobs_are_listed_in_columns() {
    for language in Language::ALL {
        let table = jobs::as_table(&Lang::only(language), &page(), NOW, false);
        insta::assert_snapshot!(format!("jobs-{}", language.tag()), table);
    }
    let locale_only = Lang::new(Choice { prose: Language::English, words: Language::Spanish });
    let spanish = Lang::only(Language::Spanish);
    assert_eq!(jobs::as_table(&locale_only, &page(), NOW, false), jobs::as_table(&spanish, &page(), NOW, false));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let lang = Lang::only(Language::Spanish);
    let strip = |text: String| {
        let mut parts = text.split("\u{1b}[");
        let mut plain = parts.next().unwrap_or_default().to_owned();
        plain.extend(parts.map(|part| part.split_once('m').unwrap().1));
        plain
    };
    assert_eq!(strip(jobs::as_table(&lang, &page(), NOW, true)), jobs::as_table(&lang, &page(), NOW, false));
    assert_eq!(strip(as_story(&lang, &[full()], NOW, true)), as_story(&lang, &[full()], NOW, false));
}

#[test]
fn jobs_as_json_have_every_field() {
    let json = jobs::as_json(&page(), NOW);
    insta::assert_snapshot!("jobs-json", json);
    assert_eq!(json.lines().count(), 5);
}

#[test]
fn more_pages_and_no_jobs_are_said() {
    let english = Lang::only(Language::English);
    assert_eq!(jobs::next_page(&page()).in_prose(&english), "there are more: --after 3");
    let empty = JobPage { jobs: Vec::new(), next: None };
    assert_eq!(jobs::as_table(&english, &empty, NOW, false), "");
    let nothing = |source: Option<&str>, known| {
        let sources = source.map(|name| Source::new(name).unwrap()).into_iter().collect();
        let options = JobsOptions {
            filter: Filter { sources, ..Filter::default() },
            page: PageRequest { below: None, limit: 1 },
            json: false,
        };
        jobs::nothing(&options, known).in_prose(&english)
    };
    assert_eq!(nothing(None, false), "no jobs");
    assert_eq!(nothing(Some("form"), true), "no jobs");
    assert_eq!(nothing(Some("form"), false), "no event of the source form has come");
}

#[test]
fn an_id_of_another_source_is_not_lost() {
    let english = Lang::only(Language::English);
    let source = Source::new("blog").ok();
    let not_found = |elsewhere: &[EventHistory]| not_found_but(source.as_ref(), "idea-42", elsewhere);
    assert_eq!(
        not_found(&[bare(), full()]).render(&english, false),
        "error: no event of the source blog has the id idea-42\nhint: an event with this id has come from: default, form\n"
    );
    assert!(not_found(&[]).render(&english, false).contains("byte for byte"));
}

#[test]
fn a_length_of_time_is_told_in_its_two_largest_units() {
    let cases = [
        (0, "0.000 s"),
        (1_250_999, "1.250 s"),
        (59_999_999, "59.999 s"),
        (4 * MINUTE, "4 min 0 s"),
        (90 * MINUTE, "1 h 30 min"),
        (51 * 60 * MINUTE, "2 d 3 h"),
        (i64::MAX, "106751991 d 4 h"),
    ];
    for (micros, told) in cases {
        assert_eq!(length(micros), told);
    }
}
