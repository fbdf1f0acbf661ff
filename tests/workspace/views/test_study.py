import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from annotation.actions.sessions import leave
from annotation.models import EntryEvent, Response, Session, SessionState, Skip
from background.models import Job
from predictions.models import Run
from results.actions import cached_statistics
from results.models import KeptNumbers, Pseudonym
from studies.actions.images import original_name
from studies.design.model import BlindSolvability, LaunchConditions, Lobby
from studies.models import BlindScore, Instance, InstanceImage, Study, StudyState
from tests.factories import NOON, answer, draw_instance, make_launched, make_study, questions, redesign, sit_down
from tests.jobs import run_now
from tests.pages import words_of

PAGE = "/studies/birds/birds-step-3/"
LIVE = f"{PAGE}progress/"
RECRUIT = f"{PAGE}recruit/"
# In the menu of a study in every state.
ALWAYS = ("Preview", "Preview on a phone", "Duplicate")


def text(client: Client, address: str = PAGE) -> str:
    """Return the words of a page, one space between them."""
    page = client.get(address).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))


def test_networks_that_are_refused_stay_in_their_field(client: Client, study: Study) -> None:
    page = client.post("/studies/birds/birds-step-3/networks/", {"networks": "192.0.2.7\n300.1.1.1"})
    shown = page.content.decode()
    assert page.status_code == 409
    assert "192.0.2.7\n300.1.1.1</textarea>" in shown
    assert "is neither an address nor a network" in shown
    assert Study.objects.get(pk=study.pk).open_networks == ""


def test_the_page_shows_how_far_the_study_is(client: Client, study: Study) -> None:
    session = sit_down(study, "pid-1")
    answer(session, questions(study)[0], "candidate-1", send_ms=4000)
    answer(session, questions(study)[1], "none", send_ms=8000)
    shown = text(client)
    assert "2 of 4, 50 %" in shown
    assert "Places 1 0 finished 1 in progress 0 open" in shown
    assert "Questions 4 2 unanswered · 0 open · 2 complete" in shown
    assert "Accepted questions 1 2 undecided · 0 conflicting · 1 rejected" in shown
    assert "50.0 % 1 of 2 answers" in shown
    assert "6.0 median; middle half 5.0–7.0, 2 answers" in shown
    assert f"{Pseudonym.objects.get().name} Answering 2 of 4" in shown


def test_the_page_names_every_kind_that_the_study_asks(client: Client, study: Study) -> None:
    asked = study.design.parts[0]
    redesign(
        study,
        parts=(asked.model_copy(update={"kind": "image_to_text"}), asked.model_copy(update={"kind": "text_to_image"})),
    )
    kinds = "Pick the caption that describes an image; Pick the image that a caption describes"
    assert f"· 2 kinds of question: {kinds} ·" in text(client)


def test_the_page_names_nobody(client: Client, study: Study) -> None:
    session = sit_down(study, "pid-of-a-person")
    page = client.get(PAGE).content.decode()
    for secret in ("pid-of-a-person", session.provider_session_id, session.token):
        assert secret not in page


def test_cost_and_wage_are_shown(client: Client, study: Study) -> None:
    sit_down(study, "one", state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=40))
    shown = text(client)
    assert "1 place at USD 8.00 cost USD 8.00 without the platform’s fee." in shown
    assert "median USD 12.00, slowest tenth USD 12.00 or less (1 finished sessions)" in shown
    assert "minimum of USD 8.00 an hour" not in shown


def test_a_study_that_pays_nothing_is_not_warned_of(client: Client, study: Study) -> None:
    redesign(study, pay=study.design.pay.model_copy(update={"per_session": Decimal(0)}))
    sit_down(study, "one", state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=40))
    page = words_of(client.get(PAGE))
    assert '<p class="pay"> The study pays nothing, so it has no cost. </p>' in page
    assert "minimum of USD 8.00 an hour" not in page


