//! What the store does wrong with effects and money.

use cola_ia_core::clock::Clock as _;
use cola_ia_core::effect::{
    Begin, BeginAnswer, Decision, Evidence, Micros, Otherwise, Policy, Reason, Refused, ReportAnswer, SettleAnswer,
    UtcDay,
};
use cola_ia_core::event::Source;
use cola_ia_core::job::{Ending, JobState, RetryPolicy};
use cola_ia_core::store::{
    self, BudgetView, Claim, CostLine, CostSums, Costs, CostsBy, CostsRequest, EffectBegun, EffectDecision,
    EffectFilter, EffectListRequest, EffectRef, EffectSummary, EffectView, End, EndRefused, Ended, ErrorKind,
    EventHistory, Looked, OpId, Order, OrderRefused, Page, Restored, RestoredMark, Store as _, StoreError,
};
use cola_ia_testkit::harness::Place as _;

use super::{Mistake, Wrong, any_place};

impl Wrong {
    pub(super) async fn spoilt_begin(&self, mut begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        match self.mistake {
            Mistake::ForgetsPolicies => begin.policy = Policy::default(),
            Mistake::ForgetsKeysOfPolicies => {
                begin.policy = Policy { key_ttl: None, otherwise: Otherwise::Retry, ..begin.policy };
            }
            Mistake::TakesNoCostForNothing => begin.expected = begin.expected.or(Some(Micros::ZERO)),
            _ => {}
        }
        let lease = begin.lease;
        let mut told = self.model.effect_begin(begin, policy).await?;
        match (self.mistake, &told.answer) {
            (Mistake::TakesAnotherPolicyForUsed, BeginAnswer::Refused(Refused::OtherPolicy))
            | (Mistake::TakesAnyNumberOfTries, BeginAnswer::Refused(Refused::TooMany)) => {
                told.answer = BeginAnswer::Used;
            }
            (Mistake::DoubtsWhatIsDone, BeginAnswer::Done(_)) if self.model.restored_at().await?.is_some() => {
                told.answer = BeginAnswer::Held(Reason::Restored);
            }
            (Mistake::MakesKeysOfLeases, _) if !told.key.is_empty() => told.key = lease.to_string(),
            _ => {}
        }
        Ok(told)
    }

