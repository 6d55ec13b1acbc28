//! The command line: its shape, with every word of its help from the catalogue, and what a person asked for.
//!
//! The parser only splits; values are read here, so that each mistake is told in our words.

mod effect;
mod source;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{StyledStr, Styles};
use clap::{Arg, ArgAction, ArgMatches, Command as Clap, value_parser};
use clap_complete::Shell;
use cola_ia_core::age::{Edge, parse_age, parse_moment};
use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_core::cost::{cost_micros, exact_micros};
use cola_ia_core::effect::Micros;
use cola_ia_core::event::{EventId, Source};
use cola_ia_core::filter::{Filter, Key, is_code};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{JobState, LeaseToken};
use cola_ia_core::store::{CostsBy, Cursor, Decision, LEASES_MAX, Order, PageRequest};
use cola_ia_core::verdict::Verdict;

use super::Problem;
use super::add::{AddOptions, Input};
use super::backup::BackupOptions;
use super::budget::{BudgetAction, BudgetOptions};
use super::claim::ClaimOptions;
use super::complete::CompleteOptions;
use super::conflicts::{self, ConflictsOptions};
use super::costs::{self, BY_WORDS, CostsOptions};
use super::deliveries;
use super::doctor::DoctorOptions;
use super::effect::EffectCommandOptions;
use super::erase::EraseOptions;
use super::errors_list::{self, ErrorsOptions, Kind};
use super::export::ExportOptions;
use super::extend::ExtendOptions;
use super::fail::{FailOptions, not_before};
use super::filter::{self, Flag};
use super::holder::no_lease;
use super::import::ImportOptions;
use super::jobs::{self, JobsOptions};
use super::list::ListOptions;
use super::moving::MoveOptions;
use super::order::{OrderOptions, Whose};
use super::prune::PruneOptions;
use super::recover::RecoverOptions;
use super::release::ReleaseOptions;
use super::report::ReportOptions;
use super::resolve::ResolveOptions;
use super::restore::RestoreOptions;
use super::restored::{RestoredOptions, When};
use super::resume::ResumeOptions;
use super::serve::ServeOptions;
use super::show::ShowOptions;
use super::source::SourceOptions;
use super::stats::{self, StatsOptions};
use super::tail::TailOptions;
use super::token::TokenOptions;
use super::work::{JOBS_MAX, StdinForm, WorkOptions};
use crate::config::{self, Flags, nearest};
use crate::http::LogFormat;
use crate::lang::{Lang, Language, Message, verdict_word};
use crate::print::ColourChoice;

/// What a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What the flags say about settings.
    pub flags: Flags,
    /// `--color`.
    pub colour: ColourChoice,
    /// `--quiet`.
    pub quiet: bool,
    /// The command.
    pub command: Command,
}

/// A command and its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `init`
    Init,
    /// `add`
    Add(AddOptions),
    /// `backup`
    Backup(BackupOptions),
    /// `restore`
    Restore(RestoreOptions),
    /// `restored`
    Restored(RestoredOptions),
    /// `doctor`
    Doctor(DoctorOptions),
    /// `jobs`
    Jobs(JobsOptions),
    /// `show`
    Show(ShowOptions),
    /// `stats`
    Stats(StatsOptions),
    /// `costs`
    Costs(CostsOptions),
    /// `budget`
    Budget(BudgetOptions),
    /// `deliveries`
    Deliveries(ListOptions),
    /// `conflicts`
    Conflicts(ConflictsOptions),
    /// `errors`
    Errors(ErrorsOptions),
    /// `tail`
    Tail(TailOptions),
    /// `resolve`
    Resolve(ResolveOptions),
    /// `prune`
    Prune(PruneOptions),
    /// `erase`
    Erase(EraseOptions),
    /// `export`
    Export(ExportOptions),
    /// `import`
    Import(ImportOptions),
    /// `move`
    Move(MoveOptions),
    /// `effect`
    Effect(EffectCommandOptions),
    /// `claim`
    Claim(ClaimOptions),
    /// `extend`
    Extend(ExtendOptions),
    /// `complete`
    Complete(CompleteOptions),
    /// `fail`
    Fail(FailOptions),
    /// `release`
    Release(ReleaseOptions),
    /// `work`
    Work(WorkOptions),
    /// `recover`
    Recover(RecoverOptions),
    /// `serve`
    Serve(ServeOptions),
    /// `resume`
    Resume(ResumeOptions),
    /// `cancel`, `retry`, `replay`
    Order(OrderOptions),
    /// `source`
    Source(SourceOptions),
    /// `token`
    Token(TokenOptions),
    /// `config show`
    ConfigShow {
        /// `--origin`
        origin: bool,
        /// `--json`
        json: bool,
    },
    /// `config check`
    ConfigCheck,
    /// `id`
    Id {
        /// `-n`
        count: u32,
    },
    /// `completions`
    Completions(Shell),
    /// `man`
    Man(ManOptions),
    /// `help`
    Help(Vec<String>),
}

impl Command {
    /// The name of a command that works on this machine alone, and not with a server.
    pub(super) const fn only_here(&self) -> Option<&'static str> {
        match self {
            Self::Init => Some("init"),
            Self::Restore(_) => Some("restore"),
            Self::Move(_) => Some("move"),
            Self::Serve(_) => Some("serve"),
            _ => None,
        }
    }
}

/// What `man` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManOptions {
    /// One page to stdout: of this command, or of the program.
    Page(Vec<String>),
    /// All pages into this folder.
    Folder(PathBuf),
}

/// Items on a page where nothing else is said.
const PAGE_DEFAULT: u32 = 50;
/// The latest deliveries with which `tail` begins where nothing else is said.
const LATEST_DEFAULT: u32 = 10;
/// The most items on a page.
const PAGE_MAX: u32 = 1_000;
/// General options stand below those of the command, in one order everywhere.
const GENERAL_ORDER: usize = 900;
/// The longest wait for a job.
const WAIT_MAX: Duration = Duration::from_hours(7 * 24);
/// The most ids at once.
const IDS_MAX: u32 = 1_000_000;

