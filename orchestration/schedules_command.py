"""`sourcebook schedules`: what Dagster starts by the clock, and when next."""

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json


def schedules(ctx: typer.Context, as_json: Json = False) -> None:
    """Show when the nightly and weekly work starts next, in the time zone of the configuration.

    `time_zone` in `sourcebook.yaml` names the zone; UTC where it does not. A running `sourcebook up` takes another one
    when it starts again. The next look at each web site, repository and source of records
    is in `sourcebook status`.

    Example: `sourcebook schedules`
    """
    from datetime import UTC

    from orchestration.next_ticks import next_ticks
    from orchestration.retention import nightly_retention
    from orchestration.schedules import nightly, weekly
    from sourcebook.config.loading import UTC as DEFAULT

    context = CommandContext.of(ctx)
    zone = context.configuration.time_zone if context.configuration_path.exists() else DEFAULT
    ticks = next_ticks((nightly, nightly_retention, weekly), zone)
    if as_json:
        from sourcebook.cli.output import print_json

        keys = ("schedule", "cron", "time_zone", "what")
        print_json({"schedules": [{key: getattr(tick, key) for key in keys} | {"at": tick.at.isoformat()}
                                  for tick in ticks]})  # fmt: skip
        return
    from sourcebook.cli.tables import Column, Row, show_table

    show_table(
        (Column("schedule"), Column("next"), Column("time zone"), Column("UTC"), Column("what", is_prose=True)),
        [
            Row((
                tick.schedule,
                f"{tick.at:%a %Y-%m-%d %H:%M}",
                tick.time_zone,
                f"{tick.at.astimezone(UTC):%a %H:%M}",
                tick.what,
            ))
            for tick in ticks
        ],
    )  # fmt: skip
