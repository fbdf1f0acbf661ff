import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parents[2]
LONG_KEY = "k" * 60 + "0123456789abcdef"
SETTING = re.compile(r"""read_\w+\(\s*"([A-Z_]+)\"""")


def _manage(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return _python("manage.py", *arguments, folder=folder, **environment)


def _load(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Read all settings, as whatever starts does first, and go no further."""
    return _python("-c", "import config", folder=folder, **environment)


def _python(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=kept | {"DATA_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
    )


def test_the_production_settings_have_nothing_to_warn_of(tmp_path: Path) -> None:
    done = _manage(
        *("check", "--deploy", "--fail-level", "WARNING"),
        folder=tmp_path,
        HTTPS="1",
        SECRET_KEY=LONG_KEY,
        ALLOWED_HOSTS="lineup.example",
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_short_key_stops_the_start_of_production(tmp_path: Path) -> None:
    done = _manage("check", folder=tmp_path, HTTPS="1", SECRET_KEY="k" * 49, ALLOWED_HOSTS="lineup.example")
    assert done.returncode != 0
    assert "SECRET_KEY is shorter than 50 characters. Make a long random one and keep it secret." in done.stderr


@pytest.mark.parametrize("length", [20, 49])
def test_a_site_without_https_keeps_a_key_that_was_long_enough_for_it(tmp_path: Path, length: int) -> None:
    done = _load(tmp_path, SECRET_KEY="k" * length)
    assert (done.returncode, done.stderr) == (0, "")


CHECK, GUNICORN = ("manage.py", "check"), ("-m", "gunicorn", "--check-config", "config.wsgi")
CELERY = ("-m", "celery", "-A", "config", "report")
DATABASE = "DATABASE_URL cannot be read (Invalid IPv6 URL). "
DATABASE += "Use sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME."
FOLDER = "DATA_DIR is /dev/null, which cannot be written to (File exists). Name a folder that this user may use."
PIXELS = "IMAGE_MAX_PIXELS is -1. Write a whole number, 1 or more."
KEY = "SECRET_KEY is shorter than 20 characters. Make a long random one and keep it secret."


@pytest.mark.parametrize(
    ("starts", "name", "value", "sentence"),
    [
        (CHECK, "LOG_LEVEL", "LOUD", "LOG_LEVEL is 'LOUD'. Write one of DEBUG, INFO, WARNING, ERROR, CRITICAL."),
        (CHECK, "DATABASE_URL", "postgresql://[lineup:secret@db/lineup", DATABASE),
        (CHECK, "DATA_DIR", "/dev/null", FOLDER),
        (CHECK, "IMAGE_MAX_PIXELS", "-1", PIXELS),
        (CHECK, "HSTS_SECONDS", "-1", "HSTS_SECONDS is -1. Write a whole number, 0 or more."),
        (CHECK, "SECRET_KEY", "k" * 19, KEY),
        (GUNICORN, "WEB_WORKERS", "0", "WEB_WORKERS is 0. Write a whole number, 1 or more."),
        (GUNICORN, "WEB_THREADS", "many", "WEB_THREADS is 'many'. Write a whole number."),
        (GUNICORN, "IMAGE_MAX_PIXELS", "-1", PIXELS),
        (CELERY, "IMAGE_MAX_PIXELS", "-1", PIXELS),
    ],
)
def test_a_setting_that_cannot_be_meant_stops_whatever_starts_with_nothing_but_a_sentence(
    tmp_path: Path, starts: tuple[str, ...], name: str, value: str, sentence: str
) -> None:
    done = _python(*starts, folder=tmp_path, **{name: value})
    assert (done.returncode, done.stderr) == (1, f"{sentence}\n")


def test_a_folder_of_data_that_is_there_stays_as_its_owner_set_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    assert _load(tmp_path).returncode == 0
    assert (tmp_path / "secret_key").exists()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_no_setting_is_needed_on_one_machine_and_the_folder_of_the_data_is_made_for_its_owner_alone(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "new" / "data"
    done = _manage("check", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "secret_key").exists()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("file", ["config/settings.py", "config/capacity.py", "gunicorn.conf.py"])
def test_the_readme_lists_every_setting(file: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = set(SETTING.findall((ROOT / file).read_text(encoding="utf-8")))
    assert settings
    assert {name for name in settings if f"`{name}`" not in readme} == set()


@pytest.mark.django_db
def test_every_page_carries_the_headers_of_security_and_runs_no_script_or_style_that_stands_in_it(
    client: Client,
) -> None:
    headers = client.get("/no-such-page").headers
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert (headers["Referrer-Policy"], headers["Cross-Origin-Opener-Policy"]) == ("same-origin", "same-origin")
    policy = headers["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'self'"
    assert directives["object-src"] == directives["base-uri"] == directives["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
