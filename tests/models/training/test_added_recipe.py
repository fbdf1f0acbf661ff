"""The recipe that `tests/contracts/test_checklists.py` adds by its checklist: its own test, which needs torch."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ADDED = ROOT / "tests/contracts/added"
# What training and its tests import.
FOLDERS = ("analytics", "evaluation", "making", "predictions", "simulation", "studies", "training")
RECIPE, TEST = "training/recipes/images_choose.py", "tests/models/training/test_images_choose.py"
LINE = '    "images-choose": "training.recipes.images_choose.ImagesChoose",\n'


def test_it_trains_a_tiny_model_in_a_copy_of_the_tree(tmp_path: Path) -> None:
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copytree(ROOT / "tests/models", tmp_path / "tests/models")
    shutil.copy(ROOT / "tests/__init__.py", tmp_path / "tests")
    for name in (RECIPE, TEST):
        shutil.copy(ADDED / f"{name}.txt", tmp_path / name)
    registry = tmp_path / "training/recipes/__init__.py"
    before = registry.read_text(encoding="utf-8")
    registry.write_text(before.replace("RECIPES = {\n", f"RECIPES = {{\n{LINE}"), encoding="utf-8")
    told = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "tests/models/pytest.ini"),
            *("--rootdir", ".", "--confcutdir", "tests/models", TEST),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "2 passed" in told.stdout
