//! Lists of what happened, over the whole log each time.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, Intake, RefusalCode};
use cola_ia_core::store::{
    BothTexts, ConflictSummary, Cursor, DeliverySummary, ErrorKind, FOLLOW_MAX, FollowFrom, Followed, ListRequest,
    Page, Receipt, StoreError, TEXTS_MAX_BYTES, Texts,
};
use cola_ia_core::verdict::Verdict;

use super::Memory;

/// What is to be told of a delivery.
pub(crate) fn summary(member: &Intake, receipt: &Receipt, received_at: Timestamp) -> DeliverySummary {
    let told = |origin: &cola_ia_core::event::Origin| Some(origin.to_string());
    match member {
        Intake::Delivery(delivery) => DeliverySummary {
            number: receipt.number,
            verdict: receipt.verdict,
            received_at,
            event: receipt.event,
            source: Some(delivery.source.clone()),
            id: Some(delivery.id.as_str().to_owned()),
            event_type: delivery.event_type.clone(),
            time: delivery.time,
            conflict: receipt.conflict,
            code: None,
            detail: None,
            origin: if receipt.verdict == Verdict::Conflict { told(&delivery.origin) } else { None },
            count: 1,
            replayed: receipt.replayed,
        },
        Intake::Refusal(refusal) => DeliverySummary {
            number: receipt.number,
            verdict: Verdict::Invalid,
            received_at,
            event: None,
            source: refusal.source.clone(),
            id: None,
            event_type: None,
            time: None,
            conflict: None,
            code: Some(refusal.code),
            detail: Some(refusal.detail.clone()),
            origin: told(&refusal.origin),
            count: refusal.count,
            replayed: false,
        },
    }
}

fn takes(filter: &Filter, delivery: &DeliverySummary) -> bool {
    filter.takes_verdict(delivery.verdict)
        && filter.takes_source(delivery.source.as_ref())
        && filter.takes_type(delivery.event_type.as_ref())
        && filter.takes_time(delivery.received_at)
        && filter.takes_reason(delivery.code.map(RefusalCode::as_str))
}

/// The first of the items behind the request's place, in the order in which they are given.
fn page<T: Clone>(
    items: &[T],
    request: &ListRequest,
    place: impl Fn(&T) -> String,
    reached: impl Fn(&T, &str) -> Option<bool>,
) -> Result<Page<T>, StoreError> {
    let mut rest = items;
    if let Some(Cursor(after)) = &request.after {
        let unknown = || StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", after);
        if !after.split('.').all(|part| part.parse::<i64>().is_ok()) {
            return Err(unknown());
        }
        while let Some((first, others)) = rest.split_first()
            && !reached(first, after).ok_or_else(unknown)?
        {
            rest = others;
        }
    }
    let limit = request.limit.clamp(1, 1_000) as usize;
    let given = &rest[..limit.min(rest.len())];
    let next = if rest.len() > limit { given.last().map(|item| Cursor(place(item))) } else { None };
    Ok(Page { items: given.to_vec(), next })
}

impl Memory {
    pub(super) fn deliveries(
        &self,
        filter: &Filter,
        request: &ListRequest,
    ) -> Result<Page<DeliverySummary>, StoreError> {
        let newest_first: Vec<DeliverySummary> =
            self.log.iter().rev().filter(|delivery| takes(filter, delivery)).cloned().collect();
        let below = |delivery: &DeliverySummary, after: &str| Some(delivery.number.0 < after.parse().ok()?);
        page(&newest_first, request, |delivery| delivery.number.0.to_string(), below)
    }

    pub(super) fn conflicts(
        &self,
        filter: &Filter,
        request: &ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        let mut all = Vec::new();
        for event in self.events.values() {
            for conflict in &event.conflicts {
                // Type and time are those of the first delivery of this content.
                let first = event.later.iter().find(|delivery| delivery.conflict == Some(conflict.view.number));
                let number = first.map_or(DeliveryNumber(0), |delivery| delivery.number);
                let said = self.log.iter().find(|delivery| delivery.number == number);
                all.push(ConflictSummary {
                    event: event.job.event,
                    source: event.job.source.clone(),
                    id: event.job.id.clone(),
                    number: conflict.view.number,
                    fingerprint: conflict.view.fingerprint,
                    event_type: said.and_then(|delivery| delivery.event_type.clone()),
                    time: said.and_then(|delivery| delivery.time),
                    count: conflict.view.count,
                    first_at: conflict.view.first_at,
                    last_at: conflict.view.last_at,
                    decision: conflict.view.decisions.last().cloned(),
                    texts: (texts == Texts::Bring).then(|| BothTexts {
                        event: event.revisions.last().and_then(|revision| revision.text.clone()),
                        conflict: conflict.view.text.clone(),
                    }),
                });
            }
        }
        all.retain(|conflict| {
            filter.takes_source(Some(&conflict.source))
                && filter.takes_type(conflict.event_type.as_ref())
                && filter.takes_time(conflict.first_at)
                && filter.takes_decided(conflict.decision.is_some())
        });
        let place = |conflict: &ConflictSummary| (conflict.first_at, conflict.event, conflict.number);
        all.sort_by_key(|conflict| std::cmp::Reverse(place(conflict)));
        let written = |conflict: &ConflictSummary| {
            format!("{}.{}.{}", conflict.first_at.as_micros(), conflict.event.0, conflict.number)
        };
        let below = |conflict: &ConflictSummary, after: &str| {
            let parts: Vec<i64> = after.split('.').filter_map(|part| part.parse().ok()).collect();
            let [at, event, number] = parts[..] else { return None };
            Some((conflict.first_at.as_micros(), conflict.event.0, i64::from(conflict.number)) < (at, event, number))
        };
        let mut found = page(&all, request, written, below)?;
        let mut bytes = 0;
        let full = found.items.iter().position(|conflict| {
            let both = conflict.texts.iter().flat_map(|texts| [&texts.event, &texts.conflict]);
            bytes += both.flatten().map(String::len).sum::<usize>();
            bytes >= TEXTS_MAX_BYTES
        });
        if let Some(last) = full
            && (last + 1 < found.items.len() || found.next.is_some())
        {
            found.items.truncate(last + 1);
            found.next = found.items.last().map(|conflict| Cursor(written(conflict)));
        }
        Ok(found)
    }

    pub(super) fn follow(&self, filter: &Filter, from: &FollowFrom) -> Result<Followed, StoreError> {
        let top = self.last_number;
        match from {
            FollowFrom::Latest(0) => {
                Ok(Followed { items: Vec::new(), cursor: Cursor(top.to_string()), more: false, rewound: false })
            }
            FollowFrom::Latest(count) => {
                let mut items = self.deliveries(filter, &ListRequest { after: None, limit: *count })?.items;
                items.reverse();
                Ok(Followed { items, cursor: Cursor(top.to_string()), more: false, rewound: false })
            }
            FollowFrom::After(Cursor(place)) => {
                let unknown = |_| StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", place);
                let after: i64 = place.parse().map_err(unknown)?;
                let behind: Vec<&DeliverySummary> =
                    self.log.iter().filter(|delivery| delivery.number.0 > after).collect();
                let seen = &behind[..behind.len().min(FOLLOW_MAX)];
                let cursor = seen.last().map_or(top, |delivery| delivery.number.0);
                Ok(Followed {
                    items: seen.iter().copied().filter(|delivery| takes(filter, delivery)).cloned().collect(),
                    cursor: Cursor(cursor.to_string()),
                    more: cursor < top,
                    rewound: after > top,
                })
            }
        }
    }
}
