from collections import Counter
from dataclasses import dataclass

from studies.check_positions import LEAST_BETWEEN, Repeat, place_checks


@dataclass(frozen=True)
class Asked:
    name: str
    part: int = 0


ORDINARY = [Asked(f"question-{number}") for number in range(40)]
GOLD, INSTRUCTIONS = [Asked("gold-1"), Asked("gold-2")], [Asked("instruction")]


def orders(number: int, repeats: int = 0) -> list[list[Asked | Repeat[Asked]]]:
    return [
        place_checks(ORDINARY, GOLD, INSTRUCTIONS, repeats=repeats, seed=f"secret|{seat}") for seat in range(number)
    ]


def test_everything_is_asked_once_and_the_same_secret_gives_the_same_places() -> None:
    placed = place_checks(ORDINARY, GOLD, INSTRUCTIONS, repeats=2, seed="secret")
    once = [each for each in placed if isinstance(each, Asked)]
    assert Counter(once) == Counter([*ORDINARY, *GOLD, *INSTRUCTIONS])
    assert (len(placed), placed) == (45, place_checks(ORDINARY, GOLD, INSTRUCTIONS, repeats=2, seed="secret"))


def test_the_first_question_is_no_check() -> None:
    assert {each[0] in ORDINARY for each in orders(300)} == {True}


def test_a_check_may_stand_at_every_other_place_equally_often() -> None:
    # 2,100 draws over 42 places: 50 at each, with a standard deviation of 7.
    places = Counter(order.index(GOLD[0]) for order in orders(2_100))
    assert sorted(places) == list(range(1, 43))
    assert all(20 <= number <= 80 for number in places.values())


def test_the_ordinary_questions_are_in_another_order_in_each_seat() -> None:
    firsts = Counter(order[0] for order in orders(400))
    assert len(firsts) == len(ORDINARY)


def test_a_repeat_stands_well_after_its_first_time_and_no_question_is_repeated_twice() -> None:
    for placed in orders(200, repeats=5):
        again = [(place, each.of) for place, each in enumerate(placed) if isinstance(each, Repeat)]
        assert len({first for _, first in again}) == 5
        assert all(place - placed.index(first) > LEAST_BETWEEN for place, first in again)
        assert not any(first in INSTRUCTIONS for _, first in again)


def test_gold_questions_are_repeated_as_often_as_others() -> None:
    # 5 of 42 questions are repeated, 2 of which are gold: of 5,000 repeats 238 are, with a standard deviation of 15.
    again = [each.of for placed in orders(1_000, repeats=5) for each in placed if isinstance(each, Repeat)]
    assert 170 <= sum(each in GOLD for each in again) <= 310


def test_checks_stand_in_the_part_of_their_type_and_a_later_part_may_begin_with_one() -> None:
    two = [*ORDINARY[:6], *(Asked(f"later-{number}", 1) for number in range(6))]
    checks = [Asked("gold-1"), Asked("gold-2", 1)]
    placed = [place_checks(two, checks, [], repeats=0, seed=f"{seat}") for seat in range(100)]
    assert {tuple(getattr(each, "part", None) for each in order) for order in placed} == {(0,) * 7 + (1,) * 7}
    assert {order[7] == checks[1] for order in placed} == {True, False}


def test_a_short_survey_still_has_its_repeat_after_half_of_its_questions() -> None:
    for seat in range(50):
        placed = place_checks(ORDINARY[:4], [], [], repeats=1, seed=f"{seat}")
        (place,) = (place for place, each in enumerate(placed) if isinstance(each, Repeat))
        repeat = placed[place]
        assert isinstance(repeat, Repeat)
        assert place - placed.index(repeat.of) > 2
