"""The checklists of CONTRIBUTING are complete: one more of each is added to a copy of the tree by just their places.

What is added lies in `added`, under the path that it gets. In the copy run the contract tests of what was added, its
own tests, the import contracts, and the commands that publish the schemas of study files and of the API.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from studies.rules import RULES
from tests.config.translations import ROOT

ADDED = Path(__file__).parent / "added"
# Files that a command of manage.py makes.
GENERATED = {"docs/study-file.schema.json": "study_schema", "docs/api-v1.yaml": "api_schema"}
# Whoever adds something needs no more of the tree than what is tested there.
NOT_COPIED = shutil.ignore_patterns(".*", "var", "screenshots", "node_modules", "*.sqlite3*", "*_cache")
# Tests that need torch: `tests/models/training/test_added_recipe.py` runs them.
OF_MODELS = "tests/models/"
# What this run's tests stand on, and those in the copy must not.
NOT_PASSED_ON = ("PYTEST", "COV", "DATABASE", "DJANGO")
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@dataclass(frozen=True)
class Addition:
    """One more of something: the heading of its checklist, what its files are called, and its line in a registry."""

    heading: str
    placeholder: str
    file: str
    registry: str
    name: str
    path: str

    def paths(self) -> list[str]:
        """Return the places that CONTRIBUTING lists for it, one per numbered line."""
        guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        checklist = guide.split(f"**{self.heading}**\n", 1)[1].split("\n\n", 1)[0]
        first = [re.match(r"\d+\. `([^`]+)`:", line) for line in checklist.splitlines()]
        assert all(first), f"a line of the checklist {self.heading!r} does not begin with a place"
        return [found[1].replace(self.placeholder, self.file) for found in first if found]


ADDITIONS = [
    Addition("A kind of question", "<kind>", "mood_scale", "KINDS", "mood_scale", "studies.kinds.mood_scale.MoodScale"),
    Addition("An acceptance rule", "<rule>", "unanimous", "RULES", "unanimous-v1", "studies.rules.unanimous.Unanimous"),
    Addition(
        *("An importer", "<format>", "key_and_caption", "IMPORTERS", "key-and-caption"),
        "studies.importing.key_and_caption.read",
    ),
    Addition(
        *("A format of predictions", "<format>", "right_ones", "FORMATS", "right-ones"),
        "predictions.importing.right_ones.read",
    ),
    Addition(
        *("A protocol of a benchmark", "<benchmark>", "which_is_it", "PROTOCOLS", "which-is-it"),
        "evaluation.protocols.which_is_it.WhichIsIt",
    ),
    Addition(
        *("An export format", "<format>", "only_keys", "FORMATS", "only-keys"),
        "results.exporting.formats.only_keys.OnlyKeys",
    ),
    Addition(*("A maker", "<family>", "last_words", "MAKERS", "last-words"), "making.makers.last_words.LastWords"),
    Addition(*("A filter", "<filter>", "one_line", "FILTERS", "one-line"), "making.filters.one_line.OneLine"),
    Addition(
        *("A recipe that trains a model", "<recipe>", "images_choose", "RECIPES", "images-choose"),
        "training.recipes.images_choose.ImagesChoose",
    ),
    Addition(
        *("A format of the report", "<format>", "plain", "FORMATS", "plain"), "results.reports.formats.plain.files"
    ),
]
every_addition = pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.name)


@dataclass(frozen=True)
class Ran:
    """What ran in the copy: the ids of the tests that passed, and all that was printed."""

    passed: list[str]
    printed: str
    imports: str


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "COV", "DATABASE", "DJANGO"))
    }
    environment = own | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "DATA_DIR": str(tree / "var")}
    done = [sys.executable, *command]
    return subprocess.run(done, cwd=tree, env=environment, capture_output=True, text=True, timeout=280, check=False)


def add_to_registry(tree: Path, addition: Addition) -> None:
    (registry,) = [path for path in addition.paths() if path.endswith("__init__.py")]
    file = tree / registry
    before = file.read_text(encoding="utf-8")
    line = f'{addition.registry} = {{\n    "{addition.name}": "{addition.path}",\n'
    after = before.replace(f"{addition.registry} = {{\n", line, 1)
    assert after != before
    file.write_text(after, encoding="utf-8")


def added_files() -> list[str]:
    return [str(path.relative_to(ADDED)).removesuffix(".txt") for path in sorted(ADDED.rglob("*.txt"))]


def run_in_a_copy(tree: Path) -> Ran:
    """Add everything to one copy, for starting Python and making a database takes longer than most tests."""
    shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
    for name in added_files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ADDED / f"{name}.txt", tree / name)
    for addition in ADDITIONS:
        add_to_registry(tree, addition)
    for file, command in GENERATED.items():
        made = run(tree, "manage.py", command)
        assert made.returncode == 0, made.stderr
        listed = any(file in addition.paths() for addition in ADDITIONS)
        assert listed == (made.stdout != (tree / file).read_text(encoding="utf-8")), file
        (tree / file).write_text(made.stdout, encoding="utf-8")
    own = [name for name in added_files() if name.startswith("tests/") and not name.startswith(OF_MODELS)]
    chosen = [addition.name for addition in ADDITIONS] + [Path(name).stem for name in own]
    # Each rule is tried with every kind in one test.
    chosen += ["names_a_kind", "published", "as_many_parts", "test_rules"]
    tests = run(
        tree,
        *("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-q", "-rA", "--no-header"),
        *("--show-capture=no", "-k", " or ".join(chosen), "--ignore=tests/contracts/test_checklists.py"),
        *("tests/contracts", "tests/studies/design", "tests/workspace/test_drawings.py", *own),
    )
    imports = run(tree, "-c", LINT_IMPORTS, "--no-cache")
    passed = re.findall(r"^PASSED (\S+)", tests.stdout, re.M)
    assert tests.returncode == 0, f"{tests.stdout[-6000:]}{tests.stderr[-2000:]}"
    return Ran(passed, tests.stdout, imports.stdout)


@every_addition
def test_the_checklist_names_every_place_and_no_other(addition: Addition) -> None:
    paths = addition.paths()
    files = {name for name in added_files() if Path(name).stem.removeprefix("test_") == addition.file}
    changed = {path for path in paths if path.endswith("__init__.py")}
    described = {path for path in paths if path in GENERATED or path.endswith(".md")}
    assert set(paths) == files | changed | described
    assert len(paths) == len(files) + 1 + len(described)


def test_what_is_added_by_its_checklist_passes_the_contract_tests_its_own_and_the_import_contracts(
    tmp_path: Path,
) -> None:
    ran = run_in_a_copy(tmp_path / "lineup")
    for addition in ADDITIONS:
        assert [test for test in ran.passed if re.search(rf"^tests/contracts/.*[\[-]{addition.name}[\]-]", test)]
        is_here = not any(path.startswith(OF_MODELS) for path in addition.paths())
        assert bool([test for test in ran.passed if f"test_{addition.file}.py" in test]) == is_here
    # A kind goes through every page and meets every rule.
    tried = {test.partition("::")[0].rpartition("/")[2] for test in ran.passed if "mood_scale" in test}
    assert tried >= {"test_kinds.py", "test_kinds_on_pages.py", "test_mood_scale.py", "test_drawings.py"}
    rules = {test.partition("[")[2].rstrip("]") for test in ran.passed if "::test_a_verdict_is_whole[" in test}
    assert rules == {*RULES, "unanimous-v1"}
    assert any("published_schema" in test for test in ran.passed)
    assert " 0 broken." in ran.imports
