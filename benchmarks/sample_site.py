"""Fill a site with its own commands, pages and API, on whatever version of the code is loaded.

Names no module of the product, only commands, addresses and fields, which all versions share.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client

PROJECTS = {"demo": ("manifest.jsonl", "jsonl"), "demo-sets": ("image-sets.jsonl", "imagecode")}
# Study -> number of simulated annotators. Each study comes after those it draws from.
SCENES = {
    "drawn-scenes": 5,
    "drawn-scenes-filter": 2,
    "drawn-scenes-baseline": 4,
    "drawn-scenes-ratings": 4,
    "drawn-scenes-statements": 3,
    "drawn-scenes-preferences": 6,
}
STUDIES = {"demo": SCENES, "demo-sets": {"drawn-sets-describe": 2, "drawn-sets-retrieve": 4}}
MEMBERS = ("editor", "viewer")
# Presses before a person leaves the page open: consent, instructions, practice, questions.
PRESSES = range(8)
STEPS = ("go-on", "consent", "begin", "practice", "answer", "finish")
NOWHERE = "http://127.0.0.1:9/"
PASSED_ON = (
    "/projects/demo/",
    "/projects/demo/results/",
    "/projects/demo/report/json/",
    "/studies/demo/drawn-scenes/",
    "/studies/demo/drawn-scenes/owed.csv",
    "/exports/1/download/",
    "/imports/2/problems/",
    "/releases/1/provider-ids/",
    "/admin/",
    "/forgotten/",
    "/invitations/none/",
    "/healthz",
    "/readyz",
    "/nothing/",
)
EXPORTS = ("jsonl", "csv", "responses", "hf")
ABOUT = {"licence": "CC-BY-4.0", "description": "Drawn scenes.", "citation": "@misc{drawn}"}


@dataclass
class Visitor:
    """Somebody who looks at the site. user: the account, "" for none; token: for the API; start: what is opened first;
    within: with what all addresses begin that are opened from there on."""

    user: str = ""
    token: str = ""
    start: list[str] = field(default_factory=lambda: ["/"])
    within: str = "/"


def fill_site(folder: Path) -> dict[str, Visitor]:
    """Fill the loaded site from files in `folder`, and return its visitors."""
    call_command("migrate", verbosity=0)
    people = {name: Visitor(name) for name in ("owner", *MEMBERS, "outsider", "admin")}
    for name in people:
        _create_account(name)
    call_command("demo", draw=folder, stdout=StringIO())
    for project, studies in STUDIES.items():
        _fill_project(project, studies, folder)
    for name in ("owner", *MEMBERS, "outsider"):
        people[name].token = _make_token(name)
    owner = Api(people["owner"].token)
    _invite_members(owner)
    _import_more(owner, folder)
    _add_predictions(owner)
    _decide(owner)
    _change_studies(owner, folder)
    _export(owner)
    people["owner"].start += _uploads()
    people["admin"] = Visitor("admin", start=["/admin/"], within="/admin/")
    people["outsider"].start += PASSED_ON
    annotator, stranger = Visitor(start=list(_annotators_pages())), Visitor(start=["/", *PASSED_ON])
    return people | {"annotator": annotator, "stranger": stranger}


class Api:
    """The API of the site, used with a token."""

    def __init__(self, token: str) -> None:
        self._client = browser(token=token)

    def get(self, path: str) -> Any:
        return self._checked(self._client.get(f"/api/v1/projects/{path}"))

    def post(self, path: str, body: Any = None, *, content_type: str = "application/json") -> Any:
        return self._checked(self._client.post(f"/api/v1/projects/{path}", body or {}, content_type=content_type))

    def send_files(self, path: str, **fields: Any) -> Any:
        return self._checked(self._client.post(f"/api/v1/projects/{path}", fields))

    def put(self, path: str, body: bytes) -> Any:
        address = f"/api/v1/projects/{path}"
        return self._checked(self._client.put(address, body, content_type="application/octet-stream"))

    def _checked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise SystemExit(f"{response.request['PATH_INFO']} answered {response.status_code}: {response.content!r}")
        return response.json()


def _create_account(name: str) -> None:
    # Imported here, because the class needs the site's settings.
    from django.contrib.auth import get_user_model

    users = get_user_model().objects
    is_admin = name == "admin"
    users.create(username=name, email=f"{name}@example.org", is_superuser=is_admin, is_staff=is_admin)


def browser(name: str = "", *, token: str = "", address: str = "127.0.0.1") -> Client:
    """Return a browser at a network address, signed in as `name` or with an API token; it gets 500 if a page fails."""
    from django.contrib.auth import get_user_model

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    host: dict[str, Any] = {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8000", "REMOTE_ADDR": address}
    client = Client(raise_request_exception=False, headers=headers, **host)
    if name:
        client.force_login(get_user_model().objects.get_by_natural_key(name))
    return client


def _fill_project(project: str, studies: dict[str, int], folder: Path) -> None:
    manifest, format = PROJECTS[project]
    options: dict[str, Any] = {"format": format, "images": folder / "images", "owner": "owner", "verbosity": 0}
    call_command("import_instances", project, str(folder / manifest), stdout=StringIO(), **options)
    # All drafts first: a launch needs every study that a study file names.
    for study in studies:
        call_command("create_study", str(folder / f"{study}.yaml"), project=project, by="owner", stdout=StringIO())
    for study, annotators in studies.items():
        call_command("launch_study", study, by="owner", stdout=StringIO())
        told = {"annotators": annotators, "accuracy": 0.9, "leave": 0.2, "seed": "sample"}
        call_command("simulate", study, stdout=StringIO(), stderr=StringIO(), **told)
        for presses in PRESSES:
            _answer(study, presses)
    call_command("invite_annotators", next(iter(studies)), "Ane", "Beñat", stdout=StringIO())
    call_command("set_dataset", project, next(iter(studies)), by="owner", stdout=StringIO())


def _answer(study: str, presses: int) -> None:
    """Let a person enter a study and press continue up to `presses` times, with each question's first option."""
    ids = [sha256(f"{study} {presses} {what}".encode()).hexdigest()[:24] for what in ("person", "session")]
    client = browser(address=f"fd00::{presses + 1}")
    names = {"PROLIFIC_PID": ids[0], "STUDY_ID": "sample", "SESSION_ID": ids[1]}
    ((entry, _),) = _doors(study)
    response = client.get(f"/take/{entry}/", names, follow=True)
    for _ in range(presses):
        form = _form_to_send(response)
        if form is None:
            return
        address = form.get("action") or f"{response.request['PATH_INFO']}?{response.request['QUERY_STRING']}"
        response = client.post(str(address), _first_answers(form), follow=True)


