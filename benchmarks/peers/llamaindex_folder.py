"""A folder kept in LlamaIndex's ingestion pipeline, as its documentation shows it:  FOLDER STATE MODEL.

The document store says what changed; vectors are in LlamaIndex's own store. Prints the number of its nodes.
"""

import sys
from pathlib import Path

from llama_index.core import SimpleDirectoryReader
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.embeddings.huggingface import HuggingFaceEmbedding


def main(folder: str, state: str, model: str) -> None:
    """Bring the store up to date with the folder."""
    kept = Path(state) / "vectors.json"
    vectors = SimpleVectorStore.from_persist_path(str(kept)) if kept.exists() else SimpleVectorStore()
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=32), HuggingFaceEmbedding(model, device="cpu")],
        docstore=SimpleDocumentStore(),
        vector_store=vectors,
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    if kept.exists():
        pipeline.load(str(Path(state) / "pipeline"))
    pipeline.run(documents=SimpleDirectoryReader(folder, recursive=True, filename_as_id=True).load_data())
    pipeline.persist(str(Path(state) / "pipeline"))
    vectors.persist(str(kept))
    print(len(vectors.data.embedding_dict))


if __name__ == "__main__":
    main(*sys.argv[1:])
