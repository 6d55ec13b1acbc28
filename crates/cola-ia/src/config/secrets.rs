//! Where a source's secrets are. They are read where they are needed, never kept with the settings and never printed.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use cola_ia_webhook::{Scheme, Secret, SecretFault};

use super::Environment;
use crate::lang::Message;

/// A longer one is another file.
const SECRET_MAX_BYTES: u64 = 64 << 10;

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// In this variable.
    Variable(String),
    /// In this file.
    File(PathBuf),
}

impl SecretPlace {
    /// For people.
    pub fn shown(&self) -> String {
        match self {
            Self::Variable(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Reads it, and decodes it as its scheme says; a token is compared as it is.
    ///
    /// # Errors
    /// It is not there, empty, or no secret of this scheme; never with anything of it.
    pub(super) fn read(&self, scheme: Option<&Scheme>, environment: &Environment) -> Result<Secret, Message> {
        let place = |key: &'static str| Message::new(key).with("place", self.shown());
        let raw = match self {
            Self::Variable(name) => match environment.var_os(name) {
                Some(value) => value.into_encoded_bytes(),
                // An empty variable counts as not set.
                None => return Err(place("secret-variable-missing")),
            },
            Self::File(path) => {
                let mut raw = Vec::new();
                let read = File::open(path).and_then(|file| file.take(SECRET_MAX_BYTES).read_to_end(&mut raw));
                read.map_err(|error| place("secret-file-unreadable").caused_by(&error))?;
                raw
            }
        };
        let parsed = scheme.map_or_else(|| Secret::token(&raw), |scheme| Secret::parse(scheme, &raw));
        parsed.map_err(|fault| place("secret-unusable").message("fault", Message::new(in_words(fault))))
    }
}

const fn in_words(fault: SecretFault) -> &'static str {
    match fault {
        SecretFault::Empty => "secret-fault-empty",
        SecretFault::TooLong => "secret-fault-too-long",
        SecretFault::NotBase64 => "secret-fault-not-base64",
        SecretFault::NotHex => "secret-fault-not-hex",
        SecretFault::OtherKind => "secret-fault-other-kind",
        SecretFault::Length(_) => "secret-fault-length",
        SecretFault::NotAKey => "secret-fault-not-a-key",
    }
}
