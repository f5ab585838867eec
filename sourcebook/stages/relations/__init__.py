"""Relations between documents: what each one writes, and the documents that it means; see `update_relations`."""
