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
import workspace.actions

ROOMS = (
    studies.actions,
    annotation.actions,
    predictions.actions,
    results.actions,
    simulation.actions,
    workspace.actions,
)

# An annotator does these, and what is stored is the record: a session, an answer, a count at the door.
OF_ANNOTATORS = {
    "annotation.actions.arriving.entry_links.count_newcomer",
    "annotation.actions.arriving.entry_links.personal_link",
    "annotation.actions.arriving.entry_links.personal_links",
    "annotation.actions.answering.drafts.count_draft",
    "annotation.actions.answering.drafts.save",
    "annotation.actions.answering.drafts.drafts_by_slot",
    "annotation.actions.arriving.suspicious_arrivals.digest",
    "annotation.actions.arriving.suspicious_arrivals.note",
    "annotation.actions.answering.practice.answer",
    "annotation.actions.answering.practice.completed_round",
    "annotation.actions.answering.practice.next_question",
    "annotation.actions.answering.practice.order_for",
    "annotation.actions.answering.practice.skip_question_without_images",
    "annotation.actions.answering.practice.previous_round",
    "annotation.actions.answering.practice.round_number",
    "annotation.actions.answering.practice.terms",
    "annotation.actions.answering.question_reports.report",
    "annotation.actions.answering.responses.answer_in",
    "annotation.actions.arriving.admission.check_open_to",
    "annotation.actions.arriving.admission.has_taken_part",
    "annotation.actions.arriving.admission.nothing_left",
    "annotation.actions.arriving.lobby.may_wait",
    "annotation.actions.answering.live_sessions.remaining_questions",
    "annotation.actions.arriving.lobby.has_questions_ready",
    "annotation.actions.arriving.lobby.is_page_open",
    "annotation.actions.arriving.lobby.may_get_questions",
    "annotation.actions.arriving.lobby.may_get_questions_later",
    "annotation.actions.arriving.lobby.take_seat",
    "annotation.actions.arriving.lobby.wait_deadline",
    "annotation.actions.arriving.switch_role.is_offered",
    "annotation.actions.arriving.switch_role.switch",
    "annotation.actions.arriving.switch_role.session_switched_to",
    "annotation.actions.answering.responses.is_skipped_or_withdrawn",
    "annotation.actions.answering.responses.set_aside_answers",
    "annotation.actions.answering.responses.open_slots",
    "annotation.actions.answering.responses.own_answers",
    "annotation.actions.answering.responses.own_slots",
    "annotation.actions.answering.responses.order_for",
    "annotation.actions.answering.responses.questions_in_part",
    "annotation.actions.answering.responses.stored_answers",
    "annotation.actions.answering.responses.submit",
    "annotation.actions.answering.responses.was_skipped",
    "annotation.actions.answering.responses.was_withdrawn",
    "annotation.actions.answering.answer_notices.add",
    "annotation.actions.answering.answer_notices.drop",
    "annotation.actions.answering.answer_notices.see",
    "annotation.actions.answering.answer_notices.discard_for_answer",
    "annotation.actions.answering.old_pages.shows_image",
    "annotation.actions.answering.practice_rounds.is_required",
    "annotation.actions.answering.practice_rounds.begun_rounds",
    "annotation.actions.answering.practice_rounds.current_round",
    "annotation.actions.answering.practice_rounds.new_round",
    "annotation.actions.answering.practice_rounds.practice_answers",
    "annotation.actions.answering.practice_rounds.has_failed",
    "annotation.actions.answering.practice_rounds.has_passed",
    "annotation.actions.sessions.grant_more_time",
    "annotation.actions.sessions.is_silent",
    "annotation.actions.arriving.network_places.admit",
    "annotation.actions.arriving.network_places.open_sessions_from_same_network",
    "annotation.actions.arriving.network_places.is_exempt",
    "annotation.actions.arriving.network_places.most_places",
    "annotation.actions.sessions.record_open_page",
    "annotation.actions.answering.advance_session.begin",
    "annotation.actions.sessions.finish_unless_last_look",
    "annotation.actions.ending.platform_outcome.save_comment",
    "annotation.actions.sessions.consent",
    "annotation.actions.sessions.can_revive",
    "annotation.actions.sessions.find",
    "annotation.actions.sessions.record_visit",
    "annotation.actions.ending.platform_outcome.code_for",
    "annotation.actions.sessions.finish",
    "annotation.actions.sessions.give_up",
    "annotation.actions.answering.advance_session.advance",
    "annotation.actions.ending.platform_outcome.show_completion_code",
    "annotation.actions.sessions.waits_for_last_look",
    "annotation.actions.sessions.leave",
    "annotation.actions.answering.advance_session.update_waiting",
    "annotation.actions.sessions.check_can_start",
    "annotation.actions.sessions.more_minutes",
    "annotation.actions.answering.advance_session.finish_if_done",
    "annotation.actions.sessions.resume",
    "annotation.actions.sessions.revive",
    "annotation.actions.sessions.start",
    "annotation.actions.answering.skip_question.skip",
    "annotation.actions.answering.skip_question.skip_practice",
    "annotation.actions.answering.skip_allowance.remaining",
    "annotation.actions.answering.skip_allowance.outweigh_answers",
    "annotation.actions.answering.skip_allowance.unproven",
    "annotation.actions.answering.session_time.ending",
    "annotation.actions.answering.session_time.estimated_seconds",
    "annotation.actions.answering.session_time.worked",
}
# Steps of an action or of an answer; whoever takes them has recorded, or records, what they are part of.
STEPS = {
    "annotation.actions.launching.reopen_studies.reopen",
    "annotation.actions.launching.reopen_studies.reopen_asking",
    "annotation.actions.launching.reopen_studies.reopen_with_open_slots",
    "annotation.actions.launching.complete_study.is_complete",
    "annotation.actions.deciding.decisions.decide_question",
    "annotation.actions.deciding.decisions.decide_source_questions",
    "annotation.actions.deciding.decisions.recount",
    "annotation.actions.arriving.draw_questions.could_draw",
    "annotation.actions.arriving.draw_questions.draw",
    "annotation.actions.arriving.eligibility.barred",
    "annotation.actions.arriving.eligibility.barred_by_rule",
    "annotation.actions.arriving.eligibility.check",
    "annotation.actions.removing.erasure.delete_rows",
    "annotation.actions.removing.removals.lock",
    "annotation.actions.removing.removals.remove_answers",
    "annotation.actions.removing.reopen_places.free_places",
    "annotation.actions.removing.reopen_places.restore_places",
    "annotation.actions.seats.claim",
    "annotation.actions.seats.close_if_answered",
    "annotation.actions.seats.has_free_seat",
    "annotation.actions.answering.drafts.discard",
    "annotation.actions.seats.open_seats",
    "annotation.actions.seats.release",
    "annotation.actions.seats.record_filled_seat",
    "annotation.actions.answering.skip_question.leave_out",
    "annotation.actions.answering.answer_sql.supports_one_statement",
    "annotation.actions.answering.answer_sql.count_answer",
    "annotation.actions.answering.answer_sql.next_slots",
    "annotation.actions.answering.answer_sql.store_in_one_statement",
    "annotation.actions.answering.answer_sql.take_slot",
    "annotation.actions.ending.time_checks.check_times",
    "annotation.actions.deciding.undo_acceptance.update_downstream",
    "annotation.actions.deciding.undo_acceptance.update_downstream_of_answers",
    "annotation.actions.deciding.undo_acceptance.update_downstream_of_questions",
    "annotation.actions.removing.redact_descriptions.redact",
    "results.actions.exports.describe_exports",
    "results.actions.exports.discard_files",
    "results.actions.exports.exportable_studies",
    "results.actions.exports.exportable_study",
    "results.actions.exports.write_export",
    "results.actions.exports.write_export_of_project",
    "results.actions.participants.person_called",
    "results.actions.participants.person_with_id",
    "results.actions.releases.write_release",
    "results.actions.reports.write_report",
    "predictions.actions.solvability.note",
    "studies.actions.completion_codes.add_code",
    "studies.actions.completion_codes.completion_code",
    "studies.actions.conditions.note_blind_score",
    "studies.actions.images.rendition",
    "studies.actions.imports.importer.refuse_unknown",
    "studies.actions.studies.add_surveys",
    "studies.actions.studies.fill_survey",
    "workspace.actions.accounts.sign_up",
    "workspace.actions.webhooks.queue_event",
    "workspace.actions.webhooks.queue_message",
}
# What the clock sends of what others have noted.
BY_THE_CLOCK = {
    "annotation.actions.arriving.network_places.forget_networks",
    "workspace.actions.acceptance_messages.queue_acceptance_messages",
    "workspace.actions.deliveries.deliver",
    "workspace.actions.deliveries.delete_old",
}
# What a worker goes on with after somebody asked for it, who is named where they asked.
ASKED_FOR_BEFORE = {
    "predictions.actions.mismatched_predictions.delete_mismatched",
    "predictions.actions.blind.begin",
    "predictions.actions.blind.begin_with_vectors",
    "predictions.actions.blind.score",
    "predictions.actions.vectors.keep",
    "predictions.actions.runs.due",
    "predictions.actions.runs.items_of",
    "predictions.actions.runs.waiting_for_too_long",
    "predictions.actions.store_scores.note_begun",
    "predictions.actions.store_scores.note_unreachable",
    "predictions.actions.store_scores.plan",
    "predictions.actions.store_scores.store",
    "results.actions.exports.adopt_exports",
    "results.actions.exports.job_of",
    "results.actions.exports.make_export",
    "results.actions.releases.freeze_release",
}
# What people do with their own account and tokens, and what their scripts send: the row is the record, and names them.
OF_OWN_ACCOUNT = {
    "workspace.actions.browser_sessions.end_session",
    "workspace.actions.browser_sessions.end_sessions",
    "workspace.actions.browser_sessions.delete_ended",
    "workspace.actions.browser_sessions.record_browser",
    "workspace.actions.browser_sessions.replace_session_key",
    "workspace.actions.browser_sessions.open_sessions",
    "workspace.actions.linked_accounts.unlink",
    "workspace.actions.own_account.change_mail",
    "workspace.actions.own_account.change_name",
    "workspace.actions.own_account.confirm_mail",
    "workspace.actions.own_account.follow_link",
    "workspace.actions.idempotent_responses.claim",
    "workspace.actions.idempotent_responses.find",
    "workspace.actions.idempotent_responses.store",
    "workspace.actions.tokens.find_token",
    "workspace.actions.tokens.make_token",
    "workspace.actions.tokens.record_use",
    "workspace.actions.tokens.revoke_token",
    "workspace.actions.uploaded_images.discard_unused",
    "workspace.actions.uploaded_images.upload_image",
}
# What is kept can be made again from the rows it was made from: numbers of pages, and names.
DERIVED = {
    "predictions.actions.duplicates.below",
    "predictions.actions.duplicates.compare_again",
    "predictions.actions.duplicates.embedding_in_use",
    "predictions.actions.duplicates.look_for_new",
    "results.actions.cached_statistics.drop",
    "results.actions.cached_statistics.look_up",
    "results.actions.cached_statistics.made_at_once",
    "results.actions.cached_statistics.make",
    "results.actions.pseudonyms.name_annotators",
    "results.actions.pseudonyms.name_for_release",
}


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
