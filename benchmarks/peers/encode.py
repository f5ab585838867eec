"""`SentenceTransformer.encode` alone, as a program of its own: the peer of an ingest.

    python -m benchmarks.peers.encode TEXTS PRECISION PROMPT VECTORS    prints {"seconds", "texts"}

TEXTS is a JSON list; PROMPT is `passage` or `query`; VECTORS is the .npy file to write. The seconds are
those of `encode` with its defaults, without importing and loading.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.library import child_environment
from benchmarks.harness.measure import run

MODEL = "all-MiniLM-L6-v2"


def encode(texts: list[str], folder: Path, *, precision: str, query: bool = False) -> tuple[float, NDArray[np.float32]]:
    """Encode texts in a child process; return the seconds that `encode` took, and the vectors.

    Args:
        texts: what to encode.
        folder: where the files for the child may lie meanwhile.
        precision: `float32` or `bfloat16`.
        query: whether they are questions.
    """
    source, target = folder / "texts.json", folder / "vectors.npy"
    source.write_text(json.dumps(texts), encoding="utf-8")
    prompt = "query" if query else "passage"
    child = run(
        [sys.executable, "-m", "benchmarks.peers.encode", str(source), precision, prompt, str(target)],
        {**child_environment(), "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    vectors: NDArray[np.float32] = np.load(target)
    source.unlink()
    target.unlink()
    return float(json.loads(child.output)["seconds"]), vectors


def main(source: str, precision: str, prompt: str, target: str) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    from sourcebook.embedding.model import find_model

    texts: list[str] = json.loads(Path(source).read_text(encoding="utf-8"))
    folder = find_model(MODEL).folder
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": dtype})
    method = model.encode_query if prompt == "query" else model.encode
    method(texts[:8], show_progress_bar=False)  # the first call prepares what later ones reuse
    started = time.perf_counter()
    vectors = method(texts, show_progress_bar=False)
    seconds = time.perf_counter() - started
    rows = np.asarray(vectors, np.float32)
    np.save(target, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    print(json.dumps({"seconds": seconds, "texts": len(texts)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
