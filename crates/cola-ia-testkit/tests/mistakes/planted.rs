//! The model with one mistake: some spoil what goes in, some what comes out, some only show when callers meet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use cola_ia_core::clock::{Clock as _, SystemEntropy, Timestamp};
use cola_ia_core::effect::{Begin, Evidence, Micros, ReportAnswer, Rule, SettleAnswer};
use cola_ia_core::event::{Content, Delivery, EventId, Fingerprint, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, Refusal};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::lateness::Lateness;
use cola_ia_core::limits::{BATCH_MAX_EVENTS, TEXT_MAX_BYTES_CEILING};
use cola_ia_core::store::export::{IMPORT_MAX_RECORDS, Kind, Outcome, Record, Value};
use cola_ia_core::store::{
    self, Accepted, AttemptView, BudgetView, Claim, ClaimRequest, ConflictSummary, Costs, CostsRequest, Cursor,
    Decision, DeliverySummary, EffectBegun, EffectDecision, EffectListRequest, EffectRef, EffectSummary, End,
    EndRefused, Ended, EraseRequest, Erased, ErrorKind, EventHistory, ExportCursor, ExportPage, FollowFrom, Followed,
    ImportBatch, Imported, JobPage, LEASES_MAX, LeaseLost, Leased, ListRequest, Looked, OpId, Order, OrderRefused,
    Page, PageRequest, Preview, PruneRequest, Pruned, Recovered, Report, ResolveRequest, Resolved, Restored,
    RestoredMark, SourceView, Stats, StatsGroup, Store, StoreError, Texts, TokenHash, TokenRequest, TokenView,
};
use cola_ia_core::verdict::Verdict;
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::events::{event, source};
use cola_ia_testkit::harness::{Backend, Failure, Place, RecordedRefusal};
use cola_ia_testkit::model::{ModelMemory, ModelStore};

mod effects;

/// Rules that bind whoever sends or looks up, and the making of leases: a store cannot show what becomes without them.
pub(crate) const BEYOND_A_STORE: [Rule; 4] = [Rule::SendBefore, Rule::FreshId, Rule::Ticket, Rule::LeaseUnique];

macro_rules! mistakes {
    ($($name:ident,)+) => {
        /// What the store does wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Mistake {
            None,
            $($name,)+
            /// The ledger without a rule.
            Without(Rule),
        }

        impl Mistake {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

mistakes! {
    // What goes in.
    TrimsIds,
    FoldsCase,
    NormalisesIds,
    CutsIdsAt1000,
    ReadsIdsAsNumbers,
    ForgetsSource,
    JoinsSourceAndId,
    TrimsTexts,
    DropsControlCharacters,
    ComparesThe1000FirstBytes,
    TypeIsContent,
    DropsType,
    DropsTime,
    KeepsSecondsOnly,
    LastInBatchWins,
    DropsRefusals,
    LetsRefusalsIn,
    AlwaysNew,
    // Ops.
    IgnoresOps,
    CutsOpsTo8Bytes,
    ForgetsOpsAtReopen,
    RemembersTenOps,
    AnswersAnyBatchOfAnOp,
    SaysNowToARepeat,
    RecordsNoEmptyBatch,
    // Batches.
    LetsAnEmptyBatchIn,
    TakesAnyLength,
    TakesOneLess,
    RecordsAndRefuses,
    // Receipts.
    ConflictPassesAsDuplicate,
    CountsConflictsFromZero,
    OneConflictAnEvent,
    SortsReceipts,
    NumbersEachBatchFromOne,
    NumbersByClock,
    NamesTheDeliveryAsEvent,
    // Histories.
    CountsOneDuplicateLess,
    CountsListedDuplicates,
    SortsConflictsByFingerprint,
    CountsEachConflictOnce,
    LosesConflictTexts,
    ConflictTimesStandStill,
    ListsOldestFirst,
    ListsTheFirstDelivery,
    TellsTimeOfTheEvent,
    TellsEveryOrigin,
    TellsNoOrigin,
    SortsSourcesByLength,
    FindsByPattern,
    EndsIdsAtNul,
    JobsStartRunning,
    // Previews.
    PreviewRecords,
    PreviewComparesMembers,
    PreviewSaysUnknown,
    // Jobs.
    SortsJobsByTime,
    ListsOldestJobsFirst,
    SaysNextAlways,
    SaysNextNever,
    PagesIncludeBelow,
    PagesByOffset,
    PagesOfAnySize,
    IgnoresSourceFilter,
    SourceFilterIsAPrefix,
    IgnoresStateFilter,
    FiltersAfterPaging,
    // Exports and imports.
    ExportsASourceOfNothing,
    ExportsNoRefusals,
    ExportsNoEffects,
    ExportsLaterEvents,
    ExportsPagesOfAnySize,
    ImportsEverythingAsNew,
    ImportsAnyNamespace,
    ImportsNoTypes,
    ImportsRunningJobsAsHeld,
    ImportsWhatItCan,
    ImportsUnderOtherOps,
    ImportsAnyLength,
    ImportsErasedAsWhole,
    ImportsNoDecisions,
    ImportsNoDeliveries,
    ImportsAtItsOwnTime,
    IgnoresTypeFilter,
    // Lists.
    ListsNoRefused,
    IgnoresVerdictFilter,
    TimesIncludeTheirEnd,
    DeliveriesByOffset,
    EndsAtAShortPage,
    SortsConflictsByEvent,
    IgnoresUndecided,
    BringsNoTexts,
    BringsAnyTexts,
    FollowsNewestFirst,
    FollowsFromTheTop,
    FollowsFromTheLastMatch,
    NeverRewinds,
    TakesAnyPlace,
    // Decisions.
    KeptConflictsAlarm,
    KeepsWhatIsAccepted,
    TellsWhatEntered,
    AlwaysRunsAgain,
    KeepsWhatShouldEnter,
    SaysDuplicateToAnyId,
    TakesTheFirstConflict,
    DecidesAgain,
    DecidesWhatItCan,
    SaysDecidedAsItIsNow,
    LosesNotes,
    // Pruning and erasure.
    PrunesNothing,
    PrunesWaitingJobs,
    PrunesOnce,
    ForgetsPrunedDeliveries,
    PrunesAWeekEarly,
    PrunesWhereItLooks,
    GivesPrunedNumbersAgain,
    ErasesNothing,
    ErasesWhatRuns,
    FindsByHash,
    ErasesNewlyEachTime,
    // Counts.
    CountsFromOne,
    MixesUpVerdicts,
    ListsLargestSourceFirst,
    StatsIgnoreSource,
    StatsIgnoreRange,
    StatsIncludeTheEnd,
    StatsSayWhatWasAsked,
    CountsJobsOfTheRange,
    CountsAheadAsLate,
    // Leases.
    ClaimsNewestFirst,
    ClaimsWhatRanOut,
    ClaimsOfAnySource,
    NeverSaysWhenTheNextIsDue,
    ClaimsAnewUnderOneOp,
    SaysTheAskedEndOfALease,
    ForgetsResources,
    RetriesAtOnce,
    NeverGivesUp,
    CountsWhatIsGivenBack,
    NeverGivesUpLostOnes,
    RecoversWithoutLimit,
    RecoversWhenDry,
    NamesNoNewerAttempt,
    ForgetsWhatWasSaid,
    TakesNeighbouringTokens,
    RefusesOrdersTogether,
    OrdersIgnoreOps,
    LetsLostLeasesGoOn,
    ReplaysCountOn,
    ReopeningEndsLeases,
    TakesAnyNumberOfLeases,
    GivesAJobTwice,
    ForgetsWhatWorkersTell,
    GivesNoText,
    WorksOnWhatIsGone,
    CountsRunningAsPending,
    ForgetsStreaks,
    ForgetsWhatIsDue,
    NeverPauses,
    ResumesAnew,
    CountsNoneExpired,
    // Effects.
    ForgetsPolicies,
    ForgetsKeysOfPolicies,
    TakesAnotherPolicyForUsed,
    DoubtsWhatIsDone,
    MakesKeysOfLeases,
    KeepsOnlyResources,
    RecordsEachReportAnew,
    ReportsOfNothingCount,
    TakesLookupsForSenders,
    HearsNoStrangers,
    ForgetsLateWordsOfEffects,
    CutsNotesShort,
    CompletesWhatIsOpen,
    SettledJobsStayHeld,
    RetriesHeldJobs,
    SettlesAnything,
    LosesNotesOfPeople,
    TakesTheFirstFind,
    DecisionsIgnoreOps,
    ClaimsBringNoEffects,
    ListsOldestEffectsFirst,
    IgnoresEffectFilters,
    IgnoresResourcesOfEffects,
    ShowsOnlyWhatItKnows,
    FirstMarkStands,
    // Money.
    BudgetsIgnoreOps,
    SetsBudgetsOnly,
    BudgetsHaveNoBottom,
    TakesNoCostForNothing,
    ListsLinesOfNothing,
    ReleasesWhatIsOpen,
    CountsMoneyToday,
    CountsNothingThatWasNotTold,
    CountsOnlySuccess,
    ForgetsModels,
    CostsOfAnyDay,
    CountsTheFirstUseToo,
    CountsNoDeliveries,
    ChangesCurrencies,
    ErasesWhatIsOpen,
    TakesAnyNumberOfTries,
    // Signed bodies, and refusals of a source.
    LetsReplaysIn,
    ReplaysCrossSources,
    JudgesByBodiesFirst,
    ReplaysTakeTheirIds,
    SaysNoReplays,
    RepeatsWithoutReplays,
    ListsNoReplays,
    ForetellsNoReplays,
    ForgetsBodiesAtReopen,
    ForgetsBodiesWhenPruned,
    ForgetsBodiesWhenErased,
    ExportsNoBodies,
    MovesBodies,
    ForgetsSourcesOfRefusals,
    // Tokens.
    ForgetsSourcesOfTokens,
    GivesTokenNamesTwice,
    RevokedTokensStayLive,
    TakesAnyTokenRequest,
    TokensIgnoreOps,
    // Stores.
    ForgetsAtReopen,
    FailsToReopenEmpty,
    SharesOneMemory,
    RecordsRefusalsOfCountOne,
    // The mark of a restored store.
    LastMarkStands,
    TakesMarksOfTheFuture,
    KeepsTheMark,
    IgnoresOpsOfMarks,
    MarksMakeAnEvent,
    EndsLeasesUntold,
    // Callers that meet.
    LooksThenWrites,
    LooksForTheOpThenWrites,
    WritesInTwoTransactions,
    GivesNumbersTwice,
}

/// Model stores with this mistake.
pub(crate) struct Planted {
    mistake: Mistake,
    shared: ModelMemory,
}

impl Planted {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self { mistake, shared: ModelMemory::default() }
    }
}

impl Backend for Planted {
    fn name(&self) -> &'static str {
        "planted"
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        let shares = self.mistake == Mistake::SharesOneMemory;
        let memory = if shares { self.shared.clone() } else { ModelMemory::default() };
        Ok(Box::new(WrongPlace { mistake: self.mistake, memory: Mutex::new(memory), opened: AtomicUsize::new(0) }))
    }
}

