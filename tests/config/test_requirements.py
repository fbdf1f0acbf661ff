"""`make demo` installs requirements.txt alone: what the application imports must be in it.

Only scorers, a maker and filters import more, when they load a model: that is in requirements-gpu.txt. So does what
trains the demo's model: that is in requirements-training.txt, beside it.
"""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = {"config", "simulation", "workspace", "results", "annotation", "making", "evaluation", "predictions", "studies"}
OURS |= {"analytics", "background", "throttle", "training", "manage"}
SCORERS = ROOT / "predictions" / "scorers"
# What makers and filters load on workers with models.
DIFFUSERS = ROOT / "making" / "makers" / "diffusers.py"
LANGUAGE_MODELS = ROOT / "making" / "language_models"
TEXT_MODELS = ROOT / "making" / "text_models.py"
# What trains models there.
RECIPES = [ROOT / "training" / name for name in ("recipes", "checkpoints.py", "loop.py", "losses.py", "batches.py")]
RECIPES += [ROOT / "training" / name for name in ("processes.py", "steps.py", "towers.py")]
WITH_MODELS = (SCORERS, DIFFUSERS, LANGUAGE_MODELS, TEXT_MODELS, *RECIPES)
TRAINING = ROOT / "simulation" / "demo" / "model_training.py"
# Used only where it is installed (requirements.in says so).
OPTIONAL = {"faiss"}
# Import name -> what its package is called, where that is something else. Few of them are installed for these tests.
PACKAGES = {"open_clip": "open-clip-torch", "open_clip_train": "open-clip-torch", "PIL": "pillow"}


def _imported(by: Path | None = None) -> set[str]:
    """Return the outside packages that the application imports, anywhere in its code but with models, or only `by`."""
    found = set()
    for room in OURS:
        for file in [ROOT / f"{room}.py", *(ROOT / room).rglob("*.py")]:
            if next(filter(file.is_relative_to, (*WITH_MODELS, TRAINING)), None) != by:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")):
                if isinstance(node, ast.Import):
                    found |= {name.name.split(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
    return found - OURS - sys.stdlib_module_names


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pinned(name: str) -> dict[str, str]:
    """Return package -> version of a file of requirements."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [line.partition("==") for line in lines if line and not line.startswith((" ", "#"))]
    return {_normal(package.split("[")[0]): version.removesuffix(" \\") for package, _, version in pins}


def test_what_sites_run_is_installed_only_as_it_was_published() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = [number for number, line in enumerate(lines) if "==" in line]
    assert len(pinned) == len(_pinned("requirements.txt")) > 50
    assert [lines[number] for number in pinned if "--hash=sha256:" not in lines[number + 1]] == []


def test_scorers_and_makers_import_what_a_worker_with_models_has() -> None:
    found = {name for place in WITH_MODELS for name in _imported(place)}
    imported = {_normal(PACKAGES.get(name, name)) for name in found}
    assert {"torch", "transformers", "open-clip-torch", "diffusers", "httpcore2", "pydantic"} <= imported
    assert imported <= _pinned("requirements-gpu.txt").keys()


def test_what_only_tests_of_models_need_fits_what_a_worker_has() -> None:
    worker, tests = _pinned("requirements-gpu.txt"), _pinned("requirements-models.txt")
    assert {"openai", "fastapi", "uvicorn"} <= tests.keys() - worker.keys()
    assert {name: tests[name] for name in tests.keys() & worker.keys() if tests[name] != worker[name]} == {}


def test_training_imports_what_is_installed_for_it() -> None:
    imported = {_normal(PACKAGES.get(name, name)) for name in _imported(TRAINING)}
    assert "torch" in imported
    assert imported <= _pinned("requirements-gpu.txt").keys()
    # What writes its file is imported by torch.
    assert {"onnx", "onnxscript"} <= _pinned("requirements-training.txt").keys()


def test_both_ends_of_a_message_have_the_same_versions() -> None:
    site, worker = _pinned("requirements.txt"), _pinned("requirements-gpu.txt")
    assert {"celery", "kombu", "redis", "pillow", "numpy"} <= site.keys() & worker.keys()
    assert {name: worker[name] for name in site.keys() & worker.keys() if site[name] != worker[name]} == {}


def test_a_worker_without_a_gpu_is_not_made_to_have_what_gpus_need() -> None:
    assert not [name for name in _pinned("requirements-gpu.txt") if name.startswith(("nvidia", "cuda", "triton"))]


def test_everything_the_application_imports_is_required_at_run_time() -> None:
    required = _pinned("requirements.txt").keys() | _pinned("requirements-video.txt").keys()
    known = packages_distributions()
    imported = _imported()
    assert {"django", *OPTIONAL} <= imported
    imported -= OPTIONAL
    assert {name for name in imported if not {_normal(made) for made in known.get(name, ())} & required} == set()
