import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.compare import LARGEST_DIFFERENCE
from sourcebook.embedding.onnx.export import export_model
from sourcebook.embedding.onnx.open import find_export, needs_export, open_exported
from sourcebook.embedding.onnx.record import Export, config_hash, model_folder
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model

ODD_TEXTS = (
    "",
    " ",
    "?",
    "battery " * 14_000,  # more than 100 KB
    "NUL \x00 and more",
    "half a pair \udc80, a whole one \ud83d\udd0b",
    "🔋👍🏽 naïve e\u0301 x² ≤ 10⁻³",
    "电池的保修期为两年。返品は十四日以内に承ります。 배터리 보증",
    "التغطية האחריות แบตเตอรี่",
    "\u200b\ufeff\u2028",
)


def exported(home: Path, model: EmbeddingModel) -> Export:
    """Export a model; return what was found afterwards."""
    assert export_model(home, model) is None
    found = find_export(home, model.identity)
    assert isinstance(found, Export), found
    return found


def assert_same_vectors(export: Export, model: EmbeddingModel, texts: Sequence[str]) -> None:
    """Passages together and questions alone have the vectors of sentence-transformers."""
    onnx, torch = open_exported(export), SentenceTransformerEmbedder(model, "float32")
    np.testing.assert_allclose(onnx.embed(texts), torch.embed(texts), atol=LARGEST_DIFFERENCE)
    for text in texts:
        np.testing.assert_allclose(onnx.embed_query(text), torch.embed_query(text), atol=LARGEST_DIFFERENCE)
    torch.close()
    onnx.close()


def test_the_default_model_s_export_gives_the_same_vectors(minilm: Export, model: EmbeddingModel) -> None:
    """Ordinary texts of all lengths, and whatever people and programs paste, together and alone, within 1e-4."""
    assert_same_vectors(minilm, model, [*mixed_texts(8), *ODD_TEXTS])


def test_what_is_recorded_of_the_default_model(minilm: Export, model: EmbeddingModel) -> None:
    """The record says what the model is, and by which settings and packages it was exported."""
    record = minilm.record
    assert (record.identity, record.dimensions, record.tokens.max_tokens) == (model.identity, 384, 256)
    assert (record.query_prompt, record.passage_prompt) == ("", "")
    assert record.worst_difference is None, "written without torch"
    assert model.folder is not None
    assert record.config_hash == config_hash(model.folder)
    assert record.files.keys() == {"model.onnx", "model.onnx.data", "tokenizer.json"}


@pytest.mark.parametrize("padding_side", ["right", "left"])
def test_every_pooling_is_exported(tmp_path: Path, padding_side: str) -> None:
    """Wherever the padding lies, it has no part in any of the vectors, which stand side by side here."""
    poolings = ("cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens")
    model = find_model(str(tiny_model(tmp_path / "tiny", poolings, padding_side=padding_side)))
    export = exported(tmp_path, model)
    assert export.record.tokens.padding_side == padding_side
    assert_same_vectors(export, model, [*mixed_texts(6), *ODD_TEXTS])


def test_a_dense_layer_fewer_dimensions_and_prompts_are_exported(tmp_path: Path) -> None:
    """The vector is projected and cut to the wanted dimensions, and each kind of text gets its own prompt."""
    prompts = {"query": "query: ", "passage": "passage: "}
    folder = tiny_model(tmp_path / "tiny", ["cls", "mean"], dense=24, prompts=prompts, truncate_dim=16)
    model = find_model(str(folder))
    assert model.dimensions == 16
    export = exported(tmp_path, model)
    assert (export.record.query_prompt, export.record.passage_prompt) == ("query: ", "passage: ")
    assert_same_vectors(export, model, [*mixed_texts(6), *ODD_TEXTS])
    onnx = open_exported(export)
    assert np.abs(onnx.embed_query("battery") - onnx.embed(["battery"])[0]).max() > 0.01


def test_a_model_that_leaves_prompts_out_of_the_pooling_is_refused_once(tmp_path: Path) -> None:
    """An export would pool them: the reason is kept, and the model is tried again only with other settings."""
    prompts = {"query": "query: "}
    folder = tiny_model(tmp_path / "tiny", prompts=prompts, include_prompt=False)
    model = find_model(str(folder))
    assert needs_export(tmp_path, model)
    assert export_model(tmp_path, model) == "it leaves prompts out of the pooling"
    assert not needs_export(tmp_path, model)
    assert find_export(tmp_path, model.identity) == (
        "the model cannot be exported to ONNX: it leaves prompts out of the pooling"
    )
    assert sorted(path.name for path in model_folder(tmp_path, model.identity).iterdir()) == ["lock", "refused.json"]
    pooling = json.loads((folder / "1_Pooling/config.json").read_text())
    (folder / "1_Pooling/config.json").write_text(json.dumps({**pooling, "include_prompt": True}))
    assert needs_export(tmp_path, model)
    assert isinstance(exported(tmp_path, model), Export)


def test_a_module_of_another_kind_is_refused(tmp_path: Path) -> None:
    """Only modules whose export is known to be whole are taken; the reason names the first other one."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import CNN

    transformer = SentenceTransformer(str(tiny_model(tmp_path / "tiny")), local_files_only=True)
    SentenceTransformer(modules=[transformer[0], CNN(32, 32), transformer[1]]).save(str(tmp_path / "convolved"))
    assert export_model(tmp_path, find_model(str(tmp_path / "convolved"))) == "its module CNN is none that is exported"


def test_a_model_too_large_for_one_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of its weights on disk, here against a lower bound, is enough to know."""
    monkeypatch.setattr("sourcebook.embedding.onnx.export.MOST_WEIGHT_BYTES", 1_000_000)
    reason = export_model(tmp_path, find_model(str(tiny_model(tmp_path / "tiny"))))
    assert reason == "its weights take 0.0 GB, and an ONNX file holds 2"


