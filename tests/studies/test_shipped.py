from pathlib import Path

from studies.design import read_design
from studies.shipped_designs import shipped_designs

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "designs"


def test_every_study_file_of_the_folder_is_offered_and_says_what_it_is_for() -> None:
    found = shipped_designs()
    assert list(found) == sorted(path.stem for path in FOLDER.glob("*.yaml"))
    assert len(found) >= 10
    for each in found.values():
        assert len(each.about) > 40
        assert "schema" not in each.about


def test_a_copy_is_the_same_study_without_the_line_for_editors() -> None:
    for name, each in shipped_designs().items():
        original = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
        assert "yaml-language-server" in original
        assert "yaml-language-server" not in each.source
        assert read_design(each.source) == read_design(original)


def test_the_first_lines_say_what_it_is_for() -> None:
    step_3 = shipped_designs()["bivlc-step-3"]
    assert step_3.title == "Which image fits the description?"
    assert step_3.about.startswith("BiVLC, step 3 (Miranda et al. 2024): pick the best of four generated images")
    assert step_3.about.endswith("answered by two people.")
