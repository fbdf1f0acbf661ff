"""How ratings are laid out for the coefficients."""

from analytics.coefficients import PercentAgreement
from analytics.ratings import MISSING, by_unit, code


def test_ratings_of_a_unit_stand_side_by_side_wherever_they_come_in_the_list() -> None:
    coded = by_unit([7, 8, 7], [0, 1, 1], ("a", "b"))
    assert coded.codes.tolist() == [[0, 1], [1, MISSING]]
    assert (coded.categories, coded.values, coded.ordered) == (("a", "b"), None, True)
    assert by_unit([], [], ("a",)).codes.shape == (0, 1)


def test_units_make_the_same_rows_as_an_array_of_their_labels() -> None:
    laid_out = by_unit([1, 2, 3, 3, 1, 2, 2], [0, 1, 2, 2, 0, 0, 1], ("a", "b", "c"))
    array = code([["a", "a", None], ["b", "a", "b"], ["c", None, "c"]], ("a", "b", "c"))
    ours, theirs = PercentAgreement().rows(laid_out), PercentAgreement().rows(array)
    assert ours.codes.tolist() == theirs.codes.tolist()
    assert ours.counts.tolist() == theirs.counts.tolist() == [1, 1, 1]
