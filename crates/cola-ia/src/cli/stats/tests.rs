use cola_ia_core::event::Source;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::Streak;
use cola_ia_core::lateness::Lateness;

use super::*;
use crate::lang::Language;

const MINUTE: i64 = 60_000_000;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn stats() -> Stats {
    let mut lateness = Lateness::default();
    for late in [2_000, 30_000_000, 31_000_000, 3 * 24 * 60 * MINUTE, -5 * MINUTE] {
        lateness.add(at(late), at(0));
    }
    let web = StatsGroup {
        source: Source::new("web").ok(),
        deliveries: [12_000, 3, 1, 0],
        lateness,
        jobs: [7, 1, 11_990, 0, 2, 0],
    };
    let refused = StatsGroup { deliveries: [0, 0, 0, 4], ..StatsGroup::default() };
    Stats::of(Some(at(0)), Some(at(1_440 * MINUTE)), vec![web, refused])
}

/// One that has no line of its own is before it.
fn sources() -> Vec<SourceView> {
    let view = |name| SourceView {
        source: Source::new(name).unwrap(),
        streak: None,
        paused_at: None,
        expired: 0,
        due_at: None,
    };
    let streak = Streak { class: "http_503".into(), count: 12, since: at(MINUTE), event: EventNumber(7) };
    vec![view("form"), SourceView { streak: Some(streak), paused_at: Some(at(2 * MINUTE)), expired: 1, ..view("web") }]
}

#[test]
fn tables_name_each_source_and_the_total() {
    let shown = as_tables(&Lang::only(Language::English), &stats(), &sources(), false);
    let expected = "\
SOURCE  RECEIVED    NEW  DUPLICATE  CONFLICT  INVALID  LATE P50  LATE P95
-              4      0          0         0        4         -         -
web        12004  12000          3         1        0      30 s     3.1 d
TOTAL      12008  12000          3         1        4      30 s     3.1 d

SOURCE  PENDING  RUNNING  EXPIRED   DONE  FAILED  HELD  CANCELLED
web           7        1        1  11990       0     2          0
";
    assert_eq!(shown, expected);
}

#[test]
fn one_source_needs_no_total_and_none_is_all_nothing() {
    let lang = Lang::only(Language::Spanish);
    let one = StatsGroup {
        source: Source::new("web").ok(),
        deliveries: [1, 0, 0, 0],
        jobs: [1, 0, 0, 0, 0, 0],
        ..StatsGroup::default()
    };
    assert!(!as_tables(&lang, &Stats::of(None, None, vec![one]), &[], false).contains("TOTAL"));
    let nothing = as_tables(&lang, &Stats::of(None, None, vec![]), &[], false);
    assert!(
        nothing
            .starts_with("ORIGEN  RECIBIDO  NUEVO  REPETIDO  CONFLICTO  INVÁLIDO  RETRASO P50  RETRASO P95\nTOTAL   ")
    );
}

#[test]
fn json_has_the_total_first() {
    let json = as_json(&stats(), &sources());
    let lines: Vec<&str> = json.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"v":1,"scope":"total","source":null,"since":"1970-01-01T00:00:00.000000Z","until":"1970-01-02T00:00:00.000000Z","received":12008,"new":12000,"duplicate":3,"conflict":1,"invalid":4,"lateness":{"count":4,"p50_ms":30408,"p95_ms":266287972,"ahead":1,"ahead_p50_ms":285212,"ahead_p95_ms":285212},"jobs":{"pending":7,"running":1,"done":11990,"failed":0,"held":2,"cancelled":0},"expired":1,"failing":null,"paused_at":null,"sources_left_out":0}"#
    );
    assert!(lines[1].starts_with(r#"{"v":1,"scope":"none","source":null,"#));
    assert!(lines[2].starts_with(r#"{"v":1,"scope":"source","source":"web","#));
    let standing = r#""expired":1,"failing":{"class":"http_503","count":12,"since":"1970-01-01T00:01:00.000000Z","event":7},"paused_at":"1970-01-01T00:02:00.000000Z","sources_left_out":null}"#;
    assert!(lines[2].ends_with(standing), "{}", lines[2]);
    assert!(lines[1].ends_with(r#""expired":0,"failing":null,"paused_at":null,"sources_left_out":null}"#));
    assert_eq!(lines.len(), 3);
}

#[test]
fn where_no_start_is_named_a_day_is_counted() {
    let day = 1_440 * MINUTE;
    let start = |filter| with_start(filter, at(10 * day)).since;
    assert_eq!(start(Filter::default()), Some(at(9 * day)));
    assert_eq!(start(Filter { until: Some(at(5 * day)), ..Filter::default() }), Some(at(4 * day)));
    assert_eq!(start(Filter { since: Some(at(3)), ..Filter::default() }), Some(at(3)));
}

#[test]
fn lengths_are_no_finer_than_they_are_known() {
    let check = |micros, expected: &str| assert_eq!(rough(Duration::from_micros(micros)), expected);
    check(0, "0 ms");
    check(999_999, "999 ms");
    check(1_234_567, "1.2 s");
    check(9_949_999, "9.9 s");
    check(9_950_001, "10 s");
    check(61_000_000, "1.0 min");
    check(6 * 3_600_000_000 + 54 * 60_000_000, "6.9 h");
    check(30 * 86_400_000_000, "30 d");
}
