//! Settings: flags, then the environment, then `cola-ia.toml`, then defaults.
//!
//! One [table](SETTINGS) describes every setting; reading, `config show`, the file that `init` writes and the help come
//! from it. Nothing here knows what the settings are for.

mod db;
mod environment;
mod file;
mod nearest;
mod prices;
mod redact;
mod schedules;
mod secrets;
mod server;
mod sources;
mod table;
mod tables;
mod value;
mod write;

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cola_ia_core::event::Source;
use cola_ia_core::job::RetryPolicy;
use cola_ia_core::limits::{LINE_MAX_BYTES_CEILING, LINE_MAX_BYTES_DEFAULT};
use cola_ia_core::price::Prices;
use cola_ia_store::postgres::Address;

pub use db::Db;
pub use environment::Environment;
pub use file::{CONFIG_VAR, DEFAULT_FILE, check_text};
pub use nearest::nearest;
pub use prices::PriceLine;
pub use redact::redact_url;
pub use schedules::ScheduleConfig;
pub use secrets::SecretPlace;
pub use server::{FoundToken, Secret, Server, ServerUrl, TokenFault, is_token, read_token};
pub use sources::{FormConfig, Opened, Rate, SourceConfig};
pub use table::{Kind, RESERVED_VARS, SETTINGS, Setting};
pub use tables::TableLine;
pub use value::Value;
pub use write::{commented_file, pasteable_line, push_comment as comment, size, toml_literal};

use crate::cli::Problem;
use crate::lang::Message;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag, without its dashes.
    Flag(&'static str),
    /// A variable.
    Environment(&'static str),
    /// A file, as it was named, and the line from 1.
    File(PathBuf, usize),
    /// Nobody said anything.
    Default,
}

impl Origin {
    /// How far from the command it was said.
    const fn distance(&self) -> u8 {
        match self {
            Self::Flag(_) => 0,
            Self::Environment(_) => 1,
            Self::File(..) => 2,
            Self::Default => 3,
        }
    }
}

/// A setting, its value and where that came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Which.
    pub setting: &'static Setting,
    /// The value in force.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// All settings, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the store is.
    pub db: Db,
    /// Most connections to a database.
    pub db_connections: u32,
    /// The server that is worked with in place of that file.
    pub server: Option<Server>,
    /// The source of events that name none.
    pub default_source: Source,
    /// Longest text.
    pub max_text_bytes: usize,
    /// Longest line.
    pub max_line_bytes: usize,
    /// How long to wait for a store that another process is writing.
    pub lock_wait: Duration,
    /// Whether a store on a network filesystem is opened all the same.
    pub allow_network_filesystem: bool,
    /// How long a lease lasts that is not extended.
    pub lease: Duration,
    /// How often and when jobs are tried again.
    pub retry: RetryPolicy,
    /// How long a worker's command may run; `None`: as long as it likes.
    pub time_limit: Option<Duration>,
    /// How long a command has to end once it is asked to.
    pub grace: Duration,
    /// How long repeated deliveries are kept; `None`: for good.
    pub retention_deliveries: Option<Duration>,
    /// How long texts and history of finished events are kept; `None`: for good.
    pub retention_texts: Option<Duration>,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The server's address as senders see it, without a slash at its end.
    pub public_url: Option<String>,
    /// Hosts that the server answers to, besides those of the two above; in lower case.
    pub allowed_hosts: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The bounds of the server.
    pub serve: ServeSettings,
    /// How often the server makes a backup; `None`: never.
    pub backup_every: Option<Duration>,
    /// How many of these are kept.
    pub backup_keep: u32,
    /// Where they are.
    pub backup_folder: PathBuf,
    /// What models cost.
    pub prices: Prices,
    /// The same with their origins, in the order of the file.
    pub price_lines: Vec<PriceLine>,
    /// Senders, by name.
    pub sources: Vec<SourceConfig>,
    /// Schedules, by name.
    pub schedules: Vec<ScheduleConfig>,
    /// All but prices, sources and schedules with their origins, in the order of the table.
    pub resolved: Vec<Resolved>,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// What is odd and no error: unknown `COLA_IA_*` variables, bounds that defeat each other.
    pub warnings: Vec<Warning>,
}

/// The bounds of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeSettings {
    /// Open connections.
    pub max_connections: u32,
    /// Until the head of a request must have come.
    pub header_deadline: Duration,
    /// Until its body must have come.
    pub body_deadline: Duration,
    /// How long requests in progress may go on once the server is to stop.
    pub grace: Duration,
    /// Bytes of bodies in memory.
    pub body_budget: usize,
    /// Requests that wait for the store.
    pub queue: u32,
    /// Requests that each token may make in a minute; 0: as many as it likes.
    pub token_requests_a_minute: u32,
}

/// A warning and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// What is odd.
    pub message: Message,
    /// What to do.
    pub hint: Option<Message>,
}

// A message holds texts and numbers only.
impl Eq for Warning {}

