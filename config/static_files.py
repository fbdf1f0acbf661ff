"""Styles and scripts for browsers: minified, compressed, and named by a hash of their content."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from rcssmin import cssmin
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

AS_THEY_ARE = "vendor/"
SOURCE_MAP = ".map"
_MINIFIERS: Mapping[str, Callable[[str], str]] = {".js": jsmin, ".css": cssmin}


class MinifiedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Minify files when `collectstatic` runs: on a slow line they are what people wait for.

    Skips files with `.min.` in their names or in `vendor`.
    """

    def post_process(self, paths: Mapping[str, tuple[Storage, str]], *args: Any, **options: Any) -> Iterator[Any]:
        minified = {
            name: (storage if name.startswith(AS_THEY_ARE) else _MinifiedStorage(storage), path)
            for name, (storage, path) in paths.items()
        }
        yield from super().post_process(minified, *args, **options)

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress only hashed files, which pages use; not files for developers' tools."""
        named = {path for path in self.hashed_files.values() if not path.endswith(SOURCE_MAP)}
        yield from super().compress_files(path for path in paths if path in named)


@dataclass(frozen=True)
class _MinifiedStorage:
    """A storage that returns the files of another one minified."""

    storage: Storage

    def open(self, path: str) -> File[bytes]:
        minify = next((minify for ending, minify in _MINIFIERS.items() if path.endswith(ending)), None)
        if minify is None or ".min." in path:
            return self.storage.open(path)
        with self.storage.open(path) as file:
            return ContentFile(minify(file.read().decode()).encode(), name=path)
