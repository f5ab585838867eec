"""The texts by which an export is compared with what it was made from: lengths and scripts of all kinds."""

from typing import Final

PROBE: Final = "How long does the warranty cover the battery?"

SAMPLES: Final = (
    PROBE,
    "Ok.",
    "",
    "Refunds are paid within fourteen days of the return; bank transfers may take longer. " * 3,
    "Die Gewährleistung für die Fahrzeugbatterie beträgt vierundzwanzig Monate.",
    "Аккумулятор следует заряжать при температуре от 0 до 40 °C.",
    "电池的保修期为两年。返品は十四日以内に承ります。 배터리는 이 년간 보증됩니다.",
    "يغطي الضمان البطارية لمدة عامين. האחריות מכסה את הסוללה. แบตเตอรี่รับประกันสองปี",
    "🔋 lasts 2 years 👍🏽 — naïve café, x² ≤ 10⁻³, def f(x): return x[::-1]  # ok",
    "NUL \x00, U+FFFD \ufffd, tabs\tand\r\nnewlines\u2028, zero\u200bwidth, e\u0301",
)

_SENTENCE: Final = "The warranty covers the battery for two years, unless it was opened by someone else. "
_CHARACTERS_A_TOKEN: Final = 8  # more than in any language, so that the text is surely too long
MOST_TOKENS_COMPARED: Final = 1_024
"""Of the long text: a model that takes 8,192 tokens would compute for many seconds."""


def too_long(max_tokens: int) -> str:
    """Return a text that is too long for the model, so that where it is cut shows; or a very long one."""
    characters = min(max_tokens, MOST_TOKENS_COMPARED) * _CHARACTERS_A_TOKEN
    return _SENTENCE * (characters // len(_SENTENCE) + 1)
