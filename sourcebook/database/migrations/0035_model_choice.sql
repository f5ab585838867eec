-- The embedding model that was chosen for a collection whose settings name none.
ALTER TABLE collection ADD COLUMN model_choice jsonb;
