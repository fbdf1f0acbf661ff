"""One compact block in any window: nothing below the fold, nothing over anything, nothing moved by what is shown."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import PIL.Image
import pytest
from django.core.files.storage import default_storage
from playwright.sync_api import Page, expect

from studies.actions.images import rendition_name
from studies.models import Image, Instance, InstanceImage, Project
from tests.browser.stage import Opener, question_number, set_window
from tests.factories import make_image, make_instance, make_project

# Phones held either way, tablets, laptops, screens; and a laptop's window at 150 and 200 percent.
WINDOWS = [
    (360, 640),
    (390, 844),
    (844, 390),
    (768, 1024),
    (1024, 768),
    (1280, 720),
    (1366, 768),
    (1440, 900),
    (1536, 864),
    (1920, 1080),
    (2560, 1440),
    (640, 360),
    (911, 512),
    (683, 384),
]
# The same laptop at 400 percent.
SMALLEST = (341, 192)
SHORT = "A vase beside two cups."
LONGER = "A man in a red jacket holds a small brown dog while a woman rides past the market."
LONGEST = "Рыжая кошка спит на синем кресле, рядом стоят две белые чашки, тарелка, чайник. " * 5
# What stands in the question: its boxes that must not lie over each other, and where the answers' labels are.
BOXES = """() => {
  const box = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom].map(Math.round);
  };
  const all = (names) => [...document.querySelectorAll(`[data-stage] :is(${names})`)];
  return {
    apart: all("legend, .caption, .card-choice, .pictures, .texts label, .scale label, .others label, [data-send]").map(
      (element) => [element.className || element.localName, ...box(element)]
    ),
    labels: all("label .choice, label.choice").map((label) => box(label)[3]),
    send: box(document.querySelector("[data-stage] [data-send]")),
    wide: document.documentElement.scrollWidth,
    tooWide: all("label, legend, .caption").filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML),
    window: [innerWidth, innerHeight],
  };
}"""


@dataclass(frozen=True)
class Case:
    """A study of two questions, the first of square pictures and short texts, the second of others."""

    kind: str
    images: int = 0
    roles: Sequence[str] = ()
    ask: Mapping[str, Any] = field(default_factory=dict)


CASES = [
    Case("best_of_n", images=4),
    Case("best_of_n", images=2),
    Case("image_to_text", roles=["image"], ask={"images": ["image"]}),
    Case("rating", roles=["image"]),
]
COMPARED = Case("compare", images=3, ask={"images": ["candidate"], "criteria": ["Fits best", "Has the best light"]})


def picture(instance: Instance, role: str, size: tuple[int, int]) -> None:
    """Give `instance` a picture of `size` in `role`."""
    image = make_image(f"{instance.key}-{role}-{size}", width=size[0], height=size[1])
    InstanceImage.objects.create(instance=instance, role=role, filename=f"{role}.png", image=image)


def resize(project: Project, size: tuple[int, int]) -> None:
    """Make the pictures of the project's first instance as large as `size`, in the storage too."""
    out = io.BytesIO()
    PIL.Image.new("RGB", size, (90, 120, 60)).save(out, "WEBP")
    for image in Image.objects.filter(uses__instance=project.instances.first()):
        for rendition in ("card", "view", "full"):
            with default_storage.open(rendition_name(image.sha256, rendition), "wb") as stream:
                stream.write(out.getvalue())


def overlaps(boxes: Sequence[tuple[str, int, int, int, int]]) -> list[tuple[str, str]]:
    """Return the pairs of boxes that lie over each other by more than a pixel."""
    return [
        (one[0], other[0])
        for number, one in enumerate(boxes)
        for other in boxes[number + 1 :]
        if min(one[3], other[3]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[2], other[2]) > 1
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.images}")
def test_one_block_fits_every_window_and_stays_where_it_is(page: Page, at_work: Opener, case: Case) -> None:
    for key, caption in (("one", SHORT), ("two", LONGER)):
        captions = {"caption": caption, "negative_caption": caption.replace("vase", "map").replace("dog", "cat")}
        instance = make_instance(make_project(), key, candidates=case.images, captions=captions)
        for role in case.roles:
            picture(instance, role, (512, 512))
    at_work(instances=2, kind=case.kind, ask=case.ask)
    resize(make_project(), (600, 200))
    labels = []
    for number in (1, 2):
        assert question_number(page) == number
        places = {}
        for width, height in WINDOWS:
            set_window(page, width, height)
            seen = page.evaluate(BOXES)
            assert not seen["tooWide"], (width, height)
            assert not overlaps(seen["apart"]), (width, height)
            for name, left, top, right, bottom in seen["apart"]:
                assert 0 <= left <= right <= width, (name, width, height)
                assert 0 <= top <= bottom <= height, (name, width, height)
            # The labels and Send are what a hand goes to; of texts only Send has a place of its own.
            places[width, height] = seen["send"] if case.kind == "image_to_text" else (seen["labels"], seen["send"])
        labels.append(places)
        set_window(page, SMALLEST[0], SMALLEST[1])
        seen = page.evaluate(BOXES)
        assert seen["wide"] == SMALLEST[0]
        assert not overlaps(seen["apart"])
        page.locator("[data-stage] [data-send]").scroll_into_view_if_needed()
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)
        if number == 1:
            page.keyboard.press("1")
            page.keyboard.press("Enter")
    assert labels[0] == labels[1]


