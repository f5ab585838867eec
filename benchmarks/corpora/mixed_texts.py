"""Rules of the house of an invented pump maker, written by hand, and the questions that people ask about them."""

from pathlib import Path
from typing import Final

RULES: Final = {
    file.stem: file.read_text(encoding="utf-8") for file in sorted(Path(__file__).with_name("mixed_rules").glob("*.md"))
}
"""Text by name."""

QUESTIONS: Final[dict[str, str]] = {
    "How much money do we keep when a customer sends something back?": "returns",
    "Do we still fix it for nothing if the client took the unit apart himself?": "warranty",
    "How do I protect equipment in the garden from ice?": "frost",
    "Why does it sound as if there were stones in the line?": "noise",
    "Can I keep unused vacation until spring?": "leave",
    "What is the deadline for getting hotel costs reimbursed?": "travel",
    "Am I covered if I hurt myself in my own flat during office hours?": "remote",
    "May my ten-year-old see the factory floor?": "visitors",
    "Where do we meet after evacuating?": "fire",
    "I mistyped my login too often and cannot get in any more": "passwords",
    "What happens to a bill that we only partly agree with?": "invoices",
    "Can I buy from my brother's company?": "suppliers",
    "How should used cooling liquid be disposed of?": "scrap",
    "What is the heaviest thing one may carry without a hoist?": "lifting",
    "How long until test results of a potable unit come back?": "water",
    "What damage does an empty tank do to the sealing rings?": "dry",
    "The motor rotates in reverse, what should be changed?": "commissioning",
    "How old may gaskets be when they are fitted?": "storage",
    "What is the extra pay for somebody on duty on a holiday Sunday?": "shifts",
    "How far back can the support team recover something I removed by mistake?": "backups",
}
"""Name of the rule that answers, by question; the questions avoid its words."""

PAIRS: Final[tuple[tuple[str, str, str], ...]] = (
    ("What is the restocking charge, and how long is the warranty on bearings?", "returns", "warranty"),
    ("How many days of holiday do I have and how much is paid for work at night?", "leave", "shifts"),
    ("Where do visitors get a badge? And who counts the people when the alarm sounds?", "visitors", "fire"),
    ("Which bin takes bronze turnings, and on which chain may I hang a machine?", "scrap", "lifting"),
    ("When do apprentices begin? How long may I work from home?", "apprentices", "remote"),
    ("How are bills settled and how many offers does a purchase need?", "invoices", "suppliers"),
    ("How do I drain a machine before winter, and how do I turn the shaft of a stored one?", "frost", "storage"),
    ("What is done on the first start; when is a restart after running dry allowed?", "commissioning", "dry"),
    ("How quickly must a complaint be answered and where is a small cut written down?", "complaints", "medical"),
    ("Which timber do crates abroad need? Who insures the voyage? When is mail copied?", "shipping", "backups"),
)
"""(question of several parts, rule, rule)."""
