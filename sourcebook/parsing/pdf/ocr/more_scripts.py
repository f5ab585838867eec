"""Tesseract for the letters that RapidOCR's models do not know; its library is in tesserocr's wheel.

Functions import this module when a collection names languages. The data of a language are a file of Tesseract's, from a
package of the system such as tesseract-ocr-rus.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.parsing.pdf.ocr.engine import Reading
from sourcebook.parsing.pdf.ocr.threads import recognition_threads

if TYPE_CHECKING:
    from sourcebook.parsing.pdf.ocr.engine import Pixels

_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
"""Folders into which systems install the data of languages."""


def better_readings(cuts: Sequence[Pixels], readings: Sequence[Reading], languages: tuple[str, ...]) -> list[Reading]:
    """Return the reading of each line that knows more of its letters: RapidOCR's or Tesseract's.

    Args:
        cuts: pictures of the lines.
        readings: rapidOCR's reading of each line.
        languages: tesseract's names of languages, such as `rus`.

    Raises:
        MissingDependencyError: tesserocr or the data of a language are not installed.
    """
    if not cuts:
        return list(readings)
    engine = _engine(languages)
    return [max(reading, _read(engine, cut), key=_known) for cut, reading in zip(cuts, readings, strict=True)]


def _known(reading: Reading) -> float:
    """Return the number of letters and digits, each counted by the confidence of the line."""
    return reading.confidence * sum(map(str.isalnum, reading.text))


def _read(engine: Any, cut: Pixels) -> Reading:
    from PIL import Image

    engine.SetImage(Image.fromarray(np.ascontiguousarray(cut[:, :, ::-1])))
    text = " ".join(engine.GetUTF8Text().split())
    return Reading(text, engine.MeanTextConf() / 100)


@cache
def _engine(languages: tuple[str, ...]) -> Any:  # compiled, with stubs only where it is installed
    """Return this process's Tesseract for the languages."""
    if find_spec("tesserocr") is None:
        raise MissingDependencyError(f"parsing.ocr_languages needs the package tesserocr; {install_command('ocr')}")
    import tesserocr

    folders = {data_folder(language) for language in languages}
    if len(folders) > 1:
        names = " and ".join(sorted(map(str, folders)))
        raise MissingDependencyError(f"Tesseract's data are in {names}; put those of all languages into one folder")
    if recognition_threads() == 1:
        os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # its threads wait for each other by spinning
    return tesserocr.PyTessBaseAPI(path=str(folders.pop()), lang="+".join(languages), psm=tesserocr.PSM.SINGLE_LINE)


def data_folder(language: str) -> Path:
    """Return the folder with the data of a language."""
    set_by_user = os.environ.get("TESSDATA_PREFIX")
    folders = (set_by_user, *_FOLDERS) if set_by_user else _FOLDERS
    for folder in map(Path, folders):
        if (folder / f"{language}.traineddata").is_file():
            return folder
    package = f"tesseract-ocr-{language.replace('_', '-').replace('/', '-').lower()}"
    raise MissingDependencyError(
        f"parsing.ocr_languages names {language}, whose data are not installed; apt install {package}, or put "
        f"{language}.traineddata into the folder that TESSDATA_PREFIX names"
    )
