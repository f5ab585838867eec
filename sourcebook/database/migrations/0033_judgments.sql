-- Judgments that people record while they search: the questions of an evaluation without files.
CREATE TABLE judgment (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,
    uri text NOT NULL,                 -- of the judged document
    grade integer NOT NULL,            -- above 0: relevant, the higher the more
    judged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection, query, uri)
);