    pub(super) async fn spoilt_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.model.effect_done(self.spoil_ref(of), self.spoil_evidence(evidence), policy).await
    }

    pub(super) async fn spoilt_failed(
        &self,
        of: EffectRef,
        failure: store::Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        let answer = self.model.effect_failed(of, failure, note, policy).await?;
        let missing = self.mistake == Mistake::ReportsOfNothingCount && answer == ReportAnswer::Missing;
        Ok(if missing { ReportAnswer::Recorded } else { answer })
    }

    pub(super) async fn spoilt_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        let of = self.spoil_ref(of);
        match looked {
            Looked::Found(evidence) if self.mistake == Mistake::TakesLookupsForSenders => {
                self.model.effect_done(of, evidence, policy).await
            }
            Looked::Found(evidence) => {
                self.model.effect_resolve(of, Looked::Found(self.spoil_evidence(evidence)), policy).await
            }
            Looked::Absent => self.model.effect_resolve(of, looked, policy).await,
        }
    }

    pub(super) async fn spoilt_decide(
        &self,
        op: OpId,
        mut decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        let op = if self.mistake == Mistake::DecisionsIgnoreOps { self.other_op() } else { op };
        match (self.mistake, &mut decision.decision) {
            (Mistake::TakesTheFirstFind, Decision::Found(found)) => found.truncate(1),
            (Mistake::LosesNotesOfPeople, _) => decision.note = None,
            _ => {}
        }
        let event = decision.event;
        let answer = self.model.effect_decide(op, decision, policy).await?;
        match (self.mistake, answer) {
            (Mistake::SettlesAnything, Some(SettleAnswer::Void)) => return Ok(Some(SettleAnswer::Recorded)),
            (Mistake::SettledJobsStayHeld, Some(SettleAnswer::Recorded)) => {
                let _ = self.memory.set_job(event, JobState::Held, self.clock.now());
            }
            _ => {}
        }
        Ok(answer)
    }

    pub(super) async fn spoilt_effects(
        &self,
        mut request: EffectListRequest,
    ) -> Result<Page<EffectSummary>, StoreError> {
        match self.mistake {
            Mistake::TakesAnyPlace => request.page = any_place(request.page),
            Mistake::IgnoresEffectFilters => {
                request.filter = EffectFilter { resource_id: request.filter.resource_id, ..EffectFilter::default() };
            }
            Mistake::IgnoresResourcesOfEffects => request.filter.resource_id = None,
            _ => {}
        }
        let mut page = self.model.effect_list(request).await?;
        if self.mistake == Mistake::ListsOldestEffectsFirst {
            page.items.reverse();
        }
        page.items.iter_mut().for_each(|one| self.spoil_view(&mut one.view));
        Ok(page)
    }

    pub(super) fn spoil_claim(&self, claim: &mut Claim) {
        for leased in &mut claim.leases {
            leased.effects.iter_mut().for_each(|view| self.spoil_view(view));
            if self.mistake == Mistake::ClaimsBringNoEffects {
                leased.effects.clear();
            }
        }
    }

    pub(super) fn spoil_effects_of(&self, event: &mut EventHistory) {
        event.effects.iter_mut().for_each(|view| self.spoil_view(view));
        if self.mistake == Mistake::ForgetsLateWordsOfEffects {
            for attempt in &mut event.attempts {
                attempt.late = attempt.late.take().filter(|word| !word.starts_with("effect"));
            }
        }
    }

    fn spoil_view(&self, view: &mut EffectView) {
        match self.mistake {
            Mistake::ShowsOnlyWhatItKnows => view.effect.tries.retain(|one| !one.is_of_restore()),
            Mistake::CutsNotesShort => view.note = view.note.take().map(|note| note.chars().take(9).collect()),
            Mistake::CountsTheFirstUseToo => view.replays += 1,
            _ => {}
        }
    }

    fn spoil_ref(&self, of: EffectRef) -> EffectRef {
        let job = if self.mistake == Mistake::HearsNoStrangers { None } else { of.job };
        EffectRef { job, ..of }
    }

    fn spoil_evidence(&self, evidence: Evidence) -> Evidence {
        match self.mistake {
            Mistake::KeepsOnlyResources => Evidence { resource_id: evidence.resource_id, ..Evidence::default() },
            Mistake::RecordsEachReportAnew => {
                let id = evidence.resource_id.clone().unwrap_or_default();
                Evidence { resource_id: Some(format!("{id} {:?}", self.other_op().0)), ..evidence }
            }
            Mistake::CountsNothingThatWasNotTold => Evidence { cost: evidence.cost.or(Some(Micros::ZERO)), ..evidence },
            _ => evidence,
        }
    }

    pub(super) fn spoil_end(&self, end: &mut End) {
        match self.mistake {
            Mistake::CountsOnlySuccess if end.ending != Ending::Done => end.report.cost_micros = None,
            Mistake::ForgetsModels => end.report.model = None,
            _ => {}
        }
    }

    pub(super) fn spoil_ended(&self, answer: &mut Result<Ended, EndRefused>) {
        if self.mistake == Mistake::CompletesWhatIsOpen && matches!(answer, Err(EndRefused::Unresolved(_))) {
            *answer = Ok(Ended { state: JobState::Done, due_at: None });
        }
    }

    pub(super) fn spoil_ordered(&self, order: Order, answers: &mut [Result<Ended, OrderRefused>]) {
        for answer in answers {
            if self.mistake == Mistake::RetriesHeldJobs
                && (order, *answer) == (Order::Retry, Err(OrderRefused::EffectsOpen))
            {
                *answer = Ok(Ended { state: JobState::Pending, due_at: Some(self.clock.now()) });
            }
        }
    }

    /// The first mark stays, whatever comes later.
    pub(super) async fn first_mark(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        match (mark, self.model.restored_at().await?) {
            (RestoredMark::At(_), first @ Some(_)) => Ok(Restored { restored_at: first, leases_voided: 0 }),
            _ => self.model.restored(op, mark).await,
        }
    }

    pub(super) async fn spoilt_costs(&self, mut request: CostsRequest) -> Result<Costs, StoreError> {
        if self.mistake == Mistake::CostsOfAnyDay {
            (request.since, request.until) = (None, None);
        }
        let by = request.by;
        let mut costs = self.model.costs(request).await?;
        if self.mistake == Mistake::ListsLinesOfNothing && costs.lines.is_empty() {
            costs.lines.push(CostLine { name: String::new(), sums: CostSums::default() });
        }
        for line in &mut costs.lines {
            self.spoil_sums(&mut line.sums);
            if self.mistake == Mistake::CountsMoneyToday && by == CostsBy::Day {
                line.name = UtcDay::of(self.clock.now()).to_string();
            }
        }
        self.spoil_sums(&mut costs.total);
        Ok(costs)
    }

    fn spoil_sums(&self, sums: &mut CostSums) {
        match self.mistake {
            Mistake::ReleasesWhatIsOpen => sums.at_risk = 0,
            Mistake::CountsNoDeliveries => (sums.new, sums.repeated) = (0, 0),
            _ => {}
        }
    }

    pub(super) async fn spoilt_set_budget(
        &self,
        op: OpId,
        source: Source,
        limit: Option<Micros>,
    ) -> Result<(), StoreError> {
        match self.mistake {
            Mistake::BudgetsIgnoreOps => self.model.set_budget(self.other_op(), source, limit).await,
            Mistake::SetsBudgetsOnly if limit.is_none() => Ok(()),
            Mistake::BudgetsHaveNoBottom => {
                self.model.set_budget(op, source, limit.and_then(|limit| Micros::new(limit.get() + 1))).await
            }
            _ => self.model.set_budget(op, source, limit).await,
        }
    }

    pub(super) async fn spoilt_budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        let mut budgets = self.model.budgets().await?;
        for budget in budgets.iter_mut().filter(|_| self.mistake == Mistake::ReleasesWhatIsOpen) {
            budget.reserved = 0;
        }
        Ok(budgets)
    }

    pub(super) async fn spoilt_set_currency(&self, currency: String) -> Result<(), StoreError> {
        match self.model.set_currency(currency).await {
            Err(error) if self.mistake == Mistake::ChangesCurrencies && error.kind == ErrorKind::Conflict => Ok(()),
            answer => answer,
        }
    }
}
