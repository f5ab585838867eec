"""Abbreviations that texts explain, in the ways and languages in which people do."""

import pytest

from sourcebook.stages.relations.abbreviations import abbreviations_of

EXPLAINED = [
    ("The Harbour Safety Board (HSB) met.", "HSB", "Harbour Safety Board"),
    ("HSB (Harbour Safety Board) met.", "HSB", "Harbour Safety Board"),
    ("The HSB, the Harbour Safety Board, met.", "HSB", "Harbour Safety Board"),
    ("The Harbour Safety Board, or HSB, met.", "HSB", "Harbour Safety Board"),
    ("HSB stands for Harbour Safety Board.", "HSB", "Harbour Safety Board"),
    ("| HSB | Harbour Safety Board |", "HSB", "Harbour Safety Board"),
    ("- **HSB**: Harbour Safety Board\n", "HSB", "Harbour Safety Board"),
    ("The **Harbour Safety Board** (**HSB**) met.", "HSB", "Harbour Safety Board"),
    ("See [Harbour Safety Board](a.md) ([HSB](b.md)).", "HSB", "Harbour Safety Board"),
    ("Harbour Safety Board (HSB, since 1990)", "HSB", "Harbour Safety Board"),
    ("tide gauge stations (TGSs) of the coast", "TGS", "tide gauge stations"),
    ("messenger RNA (mRNA)", "mRNA", "messenger RNA"),
    ("research and development (R&D)", "R&D", "research and development"),
    ("der Trans-Aktivator der Transkription (TAT)", "TAT", "Trans-Aktivator der Transkription"),
    ("Die Straßenverkehrs-Ordnung (StVO) gilt.", "StVO", "Straßenverkehrs-Ordnung"),
    ("Das Bundesimmissionsschutzgesetz (BImSchG) gilt.", "BImSchG", "Bundesimmissionsschutzgesetz"),
    ("Die Bundesanstalt für Gewässerkunde, kurz BfG, misst.", "BfG", "Bundesanstalt für Gewässerkunde"),
    ("l'Électricité de France (EDF)", "EDF", "Électricité de France"),
    ("El Instituto Español de Oceanografía (IEO) mide.", "IEO", "Instituto Español de Oceanografía"),
    ("Единая государственная система (ЕГС) работает.", "ЕГС", "Единая государственная система"),
    ("ВОЗ — Всемирная организация здравоохранения", "ВОЗ", "Всемирная организация здравоохранения"),
]
NOTHING = [
    "The second part (II) follows the first (see below).",
    "He works for a large company (IBM) in the city.",
    "The directories (DIRECT) are listed.",
    "OPTIONS (options = parameters.pop())",
    "`Harbour Safety Board (HSB)` is code.",
    "HSB: this is a service of the harbour.",
    "An order (ORDER) and an Act (2016).",
    "",
]


@pytest.mark.parametrize(("text", "short", "long"), EXPLAINED, ids=[text for text, *_ in EXPLAINED])
def test_what_a_text_explains(text: str, short: str, long: str) -> None:
    assert [tuple(pair) for pair in abbreviations_of(text)] == [(short, long)]


@pytest.mark.parametrize("text", NOTHING)
def test_what_explains_nothing(text: str) -> None:
    assert abbreviations_of(text) == []
