-- Conversations of `sourcebook ask` over collections with `answering.sessions`: a question and its answer each.
CREATE TABLE ask_turn (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,               -- who asked and alone may see it: `key ID`, or the account of the operating system
    session text NOT NULL,             -- name that the owner gave the conversation
    collections text[] NOT NULL,       -- collections that were asked
    question text NOT NULL,            -- as the model got it
    answer text NOT NULL,
    reason text,                       -- of a refusal; null of an answer
    sources text[] NOT NULL,           -- addresses of the passages that the answer cites
    asked_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ask_turn_session ON ask_turn (owner, session, id);
CREATE INDEX ask_turn_expires_at ON ask_turn (expires_at);
