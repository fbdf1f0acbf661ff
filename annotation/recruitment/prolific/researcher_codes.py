"""What completion codes of a study pay or do: those that a researcher enters, and the one that screens people out."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from analytics.work.ledger import from_cents, percent_of_reward


def find_code(details: Mapping[str, Any], action: str) -> str:
    """Return the researcher's code with this action, "" if the study has none.

    details: a study as `bodies.NewStudy` has it. action: as Prolific names it, such as "DYNAMIC_PAYMENT".
    """
    found = next(_codes(details, action), None)
    return "" if found is None else str(found[0])


def part_code(details: Mapping[str, Any], reward: Decimal, amount: Decimal) -> tuple[str, int] | None:
    """Return the code and the percentage that pay `amount` of the reward, None if the study has none.

    details: a study as `bodies.NewStudy` has it.
    """
    percent, code = percent_of_reward(reward, amount), find_code(details, "DYNAMIC_PAYMENT")
    return None if not code or percent is None else (code, percent)


def screen_out_terms(details: Mapping[str, Any]) -> tuple[Decimal, int] | None:
    """Return what the study pays people whom it screens out, and how many; None if it has no code for that."""
    actions = [each for code in details.get("completion_codes", ()) for each in code.get("actions", ())]
    found = next((each for each in actions if each.get("action") == "FIXED_SCREEN_OUT_PAYMENT"), None)
    return None if found is None else (from_cents(found["fixed_screen_out_reward"]), found["slots"])


def screen_out_pay(details: Mapping[str, Any]) -> Decimal | None:
    """Return what the study pays people whom it screens out, None if it has no code for that."""
    terms = screen_out_terms(details)
    return None if terms is None else terms[0]


def allows_parts(details: Mapping[str, Any]) -> bool:
    """Whether Prolific lets the study pay a part of the reward."""
    return bool(find_code(details, "DYNAMIC_PAYMENT"))


def _codes(details: Mapping[str, Any], action: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the researcher's codes with an action, and the action."""
    for code in details.get("completion_codes", ()):
        if code.get("actor") == "researcher":
            for each in code.get("actions", ()):
                if each.get("action") == action:
                    yield code["code"], each