/// What the command line says about settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// Flag (without dashes) and value of each setting that has one and was given.
    pub settings: Vec<(&'static str, OsString)>,
}

/// Whether a file that was named must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedFile {
    /// Yes.
    MustExist,
    /// No: `init` is about to write it.
    MayBeMissing,
}

impl Settings {
    /// Resolves every setting.
    ///
    /// # Errors
    /// The first value that is not what its setting takes, an unknown key, a file that cannot be read.
    pub fn load(flags: &Flags, environment: &Environment, named: NamedFile) -> Result<Self, Problem> {
        let file = file::read(flags.config.as_deref(), environment, named)?;
        let mut resolved = Vec::with_capacity(SETTINGS.len());
        for setting in &SETTINGS {
            let (value, origin) = first_said(setting, flags, environment, &file.entries)?;
            resolved.push(Resolved { setting, value, origin });
        }
        let server = server_of(&resolved)?;
        let db = db_of(&resolved)?;
        let text_bound = resolved.iter().find(|one| one.setting.name == "max_text_bytes");
        let text_bound = text_bound.and_then(|one| one.value.as_bytes()).unwrap_or(usize::MAX);
        file.schedules.iter().try_for_each(|schedule| schedule.check_length(text_bound))?;
        let mut warnings = environment.unknown_variables(&sources::variables(&file.sources));
        warnings.extend(settle_line_bound(&mut resolved));
        Ok(Self {
            db,
            prices: prices::by_model(&file.prices),
            price_lines: file.prices,
            server,
            sources: file.sources,
            schedules: file.schedules,
            ..Self::from_resolved(resolved, file.path, warnings)
        })
    }

    /// Whether nobody has said anything about this setting.
    pub fn is_default(&self, name: &str) -> bool {
        self.resolved.iter().any(|one| one.setting.name == name && one.origin == Origin::Default)
    }

    /// What the file says of sources and schedules.
    pub fn table_lines(&self) -> impl Iterator<Item = &TableLine> {
        let of_sources = self.sources.iter().flat_map(|source| &source.lines);
        of_sources.chain(self.schedules.iter().flat_map(|schedule| &schedule.lines))
    }

    /// The variables that hold secrets of sources: no command that is run inherits them.
    pub fn secret_variables(&self) -> Vec<String> {
        sources::variables(&self.sources).into_iter().map(str::to_owned).collect()
    }

    fn from_resolved(resolved: Vec<Resolved>, file: Option<PathBuf>, warnings: Vec<Warning>) -> Self {
        // The table says which kind each name has, so the other arms are never taken; a test reads the defaults.
        let value = |name: &str| resolved.iter().find(|entry| entry.setting.name == name).map(|entry| &entry.value);
        let bytes = |name: &str| value(name).and_then(Value::as_bytes).unwrap_or_default();
        let count = |name: &str| value(name).and_then(Value::as_count).unwrap_or_default();
        let duration = |name: &str| value(name).and_then(Value::as_duration).unwrap_or_default();
        Self {
            db: Db::default(),
            db_connections: count("db_connections"),
            default_source: value("default_source").and_then(Value::as_source).unwrap_or_default(),
            max_text_bytes: bytes("max_text_bytes"),
            max_line_bytes: bytes("max_line_bytes"),
            lock_wait: duration("lock_wait"),
            allow_network_filesystem: value("allow_network_filesystem").and_then(Value::as_bool).unwrap_or_default(),
            lease: duration("lease"),
            retry: RetryPolicy {
                max_attempts: count("max_attempts"),
                max_crashes: count("max_crashes"),
                first_wait: duration("retry_first"),
                max_wait: duration("retry_max"),
                pause_after: Some(count("source.pause_after")).filter(|failures| *failures > 0),
            },
            time_limit: value("time_limit").and_then(Value::as_age).filter(|limit| !limit.is_zero()),
            grace: duration("grace"),
            retention_deliveries: value("retention.deliveries").and_then(Value::as_age),
            retention_texts: value("retention.texts").and_then(Value::as_age),
            server: None,
            listen: value("listen").and_then(Value::as_listen).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0))),
            public_url: value("public_url").and_then(Value::as_url).map(str::to_owned),
            allowed_hosts: value("allowed_hosts").and_then(Value::as_hosts).unwrap_or_default().to_vec(),
            trusted_proxies: value("trusted_proxies").and_then(Value::as_addresses).unwrap_or_default().to_vec(),
            serve: ServeSettings {
                max_connections: count("serve.max_connections"),
                header_deadline: duration("serve.header_deadline"),
                body_deadline: duration("serve.body_deadline"),
                grace: duration("serve.grace"),
                body_budget: bytes("serve.body_budget"),
                queue: count("serve.queue"),
                token_requests_a_minute: count("serve.token_requests_a_minute"),
            },
            backup_every: value("backup.every").and_then(Value::as_age).filter(|every| !every.is_zero()),
            backup_keep: count("backup.keep"),
            backup_folder: value("backup.folder").and_then(Value::as_path).map(Path::to_path_buf).unwrap_or_default(),
            sources: Vec::new(),
            schedules: Vec::new(),
            prices: Prices::default(),
            price_lines: Vec::new(),
            resolved,
            file,
            warnings,
        }
    }
}

