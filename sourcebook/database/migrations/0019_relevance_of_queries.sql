-- The query log keeps how relevant the best result of a search was.
ALTER TABLE logged_query ADD COLUMN relevance real;