def _form_to_send(response: Any) -> Tag | None:
    page = BeautifulSoup(response.content, "html.parser")
    forms = (form for form in page.select("main form") if form.find_parent(hidden=True) is None)
    steps = (form for form in forms if not form.get("action") or str(form["action"]).split("/")[-2] in STEPS)
    return next(steps, None)


def _first_answers(form: Tag) -> dict[str, str]:
    """Return the fields of a form, with the first option chosen and texts written."""
    fields: dict[str, str] = {}
    for tag in form.select("input[name], textarea[name], button[name]"):
        text = "An image of what the set shows." if tag.name == "textarea" else "on"
        fields.setdefault(str(tag["name"]), str(tag.get("value", text)))
    return fields


def _make_token(name: str) -> str:
    told = {"name": f"of {name}", "scope": "write", "days": "90", "project": ""}
    page = BeautifulSoup(browser(name).post("/tokens/", told).content, "html.parser")
    (text,) = page.select("#token")
    return str(text["value"])


def _invite_members(owner: Api) -> None:
    for project in PROJECTS:
        for name in MEMBERS:
            link = owner.post(f"{project}/invitations/", {"role": name, "whom": name})["link"]
            browser(name).post(f"/{link.split('/', 3)[3]}")
    owner.post("demo/invitations/", {"role": "viewer", "whom": "Somebody who has not come yet"})


def _import_more(owner: Api, folder: Path) -> None:
    """Import a project's rows again in the background, with invalid rows, and rows whose images come later."""
    bad = '{"key": "no-image", "caption": 3}\nno JSON\n{"key": "too-many", "images": ["none.png"], "unknown": 1}\n'
    good = '{"key": "later", "caption": "A scene to come.", "type": "added", "images": ["later.png"]}\n'
    for name, rows, later in (
        ("again.jsonl", (folder / "manifest.jsonl").read_text(encoding="utf-8"), True),
        ("bad.jsonl", bad, False),
        ("later.jsonl", good, True),
    ):
        upload = owner.post("demo/uploads/")["id"]
        owner.put(f"demo/uploads/{upload}/rows/?name={name}&offset=0", rows.encode())
        owner.post("demo/imports/", {"upload": upload, "format": "jsonl", "images_later": later})
    (folder / "bad.jsonl").write_text(bad, encoding="utf-8")
    call_command("find_near_duplicates", "demo", stdout=StringIO(), stderr=StringIO())


