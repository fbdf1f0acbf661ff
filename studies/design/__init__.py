"""The design of a study: a study file, or plain values, becomes a checked `Design`. Pure.

`studies.design.model` defines the content of study files.
"""

from studies.design.checks import check_design, read_design
from studies.design.copies import copy_source
from studies.design.model import Design, shortest_limit
from studies.design.problems import DesignRefused, Problem

__all__ = [
    "Design",
    "DesignRefused",
    "Problem",
    "check_design",
    "copy_source",
    "read_design",
    "shortest_limit",
]
