//! What benchmarks of both engines share.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::job::{Ending, RetryPolicy};
use cola_ia_core::store::{ClaimRequest, End, OpId, Report, Store};
use cola_ia_testkit::events::event;
use cola_ia_testkit::harness::block_on;

pub(crate) fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

pub(crate) fn fill(store: &dyn Store, jobs: usize) {
    for first in (0..jobs).step_by(50_000) {
        accept(store, first..jobs.min(first + 50_000));
    }
}

pub(crate) fn accept(store: &dyn Store, jobs: Range<usize>) {
    let events = jobs.map(|index| event(&format!("job-{index}"), "a short text")).collect();
    block_on(store.accept(OpId::new(&SystemClock, &SystemEntropy), Arc::new(events))).unwrap();
}

/// The middle one.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Leases and ends jobs until none is left, or so many are done. As a worker does, it asks for the next ones in the breath in
/// which it says how the last ones ended.
pub(crate) fn work(store: &dyn Store, batch: u32, most: usize) -> usize {
    let request =
        ClaimRequest { worker: "bench".to_owned(), lease: Duration::from_mins(1), limit: batch, source: None };
    let claim = || store.claim(OpId::new(&SystemClock, &SystemEntropy), request.clone());
    let mut leases = block_on(claim()).unwrap().leases;
    let mut done = 0;
    while !leases.is_empty() {
        let report = |number: i64| Report {
            exit_code: Some(0),
            resource_id: Some(format!("post-{number}")),
            stdout: b"done\n".to_vec(),
            ..Report::default()
        };
        let ends = leases.iter().map(|leased| End {
            token: leased.token,
            ending: Ending::Done,
            report: report(leased.job.event.0),
        });
        let ended = store.end(Arc::new(ends.collect()), RetryPolicy::default());
        let (answers, next) = block_on(both(ended, claim()));
        done += answers.unwrap().iter().filter(|answer| answer.is_ok()).count();
        leases = if done < most { next.unwrap().leases } else { Vec::new() };
    }
    done
}

/// Waits for both at the same time.
pub(crate) async fn both<A, B>(first: impl Future<Output = A>, second: impl Future<Output = B>) -> (A, B) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut a, mut b) = (None, None);
    poll_fn(|context| {
        if a.is_none()
            && let Poll::Ready(answer) = first.as_mut().poll(context)
        {
            a = Some(answer);
        }
        if b.is_none()
            && let Poll::Ready(answer) = second.as_mut().poll(context)
        {
            b = Some(answer);
        }
        match (a.take(), b.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (first, second) => {
                (a, b) = (first, second);
                Poll::Pending
            }
        }
    })
    .await
}

/// Seconds of processor time that this process has used; 0 where the system does not tell.
pub(crate) fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
