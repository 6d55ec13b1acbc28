//! Every bound of the intake has a name here. What happens at each is tested where it is enforced.

/// Longest source name, in bytes (it is ASCII).
pub const SOURCE_MAX_BYTES: usize = 64;
/// Longest event id, in bytes of UTF-8.
pub const ID_MAX_BYTES: usize = 1_024;
/// Longest event type, in bytes of UTF-8.
pub const TYPE_MAX_BYTES: usize = 256;
/// Longest text, in bytes of UTF-8, where the configuration says nothing else.
pub const TEXT_MAX_BYTES_DEFAULT: usize = 1 << 20;
/// The largest text that the configuration may allow: SQLite's own bound on a value is 1,000,000,000 bytes.
pub const TEXT_MAX_BYTES_CEILING: usize = 256 << 20;
/// Longest line, in bytes, where the configuration says nothing else: a text of 1 MiB with every character escaped as
/// `\u00e9` needs 6 MiB, and 2 MiB are left for the fields that are ignored.
pub const LINE_MAX_BYTES_DEFAULT: usize = 8 << 20;
/// The longest line that the configuration may allow.
pub const LINE_MAX_BYTES_CEILING: usize = 1 << 30;
/// Deepest nesting of a JSON line: the object itself is level 1.
pub const JSON_MAX_DEPTH: usize = 64;
/// Most events in one `accept`.
pub const BATCH_MAX_EVENTS: usize = 100_000;
/// Bytes of ids, texts and types after which a batch is full; one event more may be in it.
pub const BATCH_MAX_BYTES: usize = 10 << 20;
/// Largest window of a zstd frame, as a power of two: 8 MiB, what RFC 8878 asks every decoder to support.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Longest detail kept with a refusal, in bytes; a longer one is cut at a character and ends in `…`.
pub const REFUSAL_DETAIL_MAX_BYTES: usize = 200;
/// Refusals of one input that are recorded and printed one by one; later ones are counted by their code.
pub const REFUSALS_ONE_BY_ONE: u64 = 10_000;
