"""The frame of researchers' pages: the rail, the head of a study, and the cards that repeat its state."""

import re

import pytest
from django.test import Client

from studies.models import Study, StudyState
from tests.factories import NOON, answer, questions, sit_down
from tests.pages import words_of

PROJECT = "/projects/birds/"
STUDY = "/studies/birds/birds-step-3/"


def entry_of(page: str) -> str:
    """Return the marked entry of the rail."""
    (entry,) = re.findall(r'aria-current="page">([^<]*)<', page.partition('class="rail"')[2].partition("</nav>")[0])
    return str(entry)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, "Open"),
        ({"completed_at": NOON}, "Complete"),
        ({"completed_at": NOON, "state": StudyState.CLOSED, "closed_at": NOON}, "Closed"),
    ],
    ids=["open", "complete", "closed"],
)
def test_head_rail_and_card_name_the_same_state(
    client: Client, study: Study, fields: dict[str, object], word: str
) -> None:
    Study.objects.update(**fields)
    name = word.lower()
    head, overview = words_of(client.get(STUDY)), words_of(client.get(PROJECT))
    assert f'<span class="badge {name}">{word}</span>' in head.partition("</h1>")[0]
    card = overview.partition('<li class="tile">')[2]
    assert f'<span class="badge {name}">{word}</span>' in card.partition("</h3>")[0]
    for page in (head, overview):
        line = re.search(r'<ul class="rail-studies">.*?</ul>', page)
        assert line
        assert f'class="dot {name}"' in line[0]
        assert f': {name}, 0 of 4 answers"' in line[0]
        assert f'<span class="visually-hidden"> {word}</span>' in line[0]


def test_the_home_page_counts_no_complete_study_as_open(client: Client, study: Study) -> None:
    assert "1 open" in words_of(client.get("/"))
    Study.objects.update(completed_at=NOON)
    assert "1 open" not in words_of(client.get("/"))


def test_the_rail_says_what_its_numbers_count(client: Client, study: Study) -> None:
    line = re.search(r'<ul class="rail-studies">.*?</ul>', words_of(client.get(PROJECT)))
    assert line
    assert '<span class="figures">0 %<span class="visually-hidden"> of the answers</span></span>' in line[0]
    answer(sit_down(study, "5f3c0ffee"), questions(study)[0], "none")
    line = re.search(r'<ul class="rail-studies">.*?</ul>', words_of(client.get(PROJECT)))
    assert line
    assert '<span class="figures">25 %<span class="visually-hidden"> of the answers</span></span>' in line[0]
    assert ': open, 1 of 4 answers"' in line[0]
    assert "place" not in line[0], "other pages count places otherwise: without those that nobody can take"


@pytest.mark.parametrize("address", ["new-study/", "new-study/form/?kind=ambiguity"])
def test_pages_of_new_studies_are_marked_as_studies_in_the_rail(client: Client, study: Study, address: str) -> None:
    assert entry_of(words_of(client.get(f"{PROJECT}{address}", follow=True))) == "Studies"


def test_other_pages_are_marked_in_the_rail_too(client: Client, study: Study) -> None:
    instance = study.project.instances.first()
    assert instance is not None
    assert entry_of(words_of(client.get(f"{PROJECT}instances/by-id/{instance.pk}/"))) == "Instances"
    assert entry_of(words_of(client.get(f"{PROJECT}prolific/"))) == "Settings"


def test_a_project_that_needs_somebody_says_so_in_words(client: Client, study: Study) -> None:
    Study.objects.update(completed_at=NOON)
    page = words_of(client.get("/"))
    assert re.search(rf'<a class="badge needs-action" href="{PROJECT}#next"[^>]*>1 to close</a>', page)


def test_the_recruit_page_does_not_lead_to_itself(client: Client, study: Study) -> None:
    recruit = f'<a class="button primary" href="{STUDY}recruit/">Recruit</a>'
    assert recruit in words_of(client.get(STUDY))
    assert recruit not in words_of(client.get(f"{STUDY}recruit/"))


def test_an_open_study_that_asks_nobody_offers_to_close_it(client: Client, study: Study) -> None:
    session = sit_down(study, "5f3c0ffee")
    first, *others = questions(study)
    for question in others:
        answer(session, question, "none")
    warning = "New annotators would get no questions now. A closed study cannot be opened again."
    page = words_of(client.get(STUDY))
    assert f'<a class="button primary" href="{STUDY}recruit/">Recruit</a>' in page
    assert warning not in page
    answer(session, first, "none")
    page = words_of(client.get(STUDY))
    assert '<span class="badge open">Open</span>' in page, "whether it is complete is noted once a minute"
    assert f'<a class="button primary" href="{STUDY}close/" aria-describedby="final">Close study</a>' in page
    assert f'id="final">{warning}<' in page
