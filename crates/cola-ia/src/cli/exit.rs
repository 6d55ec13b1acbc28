//! How a command ends, for scripts.

use std::process::ExitCode;

/// An exit code. The numbers are a contract, explained in `--help` and in `docs/ERRORS.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// All well.
    Done = 0,
    /// It could not be done: a store that cannot be opened, a file that cannot be read.
    Failed = 1,
    /// The command, or a setting in a flag, a variable or the file, is not understood. Nothing was attempted.
    Usage = 2,
    /// Conflicts were found and `--fail-on conflict` was given. Everything that could enter did.
    Conflicts = 3,
    /// Some input was refused. Everything else entered.
    Refused = 4,
    /// The server does not know the token, or it does not allow this.
    NotAuthorised = 5,
    /// Nothing was wrong but the last line, which is unfinished; the next run takes it.
    Unfinished = 6,
    /// The lease is no longer the caller's. Nothing was changed.
    LeaseLost = 7,
    /// There is nothing to claim.
    NothingToClaim = 8,
    /// The effect is refused, or held: a person decides.
    EffectRefused = 9,
    /// The destination of an effect refused it for good.
    Rejected = 65,
    /// An effect was sent, and nobody knows whether it happened.
    EffectUnknown = 70,
    /// Nothing was sent now; the same again later. No failure.
    Later = 75,
    /// Interrupted by a signal, between two batches. What was answered is stored.
    Interrupted = 130,
}

impl Exit {
    /// The codes that a command gives today, in the order of the help.
    pub const IN_USE: [Self; 14] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Conflicts,
        Self::Refused,
        Self::NotAuthorised,
        Self::Unfinished,
        Self::LeaseLost,
        Self::NothingToClaim,
        Self::EffectRefused,
        Self::Rejected,
        Self::EffectUnknown,
        Self::Later,
        Self::Interrupted,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
