//! A place where effects really happen, as unhelpful as those outside: it counts what happened, forgets keys, lags, is slow, and
//! cuts connections.
//!
//! [`Destination`] is the place itself, without threads and with the time told; [`Server`] is the same one behind HTTP. How a
//! request is treated is in [`Sending`] and [`Looking`]: by default, and for the next ones by a script. It knows nothing of
//! cola-ia: what is compared with the ledger is what is here, in [`effects`](Destination::effects).

mod behaviour;
mod server;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;

pub use behaviour::{Ending, Looking, Sending};
pub use server::Server;

/// Something that happened. That it is here is the truth, whatever anybody was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealEffect {
    /// The key that came with the request; empty where none did.
    pub key: String,
    /// The id of what it made.
    pub resource_id: String,
    /// When it happened.
    pub at: Timestamp,
    /// What was sent.
    pub request: String,
}

/// What the sender hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It happened: this is its id.
    Created(String),
    /// The key is known, and nothing more happened: this is the id of the first time.
    Again(String),
    /// The key is known with another request. Nothing happened.
    OtherRequest,
    /// An HTTP status of refusal or of failure. With [`Ending::FailsAfter`] it happened all the same.
    Refused(u16),
    /// Nothing: the connection ends without an answer.
    Cut,
}

/// What a lookup brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// What is visible under the key, the oldest first.
    Found(Vec<String>),
    /// Nothing is visible under the key.
    Absent,
    /// An HTTP status: it could not be looked up.
    Refused(u16),
    /// Nothing: the connection ends without an answer.
    Cut,
}

/// An answer, and how long it takes. What it says happened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late<T> {
    /// The answer.
    pub answer: T,
    /// How long after the request it comes.
    pub after: Duration,
}

/// A request that is held up on its way.
#[derive(Debug)]
struct OnTheWay {
    arrives_at: Timestamp,
    key: String,
    request: String,
    sending: Sending,
}

/// The place, in memory.
#[derive(Debug)]
pub struct Destination {
    /// How a request to act is treated for which nothing is planned.
    pub sending: Sending,
    /// How a lookup is treated for which nothing is planned.
    pub looking: Looking,
    /// The body with which [`Server`] answers what happened; `{id}` stands for the resource id.
    pub body: String,
    name: String,
    planned_sendings: VecDeque<Sending>,
    planned_lookings: VecDeque<Looking>,
    on_the_way: Vec<OnTheWay>,
    effects: Vec<RealEffect>,
    requests: u64,
    lookups: u64,
}

impl Destination {
    /// A well-behaved one, whose resources are `NAME-1`, `NAME-2`, …: keys are honoured for ever, lookups are offered and see
    /// everything at once.
    pub fn new(name: &str) -> Self {
        Self {
            sending: Sending::default(),
            looking: Looking::default(),
            body: r#"{"id":"{id}"}"#.to_owned(),
            name: name.to_owned(),
            planned_sendings: VecDeque::new(),
            planned_lookings: VecDeque::new(),
            on_the_way: Vec::new(),
            effects: Vec::new(),
            requests: 0,
            lookups: 0,
        }
    }

    /// Treats the next requests to act so, one each, after those that are planned already.
    pub fn plan_sendings(&mut self, script: impl IntoIterator<Item = Sending>) {
        self.planned_sendings.extend(script);
    }

    /// Treats the next lookups so, one each, after those that are planned already.
    pub fn plan_lookings(&mut self, script: impl IntoIterator<Item = Looking>) {
        self.planned_lookings.extend(script);
    }

    /// Asks it to act. An empty key is none.
    pub fn create(&mut self, key: &str, request: &str, now: Timestamp) -> Late<Reply> {
        self.arrive(now);
        self.requests += 1;
        let sending = self.planned_sendings.pop_front().unwrap_or_else(|| self.sending.clone());
        let after = sending.answers_after;
        if let Some(held_up) = sending.held_up {
            let arrives_at = now.after(held_up);
            self.on_the_way.push(OnTheWay { arrives_at, key: key.into(), request: request.into(), sending });
            return Late { answer: Reply::Cut, after: Duration::ZERO };
        }
        Late { answer: self.take(key, request, &sending, now), after }
    }

