"""Membership rules in sourcebook.yaml: what they take, and which mistakes are named."""

from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.membership import TakenDocuments, in_order
from sourcebook.errors import ConfigurationError

HANDBOOK = "collections:\n  handbook: {files: [{root: ./docs}]}\n"


def taken(path: Path, rules: str) -> tuple[TakenDocuments, ...]:
    file = path / "sourcebook.yaml"
    file.write_text(f"{HANDBOOK}  reports: {{files: [{{root: ./reports}}]}}\n  policies: {{from: {rules}}}\n")
    return load_configuration(file).collections["policies"].taken


def test_from_is_one_rule_or_a_list_of_rules(tmp_path: Path) -> None:
    (rule,) = taken(tmp_path, "{collection: handbook, tags: [policy, policy, hr], tags_all: [signed]}")
    assert (rule.collection, rule.tags, rule.tags_all) == ("handbook", ("policy", "hr"), ("signed",))
    assert taken(tmp_path, "[{collection: handbook, tags: [policy]}, {collection: reports}]") == (
        TakenDocuments(collection="handbook", tags=("policy",)),
        TakenDocuments(collection="reports"),
    )


def test_a_collection_may_have_files_and_rules(tmp_path: Path) -> None:
    file = tmp_path / "sourcebook.yaml"
    file.write_text(f"{HANDBOOK}  policies: {{files: [{{root: ./more}}], from: {{collection: handbook}}}}\n")
    found = load_configuration(file)
    assert len(found.collections["policies"].files) == 1
    assert found.givers == {"handbook": [], "policies": ["handbook"]}


@pytest.mark.parametrize(
    ("rules", "parts"),
    [
        ("{collection: handbok}", ["line 4, column 33", "policies.from.collection: found 'handbok'", "mean handbook?"]),
        ("[{collection: zzz}]", ["policies.from[0].collection", "no such collection; there is handbook, reports"]),
        ("{collection: policies}", ["a collection does not take its own documents", "another collection of this file"]),
        ("{tags: [a]}", ["collections.policies.from: the key collection is missing"]),
        ("{collection: handbook, tgas: [a]}", ["policies.from.tgas: there is no such key (did you mean tags?)"]),
        ("{collection: handbook, tags: []}", ["policies.from.tags: found an empty list", "left out: any document"]),
        ("{collection: handbook, tags: [2024]}", ["policies.from.tags[0]: found 2024"]),
        ("handbook", ["policies.from: found 'handbook'", "{collection: handbook, tags: [policy]}"]),
        ("[]", ["found neither files nor sites nor repositories nor records nor from", "from, a rule such as"]),
        (
            "[{collection: handbook, tags: [a]}, {collection: handbook, tags: [b]}]",
            ["policies.from[1].collection", "from[0] takes documents of handbook already: list the tags there"],
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(tmp_path: Path, rules: str, parts: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        taken(tmp_path, rules)
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)


@pytest.mark.parametrize("length", [2, 3, 20])
def test_a_circle_is_refused(tmp_path: Path, length: int) -> None:
    names = [f"c{number}" for number in range(length)]
    rules = [f"  {name}: {{from: {{collection: {names[number - 1]}}}}}\n" for number, name in enumerate(names)]
    (tmp_path / "sourcebook.yaml").write_text("collections:\n  free: {from: {collection: c0}}\n" + "".join(rules))
    with pytest.raises(ConfigurationError, match=f"line 3.*a circle: c0 takes from c{length - 1} takes .*c0"):
        load_configuration(tmp_path / "sourcebook.yaml")


def test_a_collection_comes_after_those_that_it_takes_from() -> None:
    givers = {"a": ["c", "b"], "b": ["d"], "c": [], "d": ["c"], "e": []}
    assert in_order("abcde", givers) == ["c", "d", "b", "a", "e"]
    assert in_order("ab", givers) == ["b", "a"]
    assert in_order(["e", "c", "e"], {}) == ["e", "c"]
    assert in_order(["a", "c"], givers) == ["c", "a"]
