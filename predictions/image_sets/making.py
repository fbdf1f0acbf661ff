"""Makes a folder of image sets, as the importer `imagecode` reads it, from photos or from videos.

A folder that is half made is gone on with: what was looked at is not looked at again, and a set is there whole or not
at all.
"""

import csv
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image

from predictions.image_sets import reading_text
from predictions.image_sets.choosing import how_alike, nearest_sets, sets_of_frames, sharpness
from predictions.image_sets.embedding import Embedding, Vectors
from predictions.image_sets.videos import PICTURES, CannotRead, Film, Shot, films_in, open_picture
from predictions.scorers.batches import in_batches

SETS, LIST, TABLE = "sets", "sets.jsonl", "sets.csv"
_LOOKED_AT, _WISHES = "looked_at", "made_with.json"
STATIC, VIDEO = "static", "video"
BATCH = 64
# Frames may be large.
FRAMES_AT_ONCE = 16
# Of the quality of the frames that are written: the importer makes what pages show from them.
JPEG_QUALITY = 95

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Wishes:
    """What sets are made by. Distances are those of the embedding (`embedding.distances`).

    `least_distance`: how far frames of a set are from each other at least; `same_below`: photos closer than that are
    one and the same. `seconds`: between two frames that are looked at. `least_sharp`: a frame less sharp than this
    share of the median of its shot is blurred. `most_words`: a frame with more words is full of text. `seed` says
    which photos are asked first for their neighbours.
    """

    embedding: str
    size: int = 10
    least_distance: float = 0.0
    same_below: float = 0.0
    seconds: float = 0.5
    least_sharp: float = 0.4
    most_words: int = 12
    seed: str = "image-sets"


@dataclass(frozen=True)
class Made:
    """A set: the name of its folder, and how far its pictures are from each other, as `choosing.Alike`."""

    directory: str
    kind: str
    images: int
    least_distance: float
    mean_distance: float
    most_distance: float
    embedding: str


@dataclass
class Summary:
    """What was made, and what was left out: `problems` says of each file that could not be read why."""

    sets: int = 0
    looked_at: int = 0
    blurred: int = 0
    full_of_text: int = 0
    problems: tuple[str, ...] = ()


class CannotMake(Exception):
    """The folder cannot be made; the message is for people, and says what to do."""


