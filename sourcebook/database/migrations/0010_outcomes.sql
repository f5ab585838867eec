-- The last evaluation of a collection on its judged questions: an unchanged index is not evaluated again.
CREATE TABLE evaluation_outcome (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    version text NOT NULL,             -- digest over everything that decides the result
    passed boolean NOT NULL,
    description text NOT NULL,
    figures jsonb NOT NULL,
    evaluated_at timestamptz NOT NULL DEFAULT now()
);
