"""Releases of a whole pipeline in small: opened by the libraries of their readers, and the same for ever."""

import csv
import json
import stat
import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Annotator, Response, Session
from predictions.models import Conditions, Model, Prediction
from results.actions.exports import make_export, request_export
from results.actions.pseudonyms import name_annotators
from results.actions.releases import RELEASE_FORMATS
from results.exporting import columnar, get_writer, shards
from results.exporting.release_rows import read_row
from results.models import Export, Pseudonym, Release, ReleasePseudonym
from results.queries.exports.export_rows import given_responses
from studies.actions.events import What, record
from studies.kinds import content_hash, get_kind
from studies.models import Project, Question
from tests.databases import kept
from tests.factories import NOON, create_draft, make_person, make_project
from tests.people import digest_of
from tests.removing import exclude, withdraw
from tests.results.actions.test_image_exports import store_pictures
from tests.results.exporting.test_columnar import COLUMNS, digests
from tests.results.queries.test_report_rows import make_whole_pipeline

PEOPLE = ("ann", "ben", "cleo", "dora")


def release(folder: Path, *, study: str = "step-4", name: str = "v1", format: str = "hf", **options: Any) -> Path:
    options = {"licence": "CC-BY-4.0", "citation": "@misc{small}", **options}
    call_command("release", "vases", study=study, name=name, format=format, out=folder, **options)
    return folder / f"{study}-{name}"


def fill() -> str:
    project = make_whole_pipeline()
    store_pictures()
    return project.slug


filled = kept(fill)


@pytest.fixture
def pipeline(filled: str) -> Project:
    return Project.objects.get(slug=filled)


def described(folder: Path) -> Any:
    import mlcroissant

    with warnings.catch_warnings():
        # Of the libraries that mlcroissant itself stands on.
        warnings.simplefilter("ignore")
        return mlcroissant.Dataset(jsonld=folder / "croissant.json")


def records(folder: Path, record_set: str) -> list[dict[str, Any]]:
    return read_records(described(folder), record_set)


def read_records(dataset: Any, record_set: str) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [{name.partition("/")[2]: value for name, value in one.items()} for one in dataset.records(record_set)]


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8").replace("\\", "")


def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "annotations" / f"{name}.csv", keep_default_na=False)


def test_the_datasets_library_opens_the_folder(pipeline: Project, tmp_path: Path) -> None:
    import datasets

    loaded = datasets.load_dataset(str(release(tmp_path)), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["test"]
    assert (len(loaded["test"]), loaded["test"].column_names) == (4, COLUMNS)
    assert loaded["test"][0]["image"].size == (8, 6)


@pytest.mark.parametrize("format", RELEASE_FORMATS)
def test_mlcroissant_finds_the_description_valid_and_reads_all_by_it_and_no_id_of_a_provider_is_in_any_file(
    pipeline: Project, format: str, tmp_path: Path
) -> None:
    for number, person in enumerate(PEOPLE):
        Annotator.objects.filter(id_digest=digest_of(person)).update(
            **Annotator.seal_id(f"5f3{number}c0ffee5f3{number}c0ffee")
        )
    folder = release(tmp_path, format=format)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) >= 6
    assert not [path for path in files if b"c0ffee" in path.read_bytes() or b"session-of-" in path.read_bytes()]
    metadata = described(folder).metadata
    assert not metadata.ctx.issues.errors
    assert len(records(folder, "responses")) == Response.objects.count() == 6 * 2 + 5 + 8
    assert len(records(folder, "decisions")) == 6 + 5 + 8
    if not get_writer(format).columns:
        return
    assert not metadata.ctx.issues.warnings
    found = records(folder, "instances")
    assert {record["key"] for record in found} == {f"vase-{n}".encode() for n in (1, 2, 3, 4)}
    # Four questions about each, where it holds questions.
    assert len(found) == (16 if "question" in found[0] else 4)
    if "caption" in found[0]:
        assert {record["caption"] for record in found} == {f"A vase, vase-{n}.".encode() for n in (1, 2, 3, 4)}
    if format == "hf":
        assert found[0]["image"].size == (8, 6)


