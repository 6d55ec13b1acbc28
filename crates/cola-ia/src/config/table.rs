//! The one description of every setting.

use std::time::Duration;

use cola_ia_core::job::LEASE_MAX;
use cola_ia_core::limits::{LINE_MAX_BYTES_CEILING, TEXT_MAX_BYTES_CEILING};

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key in `cola-ia.toml`; a dotted one stands in a table.
    pub name: &'static str,
    /// Its variable.
    pub env: &'static str,
    /// Its flag, without dashes.
    pub flag: Option<&'static str>,
    /// What it takes.
    pub kind: Kind,
    /// The default, as one would write it in the variable.
    pub default: &'static str,
    /// The catalogue's key of its explanation.
    pub about: &'static str,
    /// Whether its value is never printed.
    pub secret: bool,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The path of a store's file, or the address of a database. A relative path in a file is relative to that file's folder.
    Store,
    /// The name of a schema in a database.
    Schema,
    /// The address of a server; empty for none.
    Server,
    /// A secret; empty for none.
    Secret,
    /// The path of a file; empty for none. A relative one in a file is relative to that file's folder.
    File,
    /// The name of a source.
    Source,
    /// A size: a whole number of bytes, or text such as `8MiB`.
    Bytes {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A whole number.
    Count {
        /// The least.
        min: u32,
        /// The most.
        max: u32,
    },
    /// A length of time such as `60s`.
    Duration {
        /// The least.
        min: Duration,
        /// The most.
        max: Duration,
    },
    /// An age such as `90d`, or `never`.
    Age,
    /// `true` or `false`.
    Bool,
    /// Where a server listens, `ADDRESS:PORT`.
    Listen,
    /// An address of the web, `https://HOST[:PORT][/PATH]`, or nothing.
    Url,
    /// Names of hosts: a list, or text with commas.
    Hosts,
    /// IP addresses: a list, or text with commas.
    Addresses,
    /// The path of a folder. A relative one in a file is relative to that file's folder.
    Folder,
}

