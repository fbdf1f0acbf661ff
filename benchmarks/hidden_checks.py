"""Can a program tell gold questions from others by their pages and times? python -m benchmarks.hidden_checks.

A study with gold questions (10 %) and repeats is answered by real requests: gunicorn and PostgreSQL, one person after
the other. For each question a program notes what its browser could see. These are the times and sizes of the page, of
the answer that was sent and of the first image; the headers, the structure and the numbers of the page; and where and
how often the question was met. Each of these is compared alone (Mann-Whitney over questions, with Holm's correction),
and classifiers are trained on all of them, with right labels. Classifiers are tested on questions that they were not
trained on. An AUC of 0.5 means that they only guess.

With --delay, the times of gold questions are made longer by so many milliseconds, after they were measured: this shows
how small a difference the comparison finds.
"""

import argparse
import io
import json
import os
import random
import re
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import django
import httpx
import numpy as np
import psycopg
from bs4 import BeautifulSoup, Tag
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import mannwhitneyu
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.load import BROWSERS_HEADERS, SEEN
from benchmarks.site import PRODUCTION, Site, machine, serve
from tests.servers import postgresql_cluster

STUDY = "hidden-checks"
SURVEY_SIZE, CHECKS, ANSWERS = 50, 5, 2
FOLDS, RESAMPLES = 5, 500
# No repeat stands before it, and its pages have numbers of two digits.
LEAST_PLACE = 11
# How many ordinary questions a repeat is compared with.
NEAREST = 4
DESIGN = """\
study: {study}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: best_of_n
surveys: {{size: {size}}}
answers: {answers}
seed: benchmark
time: {{estimated_minutes: 60, limit_minutes: 240}}
checks:
  repeat: {{per_survey: {checks}}}
  gold:
    per_survey: {checks}
    questions:
{gold}
"""
GOLD = "      - {{instance: '{key}', right: candidate-{number}}}"
HEADERS = dict(line.split(": ", 1) for line in BROWSERS_HEADERS.strip().split("\r\n"))


def make_study(folder: Path, *, surveys: int) -> None:
    """Import drawn images with the real importer, and launch a study with gold questions among them."""
    django.setup()
    from django.core.management import call_command

    dice = random.Random("hidden checks")
    call_command("migrate", verbosity=0)
    images = folder / "images"
    images.mkdir()
    number = surveys * (SURVEY_SIZE + CHECKS)
    rows = [_draw_row(str(key), images, dice) for key in range(number)]
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    quiet = {"stdout": io.StringIO()}
    call_command("import_instances", STUDY, str(manifest), format="jsonl", images=images, verbosity=0, **quiet)
    chosen = dice.sample(range(number), surveys * CHECKS)
    gold = "\n".join(GOLD.format(key=key, number=dice.randrange(4)) for key in chosen)
    file = folder / "study.yaml"
    file.write_text(
        DESIGN.format(study=STUDY, size=SURVEY_SIZE, answers=ANSWERS, checks=CHECKS, gold=gold), encoding="utf-8"
    )
    call_command("create_study", str(file), project=STUDY, **quiet)
    call_command("launch_study", STUDY, **quiet)


def _draw_row(key: str, folder: Path, dice: random.Random) -> dict[str, Any]:
    names = [f"{key}-{number}.jpg" for number in range(4)]
    for name in names:
        pixels = np.frombuffer(dice.randbytes(8 * 8 * 3), np.uint8).reshape(8, 8, 3)
        size = dice.choice(((120, 90), (90, 120), (120, 120)))
        Image.fromarray(pixels).resize(size).save(folder / name, quality=90)
    words = " ".join(dice.choice(("red", "small", "blue", "left", "tall")) for _ in range(dice.randint(2, 12)))
    return {"key": key, "negative_caption": f"A ball beside a {words} house.", "images": names}


