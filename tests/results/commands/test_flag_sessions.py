import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import SessionFlag
from results.tasks import flag_new_answers, flag_study
from studies.actions.events import What
from studies.models import Event
from tests.factories import make_study
from tests.results.actions.test_session_flags import sit_through as sit
from tests.results.actions.test_session_flags import study_of

pytestmark = pytest.mark.django_db


def test_says_how_many_sessions_are_flagged_and_names_who_asked(capsys: pytest.CaptureFixture[str]) -> None:
    study = study_of(size=12)
    sit(study, "ann")
    sit(study, "cem", places=[0], seconds=0.2)
    call_command("flag_sessions", study.project.slug)
    said = capsys.readouterr().out
    flags = SessionFlag.objects.count()
    assert flags >= 2
    assert said == f"{study.slug}: 1 of 2 sessions flagged; {flags} new flags, 0 cleared.\n"
    assert Event.objects.get(what=What.FLAGS_CHANGED).by_name == "command line"
    call_command("flag_sessions", study.project.slug, "--study", study.slug)
    assert capsys.readouterr().out == f"{study.slug}: 1 of 2 sessions flagged; 0 new flags, 0 cleared.\n"


def test_an_unknown_study_is_named_beside_those_that_there_are() -> None:
    study = study_of(size=1)
    make_study(study.project, "draft")
    with pytest.raises(CommandError, match=rf"vases has no launched study draft. It has: {study.slug}."):
        call_command("flag_sessions", "vases", "--study", "draft")


def test_the_task_has_the_effect_of_one_run_if_it_runs_twice() -> None:
    study = study_of(size=12)
    sit(study, "cem", places=[0])
    flag_study(study.pk)
    before = list(SessionFlag.objects.values())
    assert before
    flag_study(study.pk)
    assert list(SessionFlag.objects.values()) == before
    # A study that was deleted meanwhile.
    flag_study(study.pk + 1)


def test_the_clock_sends_a_message_for_each_study_with_new_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(size=12)
    sent: list[tuple[int, ...]] = []
    monkeypatch.setattr(flag_study, "send", lambda args, **options: sent.append(args))
    flag_new_answers()
    assert sent == []
    sit(study, "ann")
    flag_new_answers()
    assert sent == [(study.pk,)]
