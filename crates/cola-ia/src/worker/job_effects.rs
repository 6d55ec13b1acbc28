//! What a job's command says of the job's effects on its socket: it goes to the store at once, with the job's lease.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cola_ia_core::effect::{
    BeginAnswer, BeginId, EffectName, Evidence, Micros, Otherwise, Policy, Refused, ReportAnswer, SETTLE_DEFAULT,
    parse_request_hash,
};
use cola_ia_core::store::{EffectRef, Failure, Looked, StoreError};
use cola_ia_wire::{Effect, EffectAnswer, EffectRequest, VERSION};
use serde_json::to_vec;

use super::socket::{JobLine, not_negative, resource_id, result};
use crate::effect::holder::{begin, tell};
use crate::effect::{CALL_TIME, LONGEST, Plan, SEND_WITHIN, Word};
use crate::lang::Message;
use crate::print::id_on_a_line;

impl JobLine {
    pub(super) async fn answer_of_effects(&self, request: &EffectRequest<'_>) -> serde_json::Result<Vec<u8>> {
        if request.v != VERSION {
            return to_vec(&invalid("request_version"));
        }
        if request.verb == "effect_list" {
            return self.list().await;
        }
        let Some(name) = EffectName::new(&request.name) else { return to_vec(&invalid("name_syntax")) };
        if request.verb == "effect_begin" {
            let (plan, id) = match plan(request, &name) {
                Ok(plan) => plan,
                Err(code) => return to_vec(&invalid(code)),
            };
            return match self.store.effect_begin(begin(&plan, id, self.token), self.policy).await {
                Ok(begun) => {
                    self.heed(&name, &begun.answer);
                    to_vec(&EffectAnswer::begun(&name, &begun))
                }
                Err(error) => to_vec(&unavailable(&error)),
            };
        }
        let (Ok(word), Some(number)) = (word(request), request.r#try) else {
            let code = word(request).err().unwrap_or("try_missing");
            return to_vec(&invalid(code));
        };
        let of = EffectRef { lease: self.token, name: name.clone(), number, job: Some(self.job.clone()) };
        match tell(&*self.store, &self.prices, of, &word, self.policy).await {
            Ok((answer, uncounted)) => {
                if let Some(uncounted) = uncounted {
                    let message = Message::new("work-cost").with("id", id_on_a_line(&self.job.id));
                    self.voice.warn(message.message("fault", uncounted.message()));
                }
                self.heed_report(&word, answer);
                to_vec(&EffectAnswer::reported(&name, answer))
            }
            Err(error) => to_vec(&unavailable(&error)),
        }
    }

    /// The effects of the job's run.
    async fn list(&self) -> serde_json::Result<Vec<u8>> {
        match self.store.find_events(Some(self.job.source.clone()), self.job.id.clone()).await {
            Ok(events) => {
                let views = events.iter().flat_map(|event| &event.effects);
                let effects = views.filter(|view| view.effect.run == self.job.run).map(Effect::new).collect();
                to_vec(&EffectAnswer { effects: Some(effects), ..EffectAnswer::of("ok") })
            }
            Err(error) => to_vec(&unavailable(&error)),
        }
    }

    /// Keeps what the end of the job depends on.
    fn heed(&self, name: &EffectName, answer: &BeginAnswer) {
        let mut seen = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
        seen.waits.remove(name);
        match answer {
            BeginAnswer::Wait { until } | BeginAnswer::Refused(Refused::Budget { resets_at: until }) => {
                seen.waits.insert(name.clone(), *until);
            }
            BeginAnswer::Done(recorded) => {
                seen.resource_id = recorded.evidence.resource_id.clone().or(seen.resource_id.take());
            }
            BeginAnswer::Held(_) => {
                seen.held = true;
                self.settled.store(true, Ordering::SeqCst);
            }
            BeginAnswer::Go(_) | BeginAnswer::Check { .. } | BeginAnswer::Used | BeginAnswer::Refused(_) => {}
        }
    }

    fn heed_report(&self, word: &Word, answer: ReportAnswer) {
        let (Word::Done(evidence, _) | Word::Looked(Looked::Found(evidence))) = word else { return };
        if answer == ReportAnswer::Recorded {
            let mut seen = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
            seen.resource_id = evidence.resource_id.clone().or(seen.resource_id.take());
        }
    }
}

