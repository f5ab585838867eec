-- The comparison of a generation with the active one on judged questions, and its measures.
ALTER TABLE generation ADD verdict jsonb;
ALTER TABLE generation ADD scores jsonb;
