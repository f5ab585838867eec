"""Documents whose values the database refuses, or cannot hold: each fails alone, or is cleaned."""

from tests.integration.stages import Stages

RTF = rb"{\rtf1\ansi \trowd\cellx1000 \u0 ?Lower\cell\row\pard x\par}"


def test_a_nul_in_a_file_stops_nothing(stages: Stages) -> None:
    stages.write("a.md", "The flag is green.")
    stages.write("b.rtf", RTF)
    stages.write("c.md", "The flag is white.")
    stages.configure()
    stages.run()
    assert stages.found("flag") == {"a.md", "c.md"}
    assert stages.found("lower") == {"b.rtf"}
