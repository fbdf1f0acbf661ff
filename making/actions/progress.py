"""How far the job of a pipeline has come: the phase that it is in, and the last candidate that each phase has read."""

from collections.abc import Mapping
from typing import Any

from background.work import RunningJob
from making.pipeline_file import Stage

# The last phase of a stage whose candidates wait for filters.
KEPT = "kept"


def read_phase(job: RunningJob, first: str) -> str:
    """Return the phase that the job is in, `first` if it has not begun."""
    return str(job.step.get("phase", first))


def read_after(job: RunningJob, phase: str) -> int:
    """Return the id of the last candidate that a phase has read, 0 if none."""
    return int(_all_after(job.step).get(phase, 0))


def step_of(job: RunningJob, phase: str, after: int | None = None) -> Mapping[str, Any]:
    """Return the step of a job in this phase, and that the phase has read the candidate with the id `after`."""
    read = _all_after(job.step)
    return {"phase": phase, "after": read if after is None else read | {phase: after}}


def _all_after(step: Mapping[str, Any]) -> dict[str, int]:
    after = step.get("after", {})
    # Jobs of older versions knew only that of the phase they were in.
    return dict(after) if isinstance(after, dict) else {str(step["phase"]): int(after)}


def phase_of(stage: Stage, filter_number: int) -> str:
    """Return the phase in which the filter at this place, from 1, judges candidates; 0: in which they are made."""
    return f"{stage.name}/{filter_number}" if filter_number else stage.name


def phases_of(stage: Stage) -> list[str]:
    """Return the phases of a stage: its name, then one for each filter that candidates wait for, then the last."""
    numbers = stage.later_filters
    last = [f"{stage.name}/{KEPT}"] if numbers else []
    return [stage.name, *(phase_of(stage, number) for number in numbers), *last]
