"""The table of roles and verbs, held against one written by hand."""

import pytest

from studies.permissions import ALLOWED, WORDS, Role, Verb, allows, find_role, names_of_roles, who_may, with_article

EVERYBODY, WHO_CHANGES, OWNERS = ("owner", "editor", "viewer"), ("owner", "editor"), ("owner",)
MATRIX = {
    "view": EVERYBODY,
    **dict.fromkeys(("import", "tag", "predict", "manage_models", "design", "run", "settle"), WHO_CHANGES),
    **dict.fromkeys(("remove_people", "forget_people", "export", "release", "publish"), WHO_CHANGES),
    **dict.fromkeys(("identify_people", "manage_members", "manage_webhooks", "manage_prolific", "pay"), OWNERS),
}


def test_every_role_may_what_is_written_here_and_nothing_else() -> None:
    assert {verb.value: tuple(role.value for role in Role if allows(role, verb)) for verb in Verb} == MATRIX
    assert set(ALLOWED) == set(Role)
    assert set(WORDS) == set(Verb)
    assert not any(allows(None, verb) for verb in Verb)


@pytest.mark.parametrize(
    ("stored", "role"),
    [
        ("owner", Role.OWNER),
        ("editor", Role.EDITOR),
        ("viewer", Role.VIEWER),
        # As the version before wrote it.
        ("researcher", Role.EDITOR),
        ("Owner", None),
        ("OWNER", None),
        ("boss", None),
        ("", None),
    ],
)
def test_a_stored_name_means_a_role_or_none(stored: str, role: Role | None) -> None:
    assert find_role(stored) is role


def test_the_database_is_asked_for_former_names_too() -> None:
    assert names_of_roles(Verb.VIEW) == ["owner", "editor", "viewer", "researcher"]
    assert names_of_roles(Verb.RUN) == ["owner", "editor", "researcher"]
    assert names_of_roles(Verb.IDENTIFY_PEOPLE) == ["owner"]


def test_sentences_name_the_roles() -> None:
    assert who_may(Verb.VIEW) == "owners, editors and viewers"
    assert who_may(Verb.RUN) == "owners and editors"
    assert who_may(Verb.IDENTIFY_PEOPLE) == "owners"
    assert [with_article(role) for role in Role] == ["an owner", "an editor", "a viewer"]
