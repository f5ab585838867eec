"""The engine of passages: which one, why, and with which vectors."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.engine import Precision, choose_engine
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.export import export_model
from sourcebook.embedding.opening import open_embedder
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.processes.device import Device
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model

PROCESSOR = Device("cpu", "")
TEXTS = (
    *mixed_texts(6),
    "",
    "Die Gewährleistung für die Fahrzeugbatterie beträgt vierundzwanzig Monate.",
    "Аккумулятор следует заряжать при температуре от 0 до 40 °C.",
    "电池的保修期为两年。返品は十四日以内に承ります。 배터리 보증",
    "🔋👍🏽 naïve e\u0301 x² ≤ 10⁻³, half a pair \udc80, NUL \x00",
)
WITHOUT_TORCH = """
import sys
from pathlib import Path
from sourcebook.embedding import worker
from sourcebook.embedding.model import find_model
home, model = Path(sys.argv[1]), find_model("all-MiniLM-L6-v2")
worker.load(model, "float32", "auto", home)
print(worker.embed(["battery"]).shape, worker.engine().name, worker.export(home, model))
print(sorted({"torch", "transformers", "sentence_transformers"} & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("processor", "setting", "engine", "reason"),
    [
        ("float32", "auto", "onnxruntime", "the processor has no bfloat16, and onnxruntime is faster"),
        ("bfloat16", "auto", "torch", "the processor computes in bfloat16"),
        ("bfloat16", "float32", "onnxruntime", "embedding.precision asks for float32, and"),
        ("float32", "bfloat16", "torch", "embedding.precision asks for it"),
    ],
)
def test_the_processor_decides(
    monkeypatch: pytest.MonkeyPatch, processor: Precision, setting: Precision, engine: str, reason: str
) -> None:
    """onnxruntime where vectors are computed in float32, torch where the processor has bfloat16 of its own."""
    flags = {"bfloat16": frozenset({"avx512_bf16"}), "float32": frozenset({"avx2"})}[processor]
    monkeypatch.setattr("sourcebook.embedding.engine.cpu_flags", lambda text: flags)
    chosen = choose_engine(setting, PROCESSOR)
    assert (chosen.name, chosen.device) == (engine, "cpu")
    assert chosen.reason.startswith(reason)


def test_without_torch_onnxruntime_embeds_whatever_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sourcebook.embedding.engine.cpu_flags", lambda text: frozenset({"avx512_bf16"}))
    without = "sourcebook.embedding.engine.find_spec"
    monkeypatch.setattr(without, lambda name: None if name == "torch" else find_spec(name))
    chosen = choose_engine("auto", PROCESSOR)
    assert (chosen.name, chosen.precision, chosen.reason) == ("onnxruntime", "float32", "torch is not installed")


@pytest.mark.parametrize("name", [BUNDLED_NAME, MULTILINGUAL_NAME])
def test_both_engines_give_the_same_vectors(name: str, tmp_path: Path) -> None:
    """Passages and questions in many scripts: cosine similarity above .99999, and as many tokens each."""
    model = find_model(name)
    onnx = open_embedder(model, "float32", "cpu", tmp_path)
    assert isinstance(onnx, OnnxEmbedder)
    torch = SentenceTransformerEmbedder(model, "float32")
    assert [onnx.count_tokens(text) for text in TEXTS] == [torch.count_tokens(text) for text in TEXTS]
    assert (onnx.embed(TEXTS) * torch.embed(TEXTS)).sum(axis=1).min() >= 0.99999
    questions = np.array([onnx.embed_query(text) @ torch.embed_query(text) for text in TEXTS])
    assert questions.min() >= 0.99999
    torch.close()
    onnx.close()


def test_a_first_ingest_needs_no_torch(tmp_path: Path) -> None:
    """A model of the box is exported, opened and computed in a process that never imports torch."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert done.stdout == "(1, 384) onnxruntime None\n[]\n"


def test_another_model_is_left_to_torch_until_it_has_an_export(tmp_path: Path) -> None:
    """The reason says so; after the export, onnxruntime embeds it."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    first = open_embedder(model, "float32", "cpu", tmp_path)
    assert isinstance(first, SentenceTransformerEmbedder)
    assert str(first.engine) == (
        "torch in float32 on the processor: onnxruntime would be faster, but this model has no export yet"
    )
    assert export_model(tmp_path, model) is None
    second = open_embedder(model, "float32", "cpu", tmp_path)
    assert isinstance(second, OnnxEmbedder)
    assert (first.embed(["battery"]) @ second.embed(["battery"]).T).item() >= 0.99999


def test_an_export_that_cannot_be_written_leaves_torch(tmp_path: Path, model: EmbeddingModel) -> None:
    """The vectors are what counts; the reason is kept."""
    (tmp_path / "models").write_text("a file where the folder should be")
    embedder = open_embedder(model, "float32", "cpu", tmp_path)
    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert "but the exported model cannot be kept in" in embedder.engine.reason
