-- Models of providers: the vector of a fixed text shows whether a provider still answers with the same model.
CREATE TABLE provider_model (
    identity text PRIMARY KEY,         -- as generation.model, up to the slash
    model text NOT NULL,               -- the provider's name of it
    settings jsonb NOT NULL,           -- settings that its vectors depend on
    probe real[] NOT NULL,             -- vector of the fixed text, of length 1
    first_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_model_model ON provider_model (model);
