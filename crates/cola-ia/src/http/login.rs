//! The page's sessions: a code that is good once and for ten minutes opens one, and a cookie keeps it for twelve hours.
//!
//! All of it is in memory: who stops the server ends every session. A browser sends a cookie along with whatever another site
//! makes it ask for, so a request that changes something counts only if it comes from a page of this server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cola_ia_core::clock::{Entropy, Timestamp};
use cola_ia_core::store::{TokenScope, TokenView};
use sha2::{Digest as _, Sha256};

use super::Problem;
use super::auth::Caller;

/// How long a code is good.
pub const CODE_FOR: Duration = Duration::from_mins(10);
/// How long a session lasts.
const SESSION_FOR: Duration = Duration::from_hours(12);
/// Sessions at the same time; a new one ends the one that ends first.
const SESSIONS_MAX: usize = 64;
/// The cookie's name; over https with the prefix that keeps other hosts and plain http from setting it.
const COOKIE: &str = "cola_ia_session";
const HOST_PREFIX: &str = "__Host-";

/// What is kept of a code or of a cookie: nobody who reads the memory's dump has the thing itself.
type Kept = [u8; 32];

/// Codes and sessions.
#[derive(Default)]
pub struct Login {
    code: Mutex<Option<(Kept, Timestamp)>>,
    sessions: Mutex<HashMap<Kept, Session>>,
}

#[derive(Clone)]
struct Session {
    token: Arc<TokenView>,
    until: Timestamp,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(..)")
    }
}

fn kept(secret: &str) -> Kept {
    Sha256::digest(secret.as_bytes()).into()
}

fn random(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; 32];
    entropy.fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Login {
    /// A new code, good once from now on for [`CODE_FOR`]; the one before is good no more.
    pub fn offer(&self, entropy: &dyn Entropy, now: Timestamp) -> String {
        let code = random(entropy);
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some((kept(&code), now.after(CODE_FOR)));
        code
    }

    /// Uses up the code and opens a session, which is an administrator's; gives what its cookie holds. `None`: this is not the
    /// code, or it is good no more.
    pub(super) fn open(&self, code: &str, entropy: &dyn Entropy, now: Timestamp) -> Option<String> {
        let mut offered = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        // By their hashes: how long the comparison takes tells nothing about the code.
        let (_, until) = offered.filter(|(known, _)| *known == kept(code))?;
        *offered = None;
        drop(offered);
        if until <= now {
            return None;
        }
        let token = Arc::new(TokenView {
            name: "login".to_owned(),
            scopes: vec![TokenScope::Admin],
            sources: Vec::new(),
            created_at: now,
            expires_at: Some(now.after(SESSION_FOR)),
            revoked_at: None,
        });
        let cookie = random(entropy);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| now < session.until);
        if sessions.len() >= SESSIONS_MAX {
            let first = sessions.iter().min_by_key(|(_, session)| session.until).map(|(kept, _)| *kept);
            first.map(|first| sessions.remove(&first));
        }
        sessions.insert(kept(&cookie), Session { token, until: now.after(SESSION_FOR) });
        Some(cookie)
    }

    /// Ends the session of this request.
    pub(super) fn close(&self, headers: &HeaderMap) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        for cookie in cookies(headers) {
            sessions.remove(&kept(cookie));
        }
    }

    /// Who calls, by the request's cookie.
    ///
    /// # Errors
    /// 403 `cross_site`: a session's, and the request would change something and does not come from a page of this server.
    pub(super) fn caller(
        &self,
        method: &Method,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Option<Caller>, Problem> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = cookies(headers).find_map(|cookie| sessions.get(&kept(cookie))).filter(|one| now < one.until);
        let Some(session) = session.cloned() else { return Ok(None) };
        if !matches!(*method, Method::GET | Method::HEAD) {
            same_origin(headers)?;
        }
        Ok(Some(Caller::of(session.token)))
    }
}

/// The line that sets a session's cookie.
pub(super) fn set_cookie(cookie: &str, https: bool) -> HeaderValue {
    let (prefix, secure) = if https { (HOST_PREFIX, "; Secure") } else { ("", "") };
    let age = SESSION_FOR.as_secs();
    let line = format!("{prefix}{COOKIE}={cookie}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    // The alphabet of base64url, and words of ours.
    HeaderValue::from_str(&line).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// What cookies of ours hold.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    pairs.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name.strip_prefix(HOST_PREFIX).unwrap_or(name) == COOKIE).then_some(value)
    })
}