class Observer:
    """A person's browser that notes, for each question, what can be measured of it."""

    def __init__(self, site: Site) -> None:
        self._client = httpx.Client(base_url=site.address, headers=HEADERS, timeout=30)
        person = uuid.uuid4().hex[:24]
        query = {"PROLIFIC_PID": person, "STUDY_ID": "benchmark", "SESSION_ID": person}
        self._path = self._client.post(f"/take/{STUDY}/", params=query).headers["location"]
        self._client.post(f"{self._path}begin/")

    def observe(self) -> list[dict[str, Any]]:
        """Answer all questions of the session and return what was seen of each."""
        found: list[dict[str, Any]] = []
        while (seen := self._observe_question(len(found) + 1)) is not None:
            found.append(seen)
        first = min(each["slot"] for each in found)
        for each, after in zip(found, [*found[1:], found[-1]], strict=True):
            each["slot since the first"] = each["slot"] - first - each["place"]
            # Questions come ahead, with earlier answers.
            each["ms, next answer"] = after["ms, answer"]
        self._client.close()
        return found

    def _observe_question(self, place: int) -> dict[str, Any] | None:
        page, page_ms = self._timed("GET", self._path)
        stage = BeautifulSoup(page.text, "html.parser").select_one("[data-question]")
        if stage is None:
            return None
        slots = [int(str(each["value"])) for each in _tags(page.text, "input[name=slot]")]
        pictures = [str(each["src"]) for each in stage.select("img")]
        image, image_ms = self._timed("GET", pictures[0])
        fields = {
            **{"slot": str(slots[0]), "have": ",".join(map(str, slots[1:])), "choice": "1", "images": SEEN},
            **{"submission": str(uuid.uuid4()), "unmeasured": "", "first_choice_ms": "3100", "send_ms": "4000"},
            **{"hidden_ms": "0", "changes_of_mind": "0", "window_width": "1366", "window_height": "650"},
        }
        headers = {"Accept": "application/json", "Origin": str(self._client.base_url).rstrip("/")}
        answer, answer_ms = self._timed("POST", f"{self._path}answer/", data=fields, headers=headers)
        assert answer.json()["saved"], answer.text
        return {
            "slot": slots[0],
            "images": sorted(pictures),
            "place": place,
            "ms, page": page_ms,
            "ms, answer": answer_ms,
            "ms, image": image_ms,
            "bytes, image": len(image.content),
            "bytes, address of an image": len(pictures[0]),
            "first letter of an address": ord(pictures[0].removeprefix("/images/")[0]),
            "slot, last digit": slots[0] % 10,
            "questions ahead": len(slots),
            **_of_response("page", page),
            **_of_response("answer", answer),
            **_of_response("image", image),
            **_of_structure(stage),
        }

    def _timed(self, method: str, path: str, **given: Any) -> tuple[httpx.Response, float]:
        begun = time.perf_counter()
        response = self._client.request(method, path, **given)
        elapsed = 1000 * (time.perf_counter() - begun)
        response.raise_for_status()
        return response, elapsed


def _tags(page: str, selector: str) -> list[Tag]:
    return list(BeautifulSoup(page, "html.parser").select(selector))


def _of_response(name: str, response: httpx.Response) -> dict[str, float]:
    lines = [(key.decode(), value.decode()) for key, value in response.headers.raw]
    return {
        f"bytes, {name}": len(response.content),
        f"bytes sent, {name}": response.num_bytes_downloaded,
        f"headers, {name}": len(lines),
        f"bytes of headers, {name}": sum(len(key) + len(value) for key, value in lines),
        f"order of headers, {name}": _number_of("|".join(key for key, _ in lines)),
    }


def _of_structure(stage: Tag) -> dict[str, float]:
    tags = [stage, *stage.find_all(True)]
    shape = [f"{each.name} {' '.join(each.attrs)}" for each in tags]
    classes = [f"{each.name} {each.get('class')}" for each in tags]
    text = stage.get_text(" ", strip=True)
    numbers = [int(each) for each in re.findall(r'"(\d{1,9})"', str(stage))]
    return {
        "tags": len(tags),
        "attributes": sum(len(each.attrs) for each in tags),
        "order of attributes": _number_of("|".join(shape)),
        "classes": _number_of("|".join(classes)),
        "characters of text": len(text),
        "hidden fields": len(stage.select("input[type=hidden]")),
        "length of values": sum(len(str(each.get("value", ""))) for each in stage.select("input")),
        "sum of sizes": sum(int(str(each.get(side) or 0)) for each in tags for side in ("width", "height")),
        "numbers": len(numbers),
    }


_NUMBERS: dict[str, int] = {}


def _number_of(text: str) -> int:
    """Return a number for each different text."""
    return _NUMBERS.setdefault(text, len(_NUMBERS))


def add_meetings(rows: Sequence[dict[str, Any]]) -> None:
    """Add what people learn who compare their pages: where, and how often, each question was met."""
    met: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        met["|".join(row["images"])].append(row)
    for number, same in enumerate(met.values()):
        places = [row["place"] for row in same]
        for row in same:
            row["question"] = number
            row["times met"] = len(same)
            row["spread of places"] = pstdev(places)
            row["mean place"] = fmean(places)


