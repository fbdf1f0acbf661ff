"""The design of a study: from a study file, or from plain values, to a typed, versioned, checked `Design`. Pure."""

from studies.design.checking import check_design, read_design, shortest_limit
from studies.design.copying import copied_source
from studies.design.model import (
    Answering,
    BlindSolvability,
    Design,
    Endings,
    InstanceSelection,
    LaunchConditions,
    Lobby,
    Part,
    Pay,
    Practice,
    PracticeEntry,
    Recruitment,
    SurveyLayout,
    Time,
)
from studies.design.problems import DesignRefused, Problem

__all__ = [
    "Answering",
    "BlindSolvability",
    "Design",
    "DesignRefused",
    "Endings",
    "InstanceSelection",
    "LaunchConditions",
    "Lobby",
    "Part",
    "Pay",
    "Practice",
    "PracticeEntry",
    "Problem",
    "Recruitment",
    "SurveyLayout",
    "Time",
    "check_design",
    "copied_source",
    "read_design",
    "shortest_limit",
]
