from results.models.exports import Export, Pseudonym
from results.models.kept import KeptNumbers
from results.models.releases import Release, ReleasePseudonym
from results.models.sign_in import SignInFailure

__all__ = ["Export", "KeptNumbers", "Pseudonym", "Release", "ReleasePseudonym", "SignInFailure"]
