"""Relations between documents: what each one writes, and the documents that it means; see `update_relations`.

What is read beside them: the type of a document, and the abbreviations that it explains.
"""
