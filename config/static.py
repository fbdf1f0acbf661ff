"""How static files are named in production: by what is in them, those that a module imports too."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

_OWN_MODULES = "js/*.js"
_IMPORT = r"""(?m)^(?P<matched>import (?P<names>(?:.* from )?)"(?P<url>\./[^"]+)";)$"""


class ReleaseStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """A page and all of its modules are of one release: the names in `import` carry their hashes too.

    Django's own way would read every file that comes with a package, comments included.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        (_OWN_MODULES, ((_IMPORT, 'import %(names)s"%(url)s";'),)),
    )
