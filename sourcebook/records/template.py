"""Templates of records: Jinja's sandbox, with bounds for loops and texts."""

from typing import Any, Final

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sourcebook.errors import ConfigurationError, FailureClass, ParseError

MOST_STEPS: Final = 1_000_000
"""Rounds of all loops of one record."""
MOST_CHARACTERS: Final = 200_000_000
_COUNTED: Final = "counted by sourcebook"


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox in which the rounds of all loops are counted, and no product makes a text or number of any size."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(autoescape=False, keep_trailing_newline=True)
        self.steps = 0
        del self.globals["lipsum"]  # texts of any length
        self.filters[_COUNTED] = self._counted

    def _counted(self, values: Any) -> Any:
        for value in () if values is None else values:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise SecurityError(f"its loops take more than {MOST_STEPS:,} rounds")
            yield value

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        are_numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator == "**" and are_numbers and (abs(right) > 64 or abs(left) > 1e6):
            raise SecurityError("its power is too large")
        if operator == "*" and not are_numbers:
            text, number = (left, right) if hasattr(left, "__len__") else (right, left)
            if not hasattr(text, "__len__") or len(text) * int(number) > MOST_STEPS:
                raise SecurityError("its product is too long")
        if operator == "%" and isinstance(left, str):
            raise SecurityError("it formats by %; write ~ between the parts")
        return super().call_binop(context, operator, left, right)


class RecordTemplate:
    """A template over the fields of a record.

    Raises:
        ConfigurationError: it is no template.
    """

    def __init__(self, source: str) -> None:
        self._environment = _Environment()
        try:
            tree = self._environment.parse(source)
            for loop in tree.find_all(nodes.For):
                loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
            code = self._environment.compile(tree)
        except TemplateError as error:
            raise ConfigurationError(f"the template of records cannot be read: {error}") from error
        self._template = self._environment.template_class.from_code(
            self._environment, code, self._environment.make_globals(None)
        )

    def render(self, fields: dict[str, Any]) -> str:
        """Return the text of a record.

        Raises:
            ParseError: a field is missing in an expression that needs it, or the template takes too long.
        """
        self._environment.steps = 0
        written: list[str] = []
        size = 0
        try:
            for part in self._template.generate(fields):
                size += len(part)
                if size > MOST_CHARACTERS:
                    break
                written.append(part)
        except Exception as error:  # an expression over the fields may raise anything
            said = str(error) or type(error).__name__
            raise ParseError(f"the template fails: {said}", FailureClass.CORRUPT) from error
        if size > MOST_CHARACTERS:
            raise ParseError(f"its text has more than {MOST_CHARACTERS:,} characters", FailureClass.TOO_LARGE)
        return "".join(written)
