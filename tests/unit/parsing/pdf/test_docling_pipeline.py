"""Docling's own pipeline says what it lacks, and works where nothing is lacking."""

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError, ParserError
from sourcebook.parsing.pdf.docling_pipeline import load_converter, parse_with_models
from tests.unit.parsing.covering import assert_blocks_cover
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

pytestmark = pytest.mark.filterwarnings("ignore")  # as `parse` does: docling warns about its own future

LAYOUT = "docling-project--docling-layout-heron"
TABLES = "docling-project--docling-models/model_artifacts/tableformer/accurate"
LABELS = ("caption", "footnote", "list_item", "page_footer", "picture", "section_header", "table", "text", "title")
TAGS = ("<pad>", "<unk>", "<start>", "<end>", "ecel", "fcel", "lcel", "ucel", "xcel", "nl", "ched", "rhed", "srow")
COMPLETE = all(find_spec(package) is not None for package in ("docling_ibm_models", "torchvision"))

LOAD = """
from sourcebook.parsing.pdf.docling_pipeline import load_converter
try:
    load_converter(None, ocr=True)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.skipif(COMPLETE, reason="docling's models' package is installed here")
def test_missing_packages_are_named() -> None:
    """Where docling comes without its models' package, the error names that, and what to do; nothing is loaded."""
    started = time.monotonic()
    with pytest.raises(MissingDependencyError, match=r"docling-ibm-models.*pip install docling.*parser: sourcebook"):
        parse_with_models(pdf([[Shown(72, 700, "A page of text.")]]), name="a.pdf", settings=ParsingSettings(ocr=False))
    assert time.monotonic() - started < 10


def test_a_damaged_file_is_the_files_fault() -> None:
    """Errors of the document are reported before any model is loaded."""
    with pytest.raises(ParseError, match="damaged or cut off"):
        parse_with_models(b"%PDF-1.4 and no more", name="a.pdf", settings=ParsingSettings(ocr=False))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """It is named, with the command that fills it."""
    with pytest.raises(ParserError, match=rf"{tmp_path}/none, which is no folder; run  docling-tools models download"):
        load_converter(str(tmp_path / "none"), ocr=False)


def test_a_folder_without_models(tmp_path: Path) -> None:
    """The model that is not in it is named; nothing is looked for elsewhere."""
    with pytest.raises(ParserError, match=rf"docling-layout-heron.* docling-tools models download -o {tmp_path}"):
        load_converter(str(tmp_path), ocr=False)


def test_damaged_weights(tmp_path: Path) -> None:
    """A file of weights that is cut off is wrong for the run, not for a document."""
    write_layout_model(tmp_path / LAYOUT)
    weights = tmp_path / LAYOUT / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:10_000])
    with pytest.raises(ParserError, match=r"cannot be loaded \(Failed to load model"):
        load_converter(str(tmp_path), ocr=False)


def test_no_hub_is_waited_for(tmp_path: Path) -> None:
    """With HF_HUB_OFFLINE=1 and an empty cache, loading ends at once with what to do."""
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", LOAD], env=offline, capture_output=True, text=True, timeout=120, check=True
    )
    assert ended.stdout.startswith("ParserError: docling's models cannot be loaded"), ended
    assert "name the folder in parsing.models" in ended.stdout


@pytest.mark.skipif(not COMPLETE, reason="the full docling is not installed here")
def test_a_document_goes_through_the_models(tmp_path: Path) -> None:
    """With models of the right shape, though they know nothing, every word comes out, on its page, in a box."""
    write_layout_model(tmp_path / LAYOUT)
    write_table_model(tmp_path / TABLES)
    pages = [[Shown(72, 700, "The first page."), Shown(72, 650, "It has two lines.")], [Shown(72, 700, "The second.")]]
    document = parse_with_models(
        pdf(pages), name="https://example.org/a", settings=ParsingSettings(models=str(tmp_path))
    )
    assert document.markdown.split() == ["The", "first", "page.", "It", "has", "two", "lines.", "The", "second."]
    assert document.page_count == 2
    assert {block.page for block in document.blocks} == {1, 2}
    assert all(block.box is not None for block in document.blocks)
    assert_blocks_cover(document)


def write_layout_model(folder: Path) -> None:
    """Write a layout model of docling's kind that was never trained."""
    import torch
    from transformers import RTDetrResNetConfig, RTDetrV2Config, RTDetrV2ForObjectDetection

    torch.manual_seed(0)
    backbone = RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 16, 16],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = RTDetrV2Config(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[16, 16, 16],
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=20,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16,
        decoder_layers=2,
        decoder_attention_heads=2,
        num_denoising=0,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    RTDetrV2ForObjectDetection(config).save_pretrained(folder)
    size = {"height": 64, "width": 64}
    processor = {"image_processor_type": "RTDetrImageProcessor", "size": size, "do_resize": True, "do_rescale": True}
    (folder / "preprocessor_config.json").write_text(json.dumps({**processor, "rescale_factor": 1 / 255}))


def write_table_model(folder: Path) -> None:
    """Write a table model of docling's kind that was never trained."""
    import torch
    from docling_ibm_models.tableformer.models.table04_rs.tablemodel04_rs import (  # type: ignore[import-not-found]
        TableModel04_rs,
    )
    from safetensors.torch import save_model

    folder.mkdir(parents=True)
    words = {"word_map_tag": {tag: number for number, tag in enumerate(TAGS)}, "word_map_cell": {"<pad>": 0}}
    sizes = {"tag_embed_dim": 16, "tag_decoder_dim": 512, "tag_attention_dim": 16}
    sizes |= {
        "bbox_embed_dim": 16,
        "bbox_attention_dim": 16,
        "hidden_dim": 512,
        "enc_image_size": 28,
        "bbox_classes": 2,
    }
    layers = {"enc_layers": 1, "dec_layers": 1, "nheads": 2, "dropout": 0.1}
    config = {
        "dataset": {"name": "none", "resized_image": 448, "image_normalization": {"mean": [0.9] * 3, "std": [0.2] * 3}},
        "model": {"type": "TableModel04_rs", "name": "none", "save_dir": str(folder), **sizes, **layers},
        "train": {"bbox": True},
        "predict": {"max_steps": 30, "beam_size": 5, "bbox": True, "pdf_cell_iou_thres": 0.05},
        "dataset_wordmap": words,
    }
    torch.manual_seed(0)
    save_model(TableModel04_rs(config, {"word_map": words}, "cpu"), str(folder / "tableformer_accurate.safetensors"))
    (folder / "tm_config.json").write_text(json.dumps(config))
