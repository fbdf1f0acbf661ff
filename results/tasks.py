"""Work in the background. A task takes ids and calls one action; run twice, it does what it does once."""

from django.utils import timezone

from background.decorator import task
from results.actions import cached_statistics, exports, orphaned_files, session_flags
from results.models import Export, KeptNumbers
from studies.actions.events import TIMETABLE
from studies.models import Study

# A message that waits longer is dropped: another is sent by then.
FLAG_EVERY_SECONDS = 60


@task(name="results.make_export", minutes=10)
def make_export(export_id: int) -> None:
    """Only the version before sends it, while this one comes in; since then exports have jobs."""
    exports.make_export(export=Export.objects.get(pk=export_id), now=timezone.now)


@task(name="results.resume_exports", minutes=5)
def resume_exports() -> None:
    """Give jobs to exports that the version before was asked for and has not made."""
    exports.adopt_exports(now=timezone.now())


@task(name="results.discard_files", minutes=5)
def discard_files() -> None:
    """Sent when somebody withdraws, and by the clock, for files that were being made at that moment."""
    exports.discard_files()


@task(name="results.discard_orphans", minutes=10)
def discard_orphans() -> None:
    orphaned_files.discard_orphans(now=timezone.now())


@task(name="results.make_numbers", minutes=10)
def make_numbers(kept_id: int) -> None:
    """Only the version before sends it, while this one comes in; since then kept numbers have jobs."""
    cached_statistics.make(
        kept=KeptNumbers.objects.select_related("project", "study__project").get(pk=kept_id), now=timezone.now()
    )


@task(name="results.flag_new_answers", minutes=5)
def flag_new_answers() -> None:
    """Have workers flag sessions of studies whose answers changed; a large study keeps no other waiting."""
    for study in session_flags.studies_to_flag(now=timezone.now()):
        flag_study.send((study.pk,), expires=FLAG_EVERY_SECONDS)


@task(name="results.flag_study", minutes=10)
def flag_study(study_id: int) -> None:
    """Sent by the clock, and by whoever changed whose answers count."""
    study = Study.objects.select_related("project").filter(pk=study_id).first()
    if study is not None:
        session_flags.flag_sessions(study=study, by=TIMETABLE, now=timezone.now())
