//! What is written into the servers' files: text from values, and nothing else.

use std::path::Path;

/// The role that tests connect as, and the database that it owns. It is no superuser.
pub(super) const ROLE: &str = "cola";

/// Most connections to PostgreSQL, and to PgBouncer, which shares [`POOL`] of the former.
const CONNECTIONS: u32 = 200;
const POOLED_CONNECTIONS: u32 = 400;
const POOL: u32 = 20;

/// Whether what is committed is on disk before the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// For tests: the data go with the server.
    Off,
    /// As in production: for measuring.
    On,
}

impl Flush {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        [Self::Off, Self::On].into_iter().find(|flush| flush.word() == word)
    }
}

/// Where the two servers listen, on 127.0.0.1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) postgres: u16,
    pub(super) pgbouncer: u16,
}

/// `postgresql.conf`. Paths are relative to the data folder where they can be.
pub(super) fn postgresql(port: u16, flush: Flush) -> String {
    let mut text = format!(
        "listen_addresses = '127.0.0.1'\n\
         port = {port}\n\
         unix_socket_directories = ''\n\
         max_connections = {CONNECTIONS}\n\
         password_encryption = 'scram-sha-256'\n\
         ssl = on\n\
         ssl_cert_file = '../server.pem'\n\
         ssl_key_file = '../server.key'\n\
         log_line_prefix = '%m [%p] %a '\n"
    );
    if flush == Flush::Off {
        text.push_str("fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n");
    }
    text
}

/// `pg_hba.conf`: the one role, to any database, from loopback, with its password.
pub(super) fn access() -> String {
    format!("host all {ROLE} 127.0.0.1/32 scram-sha-256\n")
}

/// What the server is told, alone with its files, before it listens. The role may make replication slots, which a test leaves
/// lying about for `doctor`. The database has the order of a language, so that a
/// statement that forgot to ask for the order of bytes shows.
pub(super) fn first_statements(password: &str) -> String {
    format!(
        "CREATE ROLE {ROLE} LOGIN REPLICATION PASSWORD '{password}';\n\
         CREATE DATABASE {ROLE} OWNER {ROLE} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'es';\n"
    )
}

/// `pgbouncer.ini`: a pooler as one meets it, which gives a connection away between transactions, and fails where a client asks
/// for parameters that it does not know.
pub(super) fn pgbouncer(ports: Ports, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "[databases]\n\
         {ROLE} = host=127.0.0.1 port={} dbname={ROLE}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {}\n\
         unix_socket_dir =\n\
         auth_type = scram-sha-256\n\
         auth_file = {folder}/users.txt\n\
         pool_mode = transaction\n\
         default_pool_size = {POOL}\n\
         max_client_conn = {POOLED_CONNECTIONS}\n\
         client_tls_sslmode = allow\n\
         client_tls_cert_file = {folder}/server.pem\n\
         client_tls_key_file = {folder}/server.key\n",
        ports.postgres, ports.pgbouncer
    )
}

/// PgBouncer's list of users: with the password itself, it can ask clients for it and give it to the server.
pub(super) fn users(password: &str) -> String {
    format!("\"{ROLE}\" \"{password}\"\n")
}

/// The configuration of openssl(1): of its own, because what a system's adds differs.
pub(super) const CERTIFICATES: &str = "\
[req]
prompt = no
distinguished_name = authority_name
[authority_name]
CN = certificates of the tests
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
";

/// What tests find the servers by.
pub(super) fn environment(ports: Ports, password: &str, authority: &Path) -> Vec<(String, String)> {
    let url = |port| format!("postgres://{ROLE}:{password}@127.0.0.1:{port}/{ROLE}");
    vec![
        ("COLA_IA_TEST_POSTGRES".to_owned(), url(ports.postgres)),
        ("COLA_IA_TEST_PGBOUNCER".to_owned(), url(ports.pgbouncer)),
        ("COLA_IA_TEST_POSTGRES_CA".to_owned(), authority.display().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: Ports = Ports { postgres: 1, pgbouncer: 2 };

    #[test]
    fn flushes_are_left_as_they_are_unless_they_are_turned_off() {
        for setting in ["fsync = off", "synchronous_commit = off", "full_page_writes = off"] {
            assert!(postgresql(1, Flush::Off).lines().any(|line| line == setting), "{setting}");
            assert!(!postgresql(1, Flush::On).contains(setting), "{setting}");
        }
    }

    #[test]
    fn nobody_comes_in_from_elsewhere_or_without_a_password() {
        assert!(postgresql(1, Flush::On).contains("listen_addresses = '127.0.0.1'\n"));
        assert_eq!(access(), "host all cola 127.0.0.1/32 scram-sha-256\n");
        let pooler = pgbouncer(PORTS, Path::new("/f"));
        for setting in ["listen_addr = 127.0.0.1", "unix_socket_dir =", "auth_type = scram-sha-256"] {
            assert!(pooler.lines().any(|line| line == setting), "{setting}");
        }
    }

    #[test]
    fn the_pooler_gives_connections_away_between_transactions() {
        let pooler = pgbouncer(PORTS, Path::new("/f"));
        assert!(pooler.contains("\ncola = host=127.0.0.1 port=1 dbname=cola\n"), "{pooler}");
        assert!(pooler.contains("\nlisten_port = 2\n") && pooler.contains("\npool_mode = transaction\n"), "{pooler}");
    }

    #[test]
    fn each_server_is_found_by_its_own_variable() {
        let found = environment(PORTS, "word", Path::new("/f/ca.pem"));
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            found,
            [
                ("COLA_IA_TEST_POSTGRES", "postgres://cola:word@127.0.0.1:1/cola"),
                ("COLA_IA_TEST_PGBOUNCER", "postgres://cola:word@127.0.0.1:2/cola"),
                ("COLA_IA_TEST_POSTGRES_CA", "/f/ca.pem"),
            ]
        );
    }

    #[test]
    fn a_word_says_whether_flushes_are_on() {
        assert_eq!(Flush::from_word("on"), Some(Flush::On));
        assert_eq!(Flush::from_word("off"), Some(Flush::Off));
        assert_eq!(Flush::from_word(""), None);
    }
}
