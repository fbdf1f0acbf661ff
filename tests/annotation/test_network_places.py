"""How many places of a study one network holds, and how a researcher lets more in, or all out."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from annotation.actions import sessions
from annotation.actions.arriving import entry_links
from annotation.actions.arriving.network_places import ALWAYS_ALLOWED, exempt_networks, forget_networks, most_places
from annotation.errors import NetworkFull
from annotation.models import EntryEvent, Session
from annotation.recruitment.base import Entry
from studies.errors import StudyError
from studies.models import Event, Study
from tests.annotation.test_entry import door, link_of
from tests.factories import NOON, TESTS, fresh, launch_study, make_person
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
STRANGER, LAB = "198.51.100.9", "192.0.2.7"


@pytest.fixture(autouse=True)
def _limited(settings: LazySettings) -> None:
    settings.PLACES_PER_NETWORK = 10
    settings.ARRIVALS_PER_NETWORK = 0
    # The test's server is behind one proxy, which says who asks.
    settings.TRUSTED_PROXIES = 1


def with_seats(seats: int) -> Study:
    """Return a study with so many places, each for a survey of one question."""
    return launch_study(instances=1, answers=seats)


def browser_at(address: str) -> Client:
    return Client(headers={"x-forwarded-for": address})


def come(study: Study, number: int, address: str) -> int:
    """Let somebody new press Start from `address`; return the status of what they get."""
    ids = {"PROLIFIC_PID": f"{number:024x}", "SESSION_ID": f"{number + 0xF000:024x}"}
    return browser_at(address).post(link_of(study, **ids)).status_code


def test_a_script_at_one_address_holds_a_small_share_and_a_lab_gets_all_its_places() -> None:
    study = with_seats(40)
    exempt_networks(study=study, networks=f"{LAB}\n", by=TESTS, now=NOON)
    # A tenth of 40 is fewer than the 5 that are always allowed. What a client writes in front is not believed.
    strangers = [come(study, number, f"10.0.0.{number}, {STRANGER}") for number in range(20)]
    assert [strangers.count(status) for status in (303, 429)] == [5, 15]
    assert [come(study, 1000 + number, LAB) for number in range(20)] == [303] * 20
    assert come(study, 2000, "203.0.113.5") == 303
    assert EntryEvent.objects.filter(what="network_full").count() == 15


def test_a_class_and_people_with_links_of_their_own_are_let_in_whole(settings: LazySettings) -> None:
    settings.ARRIVALS_PER_NETWORK = 3
    study = with_seats(30)
    exempt_networks(study=study, networks=LAB, by=TESTS, now=NOON)
    assert [come(study, number, LAB) for number in range(9)] == [303] * 9
    assert [come(study, 100 + number, STRANGER) for number in range(4)] == [303] * 3 + [429]
    links = entry_links.personal_links(study=study, names=[f"person-{number}" for number in range(8)])
    assert [browser_at(STRANGER).post(link).status_code for link in links.values()] == [303] * 8
    assert set(Session.objects.filter(provider="invite").values_list("network", flat=True)) == {""}


def test_the_share_is_of_the_places_that_are_not_filled_and_an_ipv6_household_is_one_network() -> None:
    study = with_seats(81)
    # A tenth of 81, rounded up.
    assert most_places(study=study) == 9
    study.seats.filter(pk__in=study.seats.values("pk")[:60]).update(filled_at=NOON)
    assert most_places(study=study) == ALWAYS_ALLOWED
    came = [come(study, number, f"2001:db8:1:2::{number + 1:x}") for number in range(8)]
    assert came == [303] * 5 + [429] * 3
    assert come(study, 100, "2001:db8:1:3::1") == 303


def test_who_comes_back_is_let_in_and_a_place_that_was_given_back_is_free_for_the_network_again() -> None:
    study = with_seats(20)
    for number in range(5):
        come(study, number, STRANGER)
    assert come(study, 0, STRANGER) == 303
    # The same person under a new submission takes the place of their older session.
    ids = {"PROLIFIC_PID": f"{0:024x}", "SESSION_ID": f"{0xABC:024x}"}
    assert browser_at(STRANGER).post(link_of(study, **ids)).status_code == 303
    assert come(study, 5, STRANGER) == 429
    sessions.give_up(session=Session.objects.filter(ended_at=None)[0], now=timezone.now())
    assert come(study, 5, STRANGER) == 303


def test_people_of_the_shared_link_are_limited_and_told_what_to_do() -> None:
    study = with_seats(20)
    pages = [browser_at(STRANGER).post(f"{door(study)}?invite={study.invite_token}") for _ in range(6)]
    assert [page.status_code for page in pages] == [303] * 5 + [429]
    assert "tell the researchers: they can let all of you in" in words_of(pages[5])
    assert pages[5]["Retry-After"] == "300"


def test_behind_a_proxy_that_the_site_does_not_name_nobody_is_limited(settings: LazySettings) -> None:
    settings.TRUSTED_PROXIES = ()
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = False
    study = with_seats(20)
    assert [come(study, number, STRANGER) for number in range(7)] == [303] * 7


def entry(number: int) -> Entry:
    return Entry(provider="prolific", person=f"p{number}", session_id=f"s{number}", study_id="study")


def test_the_share_holds_over_midnight() -> None:
    study, before = with_seats(20), NOON.replace(hour=23, minute=59)
    for number in range(5):
        sessions.start(study=study, entry=entry(number), now=before, network=STRANGER)
    with pytest.raises(NetworkFull):
        sessions.start(study=study, entry=entry(5), now=before + timedelta(minutes=2), network=STRANGER)


def test_networks_are_kept_as_digests_of_the_day_and_forgotten_after_it() -> None:
    study = with_seats(20)
    first = sessions.start(study=study, entry=entry(1), now=NOON, network=STRANGER)
    second = sessions.start(study=study, entry=entry(2), now=NOON + timedelta(days=1), network=STRANGER)
    assert len({first.network, second.network}) == 2
    assert STRANGER not in first.network
    assert forget_networks(now=NOON + timedelta(hours=24)) == 0
    assert forget_networks(now=NOON + timedelta(hours=24, seconds=1)) == 1
    assert (fresh(first).network, bool(fresh(second).network)) == ("", True)
    # A session whose network is forgotten has none beside it.
    sessions.start(study=study, entry=entry(3), now=NOON)
    assert sessions.end_sessions_from_network(session=first, by=TESTS, now=NOON) == 0


def test_a_button_frees_all_places_of_a_network_and_no_others() -> None:
    study = with_seats(20)
    for number in range(5):
        come(study, number, STRANGER)
    come(study, 100, LAB)
    browser = signed_in(make_person("root", superuser=True))
    at = f"/studies/{study.project.slug}/{study.slug}/"
    assert words_of(browser.get(at)).count("Network: 5 open") == 5
    session = Session.objects.order_by("pk")[0]
    assert "Release all 5 places" in words_of(browser.get(f"{at}sessions/{session.pk}/free/"))
    freed = browser.post(f"{at}sessions/{session.pk}/free-network/", follow=True)
    assert "5 places of that network are free." in words_of(freed)
    assert sorted(Session.objects.values_list("state", flat=True)) == ["instructions"] + ["returned"] * 5
    assert Event.objects.filter(what="seat freed").count() == 5
    again = browser.post(f"{at}sessions/{session.pk}/free-network/", follow=True)
    assert "That network holds no places (any more)." in words_of(again)


def test_a_researcher_names_the_networks_of_a_lab() -> None:
    study = with_seats(20)
    browser = signed_in(make_person("root", superuser=True))
    at = f"/studies/{study.project.slug}/{study.slug}/"
    typed = "192.0.2.0/24\n\n 2001:db8:1:2::5 \n192.0.2.0/24"
    assert "Saved." in words_of(browser.post(f"{at}networks/", {"networks": typed}, follow=True))
    assert fresh(study).open_networks == "192.0.2.0/24\n2001:db8:1:2::5/128"
    # The household of that address is let in as a whole.
    for number, address in enumerate(["192.0.2.9", "192.0.2.200"] * 4 + ["2001:db8:1:2::77"] * 7):
        assert come(study, number, address) == 303
    with pytest.raises(StudyError, match="These are 51 networks"):
        exempt_networks(study=study, networks="\n".join(f"192.0.2.{n}" for n in range(51)), by=TESTS, now=NOON)
    wrong = words_of(browser.post(f"{at}networks/", {"networks": "the lab"}, follow=True))
    assert "&#x27;the lab&#x27; is neither an address nor a network. Write one like 192.0.2.7" in wrong
    assert fresh(study).open_networks == "192.0.2.0/24\n2001:db8:1:2::5/128"
