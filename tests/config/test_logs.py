import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.core.exceptions import SuspiciousOperation
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from config.logs import mask_secrets
from tests.config.lines import log_lines
from tests.servers import spare_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
ENTRY = "/take/birds/?PROLIFIC_PID=5f0c1aaaaaaaaaaaaaaaaaaa&STUDY_ID=6bbb&SESSION_ID=7ccc"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (f"GET {ENTRY} 303", "GET /take/birds/?... 303"),
        ("Not Found: /s/tok-en_1/answer/", "Not Found: /s/.../answer/"),
        ("GET /s/tok-en_1/ 200", "GET /s/.../ 200"),
        ("GET /invitations/tok-en_1/ 200", "GET /invitations/.../ 200"),
        ("GET https://x.example/forgotten/Mw/tok-en_1/ 200", "GET https://x.example/forgotten/Mw/.../ 200"),
        ("GET /account/mail/tok-en_1/ 200", "GET /account/mail/.../ 200"),
        # Addresses that lead nowhere, written by hand or joined badly.
        ("Not Found: /s//tok-en_1/", "Not Found: /s//.../"),
        ("Not Found: /S/tok-en_1/", "Not Found: /S/.../"),
        ("Not Found: //account//mail/tok-en_1/", "Not Found: //account//mail/.../"),
        ("Not Found: /images/tok-en_1/view", "Not Found: /images/.../view"),
        ("GET /s/tok-en_1?tok-en_2 200", "GET /s/...?... 200"),
        ("GET /projects/s/instances/ 200", "GET /projects/s/.../ 200"),
        ("Was that all? Yes.", "Was that all? Yes."),
        ("Redirect to 'https://x.example/?cc=C1' done", "Redirect to 'https://x.example/?...' done"),
    ],
)
def test_ids_and_tokens_are_left_out(line: str, kept: str) -> None:
    assert mask_secrets(line) == kept


# What may stand in a path and opens nothing by itself. Numbers and UUIDs open nothing either.
HARMLESS = {
    *("slug", "project", "study", "key", "format", "size", "part", "username", "sha256", "uidb64", "digest", "table"),
    *("app_label", "object_id", "content_type_id", "id", "url", "kind"),
}
# The name of a study's door, which is posted on Prolific, and pseudonyms.
HARMLESS_NAMES = ("/take/<slug:name>/", "/people/<slug:name>/", "/people/<str:name>/")
OPENS_NOTHING_ALONE = ("int", "uuid")
SECRET, PLAIN = "Kq3-secret_7", "plain"
PART = re.compile(r"<(?:(\w+):)?(\w+)>")


