//! `source add`: a commented block at the end of `cola-ia.toml`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cola_ia_core::event::Source;
use cola_ia_webhook::{Algorithm, Handshake, Scheme};

use super::{AddSource, scheme, url_of};
use crate::cli::init::file_to_write;
use crate::cli::{Exit, Problem, Session, print};
use crate::config::{Flags, Settings, check_text, comment};
use crate::lang::{Lang, Message};

/// Appends the block and prints the address for the sender.
///
/// # Errors
/// There is no such scheme; a source has the name; the file cannot be written, or would not be valid any more.
pub(super) fn run(session: &Session, options: &AddSource, flags: &Flags, settings: &Settings) -> Result<Exit, Problem> {
    let scheme = scheme(&options.scheme)?;
    let name = match &options.name {
        Some(name) => name.clone(),
        None => Source::new(&scheme.name).unwrap_or_default(),
    };
    if settings.sources.iter().any(|source| source.name == name) {
        return Err(Problem::failed(Message::new("source-exists").with("source", &name))
            .hint(Message::new("source-exists-hint").with("scheme", &scheme.name)));
    }
    let file = file_to_write(session, flags);
    append(&file, &block(&session.lang, scheme, &name))?;
    print(&format!("{}\n", url_of(settings, &name)))?;
    session.note(&Message::new("source-added").with("source", &name).with("file", file.display()));
    if settings.public_url.is_none() {
        session.hint(&Message::new("source-public-url-hint"));
    }
    let variable = variable(&name);
    let next = if scheme.algorithm == Algorithm::None { "source-next-unsigned" } else { "source-next-secret" };
    session.hint(&Message::new(next).with("variable", variable).with("source", &name));
    Ok(Exit::Done)
}

/// `my-form` → `MY_FORM_SECRET`.
fn variable(name: &Source) -> String {
    let plain: String =
        name.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    // A variable does not begin with a digit.
    let front = if plain.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("{front}{plain}_SECRET")
}

fn block(lang: &Lang, scheme: &Scheme, name: &Source) -> String {
    let mut out = String::new();
    let say = |out: &mut String, key: &str, args: &[(&str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
        comment(out, &lang.t(key, &args));
    };
    let title = scheme.title.clone();
    say(&mut out, "source-block-head", &[("title", title), ("docs", scheme.docs.clone())]);
    if !scheme.unverified.is_empty() {
        say(&mut out, "source-block-unverified", &[("parts", scheme.unverified.join(", "))]);
    }
    let unsigned = scheme.algorithm == Algorithm::None;
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "[source.{}]", toml_key(name.as_str()));
    if scheme.name == "form" {
        say(&mut out, "source-block-unsigned", &[]);
        out.push_str("unsigned = true\n");
        say(&mut out, "source-block-form", &[]);
        out.push_str(
            "form.allowed_origins = []\nform.honeypot = \"website\"\n# form.thanks = \"https://www.example.org/\"\n",
        );
        return out;
    }
    let _ = writeln!(out, "scheme = \"{}\"", scheme.name);
    if unsigned {
        say(&mut out, "source-block-unsigned", &[]);
        out.push_str("unsigned = true\n");
    } else {
        say(&mut out, "source-block-secret", &[]);
        let _ = writeln!(out, "secret_env = \"{}\"", variable(name));
        let _ = writeln!(out, "# secret_file = \"{name}.secret\"");
    }
    if scheme.handshakes.contains(&Handshake::HubChallenge) {
        say(&mut out, "source-block-verify", &[]);
        let _ = writeln!(out, "verify_token_env = \"{}\"", variable(name).replace("_SECRET", "_VERIFY_TOKEN"));
    }
    if scheme.handshakes.contains(&Handshake::VerificationToken) {
        say(&mut out, "source-block-pending", &[]);
        out.push_str("# pending = true\n");
    }
    if scheme.generic && !unsigned {
        say(&mut out, "source-block-generic", &[]);
        let header = scheme.signature.header.as_deref().unwrap_or_default();
        let _ = writeln!(out, "# header = \"{header}\"\n# prefix = \"{}\"", scheme.signature.prefix);
        if scheme.algorithm != Algorithm::Token {
            let _ =
                writeln!(out, "# algorithm = \"{}\"\n# content = \"{}\"", scheme.algorithm.as_str(), scheme.content);
        }
    }
    match (scheme.id.as_slice(), scheme.fallback.as_slice()) {
        ([], []) => {
            say(&mut out, "source-block-body-id", &[]);
            out.push_str("fallback_id = \"body-sha256\"\n");
        }
        ([], fallback) => {
            say(&mut out, "source-block-fallback", &[("places", fallback.join(", "))]);
            out.push_str("fallback_id = \"documented\"\n");
        }
        (places, _) => {
            say(&mut out, "source-block-id", &[]);
            let _ = writeln!(out, "# id = {}", list(places));
        }
    }
    say(&mut out, "source-block-text", &[]);
    let _ = writeln!(out, "# text = {}", list(scheme.text.as_slice()));
    out
}

fn list(places: &[String]) -> String {
    let quoted: Vec<String> = places.iter().map(|place| toml::Value::from(place.as_str()).to_string()).collect();
    if let [one] = &quoted[..] { one.clone() } else { format!("[{}]", quoted.join(", ")) }
}

/// A name with a dot would be two.
fn toml_key(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// Replaces the file by itself with the block at its end, in one step and with its mode. A link stays one.
fn append(file: &Path, block: &str) -> Result<(), Problem> {
    let failed = |error: &std::io::Error| {
        Problem::failed(Message::new("source-file-failed").with("file", file.display()).caused_by(error))
    };
    let (target, before, mode) = match fs::canonicalize(file) {
        Ok(target) => {
            let before = fs::read_to_string(&target).map_err(|error| failed(&error))?;
            let mode = fs::metadata(&target).map_err(|error| failed(&error))?.permissions();
            (target, before, mode)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            (file.to_owned(), String::new(), fs::Permissions::from_mode(0o600))
        }
        Err(error) => return Err(failed(&error)),
    };
    let gap = match before.as_bytes() {
        [] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    };
    let after = format!("{before}{gap}{block}");
    // Where the file writes its tables in another way, a table at its end may be none.
    check_text(file, &after).map_err(|problem| {
        let cause = problem.message().clone();
        Problem::failed(Message::new("source-not-appended").with("file", file.display()).message("cause", cause))
            .hint(Message::new("source-not-appended-hint"))
    })?;
    write(&target, &after, mode).map_err(|error| failed(&error))
}

fn write(target: &Path, text: &str, mode: fs::Permissions) -> std::io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut whole = tempfile::NamedTempFile::new_in(&folder)?;
    whole.as_file().set_permissions(mode)?;
    whole.write_all(text.as_bytes())?;
    whole.as_file().sync_all()?;
    whole.persist(target).map_err(|error| error.error)?;
    File::open(&folder)?.sync_all()
}
