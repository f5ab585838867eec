-- Words are read with their signs, days, parts and scripts; the next ingest makes the lexemes of all entries again.
ALTER TABLE indexed_document ADD COLUMN words_version integer;
INSERT INTO changed_document (collection, document_id) SELECT collection, id FROM document WHERE removed_at IS NULL;

\schema words_version in_one_spelling month_names month_number names_month named_days signs_in parts_of_names stemmed
\schema plain_words further_lexemes search_lexemes query_lexemes query_words
