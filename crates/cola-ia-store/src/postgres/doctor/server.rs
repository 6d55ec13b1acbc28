//! The server: its version, and the settings on which it depends that nothing is lost.

use std::time::{Duration, SystemTime};

use super::super::error::Fault;
use super::super::row::Columns as _;
use super::super::sql::params;
use super::super::tx::Tx;
use super::{Finding, Severity};

/// The oldest that can be used, as it says its version.
const OLDEST: i64 = 130_000;
/// From so much on, of a hundred connections, the next one may be refused.
const CONNECTIONS_MUCH: i64 = 80;
/// Clocks that are apart by more are told of, and by more than the second somebody should look at them.
const APART: Duration = Duration::from_secs(5);
const FAR_APART: Duration = Duration::from_mins(1);

/// What a server says of itself.
#[derive(Debug, Clone)]
pub(super) struct Server {
    number: i64,
    pub(super) version: String,
    encoding: String,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    autovacuum: String,
    connections_max: i64,
    connections: i64,
    is_replica: bool,
    sees_all: bool,
    now: i64,
}

pub(super) async fn look(tx: &Tx) -> Result<Server, Fault> {
    let row = tx
        .one(
            "SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
                 current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'),
                 current_setting('synchronous_commit'), current_setting('autovacuum'),
                 current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
                 (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database), pg_is_in_recovery(),
                 pg_has_role('pg_read_all_stats', 'USAGE'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
            params![],
        )
        .await?;
    Ok(Server {
        number: row.read(0)?,
        version: row.read(1)?,
        encoding: row.read(2)?,
        fsync: row.read(3)?,
        full_page_writes: row.read(4)?,
        synchronous_commit: row.read(5)?,
        autovacuum: row.read(6)?,
        connections_max: row.read(7)?,
        connections: row.read(8)?,
        is_replica: row.read(9)?,
        sees_all: row.read(10)?,
        now: row.read(11)?,
    })
}

impl Server {
    pub(super) const fn is_too_old(&self) -> bool {
        self.number < OLDEST
    }

    /// Of the server behind this address.
    pub(super) fn findings(&self, path: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.is_too_old() {
            findings.push(Finding::new(Severity::Error, "server_old").text("server", &self.version));
        }
        if self.encoding != "UTF8" {
            let finding = Finding::new(Severity::Error, "store_encoding").text("path", path);
            findings.push(finding.text("encoding", &self.encoding));
        }
        let settings = [
            ("fsync", &self.fsync, "server_fsync"),
            ("full_page_writes", &self.full_page_writes, "server_full_pages"),
            ("synchronous_commit", &self.synchronous_commit, "server_commits"),
            ("autovacuum", &self.autovacuum, "server_autovacuum"),
        ];
        for (setting, _, code) in settings.into_iter().filter(|(_, value, _)| *value == "off") {
            findings.push(Finding::new(Severity::Warning, code).text("setting", setting));
        }
        if self.is_replica {
            findings.push(Finding::new(Severity::Note, "server_replica"));
        }
        if !self.sees_all {
            findings.push(Finding::new(Severity::Note, "server_hides"));
        }
        let is_much = self.connections * 100 >= self.connections_max * CONNECTIONS_MUCH;
        let (severity, code) =
            if is_much { (Severity::Warning, "connections_few") } else { (Severity::Ok, "connections") };
        let finding = Finding::new(severity, code).number("count", self.connections);
        findings.push(finding.number("most", self.connections_max));
        findings
    }

    /// Whether its clock and this machine's are apart: it was asked between these two.
    pub(super) fn clock(&self, before: SystemTime, after: SystemTime) -> Option<Finding> {
        let micros = |at: SystemTime| {
            at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(0))
        };
        // What the way there and back can explain is not told.
        let apart = (micros(before) - self.now).max(self.now - micros(after)).max(0);
        let apart = Duration::from_micros(apart.unsigned_abs());
        if apart <= APART {
            return None;
        }
        let severity = if apart > FAR_APART { Severity::Warning } else { Severity::Note };
        Some(Finding::new(severity, "clocks_apart").number("seconds", apart.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        Server {
            number: 150_004,
            version: "15.4".into(),
            encoding: "UTF8".into(),
            fsync: "on".into(),
            full_page_writes: "on".into(),
            synchronous_commit: "on".into(),
            autovacuum: "on".into(),
            connections_max: 97,
            connections: 20,
            is_replica: false,
            sees_all: true,
            now: 1_000_000_000,
        }
    }

    fn told(server: &Server) -> Vec<(&'static str, Severity)> {
        server.findings("PATH").iter().map(|finding| (finding.code, finding.severity)).collect()
    }

    #[test]
    fn each_setting_that_loses_something_is_told() {
        assert_eq!(told(&server()), [("connections", Severity::Ok)]);
        let off = || "off".to_owned();
        let wrong = [
            (Server { number: 120_019, ..server() }, "server_old", Severity::Error),
            (Server { encoding: "LATIN1".into(), ..server() }, "store_encoding", Severity::Error),
            (Server { fsync: off(), ..server() }, "server_fsync", Severity::Warning),
            (Server { full_page_writes: off(), ..server() }, "server_full_pages", Severity::Warning),
            (Server { synchronous_commit: off(), ..server() }, "server_commits", Severity::Warning),
            (Server { autovacuum: off(), ..server() }, "server_autovacuum", Severity::Warning),
            (Server { is_replica: true, ..server() }, "server_replica", Severity::Note),
            (Server { sees_all: false, ..server() }, "server_hides", Severity::Note),
        ];
        for (server, code, severity) in wrong {
            assert_eq!(told(&server), [(code, severity), ("connections", Severity::Ok)]);
        }
        assert_eq!(told(&Server { connections: 78, ..server() }), [("connections_few", Severity::Warning)]);
        assert_eq!(told(&Server { connections: 77, ..server() }), [("connections", Severity::Ok)]);
        // "local", "remote_write" and the like still write before they answer.
        assert_eq!(told(&Server { synchronous_commit: "local".into(), ..server() }).len(), 1);
    }

    #[test]
    fn clocks_are_apart_by_more_than_the_way_explains() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let told = |before, after| {
            server().clock(at(before), at(after)).map(|finding| (finding.severity, finding.fact("seconds").cloned()))
        };
        let apart = |severity, seconds| Some((severity, Some(super::super::Fact::Number(seconds))));
        assert_eq!(told(1_000, 1_001), None);
        assert_eq!(told(900, 1_100), None);
        assert_eq!(told(1_005, 1_005), None);
        assert_eq!(told(1_006, 1_007), apart(Severity::Note, 6));
        assert_eq!(told(990, 990), apart(Severity::Note, 10));
        assert_eq!(told(900, 901), apart(Severity::Warning, 99));
    }
}
