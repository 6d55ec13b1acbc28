//! The catalogues against each other and against the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cola_ia_core::effect::{Alarm, Reason, TryOutcome};
use cola_ia_core::intake::RefusalCode;
use fluent_syntax::ast;

use super::*;
use crate::cli::doctor::DOCTOR_CODES;
use crate::cli::errors::{STORE_CODES, input_error_key};
use crate::intake::InputErrorKind;

/// What both languages say alike: proper names, words of the command line, codes, formats.
const ALIKE: &[&str] = &[
    "add-summary",
    "add-summary-and",
    "column-id",
    "column-total",
    "doctor-unwell",
    "examples-budget",
    "examples-budget-currency",
    "examples-budget-set",
    "examples-completions",
    "examples-effect-find",
    "examples-move",
    "examples-resume",
    "examples-serve",
    "examples-work",
    "label-error",
    "server-token-open-hint",
    "setting-value",
    "severity-error",
    "step-other",
    "value-hash",
    "value-hex",
    "value-id",
    "value-lang",
    "value-number",
    "value-otherwise",
    "value-shell",
    "value-stdin",
    "value-url",
    "value-when",
    "word-no",
    "work-cause",
    "work-cost",
    "work-recovered-and",
    "work-said",
];

fn entries(language: Language) -> BTreeMap<String, ast::Pattern<String>> {
    let resource = fluent_syntax::parser::parse(language.catalogue().to_owned())
        .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", language.tag()));
    let mut entries = BTreeMap::new();
    for entry in resource.body {
        if let ast::Entry::Message(message) = entry {
            assert!(message.attributes.is_empty(), "{} has attributes", message.id.name);
            let known = entries.insert(message.id.name.clone(), message.value.unwrap());
            assert!(known.is_none(), "{} stands twice in {}", message.id.name, language.tag());
        }
    }
    entries
}

fn variables(pattern: &ast::Pattern<String>, found: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let ast::PatternElement::Placeable { expression } = element {
            variables_of(expression, found);
        }
    }
}

fn variables_of(expression: &ast::Expression<String>, found: &mut BTreeSet<String>) {
    let inline = match expression {
        ast::Expression::Inline(inline) => inline,
        ast::Expression::Select { selector, variants } => {
            for variant in variants {
                variables(&variant.value, found);
            }
            selector
        }
    };
    match inline {
        ast::InlineExpression::VariableReference { id } => {
            found.insert(id.name.clone());
        }
        ast::InlineExpression::StringLiteral { .. } => {}
        other => panic!("{other:?} is not used in the catalogues"),
    }
}

#[test]
fn both_catalogues_have_the_same_keys_with_the_same_variables() {
    let [spanish, english] = Language::ALL.map(entries);
    let keys = |entries: &BTreeMap<String, _>| entries.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&spanish), keys(&english));
    for (key, pattern) in &spanish {
        let (mut in_spanish, mut in_english) = (BTreeSet::new(), BTreeSet::new());
        variables(pattern, &mut in_spanish);
        variables(&english[key], &mut in_english);
        assert_eq!(in_spanish, in_english, "{key}");
    }
}

#[test]
fn nothing_is_said_alike_in_both_languages_but_what_is_listed() {
    let [spanish, english] = Language::ALL.map(entries);
    let alike: Vec<&str> =
        spanish.iter().filter(|(key, pattern)| english[*key] == **pattern).map(|(key, _)| key.as_str()).collect();
    assert_eq!(alike, ALIKE);
}

#[test]
fn every_plural_has_its_general_form_and_no_message_ends_in_a_full_stop() {
    for language in Language::ALL {
        for key in entries(language).keys() {
            let families = ["usage-", "fault-", "config-", "init-", "jobs-", "refusal-", "store-", "warning-", "io-"];
            let is_message = families.iter().any(|family| key.starts_with(family)) && !key.starts_with("config-file");
            let lang = Lang::only(language);
            let shown = lang.t(key, &[("count", 2.into()), ("path", "p".into()), ("cause", "c".into())]);
            if is_message && !key.starts_with("usage-cola") {
                let usage_of_a_command = shown.starts_with("cola-ia");
                assert!(usage_of_a_command || !shown.ends_with('.'), "{key}: {shown}");
                let first = shown.chars().next().unwrap();
                assert!(!first.is_uppercase() || shown.starts_with("JSON"), "{key}: {shown}");
            }
            assert!(!shown.contains('⟨'), "{key}: {shown}");
        }
    }
}