def _add_predictions(owner: Api) -> None:
    """Import a model's scores for four questions about thirty instances, and run a model of the site."""
    instances = owner.get("demo/instances/?limit=30")["results"]
    rows = [
        {
            "key": instance["key"],
            "kind": kind,
            "variant": variant,
            "scores": {
                option: (number * 7 + len(variant) * 3 + place * 5) % 11 / 8 for place, option in enumerate(two)
            },
        }
        for number, instance in enumerate(instances)
        for kind, variants, two in (
            ("image_to_text", ("image", "negative_image"), ("caption", "negative_caption")),
            ("text_to_image", ("caption", "negative_caption"), ("image", "negative_image")),
        )
        for variant in variants
    ]
    file = SimpleUploadedFile("clip.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    owner.send_files("demo/predictions/", file=file, format="scores", model="clip", version="1", weights="drawn")
    owner.post("demo/runs/", {"model": "text-only:ngrams", "study": "drawn-scenes-baseline"})


def _decide(owner: Api) -> None:
    """Settle an undecided question, exclude a person, let one withdraw, and tag instances."""
    study = "demo/studies/drawn-scenes-baseline"
    undecided = [
        each for each in owner.get(f"{study}/decisions/?limit=1000")["results"] if each["outcome"] == "none yet"
    ]
    for decision in undecided[:2]:
        owner.post(f"{study}/decisions/{decision['id']}/settle/", {"choice": "caption", "note": "Seen in large."})
    names = [each["name"] for each in owner.get("demo/people/")["results"]]
    owner.post(f"demo/people/{names[0]}/exclude/", {"reason": "clicked through"})
    owner.post(f"demo/people/{names[1]}/withdraw/", {"reason": "asked for it by mail"})
    ids = [each["id"] for each in owner.get("demo/instances/?limit=9")["results"]]
    owner.post("demo/instances/tag/", {"tag": "looked at", "instances": ids})


def _change_studies(owner: Api, folder: Path) -> None:
    """Leave studies in every state, and an empty and an archived project."""
    for study, change in (("drawn-scenes-statements", "pause"), ("drawn-scenes-preferences", "close")):
        owner.post(f"demo/studies/{study}/{change}/")
    owner.post("demo/studies/drawn-scenes-ratings/more/", {"what": "answers", "number": 1})
    call_command("duplicate_study", "drawn-scenes", "copy", title="A draft", by="owner", stdout=StringIO())
    (folder / "group.txt").write_text("5f0000000000000000000001\n", encoding="utf-8")
    call_command("set_group", "demo", "careful", str(folder / "group.txt"), by="owner", stdout=StringIO())
    for slug in ("empty", "archived"):
        owner.post("", {"slug": slug, "name": slug.title()})
    browser("owner").post("/projects/archived/archive/", {"archived": "yes"})


def _export(owner: Api) -> None:
    """Request exports, releases, a push to a Hub that does not answer, and a webhook without a receiver."""
    for format in EXPORTS:
        owner.post("demo/studies/drawn-scenes/exports/", {"format": format})
    owner.post("demo/studies/drawn-scenes/releases/", {"name": "v1", "format": "hf"} | ABOUT)
    owner.post("demo/studies/drawn-scenes-filter/releases/", {"name": "v2", "format": "jsonl"})
    owner.post("demo/hub-pushes/", {"release": "v1", "repository": "lab/scenes", "token": "hf_sample"})
    owner.post("demo/webhooks/", {"url": NOWHERE, "topics": ["study.completed", "release.made"]})


def _uploads() -> Iterator[str]:
    return (f"/api/v1/projects/demo/uploads/{number}/" for (number,) in _rows("SELECT id FROM studies_upload"))


def _annotators_pages() -> Iterator[str]:
    """Yield the pages of every session, and the entries of every study."""
    yield from (f"/s/{token}/" for (token,) in _rows("SELECT token FROM annotation_session ORDER BY id"))
    ids = {name: sha256(name.encode()).hexdigest()[:24] for name in ("PROLIFIC_PID", "SESSION_ID")}
    query = "&".join(f"{name}={value}" for name, value in ids.items())
    for entry, invite in _doors():
        for given in ("", f"?{query}&STUDY_ID=sample", f"?invite={invite}", "?invite=wrong"):
            yield f"/take/{entry}/{given}"


def _doors(study: str = "%") -> list[tuple[Any, ...]]:
    """Return the tokens of these studies: the name in their addresses, and that of the invitation."""
    statement = "SELECT COALESCE(NULLIF(public_token, ''), slug), invite_token FROM studies_study"
    return _rows(f"{statement} WHERE slug LIKE %s ORDER BY id", study)


def _rows(statement: str, *values: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
