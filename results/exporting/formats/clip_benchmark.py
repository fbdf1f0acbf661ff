"""`clip-benchmark`: three datasets for contrastive models, in the folders that CLIP_benchmark reads.

- `retrieval/`: every picture with its own caption. `clip_benchmark eval --dataset wds/NAME --dataset_root retrieval
  --task zeroshot_retrieval` tells Recall@k over all of the release;
- `selection/`: every picture with its own caption and the other one of its pair, in this order.
  `--dataset_root selection --task image_caption_selection` tells as `text_acc` the share of pictures of which the model
  finds the own caption the better one. (`image_acc` is always 1: there is one picture to choose from.)
- `pairs/`: both pictures of a pair with both captions, so that pictures are chosen too. The only reader in that library
  that gives a sample two pictures is its reader of Winoground, and it loads `facebook/winoground` as the library
  `datasets` does: a folder of that name below the one it is begun in comes before the hub's. So, begun in `pairs/`,
  `clip_benchmark eval --dataset winoground --dataset_root cache` tells as `text_acc`, `image_acc` and `acc` what the
  papers call I2T, T2I and Group: of how many instances both captions, both pictures, and all four are found.

The first two are WebDatasets. A tar file holds of each picture the picture (JPEG, PNG or WebP, upright), its captions,
one a line, and which it is.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from results.exporting.base import DEFAULT_SPLIT, ReadImage, Write, Writer, once_per_item
from results.exporting.pairs import captioned_pictures
from results.exporting.pictures import as_shown
from results.exporting.rows import AcceptedInstance
from results.exporting.shards import Shards

if TYPE_CHECKING:
    import pyarrow as pa

RETRIEVAL, SELECTION, PAIRS = "retrieval", "selection", "pairs"
# What the only reader of two pictures loads.
NAME_OF_PAIRS = "facebook/winoground"
_PICTURES = ("image_0", "image_1")
_TEXTS = ("caption_0", "caption_1", "key", "type", "subtype", "split")
BYTES_PER_SHARD = 1_000_000_000


class ClipBenchmark(Writer):
    title = "Datasets for CLIP_benchmark, folders with images"
    rows: Literal["instances"] = "instances"
    filename = "clip-benchmark"
    is_folder = True
    data_files = f"*/{DEFAULT_SPLIT}/*.tar"
    content_type = "application/x-tar"
    needs = "a caption with its image"
    # It has no splits: three datasets lie in it, and the reader names one of their folders.

    def can_hold(self, row: AcceptedInstance) -> bool:
        return any(captioned_pictures(row))

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        return sorted([*folder.glob("*/**/*.txt"), *folder.glob(f"{PAIRS}/**/*.parquet")])

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        retrieval, selection = _Tars(path / RETRIEVAL), _Tars(path / SELECTION)
        folder = path / PAIRS / NAME_OF_PAIRS / "data"
        folder.mkdir(parents=True)
        both = Shards(folder, DEFAULT_SPLIT, _schema(), pictures=_PICTURES)

        def write(row: AcceptedInstance) -> int:
            pairs = list(captioned_pictures(row))
            captions = [text for text in row.pair_captions.values() if text]
            about = {name: getattr(row, name) for name in ("key", "type", "subtype", "split", "simulated")}
            shown = []
            for role, sha256, own in pairs:
                ending, content = as_shown(read_image(sha256))
                shown.append({"bytes": content, "path": f"{sha256[:12]}.{ending}"})
                picture = {"key": row.key, "role": role} | about
                retrieval.add(ending, content, [own], picture)
                if len(captions) > 1:
                    other = captions[1] if own == captions[0] else captions[0]
                    selection.add(ending, content, [own, other], picture)
            if len(shown) == len(_PICTURES):
                texts = dict(zip(_TEXTS, map(_line, captions), strict=False))
                record = dict(zip(_PICTURES, shown, strict=True)) | texts | about
                both.write(record, sum(len(each["bytes"]) for each in shown))
            return len(pairs)

        try:
            yield once_per_item(write)
        finally:
            retrieval.close()
            selection.close()
            both.close()


def _line(caption: str) -> str:
    return " ".join(caption.split())


def _schema() -> "pa.Schema":
    import pyarrow as pa

    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    fields = [(name, picture) for name in _PICTURES] + [(name, pa.string()) for name in _TEXTS]
    # How the library `datasets` knows what a column holds.
    features = {name: {"_type": "Image"} for name in _PICTURES}
    features |= {name: {"_type": "Value", "dtype": "string"} for name in _TEXTS}
    features |= {"simulated": {"_type": "Value", "dtype": "bool"}}
    told = json.dumps({"info": {"features": features}})
    return pa.schema([*fields, ("simulated", pa.bool_())]).with_metadata({"huggingface": told})


class _Tars:
    """The tar files of one dataset, `0.tar` and so on; a large one is followed by the next."""

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
        lines = "\n".join(map(_line, captions))
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
