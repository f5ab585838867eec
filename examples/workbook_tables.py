"""Tables of the example library's workbook; `build_library.py` writes them."""

LEVELLING = {
    "header": [
        "Date",
        "Benchmark",
        "Height above chart datum, m",
        "Change, mm",
        "Loop closure, mm",
        "Observer",
        "Remark",
    ],
    "widths": [12, 13, 28, 12, 18, 16, 58],
    "years": {
        2016: (1.1, "S. Aase"),
        2017: (0.6, "S. Aase"),
        2018: (1.9, "T. Okafor"),
        2019: (0.8, "S. Aase"),
        2020: (1.4, "I. Pennant"),
        2021: (0.5, "S. Aase"),
        2022: (1.2, "S. Aase"),
        2023: (2.1, "T. Okafor"),
        2024: (0.7, "S. Aase"),
    },
    "days": {2016: 20, 2017: 19, 2018: 25, 2019: 17, 2020: 22, 2021: 21, 2022: 20, 2023: 26, 2024: 17},
    # Heights in tenths of a millimetre, one for each year from 2016; the plate came with the radar in 2019.
    "heights": {
        "Anvil": [73180] * 9,
        "Chapel": [114062, 114060, 114065, 114063, 114061, 114064, 114062, 114066, 114063],
        "Slip": [59417, 59404, 59389, 59376, 59361, 59348, 59333, 59318, 59305],
        "Cannon": [82035, 82037, 82034, 82052, 82050, 82051, 82053, 82049, 82051],
        "Gauge plate": [None, None, None, 89532, 89529, 89527, 89523, 89516, 89510],
    },
    "remarks": {
        ("Anvil", 2016): "Reference; held fixed",
        ("Slip", 2020): "Sinks about 1.4 mm a year: cavity under the stone suspected",
        ("Slip", 2024): "Dye test on 18 September found water running out below the stone",
        ("Cannon", 2019): "Jump of 1.8 mm, confirmed on 12 October: plinth re-pointed by the council in July",
        ("Gauge plate", 2019): "First levelling of the radar's arm",
        ("Gauge plate", 2023): "Worn clamp replaced on the same day",
    },
}

SPARES = {
    "header": ["Part number", "Item", "For", "Shelf", "In stock", "Reorder at", "Supplier", "Delivery, weeks"],
    "widths": [14, 34, 16, 8, 10, 12, 26, 16],
    "rows": [
        ["BH-0101", "Horn cover, PTFE, 1 mm", "Radar", "A1", 2, 1, "Halden Instruments", 6],
        ["BH-0102", "Serial converter RS-485 to RS-232", "Radar", "A1", 3, 1, "Kerr Electrical", 1],
        ["BH-0110", "Arm clamp with M10 bolts, A4 steel", "Radar", "A2", 1, 1, "Port Ellery Smithy", 3],
        ["BH-0201", "Regulator membrane kit", "Bubbler", "B1", 2, 2, "Ostrava Pneumatik", 9],
        ["BH-0202", "Air line, polyurethane, 6 mm, 50 m roll", "Bubbler", "B2", 1, 1, "Tarrow Chandlery", 1],
        ["BH-0203", "Copper outlet cup", "Bubbler", "B1", 4, 1, "Port Ellery Smithy", 2],
        ["BH-0301", "Violet ink, bottle of 50 ml", "Float gauge", "C1", 7, 3, "Aldous & Finch", 12],
        ["BH-0302", "Chart paper, box of 26 sheets", "Float gauge", "C1", 3, 1, "Aldous & Finch", 12],
        ["BH-0303", "Phosphor bronze float wire, 12 m", "Float gauge", "C2", 1, 1, "Aldous & Finch", 16],
        ["BH-0401", "Lead-acid battery, 12 V 100 Ah", "Power", "Floor", 1, 1, "Kerr Electrical", 2],
        ["BH-0402", "Blade fuse 15 A, box of 10", "Power", "D1", 2, 1, "Kerr Electrical", 1],
        ["BH-0403", "Surge arrester, three-stage", "Power", "D1", 0, 1, "Kerr Electrical", 4],
        ["BH-0501", "Desiccant cartridge", "Logger cabinet", "D2", 5, 3, "Velin", 3],
        ["BH-0601", "Lifejacket gas cylinder, 33 g", "Safety", "E1", 6, 4, "Tarrow Chandlery", 1],
        ["BH-0602", "Tide pole section, 1 m, enamelled", "Tide pole", "Loft", 2, 2, "Glasswerk Wittesand", 20],
    ],
}
