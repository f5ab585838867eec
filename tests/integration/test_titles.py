"""Titles of documents without one, and the anchors of documentation tools, as a search gives them."""

from tests.integration.stages import Stages

PAGE = '# Path parameters { #params }\n\n!!! tip "Mind the lamp"\n\n    Trim its wick.\n'


def test_names_with_signs_are_titles_and_are_found_by_their_words(stages: Stages) -> None:
    """A renamed file, too; a page cites the id that its heading is given."""
    stages.write("_auth.py", "def check() -> bool:\n    return True\n")
    stages.write("uv.lock", "version = 1\n")
    stages.write("tide_tables-2024.txt", "High water at noon.\n")
    stages.write("guide.md", PAGE)
    stages.configure()
    stages.run()
    titles = {name: stages.document(name)["title"] for name in ("_auth.py", "uv.lock", "tide_tables-2024.txt")}
    assert titles == {"_auth.py": "_auth.py", "uv.lock": "uv.lock", "tide_tables-2024.txt": "tide tables-2024"}
    for word, name in {
        "auth": "_auth.py",
        "_auth.py": "_auth.py",
        "uv": "uv.lock",
        "tables": "tide_tables-2024.txt",
    }.items():
        assert stages.found(word) == {name}, word
    (page,) = stages.search("wick", mode="keyword")
    assert page.anchor == "params"
    assert page.text.startswith("# Path parameters\n\n**Mind the lamp**")
    (stages.root / "_auth.py").rename(stages.root / "__sign_in__.py")
    stages.run()
    assert stages.document("__sign_in__.py")["title"] == "__sign_in__.py"
    assert stages.found("sign") == {"__sign_in__.py"}
    assert stages.found("auth") == set()
