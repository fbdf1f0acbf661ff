"""Flagged sessions: their list, and their review one at a time."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.flags import RULES, get_flag_rule
from annotation.models import Removal, Report, Response, Session, SessionFlag
from results.actions.pseudonyms import name_annotators
from results.actions.session_flags import flag_sessions
from results.models import Pseudonym
from results.queries.people import flagged_sessions as flagged_queries
from studies.models import Event, Membership, Project, Study
from tests.factories import NOON, TESTS, make_member, make_person
from tests.pages import signed_in, words_of
from tests.people import digest_of
from tests.removing import withdraw
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through

LIST = "/projects/vases/flags/"
FOUR = {"vase_0": "candidate-0", "vase_1": "candidate-0", "vase_2": "candidate-0", "vase_3": "candidate-0"}


@pytest.fixture
def study(researcher: User) -> Study:
    """Ann, ben and cora answer four questions each; one place is left. The sessions of ann and ben are flagged."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 4})
    for person in ("ann", "ben", "cora"):
        sit_through(study, person, by_key(**FOUR))
    flag("ann", hidden=6, measured=7)
    flag("ben", hidden=5, measured=8)
    return study


def session_of(person: str) -> Session:
    return Session.objects.select_related("study__project", "annotator").get(
        annotator__provider="prolific", annotator__id_digest=digest_of(person)
    )


def flag(person: str, *, rule: str = "hidden_tab", **evidence: Any) -> SessionFlag:
    version = get_flag_rule(rule).version if rule in RULES else 1
    evidence = evidence or {"hidden": 5, "measured": 6}
    return SessionFlag.objects.create(
        session=session_of(person), rule=rule, version=version, evidence=evidence, found_at=NOON
    )


def flag_of(person: str) -> SessionFlag:
    return SessionFlag.objects.select_related("reviewed_by").get(session=session_of(person))


def name_of(person: str) -> str:
    name_annotators(project=Project.objects.get())
    return Pseudonym.objects.get(annotator=session_of(person).annotator_id).name


def listed(client: Client, **wanted: str) -> list[str]:
    return [line.name for line in client.get(LIST, wanted).context["lines"]]


def page_of(person: str) -> str:
    return f"{LIST}{session_of(person).pk}/"


def press(
    client: Client, person: str, verdict: str, *, note: str = "", flags: Sequence[int] = (), **posted: str
) -> Any:
    chosen = flags or [flag_of(person).pk]
    return client.post(page_of(person), {"flag": chosen, "verdict": verdict, "note": note, **posted})


@pytest.mark.usefixtures("study")
def test_the_list_has_the_sessions_to_review_with_their_evidence_and_says_that_nothing_is_automatic(
    client: Client,
) -> None:
    page = client.get(LIST)
    assert sorted(line.name for line in page.context["lines"]) == sorted([name_of("ann"), name_of("ben")])
    assert "The tab was hidden for most of the time of 6 of 7 measured answers." in words_of(page)
    assert "Nobody is excluded or rejected automatically" in words_of(page)
    assert [(label, n) for label, n, *_ in page.context["shown"]] == [("To review", 2), ("Reviewed", 0), ("All", 2)]


@pytest.mark.usefixtures("study")
def test_a_session_with_two_flags_is_stronger_than_one_with_one(client: Client) -> None:
    flag("cora")
    flag("cora", rule="too_odd")
    assert listed(client)[0] == name_of("cora")


