//! What a server answers, as the error of a store.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use axum::http::StatusCode;
use cola_ia_core::store::{ErrorKind, StoreError};
use cola_ia_wire::Problem;

/// Words of servers that are kept. A server of ours has far fewer.
const WORDS_MAX: usize = 1_024;
/// Bytes of such a word.
const WORD_MAX_BYTES: usize = 64;
/// In place of a word that is not kept.
const UNKNOWN: &str = "unknown";

/// The error that an answer tells of. One of the server's store comes back as it was.
pub(super) fn of_answer(server: &str, status: StatusCode, body: &[u8]) -> StoreError {
    let problem: Option<Problem> = serde_json::from_slice(body).ok();
    match status {
        StatusCode::UNAUTHORIZED => {
            return StoreError::new(ErrorKind::Invalid, "server_unauthorised").with("server", server);
        }
        StatusCode::FORBIDDEN => {
            let what = problem.and_then(|problem| problem.detail).unwrap_or_default();
            return StoreError::new(ErrorKind::Invalid, "server_forbidden").with("server", server).with("what", what);
        }
        _ => {}
    }
    let Some(problem) = problem else {
        return StoreError::new(ErrorKind::Unavailable, "server_answer").with("server", server).with("cause", status);
    };
    if let Some(kind) = problem.kind.as_deref().and_then(kind) {
        let mut error = StoreError::new(kind, word(&problem.code));
        error.facts = problem.facts.into_iter().map(|(name, value)| (word(&name), value)).collect();
        return error;
    }
    let kind = if status.is_client_error() { ErrorKind::Invalid } else { ErrorKind::Unavailable };
    let cause = match problem.detail {
        Some(detail) => format!("{} {}: {detail}", problem.status, problem.code),
        None => format!("{} {}", problem.status, problem.code),
    };
    StoreError::new(kind, "server_answer").with("server", server).with("cause", cause)
}

/// There was no answer: it is not known whether anything was done.
pub(super) fn unreachable(server: &str, cause: &dyn fmt::Display) -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "server_unreachable").with("server", server).with("cause", cause)
}

/// No request came to be: the server is not known for the one that its address names, or it cannot be reached.
pub(super) fn not_sent(server: &str, cause: &(dyn Error + 'static)) -> StoreError {
    match certificate_fault(cause) {
        // Saying it again would change nothing.
        Some(fault) => {
            StoreError::new(ErrorKind::Invalid, "server_untrusted").with("server", server).with("cause", fault)
        }
        None => unreachable(server, &Chain(cause)),
    }
}

/// What is wrong with the server's certificate, if that is what went wrong.
fn certificate_fault<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::CertificateError> {
    let mut next = Some(cause);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(fault)) = error.downcast_ref() {
            return Some(fault);
        }
        // An error of input and output tells of the causes of what it holds, and not of that itself.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}

/// The answer is none of a server of ours.
pub(super) fn nonsense(server: &str, cause: &dyn fmt::Display) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, "server_answer").with("server", server).with("cause", cause)
}

fn kind(word: &str) -> Option<ErrorKind> {
    Some(match word {
        "invalid" => ErrorKind::Invalid,
        "conflict" => ErrorKind::Conflict,
        "lease_lost" => ErrorKind::LeaseLost,
        "unavailable" => ErrorKind::Unavailable,
        "corrupt" => ErrorKind::Corrupt,
        _ => return None,
    })
}

/// A word of a server for as long as the process lives: an error's words do. They are few, and bounded whatever a server says.
pub(super) fn word(text: &str) -> &'static str {
    static WORDS: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let known = WORDS.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = known.get(text) {
        return word;
    }
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if text.len() > WORD_MAX_BYTES || !text.bytes().all(is_word) || known.len() >= WORDS_MAX {
        return UNKNOWN;
    }
    let word: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(word);
    word
}

/// An error with all that caused it, on a line.
pub(super) struct Chain<'a>(pub(super) &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(one) = cause {
            write!(f, ": {one}")?;
            cause = one.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http;

    #[test]
    fn a_stores_error_comes_back_as_it_was() {
        let kinds =
            [ErrorKind::Invalid, ErrorKind::Conflict, ErrorKind::LeaseLost, ErrorKind::Unavailable, ErrorKind::Corrupt];
        for kind in kinds {
            let error = StoreError::new(kind, "store_full").with("cause", "no \"space\"\n").with("path", "ñ");
            let problem = http::Problem::of_store(&error);
            let body = serde_json::to_vec(&problem.body).unwrap();
            let back = of_answer("s", problem.status, &body);
            assert_eq!((back.kind, back.code, back.facts), (error.kind, error.code, error.facts));
        }
    }

    #[test]
    fn what_is_no_answer_of_ours_is_said_to_be_none() {
        for (status, body, code) in [
            (StatusCode::UNAUTHORIZED, "", "server_unauthorised"),
            (StatusCode::FORBIDDEN, "<html>", "server_forbidden"),
            (StatusCode::FOUND, "", "server_answer"),
            (StatusCode::BAD_GATEWAY, "<html>", "server_answer"),
        ] {
            assert_eq!(of_answer("s", status, body.as_bytes()).code, code);
        }
    }

    #[test]
    fn a_word_of_a_server_is_a_word() {
        assert_eq!(word("store_full"), "store_full");
        assert_eq!(word("<script>"), UNKNOWN);
        assert_eq!(word(&"a".repeat(65)), UNKNOWN);
    }
}