def types_of_checks(url: str) -> dict[int, str]:
    """Return slot -> type of its check, "" for an ordinary question."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT slot.id, question.check_type FROM annotation_slot slot "
            "JOIN studies_question question ON question.id = slot.question_id"
        )
        return dict(rows.fetchall())


def compare(rows: Sequence[dict[str, Any]], is_check: NDArray[np.bool_], *, names: Sequence[str], title: str) -> None:
    """Print how well each of `names` alone, and all of them together, tell checks from other questions."""
    table = np.array([[float(row[name]) for name in names] for row in rows])
    known = sorted({row["question"] for row in rows})
    groups = np.array([known.index(row["question"]) for row in rows])
    print(f"\n{title}: {int(is_check.sum())} among {len(rows)} questions, {len(names)} features")
    varying = [place for place in range(len(names)) if np.ptp(table[:, place]) > 0]
    constant = [name for place, name in enumerate(names) if place not in varying]
    print(f"  equal for all questions: {', '.join(constant)}")
    # The same question has the same page for everybody: a mean for each.
    numbers = np.unique(groups)
    means = np.array([table[groups == number].mean(axis=0) for number in numbers])
    checked = np.array([is_check[groups == number][0] for number in numbers])
    tests = []
    for place in varying:
        test = mannwhitneyu(means[checked, place], means[~checked, place])
        auc = float(test.statistic) / (int(checked.sum()) * int((~checked).sum()))
        tests.append((float(test.pvalue), auc, names[place], place))
    adjusted = 0.0
    for rank, (p, auc, name, place) in enumerate(sorted(tests)):
        adjusted = max(adjusted, min(1.0, p * (len(tests) - rank)))
        medians = median(means[checked, place]), median(means[~checked, place])
        print(f"  {name:<32} AUC {auc:.3f}  p {p:.4f}  Holm {adjusted:.3f}  medians {medians[0]:.6g}, {medians[1]:.6g}")
    models = {
        "logistic regression": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced")
        ),
        "random forest": RandomForestClassifier(200, min_samples_leaf=3, class_weight="balanced", random_state=1),
        "boosted trees": HistGradientBoostingClassifier(max_iter=150, random_state=1),
    }
    folds = list(StratifiedGroupKFold(FOLDS, shuffle=True, random_state=1).split(table, is_check, groups))
    for name, model in models.items():
        scores = np.zeros(len(rows))
        for train, test in folds:
            scores[test] = model.fit(table[train][:, varying], is_check[train]).predict_proba(table[test][:, varying])[
                :, 1
            ]
        low, high = _interval(is_check, scores, groups)
        print(f"  {name:<32} AUC {roc_auc_score(is_check, scores):.3f} (95 % CI {low:.3f}–{high:.3f})")


def _interval(
    is_check: NDArray[np.bool_], scores: NDArray[np.float64], groups: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the AUC, over questions: people met the same ones."""
    dice = np.random.default_rng(1)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    found = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([members[each] for each in dice.integers(len(members), size=len(members))])
        if 0 < is_check[drawn].sum() < len(drawn):
            found.append(roc_auc_score(is_check[drawn], scores[drawn]))
    low, high = np.percentile(found, (2.5, 97.5))
    return float(low), float(high)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, default=10, help=f"each of {SURVEY_SIZE} questions, by {ANSWERS} people")
    parser.add_argument("--delay", type=float, default=0.0, help="milliseconds added to the times of gold questions")
    parser.add_argument("--keep", type=Path, help="store what was observed in this file, or read it if it exists")
    options = parser.parse_args(arguments)
    if options.keep is not None and options.keep.exists():
        rows = json.loads(options.keep.read_text())
    else:
        rows = observe_study(options.surveys)
        if options.keep is not None:
            options.keep.write_text(json.dumps(rows))
    for row in rows:
        row["ms, answer"] += options.delay * (row["check"] == "gold")
        row["ms, page"] += options.delay * (row["check"] == "gold")
    names = [name for name in rows[0] if name not in ("slot", "images", "question", "check")]
    print(machine())
    others = [row for row in rows if row["check"] != "repeat"]
    compare(others, np.array([row["check"] == "gold" for row in others]), names=names, title="gold questions")
    # A repeat shows again what the same person saw before, and stands later; it must look like that question. Pages say
    # how many questions were answered: only places with as many digits and questions ahead are compared, and each
    # repeat with others at places like its own.
    met = {"place", "questions ahead", "times met", "spread of places", "mean place"}
    most = max(row["questions ahead"] for row in rows)
    others = [
        row | {"question": (row["question"], row["check"])}
        for row in rows
        if row["check"] != "gold" and row["place"] > LEAST_PLACE and row["questions ahead"] == most
    ]
    others = at_like_places(others)
    names = [name for name in names if name not in met]
    compare(others, np.array([row["check"] == "repeat" for row in others]), names=names, title="repeats")


def at_like_places(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all repeats and, for each, the ordinary questions at the nearest places that no other repeat has."""
    repeats = [row for row in rows if row["check"] == "repeat"]
    free = [row for row in rows if row["check"] != "repeat"]
    # Of equally near ones, not those of the first sessions, which have the smallest numbers.
    random.Random(1).shuffle(free)
    found = list(repeats)
    for _ in range(NEAREST):
        for repeat in repeats:
            nearest = min(free, key=lambda row: abs(row["place"] - repeat["place"]))
            free.remove(nearest)
            found.append(nearest)
    return found


def observe_study(surveys: int) -> list[dict[str, Any]]:
    """Return what people could see of each question of a study, and which were checks."""
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name, postgresql_cluster(durable=True) as cluster:
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("hidden"),
            "DATA_DIR": name,
            "STATIC_WITHOUT_COLLECT": "1",
            "STATIC_ROOT": name,
            "LOG_LEVEL": "WARNING",
        }
        os.environ.update(environment)
        make_study(Path(name), surveys=surveys)
        rows: list[dict[str, Any]] = []
        with serve("config.wsgi", environment=environment, workers=1, threads=2, configuration=PRODUCTION) as site:
            for _ in range(surveys * ANSWERS):
                rows += Observer(site).observe()
        types = types_of_checks(environment["DATABASE_URL"])
    add_meetings(rows)
    for row in rows:
        row["check"] = types[row["slot"]]
    return rows


if __name__ == "__main__":
    main()