def test_the_share_of_right_answers_names_its_unit_and_leads_to_the_scores(client: Client, study: Study) -> None:
    study.questions.update(right="candidate-1")
    session = sit_down(study, "pid-1")
    answer(session, questions(study)[0], "candidate-1")
    answer(session, questions(study)[1], "none")
    page = words_of(client.get(PAGE))
    link = f'<a href="{PAGE}results/#card-people">Scores with intervals</a>'
    assert f'50.0 %</p> <p class="figures">1 of 2 answers · {link}</p>' in page


def test_the_place_of_a_chart_that_is_not_drawn_yet_is_under_its_title(client: Client, study: Study) -> None:
    answer(sit_down(study, "pid-1"), questions(study)[0], "candidate-1", send_ms=4000)
    page = words_of(client.get(PAGE))
    assert '<h3>Answers over time</h3> <div class="chart-pending" hx-get="/projects/birds/charts/' in page
    assert '<noscript> <a href="">Reload</a> to see it.</noscript>' in page


def test_a_wage_under_the_least_is_an_alarm(client: Client, study: Study) -> None:
    sit_down(study, "one", state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=61))
    assert "minimum of USD 8.00 an hour" in text(client)


def test_nobody_finished_means_no_wage_yet(client: Client, study: Study) -> None:
    assert "Hourly wage: nobody has finished yet." in text(client)


def test_sessions_that_a_researcher_has_to_look_at_are_counted(client: Client, study: Study) -> None:
    assert "code for review" not in text(client)
    sit_down(study, "one", state=SessionState.LEFT_OUT)
    assert "1 ended with the code for review" in text(client)
    assert "Left out too many questions" in text(client)


def test_the_links_can_be_copied_whole(client: Client, study: Study, settings: Settings) -> None:
    settings.SITE_URL = "https://lineup.example.org"
    page = client.get(RECRUIT).content.decode()
    fields = [value.replace("&amp;", "&") for value in re.findall(r'readonly value="([^"]*)"', page)]
    assert fields == [
        f"https://lineup.example.org/take/{study.public_token}/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        f"https://lineup.example.org/take/{study.public_token}/?invite=invite-birds-birds-step-3",
    ]


def test_a_way_in_that_the_study_file_forbids_is_not_offered(client: Client, study: Study) -> None:
    redesign(study, recruitment=study.design.recruitment.model_copy(update={"prolific": False, "invite": False}))
    page = client.get(RECRUIT).content.decode()
    assert "readonly" not in page
    assert "Show codes" not in page


def test_the_codes_stand_behind_a_disclosure(client: Client, study: Study) -> None:
    page = client.get(RECRUIT).content.decode()
    codes = re.search(r'<details class="codes">(.*?)</details>', page, re.DOTALL)
    assert codes
    assert codes[1].count("<code") == 5
    # Nobody comes back with a code for stopping, or for waiting, unless the study file says so.
    unused = study.completion_codes.filter(outcome__in=("stopped", "time_over", "waited", "few_answers"))
    for code in study.completion_codes.difference(unused):
        assert code.code in codes[1]
        assert page.count(code.code) == 1
    assert not any(code.code in page for code in unused)
    redesign(study, endings=study.design.endings.model_copy(update={"stopped": "code"}))
    page = client.get(RECRUIT).content.decode()
    assert [code.code in page for code in unused.order_by("outcome")] == [False, True, False, False]
    redesign(study, lobby=Lobby(minutes=5, pay=Decimal("0.50"), either_role=False))
    page = client.get(RECRUIT).content.decode()
    assert [code.code in page for code in unused.order_by("outcome")] == [False, True, False, True]


def test_the_recruit_page_says_how_many_places_are_left(client: Client, draft: Study) -> None:
    """Of three places one is taken; ben returned his submission, which opened his place."""
    study = make_launched(draft, seats=3)
    sit_down(study, "ann")
    ben = sit_down(study, "ben")
    for address in (RECRUIT, PAGE):
        assert "Places 3 0 finished 2 in progress 1 open" in text(client, address)
    leave(session=ben, to=SessionState.RETURNED, now=NOON)
    for address in (RECRUIT, PAGE):
        assert "Places 3 0 finished 1 in progress 2 open 1 submission returned" in text(client, address)


