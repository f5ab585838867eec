"""The language of prose is identified where the text is long enough."""

import random
from pathlib import Path

import numpy as np
import pytest

from sourcebook.model.document import Block
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.language_model import load_identifier

ENGLISH = "The committee decided to postpone the meeting until everybody has read the report."
GERMAN = "Der Ausschuss hat beschlossen, die Sitzung zu verschieben, bis alle den Bericht gelesen haben."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        ("Комитет решил отложить заседание, пока все не прочитают отчёт.", "ru"),
        ("委員会は全員が報告書を読むまで会議を延期することを決定した。", "ja"),
        ("위원회는 모두가 보고서를 읽을 때까지 회의를 연기하기로 했다.", "ko"),
        ("Short.", None),
        ("12345 67890 " * 20, None),
        ("kubectl get pods -n default --watch --output yaml", None),
    ],
)
def test_tells_the_language_or_none(text: str, language: str | None) -> None:
    """A two-letter code, or None where the text does not say."""
    assert detect_language(text, [Block("paragraph", 0, len(text))]) == language


def test_prose_counts_before_lists_and_code_never() -> None:
    """A document in German with English code is German."""
    code = "for item in the list of all items: print the item and continue with the next one"
    markdown = f"{code}\n\n{GERMAN}"
    blocks = [Block("code", 0, len(code)), Block("paragraph", len(code) + 2, len(markdown))]
    assert detect_language(markdown, blocks) == "de"
    assert detect_language(code, [Block("code", 0, len(code))]) is None


def junk(kind: str) -> str:
    chance = random.Random(kind)
    match kind:
        case "hashes":
            words = [f"{chance.getrandbits(128):032x}" for _ in range(12)]
        case "part numbers":
            words = [f"{chance.choice(('SKU', 'ART', 'PN'))}-{chance.randint(1000, 99999)}-B" for _ in range(60)]
        case "measures":
            words = [f"{chance.randint(1, 99)} {chance.choice(('mm', 'kg', 'EUR', 'pcs', 'V'))}" for _ in range(60)]
        case "names":
            given, family = (
                ("Anna", "John", "Yuki", "Olga", "Pierre"),
                ("Schmidt", "Smith", "Tanaka", "Ivanova", "Rossi"),
            )
            words = [f"{chance.choice(given)} {chance.choice(family)}," for _ in range(25)]
        case _:
            letters = "abcdefghijklmnopqrstuvwxyz"
            words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(60)]
    return " ".join(words)


@pytest.mark.parametrize("kind", ["hashes", "part numbers", "measures", "names", "random letters"])
def test_what_is_in_no_language_is_unknown(kind: str) -> None:
    """Letters alone make no prose."""
    text = junk(kind)
    assert detect_language(text, [Block("paragraph", 0, len(text))]) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN.upper(), "de"),
        ("Am 3. Mai 2024 hat der Ausschuss in Raum B12 beschlossen, die Sitzung zu verschieben.", "de"),
        ("2024年5月6日、委員会は全員が報告書を読むまで会議を延期することを決定した。", "ja"),
    ],
)
def test_capitals_and_numbers_do_not_hide_a_language(text: str, language: str) -> None:
    """Headings in capitals and dates are prose all the same."""
    assert detect_language(text, [Block("paragraph", 0, len(text))]) == language


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_a_copy_of_the_model_gives_the_same_languages(cache: Path) -> None:
    texts = ["The tide is high this morning.", "Das Wasser steht heute hoch.", "El agua está alta hoy.", "水位今天很高"]
    first = load_identifier()
    assert list(cache.glob("sourcebook/*/tk_nextmove.npy"))
    again = load_identifier()
    assert [again.classify(text) for text in texts] == [first.classify(text) for text in texts]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not list the maps of a process")
def test_the_copy_is_read_by_rows_and_not_mapped(cache: Path) -> None:
    """Mapped, 25 MB of the automaton would be memory of each process after a few texts."""
    load_identifier()
    identifier = load_identifier()
    assert identifier.classify("Das Wasser steht heute hoch.")[0] == "de"
    maps = Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines()
    assert not [line for line in maps if str(cache) in line and line.endswith(("nb_ptc.npy", "tk_nextmove.npy"))]


def test_a_copy_without_whole_rows_is_made_again(cache: Path) -> None:
    """Weights by column, as they were stored before, cannot be read row by row."""
    first = load_identifier()
    (weights,) = cache.glob("sourcebook/*/nb_ptc.npy")
    np.save(weights, np.asfortranarray(np.load(weights)))
    again = load_identifier()
    assert np.load(weights, mmap_mode="r").flags.c_contiguous
    assert again.classify("Das Wasser steht heute hoch.") == first.classify("Das Wasser steht heute hoch.")


def test_a_damaged_copy_is_made_again(cache: Path) -> None:
    load_identifier()
    (damaged,) = cache.glob("sourcebook/*/nb_ptc.npy")
    size = damaged.stat().st_size
    damaged.write_bytes(b"\x93NUMPY")
    assert load_identifier().classify("The tide is high this morning.")[0] == "en"
    assert damaged.stat().st_size == size


def test_a_folder_that_is_not_writable_is_no_obstacle(cache: Path) -> None:
    (cache / "sourcebook").write_text("a file in the folder's place")
    assert load_identifier().classify("The tide is high this morning.")[0] == "en"
