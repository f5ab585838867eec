-- Collections of the API take another name.
-- Give a collection another name, in every table with a column `collection` or `collections`. Return false, and change
-- nothing, where one of them has the new name: what is another collection's would become this one's.
CREATE FUNCTION rename_collection(former text, new_name text) RETURNS boolean
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    place record;
    places CONSTANT text := $places$
        SELECT attrelid::regclass AS relation, attname = 'collections' AS is_list
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'sourcebook'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND attname IN ('collection', 'collections')$places$;
    is_taken boolean := EXISTS (SELECT FROM collection WHERE name = new_name);
BEGIN
    FOR place IN EXECUTE places LOOP
        EXIT WHEN is_taken;
        EXECUTE format(CASE WHEN place.is_list THEN 'SELECT EXISTS (SELECT FROM %s WHERE $1 = ANY(collections))'
                            ELSE 'SELECT EXISTS (SELECT FROM %s WHERE collection = $1)' END, place.relation)
            INTO is_taken USING new_name;
    END LOOP;
    IF is_taken THEN
        RETURN false;
    END IF;
    INSERT INTO collection
    SELECT (jsonb_populate_record(held, jsonb_build_object('name', new_name))).* FROM collection held WHERE name = former;
    FOR place IN EXECUTE places LOOP
        EXECUTE format(
            CASE WHEN place.is_list
                 THEN 'UPDATE %s SET collections = array_replace(collections, $1, $2) WHERE $1 = ANY(collections)'
                 ELSE 'UPDATE %s SET collection = $2 WHERE collection = $1' END, place.relation)
            USING former, new_name;
    END LOOP;
    DELETE FROM collection WHERE name = former;
    RETURN true;
END
$$;
