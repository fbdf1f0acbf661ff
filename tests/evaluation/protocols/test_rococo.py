import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from analytics.scores import false_recall, ranks
from evaluation.protocols import BenchmarkError, Evaluation, get_protocol, rococo
from tests.evaluation.protocols.written import evaluated, matrices, plain, write
from tests.studies.real_data import REAL_DATA, needs_real_data

protocol = get_protocol("rococo")


def images(*names: str, captions: int = 5, altered: str = "weapon") -> str:
    return json.dumps(
        [
            {
                "image": f"val2014/{name}.jpg",
                "caption": [f"A {name} {number}." for number in range(captions)]
                + [f"A {altered} {name} {number} ." for number in range(5)],
            }
            for name in names
        ]
    )


TWO = {"danger.json": images("cat", "dog")}
# Images x texts: five captions of the cat, five of the dog, then the altered ones of both.
SCORES = [
    [0.5, 0.4, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.45, *[0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    [0.3, 0.1, 0.1, 0.1, 0.6, 0.6, 0.2, 0.2, 0.2, 0.2, *[0, 0, 0.55, 0, 0, 0, 0, 0, 0, 0]],
]
# Mixed images x original captions.
MIXED = [[0.5, 0.1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0.7, 0, 0, 0, 0.1]]


def cells_of(came_out: Evaluation, title: str) -> list[Any]:
    """Return Recall@1 without and with, the drop rate, RSMS, and the spread where there is one."""
    (part,) = [part for part in came_out.parts if part.title == title]
    cells = plain(part)
    assert [*cells][:4] == ["R@1 without", "R@1 with", "drop rate", "RSMS"]
    return [*cells.values()]


def test_recall_without_and_with_altered_captions_is_counted_under_both_rules_for_ties(tmp_path: Path) -> None:
    came_out = evaluated("rococo", write(tmp_path, TWO), matrices(SCORES))
    # The cat's best caption, 0.5, beats the dog's, 0.45, and ties with an altered one, which comes later in the file.
    # The dog's best, 0.6, ties with one of the cat's, which comes earlier: right to the authors, wrong to us. Of the
    # captions, 0.5 > 0.3, 0.4 > 0.1 and 0.6 > 0.2 find their image. Of equals the later image, the dog, comes first:
    # that is right for three of its captions (0.2 = 0.2) and wrong for two of the cat's (0.1 = 0.1).
    whole = {"I2T R@1": (2, 2), "I2T R@1, danger": (1, 2), "T2I R@1": (6, 10)}
    strict = {"I2T R@1, strict": (1, 2), "I2T R@1, danger, strict": (0, 2), "T2I R@1, strict": (3, 10)}
    assert plain(came_out.whole) == whole | strict
    assert cells_of(came_out, "I2T, danger") == [(2, 2), (1, 2), 0.5, (1, 2)]
    assert cells_of(came_out, "I2T, danger, strict") == [(1, 2), (0, 2), 1.0, (1, 2)]
    assert came_out.notes == [
        "rococo-authors-v1: of equal scores the later caption or image of the authors' order comes first. "
        "rococo-strict-v1 (strict): a tie with the right one is wrong.",
        *(f"Not there: {policy}.json." for policy in ("same_concept", "diff_concept", "rand_voca")),
        "Images were not created: these folders are missing: mix_0.9, mix_0.9_seed10, mix_0.9_seed100, mix_0.8, "
        "mix_0.8_seed10, mix_0.8_seed100, patch_0.9, patch_0.9_seed10, patch_0.9_seed100, patch_0.8, patch_0.8_seed10, "
        "patch_0.8_seed100.",
    ]


def test_of_a_text_that_stands_on_several_images_one_is_right_to_the_authors_and_none_to_us(tmp_path: Path) -> None:
    """Three images whose best caption is the same text, with the same score: the last image that has it is right."""
    scores = np.zeros((3, 30))
    scores[:, [0, 5, 10]] = 0.9
    came_out = evaluated("rococo", write(tmp_path, {"danger.json": images("cat", "dog", "hen")}), matrices(scores))
    assert plain(came_out.whole)["I2T R@1"] == (1, 3)
    assert plain(came_out.whole)["I2T R@1, strict"] == (0, 3)


def test_mixed_images_come_into_the_gallery_of_every_caption(tmp_path: Path) -> None:
    folder = write(tmp_path, TWO)
    (folder / "mix_0.9").mkdir()
    names = [list(block.images) for block in protocol.blocks(protocol.read(folder))]
    assert names == [["val2014/cat.jpg", "val2014/dog.jpg"], ["mix_0.9/cat.jpg", "mix_0.9/dog.jpg"]]
    came_out = evaluated("rococo", folder, matrices(SCORES, MIXED))
    # Of the three captions that found their image, 0.5 ties with a mixed one and 0.6 is beaten by 0.7.
    strict = [(3, 10), (1, 10), pytest.approx(2 / 3), (2, 10)]
    assert cells_of(came_out, "T2I, mixed 0.9, seed 1, strict") == strict
    # Of the six that the authors find, those two are lost.
    authors = [(6, 10), (4, 10), pytest.approx(1 / 3), (2, 10)]
    assert cells_of(came_out, "T2I, mixed 0.9, mean of 1 seed") == authors
    chance = protocol.chance(protocol.read(folder))
    # 5 of 10 texts are right, 5 of 20 with the altered ones; 1 of 2 images, 1 of 4 with the mixed ones.
    expected = {"I2T R@1": 0.5, "T2I R@1": 0.5, "I2T R@1, danger": 0.25, "T2I R@1, mixed 0.9": 0.25}
    assert chance == expected | {f"{name}, strict": share for name, share in expected.items()}


def test_seeds_are_told_apart_and_by_their_mean_and_spread(tmp_path: Path) -> None:
    """Of the six captions that find their image, seed 1 takes two, seed 10 none and seed 100 all."""
    folder = write(tmp_path, TWO)
    for seed in ("", "_seed10", "_seed100"):
        (folder / f"mix_0.9{seed}").mkdir()
    never, always = np.full((2, 10), -1.0), np.full((2, 10), 1.0)
    came_out = evaluated("rococo", folder, matrices(SCORES, MIXED, never, always))
    by_seed = [cells_of(came_out, f"T2I, mixed 0.9, seed {seed}")[1] for seed in (1, 10, 100)]
    assert by_seed == [(4, 10), (6, 10), (0, 10)]
    # .4, .6 and 0: mean 1/3, deviations 1/15, 4/15 and -1/3; their squares are 42/225, halved 21/225.
    _, *means = cells_of(came_out, "T2I, mixed 0.9, mean of 3 seeds")
    assert means == pytest.approx([1 / 3, (1 / 3 + 0 + 1) / 3, (0.2 + 0 + 1) / 3, (21 / 225) ** 0.5])
    assert plain(came_out.whole)["T2I R@1, mixed 0.9"] == pytest.approx(1 / 3)


def test_texts_are_the_originals_then_the_altered_ones_as_models_read_them(tmp_path: Path) -> None:
    write(
        tmp_path, {"danger.json": images("cat", captions=6), "rand_voca.json": images("cat", captions=6, altered="far")}
    )
    (block,) = protocol.blocks(protocol.read(tmp_path))
    assert block.texts[:7] == ["a cat 0", "a cat 1", "a cat 2", "a cat 3", "a cat 4", "a cat 5", "a far cat 0"]
    assert block.texts[-1] == "a weapon cat 4"
    assert len(block.texts) == 6 + 5 + 5


@pytest.mark.parametrize("seed", range(5))
def test_it_counts_what_ranking_the_whole_pool_at_once_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(rococo, "IMAGES_AT_ONCE", 3)
    folder = write(tmp_path, {"danger.json": images(*"abcdefg", captions=5), "rand_voca.json": images(*"abcdefg")})
    (folder / "mix_0.9").mkdir()
    rng = np.random.default_rng(seed)
    # Few values, so that many tie.
    texts, made = rng.integers(0, 6, (7, 35 + 35 + 35)), rng.integers(0, 6, (7, 35))
    scores = [texts[start : start + 3] for start in (0, 3, 6)] + [made[start : start + 3] for start in (0, 3, 6)]
    came_out = evaluated("rococo", folder, matrices(*scores))
    cells = plain(came_out.whole)
    own = np.repeat(np.eye(7, dtype=bool), 5, axis=1)
    for policy, columns in (("rand_voca", slice(35, 70)), ("danger", slice(70, 105))):
        pool = np.hstack([texts[:, :35], texts[:, columns]])
        relevant = np.hstack([own, np.zeros((7, 35), dtype=bool)])
        assert cells[f"I2T R@1, {policy}, strict"] == (int((ranks(pool, relevant) == 1).sum()), 7)
        expected = false_recall(pool, np.arange(70) >= 35)
        assert cells_of(came_out, f"I2T, {policy}, strict")[3] == (expected.count, expected.n)
        # As the authors sort, their files having an image's originals before its altered ones.
        order = [start + at + 35 * side for start in range(0, 35, 5) for side in (0, 1) for at in range(5)]
        first = [order[np.argsort(row[order], kind="stable")[::-1][0]] for row in pool]
        found = sum(at < 35 and at // 5 == image for image, at in enumerate(first))
        assert cells[f"I2T R@1, {policy}"] == (found, 7)
        assert cells_of(came_out, f"I2T, {policy}")[3] == (sum(at >= 35 for at in first), 7)
    assert cells["I2T R@1, strict"] == (int((ranks(texts[:, :35], own) == 1).sum()), 7)
    gallery = np.vstack([texts[:, :35], made]).T
    relevant = np.hstack([own.T, np.zeros((35, 7), dtype=bool)])
    assert cells["T2I R@1, mixed 0.9, strict"] == (int((ranks(gallery, relevant) == 1).sum()), 35)
    assert cells["T2I R@1, strict"] == (int((ranks(gallery[:, :7], own.T) == 1).sum()), 35)
    for name, columns in (("T2I R@1", slice(0, 7)), ("T2I R@1, mixed 0.9", slice(0, 14))):
        first = [int(np.argsort(row[columns], kind="stable")[::-1][0]) for row in gallery]
        assert cells[name] == (sum(at == text // 5 for text, at in enumerate(first)), 35)


def colours(folder: Path, **pictures: str) -> None:
    (folder / "images/val2014").mkdir(parents=True)
    for name, colour in pictures.items():
        Image.new("RGB", (60, 40), colour).save(folder / f"images/val2014/{name}.jpg", quality=95)


def test_mixed_and_patched_images_are_made_once_of_every_image_and_another_one(tmp_path: Path) -> None:
    folder = write(tmp_path, TWO)
    colours(folder, cat="white", dog="black")
    said = protocol.prepare(folder, seed=1, encoders={})
    assert said[-12:] == [
        f"{method}_{share}{seed}: 2 images."
        for method in ("mix", "patch")
        for share in ("0.9", "0.8")
        for seed in ("", "_seed10", "_seed100")
    ]
    cat = np.asarray(Image.open(folder / "mix_0.9/cat.jpg").convert("L"), dtype=float)
    dog = np.asarray(Image.open(folder / "mix_0.9/dog.jpg").convert("L"), dtype=float)
    # 0.9 of 255, and 0.1 of it; the file is JPEG.
    assert (cat.shape, cat.mean(), dog.mean()) == ((384, 384), pytest.approx(229.5, abs=2), pytest.approx(25.5, abs=2))
    patched = np.asarray(Image.open(folder / "patch_0.9/cat.jpg").convert("L"), dtype=float)
    assert 0 < (patched < 128).mean() <= 0.1
    assert len(protocol.read(folder).made) == 12
    # 0.8 of white.
    cat = np.asarray(Image.open(folder / "mix_0.8_seed10/cat.jpg").convert("L"), dtype=float)
    assert cat.mean() == pytest.approx(204, abs=2)
    before = (folder / "mix_0.9/cat.jpg").stat().st_mtime_ns
    assert protocol.prepare(folder, seed=2, encoders={})[-12:-10] == [
        "mix_0.9 already exists and was kept.",
        "mix_0.9_seed10 already exists and was kept.",
    ]
    assert (folder / "mix_0.9/cat.jpg").stat().st_mtime_ns == before


def test_a_photo_that_is_not_there_is_named_and_no_half_a_folder_stays(tmp_path: Path) -> None:
    folder = write(tmp_path, TWO)
    colours(folder, cat="white")
    with pytest.raises(BenchmarkError, match=r"The image val2014/dog\.jpg is not in"):
        protocol.prepare(folder, seed=1, encoders={})
    assert not (folder / "mix_0.9").exists()


SUBSTITUTES = {
    "groups": {"people": ["man", "woman"], "places": ["hill", "street"]},
    "vocabulary": ["season"],
    "danger": {"people": "criminal", "places": "minefield", "": "weapon"},
}


def embed(texts: Any) -> Any:
    """Embed a text by how many words it has and whether "man" is one: without "man" it points elsewhere."""
    return np.array([[len(text.split()), 5.0 if "man" in text.split() else 0.0] for text in texts])


def test_captions_are_altered_under_the_four_policies_at_the_word_with_the_least_influence(tmp_path: Path) -> None:
    captions = [f"A man on a hill {number}." for number in range(5)]
    karpathy = [
        {"image": "val2014/1.jpg", "caption": captions},
        {"image": "val2014/2.jpg", "caption": [*captions[:4], "Nothing."]},
    ]
    folder = write(
        tmp_path, {"coco_karpathy_test.json": json.dumps(karpathy), "substitutes.json": json.dumps(SUBSTITUTES)}
    )
    colours(folder, **{"1": "white", "2": "black"})
    unnamed = "was not created: name a model that embeds texts."
    assert protocol.prepare(folder, seed=1, encoders={})[:4] == [
        f"{policy}.json {unnamed}" for policy in ("same_concept", "diff_concept", "rand_voca", "danger")
    ]
    protocol.prepare(folder, seed=1, encoders={"tiny": embed})
    altered = {
        policy: json.loads((folder / f"{policy}.json").read_text())[0]["caption"][5]
        for policy in ("same_concept", "diff_concept", "rand_voca", "danger")
    }
    # Without "hill" the embedding hardly turns, without "man" it turns by far.
    assert altered["same_concept"] == "A man on a street 0 ."
    assert altered["diff_concept"] in ("A man on a man 0 .", "A man on a woman 0 .")
    assert altered["rand_voca"] == "A man on a season 0 ."
    assert altered["danger"] == "A man on a minefield 0 ."
    assert len(json.loads((folder / "danger.json").read_text())) == 1
    protocol.read(folder)


@needs_real_data
def test_the_real_files_have_5000_images_and_ten_of_them_a_sixth_caption() -> None:
    data = protocol.read(REAL_DATA / "rococo")
    assert (len(data.images), data.n_captions) == (5000, 25010)
    assert {policy: sum(map(len, texts)) for policy, texts in data.altered.items()} == {
        "rand_voca": 25000,
        "danger": 25000,
    }
