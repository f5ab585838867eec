"""The local embedding model as a service for other machines, in OpenAI's protocol of embeddings."""
