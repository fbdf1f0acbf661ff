"""Card of exported tables: their origin, without counts."""

from results.exporting.card_text import NO_IDS
from results.exporting.dataset_card import DatasetCard
from results.exporting.text_templates import sentence
from results.reports.facts import ProjectFacts
from results.reports.sections.cost import people_left_out
from results.reports.simulated_answers import simulation_notice


def tables_card(facts: ProjectFacts) -> DatasetCard:
    """Return the card of exported tables, without body, size and analysis, which need rows."""
    notice = simulation_notice(facts.studies)
    kept = sentence("declared_dataset", facts.dataset)
    return DatasetCard(
        name=facts.slug,
        title=facts.name,
        description=f"Tables exported from the project {facts.name}.",
        collection=sentence("collection", facts),
        protocol=[
            *(sentence("outline", study) for study in facts.studies),
            *filter(None, [kept]),
            people_left_out(facts),
        ],
        annotations_per_item=sentence("answers_per_question", facts),
        limits=[notice] if notice else ["An export is a snapshot; a release is frozen."],
        privacy=f"Annotators appear under random names that are the same in all exports of the project. {NO_IDS}",
        notice=notice,
    )
