from results.models.exports import Export, Pseudonym
from results.models.releases import Release, ReleasePseudonym
from results.models.sign_in import SignInFailure

__all__ = ["Export", "Pseudonym", "Release", "ReleasePseudonym", "SignInFailure"]
