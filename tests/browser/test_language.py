"""What the page's scripts say in a Spanish study, in a browser that is set to English."""

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.stage import Opener, go_offline


def test_the_scripts_speak_spanish(page: Page, context: BrowserContext, at_work: Opener) -> None:
    at_work(instances=4, language="es", instructions="Mira las imágenes.")
    shown, saved = page.locator("[data-stage] [data-question]"), page.locator("[data-saved]")
    expect(shown.locator("[data-hint]")).to_have_text("Primero elige una respuesta.")
    page.keyboard.press("z")
    expect(page.get_by_role("dialog", name="Imagen A")).to_contain_text("Elegir esta imagen")
    page.keyboard.press("z")

    page.keyboard.press("2")
    page.get_by_role("button", name="Enviar").click()
    expect(saved).to_have_text("Guardado")
    expect(page).to_have_title("Pregunta 2 de 4 · Which vase?")
    # The third question came by the script.
    expect(page.locator("[data-ahead] [data-heading]").last).to_have_text("Pregunta 4 de 4")

    go_offline(page)
    page.keyboard.press("1")
    page.get_by_role("button", name="Enviar").click()
    expect(saved).to_have_text("Sin conexión. Respuestas guardadas en este dispositivo, que se envían solas: 1")
    context.set_offline(False)
