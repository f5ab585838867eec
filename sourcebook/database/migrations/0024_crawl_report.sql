-- The report of a crawl: which rule refused a URL, and how long its response took; lists are claimed beside pages.

ALTER TABLE frontier ADD COLUMN rule text;
ALTER TABLE frontier ADD COLUMN seconds real;
CREATE INDEX frontier_lists ON frontier (source_id, depth DESC, id) WHERE state = 'queued' AND role <> 'page';
