"""The replay at the paper's size, on the real manifest: the longest test (benchmarks/replay.py measures it)."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from annotation.actions.arriving import draw_questions
from annotation.models import Decision, Response
from studies.models import Study
from tests.analytics.published import shared_file, shared_json
from tests.plans import rows_read

SCORES = ("I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I")
# Each of its decisions and questions read a few times at most, and not once for each of the others.
MOST_ROWS = 100_000
IN_MEMORY = "django.core.files.storage.InMemoryStorage"


def row(out: str, section: str, *starts: str) -> list[str]:
    """Return the cells after `starts` of the one row of a section that begins with them."""
    lines = out.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in lines]
    (found,) = [cells[len(starts) :] for cells in rows if tuple(cells[: len(starts)]) == starts]
    return found


def percents(scores: dict[str, Any], n: int) -> list[str]:
    return [*(f"{scores[name]['percent']:.2f}" for name in SCORES), interval(scores["Group"]["count"], n)]


def interval(right: int, n: int) -> str:
    """Return Wilson's 95 % interval of a share in percent (Wilson 1927), here written out."""
    share, square = right / n, 1.959963984540054**2
    half = (square * (share * (1 - share) / n + square / (4 * n**2))) ** 0.5
    ends = ((share + square / (2 * n) + sign * half) / (1 + square / n) for sign in (-1, 1))
    return "–".join(f"{100 * end:.2f}" for end in ends)


# Far above what it takes: a replay that hangs is ended with the stack of every thread.
@pytest.mark.timeout(1200)
@pytest.mark.once(on="postgresql", because="the paper's size tries PostgreSQL's plans; the small replay is run on both")
@pytest.mark.django_db(transaction=True)
def test_the_whole_paper_comes_out_of_one_command(settings: Settings) -> None:
    # Some disks take minutes to make and to delete 37,559 small files.
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": IN_MEMORY}}
    out = StringIO()
    call_command(
        "replay_bivlc",
        manifest=shared_file("bivlc/BiVLC_negative_imgs.csv"),
        accepted=shared_file("bivlc/accepted.csv"),
        results=shared_file("bivlc/results"),
        images_later=True,
        verbosity=0,
        stdout=out,
    )
    text = out.getvalue()
    metrics = shared_json("metrics.json")

    assert row(text, "From candidates to instances", "imported", "", "all", "all")[0] == "7,512"
    assert row(text, "From candidates to instances", "bivlc-step-4", "filter", "all", "all")[7] == "2,933"
    kept = "The dataset, per type and subtype"
    assert row(text, kept, "all", "all") == ["2,933", "11,732"]
    for category, counts in metrics["bivlc_table1"].items():
        if category != "total":
            assert row(text, kept, *category.split("_")) == [f"{counts['accepted']:,}", f"{counts['published']:,}"]

    pairs = "Agreement of pairs of annotators"
    kappas = [row(text, pairs, "bivlc-step-3", "best_of_n", "places 1 and 2", f"{pair}")[3] for pair in range(1, 6)]
    assert kappas == ["0.66", "0.43", "0.56", "0.43", "0.38"]
    assert row(text, pairs, "bivlc-step-3", "best_of_n", "mean of 5")[4] == "0.49"
    humans = row(text, "How often people and models are right", "bivlc-baseline", "Humans", "all", "all")
    assert humans[1:5] == ["500", "90.40", "93.00", "86.80"]

    models = "Models on the dataset"
    for model, published in metrics["bivlc"].items():
        assert row(text, models, model, "all", "all") == ["2,933", *percents(published["overall"], 2_933)]
        for category, scores in published["by_type_subtype"].items():
            assert row(text, models, model, *category.split("_")) == [
                f"{scores['n']:,}",
                *percents(scores, scores["n"]),
            ]

    assert "| NO |" not in text
    # 7,512 and the second seats of five surveys of 100; what step 3 accepted; four about each of 500.
    assert Response.objects.filter(study__slug="bivlc-step-3").count() == 8_012
    assert Response.objects.filter(study__slug="bivlc-baseline").count() == 2_000
    accepted = Decision.objects.filter(study__slug="bivlc-step-3", state=Decision.State.ACCEPTED).count()
    assert Response.objects.filter(study__slug="bivlc-step-4").count() == accepted

    if connection.vendor == "postgresql":
        # What somebody who arrives in step 4 waits for. Every accepted question once read all decisions: 25 million.
        read = rows_read(find_nothing_to_draw)
        assert 0 < read["annotation_decision"] < MOST_ROWS
        assert read["studies_question"] < MOST_ROWS


def find_nothing_to_draw() -> None:
    with transaction.atomic():
        study = Study.objects.get(slug="bivlc-step-4")
        opened = study.surveys.count()
        draw_questions.draw(study=study, annotator=None, now=timezone.now())
        assert study.surveys.count() == opened
