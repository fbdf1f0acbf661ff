"""`clip-benchmark`: two datasets for contrastive models, in the folders (WebDataset) that CLIP_benchmark reads.

- `retrieval/`: every picture with its own caption. `clip_benchmark eval --dataset wds/NAME --dataset_root retrieval
  --task zeroshot_retrieval` tells Recall@k over all of the release;
- `selection/`: every picture with its own caption and the other one of its pair, in this order.
  `--dataset_root selection --task image_caption_selection` tells as `text_acc` the share of pictures of which the model
  finds the own caption the better one. (`image_acc` is always 1: there is one picture to choose from.)

A tar file holds of each picture the picture (JPEG, PNG or WebP, upright), its captions, one a line, and which it is.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from results.exporting.base import DEFAULT_SPLIT, Column, ReadImage, Write
from results.exporting.pairs import matched
from results.exporting.pictures import as_shown
from results.exporting.rows import AcceptedInstance

RETRIEVAL, SELECTION = "retrieval", "selection"
BYTES_PER_SHARD = 1_000_000_000


class ClipBenchmark:
    title = "Datasets for CLIP_benchmark, WebDataset folders with images"
    rows: Literal["instances"] = "instances"
    filename = "clip-benchmark"
    is_folder = True
    data_files = f"*/{DEFAULT_SPLIT}/*.tar"
    content_type = "application/x-tar"
    columns: Sequence[Column] = ()
    features: Mapping[str, Mapping[str, str]] = {}

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        # Two datasets lie in it: the reader names one of their folders.
        return {}

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        return sorted(folder.glob("*/**/*.txt"))

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        retrieval, selection = _Tars(path / RETRIEVAL), _Tars(path / SELECTION)
        written: set[str] = set()

        def write(row: AcceptedInstance) -> None:
            if row.key in written:
                return
            written.add(row.key)
            pairs = list(matched(row))
            captions = [text for text in (row.captions.get("caption"), row.captions.get("negative_caption")) if text]
            for role, sha256, own in pairs:
                ending, content = as_shown(read_image(sha256))
                about = {
                    "key": row.key,
                    "role": role,
                    "type": row.type,
                    "subtype": row.subtype,
                    "split": row.split,
                    "simulated": row.simulated,
                }
                retrieval.add(ending, content, [own], about)
                if len(captions) > 1:
                    other = captions[1] if own == captions[0] else captions[0]
                    selection.add(ending, content, [own, other], about)

        try:
            yield write
        finally:
            retrieval.close()
            selection.close()


class _Tars:
    """The tar files of one dataset, `0.tar` and so on, which begin anew when one is large."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / DEFAULT_SPLIT
        self._folder.mkdir(parents=True)
        # What a sample is read as.
        (folder / "dataset_type.txt").write_text("retrieval\n", encoding="utf-8", newline="\n")
        self._shards = self._samples = self._bytes = 0
        self._tar = self._next()

    def _next(self) -> tarfile.TarFile:
        made = tarfile.open(self._folder / f"{self._shards}.tar", "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        self._shards += 1
        self._bytes = 0
        return made

    def add(self, ending: str, content: bytes, captions: Sequence[str], about: Mapping[str, Any]) -> None:
        """Add a picture with its captions, whose line breaks become spaces."""
        if self._bytes >= BYTES_PER_SHARD:
            self._tar.close()
            self._tar = self._next()
        # A reader takes what follows the first dot for what a file holds, so keys of instances cannot be names.
        name = f"{self._samples:08d}"
        lines = "\n".join(" ".join(caption.split()) for caption in captions)
        self._put(f"{name}.{ending}", content)
        self._put(f"{name}.txt", lines.encode())
        self._put(f"{name}.json", json.dumps(about, ensure_ascii=False).encode())
        self._samples += 1

    def _put(self, name: str, content: bytes) -> None:
        # The moment and the owner stay 0: the same bytes whenever it is written.
        member = tarfile.TarInfo(name)
        member.size = len(content)
        self._tar.addfile(member, BytesIO(content))
        self._bytes += len(content)

    def close(self) -> None:
        self._tar.close()
        (self._folder / "nshards.txt").write_text(f"{self._shards}\n", encoding="utf-8", newline="\n")