struct WrongPlace {
    mistake: Mistake,
    memory: Mutex<ModelMemory>,
    opened: AtomicUsize,
}

impl Place for WrongPlace {
    fn open(&self, clock: ManualClock, _entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let opened = self.opened.fetch_add(1, Ordering::SeqCst);
        let mut memory = self.memory.lock().unwrap();
        if self.mistake == Mistake::ForgetsAtReopen {
            *memory = ModelMemory::default();
        }
        if let Mistake::Without(rule) = self.mistake {
            memory.twist(move |ledger| ledger.without(rule));
        }
        let model = memory.store(Arc::new(clock.clone()));
        if self.mistake == Mistake::FailsToReopenEmpty && opened > 0 {
            let every = PageRequest { below: None, limit: 1 };
            let jobs = cola_ia_testkit::harness::block_on(model.jobs(Filter::default(), every))?;
            if jobs.jobs.is_empty() {
                return Err("not a store".into());
            }
        }
        let memory = memory.clone();
        Ok(Arc::new(Wrong { mistake: self.mistake, model, memory, clock, opened, own: Mutex::default() }))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        let mut refusals = self.memory.lock().unwrap().refusals()?;
        if self.mistake == Mistake::RecordsRefusalsOfCountOne {
            for recorded in &mut refusals {
                recorded.count = 1;
            }
        }
        Ok(refusals)
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        self.memory.lock().unwrap().set_job(event, state, at)
    }
}

/// What the wrapper remembers beside the model.
#[derive(Default)]
struct Own {
    calls: u64,
    ops: BTreeMap<OpId, Accepted>,
    order: Vec<OpId>,
    /// How many jobs the pages so far have listed.
    listed: usize,
    pruned_once: bool,
    /// Deliveries that were pruned.
    pruned: i64,
    /// A lease that was given.
    leased: Option<Leased>,
    /// Leases whose end was heard.
    said: BTreeSet<LeaseToken>,
    /// Ops of batches.
    heard: BTreeSet<OpId>,
    /// Signed bodies that came, with the source that brought them.
    bodies: BTreeMap<Fingerprint, Source>,
    /// Identities under which known bodies came.
    replayed: BTreeSet<(Source, EventId)>,
    /// How often something was done that bodies must outlive.
    forgets: u8,
}

struct Wrong {
    mistake: Mistake,
    model: ModelStore,
    memory: ModelMemory,
    clock: ManualClock,
    opened: usize,
    own: Mutex<Own>,
}

/// Long enough for other callers to come between.
fn let_others_in() {
    thread::sleep(Duration::from_millis(1));
}

/// A body that nobody sent, for each mark other than 0.
fn other_body(mut body: Fingerprint, mark: u8) -> Fingerprint {
    body.0[31] ^= mark.wrapping_mul(16);
    body
}

/// The place of a request, where it is one that the model takes.
fn any_place(mut request: ListRequest) -> ListRequest {
    request.after = request.after.filter(|after| after.0.parse::<i64>().is_ok());
    request
}

fn every_job() -> PageRequest {
    PageRequest { below: None, limit: 1_000 }
}

impl Wrong {
    /// An op id that no caller makes.
    fn other_op(&self) -> OpId {
        let mut own = self.own.lock().unwrap();
        own.calls += 1;
        let mut bytes = [0xff; 16];
        bytes[..8].copy_from_slice(&own.calls.to_be_bytes());
        bytes[8] = self.opened as u8;
        OpId(bytes)
    }

    /// All leases are given up, as if they had not been stored.
    async fn end_every_lease(&self) -> Result<(), StoreError> {
        let running = Filter { states: vec![JobState::Running], ..Filter::default() };
        for job in self.model.jobs(running, every_job()).await?.jobs {
            self.model.order(self.other_op(), Order::Cancel, vec![job.event]).await?;
            self.model.order(self.other_op(), Order::Retry, vec![job.event]).await?;
        }
        Ok(())
    }

    fn spoil_token(&self, mut token: LeaseToken) -> LeaseToken {
        if self.mistake == Mistake::TakesNeighbouringTokens {
            token.0[17] &= !1;
        }
        token
    }

    fn spoil_id(&self, id: &str) -> String {
        match self.mistake {
            Mistake::TrimsIds => id.trim().to_owned(),
            Mistake::FoldsCase => id.to_lowercase(),
            Mistake::NormalisesIds => id.replace("e\u{301}", "é"),
            Mistake::CutsIdsAt1000 => id[..id.floor_char_boundary(1_000)].to_owned(),
            Mistake::ReadsIdsAsNumbers => id.parse::<f64>().map_or_else(|_| id.to_owned(), |number| number.to_string()),
            _ => id.to_owned(),
        }
    }

