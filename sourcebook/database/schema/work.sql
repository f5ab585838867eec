-- Work and its records: runs, requests, keys, logs, figures, limits of providers, retries and shards.

-- Small changes that are done and not yet recorded as runs of Dagster.
CREATE TABLE finished_run (
    run_id uuid PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    reports jsonb NOT NULL,            -- reports of the stages by asset, and the partition of a shard
    outcomes jsonb NOT NULL,           -- outcomes of the checks
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts smallint NOT NULL DEFAULT 0,
    error text                         -- reason why the last attempt to record it failed
);

-- The last evaluation of a collection on its judged questions: an unchanged index is not evaluated again.
CREATE TABLE evaluation_outcome (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    version text NOT NULL,             -- digest over everything that decides the result
    passed boolean NOT NULL,
    description text NOT NULL,
    figures jsonb NOT NULL,
    evaluated_at timestamptz NOT NULL DEFAULT now()
);

-- Judgments that people record while they search: the questions of an evaluation without files.
CREATE TABLE judgment (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,
    uri text NOT NULL,                 -- of the judged document
    grade integer NOT NULL,            -- above 0: relevant, the higher the more
    judged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection, query, uri)
);

-- The query log: searches of collections with the setting `retention.queries`, for that long.
CREATE TABLE logged_query (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    query text NOT NULL,               -- without addresses, long numbers and keys
    results integer NOT NULL,          -- passages on the first page, of all searched collections
    asked_at timestamptz NOT NULL,
    relevance real                     -- of the most relevant of them, 0 to 1; NULL: there was none, or an older version wrote it
);
CREATE INDEX logged_query_asked_at ON logged_query (collection, asked_at);

-- The log of language models: requests of `sourcebook ask` over collections with `answering.log`, those that programs
-- record of their own, and imported ones.
CREATE TABLE llm_call (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL,             -- one question, or one conversation of an imported log
    turn integer NOT NULL,             -- counted from 1
    origin text NOT NULL,              -- ask, program or import
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

-- Keys of programs, agents and people that reach the knowledge base over a network; of a key only its SHA-256.
CREATE TABLE access_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,                -- what a person calls it
    beginning text NOT NULL,           -- first characters of the key, by which a person recognises it
    sha256 bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,            -- read, write, admin, unredacted; search alone of a key with origins
    collections text[],                -- names of the only collections that it sees; null: every collection
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    used_at timestamptz,               -- last use, to the minute
    revoked_at timestamptz,
    requests_a_minute integer CHECK (requests_a_minute > 0),  -- null: the limit of the server
    principals text[],                 -- for whom it asks, such as user:anna@example.org; null: for everything in scope
    on_behalf text CHECK (on_behalf IN ('required', 'optional')),  -- whether a request must say for whom it asks; null: may not
    origins text[],                    -- origins of the pages that alone may send it, such as https://docs.example.com
    CHECK (principals IS NULL OR on_behalf IS NULL),
    CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin', 'unredacted', 'search']),
    CONSTRAINT access_key_of_origins CHECK (
        CASE WHEN 'search' = ANY(scopes)
             THEN cardinality(scopes) = 1 AND cardinality(origins) > 0 AND num_nonnulls(origins, principals, on_behalf) = 1
             ELSE origins IS NULL END)
);
-- Two living keys that open the same collections have different names. An administrator of some learns of no name of others.
CREATE UNIQUE INDEX access_key_name ON access_key (name, collections) NULLS NOT DISTINCT WHERE revoked_at IS NULL;

-- Browsers that somebody has signed in: each sends a token of its own, of which the SHA-256 is kept. Either a key was
-- typed in, or the issuer of signed tokens has said who the person is.
CREATE TABLE page_session (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id bigint REFERENCES access_key (id) ON DELETE CASCADE,  -- null: of a person
    sha256 bytea NOT NULL UNIQUE,
    browser text NOT NULL,             -- its own name of itself
    began_at timestamptz NOT NULL DEFAULT now(),
    used_at timestamptz NOT NULL DEFAULT now(),  -- last use, to the minute
    issuer text,                       -- who has said it
    person text,                       -- name that is shown
    principals text[],                 -- the person and its groups, as at signing in
    ends_at timestamptz,
    subject text,                      -- `sub` of the ID token
    provider_session text,             -- its `sid`; null where it has none
    refresh_token bytea,               -- encrypted with the browser's token, which is not kept; null: the issuer is not asked again
    renew_at timestamptz,              -- when the issuer is asked again
    renewed_at timestamptz,            -- when it has last said who the person is
    CHECK (num_nulls(issuer, person, principals, ends_at) = CASE WHEN key_id IS NULL THEN 0 ELSE 4 END)
);
-- Logout tokens of issuers that were taken: each is taken once.
CREATE TABLE used_logout_token (
    sha256 bytea PRIMARY KEY,          -- of the issuer and its `jti`
    ends_at timestamptz NOT NULL       -- when it expires
);

