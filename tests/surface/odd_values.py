"""Odd values that options are given, and what operations need beside them."""

import math
from typing import Any

ACCEPTED = "accepted"
VALUES: tuple[Any, ...] = (
    None,
    True,
    "x",
    "",
    " ",
    "x" * 100_001,
    0,
    -1,
    1.5,
    math.nan,
    10**9,
    [],
    [""],
    [0],
    {},
    {"x": 1},
)
"""Odd values for the library."""
JSON_VALUES = tuple(value for value in VALUES if not (isinstance(value, float) and math.isnan(value)))
"""Odd values for what takes JSON."""
WORDS = ("x", "", " ", "0", "-1", "1.5", "nan", "1000000000")
"""Odd values for parameters of addresses, and for options of commands."""
NEEDED = {
    "query": "tide",
    "question": "tide",
    "document": 1,
    "collection": "handbook",
    "name": "handbook",
    "settings": {},
    "kind": "files",
    "source": {"root": "./docs"},
    "location": "./docs",
    "texts": ["tide"],
    "number": 1,
    "page": 1,
    "content": b"tide",
}
"""Values of arguments that an operation needs."""
FILTERS = (
    {"colour": "red"},
    {"kinds": ["novel"]},
    {"kinds": 3},
    {"languages": 3},
    {"tags_any": [3]},
    {"date": "soon"},
    {"date": {"from": "2024-01-01"}},
    {"date": {">=": "soon"}},
    {"documents": [1.5]},
    {"uri_prefix": 3},
    {"metadata": "x"},
    {"metadata": {"": 1}},
    {"paths": [""]},
    {"extensions": [3]},
    {"domains": [3]},
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "filters": FILTERS,
    "fusion": ({"method": "psychic"}, {"vector": -1}, {"k": 0}, {"depth": 1}, {"vector": 0, "keyword": 0}),
    "rerank": ({"model": ""}, {"model": "x", "top": 0}, {"model": "x", "timeout": 0}),
    "literal": ("yes", 1),
    "generation": (2**63, [-1], [True]),
    "expand": (["novel"], "references"),
}
"""Values that say more of some options than the odd ones do."""
READING_COMMANDS = (
    *("search", "context", "similar", "ask", "related", "documents", "show", "status", "queries", "usage", "llm-log"),
    *("permissions", "generations", "requests", "plan", "uploads", "judge"),
)
"""Commands whose options are tried: without a database they change nothing."""
