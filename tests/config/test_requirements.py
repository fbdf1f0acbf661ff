"""`make demo` installs requirements.txt alone: what the application imports must be in it."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = {
    "config",
    "rehearsal",
    "workspace",
    "results",
    "annotation",
    "predictions",
    "studies",
    "analytics",
    "background",
    "throttle",
    "manage",
}


def _imported() -> set[str]:
    """Return the outside packages that the application imports, anywhere in its code."""
    found = set()
    for room in OURS:
        for file in [ROOT / f"{room}.py", *(ROOT / room).rglob("*.py")]:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")):
                if isinstance(node, ast.Import):
                    found |= {name.name.split(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
    return found - OURS - sys.stdlib_module_names


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_everything_the_application_imports_is_required_at_run_time() -> None:
    required = {
        _normal(line.split("==")[0].split("[")[0])
        for file in ("requirements.txt", "requirements-video.txt")
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines()
        if line and not line.startswith((" ", "#"))
    }
    known = packages_distributions()
    imported = _imported()
    assert "django" in imported
    assert {name for name in imported if not {_normal(made) for made in known.get(name, ())} & required} == set()
