"""Whoever changes something is named: every action of a researcher, a command or a program takes `by`."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import annotation.actions
import predictions.actions
import rehearsal.actions
import results.actions
import studies.actions
import workspace.actions

ROOMS = (
    studies.actions,
    annotation.actions,
    predictions.actions,
    results.actions,
    rehearsal.actions,
    workspace.actions,
)

# An annotator does these, and what is stored is the record: a session, an answer, a count at the door.
OF_ANNOTATORS = {
    "annotation.actions.arriving.count_newcomer",
    "annotation.actions.arriving.personal_link",
    "annotation.actions.arriving.personal_links",
    "annotation.actions.drafts.count_one",
    "annotation.actions.drafts.keep",
    "annotation.actions.drafts.of_slots",
    "annotation.actions.odd_arrivals.digest",
    "annotation.actions.odd_arrivals.note",
    "annotation.actions.practice.answer",
    "annotation.actions.practice.ended_round",
    "annotation.actions.practice.next_question",
    "annotation.actions.practice.order_for",
    "annotation.actions.practice.pass_over",
    "annotation.actions.practice.round_before",
    "annotation.actions.practice.round_shown",
    "annotation.actions.practice.terms",
    "annotation.actions.reporting.report",
    "annotation.actions.responses.answer_in",
    "annotation.actions.admission.check_open_to",
    "annotation.actions.admission.has_taken_part",
    "annotation.actions.admission.nothing_left",
    "annotation.actions.lobby.is_open_to",
    "annotation.actions.growing.room",
    "annotation.actions.lobby.is_something_ready",
    "annotation.actions.lobby.is_still_there",
    "annotation.actions.lobby.may_bring",
    "annotation.actions.lobby.may_come",
    "annotation.actions.lobby.take_place",
    "annotation.actions.lobby.waits_until",
    "annotation.actions.other_role.is_offered",
    "annotation.actions.other_role.take",
    "annotation.actions.other_role.taken_by",
    "annotation.actions.responses.is_gone",
    "annotation.actions.responses.kept_aside",
    "annotation.actions.responses.open_slots",
    "annotation.actions.responses.own_answers",
    "annotation.actions.responses.own_slots",
    "annotation.actions.responses.order_for",
    "annotation.actions.responses.questions_in_part",
    "annotation.actions.responses.stored_answers",
    "annotation.actions.responses.submit",
    "annotation.actions.responses.was_skipped",
    "annotation.actions.responses.was_withdrawn",
    "annotation.actions.answer_notices.add",
    "annotation.actions.answer_notices.drop",
    "annotation.actions.answer_notices.see",
    "annotation.actions.answer_notices.settle",
    "annotation.actions.old_pages.shows",
    "annotation.actions.rounds.are_ahead",
    "annotation.actions.rounds.begun",
    "annotation.actions.rounds.current",
    "annotation.actions.rounds.following",
    "annotation.actions.rounds.given",
    "annotation.actions.rounds.has_failed",
    "annotation.actions.rounds.has_passed",
    "annotation.actions.sessions.ask_for_more",
    "annotation.actions.sessions.is_silent",
    "annotation.actions.network_places.admit",
    "annotation.actions.network_places.beside",
    "annotation.actions.network_places.is_open_to",
    "annotation.actions.network_places.most_places",
    "annotation.actions.sessions.note_open_page",
    "annotation.actions.leading_on.begin",
    "annotation.actions.sessions.come_to_the_end",
    "annotation.actions.handing_back.comment",
    "annotation.actions.sessions.consent",
    "annotation.actions.sessions.could_go_on",
    "annotation.actions.sessions.find",
    "annotation.actions.sessions.see",
    "annotation.actions.handing_back.code_for",
    "annotation.actions.sessions.finish",
    "annotation.actions.sessions.give_up",
    "annotation.actions.leading_on.go_on",
    "annotation.actions.handing_back.hand_back",
    "annotation.actions.sessions.waits_for_last_look",
    "annotation.actions.sessions.leave",
    "annotation.actions.leading_on.look_again",
    "annotation.actions.sessions.look_in",
    "annotation.actions.sessions.more_minutes",
    "annotation.actions.leading_on.rest",
    "annotation.actions.sessions.resume",
    "annotation.actions.sessions.revive",
    "annotation.actions.sessions.start",
    "annotation.actions.skipping.skip",
    "annotation.actions.skipping.skip_practice",
    "annotation.actions.skips.left",
    "annotation.actions.skips.outweigh_answers",
    "annotation.actions.skips.unproven",
    "annotation.actions.timing.ending",
    "annotation.actions.timing.estimated_seconds",
    "annotation.actions.timing.worked",
}
# Steps of an action or of an answer; whoever takes them has recorded, or records, what they are part of.
STEPS = {
    "annotation.actions.awaited.await_answers",
    "annotation.actions.awaited.await_what_is_open",
    "annotation.actions.awaited.await_what_was_reopened",
    "annotation.actions.completing.is_complete",
    "annotation.actions.decisions.decide_question",
    "annotation.actions.decisions.decide_what_was_asked_about",
    "annotation.actions.decisions.recount",
    "annotation.actions.drawing.could_draw",
    "annotation.actions.drawing.draw",
    "annotation.actions.eligible.barred",
    "annotation.actions.eligible.by_rule",
    "annotation.actions.eligible.check",
    "annotation.actions.forgetting.delete_rows",
    "annotation.actions.removals.lock",
    "annotation.actions.removals.take_out",
    "annotation.actions.reopening.give_up",
    "annotation.actions.reopening.take_back",
    "annotation.actions.seats.claim",
    "annotation.actions.seats.fill",
    "annotation.actions.seats.is_one_free",
    "annotation.actions.drafts.discard",
    "annotation.actions.seats.open_seats",
    "annotation.actions.seats.release",
    "annotation.actions.seats.return_seat",
    "annotation.actions.skipping.leave_out",
    "annotation.actions.answer_sql.can_store_at_once",
    "annotation.actions.answer_sql.count_answer",
    "annotation.actions.answer_sql.next_slots",
    "annotation.actions.answer_sql.store_at_once",
    "annotation.actions.answer_sql.take_slot",
    "annotation.actions.time_checks.check_times",
    "annotation.actions.undoing.follow",
    "annotation.actions.undoing.follow_answers",
    "annotation.actions.undoing.follow_questions",
    "annotation.actions.unsaying.unsay",
    "results.actions.exports.describe_exports",
    "results.actions.exports.discard_files",
    "results.actions.exports.exportable_studies",
    "results.actions.exports.exportable_study",
    "results.actions.exports.write_export",
    "results.actions.exports.write_export_of_project",
    "results.actions.people.person_called",
    "results.actions.people.person_with_id",
    "results.actions.releases.write_release",
    "results.actions.reports.write_report",
    "predictions.actions.solvability.note",
    "studies.actions.codes.add_code",
    "studies.actions.codes.completion_code",
    "studies.actions.conditions.note_blind_score",
    "studies.actions.images.rendition",
    "studies.actions.importing.refuse_unknown",
    "studies.actions.studies.add_surveys",
    "studies.actions.studies.fill_survey",
    "workspace.actions.accounts.sign_up",
    "workspace.actions.webhooks.note",
    "workspace.actions.webhooks.tell",
}
# What the clock sends of what others have noted.
BY_THE_CLOCK = {
    "annotation.actions.network_places.forget_networks",
    "workspace.actions.accepted_news.note_accepted",
    "workspace.actions.deliveries.deliver",
    "workspace.actions.deliveries.tidy",
}
# What a worker goes on with after somebody asked for it, who is named where they asked.
ASKED_FOR_BEFORE = {
    "predictions.actions.mismatched.delete_mismatched",
    "predictions.actions.blind.begin",
    "predictions.actions.blind.begin_with_vectors",
    "predictions.actions.blind.score",
    "predictions.actions.vectors.keep",
    "predictions.actions.runs.due",
    "predictions.actions.runs.items_of",
    "predictions.actions.runs.waiting_for_too_long",
    "predictions.actions.storing.note_begun",
    "predictions.actions.storing.note_unreachable",
    "predictions.actions.storing.plan",
    "predictions.actions.storing.store",
    "results.actions.exports.adopt_exports",
    "results.actions.exports.job_of",
    "results.actions.exports.make_export",
    "results.actions.releases.freeze_release",
}
# What people do with their own account and tokens, and what their scripts send: the row is the record, and names them.
OF_OWN_ACCOUNT = {
    "workspace.actions.browser_sessions.end_session",
    "workspace.actions.browser_sessions.end_sessions",
    "workspace.actions.browser_sessions.forget_ended",
    "workspace.actions.browser_sessions.note_browser",
    "workspace.actions.browser_sessions.note_new_key",
    "workspace.actions.browser_sessions.open_sessions",
    "workspace.actions.linked_accounts.disconnect",
    "workspace.actions.own_account.change_mail",
    "workspace.actions.own_account.change_name",
    "workspace.actions.own_account.confirm_mail",
    "workspace.actions.own_account.follow_link",
    "workspace.actions.kept_answers.claim",
    "workspace.actions.kept_answers.find",
    "workspace.actions.kept_answers.keep",
    "workspace.actions.tokens.find_token",
    "workspace.actions.tokens.make_token",
    "workspace.actions.tokens.note_use",
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
    "results.actions.kept_numbers.drop",
    "results.actions.kept_numbers.look_up",
    "results.actions.kept_numbers.made_at_once",
    "results.actions.kept_numbers.make",
    "results.actions.pseudonyms.name_annotators",
    "results.actions.pseudonyms.name_for_release",
}


def actions() -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the public functions of the rooms whose arguments are given by name: the house's mark of an action."""
    for room in ROOMS:
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
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
