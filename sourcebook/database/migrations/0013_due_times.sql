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
