"""The ids of a filled database are encrypted by an upgrade, and clear again after the way back."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from annotation.migrations import _encrypt_ids
from background.sealed_secrets import keyed_digest, seal, unseal
from studies.models import Study
from tests.databases import connected_to, database
from tests.factories import NOON, launch_study
from tests.upgrades.stage import migrate_to, models_of

PEOPLE, IN_TWO_STUDIES = 1203, 700


def target(name: str) -> tuple[str, str]:
    """Return the migration of `annotation` whose name ends so, whatever its number is."""
    (found,) = (
        (str(key[0]), str(key[1]))
        for key in MigrationExecutor(connection).loader.graph.nodes
        if key[0] == "annotation" and key[1].endswith(name)
    )
    return found


def tables(at: tuple[str, str]) -> tuple[Any, Any]:
    known = models_of([at])
    return known["annotation_annotator"], known["annotation_session"]


def before() -> tuple[str, str]:
    """Return the last migration with clear ids alone."""
    graph = MigrationExecutor(connection).loader.graph
    parents = graph.node_map[target("_columns_of_encrypted_ids")].parents
    (name,) = (str(parent.key[1]) for parent in parents if parent.key[0] == "annotation")
    return "annotation", name


def fill(studies: list[Study]) -> None:
    """Fill a database of the version before: 1203 people, of whom 700 took part in two studies."""
    Annotator, Session = tables(before())
    Annotator.objects.bulk_create(
        Annotator(provider=provider, provider_id=f"{provider}-{number}")
        for number in range(PEOPLE)
        for provider in (("prolific", "invite")[number % 2],)
    )
    people = list(Annotator.objects.order_by("pk"))
    Session.objects.bulk_create(
        Session(
            token=f"{study.pk}-{person.pk}",
            study_id=study.pk,
            annotator=person,
            provider=person.provider,
            provider_session_id=f"submission-of-{person.provider_id}",
            questions_total=0,
            state="returned",
            arrived_at=NOON,
            last_seen_at=NOON,
            ended_at=NOON,
            lease_until=NOON + timedelta(hours=1),
        )
        for study in studies
        for person in people[:IN_TWO_STUDIES]
    )


@pytest.fixture
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    empty = str(connection.settings_dict["NAME"])
    connection.close()
    with django_db_blocker.unblock(), database("ids", like=empty) as name, connected_to(name):
        first = launch_study()
        studies = [first, launch_study(first.project, study="second")]
        migrate_to([before()])
        fill(studies)
        yield


def check_encrypted() -> None:
    Annotator, Session = tables(target("_remove_clear_ids"))
    people, sessions = Annotator.objects.order_by("pk"), Session.objects.select_related("annotator").order_by("pk")
    assert (people.count(), sessions.count()) == (PEOPLE, 2 * IN_TWO_STUDIES)
    for number, person in enumerate(people):
        said = f"{person.provider}-{number}"
        assert (unseal(person.sealed_id), person.id_digest) == (said, keyed_digest(said, purpose="annotator"))
    for session in sessions:
        said = f"submission-of-{unseal(session.annotator.sealed_id)}"
        assert (unseal(session.sealed_id), session.id_digest) == (said, keyed_digest(said, purpose="submission"))
    for table in (Annotator, Session):
        assert not {"provider_id", "provider_session_id"} & {field.name for field in table._meta.get_fields()}


@pytest.mark.usefixtures("filled")
def test_ids_are_encrypted_though_it_was_interrupted_and_clear_again_on_the_way_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Interrupted after 501 people; an older version that still runs adds a person before the clear column goes."""
    sealed: list[str] = []

    def seal_and_stop(text: str) -> str:
        if len(sealed) == 501:
            raise KeyboardInterrupt
        sealed.append(text)
        return seal(text)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(_encrypt_ids, "seal", seal_and_stop)
        with pytest.raises(KeyboardInterrupt):
            migrate_to([target("_encrypt_ids")])
    Annotator, _ = tables(target("_columns_of_encrypted_ids"))
    assert Annotator.objects.exclude(id_digest=None).count() == 500
    migrate_to([target("_encrypt_ids")])
    assert not Annotator.objects.filter(id_digest=None).exists()
    added = Annotator.objects.create(provider="prolific", provider_id="late")
    migrate_to([target("_remove_clear_ids")])
    Newer, _ = tables(target("_remove_clear_ids"))
    late = Newer.objects.get(pk=added.pk)
    assert unseal(late.sealed_id) == "late"
    late.delete()
    check_encrypted()

    Newer.objects.create(provider="prolific")
    migrate_to([before()])
    Older, OlderSession = tables(before())
    clear = list(Older.objects.order_by("pk").values_list("provider", "provider_id"))
    assert clear[:2] == [("prolific", "prolific-0"), ("invite", "invite-1")]
    assert (len(clear), clear[-1][1].split(":")[0]) == (PEOPLE + 1, "deleted")
    assert OlderSession.objects.filter(provider_session_id="submission-of-prolific-698").count() == 2
