"""The surroundings of every part: the options, a temporary folder, libraries that several parts share."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.corpora.judged_sets import RetrievalSet, read_retrieval_sets
from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.library import COLLECTION, Ingest, Library
from benchmarks.harness.report import say
from sourcebook.embedding.weights import BUNDLED_NAME

GROWING = "growing"
"""Name of the collection that is ingested while the judged ones are searched."""


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    files: int = 2_000
    small_files: int = 100
    many_files: int = 20_000
    sizes: tuple[int, ...] = ()
    """Files of further libraries for `edit`, `delete` and `unchanged`; the largest one serves `growth`."""
    chunks: int = 8_000
    site_pages: int = 1_000
    repeat: int = 3
    corpus: Path | None = None
    """A folder of documents to use in place of generated ones."""
    pages: Path | None = None
    """A folder of HTML pages to use in place of generated ones."""
    documentations: tuple[str, ...] = ()
    """Names of the documentations to crawl; all of them where it is empty."""
    packages: Path | None = None
    """A folder of their .deb files to use in place of fetched ones."""
    retrieval: Path | None = None
    """A folder that holds `scifact/`, `cranfield/`, `xquad/`."""
    documents: Path | None = None
    """A folder of documents with expected Markdown."""
    pdfs: Path | None = None
    """A folder for the packages of the library of PDFs, which is then read, too."""
    mutations: int = 0
    """Damaged files of all formats that are read, too."""
    quick: bool = False
    """Parse each document once, and leave memory out."""
    field: str = "min_relevance"
    """Field of a search whose lines `contract` counts."""
    operation: str = "remove_document"
    """Method of `KnowledgeBase` whose places `contract` counts."""
    number: int = 10_000
    """Records of the export of `records`."""
    worlds: int = 200
    """Random worlds of `permissions`."""
    limit: int | None = None
    """Most documents of each judged set."""
    entries: int = 100_000
    """Passages of the larger set that searches are measured over."""
    kills: int = 200
    minutes: float = 10.0
    """Minutes of the load of `everything`."""
    seconds: float = 300.0
    """Seconds in which `shards` kills a worker every 20 seconds."""
    cases: int = 10_000
    """Requests of `fuzz`, at least."""
    seed: int = 20_260_801
    """Seed of the moments of `kills`, and of the first run of `fuzz`."""
    diagram: Path | None = None
    """File for the reliability diagram of `relevance`, or the picture of growth of `million`."""
    keep: Path | None = None
    """Folder in which `million` keeps its libraries for the next run."""
    beside: Path | None = None
    """Another checkout, whose first ingest `firstanswer` compares with."""
    full: bool = False
    """Ingest `many_files` files for the row of peak memory, too."""


@dataclass(eq=False)
class Bench:
    """A run of the benchmark. As a context manager it stops its servers and deletes its files."""

    options: Options
    first_ingests: list[Ingest] = field(default_factory=list)
    """Every first ingest of `options.files` files in this run."""
    _libraries: list[Library] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="sourcebook-benchmark-"))
        self.folder.chmod(0o755)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for library in self._libraries:
            library.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def library(
        self,
        name: str,
        *,
        precision: str = "auto",
        collections: Sequence[str] = (COLLECTION,),
        model: str = BUNDLED_NAME,
    ) -> Library:
        """Make an empty library."""
        library = Library.make(self.folder / name, precision=precision, collections=collections, model=model)
        self._libraries.append(library)
        return library

    def filled(self, name: str, *, files: int | None = None, precision: str = "auto") -> Library:
        """Make a library of the corpus: `files` generated files, or the folder of --corpus."""
        library = self.library(name, precision=precision)
        if self.options.corpus is not None and files is None:
            shutil.copytree(self.options.corpus, library.files, dirs_exist_ok=True)
        else:
            write_corpus(library.files, files or self.options.files)
        return library

    def drop(self, library: Library) -> None:
        """Stop a library's server and delete it."""
        library.stop()
        self._libraries.remove(library)
        shutil.rmtree(library.folder)

    @cached_property
    def ingested(self) -> Library:
        """A library of `options.files` files that is up to date, for the parts that change little in it."""
        library = self.filled("ingested")
        say(f"  first ingest of {len(library.paths()):,} files, for several parts …")
        self.first_ingests.append(library.ingest())
        return library

    @cached_property
    def retrieval_sets(self) -> dict[str, RetrievalSet]:
        """Judged sets by the names of their collections; none without --retrieval."""
        if self.options.retrieval is None:
            return {}
        return read_retrieval_sets(self.options.retrieval, self.options.limit)

    @property
    def retrieval_set(self) -> RetrievalSet | None:
        """SciFact, where it is one of the judged sets."""
        return self.retrieval_sets.get("scifact")

    @cached_property
    def retrieval_library(self) -> Library:
        """A library with each judged set as a collection that is up to date; only where there are sets."""
        sets = self.retrieval_sets
        assert sets, "there is no folder of judged sets"
        library = self.library("retrieval", collections=[*sets, GROWING])
        for name, judged in sets.items():
            judged.write(library.files_of(name))
        say(f"  first ingest of {', '.join(f'{name} ({len(known.documents):,})' for name, known in sets.items())} …")
        say(f"    {library.ingest(*sets).measurement.seconds:.0f} s")
        return library