def test_the_description_says_what_is_known(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path)
    content = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert "left the study" not in (folder / "README.md").read_text(encoding="utf-8")
    assert content["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert (content["citeAs"], content["version"]) == ("@misc{small}", "1.0.0")
    assert content["rai:annotationsPerItem"] == "best-vase: 2; step-4: 1; baseline: 1"
    assert "2 annotators in best-vase" in content["rai:dataCollection"]
    assert any("sessions were finished, each paid USD" in line for line in content["rai:dataAnnotationProtocol"])
    agreed = "Percent agreement before filtering, best-vase, best_of_n, any image / None: 1.00 (n = 6)."
    assert agreed in content["rai:dataAnnotationAnalysis"]


def test_pandas_reads_the_parquet_file_and_the_long_table(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path, format="parquet")
    assert len(pd.read_parquet(folder / "instances.parquet")) == 4
    answers = pd.read_csv(folder / "annotations" / "responses.csv")
    assert list(answers.columns[:3]) == ["task", "worker", "label"]
    assert answers.groupby("study")["worker"].nunique().to_dict() == {"best-vase": 2, "step-4": 1, "baseline": 1}


def test_the_card_is_written_from_the_studies(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path)
    _, front, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    body = card_of(folder)
    about = yaml.safe_load(front)
    # The hub knows it by this name.
    assert about["license"] == "cc-by-4.0"
    assert about["configs"][0]["data_files"] == [{"split": "test", "path": "data/test-*"}]
    assert [feature["name"] for feature in about["dataset_info"]["features"]] == COLUMNS
    first, second = (
        ReleasePseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben")
    )
    made = [line for line in body.splitlines() if line.startswith("### ")]
    assert [line.split(":")[0] for line in made[:3]] == ["### best-vase", "### step-4", "### baseline"]
    for study in pipeline.studies.all():
        for part in study.design.parts:
            for line in part.instructions.strip().splitlines():
                assert f"> {line}".rstrip() in body.splitlines()
    assert f"| best-vase | best_of_n | {first} and {second} | 1 | any image / None | 6 | 100.00 | 1.00 |" in body
    assert "The licence of 24 images is not stated." in body
    imported = "6 candidates were imported from vases.csv; their captions were formatted by the rule as-is-v1"
    assert f"{imported} (as the source has them)." in body
    assert "2 annotators answered on 2026-11-20; " in body
    assert "## Models" not in body
    for text in (body, (folder / "croissant.json").read_text(encoding="utf-8")):
        assert "Simulated" not in text
        assert "simulated by a program" not in text


def test_the_card_says_what_every_column_of_every_file_means(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path, format="csv")
    section = (folder / "README.md").read_text(encoding="utf-8").partition("## Files and columns\n")[2]
    for name in ("responses", "decisions", "predictions"):
        columns = list(pd.read_csv(folder / "annotations" / f"{name}.csv").columns)
        table = section.partition(f"`annotations/{name}.csv`")[2].split("\n\n")[1]
        told = [line.split(" | ")[0].removeprefix("| ").replace("\\", "") for line in table.splitlines()[2:]]
        assert told == columns


def test_a_release_with_simulated_annotators_says_that_they_are_no_people(pipeline: Project, tmp_path: Path) -> None:
    Session.objects.filter(study__slug="best-vase").update(provider_study_id="simulation-best-vase")
    Session.objects.filter(study__slug="baseline").update(provider="replay")
    folder = release(tmp_path)
    who = "2 of 2 annotators of best-vase, 1 of 1 annotators of baseline"
    warning = f"Simulated: {who}. Simulated answers say nothing about people."
    assert f"> **{warning}**" in card_of(folder)
    assert "2 annotators (2 of them simulated by a program) answered" in card_of(folder)
    content = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert warning in content["rai:dataLimitations"]
    assert "2 annotators (2 of them simulated by a program) in best-vase" in content["rai:dataCollection"]


def test_another_release_has_other_pseudonyms(pipeline: Project, tmp_path: Path) -> None:
    release(tmp_path, name="v1", format="jsonl")
    release(tmp_path, name="v2", format="jsonl")
    names = [set(one.pseudonyms.values_list("name", flat=True)) for one in Release.objects.all()]
    assert [len(one) for one in names] == [4, 4]
    assert not names[0] & names[1]
    assert not (names[0] | names[1]) & set(Pseudonym.objects.values_list("name", flat=True))


def test_no_file_of_a_release_names_anybody_as_the_site_does(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path)
    name_annotators(project=pipeline)
    own = set(Pseudonym.objects.values_list("name", flat=True))
    assert len(own) == 4
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in folder.rglob("*") if file.is_file()]
    assert any(
        name in text for text in texts for name in Release.objects.get().pseudonyms.values_list("name", flat=True)
    )
    assert not [name for name in own for text in texts if name in text]


