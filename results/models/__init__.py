from results.models.exports import Export, Pseudonym
from results.models.figures import InstanceFigures
from results.models.kept import KeptNumbers
from results.models.releases import Release, ReleasePseudonym

__all__ = ["Export", "InstanceFigures", "KeptNumbers", "Pseudonym", "Release", "ReleasePseudonym"]
