//! Where a store in PostgreSQL is: `postgres://user:password@host:port/database?option=value`, as libpq has it (its manual, "34.1.1.2
//! Connection URIs"), with `schema` as an option of our own.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, StoreError};

use super::tls::Tls;

/// The schema that is used where none is named.
pub const DEFAULT_SCHEMA: &str = "cola_ia";
/// Bytes of a name in PostgreSQL.
const NAME_MAX_BYTES: usize = 63;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// An address. Its `Display` and `Debug` never have the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) config: tokio_postgres::Config,
    pub(super) schema: String,
    pub(super) tls: Tls,
    shown: String,
}

impl Address {
    /// Whether a text means a database in PostgreSQL, not a file.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Reads an address. The schema that it names itself goes before `schema`; without any it is [`DEFAULT_SCHEMA`].
    ///
    /// Of libpq's options, `sslmode`, `sslrootcert`, `host`, `port`, `user`, `password`, `dbname`, `application_name`,
    /// `connect_timeout`, `keepalives…`, `target_session_attrs` and `channel_binding` are known. `PGPASSWORD` counts where the
    /// address has no password.
    ///
    /// # Errors
    /// `store_address`, with what is wrong as `cause`; never with the password.
    pub fn parse(text: &str, schema: Option<&str>) -> Result<Self, StoreError> {
        let shown = shown(text);
        let wrong = |cause: String| {
            StoreError::new(ErrorKind::Invalid, "store_address").with("path", &shown).with("cause", cause)
        };
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut schema, mut mode, mut root) = (schema.map(str::to_owned), None, None);
        let mut rest = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "schema" => schema = Some(value.into_owned()),
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => root = Some(PathBuf::from(value.into_owned())),
                _ => drop(rest.append_pair(&name, &value)),
            }
        }
        // libpq's reader takes `%20` for a space, not `+`.
        let rest = rest.finish().replace('+', "%20");
        let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{rest}") };
        let mut config: tokio_postgres::Config =
            plain.parse().map_err(|cause: tokio_postgres::Error| wrong(without_secrets(&cause, &plain)))?;
        let schema = schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned());
        if schema.is_empty() || schema.len() > NAME_MAX_BYTES || schema.contains('\0') || schema.starts_with("pg_") {
            return Err(wrong(format!("schema {schema:?}")));
        }
        if config.get_hosts().is_empty() {
            return Err(wrong("no host".to_owned()));
        }
        if config.get_user().is_none() {
            return Err(wrong("no user".to_owned()));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(wrong("no database".to_owned()));
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_application_name().is_none() {
            config.application_name("cola-ia");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        let tls = Tls::of(mode.as_deref(), root).map_err(wrong)?;
        config.ssl_mode(tls.negotiation());
        Ok(Self { config, schema, tls, shown })
    }

    /// The schema of the store.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The same database with another schema.
    #[must_use]
    pub fn with_schema(mut self, schema: &str) -> Self {
        schema.clone_into(&mut self.schema);
        self
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

/// The address for people: without its password, wherever it stands.
fn shown(text: &str) -> String {
    let (base, query) = text.split_once('?').unwrap_or((text, ""));
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    // The last `@` before the path ends what says who connects: a password may hold another one, unescaped by mistake.
    let authority = rest.split('/').next().unwrap_or(rest);
    let rest = match authority.rfind('@') {
        Some(at) => {
            let user = authority[..at].split(':').next().unwrap_or_default();
            format!("{user}{}", &rest[at..])
        }
        None => rest.to_owned(),
    };
    let kept: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.to_ascii_lowercase().starts_with("password"))
        .map(str::to_owned)
        .collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{rest}{query}")
}

/// What the reader of addresses says, unless it repeats what it read.
fn without_secrets(cause: &tokio_postgres::Error, text: &str) -> String {
    let mut words = std::error::Error::source(cause).map_or_else(|| cause.to_string(), ToString::to_string);
    if text.contains('@') && words.contains('`') {
        // It quotes the part that it did not understand, which can be a piece of a password.
        words = words.split('`').next().unwrap_or_default().trim_end().to_owned();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_never_shown() {
        for (text, expected) in [
            ("postgres://ana:s3cret@db.example/cola", "postgres://ana@db.example/cola"),
            ("postgres://ana:p@ss@db/cola?schema=a", "postgres://ana@db/cola?schema=a"),
            ("postgres://ana@db/cola?password=s3cret&sslmode=require", "postgres://ana@db/cola?sslmode=require"),
            ("postgres://db/cola?user=ana&PASSWORD=x", "postgres://db/cola?user=ana"),
        ] {
            assert_eq!(shown(text), expected);
        }
        let address = Address::parse("postgres://ana:s3cret@db.example/cola", None).unwrap();
        assert!(!format!("{address} {address:?}").contains("s3cret"));
        let wrong = Address::parse("postgres://ana:s3cret@db:port/cola", None).unwrap_err();
        assert!(!wrong.to_string().contains("s3cret"), "{wrong}");
    }

    #[test]
    fn our_own_options_are_taken_out_of_the_address() {
        let address =
            Address::parse("postgresql://ana@db:6000/cola?schema=uno%20dos&sslmode=disable", Some("x")).unwrap();
        assert_eq!((address.schema(), address.config.get_ports()), ("uno dos", &[6000_u16][..]));
        assert_eq!(Address::parse("postgres://ana@db/cola", Some("x")).unwrap().schema(), "x");
        assert_eq!(Address::parse("postgres://ana@db/cola", None).unwrap().schema(), DEFAULT_SCHEMA);
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_reason() {
        for (text, cause) in [
            ("postgres://db/cola", "no user"),
            ("postgres://ana@db", "no database"),
            ("postgres:///cola?user=ana", "no host"),
            ("postgres://ana@db/cola?sslmode=maybe", "sslmode"),
            ("postgres://ana@db/cola?schema=pg_x", "schema"),
            ("postgres://ana@db/cola?colour=blue", "unknown option"),
        ] {
            let error = Address::parse(text, None).unwrap_err();
            assert_eq!(error.code, "store_address");
            assert!(error.fact("cause").unwrap().contains(cause), "{text}: {error}");
        }
    }
}
