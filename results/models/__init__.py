from results.models.exports import Export, Pseudonym

__all__ = ["Export", "Pseudonym"]
