from decimal import Decimal
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Payment, Session, SessionState, Submission
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Study
from tests.annotation.paying.stage import Stage
from tests.factories import make_member, redesign
from tests.pages import signed_in, words_of

PAGE = "/studies/vases/birds-step-3/bonuses/"
State = Payment.State


def names(paying: Stage) -> list[str]:
    name_annotators(project=paying.study.project)
    found = dict(Pseudonym.objects.values_list("annotator_id", "name"))
    return [found[session.annotator_id] for session in paying.sessions]


def sent(text: str) -> dict[str, object]:
    return {"rule": "file", "file": SimpleUploadedFile("bonuses.csv", text.encode())}


def confirm(owner: Client, page: Any) -> Any:
    """Press the button of the list that a page shows."""
    form = BeautifulSoup(page.content, "html.parser").select_one("form:has(button[name=sure])")
    assert form is not None
    fields = {str(tag["name"]): str(tag.get("value", "")) for tag in form.select("input[name]")}
    fields |= {str(tag["name"]): tag.text for tag in form.select("textarea[name]")}
    button = form.select_one("button[name=sure]")
    assert button is not None
    return owner.post(PAGE, {**fields, "sure": str(button["value"])}, follow=True)


def test_bonuses_of_a_file_are_listed_with_sum_and_fee_and_then_ordered(paying: Stage, owner: Client) -> None:
    first, *_ = names(paying)
    page = owner.post(PAGE, sent(f'annotator,amount,note\n{first},1.50,"Careful, and quick"\n{paying.ids[1]},0.07,\n'))
    # 33.33 % of 1.57.
    assert "2 bonuses, USD 1.57, plus USD 0.52 for Prolific’s fee and taxes: <strong>USD 2.09</strong>" in words_of(
        page
    )
    assert not Payment.objects.exists()
    assert "2 payments ordered, USD 1.57 in all" in words_of(confirm(owner, page))
    assert list(Payment.objects.order_by("session_id").values_list("amount", "note")) == [
        (Decimal("1.50"), "Careful, and quick"),
        (Decimal("0.07"), ""),
    ]
    paying.minute()
    assert paying.paid() == [150, 7, 0]


def test_every_bad_line_of_a_file_is_listed_and_nothing_is_ordered(paying: Stage, owner: Client) -> None:
    first, _, third = names(paying)
    paying.bonus("1.00", "1.00")
    lines = [f"{third},1.50", f"{third},2.00", "A-NOBODY,1.00", f"{third},one", f"{third},-1"]
    lines += [f"{first},1.00", "x,1,2,3"]
    page = words_of(owner.post(PAGE, sent("\n".join(lines))))
    assert "Nothing was ordered: 6 lines have errors." in page
    for sentence in (
        "Line 2: This person is on an earlier line. Put the total on one line.",
        "Line 3: Nobody in this study has this pseudonym or submission ID.",
        "Line 4: `amount` must be from 0.01 to 999,999.99, with at most two decimals. It is `one`.",
        "Line 5: `amount` must be from 0.01 to 999,999.99, with at most two decimals. It is `-1`.",
        "Line 6: This session already has a bonus of its own or from a file.",
        "Line 7: A line has three columns. This one has 4: put a note with commas in quotation marks.",
    ):
        assert sentence in page
    assert "<button" not in page.split("have errors")[1].split("By rule")[0]
    assert Payment.objects.count() == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "The file is empty."),
        (b"\xff\xfe\x00", "The file is not UTF-8 text."),
        (b"x" * 500_001, "The file is larger than 500 KB."),
        (b"a\0b,1.00", "Nobody in this study"),
    ],
)
def test_a_file_that_cannot_be_read_says_so(paying: Stage, owner: Client, content: bytes, problem: str) -> None:
    page = owner.post(PAGE, {"rule": "file", "file": SimpleUploadedFile("bonuses.csv", content)})
    assert (page.status_code, problem in words_of(page)) == (409, True)


