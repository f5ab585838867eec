"""`sourcebook completion`: the script that completes the command in a shell."""

import os
from typing import Annotated, Literal

import typer


def completion(
    ctx: typer.Context,
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script that completes commands, options and names of collections in a shell.

    **Example:** `eval "$(sourcebook completion bash)"` in `~/.bashrc`, likewise with `zsh` in `~/.zshrc`,
    `sourcebook completion fish | source` in `~/.config/fish/config.fish`
    """
    # The variable is the command line library's own way to ask for the script.
    variable = "_SOURCEBOOK_COMPLETE"
    os.environ[variable] = f"source_{shell}"
    ctx.find_root().command.main(args=[], prog_name="sourcebook", complete_var=variable)
