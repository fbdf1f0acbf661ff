import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.models import ProlificAccount
from background.sealed_secrets import seal, unseal
from tests.factories import NOON, make_project

pytestmark = pytest.mark.django_db
OLD, NEW = "an-old-key-of-the-site-0123456789ab", "a-new-key-of-the-site-0123456789abc"


def save(slug: str, sealed_token: str) -> None:
    ProlificAccount.objects.create(project=make_project(slug), sealed_token=sealed_token, user_id="5f00", saved_at=NOON)


def test_tokens_are_encrypted_under_the_newest_key(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    for slug in ("vases", "jugs"):
        save(slug, seal(f"token-of-{slug}"))
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    for _ in range(2):
        call_command("encrypt_tokens_again")
        assert capsys.readouterr().out == "2 tokens encrypted under the newest key.\n"
    settings.ENCRYPTION_KEYS = [NEW]
    tokens = [unseal(account.sealed_token) for account in ProlificAccount.objects.order_by("pk")]
    assert tokens == ["token-of-vases", "token-of-jugs"]


def test_a_token_that_no_key_opens_is_kept_and_named(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    save("vases", seal("token-of-vases"))
    save("jugs", "lost")
    with pytest.raises(CommandError, match="No key of this site opens 1 token"):
        call_command("encrypt_tokens_again")
    assert capsys.readouterr().out == "1 token encrypted under the newest key.\n"
    assert ProlificAccount.objects.get(project__slug="jugs").sealed_token == "lost"