    fn spoil_text(&self, delivery: &Delivery) -> String {
        let text = delivery.content.text();
        match self.mistake {
            Mistake::TrimsTexts => text.trim().to_owned(),
            Mistake::DropsControlCharacters => {
                text.chars().filter(|char| *char == '\n' || !char.is_control()).collect()
            }
            Mistake::ComparesThe1000FirstBytes => text[..text.floor_char_boundary(1_000)].to_owned(),
            Mistake::TypeIsContent => {
                format!("{text}{}", delivery.event_type.as_ref().map_or("", |event_type| event_type.as_str()))
            }
            _ => text.to_owned(),
        }
    }

    fn spoil_member(&self, member: &Intake) -> Intake {
        let delivery = match member {
            Intake::Delivery(delivery) => delivery,
            Intake::Refusal(_) if self.mistake == Mistake::LetsRefusalsIn => return event("refused", "x"),
            Intake::Refusal(refusal) if self.mistake == Mistake::ForgetsSourcesOfRefusals => {
                return Intake::Refusal(Refusal { source: None, ..refusal.clone() });
            }
            Intake::Refusal(_) => return member.clone(),
        };
        let mut delivery = delivery.clone();
        let text = self.spoil_text(&delivery);
        if text != delivery.content.text() {
            // What would be blank stays as it is.
            delivery.content = Content::new(text, TEXT_MAX_BYTES_CEILING).unwrap_or(delivery.content);
        }
        let id = self.spoil_id(delivery.id.as_str());
        delivery.id = EventId::new(id).unwrap_or(delivery.id);
        match self.mistake {
            Mistake::ForgetsSource => delivery.source = Source::default(),
            Mistake::JoinsSourceAndId => {
                delivery.id = EventId::new(format!("{}.{}", delivery.source, delivery.id)).unwrap_or(delivery.id);
                delivery.source = Source::default();
            }
            Mistake::DropsType => delivery.event_type = None,
            Mistake::DropsTime => delivery.time = None,
            Mistake::KeepsSecondsOnly => {
                let seconds = |time: Timestamp| Timestamp::from_micros(time.as_micros() / 1_000_000 * 1_000_000);
                delivery.time = delivery.time.map(seconds);
            }
            Mistake::AlwaysNew => {
                let number = self.own.lock().unwrap().calls;
                delivery.id = EventId::new(format!("{} {number}", delivery.id)).unwrap_or(delivery.id);
            }
            _ => self.spoil_body(&mut delivery),
        }
        Intake::Delivery(delivery)
    }

    fn spoil_body(&self, delivery: &mut Delivery) {
        let Some(body) = delivery.body else { return };
        let mut own = self.own.lock().unwrap();
        match self.mistake {
            Mistake::LetsReplaysIn => delivery.body = None,
            Mistake::ReplaysCrossSources => {
                delivery.source = own.bodies.entry(body).or_insert_with(|| delivery.source.clone()).clone();
            }
            Mistake::ForgetsBodiesAtReopen => delivery.body = Some(other_body(body, self.opened as u8)),
            Mistake::ForgetsBodiesWhenPruned | Mistake::ForgetsBodiesWhenErased => {
                delivery.body = Some(other_body(body, own.forgets));
            }
            _ => {}
        }
    }

    fn spoil_batch(&self, batch: &[Intake]) -> Arc<Vec<Intake>> {
        if self.mistake == Mistake::AlwaysNew {
            self.other_op();
        }
        let kept = |member: &&Intake| self.mistake != Mistake::DropsRefusals || matches!(member, Intake::Delivery(_));
        let mut spoiled: Vec<Intake> = batch.iter().filter(kept).map(|member| self.spoil_member(member)).collect();
        if self.mistake == Mistake::LastInBatchWins {
            spoiled.reverse();
        }
        Arc::new(spoiled)
    }

    async fn accept_spoiled(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        match self.mistake {
            Mistake::IgnoresOps => self.model.accept(self.other_op(), batch).await,
            Mistake::CutsOpsTo8Bytes => {
                let mut bytes = op.0;
                bytes[8..].fill(0);
                self.model.accept(OpId(bytes), batch).await
            }
            Mistake::ForgetsOpsAtReopen => {
                let mut bytes = op.0;
                bytes[15] ^= self.opened as u8;
                self.model.accept(OpId(bytes), batch).await
            }
            Mistake::RemembersTenOps | Mistake::AnswersAnyBatchOfAnOp | Mistake::LooksForTheOpThenWrites => {
                self.accept_with_own_ops(op, batch).await
            }
            Mistake::LetsAnEmptyBatchIn if batch.is_empty() => {
                let answer = self.model.accept(op, Arc::new(vec![event("empty", "x")])).await?;
                Ok(Accepted { receipts: Vec::new(), ..answer })
            }
            Mistake::RecordsNoEmptyBatch if batch.is_empty() => {
                Ok(Accepted { received_at: self.clock.now(), receipts: Vec::new() })
            }
            Mistake::TakesAnyLength | Mistake::WritesInTwoTransactions => {
                let (left, right) = batch.split_at(batch.len() / 2);
                let mut answer = self.model.accept(op, Arc::new(left.to_vec())).await?;
                let_others_in();
                let mut second = op.0;
                second[0] ^= 0x80;
                answer.receipts.extend(self.model.accept(OpId(second), Arc::new(right.to_vec())).await?.receipts);
                Ok(answer)
            }
            Mistake::TakesOneLess if batch.len() == BATCH_MAX_EVENTS => {
                Err(StoreError::new(ErrorKind::Invalid, "batch_too_long"))
            }
            Mistake::RecordsAndRefuses if batch.len() > BATCH_MAX_EVENTS => {
                self.model.accept(op, Arc::new(batch[..BATCH_MAX_EVENTS].to_vec())).await?;
                Err(StoreError::new(ErrorKind::Invalid, "batch_too_long"))
            }
            Mistake::LooksThenWrites => {
                let looks = if batch.len() == 1 { self.model.preview(Arc::clone(&batch)).await? } else { Vec::new() };
                let_others_in();
                let mut answer = self.model.accept(op, batch).await?;
                for (receipt, _) in answer.receipts.iter_mut().zip(looks).filter(|(_, look)| *look == Preview::Unknown)
                {
                    (receipt.verdict, receipt.conflict) = (Verdict::New, None);
                }
                Ok(answer)
            }
            _ => self.model.accept(op, batch).await,
        }
    }

    async fn accept_with_own_ops(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        let first = self.own.lock().unwrap().ops.get(&op).cloned();
        match first {
            Some(first) if first.receipts.len() == batch.len() || self.mistake == Mistake::AnswersAnyBatchOfAnOp => {
                return Ok(first);
            }
            Some(_) => return Err(StoreError::new(ErrorKind::Conflict, "op_reused")),
            None => {}
        }
        let_others_in_if(self.mistake == Mistake::LooksForTheOpThenWrites);
        let answer = self.model.accept(self.other_op(), batch).await?;
        let mut own = self.own.lock().unwrap();
        own.ops.insert(op, answer.clone());
        own.order.push(op);
        if self.mistake == Mistake::RemembersTenOps && own.order.len() > 10 {
            let oldest = own.order.remove(0);
            own.ops.remove(&oldest);
        }
        Ok(answer)
    }

