"""Whether the file that is open is still the one under its name."""

from pathlib import Path


class Named:
    """A file as it is found under its name at first, to be looked for again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found = path.stat()
        self._file = (found.st_dev, found.st_ino)

    @property
    def gone(self) -> str:
        """Why the name leads to another file or to none by now, "" while it leads to this one."""
        try:
            found = self.path.stat()
        except OSError as error:
            return str(error.strerror)
        same = (found.st_dev, found.st_ino) == self._file
        return "" if same else "another file has taken its name"