def test_odd_things_at_the_door_are_told_with_what_to_do(client: Client, study: Study) -> None:
    for who, times in (("a", 2000), ("b", 1), ("", 3)):
        EntryEvent.objects.create(study=study, what="unfilled", who=who, times=times, at=NOON)
    EntryEvent.objects.create(study=study, what="no_seat", at=NOON)
    shown = text(client)
    when = "last on 20 Nov, 12:00 UTC"
    link = "came with a link whose Prolific placeholders were not filled in."
    assert f"2,004 times (by at least 2 people, {when}) somebody {link}" in shown
    assert "Once, on 20 Nov, 12:00 UTC, somebody came when no place was left." in shown
    # Places on Prolific can only be raised.
    assert "pause or stop the study on Prolific" in shown
    assert "without Prolific ids" not in shown


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        (StudyState.DRAFT, ["Launch", "Edit in a form", "Practice questions", "Delete", *ALWAYS]),
        (StudyState.OPEN, ["Recruit", "Pause", "Add questions or answers", "Close study", *ALWAYS]),
        (StudyState.PAUSED, ["Resume", "Add questions or answers", "Close study", *ALWAYS]),
        (StudyState.CLOSED, ["Results", *ALWAYS]),
    ],
)
def test_the_buttons_are_those_that_the_state_allows(
    client: Client, draft: Study, state: StudyState, buttons: list[str]
) -> None:
    Study.objects.filter(pk=draft.pk).update(
        state=state,
        launched_at=None if state == StudyState.DRAFT else NOON,
        closed_at=NOON if state == StudyState.CLOSED else None,
    )
    page = client.get(PAGE).content.decode()
    actions = re.search(r'<nav class="actions".*?</nav>', page, re.DOTALL)
    assert actions
    assert re.findall(r">([A-Z][a-z ]+)</a>", actions[0]) == buttons


def test_a_draft_leads_to_its_preview_and_its_form_without_a_menu(client: Client, draft: Study) -> None:
    page = words_of(client.get(PAGE))
    # One action stands beside the title; the others wait in its menu, and these two are what a draft is for.
    beside_title = page.partition('<nav class="actions"')[2].partition("<details")[0]
    assert re.findall(r">([A-Z][a-z ]+)</a>", beside_title) == ["Launch"]
    notice = page.partition('<p class="notice">')[2].partition("</p>")[0]
    assert f'<a href="{PAGE}preview/">preview</a>' in notice
    assert f'<a href="{PAGE}form/">Edit it in a form</a>' in notice


def test_closing_a_complete_study_says_that_it_is_final(client: Client, study: Study) -> None:
    final = "A closed study cannot be opened again."
    assert final not in text(client)
    Study.objects.update(completed_at=NOON)
    for address in (PAGE, RECRUIT, f"{PAGE}questions/"):
        page = words_of(client.get(address))
        assert f'<a class="button primary" href="{PAGE}close/" aria-describedby="final">Close study</a>' in page
        assert f'id="final">{final}</span>' in page


def head_of(page: str) -> str:
    """Return the words of a study's head."""
    return re.sub(r"<[^>]*>", "", page.partition('id="study-figures"')[2].partition("</p>")[0].partition(">")[2])


def test_every_page_of_a_study_says_its_progress_and_its_cost(client: Client, study: Study) -> None:
    """Two of four answers came, in one finished session for USD 8.00."""
    came = sit_down(study, "one")
    for question in questions(study)[:2]:
        answer(came, question, "none")
    Session.objects.update(state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=40))
    pages = ("", "recruit/", "questions/", "disagreements/", "annotators/", "owed/", "results/", "design/", "exports/")
    for page in pages:
        head = head_of(words_of(client.get(f"{PAGE}{page}")))
        assert "50 %, 2 of 4 answers" in head
        assert "USD 8.00 owed so far" in head
    # The live part of the page brings the line again.
    assert "50 %, 2 of 4 answers" in head_of(words_of(client.get(LIVE)))
    # The sidebar and the overview of the project have the same number.
    overview = words_of(client.get("/projects/birds/"))
    assert '<span class="figures">50 %<span class="visually-hidden"> of the answers</span></span>' in overview
    assert "2 of 4 answers, 50 %" in overview
    assert "USD 8.00" in overview.partition("Owed so far, without fees")[2].partition("</div>")[0]


