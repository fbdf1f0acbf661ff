"""Which files are still offered: none that holds answers of somebody who has withdrawn since it was made."""

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
class Since:
    """The last time that somebody whose answers a file holds withdrew, or was excluded, after it was made."""

    withdrawn_at: datetime | None = None
    excluded_at: datetime | None = None


@dataclass(frozen=True)
class OfferedExport:
    """An export, and what has happened since to the people in it."""

    export: Export
    since: Since


@dataclass
class RemovedSince:
    """Who has been taken out of the counts of some projects, and whose answers their files hold."""

    removals: Sequence[Removal]
    in_releases: Mapping[int, set[int]]
    first_answers: Mapping[int, Mapping[int, datetime]]
    _studies: dict[int, set[int]] = field(default_factory=dict)

    def of_release(self, release: Release) -> Since:
        """Return what has happened to people who have a name in `release`: whoever withdrew before got none."""
        held = self.in_releases.get(release.pk, set())
        return self._since(release.project_id, held, made=release.made_at, frozen=True)

    def of_export(self, export: Export) -> Since:
        """Return what has happened to people who had answered before `export` was made, in a study behind it."""
        if export.release is not None:
            return self.of_release(export.release)
        if not self.removals or get_writer(export.format).rows == "predictions":
            return Since()
        behind = self._behind(export.study)
        held = {
            annotator
            for annotator, first in self.first_answers.items()
            if any(study in behind and _before(at, export.finished_at) for study, at in first.items())
        }
        return self._since(export.project_id, held, made=export.requested_at)

    def _behind(self, study: Study) -> set[int]:
        if study.pk not in self._studies:
            self._studies[study.pk] = {each.pk for each in release_studies([study])}
        return self._studies[study.pk]

    def _since(self, project: int, held: set[int], *, made: datetime, frozen: bool = False) -> Since:
        mine = [each for each in self.removals if each.project_id == project and each.annotator_id in held]
        return Since(
            _last(each.at for each in mine if each.why == Removal.Why.WITHDRAWN and (frozen or each.at >= made)),
            _last(each.at for each in mine if each.why == Removal.Why.EXCLUDED and each.at >= made),
        )


def _before(moment: datetime, made: datetime | None) -> bool:
    return made is None or moment <= made


def _last(moments: Iterable[datetime]) -> datetime | None:
    return max(moments, default=None)


def removed_since(*, exports: Iterable[Export] = (), releases: Iterable[Release] = ()) -> RemovedSince:
    """Read what is needed to tell which of `exports` and `releases` are still offered, in three queries at most."""
    exports, releases = list(exports), [*releases, *(each.release for each in exports if each.release is not None)]
    projects = {each.project_id for each in exports} | {each.project_id for each in releases}
    removals = list(Removal.objects.in_force().filter(project__in=projects).order_by("at"))
    if not removals:
        return RemovedSince([], {}, {})
    people = {each.annotator_id for each in removals}
    named = ReleasePseudonym.objects.filter(release__in=releases, annotator__in=people)
    in_releases: dict[int, set[int]] = {}
    for release, annotator in named.values_list("release_id", "annotator_id"):
        in_releases.setdefault(release, set()).add(annotator)
    given = Response.objects.filter(annotator__in=people, study__project__in=projects).order_by()
    first_answers: dict[int, dict[int, datetime]] = {}
    for annotator, study, at in given.values_list("annotator_id", "study_id").annotate(first=Min("received_at")):
        first_answers.setdefault(annotator, {})[study] = at
    return RemovedSince(removals, in_releases, first_answers)


def offered_exports(exports: Iterable[Export]) -> list[OfferedExport]:
    """Return `exports`, read with their studies and releases, each with what has happened since."""
    listed = list(exports)
    removed = removed_since(exports=listed)
    return [OfferedExport(export, removed.of_export(export)) for export in listed]
