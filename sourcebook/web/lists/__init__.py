"""Lists of a site's URLs: sitemaps and llms.txt."""