fn plan(request: &EffectRequest<'_>, name: &EffectName) -> Result<(Plan, BeginId), &'static str> {
    let length = |millis: Option<u64>, otherwise: Duration, code| match millis.map(Duration::from_millis) {
        Some(length) if length > LONGEST => Err(code),
        length => Ok(length.unwrap_or(otherwise)),
    };
    let money = |micros: Option<i64>| match micros.map(Micros::new) {
        Some(None) => Err("cost_range"),
        amount => Ok(amount.flatten()),
    };
    let id = request.begin_id.as_deref().and_then(BeginId::parse).ok_or("begin_id_syntax")?;
    let hash = request.request_hash.as_deref().map(parse_request_hash);
    let otherwise = request.otherwise.as_deref().map_or(Some(Otherwise::Hold), Otherwise::from_word);
    let plan = Plan {
        name: name.clone(),
        policy: Policy {
            key_ttl: request
                .key_ttl_ms
                .map(|millis| length(Some(millis), Duration::ZERO, "key_ttl_range"))
                .transpose()?,
            lookup: request.lookup,
            settle: length(request.settle_ms, SETTLE_DEFAULT, "settle_range")?,
            otherwise: otherwise.ok_or("otherwise_unknown")?,
            retry_below: money(request.retry_below_micros)?,
        },
        request: hash.map_or(Ok(None), |hash| hash.map(Some).ok_or("request_hash_syntax"))?,
        expected: money(request.max_cost_micros)?,
        send_within: length(request.send_within_ms, SEND_WITHIN, "send_within_range")?,
        call_time: length(request.call_time_ms, CALL_TIME, "call_time_range")?,
    };
    Ok((plan, id))
}

fn word(request: &EffectRequest<'_>) -> Result<Word, &'static str> {
    let note = || request.note.as_deref().map(str::to_owned);
    Ok(match (&*request.verb, request.outcome.as_deref()) {
        ("effect_done", None) => Word::Done(evidence(request)?, request.currency.as_deref().map(str::to_owned)),
        ("effect_failed", Some("rejected")) => Word::Failed(Failure::Rejected, note()),
        ("effect_failed", Some("not_sent")) => Word::Failed(Failure::NotSent, note()),
        ("effect_unknown", None) => Word::Unknown(note()),
        ("effect_resolve", Some("found")) => match evidence(request)? {
            found if found.resource_id.is_some() => Word::Looked(Looked::Found(found)),
            _ => return Err("resource_id_missing"),
        },
        ("effect_resolve", Some("absent")) => Word::Looked(Looked::Absent),
        ("effect_done" | "effect_failed" | "effect_unknown" | "effect_resolve", _) => return Err("outcome_unknown"),
        _ => return Err("verb_unknown"),
    })
}

fn evidence(request: &EffectRequest<'_>) -> Result<Evidence, &'static str> {
    let cost = match request.cost_micros.map(Micros::new) {
        Some(None) => return Err("cost_range"),
        cost => cost.flatten(),
    };
    if request.resource_id.as_deref().is_some_and(|id| id.trim().is_empty()) {
        return Err("resource_id_empty");
    }
    Ok(Evidence {
        resource_id: resource_id(request.resource_id.as_deref())?,
        result: result(request.result.as_deref())?,
        cost,
        tokens_in: not_negative(request.tokens_in, "tokens_range")?,
        tokens_out: not_negative(request.tokens_out, "tokens_range")?,
        model: request.model.as_deref().map(str::to_owned),
    })
}

fn invalid(code: &'static str) -> EffectAnswer<'static> {
    EffectAnswer { code: Some(code.into()), ..EffectAnswer::of("invalid") }
}

fn unavailable(error: &StoreError) -> EffectAnswer<'static> {
    EffectAnswer { code: Some(error.code.into()), ..EffectAnswer::of("unavailable") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> EffectRequest<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_request_that_is_not_as_it_must_be_is_refused_by_name_and_nothing_is_cut() {
        let id = "0".repeat(32);
        let begin = |more: &str| format!(r#"{{"v":1,"verb":"effect_begin","begin_id":"{id}"{more}}}"#);
        let name = EffectName::new("publish").unwrap();
        for (more, code) in [
            (r#","otherwise":"maybe""#, "otherwise_unknown"),
            (r#","request_hash":"00""#, "request_hash_syntax"),
            (r#","max_cost_micros":-1"#, "cost_range"),
            (r#","settle_ms":99999999999999999"#, "settle_range"),
        ] {
            assert_eq!(plan(&request(&begin(more)), &name).err(), Some(code));
        }
        assert_eq!(plan(&request(r#"{"verb":"effect_begin"}"#), &name).err(), Some("begin_id_syntax"));
        let (plain, _) = plan(&request(&begin("")), &name).unwrap();
        assert_eq!((plain.policy, plain.call_time), (Policy::default(), CALL_TIME));
        let long = "x".repeat(70_000);
        for (said, code) in [
            (r#""verb":"effect_failed""#.to_owned(), "outcome_unknown"),
            (r#""verb":"effect_failed","outcome":"done""#.to_owned(), "outcome_unknown"),
            (r#""verb":"effect_done","resource_id":" ""#.to_owned(), "resource_id_empty"),
            (r#""verb":"effect_resolve","outcome":"found""#.to_owned(), "resource_id_missing"),
            (r#""verb":"effect_burn""#.to_owned(), "verb_unknown"),
            (r#""verb":"effect_done","result":"{""#.to_owned(), "result_syntax"),
            (format!(r#""verb":"effect_done","result":"\"{long}\"""#), "result_too_long"),
            (format!(r#""verb":"effect_done","resource_id":"{long}""#), "resource_id_too_long"),
            (r#""verb":"effect_done","tokens_in":-1"#.to_owned(), "tokens_range"),
            (r#""verb":"effect_done","cost_micros":1000000000000001"#.to_owned(), "cost_range"),
        ] {
            assert_eq!(word(&request(&format!("{{{said}}}"))).err(), Some(code));
        }
    }
}
