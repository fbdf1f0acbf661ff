"""Card of exported tables: their origin, without counts."""

from results.exporting.card_text import NO_IDS, answers_per_question, collection, declared_dataset, words_for
from results.exporting.dataset_card import DatasetCard
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.sections.cost import people_left_out
from results.reports.simulated_answers import simulation_notice


def tables_card(facts: ProjectFacts) -> DatasetCard:
    """Return the card of exported tables, without body, size and analysis, which need rows."""
    notice = simulation_notice(facts.studies)
    kept = declared_dataset(facts.dataset)
    return DatasetCard(
        name=facts.slug,
        title=facts.name,
        release="",
        description=f"Tables exported from the project {facts.name}.",
        licence="",
        citation="",
        made_on="",
        size=0,
        body="",
        collection=collection(facts),
        protocol=[*map(_asked, facts.studies), *filter(None, [kept]), people_left_out(facts)],
        annotations_per_item=answers_per_question(facts),
        analysis=(),
        limits=[notice] if notice else ["Exports hold what there is at a moment; a release is frozen."],
        privacy=f"Annotators appear under random names that are the same in all exports of the project. {NO_IDS}",
        notice=notice,
    )


def _asked(study: StudyFacts) -> str:
    skipped = f" Questions skipped: {study.skipped:,}." if study.skipped else ""
    return (
        f"Study {study.slug} ({words_for(study)}) asks about instances of "
        f"{study.fed_by or 'the import'}; its rule is {study.rule}.{skipped}"
    )
