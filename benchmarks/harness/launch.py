"""Run one command and record its cost, from a process too small to show in the figures.

A process inherits the peak memory of the one that starts it, so a large benchmark must not start it itself.

    python -S launch.py FILE COMMAND…    writes {"seconds", "processor", "status", "peak_bytes"} to FILE
"""

import json
import os
import subprocess
import sys
import time


def main() -> None:
    started = time.perf_counter()
    process = subprocess.Popen(sys.argv[2:])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    cost = {
        "seconds": seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "status": os.waitstatus_to_exitcode(status),
        "peak_bytes": usage.ru_maxrss * unit,
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is more than this process needs
        json.dump(cost, file)


if __name__ == "__main__":
    main()
