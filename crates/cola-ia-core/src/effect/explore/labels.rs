//! What happened, for people who read a counterexample.

use super::world::{Answer, Call, Request, Worker};

#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "printed with Debug")]
pub(super) enum Label {
    Dies(Worker),
    Calls(Call, Answer, Fate),
    Joined(Worker),
    GoesOnTo(Worker, u8),
    Sends(Worker),
    WaitsNoLonger(Worker),
    LooksUp(Worker, Option<u8>),
    TakesEffect(Request, u8, Heard),
    IsRejected(Request, Heard),
    LateCopyArrives(Call, Answer),
    Claims(u8),
    LeaseIsLost(u8),
    BackupIsTaken,
    StoreIsRestored,
    PersonDecides(Call, Fate),
    PersonCancels(u8),
    PersonOrdersANewRun,
    PersonRaisesTheBudget,
    PersonHasItTriedAgain(u8),
    Tick,
}

/// What became of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    Answered,
    AnswerIsLost,
    ACopyStaysOnTheWay,
}

/// Whether the response came back.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "printed with Debug")]
pub(super) enum Heard {
    Nobody,
    By(u8),
}

impl Label {
    /// A path to the job's end does not count where a person cancels it.
    pub(super) fn cancels(&self) -> bool {
        matches!(self, Self::PersonCancels(_))
    }
}