def test_a_study_that_pays_nothing_has_no_cost_in_its_head(client: Client, study: Study) -> None:
    redesign(study, pay=study.design.pay.model_copy(update={"per_session": Decimal(0)}))
    assert "owed" not in head_of(words_of(client.get(RECRUIT)))


def test_a_draft_has_neither_progress_nor_cost(client: Client, draft: Study) -> None:
    head = head_of(words_of(client.get(PAGE)))
    assert "%" not in head
    assert "owed" not in head


def test_the_head_of_a_large_study_has_the_numbers_that_were_stored_last(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    answer(sit_down(study, "one"), questions(study)[0], "candidate-1")
    Session.objects.update(state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=40))
    assert "%" not in head_of(words_of(client.get(RECRUIT)))
    run_now(jobs.pop())
    for _ in range(2):
        head = head_of(words_of(client.get(RECRUIT)))
        assert "25 %, 1 of 4 answers" in head
        assert "USD 8.00 owed so far" in head
        # Not read from answers, and nothing is asked again while nothing happens.
        Response.objects.update(is_current=False)
        assert jobs == []
    KeptNumbers.objects.update(as_of=timezone.now() - timedelta(minutes=2))
    Session.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))
    assert "25 %, 1 of 4 answers" in head_of(words_of(client.get(RECRUIT)))
    assert len(jobs) == 1


