-- Files of a folder in a Git checkout have links into the web view of its remote.
ALTER TABLE source ADD COLUMN web_view jsonb;

\schema web_link
