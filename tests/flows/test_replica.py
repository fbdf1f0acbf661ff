"""Results, exports and the explorer from a real replica, whose replay is stopped, or which goes away."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker, Settings

import results.replica
from annotation.models import Response
from background.models import Job
from results.actions import cached_statistics
from results.actions.cached_statistics import make
from results.actions.exports import write_export
from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.replica import REPLICA, Source, read_all
from studies.actions.projects.tags import tag_instances
from studies.models import Project, Study
from tests.databases import MIGRATED, connected_at
from tests.factories import NOON, make_person
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.pages import signed_in
from tests.results.pipelines import STEP_3, open_study, project_of, sit_through
from tests.servers import Cluster, replica_of
from tests.waiting import wait_until

pytestmark = AT_HOME_ON_POSTGRESQL
PAGE = "studies/vases/step-3/results/"
PAUSE, RESUME = "SELECT pg_wal_replay_pause()", "SELECT pg_wal_replay_resume()"
CURRENT, LATE = "Read from a replica, up to date.", r"Read from a replica, (less than 1|\d+) s behind\."
CHANGED = "Read from the primary database, because the replica does not have the last change yet."
TOO_FAR = r"Read from the primary database, because the replica is \d+ s behind\."
AWAY = "Read from the primary database, because the replica does not answer."


class Site(NamedTuple):
    """A study of two vases that Ann has answered, its researcher's browser, and the replica that has all of it."""

    study: Study
    browser: Client
    replica: Cluster

    def note(self, path: str) -> str:
        """Return what a page says of where it was read."""
        page = self.browser.get(f"/{path}")
        assert page.status_code == 200
        found = re.search(r'<p class="muted">(Read from [^<]*)</p>', page.content.decode())
        return found[1] if found else ""

    def answer(self, person: str) -> None:
        sit_through(self.study, person, "candidate-0")
        # Otherwise the next page names them, and reads the primary.
        name_annotators(project=self.study.project)

    def catch_up(self, path: str = PAGE) -> None:
        """Return once the replica has everything, and the page at `path` is read there."""
        self.replica.run(RESUME)
        wait_until(lambda: self.note(path) == CURRENT, seconds=30, why=lambda: self.note(path))


@pytest.fixture(scope="module")
def follower(cluster: Cluster) -> Iterator[Cluster]:
    with replica_of(cluster) as running:
        yield running


@pytest.fixture
def site(
    cluster: Cluster,
    follower: Cluster,
    django_db_blocker: DjangoDbBlocker,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Site]:
    # The database is copied a moment later, and a page that comes too early would leave the replica alone.
    monkeypatch.setattr(results.replica, "AWAY_SECONDS", 0)
    settings.DATABASE_ROUTERS = ["results.replica.Router"]
    name = request.node.name[:60]
    primary, replica = cluster.url(name, like=MIGRATED), follower.url(name, create=False)
    with django_db_blocker.unblock(), connected_at(primary), connected_at(replica, alias=REPLICA):
        researcher = make_person("researcher")
        study = open_study(project_of(researcher, instances=2), STEP_3 | {"answers": 3})
        made = Site(study, signed_in(researcher), follower)
        made.answer("ann")
        made.catch_up()
        try:
            yield made
        finally:
            follower.run(RESUME)


def answers_on(site: Site) -> int:
    """Return how many answers the study's results speak of."""
    found = re.search(r"middle half [^,]*, (\d+) answers\)", site.browser.get(f"/{PAGE}").content.decode())
    assert found is not None
    return int(found[1])


@contextmanager
def answers_read_from(alias: str) -> Iterator[None]:
    """Only the database called `alias` is asked for answers inside."""
    other = ({DEFAULT_DB_ALIAS, REPLICA} - {alias}).pop()
    with CaptureQueriesContext(connections[alias]) as here, CaptureQueriesContext(connections[other]) as there:
        yield
    asked, not_asked = ([q["sql"] for q in each if "annotation_response" in q["sql"]] for each in (here, there))
    assert asked
    assert not_asked == []


def test_pages_are_read_from_the_replica_and_say_how_far_it_is_behind(site: Site) -> None:
    with answers_read_from(REPLICA):
        assert answers_on(site) == 2
    for path in (PAGE, "projects/vases/results/", "projects/vases/instances/", "projects/vases/instances/vase-0/"):
        # The first visit stores the figures of the instances, and so is read from the primary.
        site.catch_up(path)
    # An annotator's answer is no change by researchers: pages may be behind by it, and say so.
    site.replica.run(PAUSE)
    site.answer("ben")
    assert re.fullmatch(LATE, site.note(PAGE))
    assert answers_on(site) == 2
    # What a decision or a person is told is read from the primary.
    assert site.note("studies/vases/step-3/disagreements/") == ""
    assert Response.objects.count() == 4
    site.catch_up()
    assert answers_on(site) == 4


