from typing import Any

from studies.descriptions import Description, descriptions_of, fitting_notes, with_notes

CAPTIONS = {"description_2": "Its right hand is up.", "description_1": "T", "caption": "Not a description."}


def test_descriptions_stand_in_the_order_of_their_source_whatever_that_of_the_database() -> None:
    assert descriptions_of(CAPTIONS, {"targets": [7, 0]}) == [
        Description(number=1, text="T", target=7),
        Description(number=2, text="Its right hand is up.", target=0),
    ]


def test_a_source_that_keeps_its_targets_to_itself_leaves_them_open() -> None:
    assert [each.target for each in descriptions_of(CAPTIONS, {})] == [None, None]


def test_an_instance_without_descriptions_has_none() -> None:
    assert descriptions_of({"caption": "A cat.", "negative_caption": "A dog."}, {"right": "candidate-1"}) == []


def test_what_is_noted_goes_to_the_description_of_its_target() -> None:
    noted: dict[str, Any] = {"0": {"author": "train_worker", "tags": ["neg"], "looked_for": ["con", "neg"]}}
    first, second = descriptions_of(CAPTIONS, {"targets": [7, 0], "noted": noted})
    assert (first.author, first.tags, first.looked_for) == ("", (), ())
    assert (second.author, second.tags, second.looked_for) == ("train_worker", ("neg",), ("con", "neg"))


def test_notes_are_kept_beside_each_other_and_only_about_what_there_is() -> None:
    reference = {"targets": [7, 0], "other": 1}
    about = {"7": {"author": "train_worker"}, "3": {"author": "unseen_worker"}}
    fits = fitting_notes(reference, about)
    assert fits == {"7": {"author": "train_worker"}}
    noted = with_notes(with_notes(reference, fits), {"7": {"tags": ["v"]}})
    assert noted == reference | {"noted": {"7": {"author": "train_worker", "tags": ["v"]}}}
    assert reference == {"targets": [7, 0], "other": 1}
