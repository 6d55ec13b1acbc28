//! Which mistake breaks which cases, and whether random sequences can reach it.

use crate::planted::Mistake;

/// What one mistake must break. It may break more.
pub(crate) struct Row {
    pub(crate) mistake: Mistake,
    /// Random sequences must find it too. Not so for long ids and batches, histories beyond their bound, callers that meet, and
    /// what takes several rare steps in a row: only the cases try those.
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
    found(
        Mistake::DropsTime,
        &["type_and_time_are_kept", "a_delivery_tells_its_own_time", "lateness_is_of_all_deliveries_that_carry_a_time"],
    ),
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
            "same_op_decides_once",
            "same_op_prunes_once",
            "a_repeated_call_is_counted_once",
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
    by_cases_only(Mistake::ExportsASourceOfNothing, &["an_empty_store_exports_nothing"]),
    by_cases_only(
        Mistake::ExportsNoRefusals,
        &["an_export_says_all_that_was_taken_in", "an_imported_store_answers_as_the_first_one"],
    ),
    by_cases_only(Mistake::ExportsNoEffects, &["every_kind_enters_and_comes_out_the_same"]),
    by_cases_only(Mistake::ExportsLaterEvents, &["every_event_of_the_start_is_exported_while_new_ones_arrive"]),
    by_cases_only(Mistake::ExportsPagesOfAnySize, &["a_page_is_about_as_long_as_asked_for"]),
    by_cases_only(
        Mistake::ImportsEverythingAsNew,
        &[
            "importing_again_changes_nothing",
            "an_export_grows_and_only_what_is_new_enters",
            "what_went_on_here_stays",
            "what_contradicts_is_told_and_nothing_is_overwritten",
            "what_belongs_to_a_contradiction_stays_out",
            "what_was_erased_here_is_not_brought_back",
            "what_was_pruned_here_is_not_brought_back",
        ],
    ),
    by_cases_only(
        Mistake::ImportsAnyNamespace,
        &["an_export_of_another_namespace_is_refused", "an_empty_store_takes_the_namespace_over"],
    ),
    by_cases_only(
        Mistake::ImportsNoTypes,
        &["an_export_enters_an_empty_store_and_comes_out_the_same", "importing_again_changes_nothing"],
    ),
    by_cases_only(Mistake::ImportsRunningJobsAsHeld, &["what_ran_elsewhere_does_not_run_here"]),
    by_cases_only(Mistake::ImportsWhatItCan, &["what_stands_without_what_it_belongs_to_is_refused_whole"]),
    by_cases_only(Mistake::ImportsUnderOtherOps, &["the_same_op_of_an_import_gives_the_first_answer"]),
    by_cases_only(Mistake::ImportsAnyLength, &["an_import_longer_than_allowed_is_refused"]),
    by_cases_only(
        Mistake::ImportsErasedAsWhole,
        &["an_erased_identity_stays_erased_where_its_export_enters", "what_was_erased_there_is_told_here"],
    ),
    by_cases_only(Mistake::ImportsNoDecisions, &["decisions_and_pruned_deliveries_enter_with_their_event"]),
    by_cases_only(
        Mistake::ImportsNoDeliveries,
        &["numbers_go_on_above_all_that_entered", "an_imported_store_answers_as_the_first_one"],
    ),
    by_cases_only(Mistake::ImportsAtItsOwnTime, &["what_entered_is_found_and_counted_by_its_own_time"]),
    by_cases_only(Mistake::IgnoresTypeFilter, &["jobs_are_filtered_by_type_and_reason"]),
    found(
        Mistake::ListsNoRefused,
        &["every_delivery_is_listed_with_all_that_it_said", "a_follower_gets_each_delivery_once_in_order"],
    ),
    found(Mistake::IgnoresVerdictFilter, &["deliveries_are_filtered_by_each_key"]),
    by_cases_only(
        Mistake::TimesIncludeTheirEnd,
        &["a_time_takes_its_first_instant_and_not_its_last", "deliveries_are_filtered_by_each_key"],
    ),
    by_cases_only(Mistake::DeliveriesByOffset, &["pages_of_deliveries_miss_and_double_nothing_while_others_arrive"]),
    by_cases_only(Mistake::EndsAtAShortPage, &["what_is_rare_is_found_behind_thousands_of_others"]),
    found(Mistake::SortsConflictsByEvent, &["conflicts_are_listed_by_their_first_coming"]),
    by_cases_only(Mistake::IgnoresUndecided, &["conflicts_are_filtered_by_each_key"]),
    found(Mistake::BringsNoTexts, &["conflicts_bring_both_texts_if_they_are_asked_for"]),
    found(Mistake::BringsAnyTexts, &["a_page_of_long_texts_comes_short_and_goes_on"]),
    found(
        Mistake::FollowsNewestFirst,
        &["a_follower_gets_each_delivery_once_in_order", "a_follower_begins_with_the_latest"],
    ),
    by_cases_only(Mistake::FollowsFromTheTop, &["a_follower_gets_each_delivery_once_in_order"]),
    found(Mistake::FollowsFromTheLastMatch, &["a_follower_gets_past_what_its_filter_leaves_out"]),
    by_cases_only(Mistake::NeverRewinds, &["a_follower_of_a_newer_store_goes_on_from_its_end"]),
    by_cases_only(Mistake::TakesAnyPlace, &["a_place_that_no_list_gave_is_refused"]),
    found(Mistake::KeptConflictsAlarm, &["a_kept_conflict_stays_one_and_is_no_alarm"]),
    found(Mistake::KeepsWhatIsAccepted, &["an_accepted_content_is_a_duplicate_from_then_on"]),
    found(Mistake::TellsWhatEntered, &["an_accepted_content_is_a_duplicate_from_then_on"]),
    found(Mistake::AlwaysRunsAgain, &["a_job_that_does_not_wait_is_touched_only_by_a_new_run"]),
    found(Mistake::KeepsWhatShouldEnter, &["a_content_enters_under_another_id_as_its_own_event"]),
    found(Mistake::SaysDuplicateToAnyId, &["a_content_does_not_enter_under_an_id_that_is_known"]),
    found(Mistake::TakesTheFirstConflict, &["without_a_number_exactly_one_conflict_must_be_undecided"]),
    found(Mistake::DecidesAgain, &["what_was_acted_upon_is_not_decided_again"]),
    found(Mistake::DecidesWhatItCan, &["all_conflicts_of_a_call_are_decided_or_none"]),
    found(Mistake::SaysDecidedAsItIsNow, &["a_repeated_batch_says_decided_as_it_was_then"]),
    found(Mistake::LosesNotes, &["a_kept_conflict_stays_one_and_is_no_alarm"]),
    found(
        Mistake::PrunesNothing,
        &["pruned_events_keep_identity_and_fingerprint", "looking_for_what_to_prune_changes_nothing"],
    ),
    found(Mistake::PrunesWaitingJobs, &["only_what_is_over_and_settled_is_pruned"]),
    by_cases_only(Mistake::PrunesOnce, &["what_happens_after_pruning_is_pruned_again"]),
    found(Mistake::ForgetsPrunedDeliveries, &["pruned_deliveries_stay_counted"]),
    found(Mistake::PrunesAWeekEarly, &["what_a_repeated_call_needs_is_kept_for_a_week"]),
    found(Mistake::PrunesWhereItLooks, &["looking_for_what_to_prune_changes_nothing"]),
    found(Mistake::GivesPrunedNumbersAgain, &["no_number_is_given_twice_after_pruning"]),
    found(
        Mistake::ErasesNothing,
        &[
            "an_erased_event_is_only_known_to_have_been_there",
            "an_erased_identity_is_judged_as_before_and_nothing_is_kept",
            "refusals_that_name_an_erased_id_lose_their_detail",
        ],
    ),
    by_cases_only(Mistake::ErasesWhatRuns, &["erasing_ends_a_job_that_no_worker_has"]),
    by_cases_only(Mistake::FindsByHash, &["the_hash_of_an_erased_id_is_no_id"]),
    by_cases_only(Mistake::ErasesNewlyEachTime, &["erasing_again_finds_nothing"]),
    found(Mistake::CountsFromOne, &["an_empty_store_has_counted_nothing"]),
    found(Mistake::MixesUpVerdicts, &["each_delivery_is_counted_by_its_verdict"]),
    found(Mistake::ListsLargestSourceFirst, &["counts_are_told_by_source_and_in_total"]),
    found(Mistake::StatsIgnoreSource, &["stats_are_filtered_by_source"]),
    found(Mistake::StatsIgnoreRange, &["only_what_was_received_in_the_range_is_counted"]),
    found(Mistake::StatsIncludeTheEnd, &["only_what_was_received_in_the_range_is_counted"]),
    found(Mistake::StatsSayWhatWasAsked, &["a_range_is_widened_to_whole_minutes_and_says_so"]),
    found(Mistake::CountsJobsOfTheRange, &["jobs_are_counted_whenever_they_came"]),
    found(Mistake::CountsAheadAsLate, &["a_provider_whose_clock_is_ahead_is_told_apart"]),
    found(Mistake::ForgetsAtReopen, &["everything_survives_a_reopen", "refusals_are_recorded_with_reason_and_place"]),
    found(Mistake::FailsToReopenEmpty, &["an_empty_store_survives_a_reopen"]),
    found(Mistake::SharesOneMemory, &["two_stores_know_nothing_of_each_other"]),
    found(Mistake::RecordsRefusalsOfCountOne, &["refusals_are_recorded_with_reason_and_place"]),
    found(Mistake::LastMarkStands, &["of_two_marks_the_later_one_stands"]),
    found(Mistake::TakesMarksOfTheFuture, &["a_mark_in_the_future_is_refused"]),
    found(Mistake::KeepsTheMark, &["a_mark_stays_until_it_is_taken_away"]),
    by_cases_only(
        Mistake::IgnoresOpsOfMarks,
        &["the_same_op_of_a_mark_gives_the_first_answer", "an_op_is_not_used_for_a_mark_and_something_else"],
    ),
    found(Mistake::MarksMakeAnEvent, &["a_mark_changes_no_event"]),
    by_cases_only(Mistake::EndsLeasesUntold, &["a_mark_ends_leases_and_counts_it"]),
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
