-- Count the tokens that language models write, which have a price of their own.
ALTER TABLE usage ADD COLUMN answer_tokens bigint DEFAULT 0;
