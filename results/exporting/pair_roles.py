"""Which roles of an instance fill the columns of a pair, by the designs of the studies that it came through."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

from studies.kinds import PairRoles

# Columns of exports and the other side's column of the same sort.
OPPOSITE = {
    "caption": "negative_caption",
    "image": "negative_image",
    "negative_caption": "caption",
    "negative_image": "image",
}
_CAPTIONS = frozenset({"caption", "negative_caption"})


def resolve_pair(
    claims: Sequence[PairRoles], *, captions: Collection[str], images: Collection[str]
) -> Mapping[str, str]:
    """Return column -> the role that fills it, "" for none; {} if every column has the role of its own name.

    claims: what the designs say, the nearest study first. captions, images: the roles of the instance. A claim that
    tells both sides of the pair apart decides before the name of a role; one that only matches a caption with an image
    fills what is left. A role fills one column.
    """
    there = {column: captions if column in _CAPTIONS else images for column in OPPOSITE}
    found: dict[str, str] = {}
    _claim(found, [claim for claim in claims if _tells_apart(claim)], there)
    _fill(found, {column: column for column in OPPOSITE if column in there[column]})
    _claim(found, [claim for claim in claims if not _tells_apart(claim)], there)
    resolved = {column: found.get(column, "") for column in OPPOSITE}
    return {} if all(role in ("", column) for column, role in resolved.items()) else resolved


def _claim(found: dict[str, str], claims: Sequence[PairRoles], there: Mapping[str, Collection[str]]) -> None:
    for claim in claims:
        named = {column: role for column, role in asdict(claim).items() if role in there[column]}
        if _is_of_other_side(claim, named, found, there):
            named = {OPPOSITE[column]: role for column, role in named.items()}
        _fill(found, named)


def _fill(found: dict[str, str], named: Mapping[str, str]) -> None:
    for column, role in named.items():
        if column not in found and found.get(OPPOSITE[column]) != role:
            found[column] = role


def _tells_apart(claim: PairRoles) -> bool:
    return bool(claim.negative_caption or claim.negative_image)


def _is_of_other_side(
    claim: PairRoles, named: Mapping[str, str], found: Mapping[str, str], there: Mapping[str, Collection[str]]
) -> bool:
    """Whether the first side of a claim is the negative side of the pair."""
    for known in (found, {column: column for column in OPPOSITE}):
        for column in OPPOSITE:
            role = named.get(column)
            # The name of the negative image alone says little: its design calls it negative whatever its name is.
            if role is None or (known is not found and column == "negative_image"):
                continue
            if role == known.get(column):
                return False
            if role == known.get(OPPOSITE[column]):
                return True
    return not _tells_apart(claim) and any(column in there[column] for column in ("caption", "image"))