def test_the_live_part_is_a_fragment_that_asks_for_itself(client: Client, study: Study) -> None:
    fragment = client.get(f"{LIVE}?page=1", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert f'hx-get="{LIVE}?page=1&amp;sort=-arrived&amp;charts=0"' in fragment
    assert 'hx-trigger="every 5s"' in fragment


def test_the_live_part_stops_asking_when_the_study_is_closed(client: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state=StudyState.CLOSED, closed_at=NOON)
    fragment = client.get(LIVE).content.decode()
    assert 'id="live"' in fragment
    assert "hx-get" not in fragment


@pytest.mark.parametrize("address", [PAGE, LIVE])
def test_twice_as_much_of_everything_adds_no_query(
    client: Client, study: Study, django_assert_num_queries: DjangoAssertNumQueries, address: str
) -> None:
    def another(number: int) -> None:
        session = sit_down(study, f"pid-{number}", state=SessionState.GIVEN_UP)
        answer(session, questions(study)[number % 4], "none", send_ms=1000 * number)
        EntryEvent.objects.create(study=study, what="unfilled", at=NOON)

    for number in range(3):
        another(number)
    client.get(address)
    with django_assert_num_queries(_wanted(address)):
        client.get(address)
    for number in range(3, 6):
        another(number)
    # This one gives a name to the three people who have come since.
    client.get(address)
    with django_assert_num_queries(_wanted(address)):
        client.get(address)


def skip(session: Session, number: int, **image: Any) -> None:
    """Say that `session` went on without the question of that number."""
    question = questions(session.study)[number]
    failed = {"option": "candidate-1", "image": question.content["options"][1]["image"], "failed_loads": 0}
    Skip.objects.create(
        study=session.study,
        question=question,
        session=session,
        annotator=session.annotator,
        at=NOON,
        images=[failed | image],
        file_missing=image["missing"],
    )


def test_skipped_questions_are_told_with_the_reason_and_what_to_do(client: Client, study: Study) -> None:
    assert "Questions skipped" not in text(client)
    session = sit_down(study, "pid-1")
    skip(session, 0, missing=False, failed_loads=7)
    skip(session, 1, missing=True)
    skip(session, 2, missing=True)
    back, gone = (questions(study)[number].content["options"][1]["image"] for number in (1, 2))
    default_storage.delete(original_name(gone))
    assert default_storage.exists(original_name(back))
    shown = text(client)
    assert "Questions skipped because an image could not be shown 3" in shown
    assert "import the same data file again with its image folder" in shown
    assert "row-1 A-" in shown
    assert "candidate-1: the file is there, but failed to load 7 times in the browser" in shown
    assert "candidate-1: the file was missing and is there again" in shown
    assert f"candidate-1: the file is missing ({gone[:11]}…)" in shown


def test_a_skipped_question_about_an_instance_with_a_broken_key_has_a_link(client: Client, study: Study) -> None:
    skip(sit_down(study, "pid-1"), 0, missing=True)
    instance = questions(study)[0].instance
    Instance.objects.filter(pk=instance.pk).update(key="row\n1")
    assert f"/projects/birds/instances/by-id/{instance.pk}/" in client.get(PAGE).content.decode()


def _wanted(address: str) -> int:
    # Two for who is asking, one each for the study, their role and its kind; then one or two for each thing shown.
    return 34 if address == PAGE else 26


def test_launching_says_first_what_it_will_do_and_cost(client: Client, draft: Study) -> None:
    shown = text(client, f"{PAGE}launch/")
    assert "Launching freezes the design" in shown
    assert "Questions4 Answers4 Surveys1" in shown
    # One seat at 8.00 and a third of that for Prolific; 8.00 for 40 minutes are 12.00 an hour.
    assert "RewardsUSD 8.00 USD 8.00 per place" in shown
    assert "Prolific’s feeUSD 2.67 33.33 %" in shown
    assert "Estimated costUSD 10.67" in shown
    assert "People1 one survey each" in shown
    assert "Expected time40 min each, 40 min in total" in shown
    assert "Hourly payUSD 12.00" in shown
    assert "which is under" not in shown


def test_launching_says_first_how_wide_the_intervals_will_be(client: Client, draft: Study) -> None:
    assert "Expected precision" not in text(client, f"{PAGE}launch/")
    pairs = make_study(draft.project, "pairs", answers=2)
    shown = text(client, f"/studies/birds/{pairs.slug}/launch/").replace("&#x27;", "'")
    assert "Expected precision" in shown
    # The table is as wide as its page: how wide an interval will be stands in its last columns.
    assert '<article class="card wide">' in client.get(f"/studies/birds/{pairs.slug}/launch/").content.decode()
    # All four instances are asked about, so the study cannot have twice as many questions.
    assert "of agreement: no interval. There are too few questions for an interval of agreement." in shown
    # Two people of 40 minutes each.
    assert "1.3 h in total" in shown


def test_a_confirmed_launch_opens_the_study(client: Client, draft: Study) -> None:
    response = client.post(f"{PAGE}launch/", follow=True)
    draft.refresh_from_db()
    assert draft.state == StudyState.OPEN
    link = f'<a href="{PAGE}recruit/">Recruit page</a>'
    assert f"The study is open. Send annotators a link from the {link}" in response.content.decode()


@pytest.mark.parametrize("prolific", [False, True])
def test_a_launch_names_prolific_only_if_the_study_recruits_there(client: Client, draft: Study, prolific: bool) -> None:
    recruitment = draft.design.recruitment.model_copy(update={"prolific": prolific, "invite": True})
    redesign(draft, recruitment=recruitment)
    message = words_of(client.post(f"{PAGE}launch/", follow=True)).partition('<ul class="messages">')[2]
    assert ("Prolific" in message.partition("</ul>")[0]) is prolific


def test_images_that_are_awaited_are_told_before_launching(client: Client, draft: Study) -> None:
    InstanceImage.objects.filter(role="candidate", position=0).update(image=None)
    assert "4 of the selected instances still wait for 4 images." in text(client, f"{PAGE}launch/")


def test_a_launch_that_cannot_be_lists_its_problems_and_changes_nothing(client: Client, draft: Study) -> None:
    InstanceImage.objects.filter(role="candidate", instance__key="row-2").update(image=None)
    response = client.post(f"{PAGE}launch/")
    draft.refresh_from_db()
    assert response.status_code == 409
    assert "Instance row-2 still waits for the image 2_0.png." in response.content.decode()
    assert draft.state == StudyState.DRAFT


def test_a_project_without_instances_cannot_launch(client: Client, study: Study) -> None:
    study.project.instances.exclude(pk__in=study.questions.values("instance")).delete()
    empty = make_study(study.project, "empty", instances={"type": ["none"], "subtype": [], "split": [], "keys": []})
    assert "type: [none] matches 0 of" in text(client, f"/studies/birds/{empty.slug}/launch/")


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (StudyState.OPEN, "pause", StudyState.PAUSED),
        (StudyState.PAUSED, "resume", StudyState.OPEN),
        (StudyState.OPEN, "close", StudyState.CLOSED),
        (StudyState.PAUSED, "close", StudyState.CLOSED),
    ],
)
def test_a_study_is_paused_resumed_and_closed(
    client: Client, study: Study, before: StudyState, change: str, after: StudyState
) -> None:
    Study.objects.filter(pk=study.pk).update(state=before)
    assert client.get(f"{PAGE}{change}/").status_code == 200
    assert Study.objects.get().state == before
    client.post(f"{PAGE}{change}/")
    assert Study.objects.get().state == after


