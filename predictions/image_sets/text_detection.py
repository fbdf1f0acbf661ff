"""Detect frames full of text, such as titles or credits, with Tesseract (OCR) if it is installed."""

import io
import shutil
import subprocess

from PIL import Image

NOT_LOOKED_FOR = "Frames full of text were not detected. Install tesseract-ocr to detect them."
SURE = 60
LONGEST_SECONDS = 60


def program() -> str | None:
    """Return the path of Tesseract, None if it is not installed."""
    return shutil.which("tesseract")


def words_in(picture: Image.Image, *, tesseract: str) -> int:
    """Return the number of words of two or more letters that Tesseract reads with confidence; 0 if it fails."""
    out = io.BytesIO()
    picture.convert("L").save(out, "PNG")
    try:
        done = subprocess.run(  # noqa: S603 (a local program with fixed arguments)
            [tesseract, "stdin", "stdout", "tsv"],
            input=out.getvalue(),
            capture_output=True,
            timeout=LONGEST_SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return 0
    lines = (line.split("\t") for line in done.stdout.decode(errors="replace").splitlines()[1:])
    words = ((float(line[10]), line[11].strip()) for line in lines if len(line) == 12)
    return sum(sure >= SURE and len(word) > 1 for sure, word in words)
