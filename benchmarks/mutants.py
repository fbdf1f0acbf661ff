"""Measure how many small faults of the code the tests find: 500 fixed mutants, found again after changes.

    python -m benchmarks.mutants map                       # which test runs which line; needs `pip install coverage`\n
python -m benchmarks.mutants run --from 1 --to 100     # try mutants; a second call continues\n    python -m
benchmarks.mutants compare BEFORE AFTER      # files of results

A mutant is one statement changed by one operator (`mutations`). `benchmarks/mutants.csv` names each by module,
function, statement and occurrence; `find` looks for them in a later version, whose names and files may differ.
Everything runs on SQLite, in a copy of a commit in a temporary folder, with only the tests that run the changed lines.
"""

import argparse
import ast
import csv
import importlib
import importlib.util
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "benchmarks" / "mutants.csv"
MADE_AT = "de8fc392"
SEED, MUTANTS, LEAST_PER_ROOM = 24, 500, 20
NOT_PRODUCT = ("tests", "benchmarks", "scripts", "config", "lineup_client")
COLUMNS = ("module", "function", "statement", "operator", "before", "after", "occurrence")
# Only `make test-models` tests these modules.
NEEDS_MODELS = (b"import torch", b"from torch", b"import transformers", b"from transformers", b"import open_clip")
# Browser tests, and tests that run the code in other processes, where coverage cannot see it.
LEFT_OUT = (
    *(
        f"tests/{each}"
        for each in ["browser", "flows", "models", "upgrades", "config", "scripts", "lineup_client", "benchmarks"]
    ),
    *("*/test_checklists.py", "*/test_demo.py", "*/test_worker.py", "*/test_workers.py", "*/test_whole_paper.py"),
)
# Limits: tests per mutant, parameters per test, and seconds per test.
MOST_TESTS, MOST_PARAMETERS, LONGEST = 80, 15, 5.0
# Imported once, before forking for each mutant; none of them needs Django's settings.
WARM = ("django.test", "numpy", "scipy.stats", "PIL.Image", "pyarrow.parquet", "jsonschema", "yaml", "celery", "httpx")

KILLED = ("killed", "timed out")
# Outcomes that count as killed without a failing test.
CRASH = "a crash"

PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitOr, ast.BitAnd)),
)
SWAPPED = dict(PAIRS) | {second: first for first, second in PAIRS}
NAMES_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
# A change by one in a larger number, such as a limit in bytes, is rarely a fault.
LARGEST_NUMBER = 100
BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
TYPES = ("bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple")
COMPARED_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)


