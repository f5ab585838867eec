"""The `sourcebook` command."""

import atexit
import gc
import sys


def main() -> None:
    """Run the command, or report the missing package."""
    # Imports create a million permanent objects; collecting garbage among them takes a quarter of a short command's
    # time. Long commands (`ingest`, `up`) enable the collector after their imports.
    gc.disable()
    atexit.register(gc.freeze)  # the interpreter's last look for garbage, among all that goes with the process
    try:
        from sourcebook.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
            raise
        from sourcebook.installation import install_command

        sys.stderr.write(f"sourcebook: {error.name} is not installed: run  {install_command('cli')}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    run()