/// The shape of the command line in the language of prose.
pub fn command(lang: &Lang) -> Clap {
    let make = Make { lang };
    let command = make
        .command("cola-ia", "cola-ia")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(make.global_options())
        .subcommand(make.command("init", "init"))
        .subcommand(make.add())
        .subcommand(make.jobs())
        .subcommand(make.show())
        .subcommand(make.stats())
        .subcommand(make.costs())
        .subcommand(make.budget())
        .subcommand(make.list("deliveries", &deliveries::KEYS))
        .subcommand(make.list("conflicts", &conflicts::KEYS).arg(make.flag("diff")))
        .subcommand(make.errors())
        .subcommand(make.tail())
        .subcommand(make.resolve())
        .subcommand(make.prune())
        .subcommand(make.erase())
        .subcommand(make.backup())
        .subcommand(make.restore())
        .subcommand(make.restored())
        .subcommand(make.doctor())
        .subcommand(make.serve())
        .subcommand(make.claim())
        .subcommand(make.extend())
        .subcommand(make.complete())
        .subcommand(make.fail())
        .subcommand(make.release())
        .subcommand(make.work())
        .subcommand(make.effect())
        .subcommand(make.recover())
        .subcommand(make.resume())
        .subcommand(make.order("cancel"))
        .subcommand(make.retry())
        .subcommand(make.order("replay"))
        .subcommand(make.export())
        .subcommand(make.import())
        .subcommand(make.move_store())
        .subcommand(make.source())
        .subcommand(make.token())
        .subcommand(make.config())
        .subcommand(make.command("id", "id").arg(make.option("count", "value-number").short('n')))
        .subcommand(
            make.command("completions", "completions").arg(make.positional("shell", "value-shell").required(true)),
        )
        .subcommand(make.man())
        .subcommand(make.command("help", "help").arg(make.positional("command", "value-command").num_args(0..)));
    make.with_help_and_version(command)
}

struct Make<'a> {
    lang: &'a Lang,
}

