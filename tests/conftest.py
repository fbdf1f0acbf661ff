from pathlib import Path

import pytest
from pytest_django import Settings

pytest_plugins = ("tests.services", "tests.database_free", "tests.halves")


@pytest.fixture(autouse=True)
def _own_media_folder(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _static_files_are_found_when_asked_for(settings: Settings) -> None:
    """Or WhiteNoise lists all of them for every test client, a fifth of what a test of a page takes."""
    settings.WHITENOISE_AUTOREFRESH = True
