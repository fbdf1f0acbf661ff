"""Styles and scripts as browsers get them: without comments and white space, compressed, named by what they hold."""

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
    """Has `collectstatic` keep the files that pages name in as few bytes as do the same: on a slow line the page's own
    files are what somebody waits for. Those that say `.min.` in their names, or lie in `vendor`, are as their makers
    left them."""

    def post_process(self, paths: Mapping[str, tuple[Storage, str]], *args: Any, **options: Any) -> Iterator[Any]:
        minified = {
            name: (storage if name.startswith(AS_THEY_ARE) else _Minified(storage), path)
            for name, (storage, path) in paths.items()
        }
        yield from super().post_process(minified, *args, **options)

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress what pages name, so only what is named by its content; not what only a developer's tools open."""
        named = {path for path in self.hashed_files.values() if not path.endswith(SOURCE_MAP)}
        yield from super().compress_files(path for path in paths if path in named)


@dataclass(frozen=True)
class _Minified:
    """The storage that a file comes from, which hands it over in fewer bytes."""

    storage: Storage

    def open(self, path: str) -> File[bytes]:
        minify = next((minify for ending, minify in _MINIFIERS.items() if path.endswith(ending)), None)
        if minify is None or ".min." in path:
            return self.storage.open(path)
        with self.storage.open(path) as file:
            return ContentFile(minify(file.read().decode()).encode(), name=path)
