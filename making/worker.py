"""The worker with models, which also makes and judges candidates: a separate Celery application without a database.

    celery -A predictions.worker worker

It extends `predictions.worker`, and has the same settings and two more, for `llm:`:

LINEUP_LLM_ADDRESS  a server with language models, which may be in a private network; none unless it is set
LINEUP_LLM_API_KEY  its key, which goes nowhere else; none unless it is set
"""

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Semaphore
from typing import Any, TypeVar

from celery import Task
from pydantic import ValidationError

from making.errors import CannotMake
from making.filters import LoadedFilter, ModelFilter, get_filter
from making.makers import LoadedMaker, get_maker
from making.messages import (
    BEGUN,
    JUDGE,
    MADE,
    MAKE,
    from_failure,
    from_results,
    from_verdicts,
    to_candidates,
    to_requests,
)
from predictions.messages import DEFAULT
from predictions.pictures import SourceUnavailable
from predictions.worker import AT_ONCE, app, device_turn, in_words, memory, open_picture

__all__ = ["app"]

Loaded = TypeVar("Loaded", LoadedMaker, LoadedFilter)


class _Cache:
    """The last requested maker or filter."""

    def __init__(self) -> None:
        self._key = ""
        self._loaded: Any = None

    def release(self) -> None:
        self._loaded, self._key = None, ""

    def get(self, what: str, name: str, options: Mapping[str, Any], load: Callable[[], Loaded]) -> Loaded:
        key = json.dumps([what, name, options], sort_keys=True)
        if self._key != key:
            memory.take(self.release)
            self._loaded, self._key = load(), key
        loaded: Loaded = self._loaded
        return loaded


_cache = _Cache()
# Batches that wait for servers at once. They leave a thread to messages that need the device.
server_turns = Semaphore(AT_ONCE - 1)
# Until a batch for a server is taken again, if others wait for servers.
BUSY_SECONDS = 2


@app.task(name=MAKE, base=Task, bind=True, max_retries=None)
def make(
    self: "Task[Any, Any]", *, batch: int, maker: str, options: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]
) -> None:
    """Make candidates; answer with them, or with a sentence for people. Without the device if a server makes them."""
    family, _, policy = maker.partition(":")

    def load() -> LoadedMaker:
        return get_maker(family).model_validate(options).load(policy)

    def work(loaded: LoadedMaker) -> Mapping[str, Any]:
        return from_results(loaded.identity, loaded.make(to_requests(requests)))

    if not _waits_for_server(family, options):
        with device_turn() as is_wanted:
            if is_wanted:
                _do(batch, lambda: work(_cache.get("maker", maker, options, load)))
    elif server_turns.acquire(blocking=False):
        try:
            _do(batch, lambda: work(load()))
        finally:
            server_turns.release()
    else:
        raise self.retry(countdown=BUSY_SECONDS)


def _waits_for_server(family: str, options: Mapping[str, Any]) -> bool:
    try:
        return get_maker(family).model_validate(options).waits_for_server
    except (KeyError, ValidationError):
        # Of another version of Lineup. Loading it says so.
        return False


@app.task(name=JUDGE)
def judge(*, batch: int, filter: str, options: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]]) -> None:
    """Judge candidates with the model of a filter; answer with verdicts, or with a sentence for people."""

    def load() -> LoadedFilter:
        wanted = get_filter(filter).model_validate(options)
        if not isinstance(wanted, ModelFilter):
            raise CannotMake(f"The filter {filter} stands on no model here. Update the worker with models.")
        return wanted.load()

    def work() -> Mapping[str, Any]:
        loaded = _cache.get("filter", filter, options, load)
        return from_verdicts(loaded.identity, loaded.judge(to_candidates(candidates), open_picture))

    _do(batch, work)


def _do(batch: int, work: Callable[[], Mapping[str, Any]]) -> None:
    app.send_task(BEGUN, kwargs={"batch": batch}, queue=DEFAULT)
    app.send_task(MADE, kwargs={"batch": batch, "answer": _in_words(work)}, queue=DEFAULT)


def _in_words(work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    def work_or_failure() -> Mapping[str, Any]:
        try:
            return work()
        except CannotMake as error:
            return from_failure(str(error), error.tokens)

    try:
        return in_words(work_or_failure)
    except SourceUnavailable as error:
        return from_failure(str(error))
