"""Definitions of the code location made again under a prefix: the functions are the same, their names are not."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dagster as dg

from orchestration.embedding.names import Names
from orchestration.embedding.own_instance import OwnContext, OwnInstance


def renamed_asset(asset: dg.AssetsDefinition, names: Names) -> dg.AssetsDefinition:
    """Return an asset of the pipeline under the prefix."""
    (spec,) = asset.specs
    made = dg.multi_asset(
        name=names.name(asset.op.name), specs=[names.spec(spec)], pool=asset.op.pool and names.name(asset.op.pool)
    )
    return made(_with_resources(asset.op, names))


def renamed_checks(checks: dg.AssetChecksDefinition, names: Names) -> dg.AssetChecksDefinition:
    """Return checks that one function evaluates, under the prefix."""
    compute = _with_resources(checks.op, names)

    def evaluate(*arguments: Any, **resources: Any) -> Iterator[dg.AssetCheckResult]:
        found = compute(*arguments, **resources)
        for result in [found] if isinstance(found, dg.AssetCheckResult) else found:
            yield dg.AssetCheckResult(
                passed=result.passed,
                asset_key=result.asset_key and names.key(result.asset_key),
                check_name=result.check_name,
                metadata=result.metadata,
                severity=result.severity,
                description=result.description,
            )

    functools.update_wrapper(evaluate, compute)
    evaluate.__signature__ = _returning_any(inspect.signature(compute))  # type: ignore[attr-defined]
    specs = [names.check(spec) for spec in checks.check_specs]
    return dg.multi_asset_check(name=names.name(checks.op.name), specs=specs, can_subset=True)(evaluate)


def renamed_sensor(sensor: dg.SensorDefinition, names: Names, job: str) -> dg.SensorDefinition:
    """Return a sensor under the prefix, which sees its own partitions and runs alone.

    Args:
        sensor: the sensor.
        names: the names of the definitions.
        job: name of the job whose runs it requests.
    """
    look = _with_resources(sensor, names)

    def evaluate(context: dg.SensorEvaluationContext, **resources: Any) -> dg.SensorResult:
        return _sensor_result(look(OwnContext(context, OwnInstance(context.instance, names, job)), **resources), names)

    functools.update_wrapper(evaluate, look)
    return dg.sensor(
        name=names.name(sensor.name),
        minimum_interval_seconds=sensor.minimum_interval_seconds,
        default_status=sensor.default_status,
        description=sensor.description,
        job_name=job if sensor.targets else None,
    )(evaluate)


def renamed_schedule(schedule: dg.ScheduleDefinition, names: Names, job: Any, time_zone: str) -> dg.ScheduleDefinition:
    """Return a schedule under the prefix.

    Args:
        schedule: the schedule.
        names: the names of the definitions.
        job: the job that it starts.
        time_zone: name of the zone in which it starts.
    """
    look = _with_resources(schedule, names)

    def evaluate(context: dg.ScheduleEvaluationContext, **resources: Any) -> Any:
        found = look(OwnContext(context, OwnInstance(context.instance, names, job.name)), **resources)
        return [_run_request(each, names) for each in found] if isinstance(found, list) else found

    functools.update_wrapper(evaluate, look)
    return dg.schedule(
        name=names.name(schedule.name),
        job=job,
        cron_schedule=schedule.cron_schedule,
        execution_timezone=time_zone,
        default_status=schedule.default_status,
        description=schedule.description,
    )(evaluate)


def renamed_op(op: dg.OpDefinition, names: Names) -> dg.OpDefinition:
    """Return an op without upstream ops, under the prefix."""
    return dg.op(name=names.name(op.name), description=op.description)(_with_resources(op, names))


def _with_resources(definition: Any, names: Names) -> Callable[..., Any]:
    """Return the function of a definition, with the names of its resources under the prefix.

    Dagster's decorators leave the function at `__wrapped__`, as those of the standard library do, and read the names of
    resources from its signature.
    """
    function: Callable[..., Any] = definition.__wrapped__
    signature = inspect.signature(function)
    plain = {names.name(name): name for name in signature.parameters if name not in ("context", "config")}

    def call(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **{plain.get(name, name): value for name, value in named.items()})

    functools.update_wrapper(call, function)
    new = {old: name for name, old in plain.items()}
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[each.replace(name=new.get(name, name)) for name, each in signature.parameters.items()]
    )
    call.__annotations__ = {new.get(name, name): kind for name, kind in function.__annotations__.items()}
    return call


def _returning_any(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(return_annotation=inspect.Signature.empty)


def _sensor_result(found: dg.SensorResult, names: Names) -> dg.SensorResult:
    return dg.SensorResult(
        run_requests=[_run_request(each, names) for each in found.run_requests or ()],
        skip_reason=found.skip_reason,
        cursor=found.cursor,
        dynamic_partitions_requests=[
            type(each)(names.name(each.partitions_def_name), each.partition_keys)
            for each in found.dynamic_partitions_requests or ()
        ],
        asset_events=[_event(each, names) for each in found.asset_events],
    )


def _event(event: Any, names: Names) -> dg.AssetCheckEvaluation | dg.AssetObservation:
    """Return an observation, or the outcome of a check, with the key of its asset under the prefix."""
    told: dict[str, Any] = {
        "asset_key": names.key(event.asset_key),
        "metadata": event.metadata,
        "description": event.description,
    }
    if isinstance(event, dg.AssetObservation):
        return dg.AssetObservation(**told, partition=event.partition, tags=event.tags)
    return dg.AssetCheckEvaluation(**told, check_name=event.check_name, passed=event.passed, severity=event.severity)


def _run_request(asked: dg.RunRequest, names: Names) -> dg.RunRequest:
    configuration: Mapping[str, Any] = asked.run_config
    resources = {"resources": names.resources(configuration["resources"])} if "resources" in configuration else {}
    return dg.RunRequest(
        run_key=asked.run_key,
        run_config={**configuration, **resources},
        tags=asked.tags,
        asset_selection=names.keys(asked.asset_selection),
        partition_key=asked.partition_key,
    )
