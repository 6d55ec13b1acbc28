//! The switches of a destination.

use std::time::Duration;

/// How a request to act is treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// A key that is known is answered with what happened the first time.
    pub honours_keys: bool,
    /// A key is known for so long after it was used; `None`: for ever.
    pub forgets_after: Option<Duration>,
    /// The request arrives so much later, whoever still waits for it; its sender hears nothing.
    pub held_up: Option<Duration>,
    /// The answer comes so long after the act.
    pub answers_after: Duration,
    /// What comes of it.
    pub ending: Ending,
}

impl Default for Sending {
    /// Keys are honoured for ever; it acts, and answers, at once.
    fn default() -> Self {
        Self {
            honours_keys: true,
            forgets_after: None,
            held_up: None,
            answers_after: Duration::ZERO,
            ending: Ending::Answers,
        }
    }
}

impl Sending {
    /// Like a default one, but for what comes of it.
    pub fn ending(ending: Ending) -> Self {
        Self { ending, ..Self::default() }
    }
}

/// How a lookup is treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looking {
    /// There is a lookup at all; otherwise it is answered with status 501.
    pub offered: bool,
    /// What happened is visible only so much later.
    pub lags: Duration,
    /// The answer comes so long after the question.
    pub answers_after: Duration,
    /// What comes of it; a lookup does nothing, so before and after are the same.
    pub ending: Ending,
}

impl Default for Looking {
    /// Offered, and it sees everything at once.
    fn default() -> Self {
        Self { offered: true, lags: Duration::ZERO, answers_after: Duration::ZERO, ending: Ending::Answers }
    }
}

/// What comes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It acts and answers.
    Answers,
    /// It does nothing and answers this HTTP status.
    Rejects(u16),
    /// It does nothing and cuts the connection.
    CutsBefore,
    /// It acts and cuts the connection.
    CutsAfter,
    /// It acts and answers this HTTP status all the same, as what stands before a service can do.
    FailsAfter(u16),
}
