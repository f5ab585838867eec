-- Make the database of the last checkout before the first release (58 migrations) one of 0.1.0. Its settings follow in
-- database/schema.py.

DROP FUNCTION sourcebook.follow_search_entries() CASCADE;
DROP FUNCTION sourcebook.items_in(text, text[]);
DROP VIEW sourcebook.live_item, sourcebook.present_item;
DELETE FROM sourcebook.schema_migration;

\schema items_in count_entries count_lexemes count_configurations delete_weights insert_weights count_texts
\schema added_1_entries added_2_lexemes added_3_configurations added_4_weights added_5_texts gone_1_entries
\schema gone_2_lexemes gone_3_configurations gone_4_weights gone_5_texts updated_1_entries_gone
\schema updated_2_entries_added updated_3_lexemes_gone updated_4_lexemes_added updated_5_configurations_gone
\schema updated_6_configurations_added updated_7_weights_gone updated_8_weights_added
