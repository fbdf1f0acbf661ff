from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from simulation.prolific_double.server import WORKSPACE
from tests.prolific import DONE, PERSON, local_platform, new_study


def test_a_study_is_published_and_a_participant_is_paid(tmp_path: Path) -> None:
    with local_platform(tmp_path, balance=10_000) as local:
        client = local.client
        assert client.read_user().currency_code == "USD"
        assert [workspace.id for workspace in client.list_workspaces()] == [WORKSPACE]

        study = client.create_study(new_study(total_available_places=1))
        assert study.status == "UNPUBLISHED"
        assert client.read_balance(WORKSPACE).available_balance == 10_000
        assert client.publish_study(study.id).status == "ACTIVE"
        # 4.00 and a third of it: 5.33.
        assert client.read_balance(WORKSPACE).available_balance == 9_467

        submission = local.taken(study.id)
        assert local.status(submission) == "RESERVED"
        assert client.read_study(study.id).status == "AWAITING REVIEW"
        link = str(local.play("open", submission=submission)["url"])
        assert local.status(submission) == "ACTIVE"
        assert parse_qs(urlsplit(link).query) == {
            "PROLIFIC_PID": [PERSON],
            "STUDY_ID": [study.id],
            "SESSION_ID": [submission],
        }

        local.later(minutes=15)
        local.play("complete", submission=submission, code=DONE)
        [listed] = client.list_submissions(study.id)
        assert (listed.status, listed.study_code, listed.participant_id) == ("AWAITING REVIEW", DONE, PERSON)
        assert listed.completed_at == listed.started_at + timedelta(minutes=15)

        assert client.approve_submission(submission).status == "APPROVED"
        assert client.read_balance(WORKSPACE).total_balance == 9_467
        assert client.stop_study(study.id).status == "COMPLETED"
