//! Costs of attempts, prices of models, budgets and the currency, with the real program.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;

use std::fmt::Write as _;

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_core::effect::UtcDay;
use common::{BOTH, PROGRAM, Place, check_exit, err, out};
use serde_json::Value;

const PRICES: &str = "[prices.\"large-2\"]\ninput = 2.5\noutput = 10\nrequest = 0.0000005e1\n";

fn place() -> Place {
    Place::new().with("COLA_IA_LANG", "en").with("COLA_IA_RETRY_FIRST", "0s")
}

fn add(place: &Place, source: &str, ids: &[&str]) {
    let lines: String = ids.iter().fold(String::new(), |mut lines, id| {
        writeln!(lines, "{}", serde_json::json!({ "id": id, "texto": format!("text of {id}") })).unwrap();
        lines
    });
    check_exit(&place.run_with(&["add", "--source", source, "-"], lines.as_bytes()), 0);
}

/// The line of this name, or the total.
fn line(place: &Place, by: &str, name: Option<&str>) -> Value {
    let shown = place.run(&["costs", "--by", by, "--json"]);
    check_exit(&shown, 0);
    let lines: Vec<Value> = out(&shown).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.into_iter().find(|line| line["name"].as_str() == name).unwrap()
}

fn claim(place: &Place) -> String {
    let claimed = place.run(&["claim"]);
    check_exit(&claimed, 0);
    out(&claimed).split(' ').next().unwrap().to_owned()
}

/// Works on what is due with this shell command.
fn work(place: &Place, script: &str) -> String {
    let worked = place.run(&["work", "--drain", "--max-attempts", "1", "--", "sh", "-c", script]);
    check_exit(&worked, 0);
    err(&worked)
}

