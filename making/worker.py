"""The worker with models, which also makes candidates: a separate Celery application without a database.

    celery -A predictions.worker worker

It extends `predictions.worker`, and has the same settings and two more, for `llm:`:

LINEUP_LLM_ADDRESS  a server with language models, which may be in a private network; none unless it is set
LINEUP_LLM_API_KEY  its key, which goes nowhere else; none unless it is set
"""

import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from making.errors import CannotMake
from making.makers import LoadedMaker, get_maker
from making.messages import BEGUN, MADE, MAKE, from_results, to_requests
from predictions.messages import DEFAULT
from predictions.worker import app

__all__ = ["app"]

logger = logging.getLogger(__name__)


class _MakerCache:
    """The last requested maker, because memory holds only one."""

    def __init__(self) -> None:
        self._key = ""
        self._maker: LoadedMaker | None = None

    def get(self, name: str, options: Mapping[str, Any]) -> LoadedMaker:
        key = json.dumps([name, options], sort_keys=True)
        if self._maker is None or self._key != key:
            self._maker = None
            family, _, policy = name.partition(":")
            self._maker, self._key = get_maker(family).model_validate(options).load(policy), key
        return self._maker


_loaded = _MakerCache()


@app.task(name=MAKE)
def make(*, batch: int, maker: str, options: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> None:
    """Make candidates; answer with them, or with a sentence for people."""
    app.send_task(BEGUN, kwargs={"batch": batch}, queue=DEFAULT)
    app.send_task(MADE, kwargs={"batch": batch, "answer": _answer(maker, options, requests)}, queue=DEFAULT)


def _answer(name: str, options: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    try:
        maker = _loaded.get(name, options)
        return from_results(maker.identity, maker.make(to_requests(requests)))
    except CannotMake as error:
        return {"error": str(error)}
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("failed to make candidates, reference %s", reference)
        return {"error": f"The worker failed. Its log says why: look for the reference {reference}."}
