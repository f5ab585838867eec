-- An index of the documents that lose much of their text as running heads, which a check lists after every run.
CREATE INDEX document_left_out ON document (collection)
    WHERE removed_at IS NULL AND jsonb_typeof(metadata #> '{left_out,share}') = 'number'
      AND metadata #> '{left_out,share}' > '0.1';
