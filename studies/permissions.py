"""Permissions in a project: one table of roles and verbs for pages, commands and the API.

`studies.actions.projects.members` applies it to users.
"""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """Role of a member in a project. Superusers may do everything everywhere."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


class Verb(StrEnum):
    """Something a person may do in a project. A new verb is a line here, in `WORDS` and in `ALLOWED`."""

    VIEW = "view"
    IMPORT = "import"
    TAG = "tag"
    PREDICT = "predict"
    MANAGE_MODELS = "manage_models"
    DESIGN = "design"
    RUN = "run"
    SETTLE = "settle"
    REMOVE_PEOPLE = "remove_people"
    FORGET_PEOPLE = "forget_people"
    EXPORT = "export"
    RELEASE = "release"
    PUBLISH = "publish"
    IDENTIFY_PEOPLE = "identify_people"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_WEBHOOKS = "manage_webhooks"
    MANAGE_PROLIFIC = "manage_prolific"
    PAY = "pay"


# End of a sentence after "may".
WORDS: Mapping[Verb, str] = {
    Verb.VIEW: "see its pages and results",
    Verb.IMPORT: "import instances, images and predictions",
    Verb.TAG: "tag instances",
    Verb.PREDICT: "run and train models",
    Verb.MANAGE_MODELS: "rename models, and delete them with their predictions",
    Verb.DESIGN: "create, change and delete drafts, and choose the dataset",
    Verb.RUN: "launch, pause, close and extend studies, share their links, write to annotators, and release places",
    Verb.SETTLE: "settle questions",
    Verb.REMOVE_PEOPLE: "review flags, write notes, and exclude, include, block and allow annotators",
    Verb.FORGET_PEOPLE: "delete everything about an annotator",
    Verb.EXPORT: "create and download exports",
    Verb.RELEASE: "freeze releases",
    Verb.PUBLISH: "push releases to the Hugging Face Hub",
    Verb.IDENTIFY_PEOPLE: "see which person a pseudonym belongs to",
    Verb.MANAGE_MEMBERS: "manage members, and rename, archive or delete the project",
    Verb.MANAGE_WEBHOOKS: "manage webhooks",
    Verb.MANAGE_PROLIFIC: "connect the project to an account at Prolific, and publish studies there",
    Verb.PAY: "approve and reject submissions, and order payments",
}

# Read only: pages, and the report, which has only numbers and pseudonyms.
_VIEWS = frozenset({Verb.VIEW})
_EDITS = _VIEWS | {
    Verb.IMPORT,
    Verb.TAG,
    Verb.PREDICT,
    Verb.MANAGE_MODELS,
    Verb.DESIGN,
    Verb.RUN,
    Verb.SETTLE,
    Verb.REMOVE_PEOPLE,
    Verb.FORGET_PEOPLE,
    Verb.EXPORT,
    Verb.RELEASE,
    Verb.PUBLISH,
}
_OWNS = _EDITS | {Verb.IDENTIFY_PEOPLE, Verb.MANAGE_MEMBERS, Verb.MANAGE_WEBHOOKS, Verb.MANAGE_PROLIFIC, Verb.PAY}

# Allowed in an archived project: view, download, hand over, and the rights of the people who took part.
IN_ARCHIVE = frozenset(
    {
        Verb.VIEW,
        Verb.EXPORT,
        Verb.IDENTIFY_PEOPLE,
        Verb.REMOVE_PEOPLE,
        Verb.FORGET_PEOPLE,
        Verb.MANAGE_MEMBERS,
        Verb.MANAGE_WEBHOOKS,
        Verb.MANAGE_PROLIFIC,
        Verb.PAY,
    }
)

ALLOWED: Mapping[Role, frozenset[Verb]] = {Role.OWNER: _OWNS, Role.EDITOR: _EDITS, Role.VIEWER: _VIEWS}

# Role names that older versions stored, and still store during an upgrade.
FORMER_NAMES: Mapping[str, Role] = {"researcher": Role.EDITOR}


def find_role(stored: str) -> Role | None:
    """Return the role with this stored name, current or former; None for any other text."""
    if stored in FORMER_NAMES:
        return FORMER_NAMES[stored]
    return Role(stored) if stored in set(Role) else None


def allows(role: Role | None, verb: Verb) -> bool:
    """Return whether `role` allows the verb; without a role nothing is allowed."""
    return role is not None and verb in ALLOWED[role]


def names_of_roles(verb: Verb) -> list[str]:
    """Return all stored names, current and former, of the roles that allow the verb."""
    former = [name for name, role in FORMER_NAMES.items() if allows(role, verb)]
    return [role.value for role in Role if allows(role, verb)] + former


def who_may(verb: Verb) -> str:
    """Return the roles that allow the verb, in the plural: "owners and editors"."""
    *others, last = [f"{role}s" for role in Role if allows(role, verb)]
    return f"{', '.join(others)} and {last}" if others else last


def why_not_in_archive(project: str, verb: Verb) -> str:
    """Return the message for a verb that an archived project does not allow."""
    return f"{project} is archived, so nobody may {WORDS[verb]}. An owner can restore it under Members and settings."


def with_article(role: Role) -> str:
    return f"{'a' if role is Role.VIEWER else 'an'} {role}"