def test_everybody_is_raised_to_an_hourly_wage_on_prolifics_clock(paying: Stage, owner: Client) -> None:
    # 15 minutes on Prolific for 4.00 are 16 an hour; 20 an hour are 5.00. On our clock they took no time.
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    assert "3 bonuses, USD 3.00" in words_of(page)
    confirm(owner, page)
    assert set(Payment.objects.values_list("reason", "amount")) == {("hourly_floor", Decimal("1.00"))}
    again = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    assert "No bonuses to order" in words_of(again)


def test_bonuses_so_far_count_for_the_hourly_wage(paying: Stage, owner: Client) -> None:
    paying.bonus("0.40", "1.20")
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    confirm(owner, page)
    floor = Payment.objects.filter(reason="hourly_floor").order_by("session_id").values_list("session", "amount")
    assert list(floor) == [
        (paying.sessions[0].pk, Decimal("0.60")),
        (paying.sessions[2].pk, Decimal("1.00")),
    ]


def test_our_clock_raises_who_took_long_here(paying: Stage, owner: Client) -> None:
    session = paying.sessions[0]
    took = {"arrived_at": session.arrived_at, "handed_back_at": session.arrived_at.replace(hour=13)}
    Session.objects.filter(pk=session.pk).update(**took, ended_at=took["handed_back_at"])
    page = owner.post(PAGE, {"rule": "floor_own", "amount": "8"})
    # An hour at 8.00, of which 4.00 are the reward.
    assert "1 bonus, USD 4.00" in words_of(page)


def test_waiting_is_paid_as_the_study_file_says(paying: Stage, owner: Client) -> None:
    study = Study.objects.get()
    redesign(study, lobby=study.design.lobby.model_copy(update={"pay": Decimal("0.50")}))
    Session.objects.filter(pk=paying.sessions[0].pk).update(state=SessionState.WAITED)
    page = owner.post(PAGE, {"rule": "waiting"})
    assert "1 bonus, USD 0.50" in words_of(page)
    confirm(owner, page)
    assert Payment.objects.get().reason == "waiting"


def test_a_list_that_has_changed_since_it_was_seen_is_shown_again(paying: Stage, owner: Client) -> None:
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    paying.bonus("0.40")
    again = confirm(owner, page)
    assert "The list has changed since you saw it. Check it again." in words_of(again)
    assert Payment.objects.count() == 1


def test_a_rule_needs_an_amount(paying: Stage, owner: Client) -> None:
    assert "Enter an amount such as 1.50." in words_of(owner.post(PAGE, {"rule": "descriptions", "amount": "x"}))
    assert "Choose what to pay." in words_of(owner.post(PAGE, {"rule": "everybody"}))


def test_only_owners_order_bonuses(paying: Stage) -> None:
    for role in ("viewer", "editor"):
        assert signed_in(make_member(paying.study.project, role)).post(PAGE, {"rule": "answers"}).status_code == 403


def test_a_bonus_of_somebody_who_was_erased_breaks_no_rule(paying: Stage, owner: Client) -> None:
    paying.bonus("0.40")
    Payment.objects.update(session=None, annotator=None)
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    assert "3 bonuses, USD 3.00" in words_of(page)


def test_who_was_rejected_is_not_raised_to_an_hourly_wage(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(status="REJECTED")
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    assert "2 bonuses, USD 2.00" in words_of(page)


def test_another_list_of_the_same_sum_is_looked_over_again(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(status="RETURNED")
    page = owner.post(PAGE, {"rule": "floor_platform", "amount": "20"})
    assert "2 bonuses, USD 2.00" in words_of(page)
    Submission.objects.filter(session=paying.sessions[0]).update(status="APPROVED")
    Submission.objects.filter(session=paying.sessions[1]).update(status="RETURNED")
    again = confirm(owner, page)
    assert "The list has changed since you saw it. Check it again." in words_of(again)
    assert not Payment.objects.exists()
