"""The annotator's pages speak the language of their study, those of no study the reader's; all others are English."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils.translation import get_language

from annotation.models import Session
from studies.models import CompletionCode
from tests.annotation.test_work_pages import PRACTICE, form_at, form_of, page_of, post_answer, post_json
from tests.factories import arrive, arrive_at_work, create_draft, launch_study, make_instance, make_project, redesign

SPANISH: dict[str, Any] = {"language": "es", "instructions": "Mira las imágenes."}
ARABIC: dict[str, Any] = {"language": "ar", "instructions": "انظر إلى الصور."}

pytestmark = pytest.mark.django_db


@pytest.fixture
def british() -> Client:
    return Client(headers={"Accept-Language": "en-GB,en;q=0.5"})


@pytest.fixture
def spanish() -> Client:
    return Client(headers={"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"})


def read(client: Client, address: str, *, status: int = 200, language: str = "es") -> str:
    """Return the text of a page, which must say in its source and in its headers which language it is in, and run as
    that language does."""
    response = client.get(address)
    assert response.status_code == status
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]
    html = BeautifulSoup(response.content, "html.parser")
    assert html.html is not None
    assert html.html["lang"] == language
    assert html.html.get("dir") == ("rtl" if language == "ar" else None)
    return html.get_text(" ", strip=True)


def test_a_sitting_is_in_spanish_from_the_first_page_to_the_last(british: Client) -> None:
    study = launch_study(**SPANISH, instances=2, consent="Please **agree**.", time={"estimated_minutes": 40})
    page = page_of(session := arrive(study))
    consent = read(british, page)
    assert "Antes de empezar" in consent
    assert "No acepto" in consent
    british.post(f"{page}consent/", {"agree": "yes"})
    instructions = read(british, page)
    assert "2 preguntas" in instructions
    assert "unos 40 minutos" in instructions
    assert "Puedes volver a leer estas instrucciones en cualquier momento." in instructions
    british.post(f"{page}begin/")
    work = read(british, page)
    assert "Pregunta 1 de 2" in work
    assert "¿Qué imagen muestra todo lo que dice la descripción?" in work
    assert "Ninguna de estas" in work
    for _ in range(2):
        post_answer(british, session)
    end = read(british, page)
    assert "Todo está guardado. ¡Gracias!" in end
    assert "Tus 2 respuestas están guardadas." in end
    assert CompletionCode.objects.get(study=study, outcome="finished").code in end
    assert get_language() == "en"


def test_a_sitting_in_arabic_runs_from_right_to_left_from_the_first_page_to_the_last(british: Client) -> None:
    project = make_project()
    make_instance(project, "trial")
    practice = PRACTICE | {"pass": 0}
    study = launch_study(project, **ARABIC, practice=practice, consent="موافقة", time={"estimated_minutes": 40})
    door = f"{reverse('take', args=[study.entry_name])}?invite={study.invite_token}"
    assert "يستغرق ذلك نحو 40 دقيقة." in read(british, door, language="ar")

    page = page_of(arrive(study))
    assert "قبل البدء" in read(british, page, language="ar")
    british.post(f"{page}consent/", {"agree": "yes"})
    assert "أسئلة تدريبية" in read(british, page, language="ar")
    british.post(f"{page}begin/")

    assert "السؤال التدريبي 1 من 1" in read(british, page, language="ar")
    fields = form_of(british.get(page).content) | {"choice": "none"}
    assert "أفضل إجابة هي: الصورة" in read(british, british.post(f"{page}practice/", fields)["Location"], language="ar")

    assert "السؤال 1 من 3" in read(british, page, language="ar")
    assert "التوقف هنا؟" in read(british, f"{page}give-up/", language="ar")
    british.post(f"{page}answer/", form_of(british.get(page).content) | {"choice": "1"})
    british.post(f"{page}give-up/")
    assert "الإجابة التي أرسلتها محفوظة." in read(british, page, language="ar")


def test_problems_are_told_in_spanish(british: Client) -> None:
    draft = create_draft(**SPANISH)
    door = reverse("take", args=[draft.entry_name])
    assert "Por favor, abre este estudio desde Prolific." in read(british, door, status=400)
    ids = "PROLIFIC_PID=ann&STUDY_ID=study&SESSION_ID=one"
    early = read(british, f"{door}?{ids}", status=403)
    assert "Gracias por venir" in early
    assert "Este estudio todavía no ha empezado." in early


def test_a_page_that_is_not_there_says_so_in_spanish(spanish: Client) -> None:
    for address in ("/no/such/page/", "/s/no-such-session/"):
        assert "Aquí no hay ninguna página" in read(spanish, address, status=404)
    assert "En esta dirección no hay ningún estudio." in read(spanish, "/take/no-such-study/", status=404)


def test_a_failure_of_ours_is_told_in_spanish(british: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    session = arrive_at_work(launch_study(**SPANISH))
    monkeypatch.setattr("annotation.views.page_context.render_headed", lambda text: 1 / 0)
    british.raise_request_exception = False
    assert "Algo ha fallado por nuestra parte" in read(british, page_of(session), status=500)


def answer_by_script(client: Client, session: Session, **changed: str) -> dict[str, str]:
    fields = form_at(client, session) | {"choice": "1"} | changed
    body: dict[str, str] = post_json(client, session, fields).json()
    return body


def test_the_question_that_the_script_fetches_is_in_spanish(british: Client) -> None:
    session = arrive_at_work(launch_study(**SPANISH, instances=3))
    # What every question says while it waits stands in the page once.
    page = british.get(page_of(session)).content.decode()
    assert 'data-text-choose="Primero elige una respuesta."' in page
    following = answer_by_script(british, session)["next"]
    assert "Pregunta 2 de 3" in following
    assert "Continuar sin esta pregunta" in following


def test_the_script_is_told_in_spanish_why_an_answer_was_not_taken(british: Client) -> None:
    session = arrive_at_work(launch_study(**SPANISH))
    for changed, sentence in (
        ({"choice": ""}, "Elige una de las respuestas y después envía."),
        ({"choice": "9"}, "Elige una de las opciones que se muestran y vuelve a enviar."),
        ({"submission": ""}, "La página envió tu respuesta sin su número. Recárgala y vuelve a elegir."),
        ({"slot": "999999"}, "Esta pregunta no pertenece a tu sesión. Recarga la página para continuar."),
    ):
        assert answer_by_script(british, session, **changed)["error"] == sentence


def test_whoever_asks_for_no_language_that_is_there_reads_english() -> None:
    for accepted in (None, "en-GB", "tlh", "de, fr;q=0.8", "*", "es;q=0.2, en;q=0.9", ";;;=é"):
        client = Client(headers={"Accept-Language": accepted} if accepted else None)
        assert "There is no page here" in read(client, "/s/no-such-session/", status=404, language="en")


def test_an_english_study_speaks_english_to_everybody_and_one_without_a_language_follows_the_browser(
    spanish: Client, client: Client
) -> None:
    study = launch_study()
    assert "Start" in read(spanish, page_of(arrive(study)), language="en")
    redesign(study, language="")
    assert "Empezar" in read(spanish, page_of(arrive(study)))
    assert get_language() == "en"
    assert "Empezar" not in read(client, page_of(arrive(study)), language="en")


@pytest.mark.parametrize(
    ("tag", "page_language", "texts"), [("es", "es", None), ("es-MX", "es", "es-MX"), ("tlh", "en", "tlh")]
)
def test_the_studys_texts_say_their_language_where_the_page_speaks_another(
    british: Client, tag: str, page_language: str, texts: str | None
) -> None:
    """Nobody has translated what Lineup says into Klingon."""
    page = page_of(arrive(launch_study(title="Which?", language=tag, instructions="Look.")))
    assert "Look." in read(british, page, language=page_language)
    html = BeautifulSoup(british.get(page).content, "html.parser")
    assert [html.select_one(selector).get("lang") for selector in (".bar-title", ".prose")] == [texts] * 2  # type: ignore[union-attr]


def test_the_researchers_pages_are_english_whatever_the_browser_asks_for(spanish: Client) -> None:
    response = spanish.get(reverse("sign_in"))
    assert '<html lang="en">' in response.content.decode()
    assert "Skip to the content" in response.content.decode()
    assert "Accept-Language" not in response.get("Vary", "")
