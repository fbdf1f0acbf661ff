"""Launch a study: freeze its design and open its seats, all or nothing.

It is in this package because seats belong to the answers (docs/decisions/0003).
"""

from datetime import datetime

from django.db import transaction

from annotation.actions import seats
from annotation.actions.arriving.draw_questions import ready_items
from annotation.actions.checking.gold_questions import (
    gold_instances,
    items_without_gold,
    make_gold_questions,
    people_per_gold_question,
)
from annotation.actions.launching.consent_versions import first_version
from annotation.language import has_interface_language
from annotation.models import Decision, Seat, Slot
from annotation.rejection_rules import LEAST_FAILED_CHECKS
from studies.actions import studies
from studies.actions.events import Actor, What, record
from studies.actions.questions import About
from studies.actions.selection import check_selection
from studies.actions.studies import Plan
from studies.actions.table_statistics import refresh_statistics
from studies.batches import Progress, ignore_progress
from studies.errors import StudyError
from studies.models import Question, Study, StudyState, SurveyQuestion
from studies.rules import RULES, get_rule
from studies.wording import format_count

# Gold questions that are asked of this many times more people than others stand out among people who compare pages.
MANY_MORE = 2


@transaction.atomic
def launch(*, study: Study, by: Actor, now: datetime, progress: Progress = ignore_progress) -> None:
    """Freeze the design and open every seat. Raises StudyError with all problems.

    `progress`: called with the stage, and how many of its rows are made.
    """
    # Lock before reading what was accepted: a removal, which locks the studies too, cannot change it in between.
    if Study.objects.select_for_update(of=("self",), no_key=True).filter(pk=study.pk).first() is None:
        raise StudyError("Somebody else has just deleted this draft.")
    # Or has just edited it.
    study.refresh_from_db()
    make_gold_questions(study=study)
    studies.freeze(study=study, by=by, now=now, about=upstream_items(study, now=now), progress=progress)
    first_version(study=study, author=by, now=now)
    seats.open_seats(study=study, surveys=list(study.surveys.all()), progress=progress)
    refresh_statistics(Question, SurveyQuestion, Seat, Slot, Decision)
    asked = study.questions.count()
    record(project=study.project, study=study, what=What.STUDY_LAUNCHED, by=by, now=now, questions=asked)


def plan(study: Study, *, now: datetime) -> Plan:
    """Return what a launch would create, without creating it. Raises StudyError."""
    about = upstream_items(study, now=now)
    if about is not None and not about:
        check_selection(study)
        return Plan(questions=0, surveys=0, seats=0, answers=0)
    return studies.plan_study(study, about=about)


def foresee(study: Study) -> Plan:
    """Return what a launch of a study that is being written would create. It need not be saved. Raises StudyError."""
    if study.fed_by is None:
        return studies.count_plan(study)
    sample = study.design.instances.sample
    if sample is None:
        return Plan(questions=0, surveys=0, seats=0, answers=0)
    return studies.count_plan(study, about=list(map(About, range(sample))))


def launch_warnings(study: Study) -> list[str]:
    """Return warnings about unusual effects of launching `study`, in sentences; none prevents the launch."""
    return [
        *_warnings_about_rules(study),
        *_warnings_about_group(study),
        *_warnings_about_gold(study),
        *_warnings_about_instructions(study),
    ]


def _warnings_about_gold(study: Study) -> list[str]:
    """Return that gold questions are asked of many more people than others, by which they could be found out."""
    try:
        people = people_per_gold_question(study)
    except StudyError:
        # The launch says so.
        return []
    if people is None or people < MANY_MORE * study.answers:
        return []
    return [
        f"Each gold question will be asked of about {people:.0f} people, and other questions of {study.answers}. "
        "People who compare their pages could find out which questions are gold. Provide more gold questions, or "
        "lower `checks.gold.per_survey`."
    ]


def _warnings_about_instructions(study: Study) -> list[str]:
    """Return that instruction checks are in English instead of the study's language, or too few for a rejection."""
    design = study.design
    if design.checks is None or design.checks.instruction is None:
        return []
    told = []
    if not has_interface_language(design.language):
        told.append(
            f"The language of the study is {design.language}, and Lineup has no texts in it, so its instruction checks "
            "are in English. People who read no English cannot follow them. Leave `checks.instruction` out if they "
            "may not."
        )
    number = design.checks.instruction.per_survey
    if design.recruitment.prolific and number < LEAST_FAILED_CHECKS:
        told.append(
            f"Each survey has {format_count(number, 'instruction check')}, so nobody can be rejected for failing it: "
            f"Lineup asks for {LEAST_FAILED_CHECKS} failed ones, as Prolific does for surveys of five minutes or more. "
            "Raise `checks.instruction.per_survey` if you want to be able to reject people for them."
        )
    return told


def _warnings_about_group(study: Study) -> list[str]:
    """Return that no study is for the people who pass this one, if it is so."""
    wanted = study.design.qualification
    if wanted is None:
        return []
    others = Study.objects.filter(project=study.project_id).exclude(state=StudyState.CLOSED).defer("source")
    required = {each.parameters.get("group") for other in others for each in other.design.eligibility}
    if wanted.group in required:
        return []
    return [
        f"People who pass join the group {wanted.group}, and no study of the project requires it yet. Write the "
        f"eligibility rule in_group with this group into the studies that they are to take."
    ]


def _warnings_about_rules(study: Study) -> list[str]:
    """Return for which studies the rule does not use the outcome of the studies about their answers."""
    asked_about = [study] if any(feed.design.asks_about_answers for feed in study.feeds.all()) else []
    if study.fed_by is not None and study.design.asks_about_answers:
        asked_about.append(study.fed_by)
    seeing = ", ".join(name for name in RULES if get_rule(name).needs.downstream_outcome)
    return [
        f"Another study asks about the answers of study {each.slug}, but its rule {each.rule} "
        "does not use the outcome: a rejected answer is not replaced by a new one. Rules that "
        f"use the outcome: {seeing}."
        for each in asked_about
        if not get_rule(each.rule).needs.downstream_outcome
    ]


def upstream_items(study: Study, *, now: datetime) -> list[About] | None:
    """Return what comes from the upstream study, or is left without gold from another study; else None.

    A sample is drawn now; everything else is drawn when people arrive. It is the setting ARRIVING, so that drafts can
    be previewed. Raises StudyError if no sample can be drawn yet.
    """
    if study.fed_by is None:
        return items_without_gold(study)
    if study.design.instances.sample is None:
        return []
    gold = gold_instances(study)
    if not (drawn := [item for item in ready_items(study, now=now) if item.instance not in gold]):
        is_about_answers = study.design.asks_about_answers
        what = "no usable answer yet" if is_about_answers else "accepted no instance yet"
        raise StudyError(f"Study {study.fed_by.slug} has {what}, so no sample can be drawn.")
    return drawn
