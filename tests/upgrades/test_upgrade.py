"""A database that version 878c08f filled is upgraded: nothing is lost, and everything that is shown or leaves works.

Every migration after that version goes through these tests by itself. What one moves, removes or makes anew on purpose
is named in CHANGED.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.executor import MigrationExecutor
from django.db.models import JSONField, Model
from django.db.models.functions import Cast
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from background import jobs
from background.models import Job
from results.actions import exports
from results.exporting import FORMATS
from results.models import Export
from results.reports.formats import FORMATS as REPORT_FORMATS
from tests.databases import connected_to, database
from tests.factories import store_missing_files
from tests.jobs import run_now
from tests.upgrades.conftest import VERSION
from tests.upgrades.crawl import crawl
from tests.upgrades.stage import by_table, filled, leaves, migrate_to, models_of, upgrade

DUMPED = filled(VERSION)
TABLES = {name: table for name, table in DUMPED["tables"].items() if table["rows"]}
# "table" or "table.column" -> where what it held stands now, or why it says something else.
CHANGED = {
    "annotation_annotator.provider_id": "encrypted, in sealed_id",
    "annotation_session.provider_session_id": "encrypted, in sealed_id",
    "annotation_practiceanswer.round": "rounds are the person's: those of older sessions went behind the newest one's",
    "studies_membership.role": "who was a researcher is an editor",
    "results_signinfailure": "failures lived for a quarter of an hour; they are counted anew, by name and by network",
}


def records(table: str) -> list[dict[str, Any]]:
    """Return the dumped rows of a table by their columns."""
    return [dict(zip(TABLES[table]["columns"], row, strict=True)) for row in TABLES[table]["rows"]]


def taken_out() -> dict[str, set[Any]]:
    """Return the rows that say something else once the answers of people who withdrew count nowhere, by table."""
    people = {row["id"] for row in records("annotation_annotator") if row["withdrawn_at"]}
    questions = {row["question_id"] for row in records("annotation_response") if row["annotator_id"] in people}
    sessions = {
        row["id"]
        for row in records("annotation_session")
        if row["annotator_id"] in people and row["state"] in {*OPEN, "lapsed"}
    }
    return {
        "annotation_annotator": people,
        "annotation_decision": {row["id"] for row in records("annotation_decision") if row["question_id"] in questions},
        "annotation_session": sessions,
        "annotation_seat": {row["id"] for row in records("annotation_seat") if row["session_id"] in sessions},
        "annotation_slot": {
            row["id"]
            for row in records("annotation_slot")
            if row["annotator_id"] in people and row["answered_at"] is None
        },
    }


on_postgresql = pytest.mark.once(
    on="postgresql",
    because="what is read are rows that are compared on both; pages, reports and files are tried on SQLite by tests of "
    "their own",
)


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def column(table: str, name: str) -> list[Any]:
    return [row[TABLES[table]["columns"].index(name)] for row in TABLES[table]["rows"]]


def stored_rows(model: type[Model], columns: list[str]) -> dict[Any, list[Any]]:
    """Return the rows of a table by their key, values as the dump writes them."""
    fields = {field.column: field for field in model._meta.local_concrete_fields}
    # A design is read as it stands there, not as what it is filled to.
    found = model._base_manager.values_list(
        "pk",
        *(
            Cast(fields[name].attname, JSONField()) if isinstance(fields[name], JSONField) else fields[name].attname
            for name in columns
        ),
    )
    return {pk: [_plain(value) for value in values] for pk, *values in found}


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, bool | int | float | list | dict) or value is None else str(value)


def check_rows(known: dict[str, type[Model]]) -> None:
    """Check that every row is still there, and says in every column that is still there what it said."""
    for table, dumped in TABLES.items():
        if table in CHANGED:
            continue
        assert table in known, f"The table {table} has gone, and CHANGED does not say why."
        now = {field.column for field in known[table]._meta.local_concrete_fields}
        compared = [name for name in dumped["columns"] if f"{table}.{name}" not in CHANGED]
        assert set(compared) <= now, f"{table} has lost {set(compared) - now}, and CHANGED does not say why."
        indices = [dumped["columns"].index(name) for name in compared]
        key = dumped["columns"].index(known[table]._meta.pk.column)
        taken_out = TAKEN_OUT.get(table, set())
        expected = {row[key]: [row[index] for index in indices] for row in dumped["rows"] if row[key] not in taken_out}
        stored = stored_rows(known[table], compared)
        assert {pk: stored.get(pk) for pk in expected} == expected, table


OPEN = ("consent", "instructions", "practice", "working")
TAKEN_OUT = taken_out()


def test_the_filled_database_holds_what_a_site_has() -> None:
    """So that nobody makes the file again with less in it."""
    assert set(column("annotation_session", "state")) == {
        *("consent", "instructions", "practice", "working", "finished", "no_consent", "failed_checks"),
        *("given_up", "returned", "lapsed", "superseded"),
    }
    assert set(column("studies_study", "state")) == {"draft", "open", "paused", "closed"}
    assert set(column("studies_question", "kind")) == {"best_of_n", "ambiguity", "image_to_text", "text_to_image"}
    assert set(column("results_export", "state")) == {"waiting", "running", "ready", "failed"}
    assert set(column("annotation_decision", "state")) == {"undecided", "accepted", "rejected"}
    assert set(column("annotation_entryevent", "what")) == {
        *("missing", "unfilled", "other_person", "other_study", "no_seat")
    }
    assert set(column("studies_membership", "role")) == {"owner", "researcher"}
    assert {1, 2, 3} == set(column("annotation_response", "version"))
    assert None in column("annotation_response", "slot_id")
    assert "" in column("annotation_practiceanswer", "choice")
    assert {True, False} == set(column("annotation_skip", "file_missing"))
    assert "" in column("results_release", "file")
    assert None in column("studies_instanceimage", "image_id")
    assert [at is not None for at in column("annotation_annotator", "withdrawn_at")].count(True) == 2
    assert column("annotation_annotator", "blocked").count(True) == 3
    assert any(column("annotation_decision", "settled_choice"))


@pytest.mark.usefixtures("upgraded")
def test_no_row_is_lost_and_none_says_something_else() -> None:
    check_rows(by_table(apps))


@pytest.mark.usefixtures("upgraded")
def test_who_withdrew_before_the_upgrade_counts_nowhere_after_it() -> None:
    people = TAKEN_OUT["annotation_annotator"]
    Response, Decision = apps.get_model("annotation", "Response"), apps.get_model("annotation", "Decision")
    given = Response.objects.filter(annotator__in=people)
    assert set(given.values_list("left_out", flat=True)) == {"withdrawn"}
    assert not Response.objects.exclude(annotator__in=people).exclude(left_out="").exists()
    left = [
        row
        for row in records("annotation_response")
        if row["is_current"] and row["slot_id"] is not None and row["annotator_id"] not in people
    ]
    for decision in Decision.objects.filter(pk__in=TAKEN_OUT["annotation_decision"]):
        choices = [row["choice"] for row in left if row["question_id"] == decision.question_id]
        assert decision.votes == {choice: choices.count(choice) for choice in choices}
        assert decision.answers == len(choices)
        assert decision.state == "undecided" or choices or decision.settled_choice
    sessions = apps.get_model("annotation", "Session").objects.filter(pk__in=TAKEN_OUT["annotation_session"])
    assert set(sessions.values_list("state", flat=True)) == {"withdrawn"}
    assert not apps.get_model("annotation", "Seat").objects.filter(session__in=sessions).exists()


@pytest.mark.usefixtures("upgraded")
def test_what_was_drawn_from_their_answers_alone_stands_no_more_after_the_upgrade() -> None:
    """One of the two answered a question that led on, alone, as that study asks for one answer each."""
    Question, Decision = apps.get_model("studies", "Question"), apps.get_model("annotation", "Decision")
    undone = Question.objects.filter(undone_at__isnull=False)
    assert undone.exists()
    drawn = {row["id"]: row["drawn_from_id"] for row in records("studies_question") if row["drawn_from_id"]}
    before = {row["question_id"]: (row["state"], row["winner"]) for row in records("annotation_decision")}
    now = {each.question_id: (each.state, each.winner) for each in Decision.objects.all()}
    changed = {question for question, source in drawn.items() if now[source] != before[source]}
    # Of a study further down, drawn from one of those in turn.
    below = {question for question, source in drawn.items() if source in changed}
    assert set(undone.values_list("pk", flat=True)) == changed | below


@pytest.mark.usefixtures("upgraded")
def test_who_was_a_researcher_is_an_editor_and_owners_stay_owners() -> None:
    roles = dict(apps.get_model("studies", "Membership").objects.values_list("pk", "role"))
    before = {row["id"]: row["role"] for row in records("studies_membership")}
    assert roles == {pk: {"researcher": "editor", "owner": "owner"}[role] for pk, role in before.items()}


@pytest.mark.usefixtures("upgraded")
def test_what_that_version_guessed_of_a_study_is_declared() -> None:
    """Whose right answers are known was a baseline. What was kept was counted from the last of the others that had been
    launched, what a study feeds coming before the next one that none feeds: birds-trial, launched beside birds-pick."""
    studies = apps.get_model("studies", "Study").objects
    assert dict(studies.values_list("slug", "purpose")) == {
        "birds-pick": "filter",
        "birds-trial": "filter",
        "birds-doubt": "filter",
        "birds-later": "filter",
        "birds-baseline": "baseline",
        "birds-second-baseline": "baseline",
        "maps-pick": "filter",
    }
    kept = dict(apps.get_model("studies", "Project").objects.values_list("slug", "dataset__slug"))
    assert kept == {"birds": "birds-trial", "maps": "maps-pick", "empty": None}


@pytest.mark.usefixtures("upgraded")
def test_nothing_is_left_to_migrate() -> None:
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_older_version_can_still_add_rows_while_this_one_comes_in() -> None:
    """Its inserts name none of the columns that were added since."""
    known = by_table(apps)
    added = {
        f"{table}.{field.column}": field
        for table in DUMPED["tables"].keys() & known.keys()
        for field in known[table]._meta.local_concrete_fields
        if field.column not in DUMPED["tables"][table]["columns"]
    }
    refused = {name for name, field in added.items() if not (field.null or field.has_db_default())}
    assert refused == set()


@pytest.mark.usefixtures("upgraded")
def test_new_rows_come_after_the_old_ones() -> None:
    """A sequence that was not moved on would give a new row the key of an old one."""
    newcomer = User.objects.create_user("newcomer")
    assert newcomer.pk > max(row["id"] for row in records("auth_user"))


@on_postgresql
@pytest.mark.usefixtures("upgraded")
def test_every_page_answers_those_of_old_addresses_too() -> None:
    """Those that links lead to, and those that somebody may have kept: every page that the older version had.

    A file that was made before may no longer be offered, since somebody has withdrawn: that is no error of ours.
    """
    statuses = crawl(signed_in("rosa"), ["/", *DUMPED["pages"]])
    may_be_gone = {path for path in DUMPED["pages"] if path.startswith(("/exports/", "/releases/"))}
    assert {path: status for path, status in statuses.items() if status >= 400 and path not in may_be_gone} == {}
    assert {path: status for path, status in statuses.items() if status >= 500} == {}


@on_postgresql
@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("name", ["otto", "ines"])
def test_the_pages_of_members_answer(name: str) -> None:
    """Of a researcher of one project who owns another, and of the owner of an empty one."""
    statuses = crawl(signed_in(name), ["/"], most=25)
    assert {path: status for path, status in statuses.items() if status >= 400} == {}
    assert any(path.startswith("/projects/") for path in statuses)


@on_postgresql
@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_of_every_session_answers(language: str) -> None:
    client = Client(headers={"Accept-Language": language})
    tokens = column("annotation_session", "token")
    statuses = {token: client.get(f"/s/{token}/", follow=True).status_code for token in tokens}
    assert set(statuses.values()) == {200}


@pytest.mark.usefixtures("upgraded")
def test_the_links_that_people_came_by_lead_to_their_own_session() -> None:
    client = Client()
    for entry in DUMPED["entries"]:
        # The next person's browser.
        client.cookies.clear()
        response = client.get(entry["path"], follow=True)
        assert response.status_code < 500, entry
        path = response.request["PATH_INFO"]
        if path.startswith("/s/"):
            assert path == f"/s/{entry['token']}/", entry


@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("person", ["newcomer", "withdrawn"])
def test_the_link_of_every_study_answers_whoever_comes(person: str) -> None:
    """Nobody knows the one; the other took their consent back."""
    came = zip(
        column("annotation_annotator", "provider_id"), column("annotation_annotator", "withdrawn_at"), strict=True
    )
    withdrawn = [pid for pid, withdrawn_at in came if withdrawn_at is not None]
    client = Client()
    for pid in withdrawn if person == "withdrawn" else ["0123456789abcdef01234567"]:
        for slug in column("studies_study", "slug"):
            query = f"PROLIFIC_PID={pid}&STUDY_ID={'5' * 24}&SESSION_ID={'6' * 24}"
            assert client.get(f"/take/{slug}/?{query}", follow=True).status_code < 500
            assert client.get(f"/take/{slug}/").status_code < 500


@on_postgresql
@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_exports_are_written(format: str, tmp_path: Path) -> None:
    store_missing_files()
    call_command("export", "birds", format=format, out=tmp_path, verbosity=0)
    assert any(tmp_path.iterdir())


@on_postgresql
@pytest.mark.usefixtures("upgraded")
def test_exports_that_waited_or_were_lost_are_made_and_the_others_stay_what_they_were() -> None:
    store_missing_files()
    before = {row["id"]: row for row in records("results_export")}
    unmade = {pk for pk, row in before.items() if row["state"] in {"waiting", "running"}}
    assert len(unmade) > 1
    later = timezone.now() + timedelta(minutes=20)
    assert exports.adopt_exports(now=later) == len(unmade)
    for job in jobs.stalled_jobs(now=later):
        assert run_now(job).error == ""
    assert Job.objects.count() == len(unmade)
    for export in Export.objects.all():
        if export.pk in unmade:
            assert export.is_ready
            assert default_storage.exists(export.file)
        else:
            assert (export.is_ready, export.is_unmade) == (before[export.pk]["state"] == "ready", False)


@on_postgresql
@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("format", sorted(REPORT_FORMATS))
def test_reports_are_written(format: str, tmp_path: Path) -> None:
    call_command("report", "birds", format=format, out=tmp_path, verbosity=0)
    assert any(tmp_path.iterdir())


@pytest.mark.usefixtures("upgraded")
@pytest.mark.parametrize("name", ["v2", "v3", "new"])
def test_releases_are_written_again_and_anew(name: str, tmp_path: Path) -> None:
    """One frozen, one asked for and never frozen, and a new one."""
    store_missing_files()
    call_command("release", "birds", study="birds-pick", name=name, format="jsonl", out=tmp_path, verbosity=0)
    assert any(tmp_path.rglob("*.jsonl"))


@pytest.mark.usefixtures("upgraded")
def test_a_release_that_holds_somebody_who_withdrew_is_not_given_out(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="withdrawn"):
        call_command("release", "birds", study="birds-doubt", name="v1", format="jsonl", out=tmp_path, verbosity=0)


@pytest.mark.usefixtures("upgraded")
def test_somebody_new_takes_part_in_an_old_study() -> None:
    Session = apps.get_model("annotation", "Session")
    before = Session.objects.count()
    call_command("simulate", "birds-trial", annotators=1, seed="after the upgrade", verbosity=0)
    assert Session.objects.filter(state="finished").count() > column("annotation_session", "state").count("finished")
    assert Session.objects.count() == before + 1


@pytest.mark.usefixtures("upgraded")
def test_old_studies_go_on_to_be_launched_closed_and_lapse(tmp_path: Path) -> None:
    """A draft once it says whom annotators can write to, which nobody asked of it then."""
    with pytest.raises(CommandError, match="has no contact for annotators"):
        call_command("launch_study", "birds-later", verbosity=0)
    draft = apps.get_model("studies", "Study").objects.get(slug="birds-later")
    file = tmp_path / "birds-later.yaml"
    file.write_text(f"{draft.source}\ncontact: Ada Lovelace\n", encoding="utf-8")
    call_command("create_study", str(file), "--project", draft.project.slug, "--replace", verbosity=0)
    call_command("launch_study", "birds-later", verbosity=0)
    call_command("close_study", "birds-trial", verbosity=0)
    call_command("expire_sessions", verbosity=0)
    states = dict(apps.get_model("studies", "Study").objects.values_list("slug", "state"))
    assert (states["birds-later"], states["birds-trial"]) == ("open", "closed")


@pytest.mark.usefixtures("upgraded")
def test_a_withdrawal_is_noted_after_the_upgrade() -> None:
    name = column("results_pseudonym", "name")[4]
    call_command("withdraw", "birds", name, verbosity=0)
    crawled = crawl(signed_in("rosa"), ["/studies/birds-pick/"], most=12)
    assert max(crawled.values()) < 400


@pytest.fixture
def copy_to_migrate(upgraded_database: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A copy of the upgraded database, for migrations to change."""
    with django_db_blocker.unblock(), database("copy", like=upgraded_database) as name, connected_to(name):
        yield


