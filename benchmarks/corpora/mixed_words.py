"""Words from which `mixed_documents` makes the documents of an invented pump maker."""

from typing import Final

FAMILIES: Final = ("Nordal", "Vik", "Brattli", "Oske", "Tverr", "Lund", "Sunne", "Halden")
SIZES: Final = (12, 25, 40, 63, 80, 125)
KINDS: Final = (
    "shaft seal",
    "impeller",
    "ball bearing",
    "wear ring",
    "gasket",
    "coupling",
    "check valve",
    "guard plate",
)
MATERIALS: Final = ("carbon", "bronze", "stainless steel", "nitrile rubber", "cast iron", "silicon carbide")
FEATURES: Final = ("single", "double", "split", "reinforced", "short", "long", "left-hand", "food grade")
MEANINGS: Final = (
    ("motor overheated", "let it cool for ten minutes and clean the fan"),
    ("no flow at the outlet", "open the valve and look for a blockage"),
    ("supply voltage too low", "measure all three phases at the terminals"),
    ("pressure sensor lost", "check the plug of the sensor and replace the cable"),
    ("shaft blocked", "switch off and turn the shaft by hand"),
    ("leakage at the seal", "replace both faces of the seal"),
    ("level below minimum", "fill the tank, then acknowledge"),
    ("vibration above the limit", "tighten the feet and align the coupling"),
    ("bearing temperature high", "renew the grease"),
    ("communication timed out", "check the bus terminator"),
    ("parameter memory damaged", "load the factory settings"),
    ("earth fault", "disconnect the motor and measure its insulation"),
    ("phase sequence wrong", "swap two phases"),
    ("inlet filter clogged", "clean the basket"),
    ("frost protection active", "wait until the fluid is above four degrees"),
    ("clock not set", "enter date and time"),
)
REMARKS: Final = (
    "Do not tighten the screws crosswise before the gasket has warmed up.",
    "Machines built before week twelve are not affected by this change.",
    "The old tool may still be used with the spacer from the kit.",
    "Return the removed parts to the laboratory in the bag supplied.",
    "Tell the customer that the warranty is not shortened by the exchange.",
    "Mark the casing with a yellow dot next to the rating plate.",
    "Let the adhesive cure over night at room temperature.",
    "Order the kit only after the serial number has been checked.",
    "Exchange the parts at the next scheduled maintenance.",
    "A second technician must be present during the pressure test.",
    "Grease the new part thinly with the paste from the tube.",
    "Keep the removed bearing for the inspection in autumn.",
)
MODULES: Final = ("flow", "telemetry", "registers", "alarms", "schedule", "archive", "bus", "users")
PAGES: Final = ("controller", "client", "export", "session", "filters")
VERBS: Final = ("get", "set", "read", "write", "list", "reset", "open", "close", "subscribe", "wait")
NOUNS: Final = ("limit", "value", "block", "channel", "window", "state", "batch", "timer", "token", "profile")
EXCEPTIONS: Final = ("ValueError", "TimeoutError", "BusBusyError", "PermissionDenied", "UnknownChannel")
TYPES: Final = ("int", "float", "str", "bool", "bytes", "datetime")
SETTINGS: Final = ("interval_seconds", "max_retries", "buffer_size", "log_level", "timeout_ms", "endpoint")
CHANGES: Final = ("is faster", "no longer leaks a handle", "accepts None", "is deprecated")
GIVEN: Final = (
    "Ingrid", "Jonas", "Astrid", "Marit", "Erik", "Sofie", "Henrik", "Lena", "Olav", "Karin", "Nils", "Tuva",
    "Anders", "Berit", "Magnus", "Ragnhild", "Petter", "Solveig", "Torunn", "Einar", "Hilde", "Sverre", "Kjersti",
    "Gunnar",
)  # fmt: skip
FAMILY_NAMES: Final = (
    "Solheim", "Bakken", "Haugen", "Lie", "Strand", "Moen", "Dahl", "Eide", "Berge", "Lunde", "Ness", "Holm", "Vik",
    "Aasen", "Fossum", "Myhre", "Tangen", "Rud", "Sande", "Ryen",
)  # fmt: skip
DEPARTMENTS: Final = (
    "Procurement", "Foundry", "Assembly", "Quality", "Customer service", "Logistics", "Software", "Accounts",
    "Research", "Personnel",
)  # fmt: skip
ROLES: Final = ("engineer", "clerk", "technician", "team lead", "apprentice", "analyst", "buyer", "inspector")
TOPICS: Final = (
    "the delivery of castings is two weeks late",
    "the test bench needs a new flow meter",
    "the complaint of the waterworks was settled",
    "the drawings of the next series are released",
    "overtime in May is limited to ten hours",
    "the stock count differs from the ledger",
    "the audit found two missing signatures",
    "the new crane is inspected next week",
    "spare parts for the old series are sold out in spring",
    "the training on alignment is repeated in autumn",
)
TOWNS: Final = ("bergen", "hamar", "larvik", "narvik", "molde")
FORMS: Final = (
    ("FRM-107_travel_claim.md", "Claim of expenses", "Enter dates, place and purpose; attach all receipts."),
    ("FRM-108_travel_advance.md", "Request for money in advance", "State the amount and the day of departure."),
    ("FRM-201_goods_return.md", "Return note", "One line for each item, with the reason."),
    ("FRM-202_goods_receipt.md", "Receipt note", "Count the items and look for damage."),
    ("FRM-310_fault_report.md", "Report of a fault", "Describe noise, leakage and operating hours."),
    ("FRM-311_repair_quote.md", "Quotation for a repair", "List labour and material separately."),
    ("FRM-415_visitor_list.md", "List of guests", "Name, firm and host of everybody."),
    ("FRM-416_key_handover.md", "Keys given out", "Sign for each key and return it in person."),
)
"""(name of the file, title, text)."""
