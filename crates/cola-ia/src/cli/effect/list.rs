//! `effect list` and `effect find`: effects, the one that was begun last first.

use cola_ia_core::effect::EffectState;
use cola_ia_core::store::{EffectFilter, EffectListRequest, EffectSummary, ListRequest, Store};
use cola_ia_wire::{Effect, EffectLine};
use pollster::block_on;

use super::super::add::push_json;
use super::super::jobs::to_the_second;
use super::super::list::next_page;
use super::super::{Exit, Problem, Session, print};
use super::EffectListOptions;
use crate::config::Settings;
use crate::effect::Unheard;
use crate::effect::holder::list_inside;
use crate::lang::{Lang, Message};
use crate::print::{Cell, Paint, Table, id_on_a_line, safe_line, short_line};
use crate::store;
use crate::worker::inside::Inside;

/// Effects of one call.
const PAGE: u32 = 1_000;
/// Characters of what is told about an effect that are shown.
const DETAIL_MAX: usize = 60;

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout; nothing made the resource that was asked for.
pub(super) fn run(session: &Session, options: &EffectListOptions, settings: &Settings) -> Result<Exit, Problem> {
    if options.resource_id.is_none()
        && let Some(inside) = Inside::of(&session.environment, None)
    {
        return own(session, options, &inside);
    }
    let store = store::view(session, settings)?;
    let filter = EffectFilter {
        sources: options.sources.clone(),
        states: options.states.clone(),
        resource_id: options.resource_id.clone(),
        alarmed: options.alarmed,
    };
    if let Some(resource) = &options.resource_id {
        return find(session, options.json, resource, gather(&*store, &filter)?);
    }
    let (mut after, mut shown) = (options.after.clone(), 0_u32);
    let mut table = head(&session.lang);
    let next = loop {
        let limit = options.limit.map_or(PAGE, |limit| (limit - shown).min(PAGE));
        let request = EffectListRequest { filter: filter.clone(), page: ListRequest { after, limit } };
        let page = block_on(store.effect_list(request)).map_err(|error| Problem::from_store(&error))?;
        shown += page.items.len() as u32;
        print(&told(&mut table, session, options.json, &page.items))?;
        after = page.next;
        if after.is_none() || options.limit.is_some_and(|limit| shown >= limit) {
            break after;
        }
    };
    if !options.json && shown > 0 {
        print(&table.render(session.colour.stdout))?;
    }
    if let Some(next) = &next {
        session.hint(&next_page(next));
    }
    if shown == 0 {
        session.note(&Message::new("effect-list-none"));
    }
    Ok(Exit::Done)
}

/// All that the filter lets through.
fn gather(store: &dyn Store, filter: &EffectFilter) -> Result<Vec<EffectSummary>, Problem> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let request = EffectListRequest { filter: filter.clone(), page: ListRequest { after, limit: PAGE } };
        let page = block_on(store.effect_list(request)).map_err(|error| Problem::from_store(&error))?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Those that made the resource; where none says so itself, those of the jobs that say it.
fn find(session: &Session, json: bool, resource: &str, found: Vec<EffectSummary>) -> Result<Exit, Problem> {
    let made_it = |summary: &EffectSummary| {
        let records = &summary.view.effect.records;
        records.iter().any(|record| record.evidence.resource_id.as_deref() == Some(resource))
    };
    let (own, of_jobs): (Vec<_>, Vec<_>) = found.into_iter().partition(made_it);
    let found = if own.is_empty() { of_jobs } else { own };
    if found.is_empty() {
        return Err(Problem::failed(Message::new("effect-find-nothing").with("resource", resource))
            .hint(Message::new("effect-find-nothing-hint")));
    }
    let mut table = head(&session.lang);
    let lines = told(&mut table, session, json, &found);
    print(&if json { lines } else { table.render(session.colour.stdout) })
}

/// As JSON, one line each; else they go into the table.
fn told(table: &mut Table, session: &Session, json: bool, effects: &[EffectSummary]) -> String {
    let mut out = String::new();
    for summary in effects {
        if json {
            push_json(&mut out, &EffectLine::new(summary));
        } else {
            push(table, &session.lang, summary);
        }
    }
    out
}

fn head(lang: &Lang) -> Table {
    let heads = [
        "column-state",
        "column-effect",
        "column-tries",
        "column-changed",
        "column-source",
        "column-run",
        "column-id",
        "column-detail",
    ];
    Table::new(heads.map(|key| Cell::new(lang.word(key))).into())
}

fn push(table: &mut Table, lang: &Lang, summary: &EffectSummary) {
    let view = &summary.view;
    let effect = &view.effect;
    let said = [
        view.resource_id().map(id_on_a_line),
        effect.alarm.map(|alarm| alarm.as_str().into()),
        effect.reason.map(|reason| reason.as_str().into()),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    table.push(vec![
        Cell::new(lang.effect(effect.state)).painted(paint_of(effect.state, effect.alarm.is_some())),
        Cell::new(safe_line(effect.name.as_str())),
        Cell::new(effect.newest().to_string()),
        Cell::new(to_the_second(view.changed_at)),
        Cell::new(summary.source.as_str()),
        Cell::new(effect.run.to_string()),
        Cell::new(id_on_a_line(&summary.id)),
        Cell::new(short_line(&said.join("  "), DETAIL_MAX)),
    ]);
}

/// The colour of an effect's state.
pub(crate) const fn paint_of(state: EffectState, alarmed: bool) -> Paint {
    match state {
        _ if alarmed => Paint::Alarm,
        EffectState::Done => Paint::Good,
        EffectState::Unknown | EffectState::Held => Paint::Alarm,
        EffectState::Abandoned => Paint::Bad,
        EffectState::Intended | EffectState::Failed => Paint::Calm,
    }
}

/// Inside of a job: its own effects, as its worker has them.
fn own(session: &Session, options: &EffectListOptions, inside: &Inside) -> Result<Exit, Problem> {
    let wanted = |effect: &Effect<'_>| {
        let in_state = options.states.is_empty() || options.states.iter().any(|state| state.as_str() == effect.state);
        in_state && (!options.alarmed || effect.alarm.is_some())
    };
    let told = list_inside(inside, |effects| {
        let mut out = String::new();
        for effect in effects.iter().filter(|effect| wanted(effect)) {
            if options.json {
                push_json(&mut out, effect);
            } else {
                let state = EffectState::from_word(&effect.state)
                    .map_or_else(|| effect.state.to_string(), |state| session.lang.effect(state).to_owned());
                let resource = effect.resource_id.as_deref().map(|id| format!(" {}", id_on_a_line(id)));
                out.extend([&effect.name, " ", &state, &resource.unwrap_or_default(), "\n"]);
            }
        }
        out
    });
    match told {
        Ok(out) => print(&out),
        Err(Unheard::Again(problem) | Unheard::Never(problem)) => Err(problem),
    }
}