@pytest.mark.once(
    on="postgresql",
    because="the steps back are the same Python on both, and on SQLite the file that was copied before leads back too; "
    "the way forward is gone on both",
)
@pytest.mark.usefixtures("copy_to_migrate")
def test_the_way_back_is_open_or_says_why_not() -> None:
    """Back to the version before, looking round on the way, and forward again: once, since it takes half a minute."""
    Study, Membership = apps.get_model("studies", "Study"), apps.get_model("studies", "Membership")
    study = Study.objects.earliest("pk")
    before = stored_designs()
    # Whatever is stored again is stored as this version has it.
    study.save()
    # The version before lets everybody change everything who is not an owner.
    viewers = list(Membership.objects.filter(role="editor").values_list("pk", flat=True))
    Membership.objects.filter(pk__in=viewers).update(role="viewer")
    targets = leaves(VERSION)
    with pytest.raises(IrreversibleError, match="memberships are those of viewers"):
        migrate_to(targets)
    assert roles() == {"owner", "viewer"}
    check_design_of_version_1(stored_designs()[study.pk])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [before[study.pk], study.pk])
    Membership.objects.filter(pk__in=viewers).update(role="editor")

    try:
        migrate_to(targets)
    except IrreversibleError as error:
        name = str(error).rpartition(" in ")[2].removesuffix(" is not reversible")
        app, _, migration = name.partition(".")
        found = MigrationExecutor(connection).loader.graph.nodes[app, migration]
        assert type(found).__doc__, f"{name} cannot be undone. Its docstring must say why."
    else:
        check_rows(models_of(targets))
    assert roles() == {"owner", "researcher"}
    upgrade()
    check_rows(by_table(apps))
    assert Study.objects.get(pk=study.pk).design == study.design


def roles() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT role FROM studies_membership")
        return {role for (role,) in cursor.fetchall()}


def stored_designs() -> dict[int, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, CAST(design AS text) FROM studies_study")
        return dict(cursor.fetchall())


def check_design_of_version_1(text: str) -> None:
    """Check that a design is one that the version before reads."""
    design = json.loads(text)
    assert design["version"] == 1
    assert not {"language", "contact", "answering", "endings"} & design.keys()
    assert design["time"].keys() == {"estimated_minutes", "limit_minutes"}
