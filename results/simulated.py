"""How sessions that a program played are told from those of people, whatever is said about them afterwards."""

from django.db.models import Q

# How the platform's id of a study begins in the links of `manage.py simulate`.
SIMULATED_STUDY = "simulation-"
# Where the people of `manage.py replay_bivlc` come from.
REPLAY_PROVIDER = "replay"


def played_by_a_program() -> Q:
    """Return what picks such sessions."""
    return Q(provider=REPLAY_PROVIDER) | Q(provider_study_id__startswith=SIMULATED_STUDY)