@dataclass(frozen=True)
class Mutant:
    """A change of the bytes of `file` from `start` to `end` to `after`; tests of `lines` may find it.
    `shape` is the statement without names, `body` the function, class or module without them."""

    module: str
    function: str
    statement: str
    operator: str
    shape: str = field(repr=False)
    body: str = field(repr=False)
    file: str
    start: int
    end: int
    before: str
    after: str
    lines: tuple[int, int]

    @property
    def place(self) -> str:
        return f"{self.module}:{self.function}"

    def applied_to(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutations(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield the operators that change `node`: name, the node that is replaced, and the code in its place."""
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                if type(operator) in SWAPPED:
                    ops = [*node.ops[:number], SWAPPED[type(operator)](), *node.ops[number + 1 :]]
                    yield "comparison", node, _code(node, ops=ops)
        case ast.BoolOp():
            yield "and, or", node, _code(node, op=SWAPPED[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node, _code(node.operand)
        case ast.BinOp() if type(node.op) in SWAPPED and not (_cannot_change(node.left) or _cannot_change(node.right)):
            yield "arithmetic", node, _code(node, op=SWAPPED[type(node.op)]())
        case ast.AugAssign() if type(node.op) in SWAPPED and not _cannot_change(node.value):
            yield "arithmetic", node, ast.unparse(_changed(node, op=SWAPPED[type(node.op)]()))
        case ast.Constant(value=bool(value)):
            yield "constant", node, str(not value)
        case ast.Constant(value=int(value) | float(value)) if abs(value) <= LARGEST_NUMBER:
            yield "constant", node, str(value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES_SWAPPED:
            yield "min, max, any, all", node.func, NAMES_SWAPPED[name]
        case ast.Return(value=ast.expr()) if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "return", node, "return None"
        case ast.Continue():
            yield "continue, break", node, "break"
        case ast.Break():
            yield "continue, break", node, "continue"
        case ast.Expr(value=ast.Call()):
            yield "call", node, "pass"
    for condition in _conditions(node):
        yield "condition", condition, f"(not {_code(condition)})"


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions of `node` that no other operator negates."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            conditions = [test]
        case ast.comprehension(ifs=conditions):
            pass
        case _:
            return
    for condition in conditions:
        negates_itself = isinstance(condition, ast.Compare) and len(condition.ops) == 1
        if negates_itself and isinstance(condition.ops[0], COMPARED_EQUAL):  # type: ignore[attr-defined]
            continue
        if not (isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)):
            yield condition


def _changed(node: ast.AST, **fields: Any) -> Any:
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _code(node: ast.expr, **fields: Any) -> str:
    return f"({ast.unparse(_changed(node, **fields))})"


def _cannot_change(node: ast.expr) -> bool:
    """Return whether `node` is a text or a type, for which another operator would only raise an error."""
    match node:
        case ast.JoinedStr() | ast.List() | ast.Tuple() | ast.Constant(value=str() | bytes() | None):
            return True
        case ast.Subscript(value=value):
            return _cannot_change(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in TYPES or (name[0].isupper() and not name.isupper())
    return False


def mutants_in(tree: Path) -> list[Mutant]:
    """Return all mutants of the product in the folder `tree`, in the order of its files."""
    return [mutant for file, source in _sources(tree) for mutant in mutants_of(file, source)]


def _sources(tree: Path) -> Iterator[tuple[str, bytes]]:
    for file in _git("-C", str(tree.resolve()), "ls-files", "*/*.py").splitlines():
        source = (tree / file).read_bytes()
        is_product = file.split("/")[0] not in NOT_PRODUCT and "/migrations/" not in file
        if is_product and not any(each in source for each in NEEDS_MODELS):
            yield file, source


def mutants_of(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of one file, whose path from the root is `file`."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    module, bodies = _module(file), dict[int, str]()
    for function, owner, statement in _statements(ast.parse(source), ""):
        if id(owner) not in bodies:
            bodies[id(owner)] = ast.unparse(_Blank().visit(deepcopy(owner)))
        header = _header(statement)
        nodes = list(_nodes(header))
        names = (module, function, ast.unparse(header))
        shapes = (ast.unparse(_Blank().visit(deepcopy(header))), bodies[id(owner)])
        for node in nodes:
            for operator, replaced, after in mutations(node):
                start = starts[replaced.lineno - 1] + replaced.col_offset
                end = starts[(replaced.end_lineno or 1) - 1] + (replaced.end_col_offset or 0)
                before = source[start:end].decode()
                lines = _lines(owner, statement, nodes)
                yield Mutant(*names, operator, *shapes, file, start, end, before, after, lines)


def product() -> list[str]:
    """Return the folders of the product's code in the folder where this process stands."""
    return sorted({file.split("/")[0] for file, _ in _sources(Path())})


def _module(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _statements(owner: Any, place: str, parent: Any = None) -> Iterator[tuple[str, Any, Any]]:
    """Yield statements, each with the name of its function and the function, class or module that it belongs to."""
    parent = parent or owner
    for child in (each for name in BODIES for each in getattr(parent, name, [])):
        inside = f"{place}.{getattr(child, 'name', '')}".strip(".")
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.FunctionDef(name="add_arguments"):
                # Imports for types; options of a command and their help.
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield inside, child, child
                yield from _statements(child, inside)
            case ast.ClassDef():
                yield from _statements(child, inside)
            case ast.ExceptHandler() | ast.match_case():
                yield from _statements(owner, place, child)
            case ast.Assign() if isinstance(parent, ast.ClassDef):
                # The database already enforces fields of models and members of enumerations.
                pass
            case _:
                yield place, owner, child
                yield from _statements(owner, place, child)


def _lines(owner: Any, statement: Any, nodes: Iterable[Any]) -> tuple[int, int]:
    """Return the lines by which a test is found to run the statement; for imports, those of the owner."""
    if isinstance(owner, ast.Module):
        return 1, 10**6
    if owner is statement or isinstance(owner, ast.ClassDef):
        return owner.lineno, owner.end_lineno or owner.lineno
    ends = [node.end_lineno for node in nodes if isinstance(node, ast.expr)]
    return statement.lineno, max([statement.lineno, *ends])


def _header(statement: ast.stmt) -> ast.stmt:
    """Return the statement without its indented body and its decorators."""
    emptied: dict[str, list[Any]] = {name: [] for name in (*BODIES, "decorator_list") if hasattr(statement, name)}
    header: ast.stmt = _changed(statement, **emptied)
    return header


def _nodes(node: ast.AST) -> Iterator[Any]:
    """Yield the nodes that may be changed.

    Not annotations, logging, or the inside of f-strings, whose parts have no positions in Python 3.11.
    """
    if isinstance(node, ast.JoinedStr) or _is_logging(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in ("annotation", "returns"):
                yield from _nodes(child)


def _is_logging(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else node
    return isinstance(call, ast.Call) and ast.unparse(call.func).startswith(("logger.", "logging."))


class _Blank(ast.NodeTransformer):
    """Removes every name and text, so that renaming does not change the result."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("id", "attr", "arg", "name"):
            if isinstance(getattr(node, name, None), str):
                setattr(node, name, "_")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "_"
        return super().generic_visit(node)


def choose(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Select MUTANTS of them: in proportion to each room's statements, at least LEAST_PER_ROOM; one per statement."""
    rooms: dict[str, dict[tuple[str, ...], list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    for mutant in mutants:
        rooms[mutant.module.split(".")[0]][mutant.place, mutant.statement].append(mutant)
    total = sum(map(len, rooms.values()))
    free = MUTANTS - LEAST_PER_ROOM * len(rooms)
    sizes = {room: LEAST_PER_ROOM + free * len(statements) // total for room, statements in rooms.items()}
    sizes[max(sizes, key=sizes.__getitem__)] += MUTANTS - sum(sizes.values())
    chance = random.Random(SEED)
    return [
        chance.choice(rooms[room][statement])
        for room, size in sorted(sizes.items())
        for statement in sorted(chance.sample(sorted(rooms[room]), size))
    ]


class Index:
    """The mutants of one version by several keys, from the most to the least certain."""

    def __init__(self, mutants: Iterable[Mutant], moved: Mapping[str, str] | None = None) -> None:
        self._moved = moved or {}
        self._found: dict[tuple[str, ...], list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            for key in dict.fromkeys(self.keys(mutant)):
                self._found[key].append(mutant)

    def keys(self, mutant: Mutant) -> Iterator[tuple[str, ...]]:
        place = moved_place(mutant.place, self._moved)
        module, _, function = place.partition(":")
        for text in (mutant.statement, mutant.shape):
            for where in (place, module, function, mutant.body, ""):
                if where or text is mutant.statement:
                    yield where, text, mutant.operator

    def of(self, key: tuple[str, ...]) -> list[Mutant]:
        """Return the mutants with the key, by line; none if they are in several functions."""
        found = self._found.get(key, [])
        return found if len({mutant.place for mutant in found}) == 1 else []


def moved_place(place: str, moved: Mapping[str, str]) -> str:
    for old in sorted(moved, key=len, reverse=True):
        if place == old or place.startswith((f"{old}.", f"{old}:")):
            return moved[old] + place[len(old) :]
    return place


def find(mutant: Mutant, before: Index, now: Index) -> Mutant | None:
    """Return `mutant` of the version `before` as it is `now`, None if its statement is gone.

    A key identifies it if it has as many mutants in both versions; their order then decides.
    """
    for key in before.keys(mutant):
        old, new = before.of(key), now.of(key)
        if old and len(old) == len(new):
            return new[old.index(mutant)]
    return None


def write_list(mutants: Iterable[Mutant], all_of_them: Index) -> None:
    with LIST.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["number", *COLUMNS])
        for number, mutant in enumerate(mutants, 1):
            alike = all_of_them.of(next(all_of_them.keys(mutant)))
            writer.writerow([number, *(getattr(mutant, column) for column in COLUMNS[:-1]), alike.index(mutant)])


def read_list(before: Index) -> dict[int, Mutant]:
    """Return number -> mutant of the version that the list was made from."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        int(row["number"]): before.of((f"{row['module']}:{row['function']}", row["statement"], row["operator"]))[
            int(row["occurrence"])
        ]
        for row in rows
    }


class Recorder:
    """Pytest plugin: notes under each test which lines it runs, how long it takes and whether it passes."""

    def __init__(self, data: Path) -> None:
        # Imported here, because it is not among the requirements.
        self._coverage = importlib.import_module("coverage").Coverage(
            data_file=data, source=product(), config_file=False
        )
        self._coverage.load()
        self._coverage.start()
        self._data, self._seconds, self._failed = data, dict[str, float](), set[str]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.perf_counter() - began
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def save(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        passed = [(test, seconds) for test, seconds in self._seconds.items() if test not in self._failed]
        with closing(sqlite3.connect(self._data)) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS passed (context TEXT PRIMARY KEY, seconds REAL)")
            database.executemany("INSERT OR REPLACE INTO passed VALUES (?, ?)", passed)


class Tests:
    """Coverage saved by `Recorder`: the tests that run a mutant, the most specific to its file first."""

    def __init__(self, data: Path) -> None:
        self._database = sqlite3.connect(data)
        self._database.create_function("size", 1, lambda bits: sum(byte.bit_count() for byte in bits))
        self._database.execute(
            "CREATE TEMP TABLE sizes AS SELECT context_id, SUM(size(numbits)) AS lines FROM line_bits GROUP BY 1"
        )

    def of(self, mutant: Mutant) -> list[str]:
        rows = self._database.execute(
            "SELECT context.context, numbits, size(numbits) * 1.0 / sizes.lines AS share FROM line_bits"
            " JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
            " JOIN sizes USING (context_id) JOIN passed ON passed.context = context.context"
            " WHERE file.path LIKE ? AND seconds <= ? ORDER BY share DESC, context.context",
            [f"%/tree/{mutant.file}", LONGEST],
        )
        chosen: list[str] = []
        alike = Counter[str]()
        for test, bits, _ in rows:
            name = test.partition("[")[0]
            if alike[name] < MOST_PARAMETERS and len(chosen) < MOST_TESTS and _has_one_of(bits, *mutant.lines):
                chosen.append(test)
                alike[name] += 1
        return chosen


def _has_one_of(bits: bytes, first: int, last: int) -> bool:
    """bits: bit i of byte j is line 8 j + i, as coverage stores them."""
    lines = int.from_bytes(bits, "little") >> first
    return bool(lines & ((1 << (last - first + 1)) - 1))


@contextmanager
def copy_of(commit: str) -> Iterator[Path]:
    """Yield a folder with the files of `commit`, beside the neighbours of the repository that tests need."""
    with tempfile.TemporaryDirectory(prefix="lineup-mutants-") as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        for name, target in ((tree / ".venv", ROOT / ".venv"), (tree.parent / "shared", ROOT.parent / "shared")):
            if target.exists():
                name.symlink_to(target)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def forked(tree: Path, work: Callable[[], Any], limit: float = 3600) -> Any:
    """Run `work` in a child process in `tree` and return its result.

    "timed out" after `limit` seconds, "crashed" if it ends without a result.
    """
    answer, together = tree.parent / "answer.json", tree.parent / "together"
    answer.unlink(missing_ok=True)
    together.mkdir(exist_ok=True)
    child = os.fork()
    if not child:
        try:
            os.setsid()
            log = os.open(tree.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir(tree)
            sys.path[0] = str(tree)
            sys.modules.pop("benchmarks", None)
            os.environ |= {"TESTS_TOGETHER": str(together), "TMPDIR": str(tree.parent)}
            answer.write_text(json.dumps(work()), encoding="utf-8")
        finally:
            os._exit(0)
    end = time.monotonic() + limit
    while (waiting := os.waitpid(child, os.WNOHANG) == (0, 0)) and time.monotonic() < end:
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if waiting:
        os.waitpid(child, 0)
        return "timed out"
    return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else "crashed"


class Failures:
    """Pytest plugin: the tests that fail."""

    def __init__(self) -> None:
        self.tests: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests.append(report.nodeid)


def run_tests(tests: Iterable[str], *options: str, plugin: object) -> int:
    quiet = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=line")
    return int(pytest.main([*quiet, *options, *tests], plugins=[plugin]))


def outcome_of(tree: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> dict[str, Any]:
    """Return what happens to the tests while the copy in `tree` has the mutant."""

    def work() -> dict[str, str]:
        failures = Failures()
        code = run_tests(tests, "-x", plugin=failures)
        return {"outcome": "killed", "by": next(iter(failures.tests), CRASH)} if code else {"outcome": "survived"}

    if not tests:
        return {"outcome": "no test"}
    file = tree / mutant.file
    source = file.read_bytes()
    compiled = Path(importlib.util.cache_from_source(str(file)))
    try:
        file.write_bytes(mutant.applied_to(source))
        # A stale bytecode file would be used if both versions have one size and one second of modification.
        compiled.unlink(missing_ok=True)
        found = forked(tree, work, limit)
    finally:
        file.write_bytes(source)
        compiled.unlink(missing_ok=True)
    if found == "crashed":
        return {"outcome": "killed", "by": CRASH}
    return {"outcome": found} if isinstance(found, str) else dict(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    chooser = commands.add_parser("choose", help=f"write benchmarks/mutants.csv from {MADE_AT} again")
    chooser.set_defaults(command=do_choose)
    mapper = commands.add_parser("map", help="note which test runs which line")
    mapper.set_defaults(command=do_map)
    mapper.add_argument("tests", nargs="*", default=["tests"], help="folders or files; earlier results are kept")
    runner = commands.add_parser("run", help="try mutants")
    runner.set_defaults(command=do_run)
    runner.add_argument("--from", dest="first", type=int, default=1, help="number of the first mutant")
    runner.add_argument("--to", dest="last", type=int, default=MUTANTS, help="number of the last mutant")
    runner.add_argument("--jobs", type=int, default=1, help="number of parallel copies")
    runner.add_argument("--limit", type=float, default=60, help="seconds for the tests of one mutant")
    runner.add_argument("--results", type=Path, help="default: var/mutants-COMMIT.jsonl")
    runner.add_argument(
        "--moved",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="a module, package or module:function with a new name; git finds most renamed files without it",
    )
    for each in (mapper, runner):
        each.add_argument("--commit", default="HEAD", help="the version whose code is changed")
    comparer = commands.add_parser("compare", help="count killed mutants, and name those whose outcome differs")
    comparer.set_defaults(command=do_compare)
    comparer.add_argument("files", type=Path, nargs="+", help="one or two files of results")
    asked = parser.parse_args()
    asked.command(asked)


def do_choose(_: argparse.Namespace) -> None:
    with copy_of(MADE_AT) as tree:
        mutants = mutants_in(tree)
    chosen = choose(mutants)
    write_list(chosen, Index(mutants))
    print(f"{len(chosen)} of {len(mutants)} mutants:", Counter(mutant.module.split(".")[0] for mutant in chosen))
    print(Counter(mutant.operator for mutant in chosen))


def do_map(asked: argparse.Namespace) -> None:
    data = _kept_in_var(asked.commit, "map")
    warm_up()

    def work() -> int:
        recorder = Recorder(data)
        code = run_tests(asked.tests, *(f"--ignore-glob={each}" for each in LEFT_OUT), plugin=recorder)
        recorder.save()
        return code

    with copy_of(asked.commit) as tree:
        code = forked(tree, work)
        print(f"pytest ended with {code}:", (tree.parent / "log").read_text(encoding="utf-8")[-2000:])


def do_run(asked: argparse.Namespace) -> None:
    results = asked.results or _kept_in_var(asked.commit, "jsonl")
    if not _kept_in_var(asked.commit, "map").exists():
        sys.exit(
            f"There is no map of tests to lines. First run: python -m benchmarks.mutants map --commit {asked.commit}"
        )
    with copy_of(MADE_AT) as old, copy_of(asked.commit) as new:
        all_of_old, now = mutants_in(old), Index(mutants_in(new))
    listed = read_list(Index(all_of_old))
    before = Index(all_of_old, _renamed_files(asked.commit) | dict(each.split("=") for each in asked.moved))
    done = set(read_results(results)) if results.exists() else set()
    left = {
        number: find(mutant, before, now)
        for number, mutant in listed.items()
        if asked.first <= number <= asked.last and number not in done
    }
    warm_up()
    processes = [
        get_context("fork").Process(target=try_all, args=(asked, results, dict(list(left.items())[job :: asked.jobs])))
        for job in range(asked.jobs)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    do_compare(argparse.Namespace(files=[results]))


def try_all(asked: argparse.Namespace, results: Path, mutants: Mapping[int, Mutant | None]) -> None:
    """Try the mutants in one copy, and add a line for each to `results`."""
    with copy_of(asked.commit) as tree:
        tests, killers = Tests(_kept_in_var(asked.commit, "map")), set[str]()
        for number, mutant in mutants.items():
            began = time.monotonic()
            found = outcome_of(tree, mutant, tests.of(mutant), asked.limit) if mutant else {"outcome": "gone"}
            line = {"number": number} | found
            killers.add(found.get("by", ""))
            if mutant:
                before = (tree / mutant.file).read_bytes()[: mutant.start]
                line |= {"file": mutant.file, "line": before.count(b"\n") + 1, "change": [mutant.before, mutant.after]}
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line | {"seconds": round(time.monotonic() - began, 1)}) + "\n")
        fails = forked(tree, lambda: failing(killers - {"", CRASH}))
        if fails:
            print("These tests fail without a mutant, too, so their kills do not count:", fails)


def failing(tests: Iterable[str]) -> list[str]:
    failures = Failures()
    run_tests(sorted(tests), plugin=failures)
    return failures.tests


def warm_up() -> None:
    for module in WARM:
        importlib.import_module(module)


def _renamed_files(commit: str) -> dict[str, str]:
    """Return old -> new module, as git detects renames by content."""
    options = ("--find-renames=40%", "-l0", "--diff-filter=R", "--name-status")
    renamed = (line.split("\t")[1:] for line in _git("diff", *options, MADE_AT, commit, "--", "*.py").splitlines())
    return {_module(old): _module(new) for old, new in renamed}


def _kept_in_var(commit: str, suffix: str) -> Path:
    folder = ROOT / "var"
    folder.mkdir(exist_ok=True)
    return folder / f"mutants-{_git('rev-parse', '--short=8', commit).strip()}.{suffix}"


def read_results(file: Path) -> dict[int, dict[str, Any]]:
    lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {line["number"]: line for line in lines}


def do_compare(asked: argparse.Namespace) -> None:
    results = [read_results(file) for file in asked.files]
    for file, found in zip(asked.files, results, strict=True):
        print(f"{file.name}: {len(found)} mutants,", dict(Counter(line["outcome"] for line in found.values())))
    if len(results) == 2:
        both = [number for number in results[0] if results[1].get(number, {}).get("outcome") not in (None, "gone")]
        killed = [{number for number in both if found[number]["outcome"] in KILLED} for found in results]
        print(f"Of {len(both)} in both, killed: {len(killed[0])} before, {len(killed[1])} now")
        for number in sorted(killed[0] ^ killed[1]):
            print(f"{number}: was {results[0][number]['outcome']}, is now", results[1][number])


if __name__ == "__main__":
    main()