# The narrowest window of WCAG 1.4.10, and the same laptop at 400 percent.
NARROWEST = [(320, 256), SMALLEST]
SEVERAL = {
    "compare": {"images": ["candidate"], "criteria": ["Fits best", "Looks most like a photo", "Has the best light"]},
    "check": {"statements": ["It is day.", "Somebody is here.", "Something is red.", "It rains.", "A dog barks."]},
}
IN_REACH = """() => {
  const box = (name) => document.querySelector(`[data-stage] ${name}`).getBoundingClientRect();
  const [groups, answer, send] = [box(".groups"), box(".group label"), box("[data-send]")];
  return {
    answer: [Math.max(0, groups.top), answer.top, answer.bottom, groups.bottom].map(Math.round),
    // Under what is answered, or beside it.
    isApart: send.top >= Math.round(groups.bottom) - 1 || send.left >= groups.right - 1,
    send: Math.round(send.bottom),
  };
}"""
OUTSIDE = """() => {
  const all = [...document.querySelectorAll("[data-stage] :is(img, label, legend, .caption, [data-send])")];
  // What lies in another page is behind a button.
  const isElsewhere = (element) => {
    const part = element.closest("[data-pages] > *");
    const [{ left, right }, pages] = [element, part?.parentElement].map((one) => one?.getBoundingClientRect() ?? {});
    return part && part !== part.parentElement.firstElementChild && (left >= pages.right || right <= pages.left);
  };
  const here = all.filter((element) => !isElsewhere(element));
  const boxes = here.map((element) => [element.outerHTML, element.getBoundingClientRect()]);
  return boxes.filter(([, { left, right }]) => left < 0 || right > innerWidth).map(([html]) => html);
}"""
HIDDEN_OF_GROUPS = """(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(
  document.querySelector("[data-stage] .groups")
)"""


@pytest.mark.parametrize("kind", SEVERAL)
def test_where_several_are_asked_at_once_an_answer_and_send_are_in_reach(
    page: Page, at_work: Opener, kind: str
) -> None:
    instance = make_instance(make_project(), "one", captions={"caption": LONGER, "negative_caption": SHORT})
    picture(instance, "image", (512, 512))
    at_work(instances=1, kind=kind, ask=SEVERAL[kind])
    for width, height in WINDOWS:
        set_window(page, width, height)
        seen = page.evaluate(IN_REACH)
        assert seen["answer"] == sorted(seen["answer"]), (width, height)
        assert seen["isApart"], (width, height)
        assert seen["send"] <= height, (width, height)
    for width, height in [*WINDOWS, *NARROWEST]:
        set_window(page, width, height)
        assert page.evaluate("document.documentElement.scrollWidth") == width, (width, height)
        assert page.evaluate(OUTSIDE) == [], (width, height)
    set_window(page, 1024, 768)
    # All of it, where there is room.
    assert page.evaluate(HIDDEN_OF_GROUPS) == 0


# Of the pictures: how wide and high each is painted, and the rest of its place.
PAINTED = """() => [...document.querySelectorAll("[data-stage] [data-question] img")].map((image) => {
  const [width, height] = ["width", "height"].map((name) => Number(image.getAttribute(name)));
  const scale = Math.min(image.clientWidth / width, image.clientHeight / height);
  const { left, top } = image.getBoundingClientRect();
  const painted = [width * scale, height * scale].map(Math.round);
  const rest = [image.clientWidth - painted[0], image.clientHeight - painted[1]];
  return [...painted, ...rest, Math.round(left), Math.round(top)];
})"""
FOUR = {"images": ["candidate"], "criteria": ["Fits best", "Looks most like a photo", "Has the best light"]}


