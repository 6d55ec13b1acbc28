//! `effect begin`: may it be sent?

use cola_ia_core::clock::SystemEntropy;
use cola_ia_core::effect::{BeginAnswer, BeginId, Refused};
use cola_ia_wire::EffectAnswer;

use super::super::add::push_json;
use super::super::{Exit, Problem, Session, print};
use super::{BeginOptions, told, words};
use crate::config::Settings;
use crate::effect::holder::Holder;
use crate::effect::{Plan, Unheard};
use crate::lang::Message;

/// Runs the command. Its answer's word is the first one on stdout, whatever the exit code.
///
/// # Errors
/// There is no answer, or it is not to be sent.
pub(super) fn run(session: &Session, options: &BeginOptions, settings: &Settings) -> Result<Exit, Problem> {
    let effect = &options.effect;
    let plan = Plan {
        name: effect.name.clone(),
        policy: effect.policy.clone(),
        request: options.request,
        expected: effect.expected,
        send_within: effect.send_within,
        call_time: effect.call_time,
    };
    let holder = Holder::of(session, settings, options.lease)?;
    let id = options.begin_id.unwrap_or_else(|| BeginId::draw(&SystemEntropy));
    let begun = holder.begin(&plan, id).map_err(|unheard| match unheard {
        // Whether it was heard is not known: only the same id tells.
        Unheard::Again(problem) => problem.hint(Message::new("effect-begin-again-hint").with("id", id)),
        Unheard::Never(problem) => problem,
    })?;
    let answer = EffectAnswer::begun(&plan.name, &begun);
    let mut out = String::new();
    if options.json {
        push_json(&mut out, &answer);
    } else {
        out = words::begun(&answer, &begun);
    }
    print(&out)?;
    match begun.answer {
        BeginAnswer::Go(_) | BeginAnswer::Done(_) | BeginAnswer::Check { .. } => Ok(Exit::Done),
        BeginAnswer::Wait { until } => {
            session.note(&told::wait(&plan.name, until));
            Ok(Exit::Later)
        }
        BeginAnswer::Refused(Refused::Budget { resets_at }) => {
            session.note(&told::later(&plan.name, &crate::effect::Later::Budget(resets_at)));
            Ok(Exit::Later)
        }
        BeginAnswer::Held(reason) => Err(told::held(&plan.name, reason)),
        BeginAnswer::Used => {
            Err(Problem::new(Exit::EffectRefused, Message::new("effect-used").with("name", &plan.name)))
        }
        BeginAnswer::Refused(refused) => Err(told::refused(&plan.name, refused)),
    }
}
