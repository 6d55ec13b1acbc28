//! `effect resolve ID NAME`: what a person says of an effect that is held.

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::effect::{Decision, EffectState, SettleAnswer};
use cola_ia_core::store::{EffectDecision, EffectView, EventHistory, OpId};
use cola_ia_wire::EffectDecided;
use pollster::block_on;

use super::super::add::push_json;
use super::super::jobs::to_the_second;
use super::super::order::push_moved;
use super::super::resolve::several_sources;
use super::super::show::not_found;
use super::super::{Exit, Problem, Session, print};
use super::DecideOptions;
use crate::config::Settings;
use crate::lang::Message;
use crate::print::id_on_a_line;
use crate::store;

/// Runs the command.
///
/// # Errors
/// Nothing was changed.
pub(super) fn run(session: &Session, options: &DecideOptions, settings: &Settings) -> Result<Exit, Problem> {
    let store = store::change(session, settings)?;
    let find = || {
        block_on(store.find_events(options.source.clone(), options.id.clone()))
            .map_err(|error| Problem::from_store(&error))
    };
    let found = find()?;
    let event = match found.as_slice() {
        [event] => event,
        [] => return Err(not_found(&*store, options.source.as_ref(), &options.id)?),
        several => return Err(several_sources(&options.id, several)),
    };
    let Some(view) = effect_of(event, options) else { return Err(no_effect(event, options)) };
    let number = options.number.unwrap_or(view.effect.newest());
    let decision = EffectDecision {
        event: event.job.event,
        name: options.name.clone(),
        number,
        decision: options.decision.clone(),
        note: options.note.clone(),
    };
    let op = OpId::new(&SystemClock, &SystemEntropy);
    let answer = block_on(store.effect_decide(op, decision, settings.retry))
        .map_err(|error| Problem::from_store(&error))?
        .unwrap_or(SettleAnswer::Missing);
    let after = find()?;
    let after = after.iter().find(|after| after.job.event == event.job.event).unwrap_or(event);
    let recorded = answer == SettleAnswer::Recorded;
    let mut out = String::new();
    if options.json {
        let of = (event.job.event, &event.job.source, &*event.job.id, &options.name);
        let state = recorded.then_some(after.job.state);
        push_json(&mut out, &EffectDecided::new(of, number, &options.decision, answer, state));
    } else if recorded {
        let ended = cola_ia_core::store::Ended { state: after.job.state, due_at: after.job.due_at };
        push_moved(&mut out, &session.lang, &event.job.id, ended);
    }
    print(&out)?;
    let about = |key: &'static str| {
        Message::new(key).with("name", &options.name).with("id", id_on_a_line(&options.id)).with("number", number)
    };
    match answer {
        SettleAnswer::Recorded => {
            session.note(&about(match options.decision {
                Decision::Found(_) => "effect-decided-happened",
                Decision::Absent => "effect-decided-absent",
                Decision::Abandon => "effect-decided-abandoned",
            }));
            Ok(Exit::Done)
        }
        SettleAnswer::Wait { until } => {
            Err(Problem::new(Exit::EffectRefused, about("effect-decide-early").with("until", to_the_second(until)))
                .hint(Message::new("effect-decide-early-hint")))
        }
        SettleAnswer::Void => Err(void(session, after, options, number)),
        SettleAnswer::Missing => Err(no_effect(event, options)),
    }
}

/// The effect of the present run.
fn effect_of<'a>(event: &'a EventHistory, options: &DecideOptions) -> Option<&'a EffectView> {
    event.effects.iter().find(|view| view.effect.run == event.job.run && view.effect.name == options.name)
}

fn no_effect(event: &EventHistory, options: &DecideOptions) -> Problem {
    let known: Vec<&str> = event
        .effects
        .iter()
        .filter(|view| view.effect.run == event.job.run)
        .map(|view| view.effect.name.as_str())
        .collect();
    let message = Message::new("effect-missing").with("name", &options.name).with("id", id_on_a_line(&options.id));
    let problem = Problem::failed(message);
    if known.is_empty() {
        problem
    } else {
        problem.hint(Message::new("effect-missing-hint").with("known", known.join(", ")))
    }
}

/// It is not held, or was tried again since the person looked.
fn void(session: &Session, event: &EventHistory, options: &DecideOptions, number: u32) -> Problem {
    let refused = |message: Message| {
        Problem::new(
            Exit::EffectRefused,
            message.with("name", &options.name).with("id", id_on_a_line(&options.id)).with("number", number),
        )
    };
    match effect_of(event, options).map(|view| &view.effect) {
        Some(effect) if effect.state == EffectState::Held => {
            refused(Message::new("effect-decide-newer").with("newest", effect.newest()))
                .hint(Message::new("effect-decide-newer-hint"))
        }
        Some(effect) => {
            let problem = refused(Message::new("effect-decide-state").with("state", session.lang.effect(effect.state)));
            match effect.state {
                EffectState::Unknown | EffectState::Intended => {
                    problem.hint(Message::new("effect-decide-unknown-hint"))
                }
                EffectState::Failed => problem.hint(Message::new("effect-decide-failed-hint")),
                _ => problem,
            }
        }
        None => no_effect(event, options),
    }
}
