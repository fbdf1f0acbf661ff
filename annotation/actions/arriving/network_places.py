"""Limit on the places of a study held by one network (docs/decisions/0063-places-by-network.md)."""

from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotation.errors import NetworkFull
from annotation.models import Annotator, Seat, Session
from annotation.models.sessions import OPEN_STATES
from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import Study
from throttle.networks import are_networks_known, daily_digest, in_networks, read_networks

# However few places are open: for a household, or an office that tries a study.
ALWAYS_ALLOWED = 5
KEPT = timedelta(hours=24)
RETRY_SECONDS = 300
MOST_NETWORKS = 50


def admit(*, study: Study, annotator: Annotator, network: str, now: datetime) -> str:
    """Return the digest of `network` for a new session of `annotator`; "" if the network is unknown.

    Raises NetworkFull if others from it hold its share of the places. Runs in the transaction that begins the session,
    after the annotator was locked; arrivals from limited networks wait for each other.
    """
    if not network or not are_networks_known():
        return ""
    today = daily_digest(network, day=now.date())
    if not settings.PLACES_PER_NETWORK or is_exempt(study=study, network=network):
        return today
    Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
    digests = [today, daily_digest(network, day=now.date() - timedelta(days=1))]
    held = Session.objects.filter(study=study, network__in=digests, state__in=OPEN_STATES).exclude(annotator=annotator)
    if held.count() >= most_places(study=study):
        raise NetworkFull(
            gettext("Many people from your network are taking part in this study at the moment."),
            gettext(
                "This is not your fault. Try the same link again in a few minutes. If you work together in one room, "
                "such as a lab or a classroom, tell the researchers: they can let all of you in."
            ),
            retry_after=RETRY_SECONDS,
        )
    return today


def is_exempt(*, study: Study, network: str) -> bool:
    """Whether a researcher lets any number of people from `network` into `study`."""
    return in_networks(network, read_networks(study.open_networks))


def most_places(*, study: Study) -> int:
    """Return how many places of `study` one network may hold now: a share of the unfilled places."""
    not_filled = Seat.objects.filter(study=study, filled_at=None).count()
    return max(ALWAYS_ALLOWED, ceil(not_filled * settings.PLACES_PER_NETWORK / 100))


def open_sessions_from_same_network(*, session: Session) -> QuerySet[Session]:
    """Return the open sessions that began from the network of `session`, itself included.

    Empty if the network is unknown or already forgotten.
    """
    found = Session.objects.filter(study=session.study_id, network=session.network, state__in=OPEN_STATES)
    return found if session.network else found.none()


@transaction.atomic
def exempt_networks(*, study: Study, networks: str, by: Actor, now: datetime) -> None:
    """Exempt these networks, one per line, and no others, from the limit of `study`. Raises StudyError."""
    try:
        listed = sorted({str(network) for network in read_networks(networks)})
    except ValueError as error:
        raise StudyError(
            f"{str(error)[:100]!r} is neither an address nor a network. Write one like 192.0.2.7, 192.0.2.0/24 or "
            "2001:db8:1:2::/64 on each line."
        ) from error
    if len(listed) > MOST_NETWORKS:
        raise StudyError(f"These are {len(listed)} networks. Write {MOST_NETWORKS} at most.")
    Study.objects.filter(pk=study.pk).update(open_networks="\n".join(listed))
    study.refresh_from_db(fields=["open_networks"])
    record(project=study.project, study=study, what=What.NETWORKS_OPENED, by=by, now=now, networks=len(listed))


def forget_networks(*, now: datetime) -> int:
    """Delete the network digests of sessions that began more than a day ago; return how many."""
    return Session.objects.filter(arrived_at__lt=now - KEPT).exclude(network="").update(network="")