def from_photos(photos: Path, out: Path, *, embedding: Embedding, wishes: Wishes, progress: Progress) -> Summary:
    """Make sets of each photo and those nearest to it. Raises CannotMake.

    Holds one vector of each photo, and a batch of pictures.
    """
    _begin(out, wishes)
    files = sorted(path for path in photos.rglob("*") if path.suffix.lower() in PICTURES)
    if len(files) < wishes.size:
        raise CannotMake(f"A set takes {wishes.size} photos; {photos} has {len(files)}.")
    summary = Summary()
    names, vectors = _look_at(files, photos, out, embedding=embedding, summary=summary, progress=progress)
    # By lot, the same in every run: by the names of a folder, neighbours would be asked one after another.
    order = sorted(range(len(names)), key=lambda row: hashlib.sha256(f"{wishes.seed}\n{names[row]}".encode()).digest())
    found = nearest_sets(vectors, order, size=wishes.size, same_below=wishes.same_below)
    made = []
    for rows in found:
        # By what is in it, so that one more photo in the folder does not rename all others.
        directory = f"static-{hashlib.sha256(''.join(sorted(names[row] for row in rows)).encode()).hexdigest()[:12]}"
        by_name = sorted(rows, key=lambda row: names[row])
        _write(out, directory, ((photos / names[row], number) for number, row in enumerate(by_name)))
        made.append(_made(directory, STATIC, vectors[by_name], embedding))
        progress("sets", len(made), len(names) // wishes.size)
    _finish(out, made)
    summary.sets = len(made)
    return summary


def from_videos(videos: Path, out: Path, *, embedding: Embedding, wishes: Wishes, progress: Progress) -> Summary:
    """Make sets of the frames of each shot, in time order. Raises CannotMake.

    Holds one vector of each frame of a shot, a few frames that are looked at, and the frames of one set.
    """
    _begin(out, wishes)
    films = films_in(videos, seconds=wishes.seconds)
    if not films:
        raise CannotMake(f"{videos} has no videos and no folders of frames.")
    summary, made = Summary(), []
    for number, film in enumerate(films, start=1):
        done = out / _LOOKED_AT / f"{number:06d}-{film.name}.json"
        if not done.exists():
            of_film = _OfFilm(film, number, out, embedding=embedding, wishes=wishes)
            _put(done, json.dumps(of_film.make()))
        said = json.loads(done.read_text(encoding="utf-8"))
        made += [Made(**one) for one in said["sets"]]
        summary.looked_at += said["looked_at"]
        summary.blurred += said["blurred"]
        summary.full_of_text += said["full_of_text"]
        summary.problems += tuple(said["problems"])
        progress("videos", number, len(films))
    _finish(out, made)
    summary.sets = len(made)
    return summary


class _OfFilm:
    """Makes the sets of one video."""

    def __init__(self, film: Film, number: int, out: Path, *, embedding: Embedding, wishes: Wishes) -> None:
        self._film, self._number, self._out = film, number, out
        self._embedding, self._wishes = embedding, wishes
        self._summary = Summary()

    def make(self) -> dict[str, object]:
        made: list[Made] = []
        try:
            for number, shot in enumerate(self._film.shots()):
                made += self._of_shot(shot, number)
        except CannotRead as error:
            self._summary.problems += (str(error),)
        said = {name: value for name, value in asdict(self._summary).items() if name != "sets"}
        return said | {"sets": [asdict(one) for one in made]}

    def _of_shot(self, shot: Shot, number: int) -> Iterator[Made]:
        frames = self._without_blurred(shot)
        chosen = sets_of_frames(frames, size=self._wishes.size, least_distance=self._wishes.least_distance)
        for place, (numbers, vectors) in enumerate(chosen):
            directory = f"video-{self._film.name}-{self._number}-shot{number}_{place}"
            wanted = set(numbers)
            pictures = ((picture, name) for name, picture in self._film.frames(shot) if name in wanted)
            _write(self._out, directory, pictures)
            yield _made(directory, VIDEO, vectors, self._embedding)

    def _without_blurred(self, shot: Shot) -> Iterator[tuple[int, Vectors]]:
        """Yield number and vector of the shot's frames that are sharp enough and not full of text."""
        tesseract = reading_text.program()
        seen: list[tuple[int, Vectors, float, int]] = []
        for batch in in_batches(self._film.frames(shot), FRAMES_AT_ONCE):
            vectors = self._embedding.embed([picture for _, picture in batch])
            for (frame, picture), vector in zip(batch, vectors, strict=True):
                words = reading_text.words_in(picture, tesseract=tesseract) if tesseract else 0
                seen.append((frame, vector, sharpness(picture), words))
        self._summary.looked_at += len(seen)
        least = self._wishes.least_sharp * median(sharp for *_, sharp, _ in seen) if seen else 0
        for frame, vector, sharp, words in seen:
            if words > self._wishes.most_words:
                self._summary.full_of_text += 1
            elif sharp < least:
                self._summary.blurred += 1
            else:
                yield frame, vector


def _begin(out: Path, wishes: Wishes) -> None:
    """Make the folder, or see that the one that is there was begun in the same way."""
    (out / SETS).mkdir(parents=True, exist_ok=True)
    (out / _LOOKED_AT).mkdir(exist_ok=True)
    said, known = json.dumps(asdict(wishes)), out / _WISHES
    if known.exists() and known.read_text(encoding="utf-8") != said:
        raise CannotMake(f"{out} was begun with other wishes ({known.name} says which). Name another with --out.")
    _put(known, said)


def _look_at(
    files: Sequence[Path], photos: Path, out: Path, *, embedding: Embedding, summary: Summary, progress: Progress
) -> tuple[list[str], Vectors]:
    """Return names and vectors of the photos that can be read; a batch that was looked at before is not read again."""
    names: list[str] = []
    vectors: list[Vectors] = []
    for start in range(0, len(files), BATCH):
        batch = files[start : start + BATCH]
        here = [path.relative_to(photos).as_posix() for path in batch]
        states = ((name, path.stat()) for name, path in zip(here, batch, strict=True))
        about = "".join(f"{name} {state.st_size} {state.st_mtime_ns}\n" for name, state in states)
        kept = out / _LOOKED_AT / f"{hashlib.sha256(about.encode()).hexdigest()}.npz"
        if not kept.exists():
            _keep(kept, *_read(batch, here, embedding))
        with np.load(kept) as found:
            names += found["names"].tolist()
            vectors.append(found["vectors"])
            summary.problems += tuple(found["problems"].tolist())
        progress("photos", min(start + BATCH, len(files)), len(files))
    summary.looked_at = len(names)
    return names, np.concatenate(vectors)


def _read(batch: Sequence[Path], names: Sequence[str], embedding: Embedding) -> tuple[list[str], Vectors, list[str]]:
    pictures, read, problems = [], [], []
    for path, name in zip(batch, names, strict=True):
        try:
            pictures.append(open_picture(path))
            read.append(name)
        except CannotRead as error:
            problems.append(str(error))
    return read, embedding.embed(pictures), problems


def _keep(file: Path, names: Sequence[str], vectors: Vectors, problems: Sequence[str]) -> None:
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        np.savez(part, names=np.array(names, str), vectors=vectors, problems=np.array(problems, str))
    Path(part.name).replace(file)


def _write(out: Path, directory: str, pictures: Iterable[tuple[Path | Image.Image, int]]) -> None:
    """Put the pictures of a set into its folder, named by their numbers, all of them or none."""
    folder = out / SETS / directory
    if folder.exists():
        return
    part = Path(tempfile.mkdtemp(dir=out, prefix="part-"))
    for picture, number in pictures:
        if isinstance(picture, Path):
            shutil.copyfile(picture, part / f"img{number}{picture.suffix.lower()}")
        else:
            picture.save(part / f"img{number}.jpg", quality=JPEG_QUALITY)
    part.chmod(0o755)
    part.replace(folder)


def _made(directory: str, kind: str, vectors: Vectors, embedding: Embedding) -> Made:
    alike = how_alike(vectors)
    least, mean, most = (round(value, 4) for value in (alike.least, alike.mean, alike.most))
    return Made(directory, kind, len(vectors), least, mean, most, embedding.name)


def _finish(out: Path, made: Sequence[Made]) -> None:
    lines = []
    for one in made:
        images = sorted((out / SETS / one.directory).iterdir(), key=lambda path: int(path.stem.removeprefix("img")))
        names = [f"{one.directory}/{path.name}" for path in images]
        lines.append(json.dumps({"directory": one.directory, "kind": one.kind, "images": names}) + "\n")
    _put(out / LIST, "".join(lines))
    with tempfile.NamedTemporaryFile("w", dir=out, suffix=".part", delete=False, newline="", encoding="utf-8") as part:
        table = csv.DictWriter(part, [field.name for field in fields(Made)])
        table.writeheader()
        table.writerows(asdict(one) for one in made)
    Path(part.name).replace(out / TABLE)


def _put(file: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".part", delete=False, encoding="utf-8") as part:
        part.write(text)
    Path(part.name).replace(file)
