"""Searches by word find the same with the index of PostgreSQL as without it, and as SQLite does for ASCII."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Q

from results.queries.instances.caption_search import captions_containing, indexed_parts
from studies.actions import word_index
from studies.models import Instance, Project
from tests.factories import make_instance, make_project

ON_POSTGRESQL = pytest.mark.skipif(connection.vendor != "postgresql", reason="Only PostgreSQL has the index.")
CAPTIONS = {
    "plain": {"caption": "A red ball lies on the grass.", "negative_caption": "A blue cube stands here."},
    "quoted": {"caption": 'It says "Stop" to all.', "negative_caption": "It costs 100% of 5_000."},
    "slashed": {"caption": "C:\\temp\\new and\ttabs", "negative_caption": "two\nlines"},
    "greek": {"caption": "ΔΡΟΜΟΣ is a road", "negative_caption": "δρόμος"},
    "german": {"caption": "Die Straße ist grün", "negative_caption": "GRÜNE STRASSE"},
    "chinese": {"caption": "一个红色的球在草地上", "negative_caption": "one 球"},
    "kelvin": {"caption": "300 \u212a outside", "negative_caption": "µm and \u01f0"},
}
# Words -> the keys of the instances that have them in a caption.
SEARCHES = [
    ("red ball", ["plain"]),
    ("RED BALL", ["plain"]),
    ("ball lies on the grass.", ["plain"]),
    ("red  ball", []),
    ("unicorn", []),
    # Names of roles are no captions.
    ("negative", []),
    ("caption", []),
    ('": "', []),
    ('"stop"', ["quoted"]),
    ("100% of", ["quoted"]),
    ("100%of", []),
    ("1_0", []),
    ("5_000", ["quoted"]),
    ("5x000", []),
    ("c:\\temp", ["slashed"]),
    ("\\new", ["slashed"]),
    ("and\ttabs", ["slashed"]),
    ("two\nlines", ["slashed"]),
    ("two\\nlines", []),
    (".*", []),
    ("is a road", ["greek"]),
    ("红色的球", ["chinese"]),
    ("球", ["chinese"]),
    ("one 球", ["chinese"]),
    ("300", ["kelvin"]),
    ("Straße ist", ["german"]),
    ("q", []),
]


@pytest.fixture
def project(db: None) -> Project:
    project = make_project("words")
    for key, captions in CAPTIONS.items():
        made = make_instance(project, key)
        Instance.objects.filter(pk=made.pk).update(captions=captions)
    return project


def found(condition: Q) -> list[str]:
    return sorted(Instance.objects.filter(condition).values_list("key", flat=True))


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("words", "keys"), SEARCHES)
def test_captions_with_the_words_are_found_literally(words: str, keys: list[str]) -> None:
    assert found(Q(captions_containing("captions", words))) == keys


@ON_POSTGRESQL
@pytest.mark.parametrize(("words", "keys"), SEARCHES)
@pytest.mark.usefixtures("project")
def test_the_index_finds_the_same(words: str, keys: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    # By key too: one has a q.
    says = Q(key__icontains=words) | Q(captions_containing("captions", words))
    assert found(says) == (["quoted"] if words == "q" else keys)


@ON_POSTGRESQL
@pytest.mark.parametrize(
    "words", ["ΔΡΟΜΟΣ", "δρομος", "δρομοσ", "STRASSE", "straße", "GRÜN", "grün", "300 k", "300 \u212a", "µM", "μm"]
)
def test_letters_with_case_outside_ascii_are_found_as_without_the_parts(project: Project, words: str) -> None:
    """ILIKE and regular expressions differ in these, so the index must not decide."""
    with connection.cursor() as cursor:
        path = f'$.* ? (@ like_regex {json.dumps(words)} flag "iq")'
        cursor.execute("SELECT key FROM studies_instance WHERE jsonb_path_exists(captions, %s::jsonpath)", [path])
        plain = sorted(key for (key,) in cursor.fetchall())
    assert found(Q(captions_containing("captions", words))) == plain
    assert project.instances.count() == len(CAPTIONS)


@ON_POSTGRESQL
@pytest.mark.usefixtures("project")
def test_a_search_uses_the_index() -> None:
    says = Q(key__icontains="unicorn") | Q(captions_containing("captions", "unicorn"))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    # Once for keys, once for captions.
    assert Instance.objects.filter(says).order_by().explain().count(f"on {word_index.NAME}") == 2


def test_parts_have_three_characters_and_no_case_but_that_of_ascii() -> None:
    assert list(indexed_parts("red ball")) == ["red ball"]
    assert list(indexed_parts("re")) == []
    assert list(indexed_parts("die Straße ist grün")) == ["die Stra", "e ist gr"]
    assert list(indexed_parts('say "no"')) == ['say \\"no\\"']
    assert list(indexed_parts("红色的球")) == ["红色的球"]


@ON_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_the_index_can_be_created_later_and_a_missing_extension_is_explained() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
        cursor.execute("DROP ROLE IF EXISTS may_create_nothing")
        cursor.execute("CREATE ROLE may_create_nothing")
        cursor.execute("SET ROLE may_create_nothing")
    try:
        with pytest.raises(CommandError, match=r'run "CREATE EXTENSION pg_trgm", then run "manage.py index_words"'):
            call_command("index_words")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP ROLE may_create_nothing")
    make_instance(make_project("words"), "plain")
    assert found(Q(captions_containing("captions", "unicorn"))) == []
    for _ in range(2):
        out = StringIO()
        call_command("index_words", stdout=out)
        assert out.getvalue() == "Searches by word use an index.\n"
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [word_index.NAME])
        assert cursor.fetchall() == [(True,)]


@pytest.mark.skipif(connection.vendor == "postgresql", reason="PostgreSQL has the index.")
def test_sqlite_says_that_it_has_no_such_index() -> None:
    with pytest.raises(CommandError, match="Only PostgreSQL has this index"):
        call_command("index_words")
    assert word_index.create_word_index(connection) == ""
