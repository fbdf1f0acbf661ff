import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.actions.recruiting import encrypt_again
from annotation.actions.recruiting.panel import add_to_panel, address_of, find_annotator
from annotation.models import Annotator, PanelMember, ProlificAccount, ProlificStudy, Session, Submission
from background.sealed_secrets import keyed_digest, seal, unseal
from studies.models import Study
from tests.factories import NOON, launch_study, make_project, sit_down
from tests.people import make_annotator

pytestmark = pytest.mark.django_db
OLD, NEW = "an-old-key-of-the-site-0123456789ab", "a-new-key-of-the-site-0123456789abc"


def save(slug: str, sealed_token: str, sealed_webhook_key: str = "") -> None:
    ProlificAccount.objects.create(
        project=make_project(slug),
        sealed_token=sealed_token,
        sealed_webhook_key=sealed_webhook_key,
        user_id="5f00",
        saved_at=NOON,
    )


def submit(study: Study, remote_id: str) -> Submission:
    at_prolific = ProlificStudy.objects.create(
        study=study, internal_name=remote_id, places=1, reward=1, currency="USD", created_at=NOON
    )
    return Submission.objects.create(
        prolific_study=at_prolific,
        sealed_id=seal(remote_id),
        id_digest=keyed_digest(remote_id, purpose="submission"),
        status="ACTIVE",
        read_at=NOON,
    )


def test_tokens_are_encrypted_under_the_newest_key(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    save("vases", seal("token-of-vases"), seal("key-of-vases"))
    save("jugs", seal("token-of-jugs"))
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    for _ in range(2):
        call_command("encrypt_tokens_again")
        assert capsys.readouterr().out.splitlines()[0] == "3 tokens encrypted under the newest key."
    settings.ENCRYPTION_KEYS = [NEW]
    tokens = [unseal(account.sealed_token) for account in ProlificAccount.objects.order_by("pk")]
    assert tokens == ["token-of-vases", "token-of-jugs"]
    assert unseal(ProlificAccount.objects.get(project__slug="vases").sealed_webhook_key) == "key-of-vases"


def test_a_token_that_no_key_opens_is_kept_and_named(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    save("vases", seal("token-of-vases"))
    save("jugs", "lost")
    with pytest.raises(CommandError, match="No key of this site opens 1 token"):
        call_command("encrypt_tokens_again")
    assert capsys.readouterr().out.splitlines()[0] == "1 token encrypted under the newest key."
    assert ProlificAccount.objects.get(project__slug="jugs").sealed_token == "lost"


def test_ids_are_encrypted_and_found_under_the_newest_key(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In batches of two: six people, the address of one, a session, and a submission with the same id."""
    monkeypatch.setattr(encrypt_again, "BATCH", 2)
    settings.ENCRYPTION_KEYS = [OLD]
    study = launch_study()
    session = sit_down(study, "ann")
    people = [session.annotator, *(make_annotator(name) for name in ("ben", "cleo", "dora", "emil"))]
    submission = submit(study, session.provider_session_id)
    add_to_panel(project=study.project, addresses=["fay@example.org"], by="tests", now=NOON)
    fay = PanelMember.objects.get().annotator
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    call_command("encrypt_tokens_again")
    assert capsys.readouterr().out.splitlines()[1] == "9 ids encrypted under the newest key; 0 were already."
    call_command("encrypt_tokens_again")
    assert capsys.readouterr().out.splitlines()[1] == "0 ids encrypted under the newest key; 9 were already."
    settings.ENCRYPTION_KEYS = [NEW]
    found = [Annotator.objects.with_id("prolific", [name]).get() for name in ("ann", "ben", "cleo", "dora", "emil")]
    assert found == people
    assert find_annotator("fay@example.org") == fay
    assert address_of(PanelMember.objects.get()) == "fay@example.org"
    assert [each.provider_id for each in found] == ["ann", "ben", "cleo", "dora", "emil"]
    session.refresh_from_db()
    submission.refresh_from_db()
    assert session.id_digest == submission.id_digest
    assert session.provider_session_id == unseal(submission.sealed_id) == "submission-ann-120000"


def test_two_rows_of_one_person_cannot_stop_the_command(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """They arrived at two processes, one of which did not have the new key yet."""
    settings.ENCRYPTION_KEYS = [OLD]
    older, other = make_annotator("ann"), make_annotator("ben")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    newer = make_annotator("ann")
    call_command("encrypt_tokens_again")
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "1 id encrypted under the newest key; 1 were already."
    assert out[2].startswith("1 id occurred twice")
    settings.ENCRYPTION_KEYS = [NEW]
    assert Annotator.objects.with_id("prolific", ["ann"]).get() == newer
    assert Annotator.objects.with_id("prolific", ["ben"]).get() == other
    assert Annotator.objects.filter(pk=older.pk).exists()


def test_ids_that_no_key_opens_are_kept_and_counted(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    ann = make_annotator("ann")
    settings.ENCRYPTION_KEYS = [NEW]
    make_annotator("ben")
    with pytest.raises(CommandError, match="No key of this site opens 1 id"):
        call_command("encrypt_tokens_again")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert Annotator.objects.with_id("prolific", ["ann"]).get() == ann


def test_an_id_that_is_deleted_meanwhile_stays_deleted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    session = sit_down(launch_study(), "ann")
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    def delete_and_seal(sealed: str) -> str:
        Session.objects.update(sealed_id="", id_digest=None)
        return seal(unseal(sealed))

    monkeypatch.setattr(encrypt_again, "seal_again", delete_and_seal)
    call_command("encrypt_tokens_again")
    session.refresh_from_db()
    assert (session.sealed_id, session.id_digest, session.provider_session_id) == ("", None, "")
