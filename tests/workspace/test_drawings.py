import pytest
from django.template import Context, Template

from studies.kinds import KINDS

PAGE = Template("{% load drawings %}{% include kind|drawing_of %}")


def drawn(kind: str) -> str:
    return PAGE.render(Context({"kind": kind}))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_drawing_of_its_own(kind: str) -> None:
    assert "<svg" in drawn(kind)
    assert drawn(kind) != drawn("made_up")


def test_a_kind_without_one_has_a_general_one() -> None:
    assert "<svg" in drawn("made_up")
