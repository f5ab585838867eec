from pathlib import Path

from benchmarks.corpora.large_library import mixed_texts
from benchmarks.harness.bench import Bench, Options
from benchmarks.harness.library import COLLECTION, Library


def test_each_collection_of_a_library_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """What is measured on one is not searched in another."""
    library = Library.make(tmp_path / "two", collections=("first", "second"))
    roots = {name: settings.files[0].root for name, settings in library.configuration.collections.items()}
    assert {name: (library.folder / root).resolve() for name, root in roots.items()} == {
        name: library.files_of(name).resolve() for name in ("first", "second")
    }
    assert library.files_of("first").is_dir()
    assert library.ingest_command("second")[-1] == "second"


def test_a_library_has_one_collection_unless_more_are_named(tmp_path: Path) -> None:
    """Its files lie where the parts with one collection write them."""
    library = Library.make(tmp_path / "one")
    assert list(library.configuration.collections) == [COLLECTION]
    assert library.files_of(COLLECTION) == library.files


def test_mixed_texts_are_the_same_in_every_run_and_differ_from_each_other() -> None:
    """A shorter collection holds the beginning of a longer one."""
    bench = Bench(Options())
    texts = mixed_texts(bench, 40)
    assert texts[:10] == mixed_texts(bench, 10)
    assert len(set(texts)) == 40
