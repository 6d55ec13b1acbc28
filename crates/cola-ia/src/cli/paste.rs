//! Commands that a message tells people to run: safe to copy and paste, and about the same store.

use cola_ia_core::event::Source;

use crate::config::{DEFAULT_FILE, Db, Origin, Settings};
use crate::print::{shell_path, shell_word};

/// `cola-ia show …` for this identity. `None` where a part of it cannot be copied as it is seen.
pub fn show_command(settings: &Settings, source: &Source, id: &str) -> Option<String> {
    let mut command = String::from("cola-ia");
    let is_flag = |name: &str| {
        settings.resolved.iter().any(|one| one.setting.name == name && matches!(one.origin, Origin::Flag(_)))
    };
    if let Some(server) = settings.server.as_ref().filter(|_| is_flag("server")) {
        command = format!("{command} --server {}", shell_word(server.url.as_str())?);
    }
    if settings.server.is_none() && is_flag("db") {
        let store = match &settings.db {
            Db::File(path) => shell_path(path.to_str()?)?.into_owned(),
            Db::Postgres(address) => shell_word(&address.to_string())?.into_owned(),
        };
        command = format!("{command} --db {store}");
    }
    if let Some(file) = settings.file.as_deref().filter(|file| *file != DEFAULT_FILE) {
        command = format!("{command} --config {}", shell_path(file.to_str()?)?);
    }
    command.push_str(" show");
    if source.as_str() != Source::DEFAULT {
        command = format!("{command} --source {source}");
    }
    let dashes = if id.starts_with('-') { "-- " } else { "" };
    Some(format!("{command} {dashes}{}", shell_word(id)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Flags, NamedFile};

    fn told(flags: &Flags, source: &str, id: &str) -> Option<String> {
        let settings = Settings::load(flags, &Environment::default(), NamedFile::MayBeMissing).unwrap();
        show_command(&settings, &Source::new(source).unwrap(), id)
    }

    #[test]
    fn the_command_finds_the_identity() {
        let flags = Flags::default();
        let cases = [
            ("default", "idea-42", Some("cola-ia show idea-42")),
            ("form", "a b", Some("cola-ia show --source form 'a b'")),
            ("default", "-42", Some("cola-ia show -- -42")),
            ("form", "--lang", Some("cola-ia show --source form -- --lang")),
            ("default", "$(x)'", Some(r"cola-ia show '$(x)'\'''")),
            ("default", "a\u{1b}b", None),
        ];
        for (source, id, command) in cases {
            assert_eq!(told(&flags, source, id).as_deref(), command);
        }
    }

    #[test]
    fn the_command_is_about_the_same_store() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("c d.toml");
        let mut flags = Flags { config: None, settings: vec![("db", "-x.db".into())] };
        assert_eq!(told(&flags, "default", "a").unwrap(), "cola-ia --db ./-x.db show a");
        std::fs::write(&config, "").unwrap();
        flags = Flags { config: Some(config.clone()), settings: Vec::new() };
        assert_eq!(told(&flags, "default", "a").unwrap(), format!("cola-ia --config '{}' show a", config.display()));
    }
}
