"""Entry links: the study at an address, personal links, and the rate limit of new arrivals per network."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext

from annotation.actions.arriving import network_places
from annotation.errors import NoSuchStudy, TooManyAtOnce
from annotation.recruitment import invite
from annotation.recruitment.people_lists import check_names
from studies.errors import StudyError
from studies.models import Study, StudyState
from throttle.counters import hit

WINDOW = timedelta(minutes=10)


def study_at(name: str) -> Study:
    """Return the study at /take/<name>/. Raises NoSuchStudy.

    `name` is its public token, or its slug if only one launched study has it. Drafts have no links: they neither take a
    slug from another study nor reveal what is in preparation.
    """
    studies = Study.objects.select_related("project")
    launched = studies.exclude(state=StudyState.DRAFT)
    found = list(studies.filter(public_token=name)) or list(launched.filter(slug=name)[:2])
    if len(found) == 1:
        return found[0]
    raise NoSuchStudy(
        gettext("There is no study at this address."),
        gettext("Check that you have the whole link, or ask the researcher for a new one."),
    )


def personal_link(*, study: Study, name: str) -> str:
    """Return path and query of the personal link of `name`; its key leads to one session only."""
    key = invite.key_of(name, study=study.pk, secret=study.order_secret)
    query = urlencode({"invite": study.invite_token, "who": name, "key": key})
    return f"{reverse('take', args=[study.entry_name])}?{query}"


def personal_links(*, study: Study, names: Sequence[str]) -> dict[str, str]:
    """Return the `personal_link` of each name, with the address of this site. Raises StudyError."""
    if not study.design.recruitment.invite:
        raise StudyError(f"Study {study.slug} has no invite links: its file says `invite: false`.")
    if not study.order_secret:
        raise StudyError(f"Study {study.slug} was created by an older version, so it cannot have personal links.")
    check_names(names)
    return {name: f"{settings.SITE_URL}{personal_link(study=study, name=name)}" for name in names}


def count_newcomer(*, study: Study, network: str, now: datetime) -> None:
    """Count a new arrival from `network` ("": irrelevant). Raises TooManyAtOnce.

    Exempt networks are not counted. Not called for people who return to their session. Runs outside a transaction.
    """
    limit = settings.ARRIVALS_PER_NETWORK
    if not limit or not network or network_places.is_exempt(study=study, network=network):
        return
    verdict = hit(scope="arrivals", key=network, limit=limit, window=WINDOW, now=now)
    if not verdict.allowed:
        raise TooManyAtOnce(
            gettext("Many people have come from your network in the last minutes."),
            gettext("This is not your fault. Wait ten minutes, then open the same link again."),
            retry_after=verdict.retry_after,
        )
