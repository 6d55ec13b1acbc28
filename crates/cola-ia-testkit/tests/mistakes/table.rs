//! Which mistake breaks which cases, and whether random sequences can reach it.

use crate::planted::Mistake;

/// What one mistake must break. It may break more.
pub(crate) struct Row {
    pub(crate) mistake: Mistake,
    /// Random sequences must find it too. Not so for long ids and batches, histories beyond their bound, and callers that
    /// meet: only the cases try those.
    pub(crate) compared: bool,
    pub(crate) breaks: &'static [&'static str],
}

const fn found(mistake: Mistake, breaks: &'static [&'static str]) -> Row {
    Row { mistake, compared: true, breaks }
}

const fn by_cases_only(mistake: Mistake, breaks: &'static [&'static str]) -> Row {
    Row { mistake, compared: false, breaks }
}

pub(crate) const TABLE: &[Row] = &[
    found(Mistake::TrimsIds, &["ids_that_look_alike_are_other_events", "an_id_that_is_not_there_finds_nothing"]),
    found(Mistake::FoldsCase, &["ids_that_look_alike_are_other_events"]),
    found(Mistake::NormalisesIds, &["ids_that_look_alike_are_other_events"]),
    by_cases_only(Mistake::CutsIdsAt1000, &["long_ids_differ_in_their_last_byte"]),
    found(Mistake::ReadsIdsAsNumbers, &["ids_that_look_like_numbers_are_strings"]),
    found(
        Mistake::ForgetsSource,
        &["one_id_under_two_sources_is_two_events", "events_of_every_source_are_found_sorted_by_source"],
    ),
    found(Mistake::JoinsSourceAndId, &["source_and_id_do_not_run_into_each_other"]),
    found(
        Mistake::TrimsTexts,
        &[
            "texts_are_kept_byte_for_byte",
            "texts_that_look_alike_are_other_contents",
            "the_text_of_each_conflict_is_kept",
        ],
    ),
    by_cases_only(
        Mistake::DropsControlCharacters,
        &["texts_are_kept_byte_for_byte", "the_text_of_each_conflict_is_kept"],
    ),
    found(
        Mistake::ComparesThe1000FirstBytes,
        &["texts_that_look_alike_are_other_contents", "texts_are_kept_byte_for_byte"],
    ),
    found(Mistake::TypeIsContent, &["type_and_time_make_no_conflict", "preview_says_what_the_store_knows"]),
    found(Mistake::DropsType, &["type_and_time_are_kept"]),
    found(Mistake::DropsTime, &["type_and_time_are_kept", "a_delivery_tells_its_own_time"]),
    found(Mistake::KeepsSecondsOnly, &["type_and_time_are_kept"]),
    found(
        Mistake::LastInBatchWins,
        &["the_first_in_a_batch_is_the_event", "repeats_inside_one_batch_are_judged_in_order"],
    ),
    found(
        Mistake::DropsRefusals,
        &["refusals_are_answered_in_their_place", "refusals_are_recorded_with_reason_and_place"],
    ),
    found(Mistake::LetsRefusalsIn, &["refusals_are_answered_in_their_place", "refusals_touch_no_event"]),
    found(
        Mistake::AlwaysNew,
        &[
            "an_unknown_identity_is_new_and_becomes_one_pending_job",
            "the_same_content_again_is_a_duplicate",
            "first_content_keeps_the_identity",
        ],
    ),
    found(
        Mistake::IgnoresOps,
        &[
            "same_op_gives_the_first_answer",
            "an_op_for_another_batch_is_refused",
            "the_same_op_at_once_gives_one_answer",
        ],
    ),
    by_cases_only(Mistake::CutsOpsTo8Bytes, &["ops_that_differ_in_one_bit_are_two_calls"]),
    found(Mistake::ForgetsOpsAtReopen, &["same_op_gives_the_first_answer_after_a_reopen"]),
    found(Mistake::RemembersTenOps, &["an_old_op_gives_its_answer_after_later_batches"]),
    found(
        Mistake::AnswersAnyBatchOfAnOp,
        &["an_op_for_another_batch_is_refused", "same_op_of_an_empty_batch_gives_the_first_answer"],
    ),
    found(
        Mistake::SaysNowToARepeat,
        &["same_op_gives_the_first_answer", "same_op_of_an_empty_batch_gives_the_first_answer"],
    ),
    found(Mistake::RecordsNoEmptyBatch, &["same_op_of_an_empty_batch_gives_the_first_answer"]),
    found(Mistake::LetsAnEmptyBatchIn, &["an_empty_batch_records_nothing"]),
    by_cases_only(Mistake::TakesAnyLength, &["a_longer_batch_is_refused_and_changes_nothing"]),
    by_cases_only(Mistake::TakesOneLess, &["a_batch_of_the_greatest_length_enters"]),
    by_cases_only(Mistake::RecordsAndRefuses, &["a_longer_batch_is_refused_and_changes_nothing"]),
    found(
        Mistake::ConflictPassesAsDuplicate,
        &["other_content_under_a_known_identity_is_a_conflict", "first_content_keeps_the_identity"],
    ),
    found(Mistake::CountsConflictsFromZero, &["other_content_under_a_known_identity_is_a_conflict"]),
    found(
        Mistake::OneConflictAnEvent,
        &["conflicts_of_two_events_are_numbered_apart", "long_histories_are_cut_and_counted_whole"],
    ),
    found(Mistake::SortsReceipts, &["receipts_stand_in_the_order_of_the_batch"]),
    found(
        Mistake::NumbersEachBatchFromOne,
        &["numbers_grow_within_and_across_batches", "the_same_batch_under_two_ops_is_two_calls"],
    ),
    found(Mistake::NumbersByClock, &["a_clock_that_steps_back_does_not_disturb_the_numbers"]),
    found(Mistake::NamesTheDeliveryAsEvent, &["a_receipt_names_its_event"]),
    found(
        Mistake::CountsOneDuplicateLess,
        &["duplicates_are_counted", "callers_at_once_make_one_event_of_an_identity"],
    ),
    by_cases_only(Mistake::CountsListedDuplicates, &["long_histories_are_cut_and_counted_whole"]),
    found(Mistake::SortsConflictsByFingerprint, &["conflicts_are_numbered_and_counted"]),
    found(Mistake::CountsEachConflictOnce, &["conflicts_are_numbered_and_counted"]),
    found(Mistake::LosesConflictTexts, &["the_text_of_each_conflict_is_kept"]),
    found(Mistake::ConflictTimesStandStill, &["conflicts_are_numbered_and_counted"]),
    found(Mistake::ListsOldestFirst, &["deliveries_after_the_first_are_listed_newest_first"]),
    found(
        Mistake::ListsTheFirstDelivery,
        &[
            "deliveries_after_the_first_are_listed_newest_first",
            "an_unknown_identity_is_new_and_becomes_one_pending_job",
        ],
    ),
    found(Mistake::TellsTimeOfTheEvent, &["a_delivery_tells_its_own_time"]),
    found(Mistake::TellsEveryOrigin, &["only_a_conflict_tells_where_it_was_read"]),
    found(Mistake::TellsNoOrigin, &["only_a_conflict_tells_where_it_was_read"]),
    found(Mistake::SortsSourcesByLength, &["events_of_every_source_are_found_sorted_by_source"]),
    found(
        Mistake::FindsByPattern,
        &["ids_that_could_break_a_query_are_only_ids", "an_id_that_is_not_there_finds_nothing"],
    ),
    by_cases_only(Mistake::EndsIdsAtNul, &["an_id_that_is_not_there_finds_nothing"]),
    found(Mistake::JobsStartRunning, &["an_unknown_identity_is_new_and_becomes_one_pending_job"]),
    found(Mistake::PreviewRecords, &["preview_records_nothing"]),
    found(Mistake::PreviewComparesMembers, &["preview_does_not_compare_members_with_each_other"]),
    found(Mistake::PreviewSaysUnknown, &["preview_says_what_the_store_knows"]),
    found(Mistake::SortsJobsByTime, &["a_clock_that_steps_back_does_not_disturb_the_numbers"]),
    found(Mistake::ListsOldestJobsFirst, &["jobs_are_listed_newest_first"]),
    found(Mistake::SaysNextAlways, &["an_empty_store_has_an_empty_page", "next_is_given_only_where_more_is_left"]),
    found(
        Mistake::SaysNextNever,
        &["pages_miss_and_double_no_job_while_new_ones_arrive", "next_is_given_only_where_more_is_left"],
    ),
    found(
        Mistake::PagesIncludeBelow,
        &["below_may_be_any_number", "pages_miss_and_double_no_job_while_new_ones_arrive"],
    ),
    found(Mistake::PagesByOffset, &["pages_miss_and_double_no_job_while_new_ones_arrive"]),
    found(Mistake::PagesOfAnySize, &["a_page_has_from_one_to_a_thousand_jobs"]),
    found(Mistake::IgnoresSourceFilter, &["jobs_are_filtered_by_source"]),
    found(Mistake::SourceFilterIsAPrefix, &["jobs_are_filtered_by_source"]),
    found(Mistake::IgnoresStateFilter, &["jobs_are_filtered_by_state"]),
    found(Mistake::FiltersAfterPaging, &["a_filtered_page_ends_with_the_last_job_that_matches"]),
    found(
        Mistake::ClaimsNewestFirst,
        &["a_claim_leases_what_is_due_oldest_first", "a_claim_repeated_gives_the_same_leases"],
    ),
    found(Mistake::ClaimsWhatRanOut, &["a_leased_job_is_nobody_elses"]),
    found(Mistake::ClaimsOfAnySource, &["a_claim_can_be_of_one_source"]),
    found(Mistake::NeverSaysWhenTheNextIsDue, &["a_claim_says_when_the_next_job_is_due"]),
    found(Mistake::ClaimsAnewUnderOneOp, &["a_claim_repeated_gives_the_same_leases"]),
    found(Mistake::SaysTheAskedEndOfALease, &["a_lease_is_extended_and_never_shortened"]),
    found(Mistake::ForgetsResources, &["a_completed_job_is_done_and_stays_so"]),
    found(Mistake::RetriesAtOnce, &["a_failed_job_is_due_again_after_its_wait"]),
    found(Mistake::NeverGivesUp, &["attempts_are_counted_when_claimed_and_bounded"]),
    found(Mistake::CountsWhatIsGivenBack, &["waiting_and_giving_back_cost_no_attempt"]),
    found(Mistake::NeverGivesUpLostOnes, &["a_lost_worker_is_counted_apart"]),
    found(Mistake::RecoversWithoutLimit, &["recovery_takes_only_what_ran_out_the_longest_first"]),
    found(Mistake::RecoversWhenDry, &["a_dry_recovery_changes_nothing"]),
    found(Mistake::NamesNoNewerAttempt, &["a_late_word_changes_nothing_and_names_the_newer_attempt"]),
    found(Mistake::ForgetsWhatWasSaid, &["what_was_said_before_is_answered_the_same"]),
    found(Mistake::TakesNeighbouringTokens, &["an_unknown_lease_is_lost"]),
    found(Mistake::RefusesOrdersTogether, &["orders_are_followed_or_refused_each_for_itself"]),
    by_cases_only(Mistake::OrdersIgnoreOps, &["an_order_repeated_gives_the_first_answer"]),
    found(Mistake::LetsLostLeasesGoOn, &["a_cancelled_job_is_lost_to_its_worker"]),
    found(Mistake::ReplaysCountOn, &["a_replay_is_a_new_run_with_attempts_from_one"]),
    found(Mistake::ReopeningEndsLeases, &["leases_outlive_a_reopening"]),
    by_cases_only(Mistake::TakesAnyNumberOfLeases, &["a_call_takes_a_thousand_leases_at_most"]),
    found(Mistake::GivesAJobTwice, &["claimers_that_meet_never_share_a_job"]),
    found(Mistake::ForgetsAtReopen, &["everything_survives_a_reopen", "refusals_are_recorded_with_reason_and_place"]),
    found(Mistake::FailsToReopenEmpty, &["an_empty_store_survives_a_reopen"]),
    found(Mistake::SharesOneMemory, &["two_stores_know_nothing_of_each_other"]),
    found(Mistake::RecordsRefusalsOfCountOne, &["refusals_are_recorded_with_reason_and_place"]),
    by_cases_only(
        Mistake::LooksThenWrites,
        &["callers_at_once_make_one_event_of_an_identity", "callers_at_once_agree_on_the_first_content"],
    ),
    by_cases_only(Mistake::LooksForTheOpThenWrites, &["the_same_op_at_once_gives_one_answer"]),
    by_cases_only(Mistake::WritesInTwoTransactions, &["views_at_once_see_whole_batches"]),
    found(
        Mistake::GivesNumbersTwice,
        &["callers_at_once_get_numbers_of_their_own", "numbers_grow_within_and_across_batches"],
    ),
];