    fn spoil_accepted(&self, answer: &mut Accepted) {
        match self.mistake {
            Mistake::LastInBatchWins => {
                let numbers: Vec<DeliveryNumber> = answer.receipts.iter().map(|receipt| receipt.number).collect();
                answer.receipts.reverse();
                for (receipt, number) in answer.receipts.iter_mut().zip(numbers) {
                    receipt.number = number;
                }
            }
            Mistake::SaysNowToARepeat => answer.received_at = self.clock.now(),
            Mistake::KeptConflictsAlarm => answer.receipts.iter_mut().for_each(|receipt| receipt.decided = false),
            Mistake::SortsReceipts => answer.receipts.sort_by_key(|receipt| (receipt.event, receipt.number)),
            _ => {}
        }
        let at = answer.received_at.as_micros();
        for (index, receipt) in answer.receipts.iter_mut().enumerate() {
            match self.mistake {
                Mistake::ConflictPassesAsDuplicate if receipt.verdict == Verdict::Conflict => {
                    (receipt.verdict, receipt.conflict) = (Verdict::Duplicate, None);
                }
                Mistake::CountsConflictsFromZero => receipt.conflict = receipt.conflict.map(|number| number - 1),
                Mistake::OneConflictAnEvent => receipt.conflict = receipt.conflict.map(|_| 1),
                Mistake::NumbersEachBatchFromOne => receipt.number = DeliveryNumber(index as i64 + 1),
                Mistake::NumbersByClock => receipt.number = DeliveryNumber(at + index as i64),
                Mistake::NamesTheDeliveryAsEvent => {
                    receipt.event = receipt.event.map(|_| EventNumber(receipt.number.0));
                }
                Mistake::GivesNumbersTwice => receipt.number.0 -= receipt.number.0 % 2,
                Mistake::GivesPrunedNumbersAgain => receipt.number.0 -= self.own.lock().unwrap().pruned,
                _ => {}
            }
        }
    }

    fn spoil_replays(&self, op: OpId, batch: &[Intake], answer: &mut Accepted) {
        let mut own = self.own.lock().unwrap();
        let is_repeated = !own.heard.insert(op);
        for (member, receipt) in batch.iter().zip(&mut answer.receipts) {
            let Intake::Delivery(delivery) = member else { continue };
            let identity = (delivery.source.clone(), delivery.id.clone());
            match self.mistake {
                Mistake::SaysNoReplays => receipt.replayed = false,
                Mistake::RepeatsWithoutReplays if is_repeated => receipt.replayed = false,
                Mistake::JudgesByBodiesFirst => {
                    let is_known = delivery.body.is_some_and(|body| own.bodies.contains_key(&body));
                    if is_known && receipt.verdict == Verdict::Conflict {
                        (receipt.verdict, receipt.conflict, receipt.replayed) = (Verdict::Duplicate, None, true);
                    }
                    own.bodies.extend(delivery.body.map(|body| (body, delivery.source.clone())));
                }
                Mistake::ReplaysTakeTheirIds if receipt.replayed => {
                    own.replayed.insert(identity);
                }
                Mistake::ReplaysTakeTheirIds if own.replayed.contains(&identity) => {
                    receipt.verdict = Verdict::Duplicate;
                }
                _ => {}
            }
        }
    }

    fn spoil_history(&self, event: &mut EventHistory) {
        self.spoil_effects_of(event);
        match self.mistake {
            Mistake::CountsOneDuplicateLess => event.duplicates = event.duplicates.saturating_sub(1),
            Mistake::CountsListedDuplicates => {
                let duplicate = |listed: &&_| matches!(listed, &&Verdict::Duplicate);
                let verdicts: Vec<Verdict> = event.deliveries.iter().map(|delivery| delivery.verdict).collect();
                event.duplicates = verdicts.iter().filter(duplicate).count() as u64;
            }
            Mistake::SortsConflictsByFingerprint => event.conflicts.sort_by_key(|conflict| conflict.fingerprint),
            Mistake::ListsOldestFirst => event.deliveries.reverse(),
            Mistake::ListsTheFirstDelivery => {
                let first = cola_ia_core::store::DeliveryView {
                    number: DeliveryNumber(event.job.event.0),
                    verdict: Verdict::New,
                    received_at: event.job.received_at,
                    time: event.job.time,
                    conflict: None,
                    origin: None,
                    replayed: false,
                };
                event.deliveries.push(first);
            }
            Mistake::JobsStartRunning => event.job.state = JobState::Running,
            Mistake::TellsWhatEntered => {
                if let Some(entered) = event.revisions.first() {
                    (event.text, event.fingerprint) = (entered.text.clone(), entered.fingerprint);
                }
            }
            Mistake::ForgetsPrunedDeliveries => {
                event.duplicates -= event.pruned.take().map_or(0, |pruned| pruned.count);
            }
            _ => {}
        }
        for conflict in &mut event.conflicts {
            match self.mistake {
                Mistake::CountsEachConflictOnce => conflict.count = 1,
                Mistake::LosesConflictTexts => conflict.text = None,
                Mistake::ConflictTimesStandStill => conflict.last_at = conflict.first_at,
                Mistake::LosesNotes => conflict.decisions.iter_mut().for_each(|made| made.note = None),
                _ => {}
            }
        }
        for delivery in &mut event.deliveries {
            match self.mistake {
                Mistake::TellsTimeOfTheEvent => delivery.time = event.job.time,
                Mistake::TellsEveryOrigin => delivery.origin = Some(delivery.origin.take().unwrap_or_default()),
                Mistake::TellsNoOrigin => delivery.origin = None,
                Mistake::ListsNoReplays => delivery.replayed = false,
                _ => {}
            }
        }
    }