impl Make<'_> {
    fn t(&self, key: &str) -> String {
        self.lang.t(key, &[])
    }

    /// A command with its texts: `about-KEY`, `about-KEY-long`, `usage-KEY`, and if they exist `examples-KEY` and
    /// `exit-codes-KEY`.
    fn command(&self, name: &'static str, key: &str) -> Clap {
        let about = self.t(&format!("about-{key}"));
        let long_about = format!("{about}\n\n{}", paragraphs(&self.t(&format!("about-{key}-long"))));
        let mut command = Clap::new(name)
            .about(about)
            .long_about(long_about)
            .override_usage(self.t(&format!("usage-{key}")))
            .help_template(self.template())
            .styles(STYLES)
            .version(env!("CARGO_PKG_VERSION"))
            .disable_help_flag(true)
            .disable_version_flag(true)
            .disable_help_subcommand(true)
            .subcommand_help_heading(self.t("heading-commands"));
        let more = self.after_help(key);
        if !more.is_empty() {
            command = command.after_help(self.t("help-more")).after_long_help(StyledStr::from(more));
        }
        command
    }

    /// The two flags that every command has, after its own, so that its own head the help.
    fn with_help_and_version(&self, command: Clap) -> Clap {
        let general = |arg: Arg, at| arg.help_heading(self.t("heading-general")).display_order(GENERAL_ORDER + at);
        command
            .arg(general(self.flag("help").short('h').action(ArgAction::Help), 8))
            .arg(general(self.flag("version").short('V').action(ArgAction::Version), 9))
            .mut_subcommands(|sub| self.with_help_and_version(sub))
    }

    fn template(&self) -> StyledStr {
        format!("{{about-with-newline}}\n{} {{usage}}\n\n{{all-args}}{{after-help}}", heading(&self.t("heading-usage")))
            .into()
    }

    fn after_help(&self, key: &str) -> String {
        after_help_sections(self.lang, key)
            .into_iter()
            .map(|(title, body)| format!("{}\n{}", heading(&format!("{title}:")), indented(&body)))
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    fn global_options(&self) -> Vec<Arg> {
        let options = [
            self.option("db", "value-file"),
            self.option("server", "value-url"),
            self.option("config", "value-file"),
            self.option("lang", "value-lang"),
            self.option("color", "value-when"),
            self.flag("quiet").short('q'),
        ];
        let general = |(at, arg): (usize, Arg)| {
            arg.global(true).help_heading(self.t("heading-general")).display_order(GENERAL_ORDER + at)
        };
        options.into_iter().enumerate().map(general).collect()
    }

    fn flag(&self, name: &'static str) -> Arg {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(self.t(&format!("arg-{name}")))
            .help_heading(self.t("heading-options"))
    }

    /// An option that takes a value, named by the catalogue's `value` key.
    fn option(&self, name: &'static str, value: &str) -> Arg {
        Arg::new(name)
            .long(name)
            .action(ArgAction::Set)
            .value_parser(value_parser!(OsString))
            .value_name(self.t(value))
            .help(self.t(&format!("arg-{name}")))
            .help_heading(self.t("heading-options"))
    }

    fn positional(&self, name: &'static str, value: &str) -> Arg {
        Arg::new(name)
            .value_parser(value_parser!(OsString))
            .value_name(self.t(value))
            .help(self.t(&format!("arg-{name}")))
            .help_heading(self.t("heading-arguments"))
    }

    fn add(&self) -> Clap {
        self.command("add", "add")
            .arg(self.positional("inputs", "value-file").required(true).num_args(1..).action(ArgAction::Append))
            .arg(self.option("source", "value-source"))
            .arg(self.flag("json"))
            .arg(self.option("fail-on", "value-verdict"))
            .arg(self.option("rejects", "value-file"))
            .arg(self.flag("dry-run"))
            .arg(self.option("max-text-bytes", "value-size"))
            .arg(self.flag("no-progress"))
    }

    fn jobs(&self) -> Clap {
        self.command("jobs", "jobs")
            .args(self.filter(&jobs::KEYS))
            .arg(self.option("limit", "value-number"))
            .arg(self.option("after", "value-number"))
            .arg(self.flag("json"))
    }

    /// A list that is filtered by these keys and paged by place.
    fn list(&self, name: &'static str, taken: &[Key]) -> Clap {
        self.command(name, name)
            .args(self.filter(taken))
            .arg(self.option("limit", "value-number"))
            .arg(self.option("after", "value-place").help(self.t("arg-after-place")))
            .arg(self.flag("json"))
    }

    fn tail(&self) -> Clap {
        self.command("tail", "tail")
            .args(self.filter(&deliveries::KEYS))
            .arg(self.option("latest", "value-number").short('n'))
            .arg(self.flag("json"))
    }

    /// The flags of the keys that a list takes, and `--filter`.
    fn filter(&self, taken: &[Key]) -> Vec<Arg> {
        let mut args: Vec<Arg> = Vec::new();
        for key in taken {
            let value = match key {
                Key::Source => "value-source",
                Key::State => "value-state",
                Key::Verdict => "value-verdict",
                Key::Type => "value-type",
                Key::Since | Key::Until | Key::Undecided | Key::Reason => "value-moment",
            };
            match filter::flag_of(*key) {
                Flag::Values => args.push(self.option(key.as_str(), value).action(ArgAction::Append)),
                Flag::Yes => args.push(self.flag(key.as_str())),
                Flag::None => {}
            }
        }
        let of_source = |arg: Arg| {
            let help = self.t("arg-source-filter");
            if arg.get_id() == "source" { arg.help(help) } else { arg }
        };
        args.push(self.option("filter", "value-filter").action(ArgAction::Append));
        args.into_iter().map(of_source).collect()
    }

    fn show(&self) -> Clap {
        self.command("show", "show")
            .arg(self.positional("id", "value-id").required(true))
            .arg(self.option("source", "value-source").help(self.t("arg-source-only")))
            .arg(self.flag("json"))
    }

    fn backup(&self) -> Clap {
        self.command("backup", "backup")
            .arg(self.positional("to-file", "value-file").required(true))
            .arg(self.flag("json"))
            .arg(self.flag("no-progress").help(self.t("arg-no-progress-there")))
    }

    fn restore(&self) -> Clap {
        self.command("restore", "restore")
            .arg(self.positional("from-file", "value-file").required(true))
            .arg(self.flag("json"))
            .arg(self.flag("no-progress").help(self.t("arg-no-progress-there")))
    }

    fn serve(&self) -> Clap {
        self.command("serve", "serve")
            .arg(self.option("listen", "value-listen"))
            .arg(self.option("log-format", "value-log-format"))
    }

    fn restored(&self) -> Clap {
        self.command("restored", "restored")
            .arg(self.option("at", "value-instant"))
            .arg(self.flag("clear"))
            .arg(self.flag("json"))
    }

    fn doctor(&self) -> Clap {
        self.command("doctor", "doctor").arg(self.flag("quick")).arg(self.flag("json"))
    }

    fn export(&self) -> Clap {
        self.command("export", "export")
            .arg(self.positional("target", "value-file"))
            .arg(self.flag("no-progress").help(self.t("arg-no-bar")))
    }

    fn import(&self) -> Clap {
        self.command("import", "import")
            .arg(self.positional("export", "value-file").required(true))
            .arg(self.flag("json"))
            .arg(self.flag("no-progress").help(self.t("arg-no-bar")))
    }

    fn move_store(&self) -> Clap {
        self.command("move", "move")
            .arg(self.option("to", "value-store"))
            .arg(self.flag("undo"))
            .arg(self.flag("json").help(self.t("arg-move-json")))
    }

    fn resolve(&self) -> Clap {
        self.command("resolve", "resolve")
            .arg(self.positional("id", "value-id").required(true))
            .arg(self.option("source", "value-source").help(self.t("arg-source-filter")))
            .arg(self.option("conflict", "value-number").action(ArgAction::Append))
            .arg(self.flag("keep"))
            .arg(self.flag("accept"))
            .arg(self.flag("run"))
            .arg(self.option("as", "value-id"))
            .arg(self.option("note", "value-text"))
            .arg(self.flag("json"))
    }

    fn prune(&self) -> Clap {
        self.command("prune", "prune")
            .arg(self.option("older-than", "value-age"))
            .arg(self.flag("dry-run").help(self.t("arg-prune-dry-run")))
            .arg(self.flag("shrink"))
            .arg(self.flag("json"))
    }

    fn erase(&self) -> Clap {
        self.command("erase", "erase")
            .arg(self.positional("id", "value-id").required(true))
            .arg(self.option("source", "value-source").help(self.t("arg-source-filter")))
            .arg(self.flag("yes"))
            .arg(self.flag("json"))
    }

    fn errors(&self) -> Clap {
        self.list("errors", &errors_list::KEYS).arg(self.option("kind", "value-kind")).arg(self.flag("group"))
    }

    fn claim(&self) -> Clap {
        self.command("claim", "claim")
            .arg(self.option("source", "value-source").help(self.t("arg-source-only")))
            .arg(self.option("limit", "value-number").help(self.t("arg-claim-limit")))
            .arg(self.option("lease", "value-length"))
            .arg(self.option("wait", "value-length"))
            .arg(self.option("worker", "value-worker").allow_hyphen_values(true))
            .arg(self.option("text-file", "value-file").long("text"))
            .arg(self.flag("json"))
    }

    /// A lease, which may be left out where the environment has it.
    fn held(&self) -> Arg {
        self.positional("held", "value-lease")
    }

    fn extend(&self) -> Clap {
        self.command("extend", "extend")
            .arg(self.held().num_args(0..))
            .arg(self.option("lease", "value-length"))
            .arg(self.flag("json"))
    }

    /// What is kept of an attempt.
    fn report(&self, command: Clap) -> Clap {
        command
            .arg(self.option("result", "value-file"))
            .arg(self.option("cost", "value-cost"))
            .arg(self.option("tokens-in", "value-number"))
            .arg(self.option("tokens-out", "value-number"))
            .arg(self.option("model", "value-text"))
    }

    fn complete(&self) -> Clap {
        let command = self
            .command("complete", "complete")
            .arg(self.held())
            .arg(self.option("resource-id", "value-text").allow_hyphen_values(true));
        self.report(command).arg(self.option("result-text", "value-file")).arg(self.flag("json"))
    }

    fn fail(&self) -> Clap {
        let command = self
            .command("fail", "fail")
            .arg(self.held())
            // A program's last words may start with anything.
            .arg(self.option("error", "value-text").allow_hyphen_values(true))
            .arg(self.option("stderr", "value-file"))
            .arg(self.option("class", "value-code"))
            .arg(self.flag("permanent"))
            .arg(self.option("retry-after", "value-retry-after").allow_negative_numbers(true))
            .arg(self.option("max-attempts", "value-number"));
        self.report(command).arg(self.flag("json"))
    }

    fn work(&self) -> Clap {
        let command = self
            .command("work", "work")
            .arg(self.positional("exec", "value-exec").required(true).num_args(1..).last(true))
            .arg(self.option("jobs", "value-number").short('j'))
            .arg(self.option("timeout", "value-length"))
            .arg(self.option("lease", "value-length").help(self.t("arg-lease-work")))
            .arg(self.flag("drain"))
            .arg(self.option("source", "value-source").help(self.t("arg-source-only")));
        self.with_effect(command)
            .arg(self.option("max-attempts", "value-number"))
            .arg(self.option("stdin", "value-stdin"))
            .arg(self.option("grace", "value-length"))
            .arg(self.flag("show-output"))
            .arg(self.flag("json"))
            .arg(self.flag("no-progress").help(self.t("arg-no-bar")))
    }

    fn release(&self) -> Clap {
        self.command("release", "release")
            .arg(self.held())
            .arg(self.option("retry-after", "value-retry-after").allow_negative_numbers(true))
            .arg(self.flag("json"))
    }

    fn recover(&self) -> Clap {
        self.command("recover", "recover")
            .arg(self.flag("dry-run").help(self.t("arg-order-dry-run")))
            .arg(self.flag("json"))
    }

    fn resume(&self) -> Clap {
        self.command("resume", "resume")
            .arg(self.positional("of-source", "value-of-source"))
            .arg(self.option("source", "value-source").help(self.t("arg-source-same")))
            .arg(self.flag("json"))
    }

    fn order(&self, name: &'static str) -> Clap {
        self.command(name, name)
            .arg(self.positional("id", "value-id").required(true))
            .arg(self.option("source", "value-source").help(self.t("arg-source-only")))
            .arg(self.flag("json"))
    }

    fn retry(&self) -> Clap {
        self.command("retry", "retry")
            .arg(self.positional("id", "value-id"))
            .args(self.filter(&jobs::KEYS))
            .arg(self.flag("dry-run").help(self.t("arg-order-dry-run")))
            .arg(self.flag("json"))
    }

    fn stats(&self) -> Clap {
        self.command("stats", "stats").args(self.filter(&stats::KEYS)).arg(self.flag("json"))
    }

    fn costs(&self) -> Clap {
        self.command("costs", "costs")
            .arg(self.option("by", "value-by"))
            .args(self.filter(&costs::KEYS))
            .mut_arg("since", |arg| arg.help(self.t("arg-costs-since")))
            .mut_arg("until", |arg| arg.help(self.t("arg-costs-until")))
            .arg(self.flag("json"))
    }

    fn budget(&self) -> Clap {
        let source = || self.positional("of-source", "value-of-source").required(true);
        self.command("budget", "budget")
            .arg(self.flag("json"))
            .subcommand(self.command("list", "budget-list").arg(self.flag("json")))
            .subcommand(
                self.command("set", "budget-set")
                    .arg(source())
                    .arg(self.positional("amount", "value-cost").required(true))
                    .arg(self.flag("json")),
            )
            .subcommand(self.command("remove", "budget-remove").arg(source()).arg(self.flag("json")))
            .subcommand(
                self.command("currency", "budget-currency")
                    .arg(self.positional("currency", "value-currency"))
                    .arg(self.flag("json")),
            )
    }

    fn config(&self) -> Clap {
        self.command("config", "config")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(self.command("show", "config-show").arg(self.flag("origin")).arg(self.flag("json")))
            .subcommand(self.command("check", "config-check"))
    }

    fn man(&self) -> Clap {
        self.command("man", "man")
            .arg(self.positional("command", "value-command").num_args(0..))
            .arg(self.option("dir", "value-folder"))
    }
}

