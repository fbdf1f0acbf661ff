"""Texts that people wrote as answers, how they were written, and what others retrieved with them."""

from annotation.models import Response
from results.models import Pseudonym
from results.queries.exports.export_rows import retrievals_of
from results.queries.people.annotators import answer_outcomes
from results.queries.reports.described_texts import was_pasted
from results.queries.reports.report_rows import CHUNK, study_facts
from results.reports.sections.descriptions import description_study
from results.reports.sections.text_authors import Writing, WrittenText
from studies.kinds import get_kind
from studies.models import Study, StudyState

WRITTEN_SECONDS = "from_first_key_ms"


def written_kinds(study: Study) -> set[str]:
    """Return the kinds of `study` whose answers are texts, in whole or in part."""
    return {part.kind for part in study.design.parts if get_kind(part.kind).is_written}


def study_writing(study: Study) -> Writing:
    """Return the counted texts of `study`. All annotators have names."""
    became, looked_for = answer_outcomes(study), retrievals_of(study)
    given = Response.objects.counted_in(study).filter(question__kind__in=written_kinds(study)).order_by("pk")
    about = ("annotator_id", "question__kind", "question__instance__type", "choice", "answer", "writing")
    texts = []
    for pk, writer, kind, type, label, answer, how in given.values_list("pk", *about).iterator(chunk_size=CHUNK):
        words = get_kind(kind).answer_text(label if answer is None else answer)
        if words:
            # The writing time from the first key or paste to sending; None if unknown.
            recorded = how or {}
            took = recorded.get(WRITTEN_SECONDS)
            seconds = None if took is None else took / 1000
            counted = (recorded.get("keys"), recorded.get("pauses"), *looked_for.get(pk, (0, 0)))
            texts.append(WrittenText(writer, type, words, was_pasted(how), seconds, became.get(pk, ""), *counted))
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    described = description_study([study_facts(asking) for asking in asking_studies(study)])
    retrievals = [one for each in described for one in each.retrievals]
    return Writing(texts, names, [each.study for each in described], retrievals)


def asking_studies(study: Study) -> list[Study]:
    """Return the launched studies about the answers of `study`."""
    asking = study.feeds.exclude(state=StudyState.DRAFT).order_by("pk")
    return [each for each in asking if each.design.asks_about_answers]
