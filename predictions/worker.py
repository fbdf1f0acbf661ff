"""The worker with models: a separate Celery application, for a machine with a GPU and without a database.

    celery -A predictions.worker worker

It needs the broker and the images, but not Django. `predictions.messages` defines its messages and answers. One message
at a time has the device of a process, so start one process for each GPU (CUDA_VISIBLE_DEVICES). Meanwhile a second
message is taken and its images are read ahead, so that the device finds them ready (docs/decisions/0077).

Settings, by environment; each can also be given as the name of a file that holds it, NAME_FILE:

CELERY_BROKER_URL    as the site has it; files in DATA_DIR/broker unless it is set
DATA_DIR             the site's folder, where it is on the same machine; `var` unless it is set
LINEUP_IMAGES        the site's media folder as this machine sees it, s3://BUCKET/PREFIX with a copy of it, or the
                     site's address; DATA_DIR/media unless it is set
AWS_ACCESS_KEY_ID    with a bucket that is not public, as are AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN
AWS_REGION           with a bucket: where it is; us-east-1 unless it is set
AWS_ENDPOINT_URL     with a bucket that is not Amazon's: the address of what serves it
LINEUP_WORKER_TOKEN  with an address: what the site has there
LINEUP_PRECISION     auto, float32, float16 or bfloat16: what models compute in; auto is 16 bits where that is quicker
LINEUP_VECTORS       a folder for vectors of images and texts, on a disk of this machine; none are kept unless it is
                     set
LINEUP_TRAINED       a folder for trained models, on a disk of this machine; DATA_DIR/trained unless it is set
LINEUP_VECTORS_MB    how many MiB they may fill; 4096 unless it is set
IMAGE_MAX_PIXELS     a larger image is refused; 50000000 unless it is set
"""

import logging
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from celery import Celery, Task, current_task
from celery.utils.time import maybe_make_aware

from background.broker import transport_options
from predictions.messages import (
    BEGUN,
    DEFAULT,
    EMBED,
    EMBEDDED,
    GPU,
    LOAD,
    LOADED,
    SCORE,
    STORE,
    UNREACHABLE,
    Item,
    ScoredChunk,
)
from predictions.pictures import CannotReadPictures, Pictures, SourceUnavailable, reader_of
from predictions.s3 import Account
from predictions.scorers import CannotLoad, OpenPicture, OutOfMemory, Scorer, scorer_of
from predictions.scoring import embed_pictures, loaded_message, score_items
from predictions.worker_settings import CannotStart, read

if TYPE_CHECKING:
    from predictions.scorers.vector_store import VectorStore

logger = logging.getLogger(__name__)

EMBEDDED_URL = "filesystem://localhost"
MAX_PIXELS = "50000000"
VECTORS_MB = "4096"
# The argument of `Scorer.in_half` for each setting; None: float32 only.
PRECISIONS: Mapping[str, str | None] = {"auto": "", "float32": None, "float16": "float16", "bfloat16": "bfloat16"}
# Answers are offered to an unreachable broker for about five minutes; then the site sends the message again.
PATIENCE = {"max_retries": 60, "interval_start": 1, "interval_step": 1, "interval_max": 5}


# Messages at once: one has the device, the images of the other are read ahead.
AT_ONCE = 2
device = Lock()


@contextmanager
def device_turn() -> Iterator[bool]:
    """Have the device of this process; False if the message expired while it waited: the site sends it again."""
    with device:
        if has_expired := _has_expired():
            logger.warning("a message of %s expired while it waited for the device", current_task.name)
        yield not has_expired


def _has_expired() -> bool:
    # Celery itself looks only when it takes a message.
    until: Any = current_task.request.expires if current_task else None
    return until is not None and maybe_make_aware(datetime.fromisoformat(until)) < datetime.now(UTC)


