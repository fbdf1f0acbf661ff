"""Programs that run beside a test, for the length of a block."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

END_SECONDS = 30


@contextmanager
def running(
    command: Sequence[str], *, environment: Mapping[str, str], log: Path, folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `command` for the length of the block, in `folder` where one is named; what it says is added to `log`.

    At the end it is asked to stop, and killed where it does not within END_SECONDS; a test may have ended it before.
    """
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
