"""Compare a replay with the published numbers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analytics.annotator_pairs import mean_coefficient
from analytics.scores import score
from results.reports.base import Column, Table
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.sections.annotator_pairs import pair_agreements
from results.reports.sections.funnel import kept_instances
from results.reports.sections.people import score_people
from simulation.replay.pipeline import Replay, slug
from simulation.replay.published_numbers import (
    HUMAN_GROUP,
    HUMAN_I2T,
    HUMAN_T2I,
    MEAN_KAPPA,
    PAIR_KAPPAS,
    QUESTIONS_PER_INSTANCE,
    RETRIEVAL_EXAMPLES,
)


@dataclass(frozen=True)
class Check:
    """A published number and the replay's, both as printed."""

    what: str
    published: str
    found: str

    @property
    def agrees(self) -> bool:
        return self.published == self.found


def checks(replay: Replay, facts: ProjectFacts) -> list[Check]:
    """Return all comparisons: the released instances and, at the paper's size, its numbers."""
    found = list(_instances(replay, facts))
    if replay.is_whole:
        studies = {study.slug: study for study in facts.studies}
        found += _examples(facts)
        found += _kappas(studies[slug(replay, "bivlc-step-3")])
        found += _people(studies[slug(replay, "bivlc-baseline")])
    return found


def _instances(replay: Replay, facts: ProjectFacts) -> Iterator[Check]:
    released = {key for key, row in replay.setting.released.items() if row is not None}
    kept = {replay.instances[instance] for instance in kept_instances(facts)}
    yield Check("instances kept", f"{len(released):,}", f"{len(kept):,}")
    yield Check("instances kept that were not released", "0", f"{len(kept - released):,}")


def _examples(facts: ProjectFacts) -> Iterator[Check]:
    kept = Counter(facts.categories[instance] for instance in kept_instances(facts))
    for category, published in RETRIEVAL_EXAMPLES.items():
        found = QUESTIONS_PER_INSTANCE * kept[category]
        yield Check(f"retrieval examples, {' '.join(category)}", f"{published:,}", f"{found:,}")
    total = sum(RETRIEVAL_EXAMPLES.values())
    yield Check("retrieval examples, all", f"{total:,}", f"{QUESTIONS_PER_INSTANCE * kept.total():,}")


def _kappas(step_3: StudyFacts) -> Iterator[Check]:
    kappas = [pair.kappa for pair in pair_agreements(step_3)]
    for number, published in enumerate(PAIR_KAPPAS, start=1):
        found = kappas[number - 1].value if number <= len(kappas) else None
        yield Check(f"Cohen's kappa, pair {number}", f"{published:.2f}", _two_decimals(found))
    yield Check("Cohen's kappa, mean", f"{MEAN_KAPPA:.2f}", _two_decimals(mean_coefficient(kappas).value))


def _two_decimals(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _people(baseline: StudyFacts) -> Iterator[Check]:
    # The paper counts instances, each answered by one person.
    scores = {each.name: score([one.right for one in each.judged]) for each in score_people(baseline) if each.judged}
    for name, published in (("I2T", HUMAN_I2T), ("T2I", HUMAN_T2I), ("Group", HUMAN_GROUP)):
        found = str(scores[name].percent()) if name in scores else "nobody answered"
        yield Check(f"people, {name}, percent", f"{published:.2f}", found)


def comparison_table(found: list[Check], *, is_whole: bool) -> Table:
    columns = [Column("What"), Column("Published"), Column("Replayed"), Column("The same")]
    rows = [(check.what, check.published, check.found, "yes" if check.agrees else "NO") for check in found]
    notes = [] if is_whole else ["The manifest is not the paper's, so the paper's numbers are not compared."]
    return Table("published", "Against what was published", columns, rows, notes)
