-- name: llm_tables
-- Return the names of the tables of a log of the command llm; SQLite's, as the two statements after it.
SELECT name FROM sqlite_master WHERE type = 'table';

-- name: llm_table
-- Return the rows of any table of a log.
SELECT * FROM {table};

-- name: llm_responses
-- Return the responses that versions of llm before `turns` have logged; whatever columns there are.
SELECT * FROM responses ORDER BY datetime_utc, id;

-- name: llm_turns
-- Return the turns that llm has logged, with their prompts and responses as text.
SELECT turns.*, turns.thread_id AS conversation_id, turn_search.prompt AS prompt, turn_search.response AS response
FROM turns LEFT JOIN turn_search ON turn_search.turn_id = turns.id
ORDER BY turns.datetime_utc, turns.id;
