"""Failures that the local platform shows on request (prolific.md, sections 4.1, 4.9 and 7)."""

from enum import Enum

from simulation.prolific_double.store import Store

KIND = "switch"
# A switch that stays on until it is turned off.
ALWAYS = -1


class Switch(Enum):
    """Name and effect of each switch. is_state: whether it is on or off, and cannot be on for a number of times."""

    def __init__(self, effect: str, is_state: bool = False) -> None:
        self.effect, self.is_state = effect, is_state

    RATE_LIMITED = "The API answers 429 with Retry-After: 1, and does nothing."
    AWAY = "The API answers 503, and does nothing."
    SLOW = "The API answers after the seconds of --slow-seconds."
    REPLY_LOST = "The API does what it is asked, and hangs up without an answer."
    TOKEN_REVOKED = "The API answers 401."  # noqa: S105
    BALANCE_LOW = ("The balance is 0: nothing can be published, extended or paid.", True)
    STUDY_REFUSED = "The platform refuses to publish a study."
    SMALL_PAGES = ("Lists have 5 items a page, whatever is asked for.", True)
    UNKNOWN_STATUS = ("Submissions have the status PROCESSING, which is not published.", True)
    CLOCK_AHEAD = ("The platform's clock is 20 minutes ahead, also in webhooks and in the Date of its responses.", True)
    OTHER_CURRENCY = ("The account is in GBP instead of USD.", True)
    SECOND_WORKSPACE = ("The account has a second workspace, without money.", True)
    BULK_APPROVAL_LOST = ("Approvals in bulk are accepted and never done.", True)
    PLAIN_SUBSCRIPTIONS = "A new subscription comes as one object instead of a list."

    WEBHOOKS_LOST = "Webhooks are not sent."
    WEBHOOKS_DOUBLED = "Each webhook comes twice, with the same event id."
    WEBHOOKS_LATE = "Webhooks come 5 minutes late."
    WEBHOOKS_UNORDERED = ("Webhooks wait for each other, and the newest comes first.", True)
    WEBHOOKS_FORGED = "After each webhook comes a false one that says REJECTED, with a wrong signature."
    WEBHOOKS_OF_STRANGERS = "After each webhook comes one about a submission that does not exist, rightly signed."
    WEBHOOKS_UNREADABLE = "After each webhook comes one with a NUL character in its JSON, rightly signed."

    LINKS_WITHOUT_IDS = "Links of participants come without the three ids."
    LINKS_UNFILLED = "Links of participants come with placeholders instead of ids."
    LINKS_UNSIGNED = "Links that are to be signed come without a token."
    LINKS_EXPIRED = "Tokens in links expired two minutes ago."
    LINKS_FORGED = "Tokens in links are signed by somebody else, in the name of the platform's key."
    LINKS_OF_OTHERS = "Tokens in links name another participant than the link."
    SIGNING_KEY_REPLACED = "The platform replaces its key before it signs a link."
    REDIRECTS_LOST = "The address for completing answers 502, and the submission stays as it is."
    PEOPLE_RETURN = ("The same participant may take another place in a study, in a second submission.", True)

    @property
    def key(self) -> str:
        return self.name.lower()


BY_KEY = {switch.key: switch for switch in Switch}


class Switches:
    """Which switches are on, and how many times more each works."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def left(self, switch: Switch) -> int:
        """Return how many times more a switch works: 0 if it is off, ALWAYS if it stays on."""
        document = self._store.find(KIND, switch.key)
        return int(document["left"]) if document else 0

    def set(self, switch: Switch, left: int) -> None:
        self._store.write(KIND, {"id": switch.key, "left": left})

    def is_on(self, switch: Switch) -> bool:
        return self.left(switch) != 0

    def use(self, switch: Switch) -> bool:
        """Whether a switch is on; one that works only some times then works once less."""
        left = self.left(switch)
        if left > 0:
            self.set(switch, left - 1)
        return left != 0
