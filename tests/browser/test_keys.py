"""Keys work where they should and nowhere else."""

from playwright.sync_api import Page, expect

from tests.browser.stage import Opener, answer, question_number


def test_every_choice_has_its_keys(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    for key, name in [("1", "Image A"), ("d", "Image D"), ("B", "Image B"), ("3", "Image C"), ("0", "None of these")]:
        page.keyboard.press(key)
        expect(page.get_by_role("radio", name=name)).to_be_checked()
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(page.get_by_role("radio", name="None of these")).to_be_checked()
    # Letters are found by their place under another alphabet.
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ф', code: 'KeyA', bubbles: true}))")
    expect(page.get_by_role("radio", name="Image A")).to_be_checked()


def test_a_held_key_chooses_and_sends_once_and_the_focus_goes_to_the_new_question(page: Page, at_work: Opener) -> None:
    at_work(instances=3)
    page.keyboard.press("1")
    page.keyboard.down("Enter")
    assert question_number(page) == 2
    assert page.evaluate("document.activeElement.textContent.trim()") == "Question 2 of 3"
    expect(page).to_have_title("Question 2 of 3 · Which vase?")
    # A finger that stays on Enter while the other hand chooses.
    page.locator("[data-stage] [name=choice]").first.check(force=True)
    expect(page.locator("[data-stage] [data-send]")).to_be_enabled()
    for _ in range(3):
        page.keyboard.down("Enter")
    # The same from a keyboard that does not say that it repeats.
    again = "new KeyboardEvent('keydown', {key: 'Enter', code: 'Enter', bubbles: true, cancelable: true})"
    page.evaluate(f"document.activeElement.dispatchEvent({again})")
    assert question_number(page) == 2
    page.keyboard.up("Enter")
    page.keyboard.down("2")
    page.keyboard.press("3")
    page.keyboard.down("2")
    page.keyboard.down("2")
    page.keyboard.up("2")
    page.keyboard.press("Enter")
    assert question_number(page) == 3


def test_what_is_the_browsers_own_or_meant_for_what_lies_over_a_question_chooses_nothing(
    page: Page, at_work: Opener
) -> None:
    at_work(instances=2)
    for modifier in ("Control", "Alt", "Meta"):
        page.keyboard.press(f"{modifier}+1")
    expect(page.locator("[name=choice]:checked")).to_have_count(0)
    # Nor is a question answered while something lies over it.
    for key, name in (("?", "Keys"), ("i", "Instructions")):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name=name)).to_be_hidden()
    expect(page.locator("[name=choice]:checked")).to_have_count(0)
    # And for good where keys are switched off.
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    page.get_by_role("button", name="Close").or_(page.get_by_role("link", name="Close")).first.click()
    page.reload()
    question_number(page)
    page.keyboard.press("1")
    expect(page.locator("[name=choice]:checked")).to_have_count(0)


def test_no_key_fires_in_the_comment_box_and_the_comment_is_saved(page: Page, at_work: Opener) -> None:
    session = at_work(instances=1)
    answer(page, "1")
    box = page.get_by_label("Anything to tell us? (optional)")
    box.press_sequentially("A nice 1, i? z0n")
    expect(box).to_have_value("A nice 1, i? z0n")
    expect(page.locator("[data-countdown]")).to_be_hidden()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.get_by_role("button", name="Save the comment").click()
    expect(page.get_by_text("Your comment is saved. Thank you.")).to_be_visible()
    session.refresh_from_db()
    assert session.comment == "A nice 1, i? z0n"
