"""Versions in names of files and titles."""

import pytest

from sourcebook.model.version_names import version_name, version_of


@pytest.mark.parametrize(
    ("name", "base", "label", "is_said"),
    [
        ("contract_v1.md", "contract", "v1", True),
        ("Contract v2.1 FINAL.docx", "contract", "v2.1 final", True),
        ("policy_v1_2.md", "policy", "v1.2", True),
        ("contract_v1_2024-03-01.md", "contract", "v1 2024-03-01", False),
        ("supply_contract_rev-b.pdf", "supply-contract", "rev-b", True),
        ("contract-2024-03.pdf", "contract", "2024-03", False),
        ("contract-01.03.2024.pdf", "contract", "01.03.2024", False),
        ("contract (2).docx", "contract", "2", False),
        ("Copy of policy.docx", "policy", "copy-of", False),
        ("Travel policy (version 3)", "travel-policy", "version-3", True),
        ("Договор версия 2.docx", "договор", "версия-2", True),
        ("Vertrag Entwurf.odt", "vertrag", "entwurf", True),
        ("v1.md", "", "v1", True),
        ("new hires.md", "hires", "new", False),
        ("vendor.md", "vendor", "", True),
        ("RFC-2119.txt", "rfc-2119", "", True),
        ("3-phase-motors.md", "3-phase-motors", "", True),
    ],
)
def test_marks_are_told_from_the_name(name: str, base: str, label: str, is_said: bool) -> None:
    found = version_name(name)
    assert (found.base, found.label, found.is_said) == (base, label, is_said)


def test_versions_are_in_their_order() -> None:
    for names in (
        ["lease_v1.md", "lease_v2.md", "lease_v2.1.md", "lease_v10.md"],
        ["lease draft.md", "lease revised.md", "lease final.md"],
        ["lease-2023.md", "lease-2024-01.md", "lease-2024-02-11.md", "lease 01.03.2024.md"],
    ):
        assert sorted(names, key=lambda name: version_name(name).order) == names


def test_versions_of_one_thing_stand_in_one_place() -> None:
    """Folders may say the version, too; those of years say nothing of their own: other minutes are in each."""
    one, other = version_of("file:///a/v1/contract.md"), version_of("file:///a/v2/contract.md")
    assert one.base == other.base
    assert (one.label, other.label, one.is_said) == ("v1", "v2", True)
    assert version_of("file:///a/archive/contract.md").base == version_of("file:///a/contract.md").base
    assert not version_of("file:///a/2023/minutes.md").is_said
    assert version_of("file:///a/ships/contract.md").base != version_of("file:///a/boats/contract.md").base
