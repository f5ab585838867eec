"""What a killed export leaves beside its place is deleted by the next one, and nothing else is."""

import os
import subprocess
import sys
from pathlib import Path

from sourcebook.transfer.export_place import partial_folder, remove_abandoned
from tests.checkout import CHECKOUT

_WRITER = """\
import sys
from pathlib import Path
from sourcebook.transfer.export_place import partial_folder
with partial_folder(Path(sys.argv[1])) as folder:
    (folder / "SHA256SUMS").write_text("")
    print(folder.name, flush=True)
    sys.stdin.read()
"""


def test_the_folder_of_a_killed_export_is_deleted_once_its_process_has_ended(tmp_path: Path) -> None:
    target = tmp_path / "export"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(target)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        name = writer.stdout.readline().strip()
        remove_abandoned(target)
        assert [path.name for path in tmp_path.iterdir()] == [name], "its process lives"
        writer.kill()
        writer.wait()
        remove_abandoned(target)
    assert not list(tmp_path.iterdir())


def test_folders_of_others_stay(tmp_path: Path) -> None:
    """Those of other exports and of other programs, links, and the one of this moment."""
    target = tmp_path / "export"
    for name in (".other.new-abcdefgh", ".export.new-abcdefghi", "export.new-abcdefgh"):
        (tmp_path / name).mkdir()
    (tmp_path / ".export.new-00000000").mkdir()
    (tmp_path / ".export.new-00000000" / "notes.txt").write_text("mine")
    (tmp_path / ".export.new-11111111").symlink_to(tmp_path / ".other.new-abcdefgh")
    before = {path.name for path in tmp_path.iterdir()}
    with partial_folder(target) as folder:
        remove_abandoned(target)
        assert {path.name for path in tmp_path.iterdir()} == {*before, folder.name}
    assert {path.name for path in tmp_path.iterdir()} == before
