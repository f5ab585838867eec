-- Requests that ended in the future, by a clock that has been set back since, have ended now.
CREATE OR REPLACE FUNCTION take_provider_request(
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
