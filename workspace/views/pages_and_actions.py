"""All pages and actions that researchers can find by search, with synonyms.

Actions lead to the page where they are confirmed. The actions of a study are those of its header.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import reverse

from results.queries.studies.navigation import stage_of
from results.templatetags.navigation import ALWAYS, OTHERS, PRIMARY
from studies.actions.projects.members import may_make_projects, rights_by_project
from studies.models import Project, Study, StudyState
from studies.permissions import Verb

# Words of a search that say nothing about what is searched.
FILLERS = frozenset({"a", "an", "and", "at", "do", "for", "how", "i", "in", "my", "of", "on", "or", "the", "to"})
# A searched word may be longer than the one it finds: "launching" finds "launch".
ENDINGS = frozenset({"s", "es", "ed", "ing", "er", "ers"})
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Entry:
    """A page or an action. `within`: the query or fragment of its address.

    in_drafts, in_launched: which studies have it.
    """

    title: str
    url_name: str
    other_words: str = ""
    verb: Verb = Verb.VIEW
    within: str = ""
    is_action: bool = False
    in_drafts: bool = False
    in_launched: bool = True


@dataclass(frozen=True)
class FoundEntry:
    """A search hit: an entry that the user may use. `where`: its project and study."""

    title: str
    address: str
    where: str
    is_action: bool


SITE = (
    Entry("Projects", "home", "home start overview"),
    Entry("Help", "help", "glossary terms words shortcuts keys guide documentation manual"),
    Entry("Dark mode", "help", "light theme colours colors appearance night contrast display", within="#display"),
    Entry("Minimum pay", "help", "wage floor least hourly lowest fair money", within="#minimum-pay"),
    Entry("My account", "account", "profile name mail email address settings preferences"),
    Entry("Change my password", "change_password", "security", is_action=True),
    Entry("Sign out", "account", "log logout leave exit", within="#browsers", is_action=True),
    Entry("Where you are signed in", "account", "browsers sessions devices", within="#browsers"),
    Entry("API tokens", "tokens", "script key secret program access"),
    Entry("API", "api_docs", "documentation rest openapi schema endpoints script program"),
    Entry("New project", "new_project", "create add start begin", is_action=True),
)
PROJECT = (
    Entry("Overview", "project", "home progress pipeline funnel accepted needs start"),
    Entry("Instances", "instances", "gallery items images pictures captions explorer data browse table"),
    Entry("Lost instances", "instances", "rejected conflicting dropped why missing", within="?state=lost"),
    Entry("Near duplicates", "near_duplicates", "similar same copies leakage images"),
    Entry("Imports", "project_imports", "uploads files jobs problems mapping"),
    Entry("Pipelines", "project_pipelines", "make candidates hard negatives generate images captions swap diffusion"),
    Entry("Studies", "project", "surveys tasks campaigns", within="#studies"),
    Entry(
        "People",
        "project_people",
        "annotators participants workers raters crowd pay paid owed agreement speed pseudonyms exclusions",
    ),
    Entry(
        "Flagged sessions",
        "project_flags",
        "flags review careless cheating bots quality suspicious desk uphold dismiss appeal",
    ),
    Entry("Models", "project_models", "runs predictions baselines clip scores jobs leaderboard"),
    Entry("Training", "project_training", "models fine-tune finetune train recipe checkpoint curves loss"),
    Entry("Results", "project_results", "report statistics numbers accuracy charts figures tables paper score"),
    Entry(
        "Results: agreement",
        "project_results",
        "kappa alpha krippendorff fleiss cohen reliability iaa irr",
        within="#section-agreement",
    ),
    Entry("Results: people", "project_results", "human performance accuracy baseline", within="#section-people"),
    Entry("Results: models", "project_results", "model performance accuracy", within="#section-models"),
    Entry(
        "Results: position and other bias",
        "project_results",
        "order side chance",
        within="#section-position-and-other-bias",
    ),
    Entry(
        "Results: time, pay and cost",
        "project_results",
        "money spent budget price wage paid payment duration seconds",
        within="#section-time-pay-and-cost",
    ),
    Entry("Where people and models disagree", "project_parted", "difference human errors failures hard"),
    Entry("Releases", "project_releases", "download versions dataset card croissant datasheet hub publish frozen"),
    Entry("Compare releases", "compare_releases", "difference changes versions"),
    Entry("Money", "project_money", "ledger payments paid held refused statement month csv bonuses wages spent"),
    Entry(
        "Compare with Prolific",
        "project_money_check",
        "money ledger reconcile differences agree cents payments",
        Verb.PAY,
    ),
    Entry("Activity", "project_events", "events log history audit who changed"),
    Entry("Members and project", "project_members", "settings team roles owners editors viewers colleagues access"),
    Entry("Groups", "project_groups", "settings lists allowed prolific ids", Verb.IDENTIFY_PEOPLE),
    Entry("Panel", "project_panel", "settings people mail addresses sign in", Verb.IDENTIFY_PEOPLE),
    Entry("Prolific", "prolific_account", "settings account token recruit platform api", Verb.MANAGE_PROLIFIC),
    Entry("Webhooks", "webhooks", "settings notify events slack deliveries integration", Verb.MANAGE_WEBHOOKS),
    Entry("Import instances", "new_import", "new upload add data files csv json images", Verb.IMPORT, is_action=True),
    Entry(
        "New pipeline",
        "project_pipelines",
        "make candidates hard negatives generate start run",
        Verb.IMPORT,
        "#new",
        is_action=True,
    ),
    Entry("New study", "new_study", "create add draft survey task", Verb.DESIGN, is_action=True),
    Entry(
        "Ask a model",
        "project_models",
        "run new predict predictions score evaluate clip",
        Verb.PREDICT,
        "#ask",
        is_action=True,
    ),
    Entry(
        "Train a model",
        "project_training",
        "new fine-tune finetune negclip clip recipe start",
        Verb.PREDICT,
        "#new",
        is_action=True,
    ),
    Entry(
        "Exclude or include an annotator",
        "project_people",
        "remove ban block reject someone somebody person worker participant",
        Verb.REMOVE_PEOPLE,
        is_action=True,
    ),
    Entry(
        "Find an annotator by Prolific ID",
        "project_people",
        "identify provider person participant who",
        Verb.IDENTIFY_PEOPLE,
        is_action=True,
    ),
    Entry("Take instances out", "instances", "remove delete drop dataset", Verb.SETTLE, is_action=True),
    Entry("Tag instances", "instances", "label mark select", Verb.TAG, is_action=True),
    Entry("Ask again about instances", "instances", "repeat select reask", Verb.DESIGN, is_action=True),
    Entry(
        "Invite a member",
        "project_members",
        "add colleague share team access invitation someone",
        Verb.MANAGE_MEMBERS,
        "#invite",
        is_action=True,
    ),
    Entry("Rename the project", "project_members", "name title change", Verb.MANAGE_MEMBERS, "#name", is_action=True),
    Entry(
        "Archive or restore the project",
        "project_members",
        "end finish hide",
        Verb.MANAGE_MEMBERS,
        "#archive",
        is_action=True,
    ),
    Entry("Delete the project", "delete_project", "remove erase settings", Verb.MANAGE_MEMBERS, is_action=True),
)
STUDY = (
    Entry("Overview", "study", "monitor progress sessions places answers", in_drafts=True),
    Entry("Recruit", "study_recruit", "link prolific places codes invite annotators pay", Verb.RUN, in_drafts=True),
    Entry("Questions", "study_questions", "votes answers items skips hardest"),
    Entry("Checks", "study_checks", "gold attention instruction questions failed right answer"),
    Entry("Disagreements", "study_disagreements", "conflicts adjudicate settle conflicting ties"),
    Entry("Annotators", "study_annotators", "people workers quality agreement speed"),
    Entry("Flags", "study_flags", "flagged sessions review careless cheating bots quality"),
    Entry("Pay", "study_owed", "owed money wage paid payment bonus cost"),
    Entry("Review submissions", "study_review", "approve reject return prolific pay awaiting"),
    Entry("Bonuses", "study_bonuses", "pay extra raise floor file csv descriptions", Verb.PAY),
    Entry("Results", "study_results", "report statistics numbers accuracy kappa alpha agreement charts tables"),
    Entry("Design", "study_design", "settings configuration rule eligibility consent", in_drafts=True),
    Entry("Exports", "study_exports", "download data csv json parquet responses jobs huggingface"),
    Entry("Releases", "study_releases", "download dataset versions card croissant"),
    Entry(
        "Set up on Prolific", "prolific_study", "publish draft recruit money reward filters", Verb.RUN, is_action=True
    ),
    Entry("Personal links", "personal_links", "names invite people", Verb.RUN),
    Entry(
        "Practice",
        "study_practice",
        "training questions feedback",
        Verb.DESIGN,
        in_drafts=True,
        in_launched=False,
    ),
    Entry("Study file", "study", "yaml edit draft", Verb.DESIGN, in_drafts=True, in_launched=False),
    Entry(
        "New release",
        "study_releases",
        "freeze version publish dataset create",
        Verb.RELEASE,
        "#new-release",
        is_action=True,
    ),
    Entry("Export data", "study_exports", "download csv json parquet create", Verb.EXPORT, is_action=True),
    Entry(
        "Settle a question",
        "study_disagreements",
        "adjudicate decide resolve conflict",
        Verb.SETTLE,
        is_action=True,
    ),
)
# Other words for the actions in the header of a study, by URL name.
HEADER_WORDS: Mapping[str, str] = {
    "study_launch": "start open begin publish run",
    "study_pause": "stop halt hold interrupt",
    "study_resume": "continue restart unpause start",
    "study_close": "end finish stop complete final",
    "study_delete": "remove draft",
    "study_form": "change design draft",
    "study_duplicate": "copy clone template",
    "study_preview": "try test look annotator view",
    "ask_more": "extend grow increase more collect",
}


def find_pages_and_actions(
    words: str,
    *,
    user: User,
    projects: Sequence[Project],
    studies: Sequence[Study],
    project: Project | None,
    study: Study | None,
) -> list[FoundEntry]:
    """Return the entries with all these words that `user` may use: nearest pages first, then matches in the title.

    projects, studies: all that the user may see. project, study: those of the page that the search was sent from. Some
    of the words may name a project or a study instead.
    """
    searched = frozenset(_split(words)) - FILLERS
    if not searched:
        return []
    ranked = list[tuple[int, bool, int, Entry, str, str]]()
    for entry, where, address, distance in _entries(user, projects, studies, project, study):
        names = _matching(searched, entry.title)
        told = names | _matching(searched, entry.other_words)
        if told and told | _matching(searched, where) == searched:
            ranked.append((distance, names != searched, len(ranked), entry, where, address))
    ranked.sort(key=lambda each: each[:3])
    return [FoundEntry(entry.title, address, where, entry.is_action) for *_, entry, where, address in ranked]


def _entries(
    user: User, projects: Sequence[Project], studies: Sequence[Study], here: Project | None, study_here: Study | None
) -> Iterator[tuple[Entry, str, str, int]]:
    """Yield each entry that `user` may use with where it is, its address, and how far away it is."""
    for entry in SITE:
        if entry.url_name != "new_project" or may_make_projects(user):
            yield entry, "", reverse(entry.url_name) + entry.within, 2
    rights = rights_by_project(user, projects)
    for project in projects:
        distance = 1 if project == here else 3
        for entry in PROJECT:
            if entry.verb in rights[project.pk]:
                yield entry, project.name, reverse(entry.url_name, args=[project.slug]) + entry.within, distance
    for study in studies:
        distance = 0 if study == study_here else 1 if study.project == here else 3
        where = f"{study.project.name}, {study.slug}"
        for entry in _entries_of_study(study):
            if entry.verb in rights[study.project_id]:
                address = reverse(entry.url_name, args=[study.project.slug, study.slug]) + entry.within
                yield entry, where, address, distance


def _entries_of_study(study: Study) -> Iterator[Entry]:
    is_draft = study.state == StudyState.DRAFT
    yield from (entry for entry in STUDY if (entry.in_drafts if is_draft else entry.in_launched))
    stage = stage_of(study)
    known = {entry.url_name for entry in STUDY}
    for name, label, verb in dict.fromkeys((PRIMARY[stage], *OTHERS[stage], *ALWAYS)):
        if name not in known:
            yield Entry(label, name, f"study {HEADER_WORDS.get(name, '')}", verb, is_action=True)


def _split(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("_", " "))


def _matching(searched: Iterable[str], text: str) -> set[str]:
    """Return the searched words that start a word of `text`, or are such a word with an ending."""
    words = _split(text)
    return {each for each in searched if any(_is_meant(each, word) for word in words)}


def _is_meant(searched: str, word: str) -> bool:
    return word.startswith(searched) or (searched.startswith(word) and searched[len(word) :] in ENDINGS)
