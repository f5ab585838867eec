"""Templates of records: what they render, and what they may cost."""

import pytest

from sourcebook.errors import ConfigurationError, ParseError
from sourcebook.records.template import RecordTemplate


def test_loops_and_conditions_over_nested_fields() -> None:
    """A list of comments becomes lines; a field that is NULL is an empty list."""
    template = RecordTemplate("{{ body }}{% for each in comments %}\n- {{ each.by }}: {{ each.text }}{% endfor %}")
    comments = [{"by": "Ada", "text": "high"}, {"by": "Bob", "text": "low"}]
    assert template.render({"body": "Tides", "comments": comments}) == "Tides\n- Ada: high\n- Bob: low"
    assert template.render({"body": "Tides", "comments": None}) == "Tides"
    loop = RecordTemplate("{% for a in items %}{{ a }}{% if not loop.last %}, {% endif %}{% endfor %}")
    assert loop.render({"items": [1, 2, 3]}) == "1, 2, 3"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "rounds"),
        ("{% for a in c %}{% for b in c %}{% for d in c %}{% endfor %}{% endfor %}{% endfor %}", "rounds"),
        ("{% for a in range(1000000000) %}{% endfor %}", "too big"),
        ("{{ 'a' * 1000000000 }}", "too long"),
        ("{{ 10 ** 9 ** 9 }}", "too large"),
        ("{{ '%1000000000d' % 1 }}", "formats by %"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ nothing.at.all }}", "undefined"),
    ],
)
def test_a_record_whose_template_is_too_much_fails(source: str, reason: str) -> None:
    """Loops, products, powers and private attributes end in an error of that record, in no time to speak of."""
    with pytest.raises(ParseError, match=reason):
        RecordTemplate(source).render({"c": list(range(1000))})


def test_a_template_that_cannot_be_read_is_a_mistake_of_the_settings() -> None:
    with pytest.raises(ConfigurationError, match="template of records cannot be read"):
        RecordTemplate("{% for %}")