def test_a_release_is_no_longer_given_out_once_somebody_in_it_has_withdrawn(pipeline: Project, tmp_path: Path) -> None:
    before = table(release(tmp_path / "one", format="jsonl"), "responses")
    name = ReleasePseudonym.objects.get(annotator__id_digest=digest_of("ben")).name
    assert (before["worker"] == name).sum() == 6
    withdraw(pipeline, "ben")
    with pytest.raises(CommandError, match="Somebody whose answers are in the release v1 has withdrawn"):
        release(tmp_path / "two", format="jsonl")
    assert not (tmp_path / "two" / "step-4-v1").exists()


def test_somebody_who_withdrew_is_in_no_release_frozen_afterwards_and_its_votes_do_not_give_them_away(
    pipeline: Project, tmp_path: Path
) -> None:
    """Ann and ben both chose or rejected everything in step 3; ann's answers alone are one of two wanted: undecided."""
    release(tmp_path / "one", format="jsonl")
    withdraw(pipeline, "ben")
    folder = release(tmp_path / "two", name="v2", format="jsonl", with_provider_ids=True)
    # Ann's 6, cleo's 5 in step 4, dora's 8 in the baseline.
    assert len(table(folder, "responses")) == 19
    step_3 = table(folder, "decisions").query("study == 'best-vase'")
    assert sorted(step_3["votes"]) == ['{"candidate-1": 1}'] * 5 + ['{"none": 1}']
    assert set(step_3["answers"]) == {1}
    # Nothing that step 4 kept rests on an acceptance any more.
    assert not (folder / "instances.jsonl").read_text(encoding="utf-8").strip()
    assert "ben" not in (tmp_path / "two" / "step-4-v2-provider-ids.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("format", ["hf", "parquet"])
def test_a_release_can_be_joined_to_its_annotations(pipeline: Project, format: str, tmp_path: Path) -> None:
    folder = release(tmp_path, format=format)
    (file,) = folder.glob("data/*.parquet" if format == "hf" else "*.parquet")
    instances = pd.read_parquet(file, columns=["key", "caption"])
    assert len(instances) == 4
    # Two people answered about each in step 3 and one in step 4; the baseline asked four questions about two of them.
    for name, of_step_3 in (("responses", 8), ("decisions", 4)):
        counts = instances.merge(table(folder, name), on="key").groupby("study").size().to_dict()
        assert counts == {"best-vase": of_step_3, "step-4": 4, "baseline": 8}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"licence": "MIT"}, "with another licence and does not change. Choose another name, or leave the licence out"),
        ({"description": "New."}, "with another description"),
        ({"citation": "@misc{new}"}, "with another citation"),
    ],
)
def test_a_name_that_is_taken_drops_nothing_that_was_typed_in(
    texts: dict[str, str], sentence: str, pipeline: Project, tmp_path: Path
) -> None:
    release(tmp_path, format="jsonl")
    with pytest.raises(CommandError, match=sentence):
        release(tmp_path / "again", format="jsonl", **texts)
    assert not (tmp_path / "again").exists()
    assert Release.objects.get().licence == "CC-BY-4.0"
    assert release(tmp_path / "again", format="jsonl", licence="", citation="").exists()


