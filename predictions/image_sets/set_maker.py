"""Make a folder of image sets for the importer `imagecode`, from photos or from videos.

An unfinished folder is continued: photos and frames are examined once, and every set is complete or absent.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from dataclasses import replace as changed
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from predictions.image_sets import text_detection
from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.image_sets.set_files import (
    LEFT_OUT,
    SETS,
    ImageSetFacts,
    put_arrays,
    put_table,
    put_text,
    write_lists,
    write_set,
)
from predictions.image_sets.set_selection import (
    MOST,
    Bounds,
    LeftOut,
    distance_summary,
    excluded_images,
    nearest_sets,
    sets_of_frames,
    sharpness,
)
from predictions.image_sets.splits import counts_of, groups_of, splits_of
from predictions.image_sets.videos import PICTURES, CannotRead, FrameSource, Shot, frame_sources, open_pictures
from predictions.scorers.batches import in_batches

_LOOKED_AT, _WISHES = "looked_at", "made_with.json"
STATIC, VIDEO = "static", "video"
# ImageCoDe's scripts take a set as static if "open-images" is anywhere in its directory's name, and as video otherwise.
# The importer takes names that begin with "open-images" for the published sets.
STATIC_NAME = "static-open-images-"
BATCH = 64
FRAMES_AT_ONCE = 16

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class SetOptions:
    """Parameters of image sets. Distances are those of the embedding (`embedding.distances`, 0 to 2).

    `least_distance`: least distance between frames of a set. `same_below`: photos closer than this count as the same.
    `most_distance`: most distance between photos or frames of a set. `seconds`: time between two examined frames.
    `least_sharp`: a frame below this share of its shot's median sharpness counts as blurred. `most_words`: frames with
    more words count as full of text. `seed`: decides the order in which photos are tried.
    """

    embedding: str
    size: int = 10
    least_distance: float = 0.0
    same_below: float = 0.0
    most_distance: float = MOST
    seconds: float = 0.5
    least_sharp: float = 0.4
    most_words: int = 12
    seed: str = "image-sets"


@dataclass(frozen=True)
class Split:
    """Parameters of splits: the share of each, over 0, which add up to 1.

    Sets with images closer than `near_below` stay in one split. `seed`: the same gives the same splits.
    """

    shares: Mapping[str, Fraction]
    near_below: float
    seed: str


@dataclass
class Summary:
    """Number of sets made, and of photos or frames left out by reason.

    `problems`: why each unreadable file could not be read. `splits`: sets per split; `wanted`: the intended numbers.
    """

    sets: int = 0
    looked_at: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    problems: tuple[str, ...] = ()
    splits: dict[str, int] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)


class CannotMake(Exception):
    """The folder cannot be made; the message is for people and says what to do."""


def from_photos(
    photos: Path, out: Path, *, embedding: Embedding, wishes: SetOptions, progress: Progress, split: Split | None = None
) -> Summary:
    """Make sets of each photo and those nearest to it. Raises CannotMake.

    Memory: one vector per photo, and one batch of images.
    """
    _begin(out, wishes)
    files = sorted(path for path in photos.rglob("*") if path.suffix.lower() in PICTURES)
    if len(files) < wishes.size:
        raise CannotMake(f"A set needs {wishes.size} photos; {photos} has {len(files)}.")
    summary = Summary()
    names, vectors = _embed_photos(files, photos, out, embedding=embedding, summary=summary, progress=progress)
    # Shuffled with a fixed seed, because file names are often in order of time, and neighbours are then alike.
    order = sorted(range(len(names)), key=lambda row: hashlib.sha256(f"{wishes.seed}\n{names[row]}".encode()).digest())
    bounds = Bounds(size=wishes.size, same_below=wishes.same_below, most_distance=wishes.most_distance)
    made, chosen = [], []
    for rows in nearest_sets(vectors, order, bounds):
        by_name = sorted(rows, key=lambda row: names[row])
        # Named after its content, so that adding a photo to the folder renames no other set.
        digest = hashlib.sha256("".join(names[row] for row in by_name).encode()).hexdigest()
        directory = f"{STATIC_NAME}{digest[:12]}"
        write_set(out, directory, ((photos / names[row], number) for number, row in enumerate(by_name)))
        made.append(_describe_set(directory, STATIC, vectors[by_name], embedding))
        chosen.append(by_name)
        progress("sets", len(made), len(names) // wishes.size)
    left_out = list(excluded_images(vectors, [row for rows in chosen for row in rows], bounds))
    summary.left_out.update(reason for _, reason, _ in left_out)
    table = [(names[row], reason, round(nearest, 4)) for row, reason, nearest in left_out]
    put_table(out / LEFT_OUT, ("photo", "reason", "nearest_distance"), table)
    # The source of a photo is unknown, so each set counts as a separate source.
    sources = [one.directory for one in made]
    _finish(out, made, sources, [vectors[rows] for rows in chosen], split, summary)
    return summary


def from_videos(
    videos: Path, out: Path, *, embedding: Embedding, wishes: SetOptions, progress: Progress, split: Split | None = None
) -> Summary:
    """Make sets of the frames of each shot, in time order. Raises CannotMake.

    Memory: one vector per frame of a shot, a few frames, and the frames of one set; with `split` also one vector per
    frame of all sets.
    """
    _begin(out, wishes)
    films = frame_sources(videos, seconds=wishes.seconds)
    if not films:
        raise CannotMake(f"{videos} has no videos and no folders of frames.")
    summary = Summary()
    made: list[ImageSetFacts] = []
    sources: list[Hashable] = []
    vectors: list[Vectors] = []
    for number, film in enumerate(films, start=1):
        done = out / _LOOKED_AT / f"{number:06d}-{film.name}.json"
        if not done.exists():
            of_film = _VideoSets(film, number, out, embedding, wishes)
            put_text(done, json.dumps(of_film.make(done.with_suffix(".npz"))))
        said = json.loads(done.read_text(encoding="utf-8"))
        made += [ImageSetFacts(**one) for one in said["sets"]]
        sources += [film.source] * len(said["sets"])
        if split and said["sets"]:
            with np.load(done.with_suffix(".npz")) as kept:
                vectors += [kept[str(at)] for at in range(len(kept.files))]
        summary.looked_at += said["looked_at"]
        summary.left_out.update(said["left_out"])
        summary.problems += tuple(said["problems"])
        progress("videos", number, len(films))
    _finish(out, made, sources, vectors, split, summary)
    return summary


@dataclass
class _VideoSets:
    """Makes the sets of one video, and counts the examined frames and those left out."""

    film: FrameSource
    number: int
    out: Path
    embedding: Embedding
    wishes: SetOptions
    looked_at: int = 0
    left_out: Counter[LeftOut] = field(default_factory=Counter)

    def make(self, kept: Path) -> dict[str, Any]:
        """Make the sets, store the vectors of their frames in the file `kept`, and return the sets."""
        made: list[tuple[ImageSetFacts, Vectors]] = []
        problems = []
        try:
            for number, shot in enumerate(self.film.shots()):
                made += self._of_shot(shot, number)
        except CannotRead as error:
            problems.append(str(error))
        put_arrays(kept, {str(number): vectors for number, (_, vectors) in enumerate(made)})
        return {
            "looked_at": self.looked_at,
            "left_out": self.left_out,
            "problems": problems,
            "sets": [asdict(one) for one, _ in made],
        }

    def _of_shot(self, shot: Shot, number: int) -> Iterator[tuple[ImageSetFacts, Vectors]]:
        chosen = sets_of_frames(
            self._without_blurred(shot),
            size=self.wishes.size,
            least_distance=self.wishes.least_distance,
            most_distance=self.wishes.most_distance,
            left_out=self.left_out,
        )
        for place, (numbers, vectors) in enumerate(chosen):
            directory = f"video-{self.film.name}-{self.number}-shot{number}_{place}"
            wanted = set(numbers)
            pictures = ((picture, name) for name, picture in self.film.frames(shot) if name in wanted)
            write_set(self.out, directory, pictures)
            yield _describe_set(directory, VIDEO, vectors, self.embedding), vectors

    def _without_blurred(self, shot: Shot) -> Iterator[tuple[int, Vectors]]:
        """Yield number and vector of the shot's frames that are sharp enough and not full of text."""
        tesseract = text_detection.program()
        seen: list[tuple[int, Vectors, float, int]] = []
        for batch in in_batches(self.film.frames(shot), FRAMES_AT_ONCE):
            vectors = self.embedding.embed([picture for _, picture in batch])
            for (frame, picture), vector in zip(batch, vectors, strict=True):
                words = text_detection.words_in(picture, tesseract=tesseract) if tesseract else 0
                seen.append((frame, vector, sharpness(picture), words))
        self.looked_at += len(seen)
        least = self.wishes.least_sharp * median(sharp for *_, sharp, _ in seen) if seen else 0
        for frame, vector, sharp, words in seen:
            if words > self.wishes.most_words:
                self.left_out[LeftOut.TEXT] += 1
            elif sharp < least:
                self.left_out[LeftOut.BLURRED] += 1
            else:
                yield frame, vector


