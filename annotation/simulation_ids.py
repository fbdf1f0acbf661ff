"""Recognise simulated sessions, by the ids that simulations use."""

from django.db.models import Q

# Prefix of the platform's study ids in the links of `manage.py simulate`.
SIMULATED_STUDY = "simulation-"
# Providers of the people of `manage.py replay_bivlc` and `replay_imagecode`.
REPLAY_PROVIDER = "replay"


def is_simulated(path: str = "") -> Q:
    """Return the condition that selects simulated sessions.

    path: leads from the filtered row to its session, such as "session__".
    """
    return Q(**{f"{path}provider": REPLAY_PROVIDER}) | Q(**{f"{path}provider_study_id__startswith": SIMULATED_STUDY})