/// Refuses what does not come from a page of this server. Browsers say where a request comes from; who says nothing is none,
/// and has no session to use.
///
/// # Errors
/// 403 `cross_site`.
pub(super) fn same_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let line = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let same = match line("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => match (line("origin").and_then(|origin| origin.split_once("://")), line("host")) {
            (Some((_, origin)), Some(host)) => origin.eq_ignore_ascii_case(host),
            _ => false,
        },
    };
    if same { Ok(()) } else { Err(Problem::new(StatusCode::FORBIDDEN, "cross_site")) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    const START: Timestamp = Timestamp::from_micros(1_000_000);

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn a_code_is_good_once_and_for_ten_minutes() {
        let (login, entropy) = (Login::default(), Counting::default());
        let code = login.offer(&entropy, START);
        assert!(login.open("guess", &entropy, START).is_none());
        assert!(login.open(&code, &entropy, START).is_some(), "a wrong guess does not use it up");
        assert!(login.open(&code, &entropy, START).is_none(), "twice");
        let late = login.offer(&entropy, START);
        assert!(login.open(&late, &entropy, START.after(CODE_FOR)).is_none(), "too late");
        assert!(login.open(&late, &entropy, START).is_none(), "and it is gone");
    }

    #[test]
    fn a_session_changes_things_from_its_own_pages_alone() {
        let (login, entropy) = (Login::default(), Counting::default());
        let code = login.offer(&entropy, START);
        let cookie = login.open(&code, &entropy, START).unwrap();
        let line = format!("a=b; cola_ia_session={cookie}");
        let caller = |method, more: &[(&'static str, &str)], now| {
            let lines = [&[("cookie", line.as_str()), ("host", "cola.example:81")][..], more].concat();
            login
                .caller(&method, &headers(&lines), now)
                .map(|caller| caller.is_some())
                .map_err(|problem| problem.status)
        };
        let refused = Err(StatusCode::FORBIDDEN);
        for (method, more, expected) in [
            (Method::GET, &[][..], Ok(true)),
            (Method::POST, &[], refused),
            (Method::POST, &[("sec-fetch-site", "same-origin")], Ok(true)),
            (Method::POST, &[("sec-fetch-site", "same-site")], refused),
            (Method::POST, &[("sec-fetch-site", "cross-site"), ("origin", "http://cola.example:81")], refused),
            (Method::PUT, &[("origin", "http://cola.example:81")], Ok(true)),
            (Method::PUT, &[("origin", "http://cola.example")], refused),
            (Method::DELETE, &[("origin", "null")], refused),
        ] {
            assert_eq!(caller(method, more, START), expected, "{more:?}");
        }
        assert_eq!(caller(Method::GET, &[], START.after(SESSION_FOR)), Ok(false), "after twelve hours");
        login.close(&headers(&[("cookie", &line)]));
        assert_eq!(caller(Method::GET, &[], START), Ok(false), "closed");
    }

    #[test]
    fn sessions_are_bounded() {
        let (login, entropy) = (Login::default(), Counting::default());
        for n in 0..=SESSIONS_MAX as u64 {
            let now = START.after(Duration::from_secs(n));
            let code = login.offer(&entropy, now);
            login.open(&code, &entropy, now).unwrap();
        }
        let sessions = login.sessions.lock().unwrap();
        assert_eq!(sessions.len(), SESSIONS_MAX);
        assert!(sessions.values().all(|session| session.until > START.after(SESSION_FOR)), "the oldest went");
    }

    #[test]
    fn over_https_the_cookie_is_bound_to_its_host() {
        assert_eq!(
            set_cookie("x", true),
            "__Host-cola_ia_session=x; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"
        );
        assert!(!set_cookie("x", false).to_str().unwrap().contains("Secure"));
        let both = headers(&[("cookie", "__Host-cola_ia_session=y; cola_ia_session=z")]);
        assert_eq!(cookies(&both).collect::<Vec<_>>(), ["y", "z"]);
    }
}
