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