-- What was changed through a key, the command or a page, by whom and when. Rows outlive the keys.
CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL,
    actor text NOT NULL,               -- `key NAME`, or the account of the operating system
    action text NOT NULL,              -- such as key.create
    subject text NOT NULL,             -- what it was done to
    details jsonb NOT NULL
);
CREATE INDEX audit_event_happened_at ON audit_event (happened_at);

-- The audit of reading: who asked for what, and which documents the answer showed, of collections with the setting
-- `retention.audit`, for that long. A row is written before the answer is given.
CREATE TABLE audit_reading (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL DEFAULT now(),
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    actor text NOT NULL,               -- as audit_event.actor
    principals text[],                 -- for whom it asked, persons first; null where everything in scope was asked
    operation text NOT NULL,           -- such as search
    question text,                     -- without addresses, long numbers and keys; null where there is none
    documents bigint[] NOT NULL,       -- ids of the documents of this collection that the answer showed
    uris text[] NOT NULL               -- their addresses, and those of files that are no documents yet
);
CREATE INDEX audit_reading_happened_at ON audit_reading (collection, happened_at);
-- The second wall, as in permissions.sql: the role of principals is not granted this table, and sees no row of it.
ALTER TABLE audit_reading ENABLE ROW LEVEL SECURITY;
CREATE POLICY unseen ON audit_reading USING (current_user <> 'sourcebook_reader');

