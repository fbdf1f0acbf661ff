"""The README's walk, typed line by line into a shell at a terminal, in a fresh copy of the repository.

Two things are otherwise: the packages are those of the running tests, and the site gets a spare port.
"""

import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.servers import spare_port

ROOT = Path(__file__).resolve().parents[2]
# What a clone does not bring, and what the walk does not use. What was compiled of it comes along: it says the same.
LEFT_BEHIND = (*(".git", ".venv*", ".hypothesis", ".*_cache", "var", "demo-data", "staticfiles", "tests"), "benchmarks")
SETUP = "make setup && . .venv/bin/activate"
SERVE = "STATIC_WITHOUT_COLLECT=1 python manage.py runserver &"
PASSWORD = "a long password of the walk"
ANSWERS = {"Email address:": "", "Password:": PASSWORD, "Password (again):": PASSWORD}
# Not only at the end: what runs in the background may write after it.
PROMPT = re.compile(r"walk:(\d+)> ")
STEP_SECONDS, END_SECONDS = 300, 30


def walk() -> list[str]:
    """Return the commands of the README's walk, as they are typed."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## A study, from a manifest")[2]
    block = section.partition("\n```sh\n")[2].partition("\n```\n")[0].replace("\\\n", "")
    return [line for line in block.splitlines() if line and not line.startswith("#")]


class Terminal:
    """A shell at a terminal, as a person has it. `said` is all that it and its programs wrote."""

    def __init__(self, folder: Path) -> None:
        self.said = ""
        self.file, theirs = pty.openpty()
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.shell = subprocess.Popen(
            ["setsid", "--ctty", "bash", "--norc", "--noprofile", "--noediting", "-i"],
            cwd=folder,
            env=kept | {"PATH": path, "TERM": "dumb", "PS1": "walk:$?> "},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self._read_until_prompt()

    def run(self, command: str) -> str:
        """Type a command, answer what it asks, and return what was said; it must end well."""
        self._type(command)
        status, said = self._read_until_prompt()
        assert (status, "Traceback" in said) == (0, False), self.said
        return said

    def _type(self, text: str) -> None:
        os.write(self.file, f"{text}\n".encode())

    def _read_until_prompt(self) -> tuple[int, str]:
        said, asked = "", dict(ANSWERS)
        deadline = time.monotonic() + STEP_SECONDS
        while (prompt := PROMPT.search(said)) is None:
            if time.monotonic() > deadline:
                pytest.fail(f"The shell hangs after:\n{self.said}{said}")
            if select.select([self.file], [], [], 1)[0]:
                said += os.read(self.file, 65536).decode(errors="replace").replace("\r", "")
            for question in [question for question in asked if said.rstrip().endswith(question)]:
                self._type(asked.pop(question))
        self.said += said
        return int(prompt[1]), said

    def running(self) -> list[int]:
        """Return the processes that were started here and still run, the shell left out."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                # After the name in brackets: state, parent, group, session.
                state, _, _, session = (
                    stat.read_text(encoding="ascii", errors="replace").rpartition(") ")[2].split()[:4]
                )
            except OSError:
                continue
            if int(session) == self.shell.pid != int(stat.parent.name) and state != "Z":
                found.append(int(stat.parent.name))
        return found

    def rests(self, seconds: float) -> bool:
        """Return whether all that was started here ends within `seconds`; reads its output meanwhile."""
        deadline = time.monotonic() + seconds
        while self.running() and time.monotonic() < deadline:
            if select.select([self.file], [], [], 0.2)[0]:
                self.said += os.read(self.file, 65536).decode(errors="replace")
        return not self.running()

    def end(self) -> None:
        for pid in [*self.running(), self.shell.pid]:
            os.kill(pid, signal.SIGKILL)
        self.shell.wait(timeout=END_SECONDS)
        os.close(self.file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "lineup"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    return copy


@pytest.fixture
def terminal(folder: Path) -> Iterator[Terminal]:
    opened = Terminal(folder)
    try:
        yield opened
    finally:
        opened.end()


def look_at_the_project(site: str) -> None:
    """Sign in as the walk's researcher; the project is there, and its page has a style."""
    with httpx.Client(base_url=site, follow_redirects=True, timeout=30) as browser:
        asked = browser.get("/projects/scenes/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', asked.text)
        assert token is not None
        fields = {"csrfmiddlewaretoken": token[1], "username": "ada", "password": PASSWORD}
        page = browser.post(str(asked.url), data=fields)
        assert (page.status_code, page.url.path) == (200, "/projects/scenes/")
        sheet = re.search(r'href="(/static/css/app[^"]*)"', page.text)
        assert sheet is not None
        assert browser.get(sheet[1]).status_code == 200


def ask(folder: Path, query: str) -> object:
    with closing(sqlite3.connect(folder / "var" / "db.sqlite3")) as database:
        (found,) = database.execute(query).fetchone()
        return found


@pytest.mark.timeout(len(walk()) * STEP_SECONDS)
def test_the_readmes_walk_leads_from_a_fresh_copy_to_accepted_instances(terminal: Terminal, folder: Path) -> None:
    port = spare_port()
    commands = walk()
    assert commands[0] == SETUP
    assert SERVE in commands
    *steps, last = [command.replace("runserver", f"runserver {port}") for command in commands[1:]]
    for command in steps:
        terminal.run(command)
    look_at_the_project(f"http://127.0.0.1:{port}")
    assert "Drew 70 scenes" in terminal.said
    assert re.search(r"\n5 sessions, [1-9]\d* answers", terminal.said)
    accepted = (folder / "released" / "drawn-scenes-instances.jsonl").read_text(encoding="utf-8").splitlines()
    assert accepted
    assert ask(folder, "SELECT count(*) FROM annotation_decision WHERE state = 'accepted'") == len(accepted)
    assert ask(folder, "SELECT count(*) FROM annotation_seat WHERE session_id IS NOT NULL AND filled_at IS NULL") == 0
    assert ask(folder, "SELECT state FROM studies_study") == "closed"
    assert (folder / "report" / "report.html").exists()
    terminal.run(last)
    if not terminal.rests(END_SECONDS):
        # What Celery itself asks for when its first, patient end takes too long.
        terminal.run("kill -QUIT $(jobs -p)")
    assert terminal.rests(END_SECONDS), terminal.said
