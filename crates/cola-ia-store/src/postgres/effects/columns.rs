//! Tries and records on their way into the tables: one statement for however many there are.

use cola_ia_core::effect::{Micros, Recorded, Try, TryOutcome};

use super::super::error::Fault;
use super::super::sql::{micros, params};
use super::super::tx::Tx;

/// Tries, column by column.
#[derive(Default)]
pub(super) struct Tries {
    effects: Vec<i64>,
    numbers: Vec<i64>,
    begin_ids: Vec<Option<Vec<u8>>>,
    attempts: Vec<Option<i64>>,
    requests: Vec<Option<Vec<u8>>>,
    begun: Vec<i64>,
    send_before: Vec<i64>,
    deadlines: Vec<i64>,
    keys_until: Vec<Option<i64>>,
    outcomes: Vec<Option<&'static str>>,
    expected: Vec<Option<i64>>,
    reserved: Vec<Option<i64>>,
    reserved_days: Vec<Option<i64>>,
}

impl Tries {
    pub(super) fn push(&mut self, effect: i64, number: i64, one: &Try, attempt: Option<i64>) {
        self.effects.push(effect);
        self.numbers.push(number);
        self.begin_ids.push(one.begin_id.map(|id| id.0.to_vec()));
        self.attempts.push(attempt);
        self.requests.push(one.request.map(|hash| hash.to_vec()));
        self.begun.push(one.begun_at.as_micros());
        self.send_before.push(one.send_before.as_micros());
        self.deadlines.push(one.deadline.as_micros());
        self.keys_until.push(micros(one.key_until));
        self.outcomes.push(one.outcome.map(TryOutcome::as_str));
        self.expected.push(one.expected.map(Micros::get));
        self.reserved.push(one.reserved.map(|held| held.amount.get()));
        self.reserved_days.push(one.reserved.map(|held| held.day.0));
    }

    pub(super) async fn update(self, tx: &Tx) -> Result<(), Fault> {
        if self.effects.is_empty() {
            return Ok(());
        }
        tx.execute(
            "UPDATE effect_tries t SET begin_id = told.begin_id, send_before = told.send_before,
                 deadline = told.deadline, outcome = told.outcome, reserved_micros = told.reserved,
                 reserved_day = told.reserved_day
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8) AS told
                 (effect, number, begin_id, send_before, deadline, outcome, reserved, reserved_day)
             WHERE t.effect = told.effect AND t.number = told.number",
            params![
                self.effects,
                self.numbers,
                self.begin_ids,
                self.send_before,
                self.deadlines,
                self.outcomes,
                self.reserved,
                self.reserved_days,
            ],
        )
        .await
        .map(drop)
    }

    pub(super) async fn insert(self, tx: &Tx) -> Result<(), Fault> {
        if self.effects.is_empty() {
            return Ok(());
        }
        tx.execute(
            "INSERT INTO effect_tries (effect, number, begin_id, attempt, request, begun_at, send_before, deadline,
                 key_until, outcome, expected_micros, reserved_micros, reserved_day)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            params![
                self.effects,
                self.numbers,
                self.begin_ids,
                self.attempts,
                self.requests,
                self.begun,
                self.send_before,
                self.deadlines,
                self.keys_until,
                self.outcomes,
                self.expected,
                self.reserved,
                self.reserved_days,
            ],
        )
        .await
        .map(drop)
    }
}

/// What effects made, column by column.
#[derive(Default)]
pub(super) struct Records {
    effects: Vec<i64>,
    numbers: Vec<i64>,
    tries: Vec<Option<i64>>,
    at: Vec<i64>,
    witnesses: Vec<&'static str>,
    resources: Vec<Option<String>>,
    results: Vec<Option<String>>,
    costs: Vec<Option<i64>>,
    tokens_in: Vec<Option<i64>>,
    tokens_out: Vec<Option<i64>>,
    models: Vec<Option<String>>,
    charged: Vec<i64>,
    days: Vec<i64>,
}

impl Records {
    pub(super) fn push(&mut self, effect: i64, number: i64, record: &Recorded) {
        let evidence = &record.evidence;
        self.effects.push(effect);
        self.numbers.push(number);
        self.tries.push(record.number.map(i64::from));
        self.at.push(record.at.as_micros());
        self.witnesses.push(record.witness.as_str());
        self.resources.push(evidence.resource_id.clone());
        self.results.push(evidence.result.clone());
        self.costs.push(evidence.cost.map(Micros::get));
        self.tokens_in.push(evidence.tokens_in);
        self.tokens_out.push(evidence.tokens_out);
        self.models.push(evidence.model.clone());
        self.charged.push(record.charged.get());
        self.days.push(record.day.0);
    }

    pub(super) async fn insert(self, tx: &Tx) -> Result<(), Fault> {
        if self.effects.is_empty() {
            return Ok(());
        }
        tx.execute(
            "INSERT INTO effect_records (effect, number, try, at, witness, resource_id, result, cost_micros, tokens_in,
                 tokens_out, model, charged_micros, day)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            params![
                self.effects,
                self.numbers,
                self.tries,
                self.at,
                self.witnesses,
                self.resources,
                self.results,
                self.costs,
                self.tokens_in,
                self.tokens_out,
                self.models,
                self.charged,
                self.days,
            ],
        )
        .await
        .map(drop)
    }
}
