//! Lists, page by page, and what arrives.

use cola_ia_wire::v1::attempt::Attempt;
use cola_ia_wire::v1::conflict::Conflict;
use cola_ia_wire::v1::delivery::{Delivery, Followed as FollowedShape};
use cola_ia_wire::v1::effect::EffectItem;
use cola_ia_wire::v1::filter::{effect_filter_pairs, filter_pairs};
use cola_ia_wire::v1::job::Job;
use cola_ia_wire::v1::list::List;

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;
use crate::http::api::lists::{ATTEMPTS_BY, CONFLICTS_BY, DELIVERIES_BY, JOBS_BY};

type Pairs = Vec<(&'static str, String)>;

fn page(mut pairs: Pairs, request: ListRequest) -> Pairs {
    pairs.push(("limit", request.limit.to_string()));
    pairs.extend(request.after.map(|cursor| ("cursor", cursor.0)));
    pairs
}

/// See [`Store::jobs`].
pub(super) async fn jobs(store: &RemoteStore, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
    let mut pairs = filter_pairs(&filter, JOBS_BY);
    pairs.push(("limit", page.limit.to_string()));
    pairs.extend(page.below.map(|event| ("cursor", event.0.to_string())));
    let list: List<Job> = store.ask(Ask::get("/jobs", &pairs)).await?;
    list.into_jobs().ok_or_else(|| error::nonsense(store.server(), &"next"))
}

/// See [`Store::deliveries`].
pub(super) async fn deliveries(
    store: &RemoteStore,
    filter: Filter,
    request: ListRequest,
) -> Result<Page<DeliverySummary>, StoreError> {
    let pairs = page(filter_pairs(&filter, DELIVERIES_BY), request);
    store.ask::<List<Delivery>>(Ask::get("/deliveries", &pairs)).await.map(Into::into)
}

/// See [`Store::conflicts`].
pub(super) async fn conflicts(
    store: &RemoteStore,
    filter: Filter,
    request: ListRequest,
    texts: Texts,
) -> Result<Page<ConflictSummary>, StoreError> {
    let mut pairs = page(filter_pairs(&filter, CONFLICTS_BY), request);
    if texts == Texts::Bring {
        pairs.push(("texts", "true".to_owned()));
    }
    store.ask::<List<Conflict>>(Ask::get("/conflicts", &pairs)).await.map(Into::into)
}

/// See [`Store::attempts`].
pub(super) async fn attempts(
    store: &RemoteStore,
    filter: Filter,
    request: ListRequest,
) -> Result<Page<AttemptView>, StoreError> {
    let pairs = page(filter_pairs(&filter, ATTEMPTS_BY), request);
    store.ask::<List<Attempt>>(Ask::get("/errors", &pairs)).await.map(Into::into)
}

/// See [`Store::effect_list`].
pub(super) async fn effects(
    store: &RemoteStore,
    request: EffectListRequest,
) -> Result<Page<EffectSummary>, StoreError> {
    let pairs = page(effect_filter_pairs(&request.filter), request.page);
    store.ask::<List<EffectItem>>(Ask::get("/effects", &pairs)).await.map(Into::into)
}

/// See [`Store::follow`].
pub(super) async fn follow(store: &RemoteStore, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
    let mut pairs = filter_pairs(&filter, DELIVERIES_BY);
    pairs.push(match from {
        FollowFrom::Latest(latest) => ("latest", latest.to_string()),
        FollowFrom::After(cursor) => ("cursor", cursor.0),
    });
    store.ask::<FollowedShape>(Ask::get("/follow", &pairs)).await.map(Into::into)
}
