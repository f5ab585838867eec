"""The child's side of a pool."""

import colorsys
import sys

import pytest

from sourcebook.processes.child import defer_function, end_deferral, hide_packages


def test_a_deferred_function_imports_its_module_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name can be imported at once; other names of the module are the module's own."""
    monkeypatch.delitem(sys.modules, "colorsys")
    defer_function("colorsys", "rgb_to_hsv")
    stub = sys.modules["colorsys"]
    from colorsys import rgb_to_hsv

    assert sys.modules["colorsys"] is stub
    assert rgb_to_hsv(0.5, 0.5, 0.5) == colorsys.rgb_to_hsv(0.5, 0.5, 0.5)
    assert sys.modules["colorsys"] is not stub
    assert vars(stub)["__getattr__"]("hsv_to_rgb")(0, 0, 0.5) == (0.5, 0.5, 0.5)
    with pytest.raises(AttributeError):
        vars(stub)["__getattr__"]("__path__")


def test_a_module_that_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sys.modules["colorsys"]
    defer_function("colorsys", "rgb_to_hsv")
    assert sys.modules["colorsys"] is before
    monkeypatch.setitem(sys.modules, "no_such_package", None)
    hide_packages("no_such_package", "colorsys")
    assert sys.modules["colorsys"] is before


def test_an_ended_deferral_leaves_the_module_to_later_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that were imported before still work; a module that is no stand-in stays."""
    monkeypatch.delitem(sys.modules, "colorsys")
    defer_function("colorsys", "rgb_to_hsv")
    from colorsys import rgb_to_hsv

    end_deferral("colorsys")
    assert "colorsys" not in sys.modules
    assert rgb_to_hsv(0.5, 0.5, 0.5) == colorsys.rgb_to_hsv(0.5, 0.5, 0.5)
    imported = sys.modules["colorsys"]
    end_deferral("colorsys")
    assert sys.modules["colorsys"] is imported