def routes(patterns: Sequence[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, route)
        else:
            yield route


def is_secret(route: str, part: re.Match[str]) -> bool:
    if part[1] in OPENS_NOTHING_ALONE or part[2] in HARMLESS:
        return False
    return not any(name in route for name in HARMLESS_NAMES) or part[2] != "name"


def _fill(route: str) -> str:
    return PART.sub(lambda part: SECRET if is_secret(route, part) else PLAIN, route)


def secret_addresses() -> list[str]:
    """Return an address for every URL with a secret in its path: all parts of it that are not known to be harmless."""
    every = list(routes(get_resolver().url_patterns))
    assert len(every) > 190
    filled = [_fill(route) for route in every]
    return [address for address in filled if SECRET in address]


def test_every_secret_in_a_path_is_masked() -> None:
    """A new URL whose parts are not known to be harmless fails here, until it is masked or called harmless above."""
    addresses = secret_addresses()
    assert len(addresses) >= 23
    assert [address for address in addresses if SECRET in mask_secrets(f"GET {address} 200")] == []


def test_the_example_for_nginx_masks_the_same_paths() -> None:
    guide = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    pattern, replacement = re.findall(r'^ +"~(.+)" (\$before\S+);$', guide, re.MULTILINE)[0]
    in_python = re.compile(pattern.replace("(?<", "(?P<"))
    template = re.sub(r"\$(\w+)", r"\\g<\1>", replacement)
    for address in secret_addresses():
        assert in_python.sub(template, address) == mask_secrets(address)
    assert in_python.sub(template, f"/s/{SECRET}/\n{SECRET}") == f"/s/.../\n{SECRET}"
    assert in_python.sub(template, f"//S//{SECRET}/") == "//S//.../"


def test_a_celery_worker_masks_what_it_logs(tmp_path: Path) -> None:
    """Celery replaces the handlers of the settings by its own, those of tasks too."""
    program = (
        "import logging; from celery.utils.log import get_task_logger; from config.celery import app; "
        "app.log.setup(loglevel='INFO'); "
        "[logger.error('failed at /invitations/Kq3-secret_7/', exc_info=ValueError('/s/Kq3-secret_7/?a=Kq3-secret_7')) "
        "for logger in (logging.getLogger('site'), get_task_logger('site'))]"
    )
    environment = os.environ | {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"}
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("failed at /invitations/.../") == 2
    assert run.stderr.count("| ValueError: /s/.../?...") == 2
    assert SECRET not in run.stderr


FORGED = "2026-11-21 12:00:00,000 ERROR site everything is lost"


@pytest.mark.parametrize(
    ("separator", "written"),
    [
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\x1b[2K", "\\x1b[2K"),
        ("\x00", "\\x00"),
        ("\x85", "\\x85"),
        ("\u2028", "\\u2028"),
        ("\u202e", "\\u202e"),
        ("Müller, 山田, مرحبا, \N{BIRD}", "Müller, 山田, مرحبا, \N{BIRD}"),
    ],
    ids=repr,
)
def test_nobody_forges_a_line_and_words_of_any_language_stay_as_they_are(separator: str, written: str) -> None:
    with log_lines() as out:
        logging.getLogger("tests").warning("asked for %s", f"a{separator}{FORGED}")
    assert len(out.getvalue().splitlines()) == 1
    assert f"asked for a{written}{FORGED}" in out.getvalue()


def test_a_stack_trace_quotes_no_ids_and_nobody_forges_a_line_in_it() -> None:
    with log_lines() as out:
        try:
            raise ValueError(f"cannot read {ENTRY}\n{FORGED}\x1b[2K")
        except ValueError:
            logging.getLogger("tests").exception("failed at %s", ENTRY)
    first, *trace = out.getvalue().splitlines()
    assert first.endswith(" ERROR tests failed at /take/birds/?...")
    assert "| ValueError: cannot read /take/birds/?..." in trace
    assert "5f0c1" not in out.getvalue()
    assert f"| {FORGED}\\x1b[2K" in trace
    assert [line for line in trace if not line.startswith("| ")] == []


def test_a_name_that_the_site_does_not_answer_to_is_one_quiet_line_where_information_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with log_lines() as out:
        assert Client(headers={"Host": "evil.example"}).get("/healthz").status_code == 400
        monkeypatch.setattr(logging.getLogger(), "level", logging.WARNING)
        Client(headers={"Host": "evil.example"}).get("/healthz")
    (line,) = out.getvalue().splitlines()
    assert " INFO django.security.DisallowedHost Invalid HTTP_HOST header: 'evil.example'." in line


def test_what_else_clients_do_wrong_is_a_warning_without_a_trace() -> None:
    with log_lines() as out:
        try:
            raise SuspiciousOperation("too many fields")
        except SuspiciousOperation as error:
            logging.getLogger("django.security.TooManyFieldsSent").error("too many fields", exc_info=error)
    (line,) = out.getvalue().splitlines()
    assert line.endswith(" WARNING django.security.TooManyFieldsSent too many fields")


@contextmanager
def _web_server(tmp_path: Path, log: Path, *, access_log: str) -> Iterator[str]:
    """Run a web server with the house's own configuration on an empty database; yields its address."""
    address = f"127.0.0.1:{spare_port()}"
    environment = os.environ | {
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
        "WEB_BIND": address,
        "WEB_WORKERS": "1",
        "WEB_ACCESS_LOG": access_log,
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "config.wsgi"], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
    try:

        def has_begun() -> bool:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            return "Booting worker" in log.read_text(encoding="utf-8")

        wait_until(has_begun, seconds=60, why=lambda: log.read_text(encoding="utf-8"))
        yield f"http://{address}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def test_the_web_server_logs_no_ids_of_people(tmp_path: Path) -> None:
    log = tmp_path / "log"
    # Without tables most of them fail, which logs a stack trace.
    asked = {
        ENTRY: "GET /take/birds/ 500",
        "/s/a-secret-token/?PROLIFIC_PID=5f0c1aaaaaaaaaaaaaaaaaaa": "GET /s/.../ 500",
        "/no-such-page/?SESSION_ID=7ccc": "GET /no-such-page/ 404",
        "/invitations/a-secret-token/": "GET /invitations/.../ 500",
        "/forgotten/Mw/a-secret-token/": "GET /forgotten/Mw/.../ ",
        "/account/mail/a-secret-token/": "GET /account/mail/.../ ",
    }
    with _web_server(tmp_path, log, access_log="-") as address:
        for path in asked:
            httpx.get(address + path, timeout=30)
    lines = log.read_text(encoding="utf-8")
    assert [line for line in [*asked.values(), "Traceback"] if line not in lines] == []
    for secret in ("5f0c1", "6bbb", "7ccc", "a-secret-token"):
        assert secret not in lines


def test_requests_are_logged_only_when_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _web_server(tmp_path, log, access_log="") as address:
        assert httpx.get(f"{address}/healthz", timeout=30).status_code == 200
    assert "healthz" not in log.read_text(encoding="utf-8")
