"""How sessions that a program played are told from those of people, whatever is said about them afterwards."""

from django.db.models import Q

# How the platform's id of a study begins in the links of `manage.py simulate`.
SIMULATED_STUDY = "simulation-"
# Where the people of `manage.py replay_bivlc` and `replay_imagecode` come from.
REPLAY_PROVIDER = "replay"


def is_simulated(path: str = "") -> Q:
    """Return what picks such sessions. `path` leads from the row that is filtered to its session: "session__", say."""
    return Q(**{f"{path}provider": REPLAY_PROVIDER}) | Q(**{f"{path}provider_study_id__startswith": SIMULATED_STUDY})