def test_a_tokenizer_without_a_limit_cuts_nothing_off(tmp_path: Path) -> None:
    """transformers says 1e30 where a model names no longest text, as T5 does: texts of any length are the same."""
    from transformers import T5Config, T5EncoderModel

    folder = tiny_model(tmp_path / "tiny")
    for name in ("config.json", "model.safetensors", "sentence_bert_config.json"):
        (folder / name).unlink()
    T5EncoderModel(
        T5Config(vocab_size=30_522, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2)
    ).save_pretrained(folder)
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**tokenizer, "model_max_length": int(1e30)}))
    model = find_model(str(folder))
    export = exported(tmp_path, model)
    assert export.record.tokens.max_tokens == 1_000_000
    assert_same_vectors(export, model, ["battery", "the battery lasts " * 400])


def test_an_export_that_is_not_the_same_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No difference may be larger than the bound, here set below what rounding makes; nothing of the export stays."""
    monkeypatch.setattr("sourcebook.embedding.onnx.compare.LARGEST_DIFFERENCE", 1e-12)
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    reason = export_model(tmp_path, model)
    assert reason is not None
    assert "differ by" in reason
    assert sorted(path.name for path in model_folder(tmp_path, model.identity).iterdir()) == ["lock", "refused.json"]


def test_changed_settings_replace_the_export(tmp_path: Path) -> None:
    """New prompts are no new weights: the next export has them, and the files of the former one are gone."""
    folder = tiny_model(tmp_path / "tiny")
    model = find_model(str(folder))
    former = exported(tmp_path, model)
    assert not needs_export(tmp_path, model)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "ask: "}}))
    assert needs_export(tmp_path, model)
    latter = exported(tmp_path, model)
    assert (former.record.query_prompt, latter.record.query_prompt) == ("", "ask: ")
    assert not former.folder.exists()


def test_another_version_of_a_package_replaces_the_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then the export serves searches; a refused model is tried once more."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    export = exported(tmp_path, model)
    assert not needs_export(tmp_path, model)
    monkeypatch.setattr("sourcebook.embedding.onnx.record.version", lambda package: "999")
    assert needs_export(tmp_path, model)
    assert find_export(tmp_path, model.identity) == export


def test_exporters_at_once_make_one_export(tmp_path: Path) -> None:
    """The second waits for the first and uses its files, which are written once."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: export_model(tmp_path, model), range(2))) == [None, None]
    folder = model_folder(tmp_path, model.identity)
    found = find_export(tmp_path, model.identity)
    assert isinstance(found, Export)
    assert {path.name for path in folder.iterdir()} == {"export.json", "lock", found.folder.name}


def test_an_exporter_that_is_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    """Its lock goes with it, what it had written is cleared by the next one, and no search takes it for an export."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    code = (
        "import signal, sys, tempfile; from pathlib import Path\n"
        "from sourcebook.embedding.onnx.record import exclusively\n"
        "with exclusively(Path(sys.argv[1]), sys.argv[2]) as folder:\n"
        "    target = Path(tempfile.mkdtemp(prefix='files-', dir=folder))\n"
        "    (target / 'model.onnx').write_bytes(b'half')\n"
        "    (folder / 'export.jsonx1').write_bytes(b'{')\n"
        "    print('writing', flush=True)\n"
        "    signal.pause()\n"
    )
    exporter = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), model.identity], stdout=subprocess.PIPE, text=True
    )
    assert exporter.stdout is not None
    assert exporter.stdout.readline() == "writing\n"
    exporter.kill()
    exporter.communicate()
    assert "has not been exported" in str(find_export(tmp_path, model.identity))
    export = exported(tmp_path, model)
    folder = model_folder(tmp_path, model.identity)
    assert {path.name for path in folder.iterdir()} == {"export.json", "lock", export.folder.name}


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The ingest goes on without an export; nothing is held against the model."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    (tmp_path / "models").write_text("a file where the folder should be")
    reason = export_model(tmp_path, model)
    assert reason is not None
    assert reason.startswith(f"the exported model cannot be kept in {tmp_path / 'models'}: ")


def test_a_full_disk_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is at fault, not the model: the next ingest exports it."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1_000))
    assert "No space left on device" in str(export_model(tmp_path, model))
    monkeypatch.undo()
    assert needs_export(tmp_path, model)
    exported(tmp_path, model)


def test_searching_needs_neither_the_model_s_folder_nor_torch(tmp_path: Path) -> None:
    """A process that embeds with an export imports no torch, transformers or hub client, and prints nothing."""
    model = find_model(str(tiny_model(tmp_path / "tiny")))
    exported(tmp_path, model)
    shutil.rmtree(tmp_path / "tiny")
    code = (
        "import sys; from pathlib import Path\n"
        "from sourcebook.config.collection import EmbeddingSettings\n"
        "from sourcebook.embedding.opening import open_query_embedder\n"
        "embedder, reason = open_query_embedder(Path(sys.argv[1]), sys.argv[2], EmbeddingSettings(model=sys.argv[3]))\n"
        "assert embedder.embed_query('battery').shape == (32,)\n"
        "heavy = ('torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'onnx')\n"
        "print(reason, [name for name in heavy if name in sys.modules])\n"
    )
    arguments = [str(tmp_path), f"{model.identity}/bfloat16", str(tmp_path / "tiny")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("None []\n", "")
