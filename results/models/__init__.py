from results.models.cached_statistics import KeptNumbers
from results.models.charts import StoredChart
from results.models.exports import Export, Pseudonym
from results.models.flag_checks import FlagCheck
from results.models.instance_stats import InstanceFigures
from results.models.policy_acts import PolicyAct
from results.models.releases import Release, ReleasePseudonym

__all__ = [
    "Export",
    "FlagCheck",
    "InstanceFigures",
    "KeptNumbers",
    "PolicyAct",
    "Pseudonym",
    "Release",
    "ReleasePseudonym",
    "StoredChart",
]