/// The part of each source file before its tests.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
                found.push((path, code));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

/// Whether a literal has the form of a key: `word-word…`, lower case.
fn is_key(literal: &str) -> bool {
    literal.contains('-')
        && literal.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
}

/// Keys that the sources name in full.
fn literal_keys() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, code) in sources() {
        let code: String =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        // Literals stand at odd places between quotation marks; one with an escaped mark shifts its line only.
        for line in code.lines() {
            found.extend(line.split('"').skip(1).step_by(2).filter(|literal| is_key(literal)).map(str::to_owned));
        }
    }
    found
}

/// Keys that are put together: of commands and options, of codes.
fn composed_keys() -> BTreeSet<String> {
    fn walk(command: &clap::Command, key: &str, found: &mut BTreeSet<String>) {
        let this = if key.is_empty() { "cola-ia" } else { key };
        for form in ["about-K", "about-K-long", "usage-K", "examples-K", "exit-codes-K"] {
            found.insert(form.replace('K', this));
        }
        found.extend(command.get_arguments().map(|arg| format!("arg-{}", arg.get_id())));
        for sub in command.get_subcommands() {
            let key = if key.is_empty() { sub.get_name().to_owned() } else { format!("{key}-{}", sub.get_name()) };
            walk(sub, &key, found);
        }
    }
    let mut found = BTreeSet::new();
    walk(&crate::cli::args::command(&Lang::only(Language::English)), "", &mut found);
    for code in RefusalCode::ALL {
        found.extend([format!("refusal-{}", code.as_str()), format!("refusal-{}-hint", code.as_str())]);
    }
    for known in STORE_CODES {
        found.extend([format!("store-{}", known.code), format!("store-{}-hint", known.code)]);
    }
    for code in DOCTOR_CODES {
        found.extend([format!("doctor-{code}"), format!("doctor-{code}-hint")]);
    }
    found.extend(InputErrorKind::ALL.map(input_error_key));
    let dashed = |prefix: &str, word: &str| format!("{prefix}-{}", word.replace('_', "-"));
    found.extend(Reason::ALL.map(|reason| dashed("effect-reason", reason.as_str())));
    found.extend(Alarm::ALL.map(|alarm| dashed("show-effect", alarm.as_str())));
    found.extend(TryOutcome::ALL.map(|outcome| dashed("try", outcome.as_str())));
    found.extend(crate::cli::import::line_codes().map(|code| format!("import-line-{code}")));
    found
}

/// Whether a key may be missing: not every command has examples, not every code a hint.
fn is_optional(key: &str) -> bool {
    key.ends_with("-hint") || key.starts_with("examples-") || key.starts_with("exit-codes-")
}