class DeviceTask(Task[Any, Any]):
    """A task that has the device of this process for itself."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        with device_turn() as is_wanted:
            return self.run(*given, **named) if is_wanted else None


def _pictures(folder: Path) -> OpenPicture:
    where, token = read("LINEUP_IMAGES", str(folder / "media")), read("LINEUP_WORKER_TOKEN", "")
    source = reader_of(where, token=token, account=_account())
    return Pictures(source, max_pixels=_count("IMAGE_MAX_PIXELS", MAX_PIXELS))


def _count(name: str, default: str) -> int:
    written = read(name, default)
    if not written.isdecimal() or int(written) < 1:
        raise CannotStart(f"{name} is {written!r}. Write a whole number, 1 or more.")
    return int(written)


def _vectors() -> "VectorStore | None":
    folder, most = read("LINEUP_VECTORS", ""), _count("LINEUP_VECTORS_MB", VECTORS_MB)
    if not folder:
        return None
    # Imported here, because a worker that stores nothing does not need it.
    from predictions.scorers.vector_store import MEGABYTE, CannotStoreVectors, VectorStore

    try:
        return VectorStore(Path(folder), most=most * MEGABYTE)
    except CannotStoreVectors as error:
        raise CannotStart(f"{error} Choose another folder in LINEUP_VECTORS.") from error


def _account() -> Account:
    endpoint = read("AWS_ENDPOINT_URL", "")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise CannotStart(f"AWS_ENDPOINT_URL is {endpoint!r}. Write an address, such as https://storage.example.")
    return Account(
        key=read("AWS_ACCESS_KEY_ID", ""),
        secret=read("AWS_SECRET_ACCESS_KEY", ""),
        session=read("AWS_SESSION_TOKEN", ""),
        region=read("AWS_REGION", "us-east-1"),
        endpoint=endpoint,
    )


def _half() -> str | None:
    precision = read("LINEUP_PRECISION", "auto")
    if precision not in PRECISIONS:
        raise CannotStart(f"LINEUP_PRECISION is {precision!r}. Write one of {', '.join(PRECISIONS)}.")
    return PRECISIONS[precision]


# Celery takes the working directory off the path once it has found this module, but rooms are imported later too.
ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))


def _make() -> tuple[Celery[Any], OpenPicture, str | None, "VectorStore | None"]:
    folder = Path(read("DATA_DIR", str(ROOT / "var")))
    url = read("CELERY_BROKER_URL", EMBEDDED_URL)
    # No fixups: if DJANGO_SETTINGS_MODULE is set by accident, Celery would load Django. Not the current application of
    # a process that has another one.
    made = Celery("predictions", fixups=[], set_as_current=False, task_cls=DeviceTask)
    made.conf.update(
        broker_url=url,
        broker_transport_options=transport_options(url, folder / "broker"),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_publish_retry_policy=PATIENCE,
        task_default_queue=GPU,
        # Tasks of higher rooms on the same queue: a worker throws away messages of tasks that it does not know.
        imports=["making.worker", "training.worker"],
        task_ignore_result=True,
        # A message is acknowledged after its answer was sent.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_pool="threads",
        worker_concurrency=AT_ONCE,
        worker_prefetch_multiplier=1,
        timezone="UTC",
    )
    return made, _pictures(folder), _half(), _vectors()


try:
    app, open_picture, numbers, kept_vectors = _make()
except (CannotReadPictures, CannotStart) as stop:
    sys.exit(str(stop))


class Memory:
    """The memory of this process, which holds one model: whoever loads another one has the last released."""

    def __init__(self) -> None:
        self._release: Callable[[], None] | None = None

    def take(self, release: Callable[[], None]) -> None:
        """Release the model in memory, if any; the next one is released by `release`. Only for who has the device."""
        if self._release is not None:
            self._release()
        self._release = release


memory = Memory()


class _ModelCache:
    """The last requested model, with its 16-bit version if any."""

    def __init__(self) -> None:
        self._loaded: dict[str, tuple[Scorer, Scorer | None]] = {}

    def release(self) -> None:
        self._loaded = {}

    def make_room_for(self, spec: str) -> None:
        """Release another model. Before messages are sent, which takes long if the broker is away."""
        if spec not in self._loaded:
            memory.take(self.release)

    def get(self, spec: str) -> tuple[Scorer, Scorer | None]:
        """Return the model, and load it if it is another one. Only for who has the device."""
        if spec not in self._loaded:
            self.make_room_for(spec)
            scorer = scorer_of(spec)
            half = None if numbers is None else scorer.in_half(numbers)
            if kept_vectors is not None:
                for each in filter(None, (scorer, half)):
                    each.keep_in(kept_vectors)
            self._loaded = {spec: (scorer, half)}
        return self._loaded[spec]

    def read_ahead(
        self, spec: str, names: Sequence[str], *, exactly: bool = False
    ) -> AbstractContextManager[OpenPicture]:
        """Begin to read images for the model, if it is loaded already. `exactly`: it will compute in float32 only."""
        if spec not in (loaded := self._loaded):
            return nullcontext(open_picture)
        scorer, half = loaded[spec]
        return (scorer if exactly else half or scorer).read_ahead(names, open_picture)


_loaded = _ModelCache()


@app.task(name=LOAD)
def load(*, run: int, spec: str) -> None:
    """Load the model that `spec` names; report its identity and speed."""
    _loaded.make_room_for(spec)
    _answer(BEGUN, run=run, chunk=0)
    _answer(LOADED, run=run, answer=in_words(lambda: loaded_message(*_loaded.get(spec))))


@app.task(name=SCORE, base=Task)
def score(*, run: int, chunk: int, spec: str, items: Sequence[Item]) -> None:
    """Score questions with the model that `spec` names."""
    names = dict.fromkeys(picture for item in items for _, picture in item["matches"].values())
    with _loaded.read_ahead(spec, list(names)) as open_ahead, device_turn() as is_wanted:
        if not is_wanted:
            return
        _loaded.make_room_for(spec)

        def work() -> ScoredChunk:
            scorer, half = _loaded.get(spec)
            return score_items(scorer, items, open_ahead, half=half)

        _answer_chunk(STORE, run, chunk, work)


@app.task(name=EMBED, base=Task)
def embed(*, run: int, chunk: int, spec: str, pictures: Sequence[str]) -> None:
    """Compute the vectors of images (SHA-256) with the model that `spec` names, in float32."""
    with _loaded.read_ahead(spec, pictures, exactly=True) as open_ahead, device_turn() as is_wanted:
        if not is_wanted:
            return
        _loaded.make_room_for(spec)
        _answer_chunk(EMBEDDED, run, chunk, lambda: embed_pictures(_loaded.get(spec)[0], pictures, open_ahead))


def _answer_chunk(task: str, run: int, chunk: int, work: Callable[[], Mapping[str, Any]]) -> None:
    """Report that a chunk is begun, and then its result.

    If its images are unreachable, report why, so that the chunk is sent again later.
    """
    _answer(BEGUN, run=run, chunk=chunk)
    try:
        answer = in_words(work)
    except SourceUnavailable as error:
        logger.warning("chunk %s of run %s waits for its images: %s", chunk, run, error)
        _answer(UNREACHABLE, run=run, chunk=chunk, why=str(error))
    else:
        _answer(task, run=run, chunk=chunk, answer=answer)


def in_words(work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the result, or a sentence for people; unexpected errors are logged with their traceback.

    Raises SourceUnavailable.
    """
    try:
        return work()
    except CannotLoad as error:
        return {"error": str(error)}
    except OutOfMemory:
        return {"error": "The worker's memory is too small for a single image or text. Use a larger device."}
    except SourceUnavailable:
        raise
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("failed to process a message, reference %s", reference)
        return {"error": f"The worker failed. Its log says why: look for the reference {reference}."}


def _answer(task: str, **content: Any) -> None:
    app.send_task(task, kwargs=content, queue=DEFAULT)
