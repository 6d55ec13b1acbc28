//! Who calls: bearer tokens, of which the store has the hashes.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::store::{Store, TokenHash, TokenScope, TokenView};
use sha2::{Digest as _, Sha256};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::problem::Problem;

/// What a token starts with, so that people and scanners know one.
const PREFIX: &str = "cia_";
/// How long a look at the store is good for: a token that was revoked is good for so long still.
const FRESH_MICROS: i64 = 1_000_000;
/// Looks that are kept.
const KEPT_MAX: usize = 1_024;
/// The longest that can be a token.
const TOKEN_MAX_BYTES: usize = 256;

/// A new token: to be shown once, and kept by its bearer alone.
pub fn new_token(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; 32];
    entropy.fill(&mut bytes);
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// What the store keeps of a token. It has 256 random bits, so a plain hash is enough.
pub fn hash_of(token: &str) -> TokenHash {
    TokenHash(Sha256::digest(token.as_bytes()).into())
}

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    token: Arc<TokenView>,
}

impl Caller {
    /// Who bears this token.
    pub fn of(token: Arc<TokenView>) -> Self {
        Self { token }
    }

    /// The token's name.
    pub fn name(&self) -> &str {
        &self.token.name
    }

    /// Whether the caller may do this.
    pub fn allows(&self, scope: TokenScope) -> bool {
        self.token.allows(scope)
    }

    /// Refuses a caller that may not do this.
    ///
    /// # Errors
    /// 403 `scope_missing`.
    pub fn must(&self, scope: TokenScope) -> Result<(), Problem> {
        if self.allows(scope) { Ok(()) } else { Err(forbidden("scope_missing", scope.as_str())) }
    }

    /// Whether the caller may hand over events of some sources only.
    pub fn is_bound(&self) -> bool {
        !self.token.sources.is_empty() && !self.allows(TokenScope::Admin)
    }

    /// Whether the caller may hand over events of this source.
    pub fn may_ingest(&self, source: &Source) -> bool {
        self.token.may_ingest(source)
    }
}

fn forbidden(code: &str, what: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, code).detail(what)
}

/// 401: nobody that is known.
pub fn unauthorised() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "token_needed")
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"cola-ia\""))
}

#[derive(Clone)]
struct Look {
    at: Timestamp,
    found: Option<Arc<TokenView>>,
}

/// The tokens of a store, looked at again after a second.
pub struct Tokens {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    looks: Mutex<HashMap<TokenHash, Look>>,
    /// Callers of whom the store knows nothing.
    own: HashMap<TokenHash, Arc<TokenView>>,
    /// How much each of them may ask; `None`: as much as it likes.
    limiter: Option<DefaultKeyedRateLimiter<TokenHash>>,
}

impl Tokens {
    /// Those of this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, looks: Mutex::default(), own: HashMap::new(), limiter: None }
    }

    /// The same, and each may ask so many times a minute; 0: as often as it likes.
    #[must_use]
    pub fn limited(self, a_minute: u32) -> Self {
        let quota = NonZeroU32::new(a_minute).map(Quota::per_minute);
        Self { limiter: quota.map(RateLimiter::keyed), ..self }
    }

    /// Refuses a token that asked too much. Only those that are known come here, so that guesses fill no memory.
    fn within_rate(&self, hash: TokenHash) -> Result<(), Problem> {
        let Some(Err(until)) = self.limiter.as_ref().map(|limiter| limiter.check_key(&hash)) else { return Ok(()) };
        let wait = until.wait_time_from(DefaultClock::default().now());
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited").retry_after(wait.as_secs() + 1))
    }

    /// Knows this token too, though the store does not: for a server within a test.
    pub fn know(&mut self, hash: TokenHash, view: TokenView) {
        self.own.insert(hash, Arc::new(view));
    }

    /// Who calls, by the request's header.
    ///
    /// # Errors
    /// 401 where nobody that is known does; what keeps the store from being asked.
    pub async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let token = bearer(headers).ok_or_else(unauthorised)?;
        let hash = hash_of(token);
        let now = self.clock.now();
        let found = if let Some(own) = self.own.get(&hash) {
            Some(Arc::clone(own))
        } else if let Some(look) = self.fresh(hash, now) {
            look.found
        } else {
            let found = self.store.token_find(hash).await.map_err(|error| Problem::of_store(&error))?.map(Arc::new);
            self.keep(hash, Look { at: now, found: found.clone() });
            found
        };
        let caller = found.filter(|token| token.is_live(now)).map(Caller::of).ok_or_else(unauthorised)?;
        self.within_rate(hash)?;
        Ok(caller)
    }

    fn fresh(&self, hash: TokenHash, now: Timestamp) -> Option<Look> {
        let looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        let look = looks.get(&hash)?;
        let age = now.as_micros() - look.at.as_micros();
        (0..FRESH_MICROS).contains(&age).then(|| look.clone())
    }

    fn keep(&self, hash: TokenHash, look: Look) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        // Guesses must not fill the memory.
        if looks.len() >= KEPT_MAX {
            looks.clear();
        }
        looks.insert(hash, look);
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let line = lines.next()?.to_str().ok()?;
    let (scheme, token) = line.split_once(' ')?;
    let token = token.trim();
    let known = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= TOKEN_MAX_BYTES;
    (known && lines.next().is_none()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::AUTHORIZATION, HeaderValue::from_static(line));
        }
        headers
    }

    #[test]
    fn a_token_is_read_from_one_line_alone() {
        assert_eq!(bearer(&headers(&["Bearer cia_x"])), Some("cia_x"));
        assert_eq!(bearer(&headers(&["bearer  cia_x "])), Some("cia_x"));
        for wrong in [&[][..], &["cia_x"], &["Basic cia_x"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(bearer(&headers(wrong)), None, "{wrong:?}");
        }
    }

    #[test]
    fn tokens_have_one_form() {
        struct Fixed;
        impl Entropy for Fixed {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(0xff);
            }
        }
        let token = new_token(&Fixed);
        assert_eq!(token.len(), 47);
        assert!(token.starts_with("cia_"));
        assert_ne!(hash_of(&token), hash_of("cia_"));
    }
}
