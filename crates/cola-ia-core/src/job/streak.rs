//! Jobs of a source that fail one after the other.

use super::{Ending, Setback};
use crate::clock::Timestamp;
use crate::intake::EventNumber;
use crate::store::{ERROR_CLASS_MAX_BYTES, fitting};

/// Failures in a row that are worth a warning.
pub const STREAK_WORTH_A_WARNING: u32 = 10;

/// Failures of a source in a row, all of one class. A job that fails again right after itself counts once: it is about many
/// jobs, not about one that is bad. What is put off or given back is no failure and ends nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streak {
    /// The class of errors; `crashed` for lost workers, and where a failure has no class, how it ended.
    pub class: String,
    /// How many, from 1.
    pub count: u32,
    /// When the first of them ended.
    pub since: Timestamp,
    /// The job that failed last.
    pub event: EventNumber,
}

/// What the end of an attempt says about its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// It works.
    Good,
    /// A failure of this class.
    Bad(String),
}

impl Sign {
    /// Of the end of an attempt; `None` where it says nothing.
    pub fn of(ending: Ending, class: Option<&str>) -> Option<Self> {
        let word = match ending {
            Ending::Done => return Some(Self::Good),
            Ending::Later { .. } | Ending::Released => return None,
            Ending::Failed { setback: Setback::Error, .. } => "error",
            Ending::Failed { setback: Setback::Permanent, .. } => "permanent",
            Ending::Failed { setback: Setback::TimedOut, .. } => "timed_out",
        };
        Some(Self::Bad(fitting(class.unwrap_or(word), ERROR_CLASS_MAX_BYTES)))
    }

    /// Of a worker that was lost.
    pub fn of_lost_worker() -> Self {
        Self::Bad("crashed".to_owned())
    }
}

impl Streak {
    /// What a streak is after one more sign.
    pub fn after(streak: Option<Self>, event: EventNumber, sign: &Sign, at: Timestamp) -> Option<Self> {
        match (streak, sign) {
            (_, Sign::Good) => None,
            (Some(streak), Sign::Bad(class)) if streak.class == *class => {
                let more = u32::from(streak.event != event);
                Some(Self { count: streak.count.saturating_add(more), event, ..streak })
            }
            (_, Sign::Bad(class)) => Some(Self { class: class.clone(), count: 1, since: at, event }),
        }
    }

    /// Whether so many failures pause the source.
    pub fn pauses(&self, pause_after: Option<u32>) -> bool {
        pause_after.is_some_and(|most| self.count >= most.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Ending = Ending::Failed { setback: Setback::Error, not_before: None };

    fn after(signs: &[(i64, Option<Sign>)]) -> Option<(String, u32, i64)> {
        let mut streak = None;
        for ((event, sign), at) in signs.iter().zip(1..) {
            if let Some(sign) = sign {
                streak = Streak::after(streak, EventNumber(*event), sign, Timestamp::from_micros(at));
            }
        }
        streak.map(|streak| (streak.class, streak.count, streak.since.as_micros()))
    }

    #[test]
    fn a_streak_is_of_one_class_and_of_different_jobs() {
        let bad = |class| Sign::of(FAILED, Some(class));
        let (good, later) = (Sign::of(Ending::Done, Some("x")), Sign::of(Ending::Released, Some("x")));
        let is = |class: &str, count, since| Some((class.to_owned(), count, since));
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[(1, bad("a")), (2, bad("a")), (3, bad("a"))]), is("a", 3, 1));
        assert_eq!(after(&[(1, bad("a")), (1, bad("a")), (1, bad("a"))]), is("a", 1, 1));
        assert_eq!(after(&[(1, bad("a")), (2, bad("a")), (1, bad("a"))]), is("a", 3, 1));
        assert_eq!(after(&[(1, bad("a")), (2, bad("b")), (3, bad("b"))]), is("b", 2, 2));
        assert_eq!(after(&[(1, bad("a")), (2, later.clone()), (3, bad("a"))]), is("a", 2, 1));
        assert_eq!(after(&[(1, bad("a")), (2, good.clone())]), None);
        assert_eq!(after(&[(1, bad("a")), (2, good), (3, bad("a"))]), is("a", 1, 3));
    }

    #[test]
    fn a_failure_without_a_class_is_of_the_class_of_its_end() {
        let of = |setback| Sign::of(Ending::Failed { setback, not_before: None }, None);
        assert_eq!(of(Setback::Error), Some(Sign::Bad("error".into())));
        assert_eq!(of(Setback::TimedOut), Some(Sign::Bad("timed_out".into())));
        assert_eq!(of(Setback::Permanent), Some(Sign::Bad("permanent".into())));
        assert_eq!(Sign::of_lost_worker(), Sign::Bad("crashed".into()));
    }

    #[test]
    fn a_source_is_paused_by_so_many_and_never_by_default() {
        let streak = Streak { class: "a".into(), count: 5, since: Timestamp::from_micros(1), event: EventNumber(1) };
        assert!(streak.pauses(Some(5)) && streak.pauses(Some(1)) && streak.pauses(Some(0)));
        assert!(!streak.pauses(Some(6)) && !streak.pauses(None));
    }
}
