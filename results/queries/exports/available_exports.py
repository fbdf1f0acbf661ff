"""Exports that are still available: none with answers of somebody who withdrew after it was written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Min

from annotation.models import Removal, Response
from results.exporting import get_writer
from results.models import Export, Release, ReleasePseudonym
from results.queries.reports.report_rows import release_studies
from studies.models import Study


@dataclass(frozen=True)
class RemovalDates:
    """When somebody whose answers a file holds last withdrew or was excluded, after the file was made, and how many."""

    withdrawn_at: datetime | None = None
    excluded_at: datetime | None = None
    withdrawn: int = 0
    excluded: int = 0


@dataclass(frozen=True)
class OfferedExport:
    """An export, with removals of people since."""

    export: Export
    since: RemovalDates


@dataclass
class Removals:
    """People removed from the counts of some projects, and the files that hold their answers."""

    removals: Sequence[Removal]
    in_releases: Mapping[int, set[int]]
    first_answers: Mapping[int, Mapping[int, datetime]]
    _studies: dict[int, set[int]] = field(default_factory=dict)

    def of_release(self, release: Release) -> RemovalDates:
        """Return the removals of people with a name in `release`; whoever withdrew earlier has no name."""
        held = self.in_releases.get(release.pk, set())
        return self._removal_dates(release.project_id, held, made=release.made_at, frozen=True)

    def of_export(self, export: Export) -> RemovalDates:
        """Return the removals of people who answered a study of `export` before it was made."""
        if export.release is not None:
            return self.of_release(export.release)
        if not self.removals or get_writer(export.format).rows == "predictions":
            return RemovalDates()
        behind, made = self._release_study_ids(export.study), export.finished_at
        held = {
            annotator
            for annotator, first in self.first_answers.items()
            if any(study in behind and (made is None or at <= made) for study, at in first.items())
        }
        return self._removal_dates(export.project_id, held, made=export.requested_at)

    def _release_study_ids(self, study: Study) -> set[int]:
        if study.pk not in self._studies:
            self._studies[study.pk] = {each.pk for each in release_studies([study])}
        return self._studies[study.pk]

    def _removal_dates(self, project: int, held: set[int], *, made: datetime, frozen: bool = False) -> RemovalDates:
        mine = [each for each in self.removals if each.project_id == project and each.annotator_id in held]
        withdrawn = [each.at for each in mine if each.why == Removal.Why.WITHDRAWN and (frozen or each.at >= made)]
        excluded = [each.at for each in mine if each.why == Removal.Why.EXCLUDED and each.at >= made]
        last = max(withdrawn, default=None), max(excluded, default=None)
        return RemovalDates(*last, len(withdrawn), len(excluded))


def find_removals(*, exports: Iterable[Export] = (), releases: Iterable[Release] = ()) -> Removals:
    """Return the removals that matter to `exports` and `releases`, in three queries at most."""
    exports, releases = list(exports), [*releases, *(each.release for each in exports if each.release is not None)]
    projects = {each.project_id for each in exports} | {each.project_id for each in releases}
    removals = list(Removal.objects.in_force().filter(project__in=projects).order_by("at"))
    if not removals:
        return Removals([], {}, {})
    people = {each.annotator_id for each in removals}
    named = ReleasePseudonym.objects.filter(release__in=releases, annotator__in=people)
    in_releases: dict[int, set[int]] = {}
    for release, annotator in named.values_list("release_id", "annotator_id"):
        in_releases.setdefault(release, set()).add(annotator)
    given = Response.objects.filter(annotator__in=people, study__project__in=projects).order_by()
    first_answers: dict[int, dict[int, datetime]] = {}
    for annotator, study, at in given.values_list("annotator_id", "study_id").annotate(first=Min("received_at")):
        first_answers.setdefault(annotator, {})[study] = at
    return Removals(removals, in_releases, first_answers)


def offered_exports(exports: Iterable[Export]) -> list[OfferedExport]:
    """Return `exports`, read with their studies and releases, each with the removals of its people since."""
    listed = list(exports)
    removed = find_removals(exports=listed)
    return [OfferedExport(export, removed.of_export(export)) for export in listed]
