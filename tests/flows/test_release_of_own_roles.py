"""Pictures imported under roles of a researcher's own leave in every format, byte for byte."""

import csv
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import PIL.Image
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from results.actions.exports import write_export
from results.exporting import get_writer
from results.models import Release
from studies.actions.imports.importer import import_files
from studies.actions.projects.datasets import set_dataset
from studies.models import Instance, InstanceImage, Project, Study
from tests.factories import NOON, TESTS, arrive_at_work, make_member, make_project
from tests.pages import words_of
from tests.results.pipelines import open_study, sit_through
from tests.workspace.api.asking import script_of

pytestmark = pytest.mark.django_db

Pictures = Mapping[str, bytes]


def png(number: int) -> bytes:
    out = io.BytesIO()
    PIL.Image.new("RGB", (8, 6), (number, 50, 90)).save(out, "PNG")
    return out.getvalue()


def imported(folder: Path, rows: Iterable[Mapping[str, str]], mapping: Mapping[str, str]) -> tuple[Project, Pictures]:
    """Import a CSV whose cells ending in .png are pictures; return the project and file name -> bytes."""
    rows = list(rows)
    names = [value for row in rows for value in row.values() if value.endswith(".png")]
    pictures = {name: png(number) for number, name in enumerate(dict.fromkeys(names))}
    (folder / "pics").mkdir()
    for name, content in pictures.items():
        (folder / "pics" / name).write_bytes(content)
    table = folder / "mine.csv"
    with table.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    project = make_project()
    import_files(
        project=project,
        files=[table],
        format="table",
        mapping=mapping,
        images_dir=folder / "pics",
        by=TESTS,
        now=NOON,
    )
    return project, pictures


