import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from making.errors import CannotMake
from making.filters.base import CandidateImage, CandidateText
from making.filters.near_duplicates import NearDuplicates, shingles_of
from tests.making.filters.contexts import context

PARENT = "Nobody is here."
OF_STAGE = "It is a near duplicate of another text of the stage."
OF_CAPTION = "It is a near duplicate of a caption of the project."
OF_IMAGE = "It is a near duplicate of an image of the project."
TEN = "one two three four five six seven eight nine ten"


def text(words: str, start: str = "", *, parent: str = PARENT, start_text: str = PARENT) -> CandidateText:
    return CandidateText(words, parent, start or words, start_text)


def test_pairs_of_neighbouring_words_have_a_start_and_an_end() -> None:
    assert shingles_of("A dog!") == {("", "a"), ("a", "dog"), ("dog", "")}
    assert shingles_of("") == {("", "")}


def test_texts_that_share_most_pairs_of_words_are_near() -> None:
    # Ten words have eleven pairs. Without the last word nine of ten stay, and there are twelve in all: 0.75.
    shorter = TEN.removesuffix(" ten")
    near = NearDuplicates(at_least=0.75).judge_stage([text(TEN), text(shorter)], context())
    assert [verdict.reason for verdict in near.verdicts] == ["", OF_STAGE]
    assert near.verdicts[1].score == 0.75
    far = NearDuplicates(at_least=0.76).judge_stage([text(TEN), text(shorter)], context())
    assert [verdict.reason for verdict in far.verdicts] == ["", ""]


def test_the_same_words_in_another_order_are_far() -> None:
    found = NearDuplicates(at_least=0.6).judge_stage([text("a dog on a table"), text("a table on a dog")], context())
    assert [verdict.reason for verdict in found.verdicts] == ["", ""]


def test_a_text_is_compared_with_captions_but_not_with_those_that_it_was_made_from() -> None:
    known = [TEN, "other words", f"{TEN} eleven"]
    candidates = [text(f"{TEN}."), text(TEN.upper(), parent=TEN, start_text=f"{TEN} eleven")]
    found = NearDuplicates().judge_stage(candidates, context(known))
    assert [verdict.reason for verdict in found.verdicts] == [OF_CAPTION, ""]
    assert found.verdicts[0].score == 1


def test_texts_made_of_one_caption_may_be_near_and_a_rejected_one_stands_in_nobodys_way() -> None:
    siblings = [text(TEN, "first"), text(f"{TEN} eleven", "first"), text(TEN, "second"), text(f"{TEN} eleven", "third")]
    found = NearDuplicates().judge_stage(siblings, context())
    assert [verdict.reason for verdict in found.verdicts] == ["", "", OF_STAGE, OF_STAGE]
    others = [text(TEN, "first"), text("apart", "second")]
    assert [each.reason for each in NearDuplicates().judge_stage(others, context([TEN])).verdicts] == [OF_CAPTION, ""]


def test_known_test_sets_are_named() -> None:
    found = NearDuplicates(known=["crepe"]).judge_stage([text(TEN), text("far")], context(sets={"crepe": [TEN]}))
    assert found.verdicts[0].reason == "It is a near duplicate of a text of the test set crepe."
    assert found.verdicts[1].reason == ""
    with pytest.raises(CannotMake, match="no set other"):
        NearDuplicates(known=["other"]).judge_stage([text(TEN)], context())
    with pytest.raises(ValidationError):
        NearDuplicates(known=["../secret"])


def test_every_near_pair_is_found_whatever_is_rare() -> None:
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(1, 9))) for _ in range(150)]
    candidates = [text(words, str(place)) for place, words in enumerate(texts)]
    found = NearDuplicates(at_least=0.5).judge_stage(candidates, context())
    kept: list[str] = []
    for words, verdict in zip(texts, found.verdicts, strict=True):
        shares = [
            len(shingles_of(words) & shingles_of(other)) / len(shingles_of(words) | shingles_of(other))
            for other in kept
        ]
        assert bool(verdict.reason) == (max(shares, default=0) >= 0.5)
        if not verdict.reason:
            kept.append(words)
    assert 10 < len(kept) < 140


def noise(seed: int) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((160, 120), Image.Resampling.NEAREST)


def test_images_that_are_nearly_equal_are_near() -> None:
    first = noise(1)
    made = {"first": first, "again": first.resize((80, 60)), "other": noise(2), "known": noise(3)}
    candidates = [CandidateImage(name, "A dog.") for name in made]
    found = NearDuplicates().judge_stage(candidates, context(made=made, project={"known": noise(3)}))
    expected = ["", "It is a near duplicate of another image of the stage.", "", OF_IMAGE]
    assert [verdict.reason for verdict in found.verdicts] == expected
    assert found.verdicts[3].score == pytest.approx(0, abs=1e-3)


def test_an_image_that_cannot_be_read_is_no_reason_to_reject_it() -> None:
    with pytest.raises(CannotMake, match="The image gone cannot be read"):
        NearDuplicates().judge_stage([CandidateImage("gone", "A dog.")], context())
    with pytest.raises(CannotMake, match="Remove `known`"):
        NearDuplicates(known=["crepe"]).judge_stage([CandidateImage("gone", "A dog.")], context())
