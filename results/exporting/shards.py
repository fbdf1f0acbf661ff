"""A table split into several Parquet files if large, named as on the Hugging Face hub."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results.exporting.columnar import TableFile

if TYPE_CHECKING:
    import pyarrow as pa

BYTES_PER_SHARD = 400 * 1024 * 1024


class Shards:
    """The files of the table called `name`. Names contain the number of files, so they are set at the end.

    `pictures`: columns of encoded images.
    """

    def __init__(self, folder: Path, name: str, schema: "pa.Schema", *, pictures: Sequence[str]) -> None:
        self._folder, self._name, self._schema, self._pictures = folder, name, schema, pictures
        self._paths: list[Path] = []
        self._shard = self._next()

    def _next(self) -> TableFile:
        path = self._folder / f"{self._name}-{len(self._paths):05d}.part"
        self._paths.append(path)
        return TableFile(path, self._schema, pictures=self._pictures)

    def write(self, record: Mapping[str, Any], size: int) -> None:
        """Add a row whose pictures have `size` bytes."""
        if self._shard.bytes_written >= BYTES_PER_SHARD:
            self._shard.close()
            self._shard = self._next()
        self._shard.write(record, size)

    def close(self) -> None:
        self._shard.close()
        for number, path in enumerate(self._paths):
            path.rename(self._folder / f"{self._name}-{number:05d}-of-{len(self._paths):05d}.parquet")
