"""The frame of researchers' pages: the sidebar of a project, and the header of a study."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import template
from django.template import RequestContext
from django.urls import reverse
from django.utils import timezone

from annotation.actions.arriving.draw_questions import UNDO, could_draw
from annotation.models import Session
from results.queries.people.flagged_sessions import sessions_to_review
from results.queries.studies.navigation import COMPLETE, FrameNumbers, stage_label, stage_of, study_links
from results.queries.studies.overview import Totals
from results.queries.studies.progress import Answers, StudyProgress
from results.queries.studies.simulated_answers import all_simulated, simulated_in_study
from results.views.cached_statistics import frame_numbers
from results.views.guards import may_do, visible_projects
from studies.kinds import get_kind
from studies.models import Project, ProjectDeletion, Study, StudyState
from studies.permissions import Verb

register = template.Library()
register.filter("stage", stage_of)
register.filter(stage_label)

# Projects in the rail's switcher.
OTHERS_SHOWN = 12

# Name of a page's URL -> the entry of the rail that it belongs to. Pages of a study belong to their study.
ENTRIES: Mapping[str, str] = {
    "project": "overview",
    **dict.fromkeys(("instances", "instance", "tag_instances", "export_instances", "ask_again"), "instances"),
    **dict.fromkeys(("instance_by_id", "take_out_instances"), "instances"),
    **dict.fromkeys(("near_duplicates", "project_imports", "new_import", "import", "import_problems"), "instances"),
    **dict.fromkeys(("project_pipelines", "pipeline"), "instances"),
    **dict.fromkeys(("upload_mapping", "import_mapping", "new_hub_download", "hub_download"), "instances"),
    **dict.fromkeys(("new_study", "new_study_form"), "studies"),
    **dict.fromkeys(("project_models", "ask_model", "model_rename", "model_delete"), "models"),
    **dict.fromkeys(("project_training", "training_run", "training_card", "training_delete", "model_pushes"), "models"),
    **dict.fromkeys(("project_results", "project_parted"), "results"),
    **dict.fromkeys(
        ("project_releases", "study_releases", "release_people", "hub_pushes", "compare_releases"), "releases"
    ),
    **dict.fromkeys(("project_people", "person", "exclude_person", "include_person"), "people"),
    **dict.fromkeys(
        ("withdraw_person", "reopen_person", "personal_data", "add_person_note", "block_person", "message_person"),
        "people",
    ),
    **dict.fromkeys(("project_flags", "flagged_session", "exclude_flagged", "undo_flag_review"), "flags"),
    **dict.fromkeys(("project_money", "project_money_check", "project_payment"), "money"),
    "project_events": "activity",
    **dict.fromkeys(("project_members", "project_groups", "webhooks", "remove_member", "archive_project"), "settings"),
    **dict.fromkeys(("delete_project", "invite_member", "webhook_key"), "settings"),
    **dict.fromkeys(
        ("prolific_account", "prolific_account_try", "prolific_webhooks", "prolific_workspace"), "settings"
    ),
    "project_panel": "settings",
}
# State of a study -> URL name, label and needed right of the one primary action of its pages.
PRIMARY: Mapping[str, tuple[str, str, Verb]] = {
    StudyState.DRAFT: ("study_launch", "Launch", Verb.RUN),
    StudyState.OPEN: ("study_recruit", "Recruit", Verb.RUN),
    StudyState.PAUSED: ("study_resume", "Resume", Verb.RUN),
    COMPLETE: ("study_close", "Close study", Verb.RUN),
    StudyState.CLOSED: ("study_results", "Results", Verb.VIEW),
}
# State of a study -> its other actions.
OTHERS: Mapping[str, tuple[tuple[str, str, Verb], ...]] = {
    StudyState.DRAFT: (
        ("study_form", "Edit in a form", Verb.DESIGN),
        ("study_practice", "Practice questions", Verb.DESIGN),
        ("study_delete", "Delete", Verb.DESIGN),
    ),
    StudyState.OPEN: (
        ("study_pause", "Pause", Verb.RUN),
        ("ask_more", "Add questions or answers", Verb.RUN),
        ("study_close", "Close study", Verb.RUN),
    ),
    StudyState.PAUSED: (("ask_more", "Add questions or answers", Verb.RUN), ("study_close", "Close study", Verb.RUN)),
    COMPLETE: (("ask_more", "Add questions or answers", Verb.RUN), ("study_pause", "Pause", Verb.RUN)),
    StudyState.CLOSED: (),
}
ALWAYS = (
    ("study_preview", "Preview", Verb.VIEW),
    ("preview_on_phone", "Preview on a phone", Verb.VIEW),
    ("study_duplicate", "Duplicate", Verb.DESIGN),
)
FINAL = "A closed study cannot be opened again."
# Of an open study whose answers are all in, while an upstream study may still accept more.
NOBODY_ASKED = f"New annotators would get no questions now. {FINAL}"


@register.inclusion_tag("results/_rail.html", takes_context=True)
def project_rail(context: RequestContext) -> dict[str, Any]:
    """Return the context of the sidebar; empty on pages outside a project."""
    project, study = _here(context)
    if project is None or not context["user"].is_authenticated:
        return {}
    match = context["request"].resolver_match
    page = match.url_name if match else ""
    here = ENTRIES.get(page, "")
    others = visible_projects(context["request"]).exclude(pk=project.pk).filter(archived_at=None).order_by("name", "pk")
    return {
        "project": project,
        "here": here,
        "study": study,
        "to_review": sum(_sessions_to_review(context, project).values()),
        "studies": study_links(project, _frame_numbers(context, project).answers),
        "others": others.only("slug", "name")[:OTHERS_SHOWN],
    }


@register.inclusion_tag("results/_search.html", takes_context=True)
def search_form(context: RequestContext) -> dict[str, Any]:
    """Return the context of the search in the top bar, which finds what is here first."""
    project, study = _here(context)
    given = context["request"].GET if context.get("search_words") else {}
    return {
        "search_words": context.get("search_words", ""),
        "project": project.slug if project else given.get("project", ""),
        "study": study.slug if study else given.get("study", ""),
    }


@register.inclusion_tag("results/_deletion_notice.html", takes_context=True)
def deletion_notice(context: RequestContext) -> dict[str, Any]:
    """Return the context of the notice on all pages of a project that will be deleted; empty for other projects."""
    project, _ = _here(context)
    # Only archived projects can be deleted; others need no query.
    if project is None or project.archived_at is None or context.get("deletion"):
        return {}
    deletion = ProjectDeletion.objects.filter(project=project).first()
    return {"project": project, "deletion": deletion, "may": may_do(context["request"], project) if deletion else {}}


@register.inclusion_tag("results/_study_head.html", takes_context=True)
def study_head(context: RequestContext, here: str = "") -> dict[str, Any]:
    """Return the context of a study's header. here: the open tab."""
    study: Study = context["study"]
    may = may_do(context["request"], study.project)
    figures = study_figures(context)
    stage = stage_of(study)
    # What is next is the same as for a complete study, while it may still get questions of its upstream study.
    actions = COMPLETE if figures["warning"] else stage

    def permitted_links(*actions: tuple[str, str, Verb]) -> list[tuple[str, str]]:
        """Return the URL and label of each action that the user may do, except one that leads to this page."""
        pages = ((reverse(name, args=[study.project.slug, study.slug]), *rest) for name, *rest in actions)
        return [(address, label) for address, label, verb in pages if may[verb] and address != context["request"].path]

    return {
        **figures,
        "project": study.project,
        "here": here,
        "may": may,
        "to_review": _sessions_to_review(context, study.project).get(study.pk, 0),
        "primary": next(iter(permitted_links(PRIMARY[actions])), None),
        "others": permitted_links(*OTHERS[actions], *ALWAYS),
        "simulated": simulated_in_study(study),
    }


