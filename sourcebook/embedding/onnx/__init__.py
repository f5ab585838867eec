"""A sentence-transformers model exported to ONNX: export, comparison, record, opening, embedding without torch."""
