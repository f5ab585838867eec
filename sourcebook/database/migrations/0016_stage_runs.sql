-- Stages that did work, with its amount: the past runs from which a plan forecasts the next one.
CREATE TABLE stage_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    machine text NOT NULL,             -- host name
    stage text NOT NULL,               -- an asset; `run` for the time of a run outside its stages
    kind text NOT NULL,                -- of `embeddings` the model; of `run` how it was executed; else empty
    work double precision NOT NULL,    -- seconds at built-in rates
    seconds double precision NOT NULL, -- seconds that it took
    finished_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX stage_run_kind ON stage_run (machine, stage, kind, id);
