"""What names the URLs of a site: sitemaps and llms.txt."""