    /// `LIKE` where `=` was meant: `%` for any number of characters, `_` for one.
    async fn find_by_pattern(&self, source: Option<Source>, id: &str) -> Result<Vec<EventHistory>, StoreError> {
        fn matches(pattern: &[char], text: &[char]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some(('%', rest)) => (0..=text.len()).any(|skipped| matches(rest, &text[skipped..])),
                Some((wanted, rest)) => text
                    .split_first()
                    .is_some_and(|(found, left)| (*wanted == '_' || wanted == found) && matches(rest, left)),
            }
        }
        let characters = |text: &str| text.chars().collect::<Vec<_>>();
        let mut found = Vec::new();
        for job in self
            .model
            .jobs(Filter { sources: source.into_iter().collect(), ..Filter::default() }, every_job())
            .await?
            .jobs
        {
            if matches(&characters(id), &characters(&job.id)) {
                found.extend(self.model.find_events(Some(job.source), job.id).await?);
            }
        }
        found.sort_by(|left, right| left.job.source.cmp(&right.job.source));
        Ok(found)
    }

    async fn spoilt_deliveries(
        &self,
        mut filter: Filter,
        request: ListRequest,
    ) -> Result<Page<DeliverySummary>, StoreError> {
        match self.mistake {
            Mistake::IgnoresVerdictFilter => filter.verdicts.clear(),
            Mistake::TimesIncludeTheirEnd => {
                filter.until = filter.until.map(|until| Timestamp::from_micros(until.as_micros() + 1));
            }
            Mistake::TakesAnyPlace => return self.model.deliveries(filter, any_place(request)).await,
            Mistake::DeliveriesByOffset => {
                let skip = request.after.as_ref().map_or(0, |after| after.0.parse().unwrap_or(0));
                let everything = ListRequest { after: None, limit: 1_000 };
                let mut page = self.model.deliveries(filter, everything).await?;
                let end = page.items.len().min(skip + request.limit.clamp(1, 1_000) as usize);
                page.next = (end < page.items.len()).then(|| Cursor(end.to_string()));
                page.items = page.items[skip.min(end)..end].to_vec();
                return Ok(page);
            }
            _ => {}
        }
        let is_filtered = !filter.is_empty();
        let mut page = self.model.deliveries(filter, request).await?;
        match self.mistake {
            Mistake::ListsNoReplays => page.items.iter_mut().for_each(|delivery| delivery.replayed = false),
            Mistake::ListsNoRefused => page.items.retain(|delivery| delivery.verdict != Verdict::Invalid),
            // Of the newest hundred, as if no more had been looked at.
            Mistake::EndsAtAShortPage if is_filtered => {
                let newest = self.model.follow(Filter::default(), FollowFrom::Latest(100)).await?.items;
                page.items.retain(|delivery| newest.contains(delivery));
                page.next = None;
            }
            _ => {}
        }
        Ok(page)
    }

    async fn spoilt_conflicts(
        &self,
        mut filter: Filter,
        mut request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        match self.mistake {
            Mistake::IgnoresUndecided => filter.undecided = None,
            Mistake::TimesIncludeTheirEnd => {
                filter.until = filter.until.map(|until| Timestamp::from_micros(until.as_micros() + 1));
            }
            Mistake::TakesAnyPlace => request.after = None,
            _ => {}
        }
        // Whose texts are not counted, a page is never full of them.
        let texts = if self.mistake == Mistake::BringsAnyTexts { Texts::Leave } else { texts };
        let mut page = self.model.conflicts(filter, request, texts).await?;
        match self.mistake {
            Mistake::SortsConflictsByEvent => page.items.sort_by_key(|conflict| std::cmp::Reverse(conflict.event)),
            Mistake::BringsNoTexts => page.items.iter_mut().for_each(|conflict| conflict.texts = None),
            _ => {}
        }
        Ok(page)
    }

    async fn spoilt_attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        let request = if self.mistake == Mistake::TakesAnyPlace { any_place(request) } else { request };
        self.model.attempts(filter, request).await
    }

    async fn spoilt_follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        let mut found = match (self.mistake, from) {
            (Mistake::TakesAnyPlace, FollowFrom::After(place)) if place.0.parse::<i64>().is_err() => {
                self.model.follow(filter, FollowFrom::Latest(0)).await?
            }
            (Mistake::FollowsFromTheTop, from) => {
                let mut found = self.model.follow(filter.clone(), from).await?;
                found.cursor = self.model.follow(filter, FollowFrom::Latest(0)).await?.cursor;
                found
            }
            (_, from) => self.model.follow(filter, from).await?,
        };
        match self.mistake {
            Mistake::FollowsNewestFirst => found.items.reverse(),
            Mistake::FollowsFromTheLastMatch => {
                found.cursor = found.items.last().map_or(Cursor("0".into()), |last| Cursor(last.number.0.to_string()));
            }
            Mistake::NeverRewinds => found.rewound = false,
            _ => {}
        }
        Ok(found)
    }

    async fn page_by_offset(&self, filter: Filter, page: PageRequest) -> Result<JobPage, StoreError> {
        let mut all = self.model.jobs(filter, every_job()).await?.jobs;
        let mut own = self.own.lock().unwrap();
        own.listed = if page.below.is_some() { own.listed } else { 0 };
        let limit = page.limit.clamp(1, 1_000) as usize;
        let mut jobs = all.split_off(own.listed.min(all.len()));
        let more = jobs.len() > limit;
        jobs.truncate(limit);
        own.listed += jobs.len();
        let next = if more { jobs.last().map(|job| job.event) } else { None };
        Ok(JobPage { jobs, next })
    }
}

fn let_others_in_if(wanted: bool) {
    if wanted {
        let_others_in();
    }
}

impl Wrong {
    fn spoil_group(&self, group: &mut StatsGroup) {
        match self.mistake {
            Mistake::CountsFromOne => group.deliveries[0] += 1,
            Mistake::MixesUpVerdicts => group.deliveries.swap(1, 2),
            Mistake::CountsJobsOfTheRange => group.jobs[0] = group.deliveries[0],
            Mistake::CountsAheadAsLate => {
                let mut late = Lateness::default();
                group.lateness.buckets().for_each(|(bucket, n)| late.add_many(bucket.max(0), n));
                group.lateness = late;
            }
            _ => {}
        }
    }
}

#[async_trait]
impl Store for Wrong {
    async fn accept(&self, op: OpId, batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
        let mut answer = self.accept_spoiled(op, self.spoil_batch(&batch)).await?;
        self.spoil_accepted(&mut answer);
        self.spoil_replays(op, &batch, &mut answer);
        if self.mistake == Mistake::SaysDecidedAsItIsNow {
            for receipt in &mut answer.receipts {
                receipt.decided = self.is_decided(receipt.event, receipt.conflict).await?;
            }
        }
        Ok(answer)
    }

    async fn preview(&self, batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
        let mut spoiled = self.spoil_batch(&batch);
        if self.mistake == Mistake::ForetellsNoReplays {
            for member in Arc::make_mut(&mut spoiled) {
                if let Intake::Delivery(delivery) = member {
                    delivery.body = None;
                }
            }
        }
        let mut previews = self.model.preview(Arc::clone(&spoiled)).await?;
        match self.mistake {
            Mistake::PreviewRecords => {
                self.model.accept(self.other_op(), spoiled).await?;
            }
            Mistake::PreviewComparesMembers => {
                let identity = |member: &Intake| match member {
                    Intake::Delivery(delivery) => Some((delivery.source.clone(), delivery.id.clone())),
                    Intake::Refusal(_) => None,
                };
                let identities: Vec<_> = spoiled.iter().map(identity).collect();
                for (index, preview) in previews.iter_mut().enumerate() {
                    if identities[index].is_some() && identities[..index].contains(&identities[index]) {
                        *preview = Preview::Known(Verdict::Duplicate);
                    }
                }
            }
            Mistake::PreviewSaysUnknown => previews.fill(Preview::Unknown),
            Mistake::KeptConflictsAlarm => {
                for preview in previews.iter_mut().filter(|preview| **preview == Preview::Decided) {
                    *preview = Preview::Known(Verdict::Conflict);
                }
            }
            _ => {}
        }
        Ok(previews)
    }

    async fn find_events(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        let id = self.spoil_id(&id);
        let mut found = match self.mistake {
            Mistake::FindsByPattern => self.find_by_pattern(source, &id).await?,
            Mistake::EndsIdsAtNul => {
                self.model.find_events(source, id.split('\0').next().unwrap_or_default().to_owned()).await?
            }
            Mistake::ForgetsSource => self.model.find_events(None, id).await?,
            Mistake::FindsByHash => self.find_by_hash(source, id).await?,
            _ => self.model.find_events(source, id).await?,
        };
        if self.mistake == Mistake::SortsSourcesByLength {
            found.sort_by_key(|event| event.job.source.as_str().len());
        }
        for event in &mut found {
            self.spoil_history(event);
        }
        Ok(found)
    }

