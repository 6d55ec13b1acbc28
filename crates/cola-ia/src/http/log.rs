//! The server's log: one line a request and one for whatever an operator must know, on stderr.

use std::io;

use tracing::level_filters::LevelFilter;

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

/// Starts the log of this process. `quiet`: warnings and errors only.
pub fn start(format: LogFormat, quiet: bool) {
    let level = if quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    // A second server in one process, as in tests, goes on with the log of the first.
    let _ = match format {
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).try_init(),
        LogFormat::Text => log.with_ansi(false).try_init(),
    };
}
