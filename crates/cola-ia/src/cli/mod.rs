//! The command line: parse, run, exit code.
//!
//! stdout is data, stderr is for people. Nothing below this module writes to either but through a [`Session`] or `print`.

pub mod add;
pub mod args;
pub mod backup;
pub mod budget;
pub mod claim;
pub mod complete;
pub mod config;
pub mod conflicts;
pub mod costs;
pub mod deliveries;
pub mod doctor;
pub mod effect;
pub mod erase;
pub mod errors;
mod errors_group;
pub mod errors_list;
mod exit;
pub mod export;
pub mod extend;
pub mod fail;
mod filter;
mod holder;
pub mod id;
pub mod import;
pub mod init;
pub mod jobs;
pub mod list;
pub mod man;
pub mod moving;
pub mod order;
pub mod paste;
mod problem;
mod progress;
pub mod prune;
pub mod recover;
pub mod release;
pub mod report;
pub mod resolve;
pub mod restore;
pub mod restored;
pub mod resume;
pub mod serve;
mod session;
pub mod show;
pub mod source;
pub(crate) mod standing;
pub mod stats;
pub mod tail;
pub mod token;
mod usage;
mod why;
pub mod work;

use std::ffi::OsString;
use std::io::Write as _;

use clap::builder::StyledStr;
use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy};

pub use exit::Exit;
pub use problem::Problem;
pub use session::Session;

pub(crate) use holder::lease;

use cola_ia_core::filter::Filter;
use cola_ia_core::store::PageRequest;
use pollster::block_on;

use crate::add::run as add_command;
use crate::config::{Environment, NamedFile, Settings};
use crate::import::run as import_command;
use crate::lang::{Lang, Message, choose};
use crate::print::{Colour, ColourChoice};
use crate::store;
use crate::worker::run as work_command;
use args::{Command, Invocation, Parsed};

/// Runs the command that the arguments ask for; the first is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, environment: Environment) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let (choice, unknown_language) = choose(args.get(1..).unwrap_or_default(), |name| environment.var(name));
    let mut session = Session {
        lang: Lang::new(choice),
        colour: colour(early_colour(&args), &environment),
        quiet: false,
        environment,
    };
    let outcome = match unknown_language {
        Some(message) => Err(Problem::usage(message).hint(Message::new("usage-known-languages"))),
        None => args::parse(&session.lang, &args),
    };
    let done = outcome.and_then(|parsed| match parsed {
        Parsed::Run(invocation) => {
            session.quiet = invocation.quiet;
            session.colour = colour(invocation.colour, &session.environment);
            dispatch(&session, &invocation)
        }
        Parsed::Print(text) => print(&styled(&text, session.colour.stdout)),
        Parsed::Help(text) => {
            // Where stderr is closed there is nobody left to tell.
            let _ = std::io::stderr().write_all(styled(&text, session.colour.stderr).as_bytes());
            Ok(Exit::Usage)
        }
    });
    done.unwrap_or_else(|problem| {
        session.problem(&problem);
        problem.exit()
    })
}

