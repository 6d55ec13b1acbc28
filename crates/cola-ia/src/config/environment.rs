//! The environment, taken once, so that tests can give another.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;

use super::{CONFIG_VAR, RESERVED_VARS, SETTINGS, Warning, nearest};
use crate::lang::{LANG_VAR, Message};
use crate::print::Colour;

/// How the names of our variables start.
const PREFIX: &str = "COLA_IA_";

/// Variables, and which streams are terminals.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    vars: Vec<(OsString, OsString)>,
    /// Which streams are terminals.
    pub terminals: Colour,
}

impl Environment {
    /// That of this process.
    pub fn of_this_process() -> Self {
        let terminals = Colour { stdout: std::io::stdout().is_terminal(), stderr: std::io::stderr().is_terminal() };
        Self { vars: std::env::vars_os().collect(), terminals }
    }

    /// One with these variables and no terminal.
    pub fn with(vars: &[(&str, &str)]) -> Self {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { vars, terminals: Colour::default() }
    }

    /// A variable that is set and not empty: an empty one counts as not set.
    pub fn var_os(&self, name: &str) -> Option<OsString> {
        self.vars.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.clone())
    }

    /// The same as text; bytes that are no UTF-8 are replaced.
    pub fn var(&self, name: &str) -> Option<String> {
        self.var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// A warning for each `COLA_IA_*` variable that nothing reads; those of sources' secrets are read.
    pub(super) fn unknown_variables(&self, of_sources: &[&str]) -> Vec<Warning> {
        let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.env).chain([LANG_VAR, CONFIG_VAR]).collect();
        let mut unknown: Vec<&OsStr> = self
            .vars
            .iter()
            .map(|(name, _)| name.as_os_str())
            .filter(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
            .filter(|name| !known.iter().chain(&RESERVED_VARS).chain(of_sources).any(|known| name == known))
            .collect();
        unknown.sort_unstable();
        unknown
            .into_iter()
            .map(|name| {
                let name = name.to_string_lossy();
                // What all of them start with says nothing about which one was meant.
                let own = |name: &'static str| name.trim_start_matches(PREFIX);
                let meant = nearest(name.trim_start_matches(PREFIX), known.iter().copied().map(own));
                Warning {
                    hint: meant.map(|meant| Message::new("did-you-mean").with("meant", format!("{PREFIX}{meant}"))),
                    message: Message::new("warning-unknown-variable").with("variable", name),
                }
            })
            .collect()
    }
}
