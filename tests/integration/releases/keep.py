"""Keep what a release leaves on disks: its schema, and an export of a small library.

python -m tests.integration.releases.keep 0.1.0
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sourcebook.database.schema import migrations, schema_text

LIBRARY = {
    "gauge.md": "---\ntags: [checked]\n---\n# Tide gauge\n\nThe gauge is read twice a day.\n",
    "pegel.md": "# Der Pegel\n\nDie Häuser am Pegel stehen seit hundert Jahren.\n",
}
CONFIGURATION = """\
collections:
  handbook:
    files:
      - root: ./documents
        tags: [sea]
    embedding:
      model: all-MiniLM-L6-v2
"""


def keep(version: str) -> None:
    """Write the files of a release in the folder of its version."""
    kept = Path(__file__).parent / version
    kept.mkdir(exist_ok=True)
    rows = ", ".join(f"({migration.version}, '{migration.name}')" for migration in migrations())
    versions = f"INSERT INTO schema_migration (version, name) VALUES {rows};\n"
    (kept / "schema.sql").write_text(f"{schema_text()}\n{versions}", encoding="utf-8")
    shutil.rmtree(kept / "export", ignore_errors=True)
    with TemporaryDirectory() as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for name, text in LIBRARY.items():
            (documents / name).write_text(text, encoding="utf-8")
        Path(folder, "sourcebook.yaml").write_text(CONFIGURATION, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SOURCEBOOK_")}
        export = ["export", str(kept / "export"), "--format", "parquet"]
        for words in (["ingest"], ["judge", "gauge", "gauge.md"], export):
            command = [sys.executable, "-c", "from sourcebook.command import main; main()", *words]
            subprocess.run(command, cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    keep(sys.argv[1])
