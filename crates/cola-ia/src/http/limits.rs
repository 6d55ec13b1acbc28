//! The server's bounds, each with a name. What a setting says comes from the configuration.

/// What is told to whoever is to come again, in seconds.
pub const RETRY_AFTER_S: u64 = 2;
