from results.models.cached_statistics import KeptNumbers
from results.models.charts import StoredChart
from results.models.exports import Export, Pseudonym
from results.models.instance_stats import InstanceFigures
from results.models.releases import Release, ReleasePseudonym

__all__ = ["Export", "InstanceFigures", "KeptNumbers", "Pseudonym", "Release", "ReleasePseudonym", "StoredChart"]
