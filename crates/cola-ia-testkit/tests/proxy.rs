//! The relay before a real PostgreSQL: what a cut commit left, asked of the server itself.

#![allow(clippy::unwrap_used)]

use std::env;
use std::net::SocketAddr;
use std::process::{Command, Output};
use std::sync::Arc;

use cola_ia_testkit::proxy::{Cut, From, Plan, Proxy, at_commits};

/// Where the servers are; where tests must find them, none is a failure.
fn servers() -> Vec<String> {
    let found: Vec<_> = ["COLA_IA_TEST_POSTGRES", "COLA_IA_TEST_PGBOUNCER"].into_iter().flat_map(env::var).collect();
    if found.len() < 2 {
        assert!(env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "PostgreSQL and PgBouncer are needed");
        eprintln!(
            "skipped: no PostgreSQL; `cargo xtask postgres` has one, COLA_IA_REQUIRE_TOOLS=1 makes this a failure"
        );
        return Vec::new();
    }
    found
}

/// The address within a URL, and the URL with another one.
fn address(url: &str) -> SocketAddr {
    let host = url.split_once('@').unwrap().1;
    host.split_once('/').unwrap().0.parse().unwrap()
}

fn psql(url: &str, statements: &[&str]) -> Output {
    let mut psql = Command::new("psql");
    psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1"]).arg(format!("{url}?sslmode=disable"));
    for statement in statements {
        psql.args(["-c", statement]);
    }
    psql.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Commits a row through a relay with this plan, and answers whether the client was told so, how many connections were cut, and
/// whether the row is there.
fn commit(url: &str, schema: &str, plan: Plan) -> (bool, u64, bool) {
    let proxy = Proxy::start(address(url), plan).unwrap();
    let through = url.replace(&address(url).to_string(), &proxy.address().to_string());
    let insert = format!("INSERT INTO {schema}.t VALUES (1)");
    let told = psql(&through, &["BEGIN", &insert, "COMMIT"]).status.success();
    let cuts = proxy.cuts();
    drop(proxy);
    // A commit that is still on its way is waited for: the table is asked for under the lock that it conflicts with.
    let locked =
        format!("BEGIN; LOCK TABLE {schema}.t; SELECT count(*) FROM {schema}.t; DELETE FROM {schema}.t; COMMIT");
    let count = psql(url, &[&locked]);
    assert!(count.status.success(), "{}", said(&count));
    (told, cuts, String::from_utf8_lossy(&count.stdout).trim() == "1")
}

#[test]
fn a_cut_commit_is_done_or_not_as_the_plan_says() {
    for (number, url) in servers().iter().enumerate() {
        let schema = format!("proxy_{}_{number}", std::process::id());
        let made = psql(url, &[&format!("CREATE SCHEMA {schema}"), &format!("CREATE TABLE {schema}.t (n int)")]);
        assert!(made.status.success(), "{}", said(&made));
        let in_answer: Plan =
            Arc::new(|seen| if seen.from == From::Server && seen.commit { Cut::Within } else { Cut::Nothing });
        for (fact, plan, expected) in [
            ("no cut", at_commits(|_| Cut::Nothing), (true, 0, true)),
            ("before the commit", at_commits(|_| Cut::Before), (false, 1, false)),
            ("within the commit", at_commits(|_| Cut::Within), (false, 1, false)),
            ("after the commit", at_commits(|_| Cut::After), (false, 1, true)),
            ("within its answer", in_answer, (false, 1, true)),
        ] {
            assert_eq!(commit(url, &schema, plan), expected, "{fact}, {url}");
        }
        let dropped = psql(url, &[&format!("DROP SCHEMA {schema} CASCADE")]);
        assert!(dropped.status.success(), "{}", said(&dropped));
    }
}
