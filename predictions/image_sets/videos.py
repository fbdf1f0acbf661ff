"""Read videos, and folders of frames extracted from one: their shots, and the frames of a shot in time order.

Videos need the packages of `requirements-video.txt`; folders of frames need nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from PIL import Image, ImageOps

from predictions.feeder import NoPicture, shared_feeder

VIDEOS = (".mp4", ".mov", ".mkv", ".avi", ".webm", ".m4v", ".mpg", ".mpeg")
PICTURES = (".jpg", ".jpeg", ".png", ".webp")
PICTURES_AHEAD = 64
# ImageCoDe's directories end in the shot of a video, such as -shot2_1.
_SHOT = re.compile(r"[-_ ]shot[-_ ]?\d+([-_]\d+)?$", re.IGNORECASE)


def video_of(name: str) -> str:
    """Return the video that a directory of frames or a file of one shot is from: its name without the shot."""
    return _SHOT.sub("", name)


class CannotRead(NoPicture):
    """A video or image cannot be read; the message is for people and says what to do."""


@dataclass(frozen=True, slots=True)
class Shot:
    """Part of a video without a cut: frames from `first` to `end` - 1, counted from 0."""

    first: int
    end: int


class FrameSource(Protocol):
    """A video, or a folder of its frames."""

    @property
    def name(self) -> str:
        """Return its name, used in the names of its sets."""

    @property
    def source(self) -> str:
        """Return the video it is from, the same for all its shots."""

    def shots(self) -> Sequence[Shot]:
        """Return its shots in time order. Raises CannotRead."""

    def frames(self, shot: Shot) -> Iterator[tuple[int, Image.Image]]:
        """Yield the examined frames of a shot with their numbers, in time order. Raises CannotRead."""


@dataclass(frozen=True)
class Video:
    """A video file, examined at one frame every `seconds`."""

    path: Path
    seconds: float

    @property
    def name(self) -> str:
        return _plain(self.path.stem)

    @property
    def source(self) -> str:
        return video_of(self.path.stem)

    def shots(self) -> Sequence[Shot]:
        cv2, scenedetect = _readers()
        try:
            found = scenedetect.detect(str(self.path), scenedetect.ContentDetector(), start_in_scene=True)
        except (scenedetect.VideoOpenFailure, OSError, cv2.error) as error:
            raise CannotRead(f"{self.path.name} cannot be read as a video ({error}). Convert it to MP4.") from error
        return [Shot(start.frame_num, end.frame_num) for start, end in found]

    def frames(self, shot: Shot) -> Iterator[tuple[int, Image.Image]]:
        cv2, _ = _readers()
        film = cv2.VideoCapture(str(self.path))
        try:
            step = max(1, round(self.seconds * (film.get(cv2.CAP_PROP_FPS) or 25)))
            # Read frame by frame: seeking is inexact in many videos.
            for number in range(shot.end):
                if not film.grab():
                    return
                if number < shot.first or (number - shot.first) % step:
                    continue
                is_there, pixels = film.retrieve()
                if is_there:
                    yield number, Image.fromarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB))
        finally:
            film.release()


def _readers() -> tuple[Any, Any]:
    try:
        import cv2
        import scenedetect
    except ImportError as error:
        raise CannotRead(
            "Videos cannot be read on this machine. Install requirements-video.txt, or give folders of frames instead."
        ) from error
    return cv2, scenedetect


@dataclass(frozen=True)
class FramesFolder:
    """A folder with the frames of one shot, whose file names end in their numbers."""

    path: Path

    @property
    def name(self) -> str:
        return _plain(self.path.name)

    @property
    def source(self) -> str:
        return video_of(self.path.name)

    def shots(self) -> Sequence[Shot]:
        numbers = [number for number, _ in self._files()]
        return [Shot(numbers[0], numbers[-1] + 1)] if numbers else []

    def frames(self, shot: Shot) -> Iterator[tuple[int, Image.Image]]:
        for number, path in self._files():
            if shot.first <= number < shot.end:
                yield number, open_picture(path)

    def _files(self) -> list[tuple[int, Path]]:
        files = [path for path in self.path.iterdir() if path.suffix.lower() in PICTURES]
        found = sorted((int(numbers[-1]), path) for path in files if (numbers := re.findall(r"\d+", path.stem)))
        twice = [path.name for (one, _), (other, path) in pairwise(found) if one == other]
        if twice:
            raise CannotRead(
                f"{self.path.name} has two frames with the same number, which {twice[0]} ends in. Give each "
                f"frame its own number."
            )
        return found


def frame_sources(folder: Path, *, seconds: float) -> list[FrameSource]:
    """Return the videos of a folder and its subfolders of frames, by name."""
    found: list[FrameSource] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            found.append(FramesFolder(path))
        elif path.suffix.lower() in VIDEOS:
            found.append(Video(path, seconds))
    return found


def open_picture(path: Path) -> Image.Image:
    """Return an image as RGB, upright by its EXIF orientation. Raises CannotRead."""
    try:
        with Image.open(path) as picture:
            upright = ImageOps.exif_transpose(picture)
            return upright.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise CannotRead(f"{path.name} cannot be read as an image ({error}).") from error


def open_pictures(files: Mapping[str, Path]) -> tuple[dict[str, Image.Image], list[str]]:
    """Return the readable images by name, and a sentence for each of the others."""

    def open_named(name: str) -> Image.Image:
        return open_picture(files[name])

    reading = shared_feeder().read(files, open_named, lambda picture: picture, ahead=PICTURES_AHEAD)
    with closing(reading):
        made = dict(reading)
    problems = [str(why) for why in made.values() if isinstance(why, NoPicture)]
    return {name: picture for name, picture in made.items() if not isinstance(picture, NoPicture)}, problems


def _plain(name: str) -> str:
    """Return `name` as part of a folder name that is valid on every system."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")[:60] or "film"