    /// Asks what is under a key.
    pub fn lookup(&mut self, key: &str, now: Timestamp) -> Late<Looked> {
        self.arrive(now);
        self.lookups += 1;
        let looking = self.planned_lookings.pop_front().unwrap_or_else(|| self.looking.clone());
        let answer = match looking.ending {
            Ending::CutsBefore | Ending::CutsAfter => Looked::Cut,
            Ending::Rejects(status) | Ending::FailsAfter(status) => Looked::Refused(status),
            Ending::Answers if !looking.offered => Looked::Refused(501),
            Ending::Answers => {
                let visible = |effect: &&RealEffect| effect.key == key && effect.at.after(looking.lags) <= now;
                let found: Vec<_> =
                    self.effects.iter().filter(visible).map(|effect| effect.resource_id.clone()).collect();
                if found.is_empty() { Looked::Absent } else { Looked::Found(found) }
            }
        };
        Late { answer, after: looking.answers_after }
    }

    /// All that happened until now, in its order.
    pub fn effects(&mut self, now: Timestamp) -> &[RealEffect] {
        self.arrive(now);
        &self.effects
    }

    /// The ids of what happened under each key until now.
    pub fn by_key(&mut self, now: Timestamp) -> BTreeMap<String, Vec<String>> {
        let mut by_key = BTreeMap::<_, Vec<_>>::new();
        for effect in self.effects(now) {
            by_key.entry(effect.key.clone()).or_default().push(effect.resource_id.clone());
        }
        by_key
    }

    /// How often it was asked to act, and how often it was looked up. What is held up counts when it is sent.
    pub fn asked(&self) -> (u64, u64) {
        (self.requests, self.lookups)
    }

    /// What was held up until now takes effect, in the order of its arrival.
    fn arrive(&mut self, now: Timestamp) {
        if self.on_the_way.is_empty() {
            return;
        }
        self.on_the_way.sort_by_key(|one| one.arrives_at);
        let late = self.on_the_way.partition_point(|one| one.arrives_at <= now);
        for one in self.on_the_way.drain(..late).collect::<Vec<_>>() {
            // Nobody is there any more who could hear the answer.
            let _unheard = self.take(&one.key, &one.request, &one.sending, one.arrives_at);
        }
    }

    fn take(&mut self, key: &str, request: &str, sending: &Sending, now: Timestamp) -> Reply {
        match sending.ending {
            Ending::Rejects(status) => Reply::Refused(status),
            Ending::CutsBefore => Reply::Cut,
            Ending::Answers => self.act(key, request, sending, now),
            Ending::CutsAfter => {
                self.act(key, request, sending, now);
                Reply::Cut
            }
            Ending::FailsAfter(status) => {
                self.act(key, request, sending, now);
                Reply::Refused(status)
            }
        }
    }

    fn act(&mut self, key: &str, request: &str, sending: &Sending, now: Timestamp) -> Reply {
        let remembered = |effect: &&RealEffect| {
            effect.key == key && sending.forgets_after.is_none_or(|time| now < effect.at.after(time))
        };
        let known =
            if sending.honours_keys && !key.is_empty() { self.effects.iter().rev().find(remembered) } else { None };
        if let Some(known) = known {
            let same = known.request == request;
            return if same { Reply::Again(known.resource_id.clone()) } else { Reply::OtherRequest };
        }
        let resource_id = format!("{}-{}", self.name, self.effects.len() + 1);
        self.effects.push(RealEffect {
            key: key.to_owned(),
            resource_id: resource_id.clone(),
            at: now,
            request: request.to_owned(),
        });
        Reply::Created(resource_id)
    }
}