def _begin(out: Path, wishes: SetOptions) -> None:
    """Create the folder, or check that the existing one was begun with the same options."""
    (out / SETS).mkdir(parents=True, exist_ok=True)
    (out / _LOOKED_AT).mkdir(exist_ok=True)
    said, known = json.dumps(asdict(wishes)), out / _WISHES
    if known.exists() and known.read_text(encoding="utf-8") != said:
        raise CannotMake(f"{out} was begun with other options ({known.name} lists them). Name another with --out.")
    put_text(known, said)


def _embed_photos(
    files: Sequence[Path], photos: Path, out: Path, *, embedding: Embedding, summary: Summary, progress: Progress
) -> tuple[list[str], Vectors]:
    """Return names and vectors of the readable photos; examine each batch only once."""
    names: list[str] = []
    vectors: list[Vectors] = []
    for start in range(0, len(files), BATCH):
        batch = files[start : start + BATCH]
        here = [path.relative_to(photos).as_posix() for path in batch]
        states = ((name, path.stat()) for name, path in zip(here, batch, strict=True))
        about = "".join(f"{name} {state.st_size} {state.st_mtime_ns}\n" for name, state in states)
        kept = out / _LOOKED_AT / f"{hashlib.sha256(about.encode()).hexdigest()}.npz"
        if not kept.exists():
            pictures, problems = open_pictures(dict(zip(here, batch, strict=True)))
            vectors_of_batch = embedding.embed(list(pictures.values()))
            arrays = {"names": np.array(list(pictures), str), "problems": np.array(problems, str)}
            put_arrays(kept, arrays | {"vectors": vectors_of_batch})
        with np.load(kept) as found:
            names += found["names"].tolist()
            vectors.append(found["vectors"])
            summary.problems += tuple(found["problems"].tolist())
        progress("photos", min(start + BATCH, len(files)), len(files))
    summary.looked_at = len(names)
    return names, np.concatenate(vectors)


def _describe_set(directory: str, kind: str, vectors: Vectors, embedding: Embedding) -> ImageSetFacts:
    least, mean, most = (round(value, 4) for value in distance_summary(vectors))
    return ImageSetFacts(directory, kind, len(vectors), least, mean, most, embedding.name)


def _finish(
    out: Path,
    made: Sequence[ImageSetFacts],
    sources: Sequence[Hashable],
    vectors: Sequence[Vectors],
    split: Split | None,
    summary: Summary,
) -> None:
    summary.sets = len(made)
    if split:
        summary.wanted = counts_of(len(made), split.shares)
        groups = groups_of(sources, vectors, near_below=split.near_below)
        splits = splits_of(groups, summary.wanted, seed=split.seed)
        made = [changed(one, split=name) for one, name in zip(made, splits, strict=True)]
        summary.splits = {name: splits.count(name) for name in split.shares}
    write_lists(out, made)