/// Every setting, in the order in which people read them.
pub const SETTINGS: [Setting; 35] = [
    Setting {
        name: "db",
        env: "COLA_IA_DB",
        flag: Some("db"),
        kind: Kind::Store,
        default: "cola_ia.sqlite3",
        about: "setting-db",
        secret: false,
    },
    Setting {
        name: "schema",
        env: "COLA_IA_SCHEMA",
        flag: None,
        kind: Kind::Schema,
        default: cola_ia_store::postgres::DEFAULT_SCHEMA,
        about: "setting-schema",
        secret: false,
    },
    Setting {
        name: "db_connections",
        env: "COLA_IA_DB_CONNECTIONS",
        flag: None,
        kind: Kind::Count { min: 2, max: 1_000 },
        default: "8",
        about: "setting-db-connections",
        secret: false,
    },
    Setting {
        name: "server",
        env: "COLA_IA_SERVER",
        flag: Some("server"),
        kind: Kind::Server,
        default: "",
        about: "setting-server",
        secret: false,
    },
    Setting {
        name: "token",
        env: "COLA_IA_TOKEN",
        flag: None,
        kind: Kind::Secret,
        default: "",
        about: "setting-token",
        secret: true,
    },
    Setting {
        name: "token_file",
        env: "COLA_IA_TOKEN_FILE",
        flag: None,
        kind: Kind::File,
        default: "",
        about: "setting-token-file",
        secret: false,
    },
    Setting {
        name: "default_source",
        env: "COLA_IA_DEFAULT_SOURCE",
        flag: None,
        kind: Kind::Source,
        default: cola_ia_core::event::Source::DEFAULT,
        about: "setting-default-source",
        secret: false,
    },
    Setting {
        name: "max_text_bytes",
        env: "COLA_IA_MAX_TEXT_BYTES",
        flag: Some("max-text-bytes"),
        kind: Kind::Bytes { min: 1, max: TEXT_MAX_BYTES_CEILING as u64 },
        default: "1MiB",
        about: "setting-max-text-bytes",
        secret: false,
    },
    Setting {
        name: "max_line_bytes",
        env: "COLA_IA_MAX_LINE_BYTES",
        flag: None,
        kind: Kind::Bytes { min: 1, max: LINE_MAX_BYTES_CEILING as u64 },
        default: "8MiB",
        about: "setting-max-line-bytes",
        secret: false,
    },
    Setting {
        name: "lock_wait",
        env: "COLA_IA_LOCK_WAIT",
        flag: None,
        kind: Kind::Duration { min: Duration::ZERO, max: Duration::from_hours(24) },
        default: "60s",
        about: "setting-lock-wait",
        secret: false,
    },
    Setting {
        name: "allow_network_filesystem",
        env: "COLA_IA_ALLOW_NETWORK_FILESYSTEM",
        flag: None,
        kind: Kind::Bool,
        default: "false",
        about: "setting-allow-network-filesystem",
        secret: false,
    },
    Setting {
        name: "lease",
        // The variable with the setting's own name carries the lease of a worker's command.
        env: "COLA_IA_LEASE_TIME",
        flag: Some("lease"),
        kind: Kind::Duration { min: Duration::from_secs(1), max: LEASE_MAX },
        default: "60s",
        about: "setting-lease",
        secret: false,
    },
    Setting {
        name: "max_attempts",
        env: "COLA_IA_MAX_ATTEMPTS",
        flag: Some("max-attempts"),
        kind: Kind::Count { min: 1, max: 1_000 },
        default: "5",
        about: "setting-max-attempts",
        secret: false,
    },
    Setting {
        name: "max_crashes",
        env: "COLA_IA_MAX_CRASHES",
        flag: None,
        kind: Kind::Count { min: 1, max: 1_000 },
        default: "3",
        about: "setting-max-crashes",
        secret: false,
    },
    Setting {
        name: "retry_first",
        env: "COLA_IA_RETRY_FIRST",
        flag: None,
        kind: Kind::Duration { min: Duration::ZERO, max: Duration::from_hours(7 * 24) },
        default: "10s",
        about: "setting-retry-first",
        secret: false,
    },
    Setting {
        name: "retry_max",
        env: "COLA_IA_RETRY_MAX",
        flag: None,
        kind: Kind::Duration { min: Duration::ZERO, max: Duration::from_hours(7 * 24) },
        default: "1h",
        about: "setting-retry-max",
        secret: false,
    },
    Setting {
        name: "time_limit",
        env: "COLA_IA_TIME_LIMIT",
        flag: Some("timeout"),
        kind: Kind::Age,
        default: "never",
        about: "setting-time-limit",
        secret: false,
    },
    Setting {
        name: "grace",
        env: "COLA_IA_GRACE",
        flag: Some("grace"),
        kind: Kind::Duration { min: Duration::ZERO, max: Duration::from_hours(1) },
        default: "10s",
        about: "setting-grace",
        secret: false,
    },
    Setting {
        name: "source.pause_after",
        env: "COLA_IA_SOURCE_PAUSE_AFTER",
        flag: None,
        kind: Kind::Count { min: 0, max: 1_000_000 },
        default: "0",
        about: "setting-source-pause-after",
        secret: false,
    },
    Setting {
        name: "retention.deliveries",
        env: "COLA_IA_RETENTION_DELIVERIES",
        flag: None,
        kind: Kind::Age,
        default: "90d",
        about: "setting-retention-deliveries",
        secret: false,
    },
    Setting {
        name: "retention.texts",
        env: "COLA_IA_RETENTION_TEXTS",
        flag: None,
        kind: Kind::Age,
        default: "never",
        about: "setting-retention-texts",
        secret: false,
    },
    Setting {
        name: "listen",
        env: "COLA_IA_LISTEN",
        flag: Some("listen"),
        kind: Kind::Listen,
        default: "127.0.0.1:8787",
        about: "setting-listen",
        secret: false,
    },
    Setting {
        name: "public_url",
        env: "COLA_IA_PUBLIC_URL",
        flag: None,
        kind: Kind::Url,
        default: "",
        about: "setting-public-url",
        secret: false,
    },
    Setting {
        name: "allowed_hosts",
        env: "COLA_IA_ALLOWED_HOSTS",
        flag: None,
        kind: Kind::Hosts,
        default: "",
        about: "setting-allowed-hosts",
        secret: false,
    },
    Setting {
        name: "trusted_proxies",
        env: "COLA_IA_TRUSTED_PROXIES",
        flag: None,
        kind: Kind::Addresses,
        default: "",
        about: "setting-trusted-proxies",
        secret: false,
    },
    Setting {
        name: "backup.every",
        env: "COLA_IA_BACKUP_EVERY",
        flag: None,
        kind: Kind::Age,
        default: "never",
        about: "setting-backup-every",
        secret: false,
    },
    Setting {
        name: "backup.keep",
        env: "COLA_IA_BACKUP_KEEP",
        flag: None,
        kind: Kind::Count { min: 1, max: 10_000 },
        default: "7",
        about: "setting-backup-keep",
        secret: false,
    },
    Setting {
        name: "backup.folder",
        env: "COLA_IA_BACKUP_FOLDER",
        flag: None,
        kind: Kind::Folder,
        default: "backups",
        about: "setting-backup-folder",
        secret: false,
    },
    Setting {
        name: "serve.max_connections",
        env: "COLA_IA_SERVE_MAX_CONNECTIONS",
        flag: None,
        kind: Kind::Count { min: 1, max: 100_000 },
        default: "1024",
        about: "setting-serve-max-connections",
        secret: false,
    },
    Setting {
        name: "serve.header_deadline",
        env: "COLA_IA_SERVE_HEADER_DEADLINE",
        flag: None,
        kind: Kind::Duration { min: Duration::from_millis(100), max: Duration::from_hours(1) },
        default: "10s",
        about: "setting-serve-header-deadline",
        secret: false,
    },
    Setting {
        name: "serve.body_deadline",
        env: "COLA_IA_SERVE_BODY_DEADLINE",
        flag: None,
        kind: Kind::Duration { min: Duration::from_millis(100), max: Duration::from_hours(1) },
        default: "30s",
        about: "setting-serve-body-deadline",
        secret: false,
    },
    Setting {
        name: "serve.grace",
        env: "COLA_IA_SERVE_GRACE",
        flag: None,
        kind: Kind::Duration { min: Duration::ZERO, max: Duration::from_hours(1) },
        default: "10s",
        about: "setting-serve-grace",
        secret: false,
    },
    Setting {
        name: "serve.body_budget",
        env: "COLA_IA_SERVE_BODY_BUDGET",
        flag: None,
        kind: Kind::Bytes { min: 1 << 20, max: 1 << 40 },
        default: "128MiB",
        about: "setting-serve-body-budget",
        secret: false,
    },
    Setting {
        name: "serve.queue",
        env: "COLA_IA_SERVE_QUEUE",
        flag: None,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        default: "1024",
        about: "setting-serve-queue",
        secret: false,
    },
    Setting {
        name: "serve.token_requests_a_minute",
        env: "COLA_IA_SERVE_TOKEN_REQUESTS_A_MINUTE",
        flag: None,
        kind: Kind::Count { min: 0, max: 10_000_000 },
        default: "0",
        about: "setting-serve-token-requests-a-minute",
        secret: false,
    },
];

/// Variables that a worker's command is given. They are no settings, and no mistake where they are set.
pub const RESERVED_VARS: [&str; 14] = [
    "COLA_IA_SOURCE",
    "COLA_IA_ID",
    "COLA_IA_TYPE",
    "COLA_IA_JOB",
    "COLA_IA_RUN",
    "COLA_IA_ATTEMPT",
    "COLA_IA_LEASE",
    "COLA_IA_KEY",
    "COLA_IA_RESULT",
    "COLA_IA_SOCKET",
    "COLA_IA_EFFECT_KEY",
    "COLA_IA_EFFECT_TRY",
    "COLA_IA_EFFECT_BEGUN_AT",
    "COLA_IA_FINGERPRINT",
];
