"""The operators of the mutants on snippets, and how mutants are found again in code that has changed."""

import textwrap

import pytest

from benchmarks.mutants import Index, Mutant, choose, find, mutants_of


def _mutants(source: str, file: str = "room/module.py") -> list[Mutant]:
    return list(mutants_of(file, textwrap.dedent(source).encode()))


def _changed(source: str) -> list[tuple[str, str]]:
    """Return operator and changed code for each mutant of a function with the statements `source`."""
    whole = "def function(a, b, c):\n" + textwrap.indent(textwrap.dedent(source), "    ")
    head = len("def function(a, b, c):\n")
    found = [
        (mutant.operator, textwrap.dedent(mutant.applied_to(whole.encode()).decode()[head:]))
        for mutant in _mutants(whole)
    ]
    return sorted(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", [("comparison", "x = (a <= b)")]),
        ("x = a >= b", [("comparison", "x = (a > b)")]),
        ("x = a in b", [("comparison", "x = (a not in b)")]),
        ("x = a is b", [("comparison", "x = (a is not b)")]),
        ("x = a < b <= c", [("comparison", "x = (a < b < c)"), ("comparison", "x = (a <= b <= c)")]),
        ("x = a and b", [("and, or", "x = (a or b)")]),
        ("x = not a", [("not", "x = (a)")]),
        ("x = a + b", [("arithmetic", "x = (a - b)")]),
        ("x = a / b", [("arithmetic", "x = (a * b)")]),
        ("x = a | b", [("arithmetic", "x = (a & b)")]),
        ("a += b", [("arithmetic", "a -= b")]),
        ("x = 9", [("constant", "x = 10")]),
        ("x = .5", [("constant", "x = 1.5")]),
        ("x = True", [("constant", "x = False")]),
        ("x = max(a)", [("min, max, any, all", "x = min(a)")]),
        ("x = any(a)", [("min, max, any, all", "x = all(a)")]),
        ("return a", [("return", "return None")]),
        ("a.save()", [("call", "pass")]),
        ("if a: b = c", [("condition", "if (not (a)): b = c")]),
        ("if a == b: b = c", [("comparison", "if (a != b): b = c")]),
        ("x = b if a else c", [("condition", "x = b if (not (a)) else c")]),
        ("x = [b for b in c if b]", [("condition", "x = [b for b in c if (not (b))]")]),
        ("for x in a: continue", [("continue, break", "for x in a: break")]),
        ("while a: break", [("continue, break", "while a: continue")]),
        ("x = 'é' and a  # é", [("and, or", "x = ('é' or a)  # é")]),
    ],
)
def test_an_operator_changes_one_thing(source: str, expected: list[tuple[str, str]]) -> None:
    assert _changed(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "'A docstring.'",
        "return",
        "return None",
        "x = 10_000_000",
        "logger.info('%s', 1)",
        "x: 'list[1]'",
        "x = f'{a + b}'",
        "x = a + 'text'",
        "x = isinstance(a, int | str)",
        "x = isinstance(a, Study | None)",
    ],
)
def test_it_leaves_alone_what_no_test_could_find_or_any_would(source: str) -> None:
    assert _changed(source) == []


def test_it_changes_defaults_but_no_types_options_of_commands_and_fields() -> None:
    found = _mutants(
        """
        if TYPE_CHECKING:
            LIMIT = 1

        class Model:
            field = TextField(null=True)

            @decorator(retries=1)
            def method(self, number: Literal[1] = 2) -> Literal[3]: ...

            def add_arguments(self, parser):
                parser.add_argument("--number", default=1)
        """
    )
    assert [(each.function, each.before, each.after) for each in found] == [("Model.method", "2", "3")]


BEFORE = """
LIMIT = 3

def room(session):
    if session.left < LIMIT:
        return session.left + 1
    return 0

def other(session):
    return 0
"""
CHANGED = BEFORE.replace("def room(session):", "def places(session):\n    session.refresh()")
RENAMED = BEFORE.replace("session", "sitting").replace("left", "free")
SHORTER = BEFORE.replace("    return 0\n\ndef other", "\ndef other")
LINES = [2, 5, 5, 6, 6, 6, 7, 7, 10, 10]
MOVED = {"room": "new", "room.module:room": "new.places:places"}


@pytest.mark.parametrize(
    ("now", "file", "moved", "lines"),
    [
        pytest.param(BEFORE, "room/module.py", {}, LINES, id="unchanged"),
        pytest.param("\n\n" + BEFORE, "room/module.py", {}, [line + 2 for line in LINES], id="moved down"),
        pytest.param(BEFORE, "room/places.py", {}, LINES, id="another file"),
        pytest.param(BEFORE.replace("room", "places"), "room/module.py", {}, LINES, id="another function"),
        # A function that has also changed is found by the names that are given, else only what it alone says.
        pytest.param(CHANGED, "new/places.py", MOVED, [2, 6, 6, 7, 7, 7, 8, 8, 11, 11], id="changed, with its name"),
        pytest.param(CHANGED, "new/places.py", {}, [2, 6, 6, 7, 7, 7, None, None, 11, 11], id="changed"),
        pytest.param(RENAMED, "room/module.py", {}, LINES, id="names within the statements"),
        pytest.param(SHORTER, "room/module.py", {}, [2, 5, 5, 6, 6, 6, None, None, 9, 9], id="a statement is gone"),
    ],
)
def test_it_finds_mutants_again(now: str, file: str, moved: dict[str, str], lines: list[int | None]) -> None:
    before, after = _mutants(BEFORE), list(mutants_of(file, now.encode()))
    then, later = Index(before, moved), Index(after)
    found = [find(mutant, then, later) for mutant in before]
    in_lines = sorted(
        (m.start, f and now.encode()[: f.start].count(b"\n") + 1) for m, f in zip(before, found, strict=True)
    )
    assert [line for _, line in in_lines] == lines


def test_it_chooses_as_many_of_each_room_as_it_has_statements_and_some_of_the_smallest() -> None:
    small = "".join(f"a{number} = {number % 9}\n" for number in range(100))
    large = "".join(f"a{number} = b and {number % 9}\n" for number in range(900))
    mutants = [*mutants_of("small/a.py", small.encode()), *mutants_of("large/a.py", large.encode())]
    chosen = choose(mutants)
    assert len({(mutant.place, mutant.statement) for mutant in chosen}) == 500
    # 20 of each; 46 of the other 460 for the small one.
    assert sum(mutant.module == "small.a" for mutant in chosen) == 66
    assert chosen == choose(mutants)
