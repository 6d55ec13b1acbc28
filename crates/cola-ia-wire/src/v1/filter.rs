//! Filters of lists, as parameters of a query: `source=web&state=failed,held&since=24h`.
//!
//! Each parameter takes what the flag of that name takes: values separated by commas, in quotation marks where they have one
//! themselves, words in English or Spanish, instants or ages. A parameter may stand several times.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectState;
use cola_ia_core::event::Source;
use cola_ia_core::filter::{Filter, FilterError, Key};
use cola_ia_core::store::EffectFilter;

/// The parameters that say this filter, of the keys that the list asks.
pub fn filter_pairs(filter: &Filter, taken: &[Key]) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    for key in Key::ALL.into_iter().filter(|key| taken.contains(key)) {
        let mut one = Filter::default();
        match key {
            Key::Source => one.sources.clone_from(&filter.sources),
            Key::State => one.states.clone_from(&filter.states),
            Key::Verdict => one.verdicts.clone_from(&filter.verdicts),
            Key::Type => one.types.clone_from(&filter.types),
            Key::Since => one.since = filter.since,
            Key::Until => one.until = filter.until,
            Key::Undecided => one.undecided = filter.undecided,
            Key::Reason => one.reasons.clone_from(&filter.reasons),
        }
        // The core writes one key as `key=values`, quoted where that is needed.
        if let Some((_, values)) = one.to_string().split_once('=') {
            pairs.push((key.as_str(), values.to_owned()));
        }
    }
    pairs
}

/// Takes a parameter of a filter. `Ok(false)`: it is none that this list takes.
///
/// # Errors
/// The key does not take this value.
pub fn take_filter_pair(
    filter: &mut Filter,
    name: &str,
    value: &str,
    taken: &[Key],
    now: Timestamp,
) -> Result<bool, FilterError> {
    match taken.iter().find(|key| key.as_str() == name) {
        Some(key) => filter.add_values(*key, value, taken, now).map(|()| true),
        None => Ok(false),
    }
}

/// The parameters that say this filter of effects.
pub fn effect_filter_pairs(filter: &EffectFilter) -> Vec<(&'static str, String)> {
    let mut pairs: Vec<_> = filter.sources.iter().map(|source| ("source", source.to_string())).collect();
    pairs.extend(filter.states.iter().map(|state| ("state", state.as_str().to_owned())));
    pairs.extend(filter.resource_id.iter().map(|resource| ("resource_id", resource.clone())));
    if filter.alarmed {
        pairs.push(("alarmed", "true".to_owned()));
    }
    pairs
}

/// Takes a parameter of a filter of effects: `source` and `state`, several times each, `resource_id`, byte for byte, `alarmed`.
/// `None`: its value is not understood; `Some(false)`: it is none.
pub fn take_effect_filter_pair(filter: &mut EffectFilter, name: &str, value: &str) -> Option<bool> {
    match name {
        "source" => filter.sources.push(Source::new(value).ok()?),
        "state" => filter.states.push(EffectState::from_word(value)?),
        "resource_id" => filter.resource_id = Some(value.to_owned()),
        "alarmed" => filter.alarmed = value.parse().ok()?,
        _ => return Some(false),
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use cola_ia_core::event::EventType;
    use cola_ia_core::job::JobState;
    use cola_ia_core::verdict::Verdict;

    use super::*;

    fn full() -> Filter {
        let types = ["plain", "a, b", "\"quoted\\\"", "á=b&c ñ"];
        Filter {
            sources: vec![Source::new("a").unwrap(), Source::new("b.c-1").unwrap()],
            states: JobState::ALL.to_vec(),
            verdicts: Verdict::ALL.to_vec(),
            types: types.map(|name| EventType::new(name).unwrap()).to_vec(),
            since: Some(Timestamp::from_micros(1)),
            until: Some(Timestamp::from_micros(1_769_860_800_000_001)),
            undecided: Some(false),
            reasons: vec!["id_blank".into(), "exit:3".into()],
        }
    }

    fn read(pairs: &[(&str, String)], taken: &[Key]) -> Result<Filter, FilterError> {
        let mut filter = Filter::default();
        for (name, value) in pairs {
            assert!(take_filter_pair(&mut filter, name, value, taken, Timestamp::from_micros(0))?, "{name}");
        }
        Ok(filter)
    }

    #[test]
    fn a_filter_is_read_as_it_was_written() {
        for filter in [full(), Filter::default()] {
            assert_eq!(read(&filter_pairs(&filter, &Key::ALL), &Key::ALL), Ok(filter));
        }
    }

    #[test]
    fn what_a_list_does_not_ask_is_not_said_and_not_taken() {
        let pairs = filter_pairs(&full(), &[Key::Source]);
        assert_eq!(pairs, [("source", "a,b.c-1".to_owned())]);
        let mut filter = Filter::default();
        let now = Timestamp::from_micros(0);
        assert_eq!(take_filter_pair(&mut filter, "state", "failed", &[Key::Source], now), Ok(false));
        let value = FilterError::Value { key: Key::State, value: "waiting".into() };
        assert_eq!(take_filter_pair(&mut filter, "state", "waiting", &[Key::State], now), Err(value));
        assert!(filter.is_empty());
    }

    #[test]
    fn a_filter_of_effects_is_read_as_it_was_written() {
        let filter = EffectFilter {
            sources: vec![Source::new("a").unwrap()],
            states: EffectState::ALL.to_vec(),
            resource_id: Some("a,b \"#?&=%2F".into()),
            alarmed: true,
        };
        let mut found = EffectFilter::default();
        for (name, value) in effect_filter_pairs(&filter) {
            assert_eq!(take_effect_filter_pair(&mut found, name, &value), Some(true));
        }
        assert_eq!(found, filter);
        assert_eq!(take_effect_filter_pair(&mut found, "state", "waiting"), None);
        assert_eq!(take_effect_filter_pair(&mut found, "limit", "1"), Some(false));
    }
}