    async fn claim(&self, op: OpId, mut request: ClaimRequest) -> Result<Claim, StoreError> {
        let op = if self.mistake == Mistake::ClaimsAnewUnderOneOp { self.other_op() } else { op };
        match self.mistake {
            Mistake::ClaimsOfAnySource => request.source = None,
            Mistake::ClaimsWhatRanOut => {
                let at_once = RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() };
                self.model.recover(at_once, 1_000, false).await?;
            }
            Mistake::ReopeningEndsLeases if self.opened > 0 => self.end_every_lease().await?,
            _ => {}
        }
        let mut claim = self.model.claim(op, request).await?;
        self.spoil_claim(&mut claim);
        match self.mistake {
            Mistake::ClaimsNewestFirst => claim.leases.reverse(),
            Mistake::NeverSaysWhenTheNextIsDue => claim.next_due = None,
            Mistake::GivesNoText => claim.leases.iter_mut().for_each(|leased| leased.text.clear()),
            Mistake::ReplaysCountOn => {
                for leased in &mut claim.leases {
                    leased.attempt += leased.job.run - 1;
                }
            }
            Mistake::GivesAJobTwice => {
                let mut own = self.own.lock().unwrap();
                own.calls += 1;
                if own.calls.is_multiple_of(5)
                    && let Some(first) = own.leased.clone()
                {
                    claim.leases.push(first);
                }
                own.leased = claim.leases.first().cloned();
            }
            _ => {}
        }
        Ok(claim)
    }

    async fn extend(
        &self,
        leases: Vec<LeaseToken>,
        length: Duration,
    ) -> Result<Vec<Result<Timestamp, LeaseLost>>, StoreError> {
        if self.mistake == Mistake::TakesAnyNumberOfLeases && leases.len() > LEASES_MAX {
            return Ok(vec![]);
        }
        let leases = leases.into_iter().map(|token| self.spoil_token(token)).collect();
        let mut answers = self.model.extend(leases, length).await?;
        for answer in &mut answers {
            match (self.mistake, &answer) {
                (Mistake::SaysTheAskedEndOfALease, Ok(_)) | (Mistake::LetsLostLeasesGoOn, Err(_)) => {
                    *answer = Ok(self.clock.now().after(length));
                }
                (Mistake::NamesNoNewerAttempt, Err(_)) => *answer = Err(LeaseLost { superseded_by: None }),
                _ => {}
            }
        }
        Ok(answers)
    }

    async fn end(
        &self,
        ends: Arc<Vec<End>>,
        mut policy: RetryPolicy,
    ) -> Result<Vec<Result<Ended, EndRefused>>, StoreError> {
        if self.mistake == Mistake::NeverPauses {
            policy.pause_after = None;
        }
        if self.mistake == Mistake::NeverGivesUp {
            policy.max_attempts = u32::MAX;
        }
        let mut answers = Vec::new();
        for end in ends.iter() {
            let mut end = end.clone();
            end.token = self.spoil_token(end.token);
            if self.mistake == Mistake::ForgetsWhatWorkersTell {
                end.report = Report { resource_id: end.report.resource_id, ..Report::default() };
            }
            if self.mistake == Mistake::ForgetsResources {
                end.report.resource_id = None;
            }
            end.ending = match (self.mistake, end.ending) {
                (Mistake::RetriesAtOnce, Ending::Failed { setback, .. }) => {
                    Ending::Failed { setback, not_before: None }
                }
                (Mistake::CountsWhatIsGivenBack, Ending::Released | Ending::Later { .. }) => {
                    Ending::Failed { setback: Setback::Error, not_before: None }
                }
                (_, ending) => ending,
            };
            self.spoil_end(&mut end);
            let token = end.token;
            let forgotten =
                self.mistake == Mistake::ForgetsWhatWasSaid && self.own.lock().unwrap().said.contains(&token);
            for mut answer in self.model.end(Arc::new(vec![end]), policy).await? {
                self.spoil_ended(&mut answer);
                if answer.is_ok() {
                    self.own.lock().unwrap().said.insert(token);
                }
                if forgotten || (self.mistake == Mistake::NamesNoNewerAttempt && answer.is_err()) {
                    answer = Err(EndRefused::LeaseLost(LeaseLost { superseded_by: None }));
                }
                answers.push(answer);
            }
        }
        Ok(answers)
    }

    async fn recover(&self, mut policy: RetryPolicy, limit: u32, dry_run: bool) -> Result<Recovered, StoreError> {
        if self.mistake == Mistake::NeverGivesUpLostOnes {
            policy.max_crashes = u32::MAX;
        }
        let limit = if self.mistake == Mistake::RecoversWithoutLimit { 1_000 } else { limit };
        self.model.recover(policy, limit, dry_run && self.mistake != Mistake::RecoversWhenDry).await
    }

    async fn sources(&self, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
        let mut views = self.model.sources(filter).await?;
        for view in &mut views {
            match self.mistake {
                Mistake::ForgetsStreaks => view.streak = None,
                Mistake::ForgetsWhatIsDue => view.due_at = None,
                Mistake::CountsNoneExpired => view.expired = 0,
                _ => {}
            }
        }
        Ok(views)
    }

    async fn resume(&self, op: OpId, source: Source) -> Result<bool, StoreError> {
        let op = if self.mistake == Mistake::ResumesAnew { self.other_op() } else { op };
        self.model.resume(op, source).await
    }

    async fn order(
        &self,
        op: OpId,
        order: Order,
        jobs: Vec<EventNumber>,
    ) -> Result<Vec<Result<Ended, OrderRefused>>, StoreError> {
        let op = if self.mistake == Mistake::OrdersIgnoreOps { self.other_op() } else { op };
        let mut answers = self.model.order(op, order, jobs).await?;
        self.spoil_ordered(order, &mut answers);
        let first_refusal = answers.iter().find_map(|answer| answer.err());
        if let (Mistake::RefusesOrdersTogether, Some(refusal)) = (self.mistake, first_refusal) {
            return Ok(vec![Err(refusal); answers.len()]);
        }
        if self.mistake == Mistake::WorksOnWhatIsGone && first_refusal == Some(OrderRefused::ContentGone) {
            return Ok(vec![Ok(Ended { state: JobState::Pending, due_at: None }); answers.len()]);
        }
        Ok(answers)
    }

    async fn effect_begin(&self, begin: Begin, policy: RetryPolicy) -> Result<EffectBegun, StoreError> {
        self.spoilt_begin(begin, policy).await
    }

    async fn effect_done(
        &self,
        of: EffectRef,
        evidence: Evidence,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.spoilt_done(of, evidence, policy).await
    }

    async fn effect_failed(
        &self,
        of: EffectRef,
        failure: store::Failure,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.spoilt_failed(of, failure, note, policy).await
    }

    async fn effect_unknown(
        &self,
        of: EffectRef,
        note: Option<String>,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.model.effect_unknown(of, note, policy).await
    }

    async fn effect_resolve(
        &self,
        of: EffectRef,
        looked: Looked,
        policy: RetryPolicy,
    ) -> Result<ReportAnswer, StoreError> {
        self.spoilt_resolve(of, looked, policy).await
    }

    async fn effect_decide(
        &self,
        op: OpId,
        decision: EffectDecision,
        policy: RetryPolicy,
    ) -> Result<Option<SettleAnswer>, StoreError> {
        self.spoilt_decide(op, decision, policy).await
    }

    async fn effect_list(&self, request: EffectListRequest) -> Result<Page<EffectSummary>, StoreError> {
        self.spoilt_effects(request).await
    }

    async fn costs(&self, request: CostsRequest) -> Result<Costs, StoreError> {
        self.spoilt_costs(request).await
    }

    async fn set_budget(&self, op: OpId, source: Source, limit: Option<Micros>) -> Result<(), StoreError> {
        self.spoilt_set_budget(op, source, limit).await
    }

    async fn budgets(&self) -> Result<Vec<BudgetView>, StoreError> {
        self.spoilt_budgets().await
    }

    async fn set_currency(&self, currency: String) -> Result<(), StoreError> {
        self.spoilt_set_currency(currency).await
    }

    async fn currency(&self) -> Result<Option<String>, StoreError> {
        self.model.currency().await
    }

    async fn token_create(&self, op: OpId, mut request: TokenRequest) -> Result<TokenView, StoreError> {
        let op = if self.mistake == Mistake::TokensIgnoreOps { self.other_op() } else { op };
        if self.mistake == Mistake::ForgetsSourcesOfTokens {
            request.sources.clear();
        }
        let again = TokenRequest { name: format!("{} again", request.name), ..request.clone() };
        match (self.mistake, self.model.token_create(op, request).await) {
            (Mistake::GivesTokenNamesTwice, Err(error)) if error.code == "token_name_taken" => {
                self.model.token_create(self.other_op(), again).await
            }
            (Mistake::TakesAnyTokenRequest, Err(error)) if error.code == "token_malformed" => Ok(TokenView {
                name: again.name,
                scopes: again.scopes,
                sources: again.sources,
                created_at: self.clock.now(),
                expires_at: None,
                revoked_at: None,
            }),
            (_, answer) => answer,
        }
    }

    async fn token_revoke(&self, op: OpId, name: String) -> Result<bool, StoreError> {
        let op = if self.mistake == Mistake::TokensIgnoreOps { self.other_op() } else { op };
        self.model.token_revoke(op, name).await
    }

    async fn token_find(&self, hash: TokenHash) -> Result<Option<TokenView>, StoreError> {
        let mut found = self.model.token_find(hash).await?;
        if let (Mistake::RevokedTokensStayLive, Some(view)) = (self.mistake, &mut found) {
            view.revoked_at = None;
        }
        Ok(found)
    }

    async fn tokens(&self) -> Result<Vec<TokenView>, StoreError> {
        self.model.tokens().await
    }

    async fn restored(&self, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
        match (self.mistake, mark) {
            (Mistake::LastMarkStands, RestoredMark::At(_)) => {
                self.model.restored(self.other_op(), RestoredMark::Cleared).await?;
                self.model.restored(op, mark).await
            }
            (Mistake::TakesMarksOfTheFuture, RestoredMark::At(at)) => {
                self.model.restored(op, RestoredMark::At(at.min(self.clock.now()))).await
            }
            (Mistake::FirstMarkStands, _) => self.first_mark(op, mark).await,
            (Mistake::KeepsTheMark, RestoredMark::Cleared) => Ok(Restored { restored_at: None, leases_voided: 0 }),
            (Mistake::IgnoresOpsOfMarks, _) => self.model.restored(self.other_op(), mark).await,
            (Mistake::MarksMakeAnEvent, _) => {
                self.model.accept(self.other_op(), Arc::new(vec![event("lost", "x")])).await?;
                self.model.restored(op, mark).await
            }
            (Mistake::EndsLeasesUntold, _) => Ok(Restored { leases_voided: 0, ..self.model.restored(op, mark).await? }),
            _ => self.model.restored(op, mark).await,
        }
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        self.model.restored_at().await
    }

    async fn changes(&self) -> Result<u64, StoreError> {
        self.model.changes().await
    }

    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        self.model.namespace().await
    }

    async fn export(&self, cursor: Option<ExportCursor>, limit: u32) -> Result<ExportPage, StoreError> {
        let cursor = cursor.map(|cursor| match self.mistake {
            Mistake::ExportsLaterEvents => ExportCursor { upto: i64::MAX, ..cursor },
            _ => cursor,
        });
        let limit = if self.mistake == Mistake::ExportsPagesOfAnySize { u32::MAX } else { limit };
        let mut page = self.model.export(cursor, limit).await?;
        page.records.retain(|record| match self.mistake {
            Mistake::ExportsNoRefusals => record.kind() != Kind::Delivery || record.event().is_some(),
            Mistake::ExportsNoBodies => record.kind() != Kind::SignedBody,
            Mistake::ExportsNoEffects => !matches!(record.kind(), Kind::Effect | Kind::EffectTry | Kind::EffectRecord),
            _ => true,
        });
        if self.mistake == Mistake::ExportsASourceOfNothing && page.records.is_empty() && cursor.is_none() {
            page.records.extend(Record::new(Kind::Source, vec![Value::Text("default".into())]));
        }
        Ok(page)
    }

    async fn import(&self, op: OpId, batch: Arc<ImportBatch>) -> Result<Imported, StoreError> {
        let mut changed = (*batch).clone();
        let op = match self.mistake {
            Mistake::ImportsUnderOtherOps => OpId::new(&self.clock, &SystemEntropy),
            _ => op,
        };
        match self.mistake {
            Mistake::ImportsAnyNamespace => changed.namespace = self.model.export(None, 1).await?.head.namespace,
            Mistake::ImportsNoTypes => {
                for record in changed.records.iter_mut().filter(|record| record.kind() == Kind::Event) {
                    *record = record.clone().with("type", Value::Null);
                }
            }
            Mistake::ImportsRunningJobsAsHeld => {
                for record in changed.records.iter_mut().filter(|record| record.kind() == Kind::Job) {
                    if record.text("state") == Some("running") {
                        *record = record.clone().with("state", Value::Text("held".into()));
                    }
                }
            }
            Mistake::ImportsAnyLength => changed.records.truncate(IMPORT_MAX_RECORDS),
            Mistake::ImportsErasedAsWhole => {
                for record in changed.records.iter_mut().filter(|record| record.is_erased()) {
                    *record = record.clone().with("erased_at", Value::Null);
                }
            }
            Mistake::ImportsNoDecisions => changed.records.retain(|record| record.kind() != Kind::Decision),
            Mistake::ImportsNoDeliveries => changed.records.retain(|record| record.kind() != Kind::Delivery),
            Mistake::ImportsAtItsOwnTime => {
                let now = Value::Number(self.clock.now().as_micros());
                let arrived = |record: &&mut Record| matches!(record.kind(), Kind::Event | Kind::Delivery);
                for record in changed.records.iter_mut().filter(arrived) {
                    *record = record.clone().with("received_at", now.clone());
                }
            }
            _ => {}
        }
        let marked = self.model.restored_at().await?;
        let mut imported = match self.model.import(op, Arc::new(changed)).await {
            Err(error) if self.mistake == Mistake::ImportsWhatItCan && error.code == "import_out_of_order" => {
                Imported { outcomes: Vec::new() }
            }
            answer => answer?,
        };
        if let (Mistake::FirstMarkStands, Some(first)) = (self.mistake, marked) {
            self.model.restored(self.other_op(), RestoredMark::Cleared).await?;
            self.model.restored(self.other_op(), RestoredMark::At(first)).await?;
        }
        if matches!(self.mistake, Mistake::ImportsNoDecisions | Mistake::ImportsNoDeliveries) {
            imported.outcomes.resize(batch.records.len(), Outcome::Entered);
        }
        if self.mistake == Mistake::MovesBodies {
            for (record, outcome) in batch.records.iter().zip(&mut imported.outcomes) {
                if record.kind() == Kind::SignedBody {
                    *outcome = Outcome::Entered;
                }
            }
        }
        if self.mistake == Mistake::ImportsEverythingAsNew {
            imported.outcomes.fill(Outcome::Entered);
        }
        Ok(imported)
    }

    async fn jobs(&self, mut filter: Filter, mut page: PageRequest) -> Result<JobPage, StoreError> {
        let limit = page.limit;
        match self.mistake {
            Mistake::PagesIncludeBelow => page.below = page.below.map(|below| EventNumber(below.0.saturating_add(1))),
            Mistake::PagesByOffset => return self.page_by_offset(filter, page).await,
            Mistake::IgnoresSourceFilter => filter.sources.clear(),
            Mistake::IgnoresStateFilter => filter.states.clear(),
            Mistake::IgnoresTypeFilter => filter.types.clear(),
            Mistake::SourceFilterIsAPrefix => {
                let prefix = filter.sources.pop().unwrap_or(source("a"));
                let mut found = self.model.jobs(filter, page).await?;
                found.jobs.retain(|job| job.source.as_str().starts_with(prefix.as_str()));
                return Ok(found);
            }
            Mistake::FiltersAfterPaging => {
                let mut found = self.model.jobs(Filter::default(), page).await?;
                found.jobs.retain(|job| filter.takes_source(Some(&job.source)));
                found.jobs.retain(|job| filter.states.is_empty() || filter.states.contains(&job.state));
                return Ok(found);
            }
            _ => {}
        }
        let mut found = self.model.jobs(filter, page).await?;
        match self.mistake {
            Mistake::SortsJobsByTime => found.jobs.sort_by_key(|job| std::cmp::Reverse(job.received_at)),
            Mistake::ListsOldestJobsFirst => found.jobs.reverse(),
            Mistake::SaysNextAlways => found.next = Some(found.jobs.last().map_or(EventNumber(0), |job| job.event)),
            Mistake::SaysNextNever => found.next = None,
            Mistake::PagesOfAnySize => found.jobs.truncate(limit as usize),
            Mistake::JobsStartRunning => found.jobs.iter_mut().for_each(|job| job.state = JobState::Running),
            _ => {}
        }
        Ok(found)
    }

    async fn stats(&self, filter: Filter) -> Result<Stats, StoreError> {
        let mut spoiled = filter.clone();
        match self.mistake {
            Mistake::StatsIgnoreSource => spoiled.sources.clear(),
            Mistake::StatsIgnoreRange => (spoiled.since, spoiled.until) = (None, None),
            Mistake::StatsIncludeTheEnd => {
                spoiled.until = spoiled.until.map(|until| Timestamp::from_micros(until.as_micros() + 1));
            }
            _ => {}
        }
        let mut stats = self.model.stats(spoiled).await?;
        match self.mistake {
            Mistake::CountsRunningAsPending => {
                for group in stats.groups.iter_mut().chain([&mut stats.total]) {
                    group.jobs[JobState::Pending as usize] +=
                        std::mem::take(&mut group.jobs[JobState::Running as usize]);
                }
            }
            Mistake::StatsSayWhatWasAsked => (stats.since, stats.until) = (filter.since, filter.until),
            Mistake::ListsLargestSourceFirst => stats.groups.sort_by_key(|group| std::cmp::Reverse(group.received())),
            _ => {}
        }
        self.spoil_group(&mut stats.total);
        stats.groups.iter_mut().for_each(|group| self.spoil_group(group));
        Ok(stats)
    }

    async fn deliveries(&self, filter: Filter, request: ListRequest) -> Result<Page<DeliverySummary>, StoreError> {
        self.spoilt_deliveries(filter, request).await
    }

    async fn conflicts(
        &self,
        filter: Filter,
        request: ListRequest,
        texts: Texts,
    ) -> Result<Page<ConflictSummary>, StoreError> {
        self.spoilt_conflicts(filter, request, texts).await
    }

    async fn attempts(&self, filter: Filter, request: ListRequest) -> Result<Page<AttemptView>, StoreError> {
        self.spoilt_attempts(filter, request).await
    }

    async fn follow(&self, filter: Filter, from: FollowFrom) -> Result<Followed, StoreError> {
        self.spoilt_follow(filter, from).await
    }

    async fn resolve(&self, op: OpId, mut request: ResolveRequest) -> Result<Resolved, StoreError> {
        let op = if self.mistake == Mistake::IgnoresOps { self.other_op() } else { op };
        match (self.mistake, &mut request.decision) {
            (Mistake::KeepsWhatIsAccepted, decision @ Decision::Accept { .. })
            | (Mistake::KeepsWhatShouldEnter, decision @ Decision::As(_)) => *decision = Decision::Keep,
            (Mistake::AlwaysRunsAgain, Decision::Accept { run }) => *run = true,
            _ => {}
        }
        let asked = request.clone();
        let error = match self.model.resolve(op, request.clone()).await {
            Ok(resolved) => return Ok(resolved),
            Err(error) => error,
        };
        match (self.mistake, error.code) {
            (Mistake::TakesTheFirstConflict, "conflict_not_named") => {
                self.model.resolve(op, ResolveRequest { conflicts: vec![1], ..request }).await
            }
            (Mistake::DecidesWhatItCan, "conflict_unknown") => {
                request.conflicts.truncate(1);
                self.model.resolve(op, request).await
            }
            (Mistake::SaysDuplicateToAnyId, "id_taken") => {
                let kept = self.model.resolve(op, ResolveRequest { decision: Decision::Keep, ..request }).await?;
                Ok(Resolved { entered: Some((Verdict::Duplicate, asked.event)), ..kept })
            }
            (Mistake::DecidesAgain, "conflict_decided") => Ok(Resolved {
                decided_at: self.clock.now(),
                conflicts: asked.conflicts,
                revision: 1,
                state: JobState::Pending,
                run: 1,
                rerun: false,
                entered: None,
            }),
            _ => Err(error),
        }
    }

    async fn prune(&self, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
        let op = if self.mistake == Mistake::IgnoresOps { self.other_op() } else { op };
        let pruned = self.early(async || self.model.prune(op, request).await).await?;
        let mut own = self.own.lock().unwrap();
        own.pruned += pruned.deliveries as i64;
        own.forgets += u8::from(self.mistake == Mistake::ForgetsBodiesWhenPruned);
        drop(own);
        Ok(pruned)
    }

    async fn prunable(&self, request: PruneRequest) -> Result<Pruned, StoreError> {
        if self.mistake == Mistake::PrunesWaitingJobs {
            for job in self.model.jobs(Filter::default(), every_job()).await?.jobs {
                let _ = self.memory.set_job(job.event, JobState::Done, job.received_at);
            }
        }
        let found = self.early(async || self.model.prunable(request.clone()).await).await?;
        match self.mistake {
            Mistake::PrunesNothing => return Ok(Pruned { next: found.next, ..Pruned::default() }),
            Mistake::PrunesWhereItLooks => return self.model.prune(self.other_op(), request).await,
            Mistake::PrunesOnce
                if found.events > 0 && std::mem::replace(&mut self.own.lock().unwrap().pruned_once, true) =>
            {
                return Ok(Pruned { next: found.next, ..Pruned::default() });
            }
            _ => {}
        }
        Ok(found)
    }

    async fn erase(&self, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
        let op = if self.mistake == Mistake::IgnoresOps { self.other_op() } else { op };
        let found = || self.model.find_events(Some(request.source.clone()), request.id.clone());
        match self.mistake {
            Mistake::ErasesNothing => {
                let erased = |event: &EventHistory| Erased {
                    event: event.job.event,
                    erased_at: self.clock.now(),
                    cancelled: true,
                    gone: true,
                    next: None,
                };
                return Ok(found().await?.first().map(erased));
            }
            Mistake::ErasesWhatRuns => {
                for event in found().await?.iter().filter(|event| event.job.state == JobState::Running) {
                    let _ = self.memory.set_job(event.job.event, JobState::Pending, event.job.received_at);
                }
            }
            _ => {}
        }
        let mut erased = self.model.erase(op, request).await?;
        if self.mistake == Mistake::ForgetsBodiesWhenErased && erased.is_some() {
            self.own.lock().unwrap().forgets += 1;
        }
        if let (Mistake::ErasesWhatIsOpen, Some(erased)) = (self.mistake, &erased) {
            let _ = self.memory.set_job(erased.event, JobState::Cancelled, self.clock.now());
        }
        if self.mistake == Mistake::ErasesNewlyEachTime {
            erased = erased.map(|erased| Erased { erased_at: self.clock.now(), ..erased });
        }
        Ok(erased)
    }
}