/// Bold heads, plain everything else.
const STYLES: Styles = Styles::plain()
    .header(clap::builder::styling::Style::new().bold())
    .usage(clap::builder::styling::Style::new().bold())
    .literal(clap::builder::styling::Style::new().bold());

/// Each paragraph on a line: how wide it is shown is not the catalogue's affair.
pub(super) fn paragraphs(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

fn heading(text: &str) -> String {
    format!("\u{1b}[1m{text}\u{1b}[0m")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("  {line}") })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The sections that follow a command's options: title and body.
pub(super) fn after_help_sections(lang: &Lang, key: &str) -> Vec<(String, String)> {
    [("heading-examples", "examples"), ("heading-exit-codes", "exit-codes")]
        .into_iter()
        .map(|(title, family)| (title, format!("{family}-{key}")))
        .filter(|(_, key)| lang.has(key))
        .map(|(title, key)| (lang.t(title, &[]), lang.t(&key, &[])))
        .collect()
}

/// What the parser made of the arguments.
pub enum Parsed {
    /// A command to run.
    Run(Box<Invocation>),
    /// A text to print on stdout: help or version.
    Print(StyledStr),
    /// Nothing was asked for: help, as an error.
    Help(StyledStr),
}

/// Reads the arguments; the first is the program's name.
///
/// # Errors
/// A usage mistake, told with what to do about it.
pub fn parse(lang: &Lang, args: &[OsString]) -> Result<Parsed, Problem> {
    use clap::error::ErrorKind as K;
    let mut command = command(lang);
    match command.try_get_matches_from_mut(args) {
        Ok(matches) => read(&matches).map(|invocation| Parsed::Run(Box::new(invocation))),
        Err(error) if error.kind() == K::DisplayHelp => Ok(Parsed::Print(error.render())),
        Err(error) if error.kind() == K::DisplayVersion => {
            Ok(Parsed::Print(format!("cola-ia {}\n", env!("CARGO_PKG_VERSION")).into()))
        }
        Err(error) if error.kind() == K::DisplayHelpOnMissingArgumentOrSubcommand => Ok(Parsed::Help(error.render())),
        // General options alone ask for nothing either.
        Err(error) if error.kind() == K::MissingSubcommand => {
            let innermost = super::usage::chain(&command, args).pop().cloned();
            Ok(Parsed::Help(innermost.unwrap_or(command).render_help()))
        }
        Err(error) => Err(super::usage::explain(&error, &command, args)),
    }
}