def test_a_closed_study_stays_closed(client: Client, study: Study) -> None:
    client.post(f"{PAGE}close/")
    response: Any = client.post(f"{PAGE}resume/")
    assert response.status_code == 409
    assert "it cannot be changed to open" in response.content.decode()
    assert Study.objects.get().state == StudyState.CLOSED


BASELINES = ("image-only:colour-and-gradient", "text-only:ngrams")
CONDITIONS = LaunchConditions(blind_solvability=BlindSolvability(baselines=BASELINES, at_most=0.6))
FOUND = {"questions": 300, "left_out": 900, "share": 0.8125, "low": 0.7641, "high": 0.8539, "chance": 0.25}


def test_a_draft_says_what_must_be_known_of_it_and_how_to_find_out(
    client: Client, draft: Study, settings: Settings
) -> None:
    settings.MODELS_OFFERED = ["image-only:colour-and-gradient"]
    assert "Blind baselines" not in text(client, f"/studies/birds/{draft.slug}/")
    redesign(draft, conditions=CONDITIONS)
    BlindScore.objects.create(study=draft, baseline="text-only:ngrams", about="0" * 64, computed_at=NOON, **FOUND)
    shown = text(client, f"/studies/birds/{draft.slug}/")
    assert "image-only:colour-and-gradient not known yet 60.0 %" in shown
    found = "text-only:ngrams too often 81.3 % 76.4 to 85.4 % 25.0 % 60.0 % 300 of 1,200 20 Nov 2026, 12:00"
    assert found in shown
    assert f"manage.py predict birds --model text-only:ngrams --study {draft.slug}" in shown
    assert "Ask image-only:colour-and-gradient" in shown
    assert "predict birds --model image-only" not in shown
    asked = {"model": "image-only:colour-and-gradient", "about": f"study:{draft.slug}"}
    client.post("/projects/birds/models/ask/", asked)
    assert [(run.spec, run.study) for run in Run.objects.all()] == [("image-only:colour-and-gradient", draft)]
    refused = text(client, f"/studies/birds/{draft.slug}/launch/")
    assert "image-only:colour-and-gradient, which sees only a part of each question, has not run" in refused


def test_a_launched_study_says_what_was_known_of_it_at_the_launch(client: Client, study: Study) -> None:
    redesign(study, conditions=CONDITIONS)
    for baseline in CONDITIONS.blind_solvability.baselines if CONDITIONS.blind_solvability else ():
        scored = FOUND | {"share": 0.5, "low": None, "high": None}
        BlindScore.objects.create(study=study, baseline=baseline, about="0" * 64, computed_at=NOON, **scored)
    shown = text(client)
    assert "As of the launch" in shown
    assert "text-only:ngrams 50.0 % — 25.0 % 60.0 % 300 of 1,200" in shown
    assert "manage.py predict" not in shown


