"""The file of each page is what its modules give, and joining them changes nothing that they do."""

from pathlib import Path

import pytest

from scripts.join_modules import ENTRIES, MODULES, join

ONE = """\
// Counts.

import "./first.js";
import { double, start } from "./two.js";

let count = start;
export async function next() {
  return double(count);
}
export const last = () => count;
"""
TWO = """\
const count = 1;
export const start = count;
export function double(number) {
  return 2 * number;
}
"""
FIRST = 'console.log("first");\n'
ENTRY = 'import { next } from "./one.js";\nimport { start } from "./two.js";\n\nawait next(start);\n'
WHOLE = """\
// Made of static/js/entry.js and what it imports, by: python -m scripts.join_modules

// first.js
(() => {
console.log("first");
})();

// two.js
const $two = (() => {
const count = 1;
const start = count;
function double(number) {
  return 2 * number;
}
return { start, double };
})();

// one.js
const $one = (() => {
// Counts.

const { double, start } = $two;

let count = start;
async function next() {
  return double(count);
}
const last = () => count;
return { next, last };
})();

const { next } = $one;
const { start } = $two;

await next(start);
"""


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    for name, text in {"entry": ENTRY, "one": ONE, "two": TWO, "first": FIRST}.items():
        (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_file_of_a_page_is_what_its_modules_give(entry: str) -> None:
    published = (MODULES / f"whole/{entry}.js").read_text(encoding="utf-8")
    assert published == join(entry, modules=MODULES), "Run: python -m scripts.join_modules"


def test_no_file_is_left_of_a_page_that_is_no_more() -> None:
    assert {path.stem for path in (MODULES / "whole").iterdir()} == set(ENTRIES)


def test_each_module_stands_once_before_those_that_need_it(modules: Path) -> None:
    assert join("entry", modules=modules) == WHOLE


@pytest.mark.parametrize(
    "line",
    [
        'import * as two from "./two.js";',
        'import { double as twice } from "./two.js";',
        'import start from "./two.js";',
        'import "./two.js"; start();',
        "export let changing = 1;",
        "export default 1;",
        "export const [one, other] = [1, 2];",
        "export { start };",
    ],
)
def test_what_cannot_be_joined_is_refused_by_its_line(modules: Path, line: str) -> None:
    (modules / "first.js").write_text(f"// First.\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"first\.js, line 2"):
        join("entry", modules=modules)


def test_modules_that_need_each_other_are_refused(modules: Path) -> None:
    (modules / "two.js").write_text('import { next } from "./one.js";\n', encoding="utf-8")
    with pytest.raises(ValueError, match="entry needs one needs two needs one"):
        join("entry", modules=modules)