def shaped(at_work: Opener, page: Page, kind: str, size: tuple[int, int], **wanted: Any) -> None:
    """Bring the page to a question of `kind` whose pictures have this size."""
    make_instance(make_project(), "one", captions={"caption": LONGER, "negative_caption": LONGER})
    at_work(instances=1, kind=kind, size=size, **wanted)
    images = page.locator("[data-stage] [data-question] img")
    assert images.evaluate_all("(all) => all.every((image) => image.naturalWidth > 0)")
    assert {(image.get_attribute("width"), image.get_attribute("height")) for image in images.all()} == {
        (str(size[0]), str(size[1]))
    }


@pytest.mark.parametrize("size", [(512, 512), (640, 480), (640, 427), (640, 360), (480, 640)])
def test_four_pictures_stand_as_they_are_largest_and_without_bars(
    page: Page, at_work: Opener, size: tuple[int, int]
) -> None:
    shaped(at_work, page, "best_of_n", size)
    for width, height in ((768, 1024), (1024, 768), (1366, 768), (1440, 900), (1920, 1080), (2560, 1440)):
        set_window(page, width, height)
        pictures = page.evaluate(PAINTED)
        # A place of a shape that is nearly the picture's: of 640 x 427 it is 3 to 2.
        assert max(max(beside, above) for _, _, beside, above, *_ in pictures) <= 4, (width, height)
        covered = sum(wide * high for wide, high, *_ in pictures) / (width * height)
        assert covered >= (0.38 if size != (480, 640) else 0.26), (width, height, covered)
        rows = {top for *_, top in pictures}
        if (width, height) == (1024, 768) and size[0] >= size[1]:
            assert len(rows) == 2
    if size == (512, 512):
        # A laptop enlarged twice.
        set_window(page, 683, 384)
        for wide, high, beside, above, *_ in page.evaluate(PAINTED):
            assert max(beside, above) <= 4
            assert min(wide, high) >= 155


def test_two_and_three_pictures_to_compare_take_what_their_answers_leave(page: Page, at_work: Opener) -> None:
    for count, least in ((2, 440), (3, 425)):
        about = {"captions": {"caption": LONGER, "negative_caption": LONGER}}
        project = make_project(f"of-{count}")
        make_instance(project, f"of-{count}", candidates=count, **about)
        at_work(project=project, instances=1, kind="compare", ask=FOUR)
        set_window(page, 1366, 768)
        question_number(page)
        assert min(min(wide, high) for wide, high, *_ in page.evaluate(PAINTED)) >= least
        assert page.evaluate(HIDDEN_OF_GROUPS) == 0
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)


# Of each card: how many lines its name takes, and whether it lies in the card, apart from a Send on it.
NAMES = """() => [...document.querySelectorAll("[data-stage] .option")].map((card) => {
  const name = document.createRange();
  name.selectNodeContents(card.querySelector(".choice > span"));
  const lines = new Set([...name.getClientRects()].map(({ top }) => Math.round(top))).size;
  const [{ left, right, bottom }, of] = [name, card].map((one) => one.getBoundingClientRect());
  const send = card.querySelector(".send-here")?.getBoundingClientRect();
  const isFree = !send?.width || right <= send.left || send.right <= left;
  return [lines, of.left <= left && right <= of.right && bottom <= of.bottom, isFree];
})"""


def test_the_name_of_a_narrow_card_stays_in_one_line_and_nothing_lies_over_it(page: Page, at_work: Opener) -> None:
    shaped(at_work, page, "best_of_n", (480, 640))
    page.keyboard.press("2")
    for width, height in ((740, 360), (844, 390), (360, 640), (1366, 768)):
        set_window(page, width, height)
        assert page.evaluate(NAMES) == [[1, True, True]] * 4, (width, height)
    expect(page.locator("[data-stage] .send-here")).to_be_visible()


# What is said of an answer, and the pictures of a question that was answered before.
PRACTICE = {"pass": 1, "rounds": 2, "questions": [{"instance": "one", "right": "none", "feedback": LONGER}]}


