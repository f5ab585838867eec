"""A model as an ONNX graph: exported once with torch, run without it by onnxruntime and tokenizers."""
