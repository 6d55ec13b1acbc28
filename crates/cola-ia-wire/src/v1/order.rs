//! What a person orders of jobs.

use cola_ia_core::store::{Ended, Order, OrderRefused};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::values::{Instant, StateWord};

/// What is to become of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderAsk {
    /// What is ordered.
    pub order: OrderWord,
    /// The jobs, by the numbers of their events; at most 1,000.
    pub jobs: Vec<i64>,
}

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderWord {
    /// Stop it for good.
    Cancel,
    /// Try it again, with all its attempts before it.
    Retry,
    /// Work on it once more, as a new run.
    Replay,
}

impl From<Order> for OrderWord {
    fn from(order: Order) -> Self {
        match order {
            Order::Cancel => Self::Cancel,
            Order::Retry => Self::Retry,
            Order::Replay => Self::Replay,
        }
    }
}

impl From<OrderWord> for Order {
    fn from(order: OrderWord) -> Self {
        match order {
            OrderWord::Cancel => Self::Cancel,
            OrderWord::Retry => Self::Retry,
            OrderWord::Replay => Self::Replay,
        }
    }
}

/// One answer for each job, in the order in which they were named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderAnswers {
    /// The answers.
    pub jobs: Vec<OrderSaid>,
}

/// What became of a job by an order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderSaid {
    /// Why nothing was changed: `missing`, `state` (it does not take the order), `content_gone`, `effects_open` or
    /// `effect_abandoned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The job's state from then on, or that in which it does not take the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateWord>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
}

impl From<Result<Ended, OrderRefused>> for OrderSaid {
    fn from(answer: Result<Ended, OrderRefused>) -> Self {
        let refused = |word: &str| Self { refused: Some(word.to_owned()), ..Self::default() };
        match answer {
            Ok(ended) => Self { refused: None, state: Some(StateWord(ended.state)), due_at: ended.due_at.map(Instant) },
            Err(OrderRefused::Missing) => refused("missing"),
            Err(OrderRefused::State(state)) => Self { state: Some(StateWord(state)), ..refused("state") },
            Err(OrderRefused::ContentGone) => refused("content_gone"),
            Err(OrderRefused::EffectsOpen) => refused("effects_open"),
            Err(OrderRefused::EffectAbandoned) => refused("effect_abandoned"),
        }
    }
}

impl OrderSaid {
    /// The answer as it was given; `None` where it is none.
    pub fn read(self) -> Option<Result<Ended, OrderRefused>> {
        Some(match self.refused.as_deref() {
            None => Ok(Ended { state: self.state?.0, due_at: self.due_at.carry() }),
            Some("missing") => Err(OrderRefused::Missing),
            Some("state") => Err(OrderRefused::State(self.state?.0)),
            Some("content_gone") => Err(OrderRefused::ContentGone),
            Some("effects_open") => Err(OrderRefused::EffectsOpen),
            Some("effect_abandoned") => Err(OrderRefused::EffectAbandoned),
            Some(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::Timestamp;
    use cola_ia_core::job::JobState;

    use super::*;

    #[test]
    fn every_answer_is_read_as_it_was_written() {
        let answers = [
            Ok(Ended { state: JobState::Pending, due_at: Some(Timestamp::from_micros(1)) }),
            Ok(Ended { state: JobState::Cancelled, due_at: None }),
            Err(OrderRefused::Missing),
            Err(OrderRefused::State(JobState::Done)),
            Err(OrderRefused::ContentGone),
            Err(OrderRefused::EffectsOpen),
            Err(OrderRefused::EffectAbandoned),
        ];
        for answer in answers {
            let json = serde_json::to_string(&OrderSaid::from(answer)).unwrap();
            assert_eq!(serde_json::from_str::<OrderSaid>(&json).unwrap().read(), Some(answer), "{json}");
        }
        for order in [Order::Cancel, Order::Retry, Order::Replay] {
            let json = serde_json::to_string(&OrderWord::from(order)).unwrap();
            assert_eq!(json, format!("\"{}\"", order.as_str()));
            assert_eq!(Order::from(serde_json::from_str::<OrderWord>(&json).unwrap()), order);
        }
    }
}
