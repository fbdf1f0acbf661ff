import pytest
from django.test import Client

from background.models import Job
from results.models import StoredChart
from studies.models import Study
from tests.factories import NOON, answer, make_person, questions, sit_down
from tests.jobs import run_now
from tests.pages import signed_in

RESULTS = "/studies/birds/birds-step-3/results/"


@pytest.fixture
def chart(client: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> StoredChart:
    """The chart of times, after its page was opened and a worker has drawn it."""
    sent: list[Job] = []
    monkeypatch.setattr("results.views.charts.send", sent.append)
    answer(sit_down(study, "ann"), questions(study)[0], "none", send_ms=4000, now=NOON)
    assert "Drawing the chart" in client.get(RESULTS).content.decode()
    for job in sent:
        run_now(job)
    return StoredChart.objects.get(values__name="times")


def test_the_page_shows_the_chart_once_it_is_drawn(client: Client, chart: StoredChart) -> None:
    page = client.get(RESULTS).content.decode()
    assert chart.svg in page
    assert "Drawing the chart" not in page
    assert chart.svg in client.get(f"/projects/birds/charts/{chart.digest}/").content.decode()


@pytest.mark.parametrize(("waited", "sentence"), [(2, "Drawing the chart"), (5, "No worker has drawn this chart yet.")])
def test_a_chart_that_no_worker_draws_says_so_after_a_while(
    client: Client, chart: StoredChart, waited: int, sentence: str
) -> None:
    StoredChart.objects.update(drawn_at=None)
    page = client.get(f"/projects/birds/charts/{chart.digest}/?wait={waited}").content.decode()
    assert sentence in page


@pytest.mark.parametrize(
    ("form", "type", "begins"),
    [
        ("svg", "image/svg+xml", b"<svg"),
        ("png", "image/png", b"\x89PNG"),
        ("pdf", "application/pdf", b"%PDF"),
        ("json", "application/json", b"{"),
    ],
)
def test_the_chart_is_downloaded_in_light_colors(
    client: Client, chart: StoredChart, form: str, type: str, begins: bytes
) -> None:
    file = client.get(f"/projects/birds/charts/{chart.digest}.{form}")
    assert file["Content-Type"] == type
    assert file["Content-Disposition"].startswith('attachment; filename="birds-times.')
    assert file.content.startswith(begins)
    assert b"var(--" not in file.content


def test_unknown_forms_and_charts_are_not_found(client: Client, chart: StoredChart) -> None:
    assert client.get(f"/projects/birds/charts/{chart.digest}.exe").status_code == 404
    assert client.get(f"/projects/birds/charts/{'0' * 64}.svg").status_code == 404


def test_strangers_see_no_chart(chart: StoredChart) -> None:
    stranger = signed_in(make_person("stranger"))
    for address in (f"{chart.digest}/", f"{chart.digest}.png"):
        assert stranger.get(f"/projects/birds/charts/{address}").status_code == 404


@pytest.mark.parametrize("of", [RESULTS, "/projects/birds/results/"])
def test_tables_are_downloaded_with_exact_values(client: Client, chart: StoredChart, of: str) -> None:
    table = "times" if of == RESULTS else "cost"
    file = client.get(f"{of}{table}.csv")
    assert file["Content-Type"].startswith("text/csv")
    assert len(file.content.decode().splitlines()) == 2
    assert b"\\begin{tabular}" in client.get(f"{of}{table}.tex").content
    assert client.get(f"{of}nothing.csv").status_code == 404
    assert client.get(f"{of}{table}.exe").status_code == 404
    assert signed_in(make_person("stranger")).get(f"{of}{table}.csv").status_code == 404
