//! What one endpoint is.

use std::pin::Pin;

use axum::response::Response;
use axum::routing::MethodFilter;
use cola_ia_core::store::TokenScope;

use super::{Call, Doc};
use crate::http::{App, Problem};

/// An answer.
pub type Answer = Result<Response, Problem>;
/// An answer to come.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// One method of one path.
pub struct Endpoint {
    /// The method.
    pub verb: Verb,
    /// The path below `/v1`. The only values in paths are names of sources: ids are values of queries and bodies.
    pub path: &'static str,
    /// Who may, and what answers.
    pub access: Access,
    /// How it is described.
    pub doc: Doc,
}

/// The methods that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Looks.
    Get,
    /// Does something.
    Post,
    /// Sets something.
    Put,
}

impl Verb {
    pub(super) fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
        }
    }

    /// The method's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    /// As the header `Allow` has it: whoever may look may ask for the head alone.
    pub(super) const fn allowed(self) -> &'static str {
        match self {
            Self::Get => "GET,HEAD",
            other => other.as_str(),
        }
    }
}

/// Who may, and what answers.
#[derive(Clone, Copy)]
pub enum Access {
    /// Everybody; nothing of the store is told.
    Open(fn(&App) -> Answer),
    /// Whose token has one of these scopes (at least one is listed), or `admin`.
    Scoped(&'static [TokenScope], fn(Call) -> Answering),
}