def test_provider_ids_are_a_file_of_their_own_that_only_its_owner_can_read(pipeline: Project, tmp_path: Path) -> None:
    release(tmp_path, format="jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["step-4-v1"]
    folder = release(tmp_path, format="jsonl", with_provider_ids=True)
    path = tmp_path / "step-4-v1-provider-ids.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    people = list(csv.DictReader(StringIO(path.read_text(encoding="utf-8"))))
    assert {row["provider_id"] for row in people} == set(PEOPLE)
    assert {row["worker"] for row in people} == set(table(folder, "responses")["worker"])


def test_rows_that_were_tampered_with_are_refused(pipeline: Project, tmp_path: Path) -> None:
    release(tmp_path, format="jsonl")
    frozen = Release.objects.get()
    default_storage.delete(frozen.file)
    Release.objects.update(file=default_storage.save("releases/other.jsonl", ContentFile(b'["instances", {}]\n')))
    with pytest.raises(CommandError, match="differ from those that were frozen"):
        release(tmp_path, format="jsonl")


def test_somebody_who_comes_while_a_release_is_frozen_is_not_in_it(pipeline: Project) -> None:
    study = pipeline.studies.get(slug="best-vase")
    ann = Annotator.objects.get(id_digest=digest_of("ann"))
    assert {row.worker for row in given_responses(study, {ann.pk: "A-1"})} == {"A-1"}


def test_somebody_who_comes_while_an_export_is_written_is_not_in_it(pipeline: Project) -> None:
    study = pipeline.studies.get(slug="best-vase")
    name_annotators(project=pipeline)
    newcomer = Pseudonym.objects.get(annotator__id_digest=digest_of("ben"))
    answers = Response.objects.filter(study=study)
    assert answers.filter(annotator=newcomer.annotator).exists()
    newcomer.delete()
    named = Pseudonym.objects.filter(annotator__responses__study=study)
    assert {row.worker for row in given_responses(study)} == set(named.values_list("name", flat=True))


def test_a_name_belongs_to_one_study(pipeline: Project, tmp_path: Path) -> None:
    release(tmp_path, format="jsonl")
    with pytest.raises(CommandError, match=r"is one of step-4\. Choose another name"):
        release(tmp_path, study="best-vase", format="jsonl")


@pytest.mark.parametrize("name", ["", "../v1", "v 1", ".v1", "x" * 41])
def test_a_name_that_is_no_name_of_a_folder_is_refused(pipeline: Project, name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot name a release"):
        release(tmp_path, name=name, format="jsonl")


@pytest.mark.django_db
def test_a_draft_cannot_be_released(tmp_path: Path) -> None:
    create_draft(make_project(), instances=1)
    with pytest.raises(CommandError, match="has not been launched yet"):
        release(tmp_path, study="best-vase")


def test_a_release_asked_for_on_a_page_is_frozen_and_packed(pipeline: Project) -> None:
    study = pipeline.studies.get(slug="step-4")
    wanted = Release.objects.create(project=pipeline, study=study, name="v1", made_at=NOON)
    researcher = make_person("researcher")
    made = []
    for _ in range(2):
        export = request_export(study=study, format="hf", by=researcher, now=NOON, release=wanted)
        make_export(export=export, now=lambda: NOON)
        export.refresh_from_db()
        assert (export.state, export.error) == (Export.State.READY, "")
        with default_storage.open(export.file) as stored:
            made.append(stored.read())
    assert made[0] == made[1]
    wanted.refresh_from_db()
    assert (wanted.instances, wanted.responses) == (4, 25)


def test_the_release_of_a_filter_in_the_middle_says_nothing_of_later_filters(pipeline: Project, tmp_path: Path) -> None:
    folder = release(tmp_path, study="best-vase", format="jsonl")
    assert set(table(folder, "responses")["study"]) == {"best-vase"}


def test_several_shards_are_one_record_set(pipeline: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(columnar, "ROWS_PER_GROUP", 1)
    monkeypatch.setattr(shards, "BYTES_PER_SHARD", 1)
    folder = release(tmp_path)
    assert len(list((folder / "data").iterdir())) == 4
    assert len(records(folder, "instances")) == 4
    assert len(datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))["test"]) == 4


OTHER = "0" * 64


def predict(pipeline: Project, key: str, content: str, *, scores: dict[str, float] | None = None) -> Prediction:
    """Say what a model answered about the image of an instance, computed here where there are scores."""
    model, _ = Model.objects.get_or_create(
        project=pipeline, name="CLIP", version="B/32", weights="w" * 64, defaults={"created_at": NOON}
    )
    details = {"dtype": "float32", "batch": 16}
    under, _ = Conditions.objects.get_or_create(digest="c" * 64, defaults={"details": details})
    return Prediction.objects.create(
        model=model,
        instance=pipeline.instances.get(key=key),
        kind="image_to_text",
        variant="image",
        caption_rule="as-is-v1",
        content_hash=content,
        scores=scores,
        is_right=True,
        conditions=under if scores else None,
        source_row=0 if scores else 7,
        created_at=NOON,
    )


def asked_of_people(pipeline: Project) -> tuple[str, str]:
    """Return an instance that the baseline asks about, and the hash of what its image question shows."""
    question = Question.objects.filter(study__slug="baseline", kind="image_to_text", variant="image").first()
    assert question is not None
    return question.instance.key, content_hash(get_kind(question.kind), question.content)


def predict_all_sorts(pipeline: Project) -> str:
    """Make predictions of every sort; return the key of the instance that people were asked about."""
    key, content = asked_of_people(pipeline)
    predict(pipeline, key, content, scores={"negative_caption": 0.25, "caption": 0.5})
    predict(pipeline, key, OTHER, scores={"caption": 0.1, "negative_caption": 0.9})
    # Step 4 did not keep vase-0, and vase-5 never reached it.
    predict(pipeline, "vase-0", OTHER, scores={"caption": 0.1, "negative_caption": 0.9})
    declared = next(name for name in ("vase-1", "vase-2") if name != key)
    predict(pipeline, declared, "")
    mismatched = predict(pipeline, key, "", scores={"caption": 0.1, "zz": 0})
    Prediction.objects.filter(pk=mismatched.pk).update(problem="zz is not an option")
    return key


def test_predictions_of_released_instances_leave_with_what_they_are_about(pipeline: Project, tmp_path: Path) -> None:
    key = predict_all_sorts(pipeline)
    folder = release(tmp_path, format="parquet") / "annotations"
    rows = pd.read_csv(folder / "predictions.csv", keep_default_na=False).set_index("key")
    assert sorted(rows["about"]) == ["declared", "verified"]
    told = rows.loc[key]
    assert (told["about"], told["conditions"]) == ("verified", "c" * 64)
    assert told["content_hash"] == asked_of_people(pipeline)[1]
    assert json.loads(str(told["scores"])) == {"caption": 0.5, "negative_caption": 0.25}
    assert list(rows[rows["about"] == "declared"]["conditions"]) == [""]
    (typed,) = (row for row in pd.read_parquet(folder / "predictions.parquet").to_dict("records") if row["key"] == key)
    assert list(typed["scores"]) == [
        {"option": "caption", "score": 0.5},
        {"option": "negative_caption", "score": 0.25},
    ]
    (under,) = pd.read_csv(folder / "conditions.csv").to_dict("records")
    assert (under["digest"], json.loads(under["details"])) == ("c" * 64, {"batch": 16, "dtype": "float32"})


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_the_description_reads_predictions_and_conditions(pipeline: Project, format: str, tmp_path: Path) -> None:
    key = predict_all_sorts(pipeline)
    folder = release(tmp_path, format=format)
    assert not described(folder).metadata.ctx.issues.errors
    assert {record["key"].decode() for record in records(folder, "predictions")} > {key}
    assert [record["digest"].decode() for record in records(folder, "conditions")] == ["c" * 64]
    assert len(records(folder, f"predictions-{format}")) == 2


def test_who_did_what_leaves_with_it_and_names_no_annotator(pipeline: Project, tmp_path: Path) -> None:
    name_annotators(project=pipeline)
    exclude(pipeline, "dora", reason="Dora told me that she had clicked.")
    record(project=pipeline, what=What.MEMBER_ADDED, by="tests", now=NOON, member="amaia", role="editor")
    create_draft(pipeline, study="elsewhere")
    step_4 = pipeline.studies.get(slug="step-4")
    for name in ("maria", "lena", "maria"):
        by, _ = User.objects.get_or_create(username=name)
        record(project=pipeline, study=step_4, what=What.STUDY_PAUSED, by=by, now=NOON)
    folder = release(tmp_path, format="jsonl") / "annotations"
    rows = pd.read_csv(folder / "events.csv", keep_default_na=False)
    launched = rows[rows["event"] == "study launched"]
    assert list(launched["study"]) == ["best-vase", "step-4", "baseline"]
    assert launched["what"].str.startswith("launched ").all()
    (excluded,) = rows[rows["event"] == "annotator excluded"].to_dict("records")
    assert excluded["what"].startswith("excluded an annotator (the reason stays in the project): ")
    assert excluded["study"] == ""
    assert not {"member added", "release made", "seat freed"} & set(rows["event"])
    assert "elsewhere" not in set(rows["study"])
    written = (folder / "events.csv").read_text(encoding="utf-8")
    assert set(launched["who"]) == {"The tests"}
    assert list(rows[rows["event"] == "study paused"]["who"]) == ["researcher 1", "researcher 2", "researcher 1"]
    assert launched["at"].str.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").all()
    people = {"Dora", "amaia", *Pseudonym.objects.values_list("name", flat=True)}
    people |= {name for user in User.objects.all() for name in (user.username, user.get_full_name()) if name}
    assert not [name for name in people if name in written]
    assert [each["event"].decode() for each in records(folder.parent, "events")] == list(rows["event"])


def test_the_card_names_the_models(pipeline: Project, tmp_path: Path) -> None:
    predict_all_sorts(pipeline)
    body = card_of(release(tmp_path))
    lines = body.partition("## Models that were asked about these instances")[2].split("\n\n")[1].splitlines()[2:]
    assert lines == [
        f"| CLIP | B/32 | {'w' * 64} | as-is-v1 | 1 | declared, not verified | not known: from a file |",
        f"| CLIP | B/32 | {'w' * 64} | as-is-v1 | 1 | what people were asked about | {'c' * 64} |",
    ]
    assert "- 1 of 2 predictions are declared by files that name no pictures" in body


@pytest.mark.parametrize("format", RELEASE_FORMATS)
def test_made_again_it_is_the_same_bytes_whatever_was_answered_predicted_and_deleted_meanwhile(
    pipeline: Project, format: str, tmp_path: Path
) -> None:
    predict_all_sorts(pipeline)
    first = digests(release(tmp_path / "one", format=format))
    assert len(first) >= 6
    late = pipeline.studies.get(slug="best-vase")
    answered = Response.objects.filter(study=late).first()
    assert answered is not None
    Response.objects.filter(pk=answered.pk).update(choice="none")
    late.decisions.update(state="rejected", winner="")
    Model.objects.filter(name="CLIP").update(name="Renamed")
    predict(pipeline, "vase-3", "", scores=None)
    assert digests(release(tmp_path / "two", format=format)) == first
    Prediction.objects.all().delete()
    Model.objects.all().delete()
    Conditions.objects.all().delete()
    assert digests(release(tmp_path / "three", format=format)) == first


def test_a_release_that_an_older_version_froze_is_written_without_what_it_did_not_keep() -> None:
    names = ("task", "model", "version", "weights", "kind", "variant", "caption_rule", "is_right", "scores", "key")
    row = read_row(json.dumps(["predictions", dict.fromkeys(names, "")]).encode(), "predictions")
    assert (row.about, row.content_hash, row.conditions) == ("", "", "")
