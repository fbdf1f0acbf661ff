"""Tables of the papers: from the real files beside the published figures, and from small ones counted by hand."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from simulation.management.commands.replay_papers import BEGIN, END, replace_section
from simulation.replay.papers import paper_tables
from simulation.replay.papers.base import PaperRow, PaperTable, as_markdown
from tests.studies.real_data import REAL_DATA, needs_real_data
from training.recipes import RECIPES

PAGE = Path(__file__).resolve().parents[3] / "docs/replay.md"


def table(tables: list[PaperTable], paper: str, start: str) -> PaperTable:
    (found,) = [each for each in tables if each.paper.startswith(paper) and each.title.startswith(start)]
    return found


def row(of: PaperTable, who: str) -> PaperRow:
    (found,) = [each for each in of.rows if each.who == who]
    return found


@needs_real_data
def test_the_real_files_give_the_published_figures_and_the_page_has_them() -> None:
    tables = paper_tables(REAL_DATA)
    compared = [each.compared() for each in tables]
    assert (sum(n for n, _ in compared), sum(equal for _, equal in compared)) == (84, 83)
    # Today's file lacks an item of the paper's.
    items = row(table(tables, "SugarCrepe", "Items"), "Items")
    assert (items.published["swap_obj"], items.computed["swap_obj"]) == ("246", "245")
    # misc/main_results.PNG in IMirandaM/BiVLC.
    clip = row(table(tables, "BiVLC", "Table 3"), "CLIP")
    assert clip.computed == {"SugarCrepe": "76.56", "I2T": "75.83", "T2I": "52.40", "Group": "49.06"}
    # 198 of 246 in gpt-4v-results/readme.md of RAIVNLab/sugar-crepe.
    assert row(table(tables, "SugarCrepe", "GPT-4V"), "GPT-4V (negative first)").computed["swap_obj"] == "80.49"
    text = as_markdown(tables)
    page = PAGE.read_text(encoding="utf-8")
    assert replace_section(page, text) == page, "Run replay_papers --data ../shared/data --into docs/replay.md."


def test_without_files_every_row_says_what_it_needs(tmp_path: Path) -> None:
    rows = [each for of in paper_tables(tmp_path) for each in of.rows]
    assert [each.who for each in rows if each.computed] == ["Random", "Random"]
    assert all(each.needs.startswith(("needs ", "not checked")) for each in rows if not each.computed)


def test_each_paper_lists_what_the_platform_does_not_compute_and_which_recipe_would_help(tmp_path: Path) -> None:
    text = as_markdown(paper_tables(tmp_path))
    for line in (
        "| BiVLC (Miranda et al. 2024) | Tables that are not listed | nothing | "
        "Tables 2, 4, 6 and all after 7: not checked |",
        "| BiVLC (Miranda et al. 2024) | Text detectors on SugarCrepe | nothing | CLIP_baseline, CLIP_TROHN-Img: needs "
        "the weights of the text detectors (`train detector-text` trains such ones) |",
        "| SugarCrepe (Hsieh et al. 2023) | Tables that are not listed | nothing | All others: not checked |",
        "| ARO (Yuksekgonul et al. 2023) | Tables that are not listed | nothing | All others: not checked |",
        "| RoCOCO (Park et al. 2024) | Recall after training with the paper's losses | nothing | Semantic and visual "
        "contrastive loss: needs COCO's photos and weights (`train rococo` trains such a model) |",
    ):
        assert line in text.splitlines()
    rows = table(paper_tables(tmp_path), "ImageCoDe", "CLIP, ViLBERT").rows
    # Five variants of CLIP in baselines/README.md of McGill-NLP/imagecode.
    assert [each.who for each in rows] == [
        "CLIP zero-shot",
        "CLIP non-contrastive",
        "CLIP +ContextBatch",
        "CLIP +ContextModule",
        "CLIP +TemporalEmbeddings",
        "ViLBERT and UNITER, all variants",
    ]
    assert set(re.findall(r"`train ([a-z-]+)`", text)) <= set(RECIPES)


def test_figures_are_counted_in_the_files_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "imagecode"
    folder.mkdir()
    content = {"open-images-1_a": {"0": "One.", "3": "Two."}, "YouCook-video1-shot1_0": {"5": "Three."}}
    (folder / "train_data.json").write_text(json.dumps(content))
    (folder / "valid_data.json").write_text(json.dumps({"MSR-VTT-video2-shot1_0": {"1": "Four."}}))
    sizes = table(paper_tables(tmp_path), "ImageCoDe", "Table 1")
    train = row(sizes, "train").computed
    assert (train["sets"], train["images"], train["descriptions"], train["static descriptions"]) == (
        "2",
        "20",
        "3",
        "2",
    )
    assert row(sizes, "all").needs == "needs the files of all splits"
    (folder / "test_data_unlabeled.json").write_text(json.dumps({"open-images-2_b": ["Five."]}))
    assert row(table(paper_tables(tmp_path), "ImageCoDe", "Table 1"), "all").computed == {
        "images": "40",
        "descriptions": "5",
    }


def test_differences_are_counted_and_named() -> None:
    rows = [
        PaperRow("CLIP", {"I2T": "75.83", "T2I": "52.40"}, {"I2T": "75.83", "T2I": "52.41", "n": "3"}),
        PaperRow("BLIP", {"I2T": "80.00"}, needs="needs weights"),
    ]
    text = as_markdown([PaperTable("A paper", "Table 9", "its abstract", rows)])
    assert "2 published figures were computed from the files, 1 of them with the same result." in text
    assert "Different: CLIP, T2I: published 52.40, computed 52.41." in text
    assert "| A paper | Table 9 | CLIP | BLIP: needs weights |" in text
    assert "| CLIP | computed | 75.83 | 52.41 | 3 |" in text


def test_the_command_writes_a_section_and_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no folder"):
        call_command("replay_papers", data=tmp_path / "none")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    call_command("replay_papers", data=tmp_path, into=page, stdout=StringIO())
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n") and text.endswith(f"{END}\nafter\n")  # noqa: PT018
    assert "old" not in text
    page.write_text("no marks")
    with pytest.raises(CommandError, match="It needs the lines"):
        call_command("replay_papers", data=tmp_path, into=page)
    assert page.read_text() == "no marks"
    (tmp_path / "rococo").mkdir()
    (tmp_path / "rococo/danger.json").write_text("{}")
    with pytest.raises(CommandError, match="list"):
        call_command("replay_papers", data=tmp_path)
