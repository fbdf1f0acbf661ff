from results.models.exports import Export, Pseudonym
from results.models.kept import KeptNumbers
from results.models.releases import Release, ReleasePseudonym

__all__ = ["Export", "KeptNumbers", "Pseudonym", "Release", "ReleasePseudonym"]
