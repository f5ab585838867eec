"""`python -m sourcebook.cli.server_worker`: one of the processes of `sourcebook serve --workers`, which starts it."""

import sys

from sourcebook.cli.logs import show_logs
from sourcebook.telemetry.log_context import name_process


def _begin(number: int) -> None:
    name_process(worker=str(number))
    show_logs(default_level="warning")


def main() -> None:
    """Serve, with the pipe whose descriptor is the only argument."""
    from sourcebook.server.workers.process import serve_part

    serve_part(int(sys.argv[1]), _begin)


if __name__ == "__main__":
    main()
