"""The configuration that a command works by, also where there is no file."""

from typing import TYPE_CHECKING

from sourcebook.cli.context import CommandContext

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration


def configuration_in_force(context: CommandContext) -> "Configuration":
    """Return the configuration; one without a file where the API has made every collection.

    Raises:
        ConfigurationError: the file is missing or has a mistake.
    """
    from sourcebook.admin.collections import collection_names, collections_of_the_api
    from sourcebook.config.loading import without_file

    if not context.configuration_path.exists() and not context.is_empty():
        with context.open_database() as database, database.connection() as connection:
            names = collection_names(connection)
            if names and names == collections_of_the_api(connection):
                return without_file(context.configuration_path)
    return context.configuration
