"""Instances, disagreements and results in a real browser: accessible, as wide as the window, settled by keyboard."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Decision, Removal
from results.actions.pseudonyms import name_annotators
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from results.models import Pseudonym
from studies.models import Project, Question, Study, StudyState, Tag
from tests.browser.stage import assert_no_wider_than_the_window, draw_all, set_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import NOON, TESTS, make_instance, make_person
from tests.people import digest_of
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, by_key, open_study, project_of, sit_through

PAGES = (
    "/projects/vases/instances/",
    "/projects/vases/instances/?look=table&study=step-3",
    "/projects/vases/instances/?state=lost",
    "/projects/vases/instances/vase-1/?study=step-3",
    "/projects/vases/chosen/tag/?which=all",
    "/projects/vases/chosen/export/?which=all",
    "/projects/vases/chosen/take-out/?which=all",
    "/projects/vases/chosen/ask-again/?which=all",
    "/projects/vases/results/",
    "/studies/vases/step-3/questions/?sort=disagreement",
    "/studies/vases/step-3/annotators/",
    "/studies/vases/step-3/disagreements/",
    "/studies/vases/step-3/disagreements/?show=settled",
    "/studies/vases/step-3/results/",
    "/studies/vases/baseline/results/",
)


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer) -> Page:
    """A page of the researcher of a pipeline with a kept instance and two that are split."""
    ana = make_person("ana")
    project = project_of(ana)
    draw_all()
    step_3 = open_study(project, STEP_3 | {"answers": 2})
    first = by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none", vase_3="none")
    second = by_key(vase_0="candidate-0", vase_1="candidate-2", vase_2="candidate-3", vase_3="none")
    sit_through(step_3, "ann", first)
    sit_through(step_3, "ben", second)
    sit_through(open_study(project, STEP_4), "cleo", "original")
    sit_through(open_study(project, BASELINE), "dora", lambda question: question.right)
    return sign_in(page, live_server.url, ana)


def test_tables_of_people_fit_a_phone_and_name_their_columns(signed_in: Page, live_server: LiveServer) -> None:
    set_window(signed_in, 390, 844)
    name_annotators(project=Project.objects.get())
    ann = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    for address in (f"/projects/vases/people/{ann}/", "/projects/vases/people/", "/projects/vases/members/"):
        signed_in.goto(f"{live_server.url}{address}")
        tables = signed_in.locator("table.stacks").all()
        assert tables, address
        for table in tables:
            assert table.evaluate("(table) => table.parentElement.scrollWidth <= table.parentElement.clientWidth + 1")
            title = "(cell) => getComputedStyle(cell, '::before').content"
            cell = table.locator("td[data-title]").first
            assert str(cell.get_attribute("data-title")) in cell.evaluate(title)


def test_the_list_of_disagreements_opens_from_its_button_before_the_question_on_a_phone(
    signed_in: Page, live_server: LiveServer
) -> None:
    page = signed_in
    set_window(page, 390, 844)
    page.goto(f"{live_server.url}/studies/vases/step-3/disagreements/")
    questions = page.get_by_role("list", name="Questions")
    expect(questions).to_be_hidden()
    page.get_by_role("button", name="List and filter").press("Enter")
    expect(questions).to_be_visible()
    page.keyboard.press("Escape")
    expect(questions).to_be_hidden()
    # What the Tab key reaches next is never above what it reached before.
    page.get_by_role("button", name="List and filter").focus()
    tops = []
    for _ in range(6):
        page.keyboard.press("Tab")
        tops.append(page.evaluate("document.activeElement.getBoundingClientRect().top + scrollY"))
    assert tops == sorted(tops)


def test_names_of_roles_and_tick_boxes_hide_nothing_of_the_pictures(signed_in: Page, live_server: LiveServer) -> None:
    set_window(signed_in, 1366, 768)
    signed_in.goto(f"{live_server.url}/projects/vases/instances/")
    covered = signed_in.evaluate(
        """() => [...document.querySelectorAll("[data-instance]")].flatMap((card) => {
          const boxes = (names) => [...card.querySelectorAll(names)].map((each) => each.getBoundingClientRect());
          return boxes(".picture img").flatMap((picture) => boxes("small, .tick input").filter((one) =>
            one.top < picture.bottom - 1 && one.bottom > picture.top + 1 &&
            one.left < picture.right - 1 && one.right > picture.left + 1));
        }).length"""
    )
    assert signed_in.locator("[data-instance] .picture small").count()
    assert covered == 0


def test_accepted_pictures_are_large_on_a_phone_and_not_covered(signed_in: Page, live_server: LiveServer) -> None:
    set_window(signed_in, 390, 844)
    signed_in.goto(f"{live_server.url}/projects/vases/")
    pictures = signed_in.locator(".accepted-latest .picture").all()
    assert pictures
    for picture in pictures:
        image, label = picture.locator("img").bounding_box(), picture.locator("small").bounding_box()
        assert image
        assert label
        assert image["width"] >= 140
        assert label["y"] >= image["y"] + image["height"] - 1


def test_the_tables_about_annotators_fit_a_laptop(signed_in: Page, live_server: LiveServer) -> None:
    """The baseline has every column of a study with right answers; the person is in several studies."""
    set_window(signed_in, 1366, 768)
    name_annotators(project=Project.objects.get())
    dora = Pseudonym.objects.get(annotator__id_digest=digest_of("dora")).name
    for address in ("/studies/vases/baseline/annotators/", f"/projects/vases/people/{dora}/"):
        signed_in.goto(f"{live_server.url}{address}")
        too_wide = "all => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)"
        assert signed_in.locator(".scroll").count()
        assert signed_in.locator(".scroll").evaluate_all(too_wide) == []


def test_every_page_is_accessible_and_none_is_wider_than_the_window(signed_in: Page, live_server: LiveServer) -> None:
    for address in PAGES:
        signed_in.goto(f"{live_server.url}{address}")
        assert_no_wider_than_the_window(signed_in)
        # Menus last: an open one lies over what is below it.
        for details in ("details:not(.menu)", "details.menu"):
            for summary in signed_in.locator(f"main {details} > summary").all():
                summary.click()
        assert_accessible(signed_in)
    signed_in.goto(f"{live_server.url}/projects/vases/people/")
    assert_accessible(signed_in)
    signed_in.get_by_role("table").get_by_role("link").first.click()
    shown = signed_in.get_by_text("their answer").first
    expect(shown).to_be_hidden()
    signed_in.get_by_label("All open").check()
    signed_in.get_by_role("button", name="Apply").click()
    expect(shown).to_be_visible()
    assert_no_wider_than_the_window(signed_in)
    assert_accessible(signed_in)


def test_a_question_is_settled_with_the_keyboard_alone(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/studies/vases/step-3/disagreements/")
    # Digits and letters in a note are a note.
    page.get_by_label("Note").first.focus()
    page.keyboard.type("2 people, j and k")
    expect(page.get_by_label("Note").first).to_have_value("2 people, j and k")
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.reload()
    page.keyboard.press("j")
    expect(page.get_by_role("article", name="vase-2")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("article", name="vase-1")).to_be_visible()
    # A click on a card chooses, too, and does not leave the page.
    page.get_by_role("listitem").filter(has_text="Image 2").locator("img").click()
    expect(page.get_by_role("radio", name="Image 2")).to_be_checked()
    page.keyboard.press("4")
    expect(page.get_by_role("radio", name="Image 4")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The question about vase-1 is settled as Image 4.")
    assert Decision.objects.get(settled_choice="candidate-3").question.instance.key == "vase-1"
    # The next one follows by itself.
    expect(page.get_by_role("article", name="vase-2")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_role("radio", name="None of these")).to_be_checked()


def test_a_question_of_an_instance_is_closed_until_somebody_opens_it_or_a_link_leads_there(
    signed_in: Page, live_server: LiveServer
) -> None:
    page, asked = signed_in, Question.objects.get(instance__key="vase-1", study__slug="step-3")
    page.goto(f"{live_server.url}/projects/vases/instances/vase-1/")
    answers = page.get_by_role("region", name=re.compile("^Answers"))
    expect(answers).to_have_count(0)
    page.get_by_text("1 question, 2 answers").click()
    expect(answers).to_have_count(1)
    page.goto(f"{live_server.url}/projects/vases/instances/vase-2/")
    page.goto(f"{live_server.url}/projects/vases/instances/vase-1/#question-{asked.pk}")
    expect(answers).to_have_count(1)


# Number of pictures -> the smallest side of each, in a window of a small laptop.
SMALLEST_SIDES = {2: 260, 4: 180, 9: 112}


def test_disagreements_show_large_pictures_and_their_buttons_without_scrolling(
    page: Page, live_server: LiveServer
) -> None:
    ana = make_person("ana")
    project = project_of(ana, instances=0)
    for number in SMALLEST_SIDES:
        make_instance(project, f"of-{number}", candidates=number)
    captions = {"study": "captions", "kind": "image_to_text", "ask": {"images": ["candidate"]}, "answers": 2}
    make_instance(project, "one", candidates=1)
    draw_all()
    keys = {f"of-{number}": f"candidate-{number - 1}" for number in SMALLEST_SIDES}
    pictures = open_study(project, STEP_3 | {"answers": 2, "instances": {"keys": list(keys)}})
    sit_through(pictures, "ann", lambda question: "candidate-0")
    sit_through(pictures, "ben", lambda question: keys[question.instance.key])
    texts = open_study(project, captions | {"instances": {"keys": ["one"]}})
    sit_through(texts, "ann", "caption")
    sit_through(texts, "ben", "negative_caption")
    sign_in(page, live_server.url, ana)
    for question in [*pictures.questions.all(), *texts.questions.all()]:
        set_window(page, 1366, 768)
        page.goto(f"{live_server.url}/studies/vases/{question.study.slug}/disagreements/?question={question.pk}")
        shown = page.locator(".adjudication-question .asked img")
        for image in shown.all():
            expect(image).to_have_js_property("complete", True)
        boxes = [box for image in shown.all() if (box := image.bounding_box())]
        n = len(boxes)
        assert min(min(box["width"], box["height"]) for box in boxes) >= SMALLEST_SIDES.get(n, 260), n
        expect(page.get_by_role("button", name="Settle")).to_be_in_viewport(ratio=1)
        if n <= 4:
            expect(page.locator(".asked-head")).to_be_in_viewport(ratio=1)
            for option in page.locator(".choices-made > li").all():
                expect(option).to_be_in_viewport(ratio=1)
        assert_accessible(page)
        assert_no_wider_than_the_window(page)
        set_window(page, 390, 844)
        for image in shown.all():
            box = image.bounding_box()
            assert box
            assert box["width"] >= 300, n


def test_instances_are_walked_through_ticked_and_tagged_with_the_keyboard_alone(
    signed_in: Page, live_server: LiveServer
) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/projects/vases/instances/?study=step-3")
    selection = page.get_by_role("group", name="Selection")
    expect(selection).to_be_hidden()
    for key in "jjxjx":
        page.keyboard.press(key)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(selection).to_contain_text("2 selected")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="vase-1", level=1)).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="vase-2", level=1)).to_be_visible()
    page.keyboard.press("u")
    # The list begins with it, and those before are one page away.
    expect(page.locator("[name=pick]")).to_have_count(2)
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("[name=pick]")).to_have_count(4)
    for key in "jx":
        page.keyboard.press(key)
    page.get_by_role("button", name="Tag…").press("Enter")
    expect(page.get_by_role("heading", name="Tag 1 instance")).to_be_visible()
    page.get_by_label("Tag").press_sequentially("jxk")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Tag jxk added to 1 instance.")
    assert [each.key for each in Tag.objects.get().instances.all()] == ["vase-0"]


def test_no_picture_is_squeezed_into_another_shape(signed_in: Page, live_server: LiveServer) -> None:
    draw_all((160, 120))
    signed_in.goto(f"{live_server.url}/projects/vases/people/")
    person = signed_in.get_by_role("table").get_by_role("link").first.get_attribute("href")
    project = ("/projects/vases/", "/projects/vases/instances/", "/projects/vases/instances/vase-1/")
    studies = ("/studies/vases/step-3/disagreements/", "/studies/vases/step-3/questions/")
    for address in [*project, *studies, f"{person}?open=all"]:
        signed_in.goto(f"{live_server.url}{address}")
        fits = signed_in.locator("main img").evaluate_all("all => all.map(each => getComputedStyle(each).objectFit)")
        assert fits, address
        assert set(fits) <= {"contain", "cover"}, address


def test_a_selection_is_either_single_instances_or_all_results(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/projects/vases/instances/?type=swap")
    selection = page.get_by_role("group", name="Selection")
    everything = page.get_by_label("Select all 2 results")
    everything.check()
    expect(selection).to_contain_text("All 2 selected")
    picks = page.get_by_role("checkbox", name="Select vase")
    expect(picks.and_(page.get_by_role("checkbox", checked=True))).to_have_count(2)
    page.get_by_label("Select vase-2").uncheck()
    expect(everything).not_to_be_checked()
    expect(selection).to_contain_text("1 selected")
    everything.check()
    expect(page.get_by_label("Select vase-2")).to_be_checked()
    everything.uncheck()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    everything.check()
    selection.get_by_role("button", name="Clear selection").click()
    expect(selection).to_be_hidden()
    everything.check()
    selection.get_by_role("button", name="Tag…").click()
    expect(page.get_by_role("heading", name="Tag 2 instances")).to_be_visible()


def test_facets_work_without_scripts_on_a_phone(signed_in: Page, live_server: LiveServer) -> None:
    browser = signed_in.context.browser
    assert browser is not None
    context = browser.new_context(
        java_script_enabled=False,
        viewport={"width": 390, "height": 844},
        storage_state=signed_in.context.storage_state(),
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/projects/vases/instances/")
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("navigation", name="Filters").get_by_role("link", name="swap").click()
    expect(page.locator("[name=pick]")).to_have_count(2)
    page.get_by_role("link", name="Remove filter Type swap").click()
    expect(page.locator("[name=pick]")).to_have_count(4)
    page.get_by_label("Select vase-1").check()
    page.get_by_role("button", name="Tag…").click()
    expect(page.get_by_role("heading", name="Tag 1 instance")).to_be_visible()
    context.close()


def test_a_members_pictures_come_and_nobody_sees_them_after_signing_out(
    signed_in: Page, live_server: LiveServer
) -> None:
    statuses: dict[str, int] = {}
    signed_in.on("response", lambda response: statuses.update({response.url: response.status}))
    signed_in.goto(f"{live_server.url}/projects/vases/instances/vase-0/", wait_until="load")
    pictures = {url: status for url, status in statuses.items() if "/images/" in url}
    assert len(pictures) >= 5
    assert set(pictures.values()) == {200}
    address = next(iter(pictures))
    signed_in.locator(".bar summary").click()
    signed_in.get_by_role("button", name="Sign out").click()
    signed_in.get_by_role("button", name="Sign in").wait_for()
    signed_in.goto(address)
    expect(signed_in.locator("body")).to_contain_text("There is no such image here.")


def test_long_names_are_whole_and_an_edge_shows_that_there_is_more(signed_in: Page, live_server: LiveServer) -> None:
    Study.objects.filter(slug="step-4").update(slug="drawn-scenes-preferences")
    signed_in.set_viewport_size({"width": 700, "height": 844})
    signed_in.goto(f"{live_server.url}/projects/vases/")
    name = signed_in.locator(".pipeline .node-name", has_text="drawn-scenes-preferences")
    cut = "name => name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight"
    assert name.evaluate(cut) is False
    inside = "name => { const node = name.closest('.node'); return node.scrollHeight <= node.clientHeight; }"
    assert name.evaluate(inside) is True
    shadows = "local, local, scroll, scroll, scroll"
    expect(signed_in.locator(".pipeline")).to_have_css("background-attachment", shadows)
    signed_in.goto(f"{live_server.url}/projects/vases/people/")
    expect(signed_in.locator(".scroll").first).to_have_css("background-attachment", shadows)


def test_a_link_of_the_graph_is_wholly_in_sight_when_the_keyboard_reaches_it(
    signed_in: Page, live_server: LiveServer
) -> None:
    signed_in.set_viewport_size({"width": 700, "height": 844})
    signed_in.goto(f"{live_server.url}/projects/vases/")
    signed_in.locator(".pipeline").focus()
    links = signed_in.locator(".pipeline a").count()
    cut = """() => {
        const link = document.activeElement, frame = link.closest(".pipeline").getBoundingClientRect();
        const place = link.getBoundingClientRect();
        return place.left < frame.left || place.right > frame.right ? link.textContent : "";
    }"""
    for _ in range(links):
        signed_in.keyboard.press("Tab")
        assert signed_in.evaluate(cut) == ""


def test_the_overview_of_six_studies_stands_on_one_laptop_screen(signed_in: Page, live_server: LiveServer) -> None:
    project = Project.objects.get()
    # Six in one column, the tallest that six can be, and more to do than is shown.
    for number in range(5):
        open_study(project, STEP_3 | {"study": f"also-asks-about-scenes-{number}"})
    Study.objects.filter(slug__startswith="also").update(state=StudyState.PAUSED)
    signed_in.set_viewport_size({"width": 1366, "height": 768})
    signed_in.goto(f"{live_server.url}/projects/vases/")
    # The import, eight studies and the dataset.
    expect(signed_in.locator(".pipeline foreignObject")).to_have_count(10)
    expect(signed_in.locator(".next-steps > ul li")).to_have_count(3)
    days = signed_in.locator(".per-day").bounding_box()
    assert days is not None
    assert days["y"] + days["height"] <= 768
    # Its other rows are a scroll away, and a key away too.
    last = signed_in.locator(".pipeline .node-name").last
    last.focus()
    expect(last).to_be_in_viewport()


def test_the_preview_of_an_exclusion_follows_the_box(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/projects/vases/people/")
    ann = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    page.goto(f"{live_server.url}/projects/vases/people/{ann}/exclude/")
    # Its numbers stand on a phone without scrolling.
    table = page.get_by_role("region", name="Accepted items")
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
    asked = page.get_by_text("Answers requested from other people")
    expect(asked).to_have_count(0)
    page.get_by_label("Reason").fill("Clicked.")
    box = page.get_by_label("Ask other people these questions again")
    box.check()
    expect(asked).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("Clicked.")
    assert_accessible(page)
    box.uncheck()
    expect(asked).to_have_count(0)
    assert not Removal.objects.exists()


def test_a_phone_shows_the_pipeline_as_a_list(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.set_viewport_size({"width": 390, "height": 844})
    signed_in.goto(f"{live_server.url}/projects/vases/")
    expect(signed_in.locator(".pipeline")).to_be_hidden()
    steps = signed_in.locator(".pipeline-list li")
    expect(steps.first).to_contain_text("Instances")
    step_4 = steps.filter(has=signed_in.locator(".node-name", has_text="step-4"))
    expect(step_4).to_contain_text("asked, from step-3")


def test_the_name_of_the_site_is_large_enough_for_a_finger(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.set_viewport_size({"width": 390, "height": 844})
    signed_in.goto(f"{live_server.url}/projects/vases/")
    # WCAG 2.2, target size (minimum).
    box = signed_in.get_by_role("link", name="Lineup", exact=True).bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 24


def test_pictures_beside_their_votes_are_not_stretched(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.goto(f"{live_server.url}/projects/vases/instances/vase-0/")
    picture = signed_in.locator(".choices-made img").first
    expect(picture).to_have_css("object-fit", "contain")


def test_paper_holds_the_whole_graph_its_colours_and_no_buttons(signed_in: Page, live_server: LiveServer) -> None:
    # As wide as A4 with margins of 1 cm.
    set_window(signed_in, 718, 1000)
    signed_in.goto(f"{live_server.url}/projects/vases/")
    assert signed_in.locator(".button:visible").count()
    signed_in.emulate_media(media="print")
    graph, main = signed_in.locator(".pipeline svg").bounding_box(), signed_in.locator("main").bounding_box()
    assert graph
    assert main
    assert graph["x"] + graph["width"] <= main["x"] + main["width"] + 1
    expect(signed_in.locator(".pipeline").first).to_have_css("overflow", "visible")
    expect(signed_in.locator("#accepted")).to_have_css("break-after", "avoid")
    expect(signed_in.locator("main progress").first).to_have_css("print-color-adjust", "exact")
    assert signed_in.locator(".button:visible").count() == 0


def test_a_long_name_leaves_room_for_the_rail_and_is_a_tooltip(signed_in: Page, live_server: LiveServer) -> None:
    name = "A very long name of a project about vases " * 4
    Project.objects.update(name=name)
    set_window(signed_in, 1366, 768)
    signed_in.goto(f"{live_server.url}/projects/vases/instances/")
    bar, crumb = signed_in.locator("header.bar").bounding_box(), signed_in.locator(".crumb-project a")
    assert bar
    assert bar["height"] < 60
    expect(crumb).to_have_attribute("title", name)
    expect(signed_in.locator(".rail").get_by_role("link", name="Settings")).to_be_in_viewport()
    assert_no_wider_than_the_window(signed_in)


def test_a_long_name_of_a_release_breaks_on_a_phone(signed_in: Page, live_server: LiveServer) -> None:
    study = Study.objects.get(slug="step-3")
    release, _ = prepare_release(study=study, about=About(release="r" * 40), by=TESTS, now=NOON)
    freeze_release(release=release, now=NOON)
    set_window(signed_in, 390, 844)
    for address in ("/projects/vases/releases/", "/studies/vases/step-3/releases/"):
        signed_in.goto(f"{live_server.url}{address}")
        expect(signed_in.get_by_text("r" * 40).first).to_be_visible()
        assert_no_wider_than_the_window(signed_in)
    # In the form for a new one each label is above its field.
    name = signed_in.get_by_label("Name", exact=True)
    label, field = signed_in.locator("label[for=name]").bounding_box(), name.bounding_box()
    assert label
    assert field
    assert label["y"] + label["height"] <= field["y"]


def test_a_card_without_a_picture_shows_its_whole_key(signed_in: Page, live_server: LiveServer) -> None:
    make_instance(Project.objects.get(), "no-picture", candidates=0)
    signed_in.goto(f"{live_server.url}/projects/vases/instances/?words=no-picture")
    tick = signed_in.get_by_label("Select no-picture").bounding_box()
    key = signed_in.get_by_role("link", name="no-picture", exact=True).bounding_box()
    assert tick
    assert key
    assert tick["x"] + tick["width"] <= key["x"]


def test_a_list_and_a_text_field_of_a_filter_are_in_one_line(signed_in: Page, live_server: LiveServer) -> None:
    set_window(signed_in, 1366, 768)
    signed_in.goto(f"{live_server.url}/projects/vases/people/")
    tops = "all => all.map((each) => Math.round(each.getBoundingClientRect().top))"
    for what in ("label", ":is(input, select)"):
        assert len({*signed_in.locator(f".filter {what}").evaluate_all(tops)}) == 1


def test_the_studies_of_the_rail_are_marked_while_they_are_shown(signed_in: Page, live_server: LiveServer) -> None:
    set_window(signed_in, 1366, 768)
    signed_in.goto(f"{live_server.url}/projects/vases/")
    overview, studies = (signed_in.locator(".rail").get_by_role("link", name=name) for name in ("Overview", "Studies"))
    expect(overview).to_have_css("font-weight", "650")
    studies.click()
    expect(studies).to_have_css("font-weight", "650")
    expect(overview).to_have_css("font-weight", "400")
