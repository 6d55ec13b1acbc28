//! Which language speaks: before anything else is read, so that even a usage mistake is explained in it.

use std::ffi::{OsStr, OsString};

use super::{Language, Message};

/// The variable that names the language.
pub const LANG_VAR: &str = "COLA_IA_LANG";

/// The languages in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Of help, summaries and errors.
    pub prose: Language,
    /// Of the words on stdout.
    pub words: Language,
}

/// Chooses by `--lang`, else `COLA_IA_LANG`, else the locale (`LC_ALL`, `LC_MESSAGES`, `LANG`); English where none is set.
///
/// `args` are those after the program's name; `var` gives a variable that is set and not empty. The second part is the
/// mistake to report where a language was named that has no catalogue; the locale is followed then.
pub fn choose(args: &[OsString], var: impl Fn(&str) -> Option<String>) -> (Choice, Option<Message>) {
    let by_locale = || {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(&var);
        let prose = if locale.as_deref().is_some_and(is_spanish) { Language::Spanish } else { Language::English };
        Choice { prose, words: Language::Spanish }
    };
    let (named, mistake) = if let Some(tag) = flag_value(args) {
        (tag.clone(), Message::new("usage-unknown-language").with("value", tag))
    } else if let Some(tag) = var(LANG_VAR) {
        (tag.clone(), Message::new("usage-unknown-language-variable").with("value", tag).with("variable", LANG_VAR))
    } else {
        return (by_locale(), None);
    };
    match Language::from_tag(&named) {
        Some(language) => (Choice { prose: language, words: language }, None),
        None => (by_locale(), Some(mistake)),
    }
}

/// The last `--lang X` or `--lang=X` before `--`. One without a value is left to the parser to refuse.
fn flag_value(args: &[OsString]) -> Option<String> {
    let mut found = None;
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let value = if arg == "--lang" {
            args.next().map(OsString::as_os_str)
        } else {
            arg.to_str().and_then(|arg| arg.strip_prefix("--lang=")).map(OsStr::new)
        };
        found = value.map(|value| value.to_string_lossy().into_owned()).or(found);
    }
    found
}

/// `es`, `es_MX.UTF-8`, `es-AR`, and not a language whose name only starts so.
fn is_spanish(locale: &str) -> bool {
    locale.strip_prefix("es").is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-', '.', '@']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], vars: &[(&str, &str)]) -> (Language, Language, bool) {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let var = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let (choice, mistake) = choose(&args, var);
        (choice.prose, choice.words, mistake.is_some())
    }

    const ES: Language = Language::Spanish;
    const EN: Language = Language::English;

    #[test]
    fn the_locale_chooses_prose_and_never_the_words() {
        assert_eq!(check(&[], &[]), (EN, ES, false));
        assert_eq!(check(&[], &[("LANG", "es_MX.UTF-8")]), (ES, ES, false));
        assert_eq!(check(&[], &[("LANG", "en_US.UTF-8")]), (EN, ES, false));
        assert_eq!(check(&[], &[("LANG", "es_ES"), ("LC_MESSAGES", "de_DE")]), (EN, ES, false));
        assert_eq!(check(&[], &[("LANG", "de_DE"), ("LC_ALL", "es")]), (ES, ES, false));
        assert_eq!(check(&[], &[("LANG", "est_EE")]), (EN, ES, false));
    }

    #[test]
    fn an_explicit_choice_covers_both_and_the_flag_wins() {
        assert_eq!(check(&["--lang", "en"], &[("LANG", "es")]), (EN, EN, false));
        assert_eq!(check(&["--lang=es"], &[(LANG_VAR, "en")]), (ES, ES, false));
        assert_eq!(check(&[], &[(LANG_VAR, "en"), ("LANG", "es")]), (EN, EN, false));
        assert_eq!(check(&["--lang=es", "--lang", "en"], &[]), (EN, EN, false));
        assert_eq!(check(&["show", "--", "--lang", "en"], &[("LANG", "es")]), (ES, ES, false));
    }

    #[test]
    fn a_language_without_catalogue_is_a_mistake_told_in_the_locales_language() {
        assert_eq!(check(&["--lang", "fr"], &[("LANG", "es")]), (ES, ES, true));
        assert_eq!(check(&["--lang="], &[]), (EN, ES, true));
        assert_eq!(check(&[], &[(LANG_VAR, "français")]), (EN, ES, true));
        assert_eq!(check(&["--lang", "EN"], &[]), (EN, ES, true));
    }
}