#[expect(clippy::too_many_lines, reason = "an arm a command")]
fn read(matches: &ArgMatches) -> Result<Invocation, Problem> {
    let mut flags = Flags { config: path(matches, "config"), settings: Vec::new() };
    for name in ["db", "server"] {
        flags.settings.extend(os(matches, name).map(|value| (name, value.to_owned())));
    }
    let colour = match text(matches, "color")? {
        Some(word) => {
            ColourChoice::from_word(word).ok_or_else(|| unknown_word("--color", word, &ColourChoice::WORDS))?
        }
        None => ColourChoice::default(),
    };
    let (name, matches) = matches.subcommand().unwrap_or(("help", matches));
    let command = match name {
        "init" => Command::Init,
        "add" => {
            flags.settings.extend(os(matches, "max-text-bytes").map(|value| ("max-text-bytes", value.to_owned())));
            Command::Add(read_add(matches)?)
        }
        "serve" => {
            flags.settings.extend(os(matches, "listen").map(|value| ("listen", value.to_owned())));
            Command::Serve(ServeOptions { log: read_log_format(matches)? })
        }
        "backup" => Command::Backup(BackupOptions {
            to: regular_path(matches, "to-file")?,
            json: matches.get_flag("json"),
            progress: !matches.get_flag("no-progress"),
        }),
        "restore" => Command::Restore(RestoreOptions {
            from: regular_path(matches, "from-file")?,
            json: matches.get_flag("json"),
            progress: !matches.get_flag("no-progress"),
        }),
        "restored" => Command::Restored(read_restored(matches)?),
        "doctor" => Command::Doctor(DoctorOptions { quick: matches.get_flag("quick"), json: matches.get_flag("json") }),
        "jobs" => Command::Jobs(read_jobs(matches)?),
        "show" => Command::Show(read_show(matches)?),
        "export" => Command::Export(ExportOptions {
            file: path(matches, "target").filter(|path| path.as_os_str() != "-"),
            progress: !matches.get_flag("no-progress"),
        }),
        "import" => Command::Import(ImportOptions {
            input: match path(matches, "export") {
                Some(path) if path.as_os_str() != "-" => Input::File(path),
                _ => Input::Stdin,
            },
            json: matches.get_flag("json"),
            progress: !matches.get_flag("no-progress"),
        }),
        "move" => Command::Move(read_move(matches)?),
        "stats" => Command::Stats(read_stats(matches)?),
        "costs" => Command::Costs(read_costs(matches)?),
        "budget" => Command::Budget(read_budget(matches)?),
        "deliveries" => Command::Deliveries(read_list(matches, deliveries_filter(matches)?)?),
        "conflicts" => Command::Conflicts(ConflictsOptions {
            list: read_list(matches, filter::read(matches, &conflicts::KEYS, SystemClock.now())?)?,
            diff: matches.get_flag("diff"),
        }),
        "errors" => Command::Errors(read_errors(matches)?),
        "tail" => Command::Tail(read_tail(matches)?),
        "resolve" => Command::Resolve(read_resolve(matches)?),
        "prune" => Command::Prune(read_prune(matches)?),
        "erase" => Command::Erase(EraseOptions {
            id: text(matches, "id")?.unwrap_or_default().to_owned(),
            source: source(matches)?,
            yes: matches.get_flag("yes"),
            json: matches.get_flag("json"),
        }),
        "effect" => Command::Effect(effect::read(matches)?),
        "claim" => {
            flags.settings.extend(os(matches, "lease").map(|value| ("lease", value.to_owned())));
            Command::Claim(read_claim(matches)?)
        }
        "extend" => {
            flags.settings.extend(os(matches, "lease").map(|value| ("lease", value.to_owned())));
            Command::Extend(ExtendOptions { leases: leases(matches)?, json: matches.get_flag("json") })
        }
        "complete" => Command::Complete(read_complete(matches)?),
        "fail" => {
            flags.settings.extend(os(matches, "max-attempts").map(|value| ("max-attempts", value.to_owned())));
            Command::Fail(read_fail(matches)?)
        }
        "work" => {
            for flag in ["lease", "max-attempts", "timeout", "grace"] {
                flags.settings.extend(os(matches, flag).map(|value| (flag, value.to_owned())));
            }
            Command::Work(read_work(matches)?)
        }
        "release" => Command::Release(ReleaseOptions {
            lease: leases(matches)?.pop(),
            not_before: text(matches, "retry-after")?.map(|told| not_before("--retry-after", told)).transpose()?,
            json: matches.get_flag("json"),
        }),
        "recover" => {
            Command::Recover(RecoverOptions { dry_run: matches.get_flag("dry-run"), json: matches.get_flag("json") })
        }
        "resume" => Command::Resume(read_resume(matches)?),
        "cancel" => Command::Order(read_order(matches, Order::Cancel)?),
        "replay" => Command::Order(read_order(matches, Order::Replay)?),
        "retry" => Command::Order(read_retry(matches)?),
        "source" => Command::Source(source::read_source(matches)?),
        "token" => Command::Token(source::read_token(matches)?),
        "config" => match matches.subcommand() {
            Some(("show", matches)) => {
                Command::ConfigShow { origin: matches.get_flag("origin"), json: matches.get_flag("json") }
            }
            _ => Command::ConfigCheck,
        },
        "id" => Command::Id { count: number(matches, "count", u64::from(IDS_MAX))?.map_or(1, |count| count as u32) },
        "completions" => Command::Completions(read_shell(matches)?),
        "man" => match path(matches, "dir") {
            Some(folder) if !matches.contains_id("command") => Command::Man(ManOptions::Folder(folder)),
            Some(_) => return Err(Problem::usage(Message::new("usage-man-both"))),
            None => Command::Man(ManOptions::Page(words(matches, "command"))),
        },
        _ => Command::Help(words(matches, "command")),
    };
    Ok(Invocation { flags, colour, quiet: matches.get_flag("quiet"), command })
}

fn read_log_format(matches: &ArgMatches) -> Result<LogFormat, Problem> {
    match text(matches, "log-format")? {
        None | Some("json") => Ok(LogFormat::Json),
        Some("text") => Ok(LogFormat::Text),
        Some(other) => {
            let message = Message::new("usage-log-format").with("value", other);
            Err(Problem::usage(message).hint(Message::new("usage-log-format-hint")))
        }
    }
}

