"""Files, lines and messages of stack traces, as programs of several languages write them."""

import pytest

from sourcebook.search.ranking.stack_traces import Frame, agreement, stack_trace

TRACES = {
    "Python": (
        (
            "Traceback (most recent call last):\n"
            '  File "/app/main.py", line 12, in <module>\n    run()\n'
            '  File "/app/billing/invoice.py", line 42, in total\n    raise InvoiceLocked(number)\n'
            "billing.errors.InvoiceLocked: invoice 7 is locked by the audit\n"
        ),
        ["billing/invoice.py:42", "app/main.py:12"],
        "InvoiceLocked invoice 7 is locked by the audit",
    ),
    "Java": (
        (
            'Exception in thread "main" java.lang.IllegalStateException: ledger closed\n'
            "\tat com.acme.billing.Ledger.post(Ledger.java:88)\n\tat com.acme.Main.main(Main.java:10)\n"
            "Caused by: com.acme.LockedException: period 2024-03 is locked\n"
            "\tat com.acme.billing.Period.check(Period.java:31)\n\t... 2 more"
        ),
        ["billing/Period.java:31", "billing/Ledger.java:88", "acme/Main.java:10"],
        "LockedException period 2024-03 is locked",
    ),
    "JavaScript": (
        (
            "TypeError: Cannot read properties of undefined (reading 'rate')\n"
            "    at convert (/srv/app/src/money/convert.js:17:23)\n    at async file:///srv/app/src/index.ts:5:1"
        ),
        ["money/convert.js:17", "src/index.ts:5"],
        "TypeError Cannot read properties of undefined (reading 'rate')",
    ),
    "a browser": (
        "ReferenceError: tide is not defined\ninit@http://localhost:8080/static/app.js:3:7",
        ["static/app.js:3"],
        "ReferenceError tide is not defined",
    ),
    "Go": (
        "panic: tide table is empty\n\ngoroutine 1 [running]:\nmain.load(0x1)\n\t/home/ci/tides/table.go:33 +0x1d\n",
        ["tides/table.go:33"],
        "tide table is empty",
    ),
    "Rust": (
        "thread 'main' panicked at src/gauge/read.rs:21:14:\nno gauge answers\nstack backtrace:\n",
        ["gauge/read.rs:21"],
        "no gauge answers",
    ),
    "C#": (
        (
            "Unhandled exception. System.InvalidOperationException: Berth is taken\n"
            "   at Harbour.Berths.Assign(Int32 n) in C:\\build\\src\\Harbour\\Berths.cs:line 57\n"
        ),
        ["Harbour/Berths.cs:57"],
        "InvalidOperationException Berth is taken",
    ),
    "PHP": ("#0 /srv/shop/Cart.php(42): Cart->total()\n", ["shop/Cart.php:42"], ""),
    "Ruby": ("/srv/models/boat.rb:12:in `sail'\n", ["models/boat.rb:12"], ""),
    "a sentence": ("Why does tides/table.go:33 fail?", ["tides/table.go:33"], ""),
}


@pytest.mark.parametrize("language", TRACES)
def test_frames_are_read_with_the_innermost_first(language: str) -> None:
    text, frames, message = TRACES[language]
    found = stack_trace(text)
    assert found is not None
    assert [f"{'/'.join(each.path[-2:])}:{each.line}" for each in found.frames] == frames
    assert found.message == message


@pytest.mark.parametrize(
    "query",
    [
        "How do I book a berth at 10:30?",
        "see notes.md:12 and https://example.org/a:8080",
        "the ratio is 3:2 (in 2024)",
        "at the end of line 4",
    ],
)
def test_prose_is_no_stack_trace(query: str) -> None:
    assert stack_trace(query) is None


def test_paths_agree_from_their_ends() -> None:
    frame = Frame(("app", "billing", "invoice.py"), 1)
    assert agreement(frame, ["", "home", "me", "billing", "invoice.py"]) == 2
    assert agreement(frame, ["", "home", "me", "invoice.py"]) == 1
    assert agreement(frame, ["", "home", "me", "invoices.py"]) == 0