#[test]
fn attempts_are_priced_where_they_tell_tokens_and_no_cost() {
    let place = place().file("cola-ia.toml", PRICES);
    add(&place, "form", &["a", "b"]);
    let tokens = r#"printf '{"model":"large-2","tokens_in":1001,"tokens_out":2}' > "$COLA_IA_RESULT""#;
    work(&place, tokens);
    // 1001 × 2.5 + 2 × 10 + 5 millionths, rounded up once: 2527.5.
    let model = line(&place, "model", Some("large-2"));
    assert_eq!((&model["count"], &model["spent_micros"]), (&2.into(), &(2 * 2_528).into()));
    assert_eq!((&model["tokens_in"], &model["tokens_out"]), (&2_002.into(), &4.into()));
    // A failed attempt has cost too; a cost that is told is not worked out; a model without a price has none.
    add(&place, "form", &["c"]);
    work(&place, &format!("{tokens}; exit 1"));
    add(&place, "form", &["d"]);
    work(&place, r#"printf '{"model":"large-2","tokens_in":1,"tokens_out":1,"cost":0.5}' > "$COLA_IA_RESULT""#);
    add(&place, "form", &["e"]);
    work(&place, r#"printf '{"model":"other","tokens_in":7,"tokens_out":1}' > "$COLA_IA_RESULT""#);
    let model = line(&place, "model", Some("large-2"));
    assert_eq!((&model["count"], &model["spent_micros"]), (&4.into(), &(3 * 2_528 + 500_000).into()));
    let other = line(&place, "model", Some("other"));
    assert_eq!((&other["count"], &other["tokens_in"], &other["avoided_micros"]), (&0.into(), &7.into(), &Value::Null));
    let shown = place.run(&["costs", "--by", "modelo"]);
    assert!(
        out(&shown).contains("\nother        0         —        0        —          7           1\n"),
        "{}",
        out(&shown)
    );
    assert!(err(&shown).contains("nobody has said in which currency"), "{}", err(&shown));
}

#[test]
fn what_a_command_says_inside_of_its_job_is_priced_by_its_worker() {
    let place = place().file("cola-ia.toml", PRICES);
    add(&place, "form", &["a"]);
    let script =
        format!(r#"printf '{{"model":"large-2","tokens_in":1000,"tokens_out":0}}' | {PROGRAM} complete --result -"#);
    work(&place, &script);
    assert_eq!(line(&place, "source", Some("form"))["spent_micros"], 2_505);
}

#[test]
fn a_store_takes_the_first_currency_and_counts_no_other() {
    let place = place();
    add(&place, "form", &["a", "b", "c", "d", "e"]);
    let done = place.run_with(&["complete", &claim(&place), "--result", "-"], br#"{"cost":1.5,"currency":"eur"}"#);
    check_exit(&done, 0);
    assert_eq!(err(&done), "");
    assert_eq!(out(&place.run(&["budget", "currency"])), "EUR\n");
    let other =
        place.run_with(&["complete", &claim(&place), "--result", "-"], br#"{"cost":9,"currency":"USD","tokens_in":3}"#);
    check_exit(&other, 0);
    assert!(err(&other).contains("in USD and is not counted: this store's amounts are in EUR"), "{}", err(&other));
    // The same of a worker and of its command.
    let told =
        work(&place, r#"[ $COLA_IA_ID = c ] || exit 0; printf '{"cost":9,"currency":"USD"}' > "$COLA_IA_RESULT""#);
    assert!(told.contains("c: a cost is told in USD and is not counted"), "{told}");
    let new = self::place();
    add(&new, "form", &["f"]);
    let told = work(&new, &format!(r#"printf '{{"cost":9,"currency":"euros"}}' | {PROGRAM} complete --result -"#));
    assert!(told.contains("f: a cost is told in “euros”, which is no currency"), "{told}");
    let total = line(&place, "source", None);
    assert_eq!(
        (&total["count"], &total["spent_micros"], &total["tokens_in"]),
        (&1.into(), &1_500_000.into(), &3.into())
    );
    assert_eq!(total["currency"], "EUR");
    let refused = place.run(&["budget", "currency", "USD"]);
    check_exit(&refused, 1);
    assert!(err(&refused).contains("are in EUR, and amounts are never converted"), "{}", err(&refused));
    check_exit(&place.run(&["budget", "currency", "eur"]), 0);
    check_exit(&place.run(&["budget", "currency", "euros"]), 1);
}

#[test]
fn another_currency_is_not_imported() {
    let first = place();
    add(&first, "form", &["a"]);
    check_exit(&first.run(&["budget", "currency", "EUR"]), 0);
    check_exit(&first.run(&["budget", "set", "form", "2.5"]), 0);
    let exported = first.run(&["export"]).stdout;
    let second = place();
    check_exit(&second.run_with(&["import", "-"], &exported), 0);
    assert!(out(&second.run(&["budget", "--json"])).contains(r#""currency":"EUR","limit_micros":2500000,"#));
    let third = place();
    check_exit(&third.run(&["init"]), 0);
    check_exit(&third.run(&["budget", "currency", "USD"]), 0);
    let refused = third.run_with(&["import", "-"], &exported);
    check_exit(&refused, 1);
    assert!(err(&refused).contains("amounts are in USD"), "{}", err(&refused));
    assert_eq!(out(&third.run(&["jobs"])), "");
}

#[test]
fn budgets_and_costs_as_people_see_them() {
    for language in BOTH {
        let place = Place::new().with("COLA_IA_LANG", language);
        let today = UtcDay::of(SystemClock.now()).to_string();
        let mut text = String::new();
        let mut show = |args: &[&str]| text.push_str(&place.shown(args).replace(&today, "TODAY"));
        show(&["budget"]);
        show(&["init"]);
        show(&["costs"]);
        show(&["budget"]);
        show(&["budget", "set", "form", "2,50"]);
        show(&["budget", "set", "form", "0.0000001"]);
        show(&["budget", "set", "Form", "1"]);
        show(&["budget", "set", "form"]);
        show(&["budget", "currency"]);
        show(&["budget", "set", "form", "2.50"]);
        show(&["budget", "currency", "eur"]);
        show(&["budget", "set", "--json", "web", "0"]);
        check_exit(&place.run(&["add", "--source", "form", "--quiet", "in.jsonl"]), 1);
        add(&place, "form", &["a", "a", "b"]);
        add(&place, "web", &["c"]);
        for cost in ["1.25", "0.5"] {
            check_exit(
                &place.run(&[
                    "complete",
                    &claim(&place),
                    "--cost",
                    cost,
                    "--model",
                    "m\u{202e} 1",
                    "--tokens-in",
                    "12",
                ]),
                0,
            );
        }
        check_exit(&place.run(&["fail", &claim(&place), "--cost", "0.000001", "--error", "no"]), 0);
        show(&["budget", "list"]);
        show(&["costs"]);
        show(&["costs", "--by", "model", "--source", "form,web"]);
        show(&["costs", "--by", "day", "--since", "2026-01-01", "--until", "2026-01-31"]);
        show(&["costs", "--by", "day"]);
        show(&["costs", "--json"]);
        show(&["costs", "--by", "hour"]);
        show(&["budget", "remove", "form"]);
        show(&["budget", "remove", "form"]);
        show(&["budget", "remove", "--json", "nobody"]);
        insta::assert_snapshot!(format!("costs-{language}"), text);
    }
}
