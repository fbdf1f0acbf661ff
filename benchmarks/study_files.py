"""Compare how two versions of Lineup read study files.

    python -m benchmarks.study_files corpus corpus.json           # once\n    python -m benchmarks.study_files record
corpus.json a.json    # in each version\n    python -m benchmarks.study_files compare a.json b.json

The corpus is every text with a `study` in the protocols, the docs and the tests, and 1,000 of them with seeded changes.
To record a version that lacks this file, copy it there.

Recorded are the problems with their lines, the verdict of the published schema, the stored form, the reading of the
forms that older versions stored, the study file written out, and the HTML of the form.
"""

import argparse
import ast
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import django
import jsonschema
import yaml
from django.conf import settings
from django.test import override_settings

ROOT = Path(__file__).resolve().parent.parent
SEED, MUTANTS = 24, 1000
# Static files need not be collected.
PLAIN = "django.contrib.staticfiles.storage.StaticFilesStorage"
STUDY = re.compile(r"(^|\n|\{)study: ")
VALUES: list[Any] = [0, -1, 3, 5000, 0.5, True, None, "", "x", "Best Vase", "8.5", "eu", "a" * 400, [], ["a", "a"], {}]
# Fields of each version of stored designs that the one before lacks.
ADDED: dict[int, list[tuple[str, ...]]] = {
    5: [("pay", "least_answers")],
    4: [("conditions",)],
    3: [("lobby",), ("eligibility",), ("answering", "record_writing"), ("pay", "per_answer")],
    2: [("language",), ("contact",), ("answering",), ("endings",), ("time", "more_minutes")],
    1: [("recruitment", "any_ids"), ("purpose",), ("dataset",), ("max_answers",), ("parts",)],
}


def texts() -> Iterator[str]:
    """Yield every study file, and every text that looks like one, as often as it occurs."""
    for file in sorted((ROOT / "studies" / "designs").glob("*.yaml")):
        yield file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "docs").rglob("*.md")):
        yield from re.findall(r"```ya?ml\n(.*?)```", file.read_text(encoding="utf-8"), re.S)
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and STUDY.search(node.value):
                yield node.value


def make_corpus() -> list[str]:
    base = list(dict.fromkeys(texts()))
    parsed = [values for values in map(_parsed, base) if values]
    rng = random.Random(SEED)
    return base + [yaml.safe_dump(_mutated(rng, rng.choice(parsed), parsed), sort_keys=False) for _ in range(MUTANTS)]


def _parsed(text: str) -> dict[str, Any]:
    try:
        values = json.loads(json.dumps(yaml.safe_load(text)))
    except (yaml.YAMLError, TypeError, ValueError):
        return {}
    return values if isinstance(values, dict) and "title" in values else {}


def _mutated(rng: random.Random, values: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `values` with one to three changes: a value replaced, left out, renamed, or taken from another file."""
    values = json.loads(json.dumps(values))
    for _ in range(rng.choice([1, 1, 2, 3])):
        section, name = rng.choice(list(_places(values)) or [(values, "study")])
        match rng.randrange(4):
            case 0:
                section[name] = rng.choice(VALUES)
            case 1:
                section.pop(name, None)
            case 2:
                section[rng.choice([*rng.choice(others), "colour"])] = section.pop(name, None)
            case 3:
                values |= dict([rng.choice(list(json.loads(json.dumps(rng.choice(others))).items()))])
    return values


def _places(values: Any) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(values, dict):
        for name, value in values.items():
            yield values, name
            yield from _places(value)
    elif isinstance(values, list):
        for value in values:
            yield from _places(value)


def record(corpus: list[str]) -> list[dict[str, Any]]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    return [_record(text) for text in corpus]


def _record(text: str) -> dict[str, Any]:
    from django.template.loader import render_to_string

    from studies.design import DesignRefused, read_design
    from studies.design.schema import study_schema

    build_form = _first_of("form_fields.build_form", "fields.form_of")
    read_values = _first_of("parser.read_values", "reading.read_values")
    write_study_file = _first_of("copies.write_study_file", "copying.written")
    found: dict[str, Any] = {}
    problems = []
    try:
        design = read_design(text)
        found |= {"stored": json.dumps(design.to_stored()), "written": write_study_file(design)}
        found["older"] = list(_older(design.to_stored()))
    except DesignRefused as error:
        problems = error.problems
        found["problems"] = [[problem.line, problem.message] for problem in problems]
    try:
        values, lines = read_values(text)
    except DesignRefused:
        return found
    found["fits"] = jsonschema.Draft202012Validator(study_schema()).is_valid(values)
    form = {"form": build_form(values, lines, problems), "project": {"slug": "any"}, "typed": text}
    with override_settings(STORAGES=settings.STORAGES | {"staticfiles": {"BACKEND": PLAIN}}):
        found["form"] = render_to_string("workspace/drafts/form.html", form)
    return found


def _first_of(*names: str) -> Any:
    """Return this version's attribute with one of these names; the last are from before decision 66."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        if find_spec(f"studies.design.{module}"):
            return getattr(import_module(f"studies.design.{module}"), attribute)
    raise ImportError(f"none of {', '.join(names)}")


def _older(stored: dict[str, Any]) -> Iterator[str]:
    """Yield this version's reading of the design in each older stored form."""
    from studies.design import Design

    stored = json.loads(json.dumps(stored))
    for version, added in ADDED.items():
        for *sections, name in added:
            section = stored
            for each in sections:
                section = section.get(each, {})
            section.pop(name, None)
        stored["version"] = version - 1
        yield json.dumps(Design.from_stored(stored).to_stored())


def compare(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> str:
    different = Counter(
        name for old, new in zip(before, after, strict=True) for name in old | new if old.get(name) != new.get(name)
    )
    return f"{len(before)} texts, different: {dict(different) or 'none'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["corpus", "record", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    *read, last = given.files
    if given.step == "corpus":
        last.write_text(json.dumps(make_corpus()), encoding="utf-8")
    elif given.step == "record":
        last.write_text(json.dumps(record(json.loads(read[0].read_text(encoding="utf-8")))), encoding="utf-8")
    else:
        print(compare(*(json.loads(file.read_text(encoding="utf-8")) for file in given.files)))


if __name__ == "__main__":
    main()
