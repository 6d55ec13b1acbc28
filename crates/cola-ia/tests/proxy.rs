//! A reverse proxy in front of the server, set up as docs/OPERATIONS.md says.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod common;
#[path = "common/tls.rs"]
mod tls;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::server::{Server, sign};
use common::{Place, check_exit, err, has_tool, out, until};
use serde_json::{Value, json};
use tls::Authority;

const SECRET: &str = "topsecret";
/// Ids that a proxy may take for a part of a path, or write in another way.
const ODD_IDS: [&str; 12] =
    ["a%b", "a%2Fb", "a/b", "a//b", "../admin", "a b", "?x=1", "#h", "a+b&c=d;e", "日本/ñ", "%00%0A", "\\..\\'\"$(x)"];

/// The block that a page prints, for these addresses and files instead of its own.
fn printed(page: &str, replaced: &[(&str, String)]) -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).unwrap();
    let (_, block) = page.split_once("```nginx\n").unwrap();
    let mut block = block.split_once("```").unwrap().0.to_owned();
    for (here, there) in replaced {
        assert_eq!(block.matches(here).count(), 1, "{here}\n{block}");
        block = block.replace(here, there);
    }
    block
}

/// nginx as a page says, before a server; both end with the test.
struct Proxied {
    client: Place,
    home: Place,
    server: Server,
    nginx: Child,
    url: String,
    token: String,
    _files: Place,
}

