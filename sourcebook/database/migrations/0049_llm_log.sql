-- The log of language models: requests of `sourcebook ask` over collections with `answering.log`, and imported ones.
CREATE TABLE llm_call (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL,             -- one question, or one conversation of an imported log
    turn integer NOT NULL,             -- counted from 1
    origin text NOT NULL,              -- ask, or import
    imported_id text UNIQUE,           -- id in the log that it was imported from
    collections text[] NOT NULL,       -- collections that were asked; none of an imported one
    provider text NOT NULL,            -- name or host of the service
    model text NOT NULL,
    prompt text NOT NULL,              -- messages that this turn added; redacted
    answer text NOT NULL,              -- redacted
    prompt_tokens bigint,              -- null where nobody counted them, as of the following two
    answer_tokens bigint,
    cost double precision,             -- US dollars; null where unknown
    ok boolean NOT NULL,
    failure text,                      -- sentence where there was no answer
    redacted boolean NOT NULL,         -- whether something was replaced by a placeholder
    seconds double precision,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz             -- null: kept until it is deleted by hand
);
CREATE INDEX llm_call_asked_at ON llm_call (asked_at);
CREATE INDEX llm_call_session ON llm_call (session);
CREATE INDEX llm_call_expires_at ON llm_call (expires_at) WHERE expires_at IS NOT NULL;