@pytest.mark.usefixtures("study")
def test_the_list_is_sorted_by_the_probability_that_one_of_the_flags_is_right(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = {"hidden_tab": 0.95, "one": 0.9, "two": 0.6}
    monkeypatch.setattr(flagged_queries, "_measurements", lambda: measured)
    flag("cora", rule="one")
    flag("cora", rule="two")
    # 1 - 0.1 x 0.4 = 0.96 for cora.
    assert listed(client) == [name_of("cora"), name_of("ann"), name_of("ben")]
    assert "Measured precision at least 95 %" in words_of(client.get(page_of("ann")))
    SessionFlag.objects.filter(rule="two").delete()
    assert listed(client) == [name_of("ann"), name_of("ben"), name_of("cora")]


@pytest.mark.usefixtures("study")
def test_a_flag_of_a_rule_that_this_version_does_not_know_is_shown_with_its_numbers(client: Client) -> None:
    flag("cora", rule="too_odd", answers_alike=9)
    page = words_of(client.get(LIST, {"rule": "too_odd"}))
    assert "<strong>Too odd</strong>: Found by version 1 of this rule. answers alike: 9" in page


@pytest.mark.usefixtures("study")
def test_evidence_without_a_number_that_the_rule_names_is_shown_as_it_is(client: Client) -> None:
    flag("cora", rule="failed_checks", failed=3, p=0.00029851)
    page = words_of(client.get(LIST, {"rule": "failed_checks"}))
    assert "Found by version 2 of this rule. failed: 3, p: 0.000299" in page


@pytest.mark.usefixtures("study")
def test_the_list_is_filtered_by_rule_study_and_review(client: Client) -> None:
    flag("cora", rule="too_odd")
    press(client, "ann", "uphold")
    assert listed(client, rule="too_odd") == [name_of("cora")]
    assert listed(client, show="reviewed") == [name_of("ann")]
    assert listed(client, study="step-3", rule="hidden_tab") == [name_of("ben")]
    assert listed(client, study="another") == []


def test_without_flags_the_list_says_what_will_stand_there(client: Client, study: Study) -> None:
    SessionFlag.objects.all().delete()
    assert "No sessions to review." in words_of(client.get(LIST))
    assert "No sessions to review." in words_of(client.get(f"/studies/vases/{study.slug}/flags/"))


def test_the_page_of_a_study_lists_its_sessions_alone(client: Client, study: Study) -> None:
    page = client.get(f"/studies/vases/{study.slug}/flags/?study=another")
    assert len(page.context["lines"]) == 2
    assert '<a href="/studies/vases/step-3/flags/" aria-current="page">' in words_of(page)


@pytest.mark.usefixtures("study")
def test_a_session_stands_with_its_evidence_precision_words_and_answers(client: Client) -> None:
    session = session_of("ann")
    Session.objects.filter(pk=session.pk).update(comment="My phone rang.")
    question = session.study.questions.order_by("pk")[0]
    Report.objects.create(
        **{"study": session.study, "question": question, "session": session, "annotator": session.annotator},
        **{"reason": Report.Reason.BROKEN, "words": "No picture came.", "at": NOON},
    )
    page = client.get(page_of("ann"))
    words = words_of(page)
    for each in (
        *("6 of 7 measured answers", "none reviewed in this project", "My phone rang.", "No picture came."),
        "misses: People who use a second device",
    ):
        assert each in words
    assert len(page.context["answers"].object_list) == 4
    assert words.count('loading="lazy"') >= 16


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(("verdict", "stored"), [("uphold", "upheld"), ("dismiss", "dismissed")])
def test_a_verdict_is_stored_with_its_note_and_leads_to_the_next_session(
    client: Client, researcher: User, verdict: str, stored: str
) -> None:
    first = session_of("ann") if listed(client)[0] == name_of("ann") else session_of("ben")
    person, other = ("ann", "ben") if first == session_of("ann") else ("ben", "ann")
    before = list(Response.objects.counted().values_list("pk", flat=True))
    answer = press(client, person, verdict, note="Wrote a mail: the phone rang.")
    assert answer.headers["Location"] == page_of(other)
    kept = flag_of(person)
    assert (kept.verdict, kept.note, kept.reviewed_by) == (stored, "Wrote a mail: the phone rang.", researcher)
    assert list(Response.objects.counted().values_list("pk", flat=True)) == before
    assert listed(client) == [name_of(other)]
    assert Event.objects.filter(what=f"flags {stored}").count() == 1


@pytest.mark.usefixtures("study")
def test_after_the_last_session_the_list_stands_there_and_says_so(client: Client) -> None:
    press(client, "ann", "dismiss")
    answer = press(client, "ben", "dismiss")
    assert answer.headers["Location"] == LIST
    assert "No sessions to review." in words_of(client.get(LIST))


@pytest.mark.usefixtures("study")
def test_only_the_ticked_flags_are_decided_and_the_precision_in_the_project_is_counted(client: Client) -> None:
    other = flag("ann", rule="too_odd")
    press(client, "ann", "uphold", flags=[other.pk])
    press(client, "ben", "dismiss")
    rules = client.get(LIST).context["rules"]
    assert (rules["too_odd"].upheld, rules["too_odd"].reviewed) == (1, 1)
    assert (rules["hidden_tab"].upheld, rules["hidden_tab"].reviewed) == (0, 1)
    assert listed(client) == [name_of("ann")]


@pytest.mark.usefixtures("study")
def test_the_second_of_two_reviewers_is_told_who_decided_and_keeps_their_note(client: Client) -> None:
    ada = make_person("ada")
    Membership.objects.create(project=Project.objects.get(), user=ada, role="editor")
    press(signed_in(ada), "ann", "dismiss", note="The phone rang.")
    answer = press(client, "ann", "uphold", note="Not looking at all.")
    assert answer.status_code == 409
    assert "ada dismissed this on " in words_of(answer)
    assert 'Your note: <q dir="auto">Not looking at all.' in answer.content.decode()
    assert flag_of("ann").verdict == "dismissed"


@pytest.mark.usefixtures("study")
def test_nothing_is_decided_without_a_flag_or_a_verdict_or_about_a_flag_that_was_cleared(client: Client) -> None:
    assert "Choose at least one flag" in words_of(client.post(page_of("ann"), {"verdict": "uphold"}))
    assert "Choose whether to uphold" in words_of(press(client, "ann", "reject"))
    assert "at most 2,000 fit" in words_of(press(client, "ann", "uphold", note="x" * 2001))
    chosen = flag_of("ann").pk
    SessionFlag.objects.filter(pk=chosen).update(cleared_at=NOON)
    answer = press(client, "ann", "uphold", flags=[chosen])
    assert answer.status_code == 409
    assert "This session has no flags" in words_of(answer)
    assert "A later check no longer finds this flag, so there is nothing to decide." in words_of(answer)
    assert flag_of("ann").verdict == ""


@pytest.mark.usefixtures("study")
def test_a_review_is_undone(client: Client) -> None:
    press(client, "ann", "uphold", note="Clear.")
    assert f"{name_of('ann')}</a> upheld." in words_of(client.get(page_of("ben")))
    answer = client.post(f"{page_of('ann')}undo/", {"flag": [flag_of("ann").pk]})
    assert answer.headers["Location"] == page_of("ann")
    kept = flag_of("ann")
    assert (kept.verdict, kept.note, kept.reviewed_at, kept.reviewed_by) == ("", "", None, None)
    again = client.post(f"{page_of('ann')}undo/", {"flag": [kept.pk]})
    assert "This review was already undone." in words_of(again)


def test_exclude_and_replace_asks_once_then_excludes_upholds_and_asks_others(client: Client, study: Study) -> None:
    address, sent = f"{page_of('ann')}exclude/", {"flag": [flag_of("ann").pk], "note": "Clicked through."}
    preview = client.post(address, {**sent, "preview": "yes"})
    assert preview.context["follows"][0] == ("Answers excluded", 4)
    assert preview.context["follows"][-1] == ("Answers requested from other people", 4)
    assert not Removal.objects.exists()
    assert flag_of("ann").verdict == ""
    answer = client.post(address, sent)
    assert answer.headers["Location"] == page_of("ben")
    removal = Removal.objects.get()
    assert (removal.annotator, removal.reason) == (session_of("ann").annotator, "Clicked through.")
    assert removal.slots_opened_at is not None
    assert flag_of("ann").verdict == "upheld"
    # Of 12 answers the four of ann count no more.
    assert Response.objects.counted_in(study).count() == 8
    undone = client.post(f"{page_of('ann')}undo/", {"flag": [flag_of("ann").pk]})
    assert undone.headers["Location"] == page_of("ann")
    assert not Removal.objects.in_force().exists()
    assert Response.objects.counted_in(study).count() == 12


def test_after_an_exclusion_is_undone_its_flags_are_there_again_even_if_a_check_cleared_them(
    client: Client, study: Study
) -> None:
    chosen = flag_of("ann").pk
    client.post(f"{page_of('ann')}exclude/", {"flag": [chosen], "note": "Clicked through."})
    # None of ann's answers counts, so a check finds no flag.
    flag_sessions(study=study, by=TESTS, now=NOON)
    assert flag_of("ann").cleared_at == NOON
    shown = client.post(f"{page_of('ann')}undo/", {"flag": [chosen]}, follow=True)
    assert shown.status_code == 200
    assert "The review was undone. Their answers are included again." in words_of(shown)
    assert [line.flag.pk for line in shown.context["flagged"].open_flags] == [chosen]


@pytest.mark.usefixtures("study")
def test_after_a_verdict_on_a_flag_that_a_check_cleared_is_undone_the_list_says_so(client: Client) -> None:
    press(client, "ann", "uphold")
    chosen = flag_of("ann").pk
    SessionFlag.objects.filter(pk=chosen).update(cleared_at=NOON)
    shown = client.post(f"{page_of('ann')}undo/", {"flag": [chosen]}, follow=True)
    assert (shown.status_code, shown.redirect_chain[-1][0]) == (200, LIST)
    assert "A later check no longer finds these flags, so there is nothing to review." in words_of(shown)
    assert listed(client) == [name_of("ben")]


@pytest.mark.usefixtures("study")
def test_without_a_reason_the_evidence_is_the_reason(client: Client) -> None:
    preview = client.get(f"{page_of('ann')}exclude/")
    assert preview.context["note"] == "Tab hidden: The tab was hidden for most of the time of 6 of 7 measured answers."
    assert not Removal.objects.exists()


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("step", [{"preview": "yes"}, {}])
def test_nobody_is_excluded_for_flags_that_were_not_chosen(client: Client, step: dict[str, str]) -> None:
    refused = client.post(f"{page_of('ann')}exclude/", {"note": "Another reason", **step})
    assert (refused.status_code, "Choose at least one flag" in words_of(refused)) == (409, True)
    assert not Removal.objects.exists()
    assert not SessionFlag.objects.exclude(verdict="").exists()


@pytest.mark.usefixtures("study")
def test_the_reason_is_the_evidence_of_the_chosen_flags_and_stands_once(client: Client) -> None:
    evidence = "The browser claims 90 s for 4 answers; by the server's clock, at most 20 s were possible."
    chosen = flag("ann", rule="claimed_time", answers=4, claimed_seconds=90.0, possible_seconds=20.0).pk
    page = f"{page_of('ann')}exclude/"
    reason = client.post(page, {"flag": [chosen], "preview": "yes"}).context["note"]
    assert reason == f"Claims more time than passed: {evidence}"
    client.post(page, {"flag": [chosen], "note": reason})
    assert words_of(client.get(page_of("ann"))).count("The browser claims 90 s for 4 answers") == 1


@pytest.mark.usefixtures("study")
def test_of_somebody_who_withdraws_no_flag_is_left(client: Client) -> None:
    chosen, page = flag_of("ann").pk, page_of("ann")
    ben = name_of("ben")
    withdraw(Project.objects.get(), "ann")
    assert listed(client, show="all") == [ben]
    assert client.get(page).status_code == 404
    assert client.post(page, {"flag": [chosen], "verdict": "uphold"}).status_code == 409
    assert SessionFlag.objects.get(pk=chosen).verdict == ""


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("address", ["", "exclude/"])
def test_a_note_typed_while_its_person_withdraws_is_shown_again_with_the_reason(client: Client, address: str) -> None:
    sent = {"flag": [flag_of("ann").pk], "verdict": "uphold", "note": "The phone rang <twice>."}
    withdraw(Project.objects.get(), "ann")
    answer = client.post(f"{page_of('ann')}{address}", sent)
    assert answer.status_code == 409
    words = words_of(answer)
    assert "This person has withdrawn, so there is nothing to review any more." in words
    assert 'Your note: <q dir="auto">The phone rang &lt;twice&gt;.</q>' in words
    assert "A later check cleared them" not in words
    # The note is stored nowhere.
    assert flag_of("ann").note == ""


@pytest.mark.usefixtures("study")
def test_a_viewer_sees_the_evidence_and_no_button_and_a_stranger_sees_nothing(client: Client) -> None:
    viewer = signed_in(make_member(Project.objects.get(), "viewer"))
    page = words_of(viewer.get(page_of("ann")))
    assert "6 of 7 measured answers" in page
    assert 'name="verdict"' not in page
    assert press(viewer, "ann", "uphold").status_code == 403
    for address in ("exclude/", "undo/"):
        assert viewer.post(f"{page_of('ann')}{address}", {"flag": [flag_of("ann").pk]}).status_code == 403
    stranger = signed_in(make_person("stranger"))
    assert stranger.get(page_of("ann")).status_code == 404
    assert press(stranger, "ann", "uphold").status_code == 404
    assert flag_of("ann").verdict == ""


@pytest.mark.usefixtures("study")
def test_a_session_of_another_project_is_not_found(client: Client, researcher: User) -> None:
    other = Project.objects.create(slug="birds", name="Birds")
    Membership.objects.create(project=other, user=researcher, role="editor")
    address = f"/projects/birds/flags/{session_of('ann').pk}/"
    assert client.get(address).status_code == 404
    assert client.post(address, {"flag": [flag_of("ann").pk], "verdict": "uphold"}).status_code == 404
    assert client.post(f"{address}undo/", {"flag": [flag_of("ann").pk]}).status_code == 404
    assert flag_of("ann").verdict == ""


def test_the_number_of_sessions_to_review_stands_in_the_frame(client: Client, study: Study) -> None:
    page = words_of(client.get(f"/studies/vases/{study.slug}/"))
    assert page.count('<span class="figures">2<span class="visually-hidden"> sessions to review</span></span>') == 2


def test_more_sessions_and_answers_need_no_more_queries(client: Client, study: Study) -> None:
    def queries(address: str) -> int:
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as found:
            assert client.get(address).status_code == 200
        return len(found)

    few = [queries(LIST), queries(page_of("ann"))]
    flag("cora")
    flag("ann", rule="too_odd")
    sit_through(study, "dan", by_key(**FOUR))
    flag("dan")
    assert [queries(LIST), queries(page_of("ann"))] == few
    assert max(few) <= 40