def test_a_page_shows_no_markup_that_somebody_typed(client: Client, study: Study) -> None:
    draw_instance(study.project, 9, type="<b>bold</b>")
    sit_down(study, "one", state=SessionState.FINISHED, comment="<script>alert(1)</script>")
    assert "<script>alert" not in client.get(PAGE).content.decode()
    assert "<b>bold" not in client.get("/projects/birds/").content.decode()


def test_a_launch_warns_of_pay_under_the_stated_floor(client: Client, draft: Study, settings: Settings) -> None:
    assert "which is under" not in text(client, f"{PAGE}launch/")
    settings.LEAST_HOURLY_PAY = Decimal("12.01")
    assert "USD 12.00 is below the minimum of USD 12.01" in text(client, f"{PAGE}launch/")


def listed(client: Client, query: str) -> list[str]:
    """Return the pseudonyms in the table of sessions, from the top."""
    return [line.name for line in client.get(f"{PAGE}?{query}").context["sessions"].object_list]


def test_sessions_are_sorted_and_filtered(client: Client, study: Study) -> None:
    for minute, (who, state) in enumerate(
        [("one", SessionState.FINISHED), ("two", SessionState.GIVEN_UP), ("three", SessionState.WORKING)]
    ):
        ended = None if state == SessionState.WORKING else NOON + timedelta(minutes=60 - 10 * minute)
        sit_down(study, who, state=state, ended_at=ended, now=NOON + timedelta(minutes=minute))
    three, two, one = listed(client, "")
    # From arrival to the end, or until they were last seen: 60, 49 and 0 minutes.
    assert listed(client, "sort=minutes") == [three, two, one]
    assert listed(client, "sort=-minutes") == [one, two, three]
    assert listed(client, "sort=name") == sorted([one, two, three])
    assert listed(client, "state=finished") == [one]
    assert listed(client, "state=open") == [three]
    assert listed(client, "state=other") == [two]
    assert listed(client, f"who={two[2:].lower()}&state=other") == [two]
    assert listed(client, f"who={one}&state=other") == []
    assert listed(client, "state=nonsense&sort=token&page=99") == [three, two, one]
    page = client.get(f"{PAGE}?sort=minutes&state=other&who=%22%3E%3Cb%3E").content.decode()
    assert 'value="&quot;&gt;&lt;b&gt;"' in page
    assert "No session matches." in page
    page = client.get(f"{PAGE}?sort=minutes&state=other").content.decode()
    assert 'aria-sort="ascending"><a id="sort-minutes" href="?state=other&amp;sort=-minutes#sessions"' in page


def test_a_refresh_keeps_filters_and_what_is_being_typed(client: Client, study: Study) -> None:
    sit_down(study, "one", state=SessionState.LEFT_OUT)
    page = client.get(f"{PAGE}?state=review&sort=name").content.decode()
    (address,) = re.findall(r'hx-get="([^"]*progress/[^"]*)"', page)
    fragment = client.get(address.replace("&amp;", "&")).content.decode()
    assert address in fragment
    assert 'id="session-rows" hx-swap-oob="true"' in fragment
    assert 'name="who"' not in fragment
    assert 'name="submission"' not in fragment


def test_charts_are_replaced_only_when_one_was_drawn(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Job] = []
    monkeypatch.setattr("results.views.charts.send", sent.append)
    answer(sit_down(study, "pid-1"), questions(study)[0], "none", send_ms=4000)
    page = client.get(PAGE)
    assert "Answers over time" in page.content.decode()
    assert text(client).count("Too few answers yet to project the end: 1 of at least 20.") == 1
    assert [job.kind for job in sent] == ["results.chart"] * 2
    before = page.context["overview"].version
    assert "live-charts" not in client.get(f"{LIVE}?charts={before}").content.decode()
    run_now(sent[0])
    fragment = client.get(f"{LIVE}?charts={before}").content.decode()
    assert 'id="live-charts"' in fragment
    assert fragment.count("<svg") == 1 + 2, "the places, and the drawn chart for wide windows and for phones"


def test_nobody_has_answered_is_no_chart(client: Client, study: Study) -> None:
    assert client.get(PAGE).context["overview"].charts == []
