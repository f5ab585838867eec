-- Use of models by day in UTC; of a collection that was purged, too, as what was spent stays spent.
CREATE TABLE usage (
    day date NOT NULL,
    collection text NOT NULL,          -- its name; no reference: it may have been purged
    provider text NOT NULL,            -- `local`, or the name or the host of a service
    model text NOT NULL,
    operation text NOT NULL,           -- embed_passages, embed_query, embed_sentences, rerank
    texts bigint NOT NULL,             -- asked for; cached ones included
    cached bigint NOT NULL,            -- of these, answered by a cache
    tokens bigint,                     -- that the model read; NULL: nobody counted them all
    seconds double precision NOT NULL, -- that the model took
    PRIMARY KEY (day, collection, provider, model, operation)
) WITH (fillfactor = 50);
