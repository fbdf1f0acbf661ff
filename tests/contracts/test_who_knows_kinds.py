"""No module outside `studies/kinds` knows a kind by its name, or what a kind has frozen into a question."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from studies.kinds import KINDS
from tests.config.translations import ROOMS, ROOT

# What may name kinds: their own folder, history, and the replay of a paper that asked just these.
MAY_NAME_KINDS = ("studies/kinds/", "simulation/replay/")
# Templates of kinds may build upon one another.
MAY_NAME_TEMPLATES = ("templates/kinds/",)


def code() -> Iterator[tuple[str, ast.AST]]:
    for room in (*ROOMS, "analytics", "evaluation", "throttle"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if "/migrations/" not in name:
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    yield name, node


def test_no_module_names_a_kind() -> None:
    named = [
        f"{file}:{node.lineno}: {node.value!r}"
        for file, node in code()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.value in KINDS or re.search(rf"kinds/({'|'.join(KINDS)})\b", node.value))
        and not file.startswith(MAY_NAME_KINDS)
    ]
    assert named == []


def test_no_module_imports_a_kind() -> None:
    modules = {path.rpartition(".")[0] for path in KINDS.values()}
    imported = [
        f"{file}:{node.lineno}"
        for file, node in code()
        if (isinstance(node, ast.ImportFrom) and node.module in modules)
        or (isinstance(node, ast.Import) and modules & {name.name for name in node.names})
    ]
    assert [where for where in imported if not where.startswith(MAY_NAME_KINDS)] == []


def test_no_module_reads_the_content_of_a_question() -> None:
    read = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"
        for file, node in code()
        if isinstance(node, ast.expr) and not file.startswith("studies/kinds/") and _reads_content(node)
    ]
    assert read == []


def _reads_content(node: ast.expr) -> bool:
    """Return whether a key is taken out of something called content: `content["caption"]`, `asked.content.get(...)`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and _is_content(node.value) and isinstance(node.slice, ast.Constant)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "get" and _is_content(called.value)


def _is_content(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in {"content", "question_content"}


def test_no_template_names_a_kind() -> None:
    # A class of the stylesheet may be called as a kind is.
    named = re.compile(rf"""(?<!class=)["']({"|".join(KINDS)})["']|kinds/({"|".join(KINDS)})\.html""")
    naming = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for folder in ("templates", "static/js")
        for path in sorted(Path(ROOT, folder).rglob("*.*"))
        if path.suffix in {".html", ".js"}
        for found in named.finditer(path.read_text(encoding="utf-8"))
    ]
    assert [where for where in naming if not where.startswith(MAY_NAME_TEMPLATES)] == []