@register.inclusion_tag("results/_study_head.html#figures", takes_context=True)
def study_figures(context: RequestContext) -> dict[str, Any]:
    """Return the context of the line of a study's header that its live page replaces."""
    study: Study = context["study"]
    numbers = _frame_numbers(context, study.project)
    owed = numbers.owed(study)
    answers = numbers.answers.get(study.pk, Answers(0, 0))
    warning = FINAL if stage_of(study) == COMPLETE else NOBODY_ASKED if _asks_nobody(study, answers) else ""
    return {
        "study": study,
        "is_fragment": context.get("is_fragment"),
        "kinds": list(dict.fromkeys(get_kind(part.kind).title for part in study.design.parts)),
        "answers": answers,
        "as_of": numbers.as_of,
        "owed": owed,
        "would_be_owed": bool(owed) and all_simulated(Session.objects.filter(study=study)),
        "warning": warning,
    }


def _asks_nobody(study: Study, answers: Answers) -> bool:
    """Whether an open study has all its answers, no open place, and none that opens when somebody arrives."""
    is_full = study.state == StudyState.OPEN and 0 < answers.wanted <= answers.given and not answers.to_come
    return is_full and not could_draw(study=study, annotator=None, now=timezone.now() + UNDO)


def _frame_numbers(context: RequestContext, project: Project) -> FrameNumbers:
    """Return the numbers that the frame shows: those of the page itself, if it has counted them too.

    The sidebar and the header read them once for a request.
    """
    known = vars(context["request"])
    if "frame_numbers" not in known:
        totals, progress = (context.get(name) for name in ("totals", "progress"))
        found = FrameNumbers(totals.answers, totals.spending) if isinstance(totals, Totals) else frame_numbers(project)
        if isinstance(progress, StudyProgress):
            found = replace(found, answers={**found.answers, context["study"].pk: progress.answers})
        known["frame_numbers"] = found
    found_numbers: FrameNumbers = known["frame_numbers"]
    return found_numbers


def _sessions_to_review(context: RequestContext, project: Project) -> Mapping[int, int]:
    """Return the numbers of flagged sessions to review by study; the sidebar and the header read them once."""
    known = vars(context["request"])
    if "sessions_to_review" not in known:
        known["sessions_to_review"] = sessions_to_review(project.studies.values("pk"))
    found: Mapping[int, int] = known["sessions_to_review"]
    return found


@register.simple_tag(takes_context=True)
def project_rights(context: RequestContext) -> Mapping[str, bool]:
    """Return the rights of the user in the project of the page, by verb."""
    return may_do(context["request"], context["project"])


def _here(context: RequestContext) -> tuple[Project | None, Study | None]:
    """Return the project and the study of the page."""
    study: Study | None = _context_object(context, "study", Study)
    return study.project if study else _context_object(context, "project", Project), study


def _context_object(context: RequestContext, name: str, model: type[Any]) -> Any:
    found = context.get(name)
    return found if isinstance(found, model) and found.pk else None