def test_pictures_keep_their_size_when_the_practice_tells_what_was_right(page: Page, arrived: Opener) -> None:
    make_instance(make_project(), "one")
    arrived(instances=2, practice=PRACTICE)
    page.get_by_role("button", name="Start the practice").click()
    page.locator("[data-question][data-seen]").wait_for()
    sizes = {}
    windows = ((390, 844), (844, 390), (768, 1024), (1366, 768))
    for width, height in windows:
        set_window(page, width, height)
        sizes[width] = [picture[:2] for picture in page.evaluate(PAINTED)]
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    panel = page.locator("[data-verdict-panel]")
    panel.wait_for()
    for width, height in windows:
        set_window(page, width, height)
        assert [picture[:2] for picture in page.evaluate(PAINTED)] == sizes[width], (width, height)
        assert not overlaps(page.evaluate(BOXES)["apart"]), (width, height)
        assert all(lines == 1 and is_inside for lines, is_inside, _ in page.evaluate(NAMES)), (width, height)
        panel.scroll_into_view_if_needed()
        expect(panel).to_be_in_viewport(ratio=0.99)


def test_on_short_windows_one_criterion_is_asked_at_a_time_beside_large_pictures(page: Page, at_work: Opener) -> None:
    shaped(at_work, page, "compare", (512, 512), ask=FOUR)
    for width, height, least in ((844, 390, 160), (683, 384, 160), (360, 640, 140)):
        set_window(page, width, height)
        assert min(min(wide, high) for wide, high, *_ in page.evaluate(PAINTED)) >= least, (width, height)
    groups = page.locator("[data-stage] [data-group]")
    set_window(page, 1366, 768)
    for place in range(3):
        expect(groups.nth(place)).to_be_in_viewport(ratio=1)
    set_window(page, 844, 390)
    shown = page.locator("[data-stage] [data-page]")
    expect(shown).to_have_text("1 of 3")
    expect(groups.nth(0)).to_be_in_viewport(ratio=1)
    expect(groups.nth(1)).not_to_be_in_viewport()
    # An answer brings the next criterion, by hand and by key; the arrows of the keyboard choose without going on.
    groups.nth(0).get_by_role("radio", name="Image B").click()
    expect(shown).to_have_text("2 of 3")
    page.keyboard.press("Escape")
    page.locator("[data-stage] [data-heading]").focus()
    page.keyboard.press("1")
    expect(shown).to_have_text("3 of 3")
    page.get_by_role("button", name="Before", exact=True).click()
    expect(shown).to_have_text("2 of 3")
    expect(groups.nth(1).get_by_role("radio", name="Image A")).to_be_checked()
    groups.nth(2).get_by_role("radio", name="Image C").focus()
    expect(shown).to_have_text("3 of 3")
    page.keyboard.press("3")
    expect(page.locator("[data-stage] [data-send]")).to_be_enabled()


def test_type_grows_with_the_window_and_with_the_wish_for_larger_text(page: Page, at_work: Opener) -> None:
    shaped(at_work, page, "best_of_n", (640, 480))
    sizes = []
    for width, height in ((390, 844), (1366, 768), (1920, 1080), (2560, 1440)):
        set_window(page, width, height)
        sizes.append(page.evaluate("parseFloat(getComputedStyle(document.querySelector('[data-question]')).fontSize)"))
    assert sizes[:2] == [16, 16]
    assert sizes[1] * 1.15 < sizes[2] < sizes[3] * 0.87
    set_window(page, 1366, 768)
    page.evaluate("document.documentElement.dataset.text = '150'")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('[data-question]')).fontSize)") == 24


@pytest.mark.parametrize("case", [*CASES, COMPARED], ids=lambda case: f"{case.kind}-{case.images}")
def test_a_grey_send_has_its_reason_beside_it_on_phones(page: Page, at_work: Opener, case: Case) -> None:
    instance = make_instance(make_project(), "one", candidates=case.images)
    for role in case.roles:
        picture(instance, role, (512, 512))
    at_work(instances=1, kind=case.kind, ask=case.ask, size=(640, 427))
    hint = page.locator("[data-stage] [data-hint]")
    for width, height in ((390, 844), (360, 640), (844, 390), (683, 384), (911, 512), (1024, 768)):
        set_window(page, width, height)
        expect(hint).to_have_text("Choose an answer first.")
        expect(hint).to_be_in_viewport(ratio=1)
        box = hint.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 10
        # Two lines at most.
        assert box["height"] <= 50, (width, height)
    # Once for each criterion.
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(hint).to_be_empty()