#[test]
fn every_key_of_the_sources_is_in_the_catalogues() {
    let known = entries(Language::English);
    let families: BTreeSet<&str> = known.keys().filter_map(|key| key.split('-').next()).collect();
    let composed = composed_keys();
    let missing_literals: Vec<String> = literal_keys()
        .into_iter()
        .filter(|key| families.contains(key.split('-').next().unwrap()))
        .filter(|key| !known.contains_key(key))
        // The families of composed keys are named by their first words, and commands and options by theirs.
        .filter(|key| !["exit-codes", "show-output", "did-not-happen", "effect-name"].contains(&key.as_str()))
        .filter(|key| !composed.contains(&format!("about-{key}")))
        .collect();
    assert_eq!(missing_literals, Vec::<String>::new());
    let missing: Vec<String> =
        composed.into_iter().filter(|key| !known.contains_key(key) && !is_optional(key)).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_key_of_the_catalogues_is_used() {
    let (literal, composed) = (literal_keys(), composed_keys());
    let unused: Vec<String> = entries(Language::English)
        .into_keys()
        .filter(|key| !literal.contains(key) && !composed.contains(key))
        .collect();
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn every_fact_of_a_store_code_is_the_only_variable_of_its_messages() {
    let known = entries(Language::English);
    for code in STORE_CODES {
        for key in [format!("store-{}", code.code), format!("store-{}-hint", code.code)] {
            let mut found = BTreeSet::new();
            known.get(&key).into_iter().for_each(|pattern| variables(pattern, &mut found));
            let facts: BTreeSet<String> = code.facts.iter().map(|fact| (*fact).to_owned()).collect();
            assert!(found.is_subset(&facts), "{key}: {found:?} of {facts:?}");
            assert!(key.ends_with("-hint") || found == facts, "{key} leaves out one of {facts:?}");
        }
    }
}

/// The store's sources name their codes as `ErrorKind::Something, "code"`.
#[test]
fn every_code_of_the_store_has_its_sentence() {
    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for call in text.split("StoreError::new(").skip(1) {
                    let literal = call.split(')').next().unwrap().split('"').nth(1);
                    found.extend(literal.map(str::to_owned));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../cola-ia-store/src"), &mut found);
    let known: BTreeSet<String> = STORE_CODES.iter().map(|known| known.code.to_owned()).collect();
    assert_eq!(found.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The doctor's sources name their codes as `Severity::Something, "code"` or `rule("code"`.
#[test]
fn every_code_of_the_doctor_has_its_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cola-ia-store/src");
    let mut files = vec![folder.join("doctor.rs")];
    for engine in ["sqlite", "postgres"].map(|engine| folder.join(engine)) {
        files.push(engine.join("doctor.rs"));
        let parts = std::fs::read_dir(engine.join("doctor")).unwrap().map(|entry| entry.unwrap().path());
        files.extend(parts.filter(|path| !path.ends_with("identities.rs")));
    }
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect::<Vec<_>>().join("\n");
    let is_code = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let literals: BTreeSet<&str> = text.split('"').skip(1).step_by(2).filter(|word| is_code(word)).collect();
    let unused: Vec<&str> = DOCTOR_CODES.into_iter().filter(|code| !literals.contains(code)).collect();
    assert_eq!(unused, Vec::<&str>::new());
    let known: BTreeSet<&str> = DOCTOR_CODES.into_iter().chain(STORE_CODES.iter().map(|known| known.code)).collect();
    let code_after = |part: &str| part.split('"').nth(1).map(str::to_owned);
    let named = text.split("Severity::").chain(text.split("rule(")).skip(1).filter(|part| {
        let before = part.split('"').next().unwrap_or_default();
        !before.contains(['=', ';', '}', ')', '{'])
    });
    let unknown: Vec<String> =
        named.filter_map(code_after).filter(|code| is_code(code) && !known.contains(code.as_str())).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn every_code_is_explained_in_both_documents() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for name in ["ERRORS.md", "ERRORES.md"] {
        let text = std::fs::read_to_string(docs.join(name)).unwrap();
        let codes = RefusalCode::ALL.iter().map(|code| code.as_str()).chain(STORE_CODES.iter().map(|known| known.code));
        let codes = codes.chain(InputErrorKind::ALL.map(InputErrorKind::as_str));
        let missing: Vec<&str> = codes.filter(|code| !text.contains(&format!("### `{code}`"))).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{name}");
        let missing: Vec<&str> =
            DOCTOR_CODES.into_iter().filter(|code| !text.contains(&format!("\n| `{code}` |"))).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn values_cannot_break_a_line_or_steer_the_terminal() {
    let lang = Lang::only(Language::English);
    let said = lang.t("store-store_missing", &[("path", "a\nerror: b\u{1b}[2J".into())]);
    assert_eq!(said, "there is no store at a\\nerror: b\\u001b[2J");
}

#[test]
fn numbers_decide_between_singular_and_plural() {
    for (language, one, many) in [(Language::English, "1 new", "21 new"), (Language::Spanish, "1 nuevo", "21 nuevos")] {
        let lang = Lang::only(language);
        assert_eq!(lang.t("add-summary-new", &[("count", 1.into())]), one);
        assert_eq!(lang.t("add-summary-new", &[("count", 21.into())]), many);
    }
}

#[test]
fn the_words_of_the_article_are_the_words() {
    let words = Verdict::ALL.map(|verdict| verdict_word(Language::Spanish, verdict));
    assert_eq!(words, ["nuevo", "repetido", "conflicto", "inválido"]);
    let words = JobState::ALL.map(|state| state_word(Language::Spanish, state));
    assert_eq!(words, ["pendiente", "en_proceso", "terminado", "fallido", "retenido", "cancelado"]);
}
