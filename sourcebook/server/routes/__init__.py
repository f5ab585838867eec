"""The routes of the REST API, a module for each kind of resource.

A number in a path is of the type `number`: an address whose part is none names nothing, so that names such as `lookup`
may stand there.
"""

from typing import ClassVar

from starlette.convertors import Convertor, register_url_convertor


class _Number(Convertor[int]):
    """Whole numbers that the database can be asked for."""

    regex: ClassVar[str] = "-?[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())  # as in `/{document:number}`