impl Wrong {
    async fn is_decided(&self, event: Option<EventNumber>, conflict: Option<u32>) -> Result<bool, StoreError> {
        let (Some(event), Some(conflict)) = (event, conflict) else { return Ok(false) };
        let jobs = self.model.jobs(Filter::default(), every_job()).await?.jobs;
        let Some(job) = jobs.into_iter().find(|job| job.event == event) else { return Ok(false) };
        let found = self.model.find_events(Some(job.source), job.id).await?;
        let conflicts = found.into_iter().flat_map(|event| event.conflicts);
        Ok(conflicts.into_iter().any(|one| one.number == conflict && !one.decisions.is_empty()))
    }

    /// What stands in the place of an erased id is taken for an id.
    async fn find_by_hash(&self, source: Option<Source>, id: String) -> Result<Vec<EventHistory>, StoreError> {
        let mut found = self.model.find_events(source, id.clone()).await?;
        let jobs = self.model.jobs(Filter::default(), every_job()).await?.jobs;
        if let (true, Some(job)) = (found.is_empty(), jobs.into_iter().find(|job| job.id == id)) {
            // Any event tells that something was found.
            let template = self.model.find_events(None, "ana".to_owned()).await?;
            found.extend(template.into_iter().map(|event| EventHistory { job: job.clone(), ..event }));
        }
        Ok(found)
    }

    /// Runs it as if a week had passed.
    async fn early<T>(&self, call: impl AsyncFnOnce() -> T) -> T {
        let week = if self.mistake == Mistake::PrunesAWeekEarly { 7 * 86_400_000_000 } else { 0 };
        self.clock.advance(week);
        let answer = call().await;
        self.clock.advance(-week);
        answer
    }
}
