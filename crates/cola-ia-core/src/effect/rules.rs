//! What the ledger heeds, rule by rule.
//!
//! Each rule can be taken away, in tests only, and what goes wrong without it is found there. The shipped program has all of
//! them: its set of rules has no size and asking for one is a constant.

macro_rules! rules {
    ($($name:ident $word:literal $text:literal)*) => {
        /// A rule of the ledger. Some bind the store, some the process that sends; all are explored together.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Rule {
            $(#[doc = $text] $name,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The word in documentation and tests.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

rules! {
    LeaseFirst "lease_first" "`begin` checks the lease before the begin id: an ended lease gets `lease_lost`, never a repeated `go`."
    SendBefore "send_before" "The sender enforces `send_before`: later it sends nothing and reports the try `failed` (not sent)."
    SameInstant "same_instant" "A repeated `go` keeps the first one's instant, counted from the first call, not from an answer."
    FreshId "fresh_id" "A begin id is random, drawn by the process that will send, not derived from job, lease or name, not kept."
    OtherId "other_id" "Another begin id that finds `intended` makes it `unknown` and is answered by policy, never `go` by lease."
    IdOnce "id_once" "A begin id makes at most one try, for ever: repeated after its try closed it is answered `used`."
    MismatchLast "mismatch_last" "`mismatch` is answered only in place of a permission to send; never before `done`, `wait`, `check`, `held`."
    SettleFromDeadline "settle_from_deadline" "`settle` counts from the deadline (send before + call time) of the last open try."
    Ticket "ticket" "`absent` counts only for a lookup started after a `check` answer, given from deadline + settle on."
    TicketTry "ticket_try" "The `check` ticket names the newest try; a further try, or the end of the lease, voids it."
    AbsentCloses "absent_closes" "`absent` makes the effect `failed` (nothing happened); only `begin` makes `intended`."
    LookAfterFailed "look_after_failed" "Under lookup, after `failed` (rejected) the next try too begins with `wait` and `check`."
    TtlDeadline "ttl_deadline" "Under key, a resend is given only if its deadline lies within the ttl of the first open try's begin."
    NamesTry "names_try" "`done`, `failed`, `unknown` name their try and close only that one (under key, `done` closes all)."
    FailedNeedsAll "failed_needs_all" "An effect is `failed` only when no try is open; a rejected try beside an open one: `unknown`."
    DoneStays "done_stays" "`done` is final: no later `failed`, `unknown`, `absent` or end of a lease changes it."
    DoneHeard "done_heard" "A resource id is recorded in every state and from any lease; over `failed`, `abandoned` with an alarm."
    EvidenceKept "evidence_kept" "What was told of an effect stays on record: what is told later is added to it, and never takes its place."
    CompleteRepeat "complete_repeat" "`complete` and `fail`, repeated by the attempt that made them, get the same answer again."
    CompleteSettled "complete_settled" "`complete` is refused while the outcome of an effect is open."
    AnyEnd "any_end" "Every end of a lease (expiry, fail, release, cancel, recover) makes `intended` `unknown`, in one transaction."
    EndHeld "end_held" "A job that is to end failed or cancelled with an effect open is `held` and keeps the verdict for later."
    HeldWakes "held_wakes" "When the last held effect closes, by a late `done` too, the job leaves `held` in that transaction."
    HeldFree "held_free" "An attempt that was answered `held` is not counted; a settled job always has one left."
    AbandonEnds "abandon_ends" "`abandoned` ends the job as failed; such a job is never done."
    PersonWaits "person_waits" "A person's word is refused before the last open try's deadline + settle (found, of one try: never)."
    PersonTry "person_try" "A person's decision names the try that was looked at; for a later try it is void."
    ReplaySettled "replay_settled" "A new run is refused while an effect of an earlier run is open."
    RestoreUnknown "restore_unknown" "After a restore every effect that is not `done`, recorded or not, has one more open try, begun just then."
    LeaseUnique "lease_unique" "Lease tokens never repeat, not even after a restore."
    BudgetLast "budget_last" "The budget is asked last, for a new reservation only: not for `done`, `wait`, `check`, `held`, a resend."
    ReserveCounts "reserve_counts" "The budget check counts what is reserved, in the transaction that reserves."
    ReservePerTry "reserve_per_try" "A try begun beside an open one reserves again (but a same-key resend shares: one charge)."
    ReserveShared "reserve_shared" "Under key the shared reservation is released when the last open try closes, not the first."
    ReleaseOnce "release_once" "A reservation is released by the closing of its try, once, however often the report comes."
}

/// The rules in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    #[cfg(any(test, feature = "removable-rules"))]
    removed: u64,
}

impl Rules {
    /// All of them.
    pub(super) const ALL: Self = Self {
        #[cfg(any(test, feature = "removable-rules"))]
        removed: 0,
    };

    /// Whether this one is in force.
    #[cfg(any(test, feature = "removable-rules"))]
    pub(super) const fn has(self, rule: Rule) -> bool {
        self.removed & (1 << rule as u8) == 0
    }

    /// Whether this one is in force.
    #[cfg(not(any(test, feature = "removable-rules")))]
    #[expect(clippy::unused_self, reason = "the set has no size where no rule can be removed")]
    pub(super) const fn has(self, _: Rule) -> bool {
        true
    }

    /// All but this one.
    #[cfg(any(test, feature = "removable-rules"))]
    #[must_use]
    pub(super) const fn without(self, rule: Rule) -> Self {
        Self { removed: self.removed | 1 << rule as u8 }
    }
}
