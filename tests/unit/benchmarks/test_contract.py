"""Lines and places that name something are counted without comments and docstrings."""

from benchmarks.parts.contract import naming_lines, naming_places

CODE = '''\
"""Removal: remove_document."""
from commands import remove

TABLE = {"remove_document": 1}


class Base:
    def remove_document(self) -> None:
        """See `remove_document`."""
        self.remove_document()  # remove_document


@route(operation_id="remove_document")
def gone(option="--remove-document", removed=()) -> None:
    removed.remove(1)
    a = """
    remove_document
    """


def other(numbers) -> None:
    numbers.remove(remove_documents)
'''


def test_a_line_counts_once_and_documentation_does_not() -> None:
    assert naming_lines(CODE, {"remove_document"}) == [4, 8, 10, 13, 14, 17]


def test_a_place_is_a_function_or_the_top_level() -> None:
    assert naming_places(CODE, {"remove_document"}, "remove") == ["top level", "remove_document", "gone"]