def released(folder: Path, study: str, format: str, name: str = "v1") -> Path:
    out = folder / f"out-{format}"
    call_command("release", "vases", study=study, name=name, format=format, out=out, stdout=io.StringIO())
    return out / f"{study}-{name}"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def stored(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a Hugging Face folder with the bytes of their pictures."""
    rows: list[dict[str, Any]] = pq.read_table(folder / "data").to_pylist()
    return rows


def others(row: Mapping[str, Any]) -> list[tuple[str, int, str, bytes]]:
    return [(each["role"], each["position"], each["filename"], each["image"]["bytes"]) for each in row["other_images"]]


PAIRS = [
    {
        "text": f"A red vase, no. {number}.",
        "foil": f"A blue vase, no. {number}.",
        "pic_true": f"{number}_a.png",
        "pic_foil": f"{number}_b.png",
        "answer": "caption",
        "shape no": f"{number + 7}",
    }
    for number in range(2)
]
PAIR_MAPPING = {
    "text": "caption:caption",
    "foil": "caption:negative_caption",
    "pic_true": "image:pic_true",
    "pic_foil": "image:pic_foil",
    "answer": "right",
}


def ambiguity(project: Project, slug: str = "ambiguity", **ask: str) -> Study:
    study = open_study(project, {"study": slug, "kind": "ambiguity", "ask": ask})
    sit_through(study, "ann", "original")
    return study


def make_pairs(folder: Path) -> Pictures:
    project, pictures = imported(folder, PAIRS, PAIR_MAPPING)
    ambiguity(project, original="pic_true", generated="pic_foil")
    return pictures


def test_the_roles_of_the_design_fill_the_pair_of_the_hugging_face_folder(tmp_path: Path) -> None:
    pictures = make_pairs(tmp_path)
    folder = released(tmp_path, "ambiguity", "hf")
    assert [(row["image"]["bytes"], row["negative_image"]["bytes"]) for row in stored(folder)] == [
        (pictures["0_a.png"], pictures["0_b.png"]),
        (pictures["1_a.png"], pictures["1_b.png"]),
    ]
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))["test"]
    assert loaded[1]["image"].getpixel((0, 0)) == PIL.Image.open(io.BytesIO(pictures["1_a.png"])).getpixel((0, 0))
    assert (loaded[0]["other_images"], loaded[0]["target"]) == ([], "caption")
    assert json.loads(loaded[0]["fields"]) == {"shape no": "7"}
    assert json.loads(loaded[0]["pair_roles"]) == {
        "caption": "caption",
        "image": "pic_true",
        "negative_caption": "negative_caption",
        "negative_image": "pic_foil",
    }


def test_the_tables_name_the_pictures_of_the_pair_and_their_files_lie_beside_them(tmp_path: Path) -> None:
    pictures = make_pairs(tmp_path)
    for format in ("csv", "jsonl", "parquet"):
        folder = released(tmp_path, "ambiguity", format)
        files = {path.name: path.read_bytes() for path in (folder / "images").iterdir()}
        assert files == {f"{sha(content)}.png": content for content in pictures.values()}
        described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
        assert [each["includes"] for each in described["distribution"] if "includes" in each] == ["images/*"]
    first = pd.read_csv(tmp_path / "out-csv" / "ambiguity-v1" / "instances.csv").iloc[0]
    true, foil = (f"{sha(pictures[name])}.png" for name in ("0_a.png", "0_b.png"))
    assert (first["image"], first["negative_image"]) == ("0_a.png", "0_b.png")
    assert (first["image_file"], first["negative_image_file"]) == (true, foil)
    assert json.loads(first["image_files"]) == {"pic_foil": [foil], "pic_true": [true]}
    assert first["target"] == "caption"
    # A column that the mapping does not name is kept as a note.
    assert json.loads(first["fields"]) == {"shape no": "7"}
    frame = pd.read_parquet(tmp_path / "out-parquet" / "ambiguity-v1" / "instances.parquet")
    assert [json.loads(fields) for fields in frame["fields"]] == [{"shape no": "7"}, {"shape no": "8"}]
    assert list(frame["image_sha256"]) == [sha(pictures["0_a.png"]), sha(pictures["1_a.png"])]
    assert {each["file"] for each in frame["images"][0]} == {true, foil}
    with (tmp_path / "out-jsonl" / "ambiguity-v1" / "instances.jsonl").open(encoding="utf-8") as lines:
        record = json.loads(next(lines))
    assert (record["image"], record["negative_image_sha256"]) == ("0_a.png", sha(pictures["0_b.png"]))
    assert json.loads(record["fields"]) == {"shape no": "7"}


def test_harnesses_get_every_question_and_every_picture_of_the_pairs(tmp_path: Path) -> None:
    pictures = make_pairs(tmp_path)
    questions = pq.read_table(released(tmp_path, "ambiguity", "harness") / "data").to_pylist()
    # Two captions for each of two pictures, and two pictures for each of two captions, of two instances.
    assert len(questions) == 8
    first = next(row for row in questions if row["question"].endswith("/0/image"))
    assert [picture["bytes"] for picture in first["images"]] == [pictures["0_a.png"]]
    assert first["captions"]["AB".index(first["answer"])] == "A red vase, no. 0."
    folder = released(tmp_path, "ambiguity", "clip-benchmark")
    with tarfile.open(folder / "selection" / "test" / "0.tar") as tar:
        texts = {name: (tar.extractfile(name) or io.BytesIO()).read() for name in tar.getnames()}
    assert texts["00000001.png"] == pictures["0_b.png"]
    assert texts["00000001.txt"] == b"A blue vase, no. 0.\nA red vase, no. 0."
    assert len(texts) == 4 * 3


def test_the_right_answer_of_the_source_is_shown_to_researchers_and_not_to_annotators(
    client: Client, tmp_path: Path
) -> None:
    rows = [dict(row, answer="pic_foil") for row in PAIRS]
    project, _ = imported(tmp_path, rows, PAIR_MAPPING)
    study = open_study(
        project,
        {"study": "ambiguity", "kind": "ambiguity", "ask": {"original": "pic_true", "generated": "pic_foil"}},
    )
    session = arrive_at_work(study, "ann")
    shown = client.get(f"/s/{session.token}/").content.decode()
    assert "A red vase" in shown
    assert "pic_foil" not in shown
    client.force_login(make_member(project, "viewer"))
    key = Instance.objects.get(source_row=1).key
    assert "Right answer in the source: pic_foil" in client.get(f"/projects/vases/instances/{key}/").content.decode()
    Instance.objects.filter(key=key).update(reference={})
    assert "Right answer in the source" not in client.get(f"/projects/vases/instances/{key}/").content.decode()


def test_a_foil_whose_role_is_called_image_stays_the_foil(tmp_path: Path) -> None:
    mapping = {**PAIR_MAPPING, "pic_true": "image:wahr_1", "pic_foil": "image:image"}
    project, pictures = imported(tmp_path, PAIRS, mapping)
    ambiguity(project, original="wahr_1", generated="image")
    row = stored(released(tmp_path, "ambiguity", "hf"))[0]
    assert (row["image"]["bytes"], row["negative_image"]["bytes"]) == (pictures["0_a.png"], pictures["0_b.png"])
    assert json.loads(row["pair_roles"])["image"] == "wahr_1"


def test_each_of_two_studies_of_a_dataset_fills_the_pair_by_its_own_design(tmp_path: Path) -> None:
    rows = [dict(PAIRS[0], kind="a"), dict(PAIRS[1], kind="b")]
    project, pictures = imported(tmp_path, rows, {**PAIR_MAPPING, "kind": "type"})
    studies = []
    for slug, type, original, generated in (
        ("first", "a", "pic_true", "pic_foil"),
        ("second", "b", "pic_foil", "pic_true"),
    ):
        ask = {"original": original, "generated": generated}
        file = {"study": slug, "kind": "ambiguity", "ask": ask, "instances": {"type": [type]}}
        studies.append(open_study(project, file))
        sit_through(studies[-1], "ann", "original")
    set_dataset(project=project, studies=studies, by=TESTS, now=NOON)
    call_command("release", "vases", name="v1", format="hf", out=tmp_path / "out", stdout=io.StringIO())
    (folder,) = (tmp_path / "out").iterdir()
    found = {row["type"]: (row["image"]["bytes"], row["negative_image"]["bytes"]) for row in stored(folder)}
    assert found == {
        "a": (pictures["0_a.png"], pictures["0_b.png"]),
        "b": (pictures["1_b.png"], pictures["1_a.png"]),
    }


def test_the_chosen_candidate_is_the_image_of_its_caption_and_all_candidates_stay(tmp_path: Path) -> None:
    rows = [{"text": "A red vase.", "one": "one.png", "two": "two.png", "photo": "photo.png"}]
    mapping = {"text": "caption:text", "one": "image:try", "two": "image:try", "photo": "image:photo"}
    project, pictures = imported(tmp_path, rows, mapping)
    ask = {"caption": "text", "images": "try", "becomes": "best"}
    study = open_study(project, {"study": "choose", "kind": "best_of_n", "ask": ask})
    sit_through(study, "ann", "try-1")
    (row,) = stored(released(tmp_path, "choose", "hf"))
    assert (row["image"]["bytes"], row["caption"]) == (pictures["two.png"], "A red vase.")
    assert (row["negative_image"], row["negative_caption"]) == (None, None)
    assert sorted(others(row)) == [
        ("photo", 0, "photo.png", pictures["photo.png"]),
        ("try", 0, "one.png", pictures["one.png"]),
        ("try", 1, "two.png", pictures["two.png"]),
    ]
    (sample,) = pq.read_table(released(tmp_path, "choose", "parquet") / "instances.parquet").to_pylist()
    assert (sample["image"], sample["image_sha256"]) == ("two.png", sha(pictures["two.png"]))


def test_the_page_of_releases_warns_of_columns_that_no_role_fills(client: Client, tmp_path: Path) -> None:
    """The design names neither caption: the image's goes to `caption`, and the foil to no column."""
    mapping = {**PAIR_MAPPING, "text": "caption:true_sentence", "foil": "caption:foil", "answer": "other"}
    project, _ = imported(tmp_path, PAIRS, mapping)
    ambiguity(project, caption="true_sentence", original="pic_true", generated="pic_foil")
    client.force_login(make_member(project, "owner"))
    page = words_of(client.get("/studies/vases/ambiguity/releases/"))
    column = "<code>negative_caption</code>"
    assert f"The column {column} would be empty, because no role fills it; foil has no column." in page
    assert page.count("would be empty, because") == 1


def test_the_page_of_releases_warns_of_no_column_that_is_filled(client: Client, tmp_path: Path) -> None:
    make_pairs(tmp_path)
    client.force_login(make_member(Project.objects.get(), "owner"))
    assert "would be empty, because" not in words_of(client.get("/studies/vases/ambiguity/releases/"))


def test_a_format_of_pairs_is_not_offered_or_made_for_items_without_a_pair(client: Client, tmp_path: Path) -> None:
    rows = [{"text": "A red vase.", "one": "one.png", "two": "two.png"}]
    project, _ = imported(tmp_path, rows, {"text": "caption:text", "one": "image:try", "two": "image:try"})
    ask = {"caption": "text", "images": "try", "becomes": "best"}
    study = open_study(project, {"study": "choose", "kind": "best_of_n", "ask": ask})
    missing = "a caption, a negative caption and the image of one of them"
    refusal = f"No accepted item has {missing}, so this format would be empty"
    researcher = make_member(project, "owner")
    client.force_login(researcher)
    pages = ["/studies/vases/choose/releases/", "/studies/vases/choose/exports/"]
    greyed = f'<option value="harness" disabled>{get_writer("harness").title} (no accepted item has {missing})</option>'
    # Without accepted items nothing is known of them.
    assert [greyed in client.get(page).content.decode() for page in pages] == [False, False]
    sit_through(study, "ann", "try-1")
    assert [greyed in client.get(page).content.decode() for page in pages] == [True, True]
    # The chosen image has its caption, which is all that CLIP_benchmark needs.
    assert all('<option value="clip-benchmark">' in client.get(page).content.decode() for page in pages)
    refused = client.post(pages[0], {"name": "v1", "format": "harness"})
    assert (refused.status_code, refusal in refused.content.decode()) == (409, True)
    script = script_of(researcher)
    for address, wanted in (
        ("exports", {"format": "harness"}),
        ("releases", {"format": "harness", "name": "v1"}),
    ):
        told = script.post(f"/api/v1/projects/vases/studies/choose/{address}/", wanted)
        assert (told.status_code, told.json()["detail"].startswith(refusal)) == (409, True)
    assert not Release.objects.exists()
    with pytest.raises(CommandError, match=refusal):
        released(tmp_path, "choose", "harness")
    assert not Release.objects.exists()
    with pytest.raises(CommandError, match=refusal):
        call_command("export", "vases", format="harness", out=tmp_path / "exports")
    assert released(tmp_path, "choose", "hf").is_dir()
    # The release that the command froze knows it, too.
    assert client.get(pages[0]).content.decode().count(greyed) == 2
    assert client.post(pages[0], {"name": "v1", "format": "harness"}).status_code == 409


def test_every_image_of_a_set_leaves_in_its_order(tmp_path: Path) -> None:
    rows = [{"text": "A red vase."} | {f"p{place}": f"p{place}.png" for place in range(3)}]
    mapping = {"text": "caption:caption"} | {f"p{place}": "image:view" for place in range(3)}
    project, pictures = imported(tmp_path, rows, mapping)
    ask = {"images": "view", "becomes": "image"}
    file = {"study": "views", "kind": "best_of_n", "ask": {"caption": "caption", **ask}}
    sit_through(open_study(project, file), "ann", "view-2")
    (row,) = stored(released(tmp_path, "views", "hf"))
    assert row["image"]["bytes"] == pictures["p2.png"]
    assert others(row) == [("view", place, f"p{place}.png", pictures[f"p{place}.png"]) for place in range(3)]


def test_a_role_of_some_instances_and_a_missing_picture_leave_the_others_as_they_are(tmp_path: Path) -> None:
    rows = [dict(PAIRS[0], extra="extra.png"), PAIRS[1]]
    project, pictures = imported(tmp_path, rows, {**PAIR_MAPPING, "extra": "image:extra"})
    study = ambiguity(project, original="pic_true", generated="pic_foil")
    second = Instance.objects.get(source_row=2)
    InstanceImage.objects.filter(instance=second, role="pic_foil").update(image=None)
    one, two = stored(released(tmp_path, "ambiguity", "hf"))
    assert others(one) == [("extra", 0, "extra.png", pictures["extra.png"])]
    assert (two["image"]["bytes"], two["negative_image"], others(two)) == (pictures["1_a.png"], None, [])
    made = write_export(study=study, format="csv", folder=tmp_path, report=lambda done, total: None).path
    row = pd.read_csv(made, keep_default_na=False).iloc[1]
    assert (row["negative_image"], row["negative_image_sha256"], row["negative_image_file"]) == ("1_b.png", "", "")