fn read_add(matches: &ArgMatches) -> Result<AddOptions, Problem> {
    let inputs: Vec<Input> = matches
        .get_many::<OsString>("inputs")
        .into_iter()
        .flatten()
        .map(|name| if name == "-" { Input::Stdin } else { Input::File(name.into()) })
        .collect();
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Problem::usage(Message::new("usage-stdin-twice")));
    }
    let rejects = path(matches, "rejects");
    if let Some(rejects) = &rejects
        && inputs.contains(&Input::File(rejects.clone()))
    {
        return Err(Problem::usage(Message::new("usage-rejects-is-input").with("path", rejects.display())));
    }
    let fail_on_conflict = match text(matches, "fail-on")? {
        Some(word) if Language::ALL.iter().any(|language| verdict_word(*language, Verdict::Conflict) == word) => true,
        Some(word) => return Err(unknown_word("--fail-on", word, &[Verdict::Conflict.as_str()])),
        None => false,
    };
    Ok(AddOptions {
        inputs,
        source: source(matches)?,
        json: matches.get_flag("json"),
        fail_on_conflict,
        rejects,
        dry_run: matches.get_flag("dry-run"),
        progress: !matches.get_flag("no-progress"),
    })
}

fn read_work(matches: &ArgMatches) -> Result<WorkOptions, Problem> {
    let stdin = match text(matches, "stdin")? {
        Some(word) => StdinForm::from_word(word).ok_or_else(|| unknown_word("--stdin", word, &StdinForm::WORDS))?,
        None => StdinForm::default(),
    };
    let mut command = matches.get_many::<OsString>("exec").into_iter().flatten().cloned();
    let program = command.next().unwrap_or_default();
    Ok(WorkOptions {
        program,
        args: command.collect(),
        jobs: number(matches, "jobs", u64::from(JOBS_MAX))?.map_or(1, |jobs| jobs as u32),
        source: source(matches)?,
        effect: effect::read_of_work(matches)?,
        drain: matches.get_flag("drain"),
        stdin,
        show_output: matches.get_flag("show-output"),
        json: matches.get_flag("json"),
        progress: !matches.get_flag("no-progress"),
    })
}

fn read_jobs(matches: &ArgMatches) -> Result<JobsOptions, Problem> {
    let filter = filter::read(matches, &jobs::KEYS, SystemClock.now())?;
    let limit = number(matches, "limit", u64::from(PAGE_MAX))?.map_or(PAGE_DEFAULT, |limit| limit as u32);
    let below = number(matches, "after", i64::MAX as u64)?.map(|number| EventNumber(number as i64));
    Ok(JobsOptions { filter, page: PageRequest { below, limit }, json: matches.get_flag("json") })
}

fn deliveries_filter(matches: &ArgMatches) -> Result<Filter, Problem> {
    filter::read_with_codes(matches, &deliveries::KEYS, SystemClock.now())
}

fn read_list(matches: &ArgMatches, filter: Filter) -> Result<ListOptions, Problem> {
    Ok(ListOptions {
        filter,
        after: text(matches, "after")?.map(|place| Cursor(place.to_owned())),
        limit: number(matches, "limit", u64::from(PAGE_MAX))?.map_or(PAGE_DEFAULT, |limit| limit as u32),
        json: matches.get_flag("json"),
    })
}

/// To another place, or not after all.
fn read_move(matches: &ArgMatches) -> Result<MoveOptions, Problem> {
    let to = matches.get_one::<OsString>("to");
    if to.is_some() == matches.get_flag("undo") {
        return Err(Problem::usage(Message::new("usage-move-where")).hint(Message::new("usage-see-help")));
    }
    let to = to.map(|text| config::db(text)).transpose()?;
    Ok(MoveOptions { to, json: matches.get_flag("json") })
}

fn read_restored(matches: &ArgMatches) -> Result<RestoredOptions, Problem> {
    let when = match (text(matches, "at")?, matches.get_flag("clear")) {
        (Some("now"), false) => When::Now,
        (Some(word), false) => When::At(parse_moment(word, Edge::Start, SystemClock.now()).ok_or_else(|| {
            Problem::usage(Message::new("usage-not-an-instant").with("option", "--at").with("value", word))
        })?),
        (None, true) => When::Cleared,
        _ => return Err(Problem::usage(Message::new("usage-restored-what"))),
    };
    Ok(RestoredOptions { when, json: matches.get_flag("json") })
}

fn read_errors(matches: &ArgMatches) -> Result<ErrorsOptions, Problem> {
    let kind = match text(matches, "kind")? {
        Some(word) => {
            let known = Language::ALL.map(|language| Kind::ALL.map(|kind| kind.word(language))).concat();
            Some(Kind::from_word(word).ok_or_else(|| unknown_word("--kind", word, &known))?)
        }
        None => None,
    };
    let read = if kind == Some(Kind::Intake) { filter::read_with_codes } else { filter::read };
    let filter = read(matches, &errors_list::KEYS, SystemClock.now())?;
    let (list, group) = (read_list(matches, filter)?, matches.get_flag("group"));
    if group && list.after.is_some() {
        return Err(Problem::usage(Message::new("usage-group-after")));
    }
    Ok(ErrorsOptions { list, kind, group })
}

fn read_tail(matches: &ArgMatches) -> Result<TailOptions, Problem> {
    let latest = match text(matches, "latest")? {
        Some("0") => 0,
        _ => number(matches, "latest", u64::from(PAGE_MAX))?.map_or(LATEST_DEFAULT, |count| count as u32),
    };
    Ok(TailOptions { filter: deliveries_filter(matches)?, latest, json: matches.get_flag("json") })
}

fn read_show(matches: &ArgMatches) -> Result<ShowOptions, Problem> {
    let id = text(matches, "id")?.unwrap_or_default().to_owned();
    Ok(ShowOptions { id, source: source(matches)?, json: matches.get_flag("json") })
}

