"""Who may do what in a project: one table of roles and verbs, for pages, commands and whatever else asks.

`studies.actions.projects.members` asks it about the people of this site.
"""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """What a member is in a project. A superuser may everything everywhere, member or not."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


class Verb(StrEnum):
    """What a person does in a project. A new one is a line here, its words in `WORDS` and its roles in `ALLOWED`."""

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


# How a sentence goes on after "may".
WORDS: Mapping[Verb, str] = {
    Verb.VIEW: "see its pages and results",
    Verb.IMPORT: "import instances, images and predictions",
    Verb.TAG: "put tags on instances",
    Verb.PREDICT: "have models answer questions",
    Verb.MANAGE_MODELS: "rename models and delete what they predicted",
    Verb.DESIGN: "create, change and delete drafts, and say what the dataset is",
    Verb.RUN: "launch, pause and close studies, hand out their links, free seats and ask more",
    Verb.SETTLE: "settle questions",
    Verb.REMOVE_PEOPLE: "decide whose answers count",
    Verb.FORGET_PEOPLE: "delete everything about an annotator",
    Verb.EXPORT: "make and download exports",
    Verb.RELEASE: "freeze releases",
    Verb.PUBLISH: "push releases to the Hugging Face Hub",
    Verb.IDENTIFY_PEOPLE: "learn who stands behind a pseudonym",
    Verb.MANAGE_MEMBERS: "decide who is a member, rename the project and archive it",
    Verb.MANAGE_WEBHOOKS: "have other servers told what happens",
}

# Looks, takes away the report, which tells of nobody but in numbers and pseudonyms, and changes nothing.
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
_OWNS = _EDITS | {Verb.IDENTIFY_PEOPLE, Verb.MANAGE_MEMBERS, Verb.MANAGE_WEBHOOKS}

# What can still be done in a project that is archived: it is looked at, taken away and handed over, and whoever took
# part keeps every right.
IN_ARCHIVE = frozenset(
    {
        Verb.VIEW,
        Verb.EXPORT,
        Verb.IDENTIFY_PEOPLE,
        Verb.REMOVE_PEOPLE,
        Verb.FORGET_PEOPLE,
        Verb.MANAGE_MEMBERS,
        Verb.MANAGE_WEBHOOKS,
    }
)

ALLOWED: Mapping[Role, frozenset[Verb]] = {Role.OWNER: _OWNS, Role.EDITOR: _EDITS, Role.VIEWER: _VIEWS}

# What versions before this table stored, and go on storing while they are being replaced.
FORMER_NAMES: Mapping[str, Role] = {"researcher": Role.EDITOR}


def role_called(stored: str) -> Role | None:
    """Return the role that a stored name means, today's or a former one; None for any other text."""
    if stored in FORMER_NAMES:
        return FORMER_NAMES[stored]
    return Role(stored) if stored in set(Role) else None


def allows(role: Role | None, verb: Verb) -> bool:
    """Tell whether somebody with the role may do it; nobody without a role may do anything."""
    return role is not None and verb in ALLOWED[role]


def names_of_roles(verb: Verb) -> list[str]:
    """Return every name under which a role that may do it can stand in the database."""
    former = [name for name, role in FORMER_NAMES.items() if allows(role, verb)]
    return [role.value for role in Role if allows(role, verb)] + former


def who_may(verb: Verb) -> str:
    """Return the roles that may do it, in the plural: "owners and editors"."""
    *others, last = [f"{role}s" for role in Role if allows(role, verb)]
    return f"{', '.join(others)} and {last}" if others else last


def why_not_in_archive(project: str, verb: Verb) -> str:
    """Return what a person is told who wants to do it in an archived project of that name, where nobody may."""
    return (
        f"{project} is archived: nobody may {WORDS[verb]} while it is. An owner takes it out of the archive under "
        "Members and settings."
    )


def with_article(role: Role) -> str:
    return f"{'a' if role is Role.VIEWER else 'an'} {role}"
