import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parents[2]
LONG_KEY = "k" * 60 + "0123456789abcdef"
SETTING = re.compile(r"""(?:read_text|read_flag|read_number|read_list|read_proxies|read_cache)\(\s*"([A-Z_]+)\"""")


def _manage(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
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
    done = _manage("check", folder=tmp_path, HTTPS="1", SECRET_KEY="short", ALLOWED_HOSTS="lineup.example")
    assert done.returncode != 0
    assert "SECRET_KEY is shorter than 50 characters. Make a long random one and keep it secret." in done.stderr


def test_no_setting_is_needed_on_one_machine(tmp_path: Path) -> None:
    done = _manage("check", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "secret_key").exists()


@pytest.mark.parametrize("file", ["config/settings.py", "gunicorn.conf.py"])
def test_the_readme_lists_every_setting(file: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = set(SETTING.findall((ROOT / file).read_text(encoding="utf-8")))
    assert settings
    assert {name for name in settings if f"`{name}`" not in readme} == set()


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Frame-Options", "DENY"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ],
)
@pytest.mark.django_db
def test_every_page_carries_the_headers_of_security(client: Client, header: str, value: str) -> None:
    assert client.get("/no-such-page").headers[header] == value


@pytest.mark.django_db
def test_a_page_runs_no_script_and_no_style_that_stands_in_it(client: Client) -> None:
    policy = client.get("/no-such-page").headers["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'self'"
    assert directives["object-src"] == directives["base-uri"] == directives["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
