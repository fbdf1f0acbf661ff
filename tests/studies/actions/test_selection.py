"""A launch whose selection is empty is refused with what was found."""

from typing import Any

import pytest

from annotation.actions.launching import launch
from results.queries.studies.live_study_status import wait_reason
from results.queries.studies.overview import study_lines
from studies.actions.projects.tags import tag_instances
from studies.design import Design
from studies.errors import StudyError
from studies.models import Instance, Project, Study, StudyState
from tests.annotation.test_lobby import accept_one
from tests.factories import NOON, TESTS, create_draft, launch_study, make_instance, make_project

pytestmark = pytest.mark.django_db
TEN = {"images": "candidate"}


@pytest.fixture
def project() -> Project:
    """A project of five sets: three of the split train, one of test, one of none."""
    made = make_project()
    for number, split in enumerate(["train", "train", "train", "test", ""]):
        make_instance(made, f"set-{number}", candidates=4, type="static", split=split)
    return made


def refused(project: Project, **design: Any) -> str:
    """Return why a draft is not launched; its plan says the same."""
    draft = create_draft(project, instances=0, **design)
    sentences = []
    for attempt in (lambda: launch.launch(study=draft, by=TESTS, now=NOON), lambda: launch.plan(draft, now=NOON)):
        with pytest.raises(StudyError) as error:
            attempt()
        sentences.append(str(error.value))
    assert Study.objects.get(pk=draft.pk).state == StudyState.DRAFT
    assert len(set(sentences)) == 1
    return sentences[0]


def test_a_split_that_no_instance_has_is_named_with_those_that_there_are(project: Project) -> None:
    sentence = refused(project, selection={"split": ["valid", "dev"]})
    assert sentence == (
        "`split: [valid, dev]` matches 0 of 5 instances; 3 are train, 1 is test, 1 has no split. Change "
        "`instances.split`, or import instances that have it."
    )


def test_instances_without_any_split_are_counted() -> None:
    project = make_project()
    for number in range(14):
        make_instance(project, f"set-{number}", candidates=4)
    first = launch_study(project, instances=0)
    sentence = refused(project, study="second", selection={"from": first.slug, "split": ["valid", "test"]})
    assert "`split: [valid, test]` matches 0 of 14 instances; 14 have no split." in sentence


def test_selections_that_match_alone_and_not_together_are_named(project: Project) -> None:
    make_instance(project, "video", candidates=4, type="video", split="train")
    sentence = refused(project, selection={"split": ["test"], "type": ["video"]})
    assert sentence == (
        "Of 6 instances, `type: [video]` 1, `split: [test]` 1 match, and none matches all of these. Change `instances`."
    )


def test_keys_that_are_not_there_and_a_project_without_instances_are_said(project: Project) -> None:
    assert refused(project, selection={"keys": ["gone"]}) == (
        "`keys: [gone]` matches 0 of 5 instances. Correct the keys."
    )
    assert refused(make_project("empty"), study="other") == "Project empty has no instances. Import some first."


def test_a_study_asks_about_instances_with_one_of_its_tags(project: Project) -> None:
    first, second, third, *_ = Instance.objects.filter(project=project)
    other = make_instance(make_project("other"), "set-0", candidates=4)
    for name, tagged in {"hard": [first, second], "long": [second, third]}.items():
        tag_instances(project=project, instances=[each.pk for each in tagged], name=name, by=TESTS, now=NOON)
    tag_instances(project=other.project, instances=[other.pk], name="hard", by=TESTS, now=NOON)
    assert "`tags: [easy]` matches 0 of 5 instances. The project has the tags [hard, long]. Change" in refused(
        project, study="none", selection={"tags": ["easy"]}
    )
    for tags, instances in {("hard",): [first, second], ("hard", "long"): [first, second, third]}.items():
        study = launch_study(project, instances=0, study="-".join(tags), selection={"tags": list(tags)})
        assert [each.instance for each in study.questions.order_by("instance")] == instances


def test_a_study_file_without_tags_is_stored_as_before(project: Project) -> None:
    assert "tags" not in create_draft(project, instances=0).design.to_stored()["instances"]
    tagged = create_draft(project, instances=0, study="tagged", selection={"tags": ["hard"]})
    assert Design.from_stored(tagged.design.to_stored()) == tagged.design
    assert tagged.design.instances.tags == ("hard",)


def test_a_study_that_selects_what_its_feeding_study_leaves_out_is_refused(project: Project) -> None:
    first = launch_study(project, instances=0, selection={"split": ["test"]})
    sentence = refused(project, study="second", selection={"from": first.slug, "split": ["train"]})
    assert "Study best-vase selects none of the 3 instances that this study selects" in sentence


def test_a_live_study_is_launched_before_anything_is_accepted_and_says_what_it_waits_for(project: Project) -> None:
    first = launch_study(project, instances=0)
    second = launch_study(project, instances=0, study="second", selection={"from": first.slug})
    assert wait_reason(second, now=NOON) == "Waiting for accepted instances from best-vase"
    lines = {line.study.slug: line.waits_for for line in study_lines(project, now=NOON)}
    assert lines == {"best-vase": "", "second": "Waiting for accepted instances from best-vase"}
    accept_one(first)
    assert wait_reason(second, now=NOON) == ""
    assert wait_reason(first, now=NOON) == ""
    assert [line.waits_for for line in study_lines(project, now=NOON)] == ["", ""]


def test_it_says_so_where_the_feeding_study_pauses(project: Project) -> None:
    first = launch_study(project, instances=0)
    second = launch_study(project, instances=0, study="second", selection={"from": first.slug})
    Study.objects.filter(pk=first.pk).update(state=StudyState.PAUSED)
    second = Study.objects.get(pk=second.pk)
    assert wait_reason(second, now=NOON) == "Waiting for accepted instances from best-vase, which is paused"
    Study.objects.filter(pk=first.pk).update(state=StudyState.CLOSED, closed_at=NOON)
    assert wait_reason(Study.objects.get(pk=second.pk), now=NOON) == ""
