//! The server's bounds, each with a name. What a setting says comes from the configuration.

use std::time::Duration;

use crate::config::Settings;

/// Bytes of a request's line and header lines together.
pub const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Lines of a header.
pub const HEADERS_MAX: usize = 100;
/// Requests that share one transaction, at most …
pub const GROUP_MAX_REQUESTS: usize = 256;
/// … and the bytes of their events.
pub const GROUP_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Bodies up to this size need not wait for room that larger ones hold.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;
/// How long a body may wait for room.
pub const ROOM_WAIT: Duration = Duration::from_secs(5);
/// What is told to whoever is to come again, in seconds.
pub const RETRY_AFTER_S: u64 = 2;
/// Refusals of a source that are recorded singly, in a minute.
pub const REFUSALS_A_MINUTE: u32 = 60;
/// What a source without signatures may send where it says nothing: so many a minute.
pub const UNSIGNED_A_MINUTE: u32 = 600;

/// The bounds that settings give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open connections.
    pub connections: usize,
    /// Until the whole head of a request must have come, from the connection's start or the answer before.
    pub header_deadline: Duration,
    /// Until the whole body must have come, from its head.
    pub body_deadline: Duration,
    /// How long requests in progress may go on once the server is to stop.
    pub grace: Duration,
    /// Bytes of bodies in memory at the same time.
    pub body_budget: usize,
    /// Requests that wait for the store.
    pub queue: usize,
}

impl Limits {
    /// As the settings say.
    pub fn of(settings: &Settings) -> Self {
        Self {
            connections: settings.serve.max_connections as usize,
            header_deadline: settings.serve.header_deadline,
            body_deadline: settings.serve.body_deadline,
            grace: settings.serve.grace,
            body_budget: settings.serve.body_budget,
            queue: settings.serve.queue as usize,
        }
    }
}