/// The place of a store that a person wrote.
///
/// # Errors
/// It is none.
pub fn db(text: &OsStr) -> Result<Db, Problem> {
    let shown = text.to_string_lossy();
    if Address::is_one(&shown) {
        let address = Address::parse(&shown, None).map_err(|error| Problem::from_store(&error))?;
        return Ok(Db::Postgres(Box::new(address)));
    }
    if text.is_empty() || shown.contains("://") {
        let message = Message::new("usage-move-to").with("to", redact_url(&shown));
        return Err(Problem::usage(message).hint(Message::new("fault-store-url-hint")));
    }
    Ok(Db::File(PathBuf::from(text)))
}

/// Where the store is: what an address itself says of the schema counts before the setting.
fn db_of(resolved: &[Resolved]) -> Result<Db, Problem> {
    let value = |name: &str| resolved.iter().find(|entry| entry.setting.name == name).map(|entry| &entry.value);
    let path = value("db").and_then(Value::as_path).unwrap_or(Path::new(""));
    match path.to_str().filter(|text| Address::is_one(text)) {
        None => Ok(Db::File(path.to_path_buf())),
        Some(text) => Address::parse(text, value("schema").and_then(Value::as_schema))
            .map(|address| Db::Postgres(Box::new(address)))
            .map_err(|error| Problem::from_store(&error)),
    }
}

/// The server in force. Whoever names a server wants events there, and whoever names a file wants them in that: the one that is
/// said closer to the command counts, and where both are said equally close, neither is guessed.
fn server_of(resolved: &[Resolved]) -> Result<Option<Server>, Problem> {
    let entry = |name: &str| resolved.iter().find(|entry| entry.setting.name == name);
    let Some((server, Value::Server(Some(url)))) = entry("server").map(|entry| (entry, &entry.value)) else {
        return Ok(None);
    };
    if let Some(db) = entry("db").filter(|db| db.origin != Origin::Default) {
        match db.origin.distance().cmp(&server.origin.distance()) {
            Ordering::Less => return Ok(None),
            Ordering::Equal => {
                return Err(Problem::usage(
                    Message::new("usage-server-and-db").with("server", url).with("db", redact_url(&db.value.shown())),
                )
                .hint(Message::new("usage-server-and-db-hint")));
            }
            Ordering::Greater => {}
        }
    }
    Ok(Some(Server {
        url: url.clone(),
        token: entry("token").and_then(|entry| entry.value.as_secret()),
        token_file: entry("token_file").and_then(|entry| entry.value.as_file()),
    }))
}

/// The first of flag, variable, file and default that says anything.
fn first_said(
    setting: &'static Setting,
    flags: &Flags,
    environment: &Environment,
    entries: &[(&'static str, Value, Origin)],
) -> Result<(Value, Origin), Problem> {
    if let Some(flag) = setting.flag
        && let Some((_, text)) = flags.settings.iter().find(|(known, _)| *known == flag)
    {
        let value = setting.kind.parse_text(text).map_err(|fault| fault.at(&format!("--{flag}")))?;
        return Ok((value, Origin::Flag(flag)));
    }
    if let Some(text) = environment.var_os(setting.env) {
        let value = setting.kind.parse_text(&text).map_err(|fault| fault.at(setting.env))?;
        return Ok((value, Origin::Environment(setting.env)));
    }
    if let Some((_, value, origin)) = entries.iter().find(|(known, ..)| *known == setting.name) {
        return Ok((value.clone(), origin.clone()));
    }
    let value = setting.kind.parse_text(setting.default.as_ref()).map_err(|fault| fault.at(setting.name))?;
    Ok((value, Origin::Default))
}

/// The longest line follows the longest text where nobody says otherwise: six bytes for each byte of text, as in `\u00e9`,
/// and what the default leaves for other fields. A bound that was given and is below that of the text gets a warning.
fn settle_line_bound(resolved: &mut [Resolved]) -> Option<Warning> {
    let text = resolved.iter().find(|entry| entry.setting.name == "max_text_bytes")?.value.as_bytes()?;
    let line = resolved.iter_mut().find(|entry| entry.setting.name == "max_line_bytes")?;
    if line.origin == Origin::Default {
        let room = text.saturating_mul(6).saturating_add(2 << 20);
        line.value = Value::Bytes(room.clamp(LINE_MAX_BYTES_DEFAULT, LINE_MAX_BYTES_CEILING) as u64);
        return None;
    }
    let bound = line.value.as_bytes()?;
    (bound < text).then(|| Warning {
        message: Message::new("warning-line-bound").with("line", size(bound as u64)).with("text", size(text as u64)),
        hint: Some(Message::new("warning-line-bound-hint")),
    })
}

#[cfg(test)]
mod tests;
