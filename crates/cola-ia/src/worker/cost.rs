//! What an attempt is counted as.

use cola_ia_core::store::Report;

use super::Worker;
use super::outage::{Backoff, can_pass};
use super::stop::Stopping;
use crate::lang::Message;
use crate::money;
use crate::print::id_on_a_line;

/// Works out the cost of a report: told in the store's currency, or by the price of its model. One in another currency is not
/// counted, and people are told.
pub(super) async fn settle(worker: &Worker, id: &str, report: &mut Report, currency: Option<String>) {
    let Some(currency) = currency.filter(|_| report.cost_micros.is_some()) else {
        return money::fill_in(&worker.prices, report);
    };
    // Asked once: it stays what it is.
    if worker.currency.get().is_some_and(|known| money::is_same(known, &currency)) {
        return;
    }
    let mut backoff = Backoff::default();
    loop {
        match money::takes(&*worker.store, &currency).await {
            Ok(Ok(known)) => {
                let _ = worker.currency.set(known);
                return;
            }
            Ok(Err(uncounted)) => {
                report.cost_micros = None;
                let message = Message::new("work-cost").with("id", id_on_a_line(id));
                return worker.voice.warn(message.message("fault", uncounted.message()));
            }
            Err(error) if can_pass(&error) && worker.stopper.state() != Stopping::Now => {
                worker.outage.failed(&error);
                backoff.wait(&worker.stopper).await;
            }
            // Recording the end will meet it too.
            Err(_) => return,
        }
    }
}
