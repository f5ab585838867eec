"""The `sourcebook` command."""

import gc
import os
import sys

from sourcebook.processes.garbage import skip_last_look


def main() -> None:
    """Run the command, or report the missing package."""
    # Imports create a million permanent objects; collecting garbage among them takes a quarter of a short command's
    # time. Long commands (`ingest`, `up`) enable the collector after their imports.
    gc.disable()
    skip_last_look()
    # Finding plugins of pydantic reads the metadata of every installed package; no model here has one. An own value of
    # the variable, such as a plugin's name, brings them back.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from sourcebook.command.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
            raise
        from sourcebook.installation import install_command

        sys.stderr.write(f"sourcebook: {error.name} is not installed: run  {install_command('server')}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    run()