-- Answers to requests that were sent with an Idempotency-Key: the same request again is answered with the same answer.
CREATE TABLE idempotent_answer (
    caller text NOT NULL,              -- `key` and its id, or `local caller`
    key text NOT NULL,                 -- the caller's own name of the request
    request text NOT NULL,             -- method, path and query
    body_sha256 bytea NOT NULL,
    claim uuid NOT NULL,               -- the attempt that may write the answer
    asked_at timestamptz NOT NULL DEFAULT now(),
    status integer,                    -- of the answer; null as long as the request runs
    headers jsonb,                     -- those that matter
    body bytea,
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotent_answer_asked_at ON idempotent_answer (asked_at);

-- Work that a person, a program or an agent asked for: one row a request, which every face reads.
CREATE TABLE work_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    kind text NOT NULL,                -- sync
    arguments jsonb NOT NULL,          -- the part of the collection, as a selection
    idempotency_key text,              -- the asker's own; the same one again is the same request
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'cancelled')),
    stage text,                        -- name of the asset that works now, or worked last
    done bigint NOT NULL DEFAULT 0,    -- items of that stage: done, known so far, failed
    total bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    error text,                        -- reason of a failed request
    run_id text,                       -- the Dagster run that does it
    worker text,                       -- host and process that does it
    asked_by text NOT NULL,            -- `key NAME`, or the account of the operating system
    cancel_asked boolean NOT NULL DEFAULT false,
    revision bigint NOT NULL DEFAULT 1,  -- number of the last change, from 1
    asked_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,  -- times that a worker has taken it
    led_by bigint                      -- of a running request: the older one whose run does this one, too; NULL: itself
);
CREATE UNIQUE INDEX work_request_idempotency ON work_request (asked_by, collection, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX work_request_open ON work_request (id) WHERE state IN ('waiting', 'running');
CREATE INDEX work_request_collection ON work_request (collection, id);
CREATE INDEX work_request_led_by ON work_request (coalesce(led_by, id)) WHERE state = 'running';

-- Count a change of a request, and tell those who listen on the channel sourcebook_work its id.
CREATE FUNCTION note_work_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.revision := OLD.revision + 1;
        NEW.changed_at := now();
    END IF;
    PERFORM pg_notify('sourcebook_work', NEW.id::text);
    RETURN NEW;
END
$$;
CREATE TRIGGER work_request_noted BEFORE INSERT OR UPDATE ON work_request
    FOR EACH ROW EXECUTE FUNCTION note_work_request();

-- Totals that processes have counted: searches, embedded tokens, cache hits. A histogram has a row for each bucket.
CREATE TABLE measurement (
    name text NOT NULL,                -- metric without its prefix
    labels text NOT NULL,              -- values in the order of the metric's labels, joined by tabs
    part text NOT NULL,                -- `total`, `sum`, or the upper bound of a bucket
    total double precision NOT NULL,
    PRIMARY KEY (name, labels, part)
) WITH (fillfactor = 50);

-- Use of models by day in UTC; of a collection that was purged, too, as what was spent stays spent.
CREATE TABLE usage (
    day date NOT NULL,
    collection text NOT NULL,          -- its name; no reference: it may have been purged
    provider text NOT NULL,            -- `local`, or the name or the host of a service
    model text NOT NULL,
    operation text NOT NULL,           -- embed_passages, embed_query, embed_sentences, rerank, transcribe, answer
    texts bigint NOT NULL,             -- asked for; cached ones included
    cached bigint NOT NULL,            -- of these, answered by a cache
    tokens bigint,                     -- that the model read; NULL: nobody counted them all
    seconds double precision NOT NULL, -- that the model took
    sound_seconds double precision NOT NULL DEFAULT 0,  -- that the model heard
    processor_seconds double precision,  -- that the model took of processors; NULL: nobody measured it
    answer_tokens bigint DEFAULT 0,    -- that the model wrote; NULL: nobody counted them all
    PRIMARY KEY (day, collection, provider, model, operation)
) WITH (fillfactor = 50);

-- The items that a stage works on now; a crawl has one row, for its site. A row counts while the session that wrote it
-- lives. Unlogged: nothing of it outlives the server.
CREATE UNLOGGED TABLE processing (
    collection text NOT NULL,
    stage text NOT NULL,
    uri text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    process text NOT NULL,             -- host and id of the process
    run text,                          -- Dagster's run
    backend integer NOT NULL,          -- session: its process in the server, with the time of its start
    backend_start timestamptz,
    PRIMARY KEY (collection, stage, uri)
);

-- The nights on which retention looked for old rows: by the clock alone, one that is ahead makes everything old.
CREATE TABLE retention_night (
    night date PRIMARY KEY
);

-- The last comparison of each collection with its sources.
CREATE TABLE freshness (
    collection text PRIMARY KEY REFERENCES collection (name) ON DELETE CASCADE,
    compared_at timestamptz NOT NULL,
    behind_since timestamptz           -- first comparison that found the oldest waiting change; NULL where none waits
) WITH (fillfactor = 50);

-- The folders, stores and uploads with changes that wait to be ingested.
CREATE TABLE waiting_source (
    source_id bigint PRIMARY KEY REFERENCES source (id) ON DELETE CASCADE,
    behind_since timestamptz NOT NULL  -- first comparison that found a change, or the start of a run that left none then
) WITH (fillfactor = 50);

-- Whether a time is due: it is past, or further ahead than the longest wait, as a clock that was wrong has recorded it.
-- Retries and pauses that a site asks for end within 24 hours; an hour more allows for a clock that is a little slow.
CREATE FUNCTION is_due(moment timestamptz, longest interval DEFAULT '24 hours') RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT moment <= now() OR moment > now() + longest + interval '1 hour' $$;

-- Whether the next crawl of a site is due: after its `refresh` in seconds, or after a pause; NULL before the first one.
CREATE FUNCTION crawl_is_due(site source) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT is_due(site.next_crawl_at, interval '24 hours'
        + make_interval(secs => coalesce((site.settings ->> 'refresh')::double precision, 86400)))
$$;

-- The time of the next attempt after an attempt that failed: 1, 2, 4 … minutes later, at most a day; with `at_once` the
-- first retry follows at once. NULL parks the item: after `most` attempts in a row, or after those that the collection's
-- setting `retries.attempts` allows.
CREATE FUNCTION next_retry(of_collection text, attempt integer, most integer DEFAULT NULL, at_once boolean DEFAULT false)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN attempt >= least(most, coalesce(
            (SELECT (settings #>> '{retries,attempts}')::integer FROM sourcebook.collection WHERE name = of_collection), 15))
            THEN NULL
        WHEN at_once AND attempt = 1 THEN now()
        ELSE now() + least(
            interval '1 minute' * power(2, least(attempt - 1 - at_once::integer, 20)), interval '24 hours')
    END
$$;

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

-- Models of providers: the vector of a fixed text shows whether a provider still answers with the same model.
CREATE TABLE provider_model (
    identity text PRIMARY KEY,         -- as generation.model, up to the slash
    model text NOT NULL,               -- the provider's name of it
    settings jsonb NOT NULL,           -- settings that its vectors depend on
    probe real[] NOT NULL,             -- vector of the fixed text, of length 1
    first_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_model_model ON provider_model (model);
-- Requests to providers with limits a minute; a row is deleted a minute after its request has ended.
CREATE TABLE provider_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,            -- address of the server and name of the key's variable
    collection text NOT NULL,
    tokens bigint NOT NULL,            -- the most it can have until the provider has counted them
    taken_at timestamptz NOT NULL,
    ended_at timestamptz               -- NULL while it goes on
);
CREATE INDEX provider_request_provider ON provider_request (provider, ended_at);

-- Let a request begin, or return the seconds until it may. A request counts from its beginning until a minute after its
-- end: the provider has counted it at some moment in between, so that no minute of the provider's holds more.
CREATE FUNCTION take_provider_request(
    of_provider text, of_collection text, wanted bigint,
    requests_limit bigint, tokens_limit bigint, collection_requests_limit bigint, collection_tokens_limit bigint,
    OUT request_id bigint, OUT seconds float8)
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    present timestamptz;
    reserved bigint := least(wanted, tokens_limit, collection_tokens_limit);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('provider ' || of_provider, 0));
    present := clock_timestamp();
    UPDATE provider_request known
    SET taken_at = least(known.taken_at, present), ended_at = least(known.ended_at, present)
    WHERE known.provider = of_provider
      AND (known.taken_at > present OR known.ended_at > present);  -- the clock was set back
    DELETE FROM provider_request known
    WHERE known.provider = of_provider
      AND (known.ended_at < present - interval '1 minute'
           OR known.ended_at IS NULL AND known.taken_at < present - interval '15 minutes');  -- its process was killed
    WITH counted AS (
        SELECT known.id, known.ended_at,
               count(*) OVER latest AS requests, sum(known.tokens) OVER latest AS tokens,
               count(*) FILTER (WHERE known.collection = of_collection) OVER latest AS own_requests,
               coalesce(sum(known.tokens) FILTER (WHERE known.collection = of_collection) OVER latest, 0) AS own_tokens
        FROM provider_request known
        WHERE known.provider = of_provider
        WINDOW latest AS (ORDER BY known.ended_at DESC NULLS FIRST, known.id ROWS UNBOUNDED PRECEDING)
    )
    -- The request has to wait for the latest of the others with which a limit would be passed.
    SELECT CASE WHEN ended_at IS NULL THEN 0.2
                ELSE greatest(extract(epoch FROM ended_at - present) + 60.001, 0.001) END
    INTO seconds
    FROM counted
    WHERE requests + 1 > requests_limit OR tokens + reserved > tokens_limit
       OR own_requests + 1 > collection_requests_limit OR own_tokens + reserved > collection_tokens_limit
    ORDER BY ended_at DESC NULLS FIRST, id
    LIMIT 1;
    IF seconds IS NULL THEN
        seconds := 0;
        INSERT INTO provider_request AS request (provider, collection, tokens, taken_at)
        VALUES (of_provider, of_collection, reserved, present)
        RETURNING request.id INTO request_id;
    END IF;
END
$$;

-- Shards: parts of a collection that several workers bring up to date at once. An item's shard follows from its URI
-- alone, by functions that are evaluated where a collection has several shards: no row is rewritten.

-- The bucket of a URI, from 0 to 4095. Everything of a web host is in one bucket. `bucket_of` in the library agrees.
-- A call costs a microsecond as part of a statement, and fifty of them on its own: so it is one expression, no query, and
-- no more strictly immutable than `convert_to`.
CREATE FUNCTION item_bucket(uri text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ('x' || substr(encode(sha256(convert_to(
    coalesce('//' || lower(substring(uri FROM '^https?://([^/?#]*)')), uri), 'UTF8')), 'hex'), 1, 3))::bit(12)::integer;

-- The item that decides on the shard of an item: an attachment is where its message or archive is.
CREATE FUNCTION root_item(of_collection text, uri text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN EXISTS (SELECT FROM attachment) AND uri !~ '^https?://' THEN coalesce((
    SELECT container.uri
    FROM (SELECT string_to_array(uri, '/') AS parts) AS split
    CROSS JOIN LATERAL generate_series(1, cardinality(parts) - 1) AS place
    JOIN document container
        ON container.collection = of_collection AND container.uri = array_to_string(parts[:place], '/')
    WHERE EXISTS (
        SELECT FROM attachment
        WHERE attachment.container_sha256 = container.content_sha256
          AND attachment.container_parser = container.content_parser
          AND attachment.path = array_to_string(parts[place + 1:], '/'))
    ORDER BY place LIMIT 1), uri) ELSE uri END;

-- The attachments of a collection with the items that decide on their shards, as `root_item` does for one of them.
CREATE FUNCTION attachment_roots(of_collection text) RETURNS TABLE (uri text, root text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT ON (1) container.uri || '/' || attachment.path, container.uri
    FROM attachment
    JOIN document container
        ON container.content_sha256 = attachment.container_sha256
        AND container.content_parser = attachment.container_parser
    WHERE container.collection = of_collection AND container.uri !~ '^https?://'
    ORDER BY 1, length(container.uri)
$$;

-- Settled states of the shards of a collection, by the number of shards that it had. What every shard has settled is
-- the collection's, and its rows here are deleted.
CREATE TABLE shard_state (
    collection text NOT NULL REFERENCES collection (name) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    compared_with text,                -- as collection.compared_with
    checked_at timestamptz,            -- as collection.checked_at
    foreign_mark bigint,               -- newest foreign_change whose consequences were looked for
    PRIMARY KEY (collection, shards, shard)
);

-- Shards whose unmarked documents are published in a generation; see generation.prepared_with.
CREATE TABLE shard_preparation (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    prepared_with text NOT NULL,
    PRIMARY KEY (generation_id, shards, shard)
);

-- Listings of a source by the workers of its shards: each may be on another machine. The source has the oldest time and
-- the first error of them.
CREATE TABLE shard_listing (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    shards integer NOT NULL,
    shard integer NOT NULL,
    listed_at timestamptz,
    error text,
    error_class text,
    PRIMARY KEY (source_id, shards, shard)
);

-- Give a collection another name, in every table with a column `collection` or `collections`. Return false, and change
-- nothing, where one of them has the new name: what is another collection's would become this one's.
CREATE FUNCTION rename_collection(former text, new_name text) RETURNS boolean
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    place record;
    places CONSTANT text := $places$
        SELECT attrelid::regclass AS relation, attname = 'collections' AS is_list
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'sourcebook'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND attname IN ('collection', 'collections')$places$;
    is_taken boolean := EXISTS (SELECT FROM collection WHERE name = new_name);
BEGIN
    FOR place IN EXECUTE places LOOP
        EXIT WHEN is_taken;
        EXECUTE format(CASE WHEN place.is_list THEN 'SELECT EXISTS (SELECT FROM %s WHERE $1 = ANY(collections))'
                            ELSE 'SELECT EXISTS (SELECT FROM %s WHERE collection = $1)' END, place.relation)
            INTO is_taken USING new_name;
    END LOOP;
    IF is_taken THEN
        RETURN false;
    END IF;
    INSERT INTO collection
    SELECT (jsonb_populate_record(held, jsonb_build_object('name', new_name))).* FROM collection held WHERE name = former;
    FOR place IN EXECUTE places LOOP
        EXECUTE format(
            CASE WHEN place.is_list
                 THEN 'UPDATE %s SET collections = array_replace(collections, $1, $2) WHERE $1 = ANY(collections)'
                 ELSE 'UPDATE %s SET collection = $2 WHERE collection = $1' END, place.relation)
            USING former, new_name;
    END LOOP;
    DELETE FROM collection WHERE name = former;
    RETURN true;
END
$$;
