"""The catalogs of a knowledge base that was just made: one sorted line for each object of its schema."""

from pathlib import Path

from typer.testing import CliRunner

from sourcebook import KnowledgeBase
from sourcebook.command.app import app
from tests.surface.scratch import public_folder

_CATALOGS = {
    "relations": """
        SELECT relname, relkind, relpersistence, pg_get_partkeydef(pg_class.oid), reloptions,
               pg_get_expr(relpartbound, pg_class.oid)
        FROM pg_class WHERE relnamespace = 'sourcebook'::regnamespace AND relkind NOT IN ('i', 'I')""",
    "columns": """
        SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
               attgenerated, attstorage, attcompression, attcollation::regcollation::text, pg_get_expr(adbin, adrelid)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'sourcebook'::regnamespace AND relkind NOT IN ('i', 'I') AND attnum > 0
          AND NOT attisdropped""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype, condeferrable, convalidated, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'sourcebook'::regnamespace""",
    "indexes": """
        SELECT indrelid::regclass::text, indisunique, indisvalid, pg_get_indexdef(indexrelid)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'sourcebook'::regnamespace""",
    "views": "SELECT viewname, md5(definition) FROM pg_views WHERE schemaname = 'sourcebook'",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_function_result(oid), provolatile, prosecdef, proparallel, proconfig,
               md5(prosrc)
        FROM pg_proc WHERE pronamespace = 'sourcebook'::regnamespace AND prokind <> 'a'""",
    "aggregates": """
        SELECT aggfnoid::regprocedure::text, aggtransfn::text, aggtranstype::regtype::text, agginitval
        FROM pg_aggregate JOIN pg_proc ON pg_proc.oid = aggfnoid WHERE pronamespace = 'sourcebook'::regnamespace""",
    "triggers": "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "types": "SELECT typname, typtype FROM pg_type WHERE typnamespace = 'sourcebook'::regnamespace AND typtype <> 'c'",
    "extensions": "SELECT extname, extnamespace::regnamespace::text FROM pg_extension",
}


def files() -> dict[str, str]:
    """Return each catalog of a knowledge base that one empty collection was recorded in."""
    with public_folder() as folder:
        home = folder / "home"
        configuration = folder / "sourcebook.yaml"
        Path(folder / "docs").mkdir()
        configuration.write_text("collections:\n  handbook:\n    files: [{root: ./docs}]\n", encoding="utf-8")
        result = CliRunner().invoke(app, ["--config", str(configuration), "apply"], env={"SOURCEBOOK_HOME": str(home)})
        assert result.exit_code == 0, result.output
        found = {}
        with KnowledgeBase.connect(home=home) as knowledge, knowledge.database.connection() as connection:
            connection.execute("SET search_path TO pg_catalog")  # so that every name stands with its schema
            for name, query in _CATALOGS.items():
                rows = connection.execute(query.encode()).fetchall()
                lines = sorted(" | ".join("" if value is None else str(value) for value in row) for row in rows)
                found[f"{name}.txt"] = "".join(f"{line}\n" for line in lines)
        return found
