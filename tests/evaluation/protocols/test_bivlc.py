from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from analytics.scores import Score
from evaluation.protocols import BenchmarkError, Breakdown, get_protocol
from tests.analytics.published import shared_json
from tests.evaluation.protocols.written import evaluated, matrices, plain, write
from tests.studies.real_data import REAL_DATA, needs_real_data

HEADER = "image,caption,negative_caption,negative_image,type,subtype\n"
RELEASE = {
    "bivlc.csv": f"{HEADER}"
    "a.jpg,A cat on a couch.,A dog on a couch.,an.jpg,replace,obj\n"
    "b.jpg,A red cup.,A blue cup.,bn.jpg,replace,att\n"
    "c.jpg,A dog.,A dog and a cat.,cn.jpg,add,obj\n"
}
protocol = get_protocol("bivlc")


def test_the_table_is_counted_from_strict_comparisons(tmp_path: Path) -> None:
    data = protocol.read(write(tmp_path, RELEASE))
    blocks = list(protocol.blocks(data))
    assert [list(block.images) for block in blocks] == [["a.jpg", "an.jpg"], ["b.jpg", "bn.jpg"], ["c.jpg", "cn.jpg"]]
    assert blocks[1].texts == ("A red cup.", "A blue cup.")
    chance = protocol.chance(data)
    assert (chance["I2T"], chance["T2I"], chance["Group"], chance["Ipos2T"]) == (0.25, 0.25, 1 / 6, 0.5)
    # Rows are images, columns captions, the positive ones first. All right; only the negative caption's image wrong;
    # the positive image ties between its captions.
    scores = matrices([[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.5], [0.1, 0.4]], [[0.5, 0.5], [0.3, 0.6]])
    came_out = evaluated("bivlc", tmp_path, scores)
    # First: 0.9>0.1, 0.8>0.2, 0.9>0.2, 0.8>0.1. Second: 0.9>0.5, 0.4>0.1, 0.9>0.1, but 0.4<0.5.
    # Third: 0.5=0.5, 0.6>0.3, 0.5>0.3, 0.6>0.5.
    questions = {"Ipos2T": (2, 3), "Ineg2T": (3, 3), "Tpos2I": (3, 3), "Tneg2I": (2, 3)}
    assert plain(came_out.whole) == {"I2T": (2, 3), "T2I": (2, 3), "Group": (1, 3)} | questions
    assert [(part.title, part.n, plain(part)["Group"]) for part in came_out.parts] == [
        ("replace", 2, (1, 2)),
        ("add", 1, (0, 1)),
        ("replace_obj", 1, (1, 1)),
        ("replace_att", 1, (0, 1)),
        ("add_obj", 1, (0, 1)),
    ]


def test_a_file_of_outcomes_is_joined_by_captions_in_any_order(tmp_path: Path) -> None:
    results = tmp_path / "BiVLC_model.csv"
    header = "caption,negative_caption,type,subtype,text_score_i0,text_score_i1,image_score_c0,image_score_c1\n"
    rows = [
        "A dog.,A dog and a cat.,add,obj,True,True,True,True\n",
        "A cat on a couch.,A dog on a couch.,replace,obj,False,True,True,True\n",
        "A red cup.,A blue cup.,replace,att,True,True,True,False\n",
    ]
    results.write_text(header + "".join(rows))
    data = protocol.read(write(tmp_path, RELEASE))
    came_out = protocol.tables(data, protocol.read_published(data, results))
    assert [(part.title, plain(part)["I2T"], plain(part)["T2I"]) for part in came_out.parts[2:]] == [
        ("replace_obj", (0, 1), (1, 1)),
        ("replace_att", (1, 1), (0, 1)),
        ("add_obj", (1, 1), (1, 1)),
    ]
    results.write_text(header + "".join(rows[:2]))
    with pytest.raises(BenchmarkError, match=r"has no record for 1 of 3 instances\. The first is 'A red cup\.'"):
        protocol.read_published(data, results)
    results.write_text(header + "".join([*rows, "A cow.,A hen.,add,obj,True,True,True,True\n"]))
    with pytest.raises(BenchmarkError, match=r"Record 4 matches no instance of the benchmark: 'A cow\.'"):
        protocol.read_published(data, results)