def test_a_researcher_sees_what_they_have_just_changed(site: Site) -> None:
    site.replica.run(PAUSE)
    vase = site.study.project.instances.get(key="vase-0")
    tag_instances(project=site.study.project, instances=[vase.pk], name="broken-handle", by="tests", now=NOON)
    page = site.browser.get("/projects/vases/instances/vase-0/").content.decode()
    assert "broken-handle" in page
    assert CHANGED in page
    site.catch_up("projects/vases/instances/vase-0/")


def test_a_replica_that_is_too_far_behind_is_not_read(site: Site, settings: Settings) -> None:
    settings.DATABASE_REPLICA_SECONDS = 1
    site.replica.run(PAUSE)
    site.answer("ben")
    wait_until(lambda: bool(re.fullmatch(TOO_FAR, site.note(PAGE))), seconds=30, why=lambda: site.note(PAGE))
    with answers_read_from(DEFAULT_DB_ALIAS):
        assert answers_on(site) == 4


def test_numbers_of_answers_that_the_replica_does_not_have_yet_are_current(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr(cached_statistics, "NEW_AT_MOST_EVERY", timedelta(0))
    site.replica.run(PAUSE)
    site.answer("ben")
    project = site.study.project
    kept, _ = KeptNumbers.objects.get_or_create(page=KeptNumbers.Page.STUDY_RESULTS, study=site.study, project=project)
    make(kept=kept, now=NOON)
    assert re.fullmatch(LATE, site.note(PAGE))
    assert answers_on(site) == 4
    # What would compute them again, and change nothing.
    assert not Job.objects.filter(kind=cached_statistics.KIND, key=str(kept.pk)).exists()


def test_a_replica_that_does_not_answer_costs_no_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.replica.stop()
    try:
        assert site.note(PAGE) == AWAY
        assert answers_on(site) == 2
        # It went away after it was chosen.
        connections[REPLICA].close()
        monkeypatch.setattr(results.replica, "choose", lambda _: Source(True, CURRENT))
        assert site.note(PAGE) == AWAY
    finally:
        site.replica.start()


def test_a_replica_without_the_last_migration_costs_no_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    primary = connections[DEFAULT_DB_ALIAS]
    with primary.cursor() as cursor:
        cursor.execute("ALTER TABLE annotation_response RENAME COLUMN choice TO chosen")
        assert results.replica._has_replayed(results.replica._position_of_primary(), seconds=30)
        site.replica.run(PAUSE)
        cursor.execute("ALTER TABLE annotation_response RENAME COLUMN chosen TO choice")
    monkeypatch.setattr(results.replica, "choose", lambda _: Source(True, CURRENT))
    assert site.note(PAGE) == AWAY
    assert answers_on(site) == 2
    monkeypatch.setattr(results.replica, "_has_all_of_now", lambda: True)
    assert read_all(lambda: Response.objects.exclude(choice="").count()) == 2


def test_an_export_waits_for_the_replica_or_reads_the_primary(site: Site, settings: Settings, tmp_path: Path) -> None:
    def export(name: str) -> int:
        written = write_export(study=site.study, format="responses", folder=tmp_path / name, report=lambda *_: None)
        return len(written.path.read_text(encoding="utf-8").splitlines()) - 1

    site.answer("ben")
    with answers_read_from(REPLICA):
        assert export("current") == 4
    site.replica.run(PAUSE)
    site.answer("cleo")
    settings.DATABASE_REPLICA_SECONDS = 1
    with answers_read_from(DEFAULT_DB_ALIAS):
        assert export("late") == 6


def test_writers_and_transactions_read_the_primary(site: Site) -> None:
    def first() -> str:
        return str(Project.objects.get().name)

    def in_transaction() -> str:
        with transaction.atomic():
            return first()

    def after_writing() -> str:
        Project.objects.update(name="Jars")
        return first()

    def after_other_writing() -> str:
        site.browser.session.save()
        return first()

    expected = {first: REPLICA, in_transaction: DEFAULT_DB_ALIAS, after_writing: DEFAULT_DB_ALIAS}
    for read, alias in (expected | {after_other_writing: REPLICA}).items():
        with CaptureQueriesContext(connections[alias]) as asked:
            read_all(read)
        assert any(q["sql"].startswith("SELECT") and "studies_project" in q["sql"] for q in asked), read
    assert read_all(after_writing) == "Jars"
