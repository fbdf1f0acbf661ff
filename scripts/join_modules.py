"""Join each page's modules into one file: python -m scripts.join_modules.

For each entry in `static/js`, writes a file in `static/js/whole` with the entry and all its imports, in the order in
which a browser would run them. Each module becomes a function, which keeps its names private and returns its exports.
"""

import re
from collections.abc import Iterator
from pathlib import Path

MODULES = Path(__file__).resolve().parent.parent / "static/js"
ENTRIES = ("work", "practising", "ending", "page")
_IMPORT = re.compile(r'^import (?:(?P<names>\{ \w+(?:, \w+)* \}) from )?"\./(?P<module>\w+)\.js";$')
_EXPORT = re.compile(r"^export (?P<kept>(?:(?:async )?function|const) (?P<name>\w+).*)$")


def main() -> None:
    whole = MODULES / "whole"
    whole.mkdir(exist_ok=True)
    for entry in ENTRIES:
        (whole / f"{entry}.js").write_text(join(entry, modules=MODULES), encoding="utf-8")


def join(entry: str, *, modules: Path) -> str:
    """Return the text of `entry` after the modules that it needs, each once.

    Raises ValueError for circular imports, and for an import or export of another form than `import { one, other } from
    "./module.js";` and `export const`, `export function`, `export async function`.
    """
    head = f"// Made of static/js/{entry}.js and what it imports, by: python -m scripts.join_modules\n"
    parts = [
        _entry_lines(name, modules=modules) if name == entry else _function_lines(name, modules=modules)
        for name in _in_order(entry, modules=modules, above=())
    ]
    return "\n".join([head, *parts])


def _in_order(name: str, *, modules: Path, above: tuple[str, ...]) -> list[str]:
    if name in above:
        raise ValueError(f"{' needs '.join([*above, name])}.")
    needed = [_IMPORT.match(line) for line in _lines(name, modules=modules)]
    before = (_in_order(found["module"], modules=modules, above=(*above, name)) for found in needed if found)
    return list(dict.fromkeys([*(each for names in before for each in names), name]))


def _lines(name: str, *, modules: Path) -> list[str]:
    return (modules / f"{name}.js").read_text(encoding="utf-8").splitlines()


def _entry_lines(name: str, *, modules: Path) -> str:
    return "".join(f"{line}\n" for line in _strip_module_syntax(name, modules=modules, exported=[]))


def _function_lines(name: str, *, modules: Path) -> str:
    exported: list[str] = []
    # Not indented: that would change template literals.
    body = list(_strip_module_syntax(name, modules=modules, exported=exported))
    if exported:
        body.append(f"return {{ {', '.join(exported)} }};")
    handed_over = f"const ${name} = " if exported else ""
    return "\n".join([f"// {name}.js", f"{handed_over}(() => {{", *body, "})();", ""])


def _strip_module_syntax(name: str, *, modules: Path, exported: list[str]) -> Iterator[str]:
    """Yield the module's lines as a function body, and add the names that it exports to `exported`."""
    for number, line in enumerate(_lines(name, modules=modules), 1):
        if found := _IMPORT.match(line):
            if found["names"]:
                yield f"const {found['names']} = ${found['module']};"
        elif found := _EXPORT.match(line):
            exported.append(found["name"])
            yield found["kept"]
        elif re.match(r"(import|export)\b", line):
            raise ValueError(f"{name}.js, line {number}: this form of import or export cannot be joined: {line}")
        else:
            yield line


if __name__ == "__main__":
    main()