def test_detectors_are_about_the_instances_in_their_order(tmp_path: Path) -> None:
    results = tmp_path / "BiVLC_Classifier_x.csv"
    # The k-th natural row and the k-th synthetic row are one instance. Of the first, the texts are told apart and both
    # images seen for what they are; of the second, the texts are not; of the third, its caption rounds to synthetic.
    natural, synthetic = ["0.1,0.1,0", "0.4,0.1,0", "0.6,0.1,0"], ["0.9,0.9,1", "0.3,0.9,1", "0.8,0.9,1"]
    results.write_text("text_pred,img_pred,label\n" + "\n".join([*natural, *synthetic]) + "\n")
    data = protocol.read(write(tmp_path, RELEASE))
    came_out = protocol.tables(data, protocol.read_published(data, results))
    assert plain(came_out.whole) == {
        "I2T": (2, 3),
        "T2I": (1, 3),
        "Group": (1, 3),
        "Ipos2T": (2, 3),
        "Ineg2T": (2, 3),
        "Tpos2I": (2, 3),
        "Tneg2I": (2, 3),
        # Of six captions, .3 and .6 are taken for what they are not.
        "Text detection": (4, 6),
        "Image detection": (6, 6),
    }
    results.write_text("text_pred,img_pred,label\n0.1,0.1,0\n0.9,0.9,1\n")
    with pytest.raises(BenchmarkError, match="is about 1 instances, and there are 3"):
        protocol.read_published(data, results)
    results.write_text("text_pred,label\n" + "0.1,0\n" * 3 + "0.9,1\n" * 3)
    with pytest.raises(BenchmarkError, match="has no column img_pred"):
        protocol.read_published(data, results)


MANIFEST = (
    "filename,caption,negative_caption,type,subtype,index,hn_img_0,hn_img_1,hn_img_2,hn_img_3\n"
    "1.jpg, a DJ,a dog,replace,obj,0,0.jpg,1.jpg,2.jpg,3.jpg\n"
    "2.jpg,a cat,a hen,replace,obj,1,0.jpg,1.jpg,2.jpg,3.jpg\n"
)


def test_the_manifest_and_what_was_accepted_say_all_but_the_images(tmp_path: Path) -> None:
    accepted = "index,accepted,release_row\n0,true,0\n1,false,\n"
    data = protocol.read(write(tmp_path, {"BiVLC_negative_imgs.csv": MANIFEST, "accepted.csv": accepted}))
    assert [(one.caption, one.negative_caption) for one in data.described] == [("A dj.", "A dog.")]
    write(tmp_path, {"accepted.csv": "index,accepted,release_row\n0,true,1\n1,true,0\n"})
    assert [one.caption for one in protocol.read(tmp_path).described] == ["A cat.", "A dj."]
    with pytest.raises(BenchmarkError, match="do not say which image was chosen"):
        list(protocol.blocks(data))


FILES = {
    "ViT-B-32": ("bivlc", "ViT-B-32", "BiVLC_ViT-B-32.csv"),
    "CLIP_COCO": ("bivlc", "CLIP_COCO", "BiVLC_CLIP_COCO.csv"),
    "detectors": ("detectors", "CLIP_baseline", "BiVLC_Classifier_CORRECT_CLIP_baseline.csv"),
}


def counts(part: Breakdown) -> dict[str, tuple[Any, Decimal | None]]:
    return {name: (cell.count, cell.percent()) for name, cell in part.cells.items()}  # type: ignore[union-attr]


def expected(cells: dict[str, Any]) -> dict[str, tuple[int, Decimal]]:
    names = ("I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I")
    return {name: (cells[name]["count"], Decimal(f"{cells[name]['percent']:.2f}")) for name in names}


@needs_real_data
@pytest.mark.parametrize("model", FILES)
def test_the_real_files_come_out_as_the_paper_has_them(model: str) -> None:
    kind, name, file = FILES[model]
    paper = shared_json("metrics.json")[kind][name]
    data = protocol.read(REAL_DATA / "bivlc")
    came_out = protocol.tables(data, protocol.read_published(data, REAL_DATA / "bivlc/results" / file))
    assert came_out.whole.n == 2933
    cells = dict(came_out.whole.cells)
    accuracies = {title: cells.pop(title, None) for title in ("Text detection", "Image detection")}
    assert counts(replace(came_out.whole, cells=cells)) == expected(paper.get("overall", paper))
    for title, accuracy in accuracies.items():
        if model == "detectors":
            # Table 5 has whole percents: 57 and 100.
            published = paper[f"{title.partition(' ')[0].lower()}_detection_accuracy"]
            assert isinstance(accuracy, Score)
            assert (accuracy.count, accuracy.n) == (published["count"], published["n"])
            assert round(100 * accuracy.count / accuracy.n) == published["published"]
        else:
            assert accuracy is None
    groups = paper.get("by_type", {}) | paper.get("by_type_subtype", {})
    for part in came_out.parts if groups else ():
        assert (part.n, counts(part)) == (groups[part.title]["n"], expected(groups[part.title]))
    assert not groups or {part.title for part in came_out.parts} == set(groups)
