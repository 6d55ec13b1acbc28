//! The parser's errors, in our words.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command as Clap, Error};

use super::Problem;
use crate::config::nearest;
use crate::lang::Message;
use crate::print::{shell_path, shell_word};

/// Commands that later versions are to have. Whoever tries one has read of it: no other command is guessed.
const PLANNED: &[&str] = &["demo", "mcp"];

/// The same mistake as a [`Problem`] with its hints.
pub(super) fn explain(error: &Error, root: &Clap, args: &[OsString]) -> Problem {
    let arg = fact(error, ContextKind::InvalidArg).unwrap_or_default();
    let asked = chain(root, args);
    let command = asked.last().copied().unwrap_or(root);
    let problem = match error.kind() {
        ErrorKind::UnknownArgument if arg.starts_with('-') => {
            let problem = Problem::usage(Message::new("usage-unknown-option").with("option", &arg));
            return problem.hint(unknown_option(&arg, &asked, args));
        }
        // What stands behind `--` is the command, and only that.
        ErrorKind::UnknownArgument if matches!(&*path_of(&asked), "work" | "effect run") => {
            let key = if asked.len() > 2 { "usage-effect-run-what" } else { "usage-work-what" };
            return Problem::usage(Message::new("usage-extra-argument").with("value", &arg)).hint(Message::new(key));
        }
        ErrorKind::UnknownArgument => {
            let problem = Problem::usage(Message::new("usage-extra-argument").with("value", &arg));
            let command = path_of(&asked);
            if ["show", "resolve", "erase", "cancel", "retry", "replay"].contains(&&*command)
                && let Some(id) = quoted_together(&arg, args)
            {
                return problem.hint(Message::new("usage-quote-id").with("command", command).with("id", id));
            }
            problem
        }
        ErrorKind::InvalidSubcommand => {
            let name = fact(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            // `cola-ia eventos.jsonl`: the article's script is called so.
            if Path::new(&name).is_file() {
                let path = shell_path(&name).map_or_else(|| "FILE".to_owned(), Into::into);
                let problem = Problem::usage(Message::new("usage-unknown-command").with("command", &name));
                return problem.hint(Message::new("usage-file-as-command").with("path", path));
            }
            return unknown_command(&name, command.get_subcommands().map(Clap::get_name));
        }
        ErrorKind::MissingRequiredArgument => {
            let problem = Problem::usage(
                Message::new("usage-missing").with("argument", arg.replace("> <", ", ").trim_matches(['<', '>', '.'])),
            );
            match &*path_of(&asked) {
                "add" => return problem.hint(Message::new("usage-add-what")),
                "work" => return problem.hint(Message::new("usage-work-what")),
                "effect run" => return problem.hint(Message::new("usage-effect-run-what")),
                "effect resolve" => return problem.hint(Message::new("usage-effect-resolve-how-hint")),
                "backup" => return problem.hint(Message::new("usage-backup-what")),
                "restore" => return problem.hint(Message::new("usage-restore-what")),
                _ => {}
            }
            problem
        }
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues | ErrorKind::NoEquals => {
            Problem::usage(Message::new("usage-no-value").with("option", &arg))
        }
        ErrorKind::TooManyValues => Problem::usage(Message::new("usage-value-not-taken").with("option", &arg)),
        ErrorKind::ArgumentConflict => Problem::usage(Message::new("usage-option-twice").with("option", &arg)),
        ErrorKind::InvalidUtf8 => Problem::usage(Message::new("usage-argument-not-utf8")),
        _ => {
            let said = error.render().to_string();
            let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Problem::usage(Message::new("usage-other").with("cause", first))
        }
    };
    problem.hint(Message::new("usage-see-help"))
}

/// The innermost command as it is typed behind the program's name.
fn path_of(asked: &[&Clap]) -> String {
    asked.iter().skip(1).map(|command| command.get_name()).collect::<Vec<_>>().join(" ")
}

/// A command that does not exist, or not yet.
pub(super) fn unknown_command<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    if asked.split(' ').next().is_some_and(|name| PLANNED.contains(&name)) {
        return Problem::usage(Message::new("usage-planned-command").with("command", asked))
            .hint(Message::new("usage-see-help"));
    }
    let problem = Problem::usage(Message::new("usage-unknown-command").with("command", asked));
    match nearest(asked, known) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem.hint(Message::new("usage-see-help")),
    }
}

/// What to do about an option that the parser does not know where it stands.
fn unknown_option(option: &str, asked: &[&Clap], args: &[OsString]) -> Message {
    let name = option.trim_start_matches('-');
    let command = &*path_of(asked);
    let is_same = |arg: &&Arg| arg.get_long() == Some(name) || arg.get_short().is_some_and(|c| name == c.to_string());
    if asked.len() > 1 && options(asked).any(|arg| is_same(&arg)) {
        return Message::new("usage-option-after-command").with("command", command).with("option", option);
    }
    if option.starts_with("--")
        && let Some(meant) = nearest(name, options(asked).filter_map(Arg::get_long))
    {
        return Message::new("did-you-mean").with("meant", format!("--{meant}"));
    }
    // Of `-42` the parser names the first letter only.
    let whole = args.iter().skip(1).filter_map(|arg| arg.to_str()).find(|arg| arg.starts_with(option));
    match command {
        "show" | "resolve" | "erase" | "cancel" | "retry" | "replay" => {
            let id = whole.and_then(shell_word).unwrap_or("ID".into());
            Message::new("usage-id-after-dashes").with("command", command).with("id", id)
        }
        "add" => {
            let file = whole.and_then(shell_word).unwrap_or("FILE".into());
            Message::new("usage-file-after-dashes").with("file", file)
        }
        _ => Message::new("usage-see-help"),
    }
}

/// The argument and the one before it as the one word that they may have been meant for.
fn quoted_together(extra: &str, args: &[OsString]) -> Option<String> {
    let at = args.iter().position(|arg| arg == extra).filter(|at| *at > 0)?;
    let together = format!("{} {extra}", args[at - 1].to_str()?);
    if together.starts_with('-') { None } else { shell_word(&together).map(Into::into) }
}

/// The program and the commands that the arguments name, outermost first.
pub(super) fn chain<'c>(root: &'c Clap, args: &[OsString]) -> Vec<&'c Clap> {
    let mut chain = vec![root];
    let mut args = args.iter().skip(1).take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let option = arg.strip_prefix("--");
        // The value of an option is no command.
        if option.is_some() && options(&chain).any(|o| o.get_long() == option && o.get_action().takes_values()) {
            args.next();
        } else if let Some(sub) = chain.last().and_then(|command| command.find_subcommand(arg)) {
            chain.push(sub);
        }
    }
    chain
}

/// The options of the innermost command and those of every command.
fn options<'c>(chain: &[&'c Clap]) -> impl Iterator<Item = &'c Arg> + use<'c> {
    let own = chain.last().into_iter().flat_map(|command| command.get_arguments());
    let general = chain.first().into_iter().flat_map(|root| root.get_arguments().filter(|arg| arg.is_global_set()));
    own.chain(general).filter(|arg| !arg.is_positional()).collect::<Vec<_>>().into_iter()
}

fn fact(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" ")),
        _ => None,
    }
}