impl Proxied {
    fn start(page: &str, config: &str) -> Option<Self> {
        if !has_tool("nginx", Place::new().tool("nginx").arg("-v")) {
            return None;
        }
        let authority = Authority::new("ours");
        let (certificate, key) = authority.certificate("localhost");
        let home = Place::new().file("cola-ia.toml", config).file("s", format!("{SECRET}\n"));
        let server = Server::start(&home);
        // Free a moment ago; nginx cannot be asked which one it took.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let files = Place::new().file("certificate.pem", certificate).file("key.pem", key);
        let path = |name: &str| files.path(name).display().to_string();
        let block = printed(
            page,
            &[
                ("listen 443 ssl;", format!("listen 127.0.0.1:{port} ssl;")),
                ("server_name cola.example;", "server_name localhost;".to_owned()),
                ("/etc/ssl/cola.example.pem", path("certificate.pem")),
                ("/etc/ssl/cola.example.key", path("key.pem")),
                ("http://127.0.0.1:8787;", format!("http://{};", server.address)),
            ],
        );
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {};\n", path(&format!("{kind}.tmp"))))
            .concat();
        let around = format!(
            "daemon off;\nmaster_process off;\npid {};\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{block}}}\n",
            path("nginx.pid")
        );
        files.write("nginx.conf", around);
        let log = path("nginx.log");
        let nginx = files
            .tool("nginx")
            .args(["-e", &log, "-p", &path("."), "-c", &path("nginx.conf")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let client = Place::new().file("authority.pem", &authority.pem);
        let token = String::from_utf8(home.read("cola_ia.sqlite3.admin-token")).unwrap().trim().to_owned();
        let url = format!("https://localhost:{port}");
        let mut proxied = Self { client, home, server, nginx, url, token, _files: files };
        until("nginx to listen", || {
            let ended = proxied.nginx.try_wait().unwrap();
            assert!(ended.is_none(), "{}", fs::read_to_string(&log).unwrap_or_default());
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Some(proxied)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.client.command(args);
        command.env("COLA_IA_SERVER", &self.url).env("COLA_IA_TOKEN", &self.token);
        command.env("SSL_CERT_FILE", self.client.path("authority.pem"));
        command
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let done = self.command(args).output().unwrap();
        check_exit(&done, 0);
        out(&done)
    }

    /// `curl` through the proxy; the last line of what it says is the status.
    fn curl(&self, path: &str, args: &[&str]) -> Output {
        self.client
            .tool("curl")
            .args(["-sS", "--max-time", "60", "-w", "\n%{http_code}", "--path-as-is", "--cacert"])
            .arg(self.client.path("authority.pem"))
            .args(args)
            .arg(format!("{}{path}", self.url))
            .output()
            .unwrap()
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        let _ = self.nginx.kill();
        let _ = self.nginx.wait();
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn whatever_an_id_is_it_passes_the_proxy_both_ways() {
    for page in ["OPERATIONS.md", "OPERACION.md"] {
        let Some(proxied) = Proxied::start(page, "") else { return };
        let body = ODD_IDS.map(|id| format!("{}\n", json!({ "id": id, "text": id }))).concat();
        proxied.client.write("odd.jsonl", &body);
        proxied.ok(&["add", "odd.jsonl"]);
        for id in ODD_IDS {
            let shown = lines(&proxied.ok(&["show", "--json", "--", id]));
            assert_eq!((shown.len(), &shown[0]["id"], &shown[0]["text"]), (1, &json!(id), &json!(id)));
        }
        // The same as lines, by another client: all of them are known.
        let bearer = format!("Authorization: Bearer {}", proxied.token);
        let sent = ["-H", &bearer, "-H", "Content-Type: application/x-ndjson", "-X", "POST", "-T", "odd.jsonl"];
        let done = proxied.curl("/v1/events", &sent);
        check_exit(&done, 0);
        let said = out(&done);
        let (answers, status) = said.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(status, "200", "{said}");
        let answers = lines(answers.trim());
        let known: Vec<_> = answers.iter().map(|one| one["verdict"].as_str().unwrap_or_default()).collect();
        assert_eq!(known, ["duplicate"; ODD_IDS.len()], "{said}");
        // Through a worker and back.
        proxied.ok(&["work", "--drain", "--", "sh", "-c", "printf '{\"resource_id\":\"r\"}' > \"$COLA_IA_RESULT\""]);
        assert_eq!(lines(&proxied.ok(&["jobs", "--json", "--state", "done"])).len(), ODD_IDS.len());
    }
}

#[test]
fn a_worker_that_waits_behind_the_proxy_is_told_of_what_comes() {
    let Some(proxied) = Proxied::start("OPERATIONS.md", "") else { return };
    let bearer = format!("Authorization: Bearer {}", proxied.token);
    let claim = json!({ "wait_ms": 20_000 }).to_string();
    let (start, done) = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            proxied.curl("/v1/leases/claim", &["-H", &bearer, "-H", "Content-Type: application/json", "-d", &claim])
        });
        thread::sleep(Duration::from_secs(2));
        assert!(!waiting.is_finished(), "it did not wait: {}", out(&waiting.join().unwrap()));
        proxied.client.write("one.jsonl", "{\"id\":\"late\",\"texto\":\"x\"}\n");
        let start = Instant::now();
        proxied.ok(&["add", "one.jsonl"]);
        (start, waiting.join().unwrap())
    });
    let said = out(&done);
    assert!(said.contains("\"late\"") && said.ends_with("200"), "{said}{}", err(&done));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn what_a_sender_signed_arrives_unchanged_and_a_refusal_names_the_sender() {
    let config = "trusted_proxies = [\"127.0.0.1\"]\n[source.web]\nscheme = \"hmac\"\nsecret_file = \"s\"\n";
    let Some(proxied) = Proxied::start("OPERATIONS.md", config) else { return };
    let body = "{ \"id\" : \"a%2Fb/ñ\",\r\n \"text\":\"\\u00e9  é\" }\n";
    proxied.client.write("body", body);
    let signed = format!("X-Signature: {}", sign(SECRET, body.as_bytes()));
    let post = |signed: &str| {
        let sent = ["-H", signed, "-H", "Content-Type: application/json", "--data-binary", "@body"];
        out(&proxied.curl("/in/web?a=%2F%3F&b=c%20d", &sent))
    };
    assert!(post(&signed).ends_with("200"), "{}", post(&signed));
    assert_eq!(lines(&proxied.ok(&["show", "--json", "a%2Fb/ñ"])).len(), 1);
    // Who claims to be somebody else is not believed: the proxy writes the header itself.
    let refused = proxied.curl("/in/web", &["-H", "X-Forwarded-For: 203.0.113.5", "-d", "{}"]);
    assert!(out(&refused).ends_with("401"), "{}", out(&refused));
    // By a client at another address, as the proxy would tell of it.
    let direct = proxied.server.ask("POST /in/web", &[("X-Forwarded-For", "203.0.113.6, 198.51.100.7")], b"{}");
    assert_eq!(direct.status, 401, "{direct:?}");
    let Proxied { home, server, .. } = &proxied;
    let inputs = || {
        let listed = home.run(&["errors", "--kind", "intake", "--json"]);
        lines(&out(&listed)).iter().map(|one| one["origin"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let mut seen = until("the refusals to be recorded", || Some(inputs()).filter(|inputs| inputs.len() == 2));
    seen.sort_unstable();
    assert_eq!(seen, ["in/web from 127.0.0.1:1", "in/web from 198.51.100.7:1"], "{}", server.log());
}