fn read_resolve(matches: &ArgMatches) -> Result<ResolveOptions, Problem> {
    let mut conflicts = Vec::new();
    for word in matches.get_many::<OsString>("conflict").into_iter().flatten() {
        let word = utf8("--conflict", word)?;
        conflicts.push(in_range("conflict", word, u64::from(u32::MAX))? as u32);
    }
    let run = matches.get_flag("run");
    let other = text(matches, "as")?;
    let decision = match (matches.get_flag("keep"), matches.get_flag("accept"), other) {
        (true, false, None) => Decision::Keep,
        (false, true, None) => Decision::Accept { run },
        (false, false, Some(other)) => Decision::As(EventId::new(other).map_err(|code| {
            let fault = Message::new(format!("refusal-{}", code.as_str()));
            Problem::usage(Message::new("setting-value").with("place", "--as").message("fault", fault))
        })?),
        (false, false, None) => {
            return Err(Problem::usage(Message::new("usage-resolve-how")).hint(Message::new("usage-resolve-how-hint")));
        }
        _ => return Err(Problem::usage(Message::new("usage-resolve-one"))),
    };
    if run && !matches!(decision, Decision::Accept { .. }) {
        return Err(Problem::usage(Message::new("usage-resolve-run")));
    }
    if matches!(decision, Decision::As(_)) && conflicts.len() > 1 {
        return Err(Problem::usage(Message::new("usage-resolve-as-one")));
    }
    Ok(ResolveOptions {
        id: text(matches, "id")?.unwrap_or_default().to_owned(),
        source: source(matches)?,
        conflicts,
        decision,
        note: text(matches, "note")?.map(str::to_owned),
        json: matches.get_flag("json"),
    })
}

fn read_prune(matches: &ArgMatches) -> Result<PruneOptions, Problem> {
    let older_than = match text(matches, "older-than")? {
        None => None,
        Some(word) => Some(parse_age(word).ok_or_else(|| {
            let fault = Message::new("fault-not-age").with("value", word);
            Problem::usage(Message::new("setting-value").with("place", "--older-than").message("fault", fault))
                .hint(Message::new("fault-not-age-hint"))
        })?),
    };
    let (dry_run, shrink) = (matches.get_flag("dry-run"), matches.get_flag("shrink"));
    if dry_run && shrink {
        return Err(Problem::usage(Message::new("usage-prune-shrink")));
    }
    Ok(PruneOptions { older_than, dry_run, shrink, json: matches.get_flag("json") })
}

fn read_claim(matches: &ArgMatches) -> Result<ClaimOptions, Problem> {
    let limit = number(matches, "limit", LEASES_MAX as u64)?.map_or(1, |limit| limit as u32);
    let text_file = path(matches, "text-file");
    if text_file.is_some() && (limit > 1 || matches.get_flag("json")) {
        return Err(Problem::usage(Message::new("usage-claim-text")));
    }
    if text_file.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Problem::usage(Message::new("usage-claim-text-pipe")));
    }
    let length = config::Kind::Duration { min: Duration::ZERO, max: WAIT_MAX };
    let wait = os(matches, "wait").map(|text| length.parse_flag("--wait", text)).transpose()?;
    Ok(ClaimOptions {
        source: source(matches)?,
        limit,
        worker: text(matches, "worker")?.filter(|name| !name.is_empty()).map(str::to_owned),
        wait: wait.and_then(|wait| wait.as_duration()).unwrap_or_default(),
        text: text_file,
        json: matches.get_flag("json"),
    })
}

fn leases(matches: &ArgMatches) -> Result<Vec<LeaseToken>, Problem> {
    let mut leases = Vec::new();
    for word in matches.get_many::<OsString>("held").into_iter().flatten() {
        let word = utf8("LEASE", word)?;
        leases.push(LeaseToken::parse(word).ok_or_else(|| no_lease(word))?);
    }
    if leases.len() > LEASES_MAX {
        return Err(Problem::usage(Message::new("usage-too-many-leases").number("limit", LEASES_MAX as u64)));
    }
    Ok(leases)
}

fn input(path: PathBuf) -> Input {
    if path.as_os_str() == "-" { Input::Stdin } else { Input::File(path) }
}

fn read_report(matches: &ArgMatches) -> Result<ReportOptions, Problem> {
    let cost = text(matches, "cost")?
        .map(|word| {
            cost_micros(word).ok_or_else(|| {
                Problem::usage(Message::new("usage-not-a-cost").with("option", "--cost").with("value", word))
            })
        })
        .transpose()?;
    Ok(ReportOptions {
        result: path(matches, "result").map(input),
        cost_micros: cost,
        tokens_in: tokens(matches, "tokens-in")?,
        tokens_out: tokens(matches, "tokens-out")?,
        model: text(matches, "model")?.map(str::to_owned),
    })
}

fn read_complete(matches: &ArgMatches) -> Result<CompleteOptions, Problem> {
    let (result_text, report) = (path(matches, "result-text").map(input), read_report(matches)?);
    if result_text == Some(Input::Stdin) && report.result == Some(Input::Stdin) {
        return Err(Problem::usage(Message::new("usage-stdin-twice")));
    }
    Ok(CompleteOptions {
        lease: leases(matches)?.pop(),
        resource_id: text(matches, "resource-id")?.map(str::to_owned),
        result_text,
        report,
        json: matches.get_flag("json"),
    })
}

fn tokens(matches: &ArgMatches, name: &'static str) -> Result<Option<i64>, Problem> {
    match text(matches, name)? {
        Some("0") => Ok(Some(0)),
        _ => Ok(number(matches, name, i64::MAX as u64)?.map(|count| count as i64)),
    }
}

fn read_fail(matches: &ArgMatches) -> Result<FailOptions, Problem> {
    let class = text(matches, "class")?.map(str::to_owned);
    if let Some(class) = class.as_deref().filter(|class| !is_code(class)) {
        return Err(Problem::usage(Message::new("usage-unknown-word").with("option", "--class").with("value", class))
            .hint(Message::new("usage-class-hint")));
    }
    let permanent = matches.get_flag("permanent");
    let told = text(matches, "retry-after")?.map(|told| not_before("--retry-after", told)).transpose()?;
    if permanent && told.is_some() {
        return Err(Problem::usage(Message::new("usage-permanent-later")));
    }
    let (stderr, report) = (path(matches, "stderr").map(input), read_report(matches)?);
    if stderr == Some(Input::Stdin) && report.result == Some(Input::Stdin) {
        return Err(Problem::usage(Message::new("usage-stdin-twice")));
    }
    Ok(FailOptions {
        lease: leases(matches)?.pop(),
        class,
        stderr,
        // A program's last words may be anything: what is no UTF-8 of them must not keep the failure from being recorded.
        error: os(matches, "error").map(|error| error.to_string_lossy().into_owned()),
        permanent,
        not_before: told,
        report,
        json: matches.get_flag("json"),
    })
}

