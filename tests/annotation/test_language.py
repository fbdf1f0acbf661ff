"""The annotator's pages speak the language that the browser asks for; everything else stays English."""

import uuid

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils.translation import get_language

from annotation.models import Session
from studies.models import CompletionCode
from tests.annotation.test_work_pages import form_of, page_of, post_json, study_with_practice
from tests.factories import arrive, arrive_at_work, create_draft, launch_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def spanish() -> Client:
    return Client(headers={"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"})


def read(client: Client, address: str, *, status: int = 200, language: str = "es") -> str:
    """Return the text of a page, which must say in its source and in its headers which language it is in."""
    response = client.get(address)
    assert response.status_code == status
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]
    html = BeautifulSoup(response.content, "html.parser")
    assert html.html is not None
    assert html.html["lang"] == language
    return html.get_text(" ", strip=True)


def test_a_sitting_is_in_spanish_from_the_first_page_to_the_last(spanish: Client) -> None:
    study = launch_study(instances=2, consent="Please **agree**.", time={"estimated_minutes": 40})
    session = arrive(study)
    page = page_of(session)

    consent = read(spanish, page)
    assert "Antes de empezar" in consent
    assert "No acepto" in consent
    spanish.post(f"{page}consent/", {"agree": "yes"})

    instructions = read(spanish, page)
    assert "2 preguntas" in instructions
    assert "unos 40 minutos" in instructions
    assert "Puedes volver a leer estas instrucciones en cualquier momento." in instructions
    spanish.post(f"{page}begin/")

    work = read(spanish, page)
    assert "Pregunta 1 de 2" in work
    assert "¿Qué imagen muestra todo lo que dice la descripción?" in work
    assert "Ninguna de estas" in work
    for _ in range(2):
        spanish.post(f"{page}answer/", form_of(spanish.get(page).content) | {"choice": "1"})

    end = read(spanish, page)
    assert "Todo está guardado. ¡Gracias!" in end
    assert "Tus 2 respuestas están guardadas." in end
    assert CompletionCode.objects.get(study=study, outcome="finished").code in end


def test_what_the_study_file_says_stays_in_the_studys_language(spanish: Client) -> None:
    session = arrive(launch_study(title="Which vase?", instructions="Look at the vase."))
    page = read(spanish, page_of(session))
    assert "Which vase?" in page
    assert "Look at the vase." in page


def test_practice_is_in_spanish_and_so_is_its_feedback(spanish: Client) -> None:
    session = arrive(study_with_practice())
    page = page_of(session)
    spanish.post(f"{page}begin/")
    assert "Pregunta de práctica 1 de 1: verás enseguida si has acertado." in read(spanish, page)
    fields = form_of(spanish.get(page).content) | {"choice": "none"}
    feedback = spanish.post(f"{page}practice/", fields)["Location"]
    text = read(spanish, feedback)
    assert "No del todo" in text
    assert "La mejor respuesta es: Imagen" in text


def test_a_session_given_up_after_one_answer_speaks_of_one(spanish: Client) -> None:
    session = arrive_at_work(launch_study(instances=2))
    page = page_of(session)
    spanish.post(f"{page}answer/", form_of(spanish.get(page).content) | {"choice": "1"})
    assert "¿Quieres dejarlo aquí?" in read(spanish, f"{page}give-up/")
    spanish.post(f"{page}give-up/")
    assert "Se conserva la respuesta que enviaste (1)." in read(spanish, page)


def test_problems_are_told_in_spanish(spanish: Client) -> None:
    draft = create_draft()
    door = reverse("take", args=[draft.entry_name])
    assert "Por favor, abre este estudio desde Prolific." in read(spanish, door, status=400)
    ids = "PROLIFIC_PID=ann&STUDY_ID=study&SESSION_ID=one"
    early = read(spanish, f"{door}?{ids}", status=403)
    assert "Gracias por venir" in early
    assert "Este estudio todavía no ha empezado." in early


def test_an_invitation_is_in_spanish(spanish: Client) -> None:
    study = launch_study(time={"estimated_minutes": 1})
    text = read(spanish, f"{reverse('take', args=[study.entry_name])}?invite={study.invite_token}")
    assert "Tienes una invitación" in text
    assert "Te llevará alrededor de 1 minuto." in text


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/no/such/page/", "Aquí no hay ninguna página"),
        ("/s/no-such-session/", "Aquí no hay ninguna página"),
        ("/take/no-such-study/", "En esta dirección no hay ningún estudio."),
    ],
)
def test_a_page_that_is_not_there_says_so_in_spanish(spanish: Client, address: str, sentence: str) -> None:
    assert sentence in read(spanish, address, status=404)


def test_a_failure_of_ours_is_told_in_spanish(spanish: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    session = arrive_at_work(launch_study())
    monkeypatch.setattr("annotation.views.work.render_markdown", lambda text: 1 / 0)
    spanish.raise_request_exception = False
    assert "Algo ha fallado por nuestra parte" in read(spanish, page_of(session), status=500)


def answer_by_script(client: Client, session: Session, **changed: str) -> dict[str, str]:
    fields = form_of(client.get(page_of(session)).content) | {"choice": "1"} | changed
    body: dict[str, str] = post_json(client, session, fields).json()
    return body


def test_the_question_that_the_script_fetches_is_in_spanish(spanish: Client) -> None:
    following = answer_by_script(spanish, arrive_at_work(launch_study(instances=3)))["next"]
    assert "Pregunta 2 de 3" in following
    assert 'data-text-choose="Primero elige una respuesta."' in following


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"choice": ""}, "Elige una de las respuestas y después envía."),
        ({"choice": "9"}, "Elige una de las opciones que se muestran y vuelve a enviar."),
        ({"submission": ""}, "La página envió tu respuesta sin su número. Recárgala y vuelve a elegir."),
        ({"slot": "999999"}, "Esta pregunta no pertenece a tu sesión. Recarga la página para continuar."),
    ],
)
def test_the_script_is_told_in_spanish_why_an_answer_was_not_taken(
    spanish: Client, changed: dict[str, str], sentence: str
) -> None:
    assert answer_by_script(spanish, arrive_at_work(launch_study()), **changed)["error"] == sentence


def test_a_form_without_the_script_is_told_so_in_spanish(spanish: Client) -> None:
    session = arrive_at_work(launch_study())
    fields = form_of(spanish.get(page_of(session)).content) | {"submission": str(uuid.uuid4())}
    response = spanish.post(f"{page_of(session)}answer/", fields)
    assert response.status_code == 422
    assert "Elige una de las respuestas y después envía." in response.content.decode()


@pytest.mark.parametrize("accepted", [None, "en-GB", "tlh", "de, fr;q=0.8", "*", "es;q=0.2, en;q=0.9", ";;;=é"])
def test_whoever_asks_for_no_language_that_is_there_reads_english(accepted: str | None) -> None:
    client = Client(headers={"Accept-Language": accepted} if accepted else None)
    session = arrive(launch_study())
    assert "You can read these instructions again at any time." in read(client, page_of(session), language="en")


def test_one_readers_language_is_not_the_next_readers(spanish: Client, client: Client) -> None:
    session = arrive(launch_study())
    assert "Empezar" in read(spanish, page_of(session))
    assert get_language() == "en"
    assert "Empezar" not in read(client, page_of(session), language="en")


def test_the_researchers_pages_are_english_whatever_the_browser_asks_for(spanish: Client) -> None:
    response = spanish.get(reverse("sign_in"))
    assert '<html lang="en">' in response.content.decode()
    assert "Skip to the content" in response.content.decode()
    assert "Accept-Language" not in response.get("Vary", "")
