"""`python -m sourcebook.metrics`: the metrics of a knowledge base over HTTP, without `sourcebook up`."""

import argparse
import signal
import sys
from contextlib import ExitStack

from sourcebook.config.loading import configuration_path, sourcebook_home
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import SourcebookError
from sourcebook.metrics.server import DEFAULT_PORT, MetricsServer


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m sourcebook.metrics", description="Serve Prometheus metrics.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--metrics-port", type=int, default=DEFAULT_PORT, help="port to listen on")
    chosen = parser.parse_args()
    location = DatabaseLocation.find(sourcebook_home(configuration_path()))
    waited_for = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    with ExitStack() as running:
        url, dagster_url = location.url, location.dagster_url or location.url
        if url is None:
            database = running.enter_context(Database(location))
            url, dagster_url = database.url, database.dagster_url()
        server = running.enter_context(MetricsServer(url, dagster_url, port=chosen.metrics_port, host=chosen.host))
        sys.stdout.write(f"metrics: http://{chosen.host}:{server.port}/metrics\n")
        sys.stdout.flush()
        signal.sigwait(waited_for)


if __name__ == "__main__":
    try:
        main()
    except SourcebookError as error:
        sys.exit(f"sourcebook: {error}")
