//! Parameters of queries of lists and views.

use std::str::FromStr;

use cola_ia_core::event::Source;
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::store::{Cursor, ListRequest};
use cola_ia_wire::v1::filter::take_filter_pair;

use super::call::query_malformed;
use super::{Call, Param};
use crate::http::Problem;

/// Items on a page where nothing else is said.
pub(super) const PAGE_DEFAULT: u32 = 100;

pub(super) const SOURCE: Param =
    Param { name: "source", text: "Of one of these sources, separated by commas.", required: false, many: true };
pub(super) const STATE: Param =
    Param { name: "state", text: "In one of these states, separated by commas.", required: false, many: true };
pub(super) const VERDICT: Param =
    Param { name: "verdict", text: "With one of these verdicts, separated by commas.", required: false, many: true };
pub(super) const TYPE: Param = Param {
    name: "type",
    text: "Of one of these types, separated by commas; one with a comma or a quotation mark stands in quotation marks.",
    required: false,
    many: true,
};
pub(super) const SINCE: Param = Param {
    name: "since",
    text: "From this instant on: RFC 3339, a day, or an age such as `24h`.",
    required: false,
    many: false,
};
pub(super) const UNTIL: Param =
    Param { name: "until", text: "Before this instant, as `since` takes it.", required: false, many: false };
pub(super) const UNDECIDED: Param =
    Param { name: "undecided", text: "`yes`: without a decision; `no`: with one.", required: false, many: false };
pub(super) const REASON: Param =
    Param { name: "reason", text: "With one of these codes, separated by commas.", required: false, many: true };
pub(super) const LIMIT: Param = Param {
    name: "limit",
    text: "At most so many items: 1 to 1,000; 100 where it is not said.",
    required: false,
    many: false,
};
pub(super) const CURSOR: Param =
    Param { name: "cursor", text: "The `next` of the page before.", required: false, many: false };

/// One value of a parameter.
///
/// # Errors
/// 400 `query_malformed`.
pub(super) fn read<T: FromStr>(name: &str, value: &str) -> Result<T, Problem> {
    value.parse().map_err(|_| query_malformed(name))
}

/// The name of a source.
///
/// # Errors
/// 400 `query_malformed`.
pub(super) fn read_source(name: &str, value: &str) -> Result<Source, Problem> {
    Source::new(value).map_err(|_| query_malformed(name))
}

/// Reads a filter and whatever else the query says. `other` takes what is no part of the filter, and answers `false` for a
/// parameter that there is not.
///
/// # Errors
/// 400 `query_malformed`, with the parameter's name.
pub(super) fn filter(
    call: &Call,
    taken: &[Key],
    mut other: impl FnMut(&str, &str) -> Result<bool, Problem>,
) -> Result<Filter, Problem> {
    let (mut filter, now) = (Filter::default(), call.app.clock.now());
    for (name, value) in call.pairs()? {
        let is_known = take_filter_pair(&mut filter, &name, &value, taken, now).map_err(|_| query_malformed(&name))?
            || other(&name, &value)?;
        if !is_known {
            return Err(query_malformed(&name));
        }
    }
    Ok(filter)
}

/// Reads the parameters that there are, without a filter.
///
/// # Errors
/// As [`filter`].
pub(super) fn each(call: &Call, other: impl FnMut(&str, &str) -> Result<bool, Problem>) -> Result<(), Problem> {
    filter(call, &[], other).map(|_| ())
}

/// Takes `limit` and `cursor`.
///
/// # Errors
/// 400 `query_malformed`.
pub(super) fn page(request: &mut ListRequest, name: &str, value: &str) -> Result<bool, Problem> {
    match name {
        "limit" => request.limit = read(name, value)?,
        "cursor" => request.after = Some(Cursor(value.to_owned())),
        _ => return Ok(false),
    }
    Ok(true)
}

/// The page where nothing is said.
pub(super) const fn first_page() -> ListRequest {
    ListRequest { after: None, limit: PAGE_DEFAULT }
}
