"""Whoever changes something is named: every action of a researcher, a command or a program takes `by`."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import annotation.actions
import predictions.actions
import results.actions
import simulation.actions
import studies.actions
import training.actions
import workspace.actions

ROOMS = (
    studies.actions,
    annotation.actions,
    predictions.actions,
    training.actions,
    results.actions,
    simulation.actions,
    workspace.actions,
)


def named(text: str) -> set[str]:
    """Return the full names of a list of `room/module: functions`, which may go on in the next line."""
    names, module = set(), ""
    for word in text.split():
        if word.endswith(":"):
            module = word.removesuffix(":").replace("/", ".actions.")
        else:
            names.add(f"{module}.{word}")
    return names


# An annotator does these, and what is stored is the record: a session, an answer, a count at the door.
OF_ANNOTATORS = named(
    """
    annotation/answering.advance_session: advance begin finish_if_done update_waiting
    annotation/answering.answer_notices: add discard_for_answer drop see
    annotation/answering.drafts: count_draft drafts_by_slot save
    annotation/answering.live_sessions: remaining_questions
    annotation/answering.old_pages: shows_image
    annotation/answering.practice: answer completed_round next_question order_for previous_round round_number
        skip_question_without_images terms
    annotation/answering.practice_rounds: begun_rounds current_round has_failed has_passed is_required new_round
        practice_answers
    annotation/answering.question_reports: report
    annotation/answering.responses: current_answer is_skipped_or_withdrawn open_slots order_for own_answers own_slots
        questions_in_part set_aside_answers stored_answers submit was_skipped was_withdrawn
    annotation/answering.session_time: ending estimated_seconds work_seconds
    annotation/answering.skip_allowance: outweigh_answers remaining unproven_skips
    annotation/answering.skip_question: skip skip_practice
    annotation/ending.qualification: join_group_if_passed
    annotation/arriving.admission: check_open_to has_taken_part is_blocked nothing_left
    annotation/arriving.entry_links: count_newcomer personal_link personal_links
    annotation/arriving.lobby: has_questions_ready is_page_open may_get_questions may_get_questions_later may_wait
        take_seat wait_deadline
    annotation/arriving.network_places: admit is_exempt most_places open_sessions_from_same_network
    annotation/arriving.suspicious_arrivals: digest note
    annotation/arriving.switch_role: is_offered switched_session switch
    annotation/ending.platform_outcome: code_for save_comment show_completion_code
    annotation/recruiting.link_requests: are_delayed request_link
    annotation/recruiting.panel: start use_link
    annotation/recruiting.prolific_studies: sends_people
    annotation/sessions: can_revive check_can_start consent find finish finish_unless_last_look give_up
        grant_more_time is_silent leave more_minutes record_open_page record_visit resume revive start
        waits_for_last_look
    """
)
# Steps of an action or of an answer; whoever takes them has recorded, or records, what they are part of.
STEPS = named(
    """
    annotation/answering.answer_sql: count_answer next_slots store_in_one_statement supports_one_statement
    annotation/answering.drafts: discard
    annotation/answering.skip_question: leave_out
    annotation/arriving.draw_questions: could_draw draw
    annotation/arriving.eligibility: find_bars find_bars_by_rule check
    annotation/checking.claim_checks: checks_to_leave
    annotation/checking.gold_questions: make_gold_questions
    annotation/checking.place_checks: order_of_seats
    annotation/deciding.decisions: decide_question decide_source_questions recount
    annotation/deciding.undo_acceptance: update_downstream update_downstream_of_answers update_downstream_of_questions
    annotation/ending.time_checks: check_times
    annotation/launching.complete_study: is_complete
    annotation/launching.consent_versions: first_version stored_version
    annotation/launching.reopen_studies: reopen reopen_asking reopen_with_open_slots
    annotation/recruiting.prolific_studies: send_draft
    annotation/removing.erasure: clear_entry_events delete_rows
    annotation/removing.redact_descriptions: redact
    annotation/removing.removals: lock remove_answers
    annotation/removing.reopen_places: free_places restore_places
    annotation/seats: claim close_if_answered has_free_seat open_seats record_filled_seat release
    predictions/solvability: note
    results/cached_statistics: drop_withdrawn
    results/exports: describe_exports discard_files exportable_studies exportable_study write_export
        write_export_of_project
    results/participants: find_person identify_person
    results/policies: note_resumed
    results/releases: write_release
    results/reports: write_report
    studies/completion_codes: add_code completion_code
    studies/conditions: note_blind_score
    studies/images: rendition
    studies/imports.importer: refuse_unknown
    studies/projects.tags: add_tag
    studies/studies: add_surveys fill_survey
    workspace/accounts: sign_up
    workspace/webhooks: queue_event queue_message
    """
)
# What the clock sends of what others have noted.
BY_THE_CLOCK = named(
    """
    annotation/arriving.network_places: forget_networks
    annotation/recruiting.arrival_checks: ask_again settle_unverified unverified_sessions
    annotation/recruiting.link_requests: are_due delete_old finish postpone take_due
    annotation/recruiting.panel: note_link_sent
    annotation/recruiting.submissions: due_studies mark_due note_submission read_study
    annotation/recruiting.webhooks: accounts_to_connect forget_old receive subscribe_account
    annotation/removing.old_ids: check_keys
    annotation/reviewing.person_messages: find_channel send_planned
    annotation/paying.send_payments: projects_to_pay send_project
    results/orphaned_files: discard_orphans
    results/session_flags: studies_to_flag
    results/policies: studies_with_policies
    training/deletion: ask_to_discard
    training/examples: discard_old discard_orphans
    training/orders: silent_runs
    workspace/acceptance_messages: queue_acceptance_messages
    workspace/deliveries: delete_old deliver
    workspace/model_push: ask_for_weights
    workspace/panel_mails: send_links
    workspace/person_mails: send_messages
    workspace/project_deletion: due_jobs
    """
)
# What a worker goes on with after somebody asked for it, who is named where they asked.
ASKED_FOR_BEFORE = named(
    """
    predictions/blind: begin begin_with_vectors score
    predictions/mismatched_predictions: delete_mismatched
    predictions/runs: due items_of overdue_runs
    predictions/store_scores: note_begun note_unreachable plan store
    predictions/vectors: keep
    results/exports: adopt_exports job_of make_export
    results/releases: freeze_release
    training/deletion: note_discarded
    training/orders: note_beat note_progress note_trained send_due
    training/runs: note_prepared note_unprepared read_again
    workspace/model_push: note_pushed
    """
)
# What people do with their own account and tokens, and what their scripts send: the row is the record, and names them.
OF_OWN_ACCOUNT = named(
    """
    workspace/browser_sessions: delete_ended end_session end_sessions open_sessions record_browser replace_session_key
    workspace/idempotent_responses: claim find store
    workspace/linked_accounts: unlink
    workspace/own_account: change_mail change_name confirm_mail complete_mail_change
    workspace/tokens: find_token make_token record_use revoke_token
    workspace/uploaded_images: discard_unused upload_image
    """
)
# What is kept can be made again from what it was made from: numbers of pages, names, and the state of a platform.
DERIVED = named(
    """
    annotation/recruiting.encrypt_again: encrypt_ids_again encrypt_tokens_again
    annotation/recruiting.prolific_account: note_clock
    annotation/recruiting.prolific_studies: refresh update_people
    predictions/duplicates: below compare_again embedding_in_use look_for_new
    results/cached_statistics: drop look_up compute_now make
    results/model_cards: compute_model_card write_model_card
    results/pseudonyms: name_annotators name_for_release
    """
)


def actions() -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the public functions of the rooms whose arguments are given by name: the house's mark of an action."""
    for room in ROOMS:
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            for name, value in vars(import_module(module.name)).items():
                if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.name:
                    signature = inspect.signature(value)
                    if all(each.kind is each.KEYWORD_ONLY for each in signature.parameters.values()):
                        yield f"{module.name}.{name}", signature


def test_every_action_of_a_researcher_or_a_program_takes_who_acts_and_when() -> None:
    exempt = OF_ANNOTATORS | STEPS | BY_THE_CLOCK | ASKED_FOR_BEFORE | OF_OWN_ACCOUNT | DERIVED
    nameless = {name for name, signature in actions() if not {"by", "now"} <= signature.parameters.keys()}
    assert nameless - exempt == set()


def test_the_lists_name_only_what_there_is_and_nobody_who_is_named_already() -> None:
    found = dict(actions())
    for name in OF_ANNOTATORS | STEPS | BY_THE_CLOCK | ASKED_FOR_BEFORE | OF_OWN_ACCOUNT | DERIVED:
        assert name in found
        assert "by" not in found[name].parameters


def test_nobody_acts_by_default() -> None:
    for _, signature in actions():
        if "by" in signature.parameters:
            assert signature.parameters["by"].default is inspect.Parameter.empty
