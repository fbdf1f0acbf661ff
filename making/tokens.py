"""What language models are paid for: the tokens that they read and write. Pure."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Tokens:
    """How many tokens a language model read (`prompt`) and wrote (`completion`), failed attempts included."""

    prompt: int = 0
    completion: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)


NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class Cost:
    """What something cost. `amount`: in units of `currency`, three capital letters such as USD."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        cent = Decimal("0.01")
        if 0 < self.amount < cent:
            return f"less than {cent} {self.currency}"
        return f"{self.amount.quantize(cent):,} {self.currency}"