#[expect(clippy::too_many_lines, reason = "an arm a command")]
fn dispatch(session: &Session, invocation: &Invocation) -> Result<Exit, Problem> {
    let load = |named| {
        let settings = Settings::load(&invocation.flags, &session.environment, named)?;
        if let (Some(server), Some(command)) = (&settings.server, invocation.command.only_here()) {
            let message = Message::new("usage-server-refused").with("command", command).with("server", &server.url);
            return Err(Problem::usage(message).hint(Message::new("usage-server-refused-hint")));
        }
        settings.warnings.iter().for_each(|warning| session.warn(warning));
        Ok::<_, Problem>(settings)
    };
    match &invocation.command {
        Command::Init => {
            let settings = load(NamedFile::MayBeMissing)?;
            init::run(session, &invocation.flags, &settings, store::init)
        }
        Command::Add(options) => add_command(session, options, &load(NamedFile::MustExist)?),
        Command::Backup(options) => backup::run(session, options, &load(NamedFile::MustExist)?),
        Command::Restore(options) => restore::run(session, options, &load(NamedFile::MustExist)?),
        Command::Restored(options) => restored::run(session, options, &load(NamedFile::MustExist)?),
        Command::Doctor(options) => doctor::run(session, options, &load(NamedFile::MustExist)?),
        Command::Jobs(options) => {
            let store = store::view(session, &load(NamedFile::MustExist)?)?;
            let page = jobs::gather(&*store, options).map_err(|error| Problem::from_store(&error))?;
            let text = if options.json {
                jobs::as_json(&page, SystemClock.now())
            } else {
                jobs::as_table(&session.lang, &page, SystemClock.now(), session.colour.stdout)
            };
            print(&text)?;
            if let Some(expired) = jobs::expired(&page, SystemClock.now()) {
                session.note(&expired);
            }
            if page.next.is_some() {
                session.hint(&jobs::next_page(&page));
            } else if page.jobs.is_empty() {
                let of_source = Filter { sources: options.filter.sources.clone(), ..Filter::default() };
                let any = block_on(store.jobs(of_source, PageRequest { below: None, limit: 1 }))
                    .map_err(|error| Problem::from_store(&error))?;
                session.note(&jobs::nothing(options, !any.jobs.is_empty()));
            }
            Ok(Exit::Done)
        }
        Command::Show(options) => {
            let store = store::view(session, &load(NamedFile::MustExist)?)?;
            let events = block_on(store.find_events(options.source.clone(), options.id.clone()))
                .map_err(|error| Problem::from_store(&error))?;
            if events.is_empty() {
                return Err(show::not_found(&*store, options.source.as_ref(), &options.id)?);
            }
            let text = if options.json {
                show::as_json(&events, SystemClock.now())
            } else {
                show::as_story(&session.lang, &events, SystemClock.now(), session.colour.stdout)
            };
            print(&text)
        }
        Command::Serve(options) => serve::run(session, *options, load(NamedFile::MustExist)?),
        Command::Stats(options) => stats::run(session, options, &*store::view(session, &load(NamedFile::MustExist)?)?),
        Command::Costs(options) => costs::run(session, options, &*store::view(session, &load(NamedFile::MustExist)?)?),
        Command::Budget(options) => budget::run(session, options, &load(NamedFile::MustExist)?),
        Command::Deliveries(options) => {
            deliveries::run(session, options, &*store::view(session, &load(NamedFile::MustExist)?)?)
        }
        Command::Conflicts(options) => {
            conflicts::run(session, options, &*store::view(session, &load(NamedFile::MustExist)?)?)
        }
        Command::Errors(options) => {
            let settings = load(NamedFile::MustExist)?;
            let bounds = errors::Bounds { line: settings.max_line_bytes, text: settings.max_text_bytes };
            errors_list::run(session, options, &*store::view(session, &settings)?, bounds)
        }
        Command::Tail(options) => tail::run(session, options, &load(NamedFile::MustExist)?),
        Command::Resolve(options) => resolve::run(session, options, &load(NamedFile::MustExist)?),
        Command::Prune(options) => prune::run(session, *options, &load(NamedFile::MustExist)?),
        Command::Erase(options) => erase::run(session, options, &load(NamedFile::MustExist)?),
        Command::Export(options) => export::run(session, options, &load(NamedFile::MustExist)?),
        Command::Import(options) => import_command(session, options, &load(NamedFile::MustExist)?),
        Command::Move(options) => moving::run(session, options, &load(NamedFile::MustExist)?),
        Command::Effect(options) => effect::run(session, options, &load(NamedFile::MustExist)?),
        Command::Claim(options) => claim::run(session, options, &load(NamedFile::MustExist)?),
        Command::Extend(options) => extend::run(session, options, &load(NamedFile::MustExist)?),
        Command::Complete(options) => complete::run(session, options, &load(NamedFile::MustExist)?),
        Command::Fail(options) => fail::run(session, options, &load(NamedFile::MustExist)?),
        Command::Work(options) => work_command(session, options, &load(NamedFile::MustExist)?),
        Command::Release(options) => release::run(session, options, &load(NamedFile::MustExist)?),
        Command::Recover(options) => recover::run(session, *options, &load(NamedFile::MustExist)?),
        Command::Resume(options) => resume::run(session, options, &load(NamedFile::MustExist)?),
        Command::Order(options) => order::run(session, options, &load(NamedFile::MustExist)?),
        Command::Source(options) => {
            let writes = matches!(options, source::SourceOptions::Add(_));
            let named = if writes { NamedFile::MayBeMissing } else { NamedFile::MustExist };
            source::run(session, options, &invocation.flags, &load(named)?)
        }
        Command::Token(options) => token::run(session, options, &load(NamedFile::MustExist)?),
        Command::ConfigShow { origin, json } => {
            config::show(&load(NamedFile::MustExist)?, &session.lang, *origin, *json)
        }
        Command::ConfigCheck => config::check(session, &load(NamedFile::MustExist)?),
        Command::Id { count } => {
            let mut out = String::new();
            id::push_ids(&mut out, *count, &SystemClock, &SystemEntropy);
            print(&out)
        }
        Command::Completions(shell) => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut args::command(&session.lang), "cola-ia", &mut out);
            print(&String::from_utf8_lossy(&out))
        }
        Command::Man(options) => man::run(session, options),
        Command::Help(words) => help(session, words),
    }
}

/// The long help of a command, as `COMMAND --help` prints it.
fn help(session: &Session, words: &[String]) -> Result<Exit, Problem> {
    let mut root = args::command(&session.lang);
    root.build();
    let mut command = &mut root;
    for word in words {
        let known: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        let Some(sub) = command.find_subcommand_mut(word) else {
            return Err(usage::unknown_command(&words.join(" "), known.iter().map(String::as_str)));
        };
        command = sub;
    }
    let text = command.render_long_help();
    print(&styled(&text, session.colour.stdout))
}

fn styled(text: &StyledStr, colour: bool) -> String {
    let text = if colour { text.ansi().to_string() } else { text.to_string() };
    if text.ends_with('\n') { text } else { text + "\n" }
}

fn colour(choice: ColourChoice, environment: &Environment) -> Colour {
    Colour::decide(choice, |name| environment.var(name), environment.terminals)
}

/// `--color` before the parser has run: help and usage mistakes are coloured too. A mistake in it is found later.
fn early_colour(args: &[OsString]) -> ColourChoice {
    let mut args = args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let word = if arg == "--color" { args.next() } else { arg.strip_prefix("--color=") };
        if let Some(choice) = word.and_then(ColourChoice::from_word) {
            return choice;
        }
    }
    ColourChoice::Auto
}

/// Writes data to stdout.
///
/// # Errors
/// It cannot be written; a reader that has gone away is told apart.
pub(crate) fn print(text: &str) -> Result<Exit, Problem> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Problem::stdout(&error))?;
    Ok(Exit::Done)
}
