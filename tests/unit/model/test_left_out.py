"""Counts of what a document's text leaves out."""

from sourcebook.model.left_out import left_out_counts, with_left_out


def test_counts_of_one_kind_are_added_and_other_facts_stay() -> None:
    first = with_left_out({"title": "Quay", "left_out": {"rows": 2}}, {"pictures": 3, "frames": 0})
    second = with_left_out(first, {"pictures": 2, "formulas": 1})
    assert second == {"title": "Quay", "left_out": {"rows": 2, "pictures": 5, "formulas": 1}}
    assert left_out_counts(second) == {"pictures": 5, "formulas": 1}
    assert with_left_out({"title": "Quay"}, {"pictures": 0}) == {"title": "Quay"}
