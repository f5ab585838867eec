"""The stage `documents`: parse files, crawled pages and transcripts into documents; see `update`."""