fn read_resume(matches: &ArgMatches) -> Result<ResumeOptions, Problem> {
    let source = match (text(matches, "of-source")?, source(matches)?) {
        (Some(name), None) => source_named("SOURCE", name)?,
        (None, Some(source)) => source,
        (None, None) => {
            return Err(Problem::usage(
                Message::new("usage-missing").message("argument", Message::new("value-of-source")),
            )
            .hint(Message::new("usage-resume-what")));
        }
        (Some(_), Some(_)) => return Err(Problem::usage(Message::new("usage-resume-one"))),
    };
    Ok(ResumeOptions { source, json: matches.get_flag("json") })
}

fn read_order(matches: &ArgMatches, order: Order) -> Result<OrderOptions, Problem> {
    let id = text(matches, "id")?.unwrap_or_default().to_owned();
    let whose = Whose::One { id, source: source(matches)? };
    Ok(OrderOptions { order, whose, dry_run: false, json: matches.get_flag("json") })
}

fn read_retry(matches: &ArgMatches) -> Result<OrderOptions, Problem> {
    let mut filter = filter::read(matches, &jobs::KEYS, SystemClock.now())?;
    let whose = match text(matches, "id")? {
        Some(id) => {
            let source = filter.sources.pop();
            if !filter.is_empty() {
                return Err(Problem::usage(Message::new("usage-retry-both")));
            }
            Whose::One { id: id.to_owned(), source }
        }
        // A filter that says nothing is a script's empty variable sooner than a wish for everything.
        None if filter.is_empty() => {
            return Err(Problem::usage(Message::new("usage-retry-what")).hint(Message::new("usage-retry-what-hint")));
        }
        None => {
            if filter.states.is_empty() {
                filter.states.push(JobState::Failed);
            }
            Whose::All(filter)
        }
    };
    let (dry_run, json) = (matches.get_flag("dry-run"), matches.get_flag("json"));
    Ok(OrderOptions { order: Order::Retry, whose, dry_run, json })
}

fn read_stats(matches: &ArgMatches) -> Result<StatsOptions, Problem> {
    let now = SystemClock.now();
    let filter = stats::with_start(filter::read(matches, &stats::KEYS, now)?, now);
    Ok(StatsOptions { filter, json: matches.get_flag("json") })
}

fn read_costs(matches: &ArgMatches) -> Result<CostsOptions, Problem> {
    let by = match text(matches, "by")? {
        None => CostsBy::Source,
        Some(word) => {
            let known = BY_WORDS.iter().find(|(english, spanish, _)| word == *english || word == *spanish);
            let words: Vec<&str> = BY_WORDS.iter().flat_map(|(english, spanish, _)| [*english, *spanish]).collect();
            known.map(|(.., by)| *by).ok_or_else(|| unknown_word("--by", word, &words))?
        }
    };
    let filter = filter::read(matches, &costs::KEYS, SystemClock.now())?;
    Ok(CostsOptions { request: costs::request(filter, by), json: matches.get_flag("json") })
}

fn read_budget(matches: &ArgMatches) -> Result<BudgetOptions, Problem> {
    let json = matches.get_flag("json");
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(BudgetOptions { action: BudgetAction::List, json });
    };
    let source = || source_named("SOURCE", text(matches, "of-source")?.unwrap_or_default());
    let action = match name {
        "set" => {
            let word = text(matches, "amount")?.unwrap_or_default();
            let amount = exact_micros(word).and_then(Micros::new).ok_or_else(|| {
                Problem::usage(Message::new("usage-not-an-amount").with("value", word))
                    .hint(Message::new("usage-amount-hint"))
            })?;
            BudgetAction::Set(source()?, amount)
        }
        "remove" => BudgetAction::Remove(source()?),
        "currency" => BudgetAction::Currency(text(matches, "currency")?.map(str::to_ascii_uppercase)),
        _ => BudgetAction::List,
    };
    Ok(BudgetOptions { action, json: json || matches.get_flag("json") })
}

fn read_shell(matches: &ArgMatches) -> Result<Shell, Problem> {
    const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
    let word = text(matches, "shell")?.unwrap_or_default();
    word.parse().map_err(|_| unknown_word("SHELL", word, &SHELLS))
}

fn source(matches: &ArgMatches) -> Result<Option<Source>, Problem> {
    text(matches, "source")?.map(|name| source_named("--source", name)).transpose()
}

fn source_named(place: &str, name: &str) -> Result<Source, Problem> {
    Source::new(name).map_err(|_| {
        let fault = Message::new("fault-source").with("value", name);
        Problem::usage(Message::new("setting-value").with("place", place).message("fault", fault))
            .hint(Message::new("fault-source-hint"))
    })
}

/// A whole number from 1 to `max`.
fn number(matches: &ArgMatches, name: &'static str, max: u64) -> Result<Option<u64>, Problem> {
    text(matches, name)?.map(|word| in_range(name, word, max)).transpose()
}

fn in_range(name: &str, word: &str, max: u64) -> Result<u64, Problem> {
    match word.parse::<u64>() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => Err(Problem::usage(
            Message::new("usage-not-a-number").with("option", format!("--{name}")).with("value", word).with("max", max),
        )),
    }
}

fn os<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a OsStr> {
    matches.get_one::<OsString>(name).map(OsString::as_os_str)
}

fn path(matches: &ArgMatches, name: &str) -> Option<PathBuf> {
    os(matches, name).map(PathBuf::from)
}

/// A path that is no pipe: elsewhere `-` is stdin.
fn regular_path(matches: &ArgMatches, name: &str) -> Result<PathBuf, Problem> {
    match path(matches, name).unwrap_or_default() {
        path if path.as_os_str() == "-" => Err(Problem::usage(Message::new("usage-backup-pipe"))),
        path => Ok(path),
    }
}

fn text<'a>(matches: &'a ArgMatches, name: &'static str) -> Result<Option<&'a str>, Problem> {
    os(matches, name).map(|value| utf8(name, value)).transpose()
}

fn words(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many::<OsString>(name).into_iter().flatten().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn utf8<'a>(name: &str, value: &'a OsStr) -> Result<&'a str, Problem> {
    value.to_str().ok_or_else(|| {
        let message = Message::new("usage-not-utf8").with("option", name).with("value", value.to_string_lossy());
        Problem::usage(message)
    })
}

fn unknown_word(option: &str, word: &str, known: &[&str]) -> Problem {
    let problem = Problem::usage(Message::new("usage-unknown-word").with("option", option).with("value", word))
        .hint(Message::new("usage-known-words").with("known", known.join(", ")));
    match nearest(word, known.iter().copied()) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem,
    }
}
