"""Instance files of the launchers, loaded by Dagster with the real classes, and the files that deploy them."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
from ruamel.yaml import YAML

from resources.run_uses import PREFIX, VARIABLE, Use, configured_tags
from tests.checkout import CHECKOUT

LAUNCHERS = {"docker": "DockerRunLauncher", "kubernetes": "K8sRunLauncher", "celery": "CeleryRunLauncher"}
_KUBECONFIG = """\
{apiVersion: v1, kind: Config, current-context: here,
 clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: here, user: {}}],
 contexts: [{name: here, context: {cluster: here, user: here}}]}
"""


def read_yaml(path: str) -> Any:
    return YAML(typ="safe", pure=True).load(CHECKOUT / path)


def instance_file(name: str) -> Any:
    return read_yaml(f"orchestration/instances/{name}.yaml")


def launcher_config(name: str) -> dict[str, Any]:
    config: dict[str, Any] = instance_file(name)["run_launcher"]["config"]
    return config


def run_tags(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[Use, dict[str, str]]:
    """Read the tags of runs as the code location of a deployment does, whose environment names them in the image."""
    where = {
        "celery": lambda: read_yaml("deploy/celery.yml")["services"]["code"],
        "kubernetes": lambda: read_yaml("deploy/helm/values.yaml")["dagster-user-deployments"]["deployments"][0],
    }
    named = Path(where[name]()["env" if name == "kubernetes" else "environment"][VARIABLE])
    monkeypatch.setenv(VARIABLE, str(CHECKOUT / named.relative_to("/app")))
    assert (
        "WORKDIR /app\nCOPY --from=build /app/.venv /app/.venv\nCOPY . /app\n" in (CHECKOUT / "Dockerfile").read_text()
    )
    return configured_tags()


@pytest.fixture(params=LAUNCHERS)
def instance(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An instance of each file, apart from its storage, which is a database, and from a cluster's own credentials."""
    name = request.param
    text = (CHECKOUT / "orchestration" / "instances" / f"{name}.yaml").read_text()
    pytest.importorskip(re.search(r"^  module: (dagster_[a-z0-9]+)", text, re.MULTILINE)[1])  # type: ignore[index]
    text = re.sub(r"^storage:\n(?:  .*\n)+", "", text, flags=re.MULTILINE)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(_KUBECONFIG)
    text = text.replace(
        "load_incluster_config: true", f"load_incluster_config: false\n    kubeconfig_file: {kubeconfig}"
    )
    (tmp_path / "dagster.yaml").write_text(text)
    for variable in re.findall(r"env: (SOURCEBOOK_\w+)", text):
        monkeypatch.setenv(variable, "sourcebook:1" if variable.endswith("IMAGE") else "sourcebook")
    monkeypatch.setenv("SOURCEBOOK_CELERY_BROKER", "memory://")
    monkeypatch.setenv("SOURCEBOOK_CELERY_RESULTS", "cache+memory://")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield name, instance


def test_dagster_loads_each_file_with_its_launcher(instance: Any) -> None:
    """The class takes the configuration, and runs that died are looked for: a file with a wrong key loads nowhere."""
    name, loaded = instance
    assert type(loaded.run_launcher).__name__ == LAUNCHERS[name]
    assert loaded.run_launcher.supports_check_run_worker_health
    assert loaded.run_monitoring_enabled
    assert loaded.run_retries_enabled
    assert loaded.run_monitoring_max_resume_run_attempts == 0


@pytest.mark.parametrize("instance", ["kubernetes"], indirect=True)
def test_the_job_of_a_run_has_its_limits_unless_a_tag_says_otherwise(instance: Any) -> None:
    """The Job that Dagster would create has the file's mounts, image and resources, or those of the run's tag."""
    job = import_module("dagster_k8s.job")
    launcher = instance[1].run_launcher
    limits = {"cpu": "8", "memory": "16Gi"}
    tag = json.dumps({"container_config": {"resources": {"limits": limits}}})
    for tags, wanted in (({}, {"cpu": "2", "memory": "4Gi"}), ({"dagster-k8s/config": tag}, limits)):
        run = dg.DagsterRun(job_name="ingest", run_id="0", tags=tags)
        context = launcher.get_container_context_for_run(run)
        settings = context.get_k8s_job_config(job_image="sourcebook:1", run_launcher=launcher)
        made = job.construct_dagster_k8s_job(
            settings, ["dagster"], "run", context.run_k8s_config, component="run_worker", pod_name="run"
        ).to_dict()
        pod = made["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert wanted.items() <= container["resources"]["limits"].items()
        assert container["image"] == "sourcebook:1"
        mounts = container["volume_mounts"]
        assert {mount["mount_path"] for mount in mounts} == {"/documents", "/etc/sourcebook", "/var/lib/sourcebook"}
        assert {mount["name"] for mount in mounts} == {each["name"] for each in pod["volumes"]}
        assert pod["security_context"]["run_as_non_root"]
        assert made["spec"]["backoff_limit"] == 0


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_file_differs_from_that_of_one_machine_in_launcher_and_numbers_alone(name: str) -> None:
    """A setting that is changed in one file is changed in all of them."""
    one, other = read_yaml("orchestration/dagster.yaml"), instance_file(name)
    assert other.pop("run_launcher")["class"] == LAUNCHERS[name]
    for settings in (one, other):
        runs, pools = settings["concurrency"]["runs"], settings["concurrency"]["pools"]
        (of_speech,) = [each for each in runs["tag_concurrency_limits"] if each["key"] == f"{PREFIX}{Use.SPEECH}"]
        assert of_speech["limit"] == pools["default_limit"], "a run leaves the queue when the pool has a place for it"
        assert of_speech["limit"] <= runs["max_concurrent_runs"]
        for block, setting in (
            (of_speech, "limit"),
            (runs, "max_concurrent_runs"),
            (pools, "default_limit"),
            (settings["run_monitoring"], "max_runtime_seconds"),
        ):
            assert block.pop(setting) > 0
    assert other["run_monitoring"].pop("max_resume_run_attempts") == 0
    assert other == one


class TestDocker:
    def test_a_run_has_what_the_code_location_has(self) -> None:
        """Image, network, mounts and environment are those of the services, with limits of memory and processor."""
        config = launcher_config("docker")
        compose, overlay = read_yaml("docker-compose.yml"), read_yaml("deploy/docker-launcher.yml")
        container = config["container_kwargs"]
        assert config["image"] == compose["services"]["code"]["image"]
        assert config["network"] == f"{compose['name']}_default"
        volumes = dict(reversed(volume.removesuffix(":ro").split(":")) for volume in container["volumes"])
        declared = {f"{compose['name']}_{name}" for name in {**compose["volumes"], **overlay["volumes"]}}
        assert set(volumes.values()) <= declared
        mounted = {volume.removesuffix(":ro").rsplit(":", 1)[1] for volume in compose["services"]["code"]["volumes"]}
        assert set(volumes) == mounted
        for service in ("daemon", "webserver"):
            environment = {**compose["services"][service]["environment"], **overlay["services"][service]["environment"]}
            assert set(config["env_vars"]) <= set(environment), service
        assert container["mem_limit"] == container["memswap_limit"]
        assert container["nano_cpus"] > 0
        assert container["cap_drop"] == ["ALL"]

    def test_the_arguments_are_those_of_dockers_client(self) -> None:
        """The client takes each argument: Dagster passes them on unchecked."""
        containers = pytest.importorskip("docker.models.containers")
        arguments = {**launcher_config("docker")["container_kwargs"], "image": "sourcebook", "version": "1.44"}
        del arguments["stop_timeout"]  # Dagster's own
        made = containers._create_container_args(arguments)
        assert made["host_config"]["Memory"] == 4 * 2**30
        assert made["host_config"]["NanoCpus"] == 2 * 10**9


class TestKubernetes:
    def test_the_pods_are_valid(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every field is one of Kubernetes' own models, and every mount has its volume."""
        job = pytest.importorskip("dagster_k8s.job")
        given = launcher_config("kubernetes")["run_k8s_config"]
        config = job.UserDefinedDagsterK8sConfig.from_dict(given)
        resources = config.container_config["resources"]
        assert set(resources) == {"requests", "limits"}
        assert set(resources["limits"]) == {"cpu", "memory", "ephemeral-storage"}
        mounts = {mount["name"] for mount in config.container_config["volume_mounts"]}
        assert mounts == {volume["name"] for volume in config.pod_spec_config["volumes"]}
        for use, tags in run_tags("kubernetes", monkeypatch).items():
            (tag,) = tags
            assert tag == "dagster-k8s/config", use
            own = job.UserDefinedDagsterK8sConfig.from_dict(json.loads(tags[tag])).container_config
            assert {name: set(each) for name, each in own["resources"].items()} == {
                name: set(each) for name, each in resources.items()
            }, "what a tag does not say the launcher's would stay for"
        given["container_config"]["resource"] = {}
        with pytest.raises(Exception, match="resource"):
            job.UserDefinedDagsterK8sConfig.from_dict(given)

    def test_the_chart_gets_the_same_settings(self) -> None:
        """The values of the Helm chart say of the instance and of runs what the instance file says."""
        values, file = read_yaml("deploy/helm/values.yaml"), instance_file("kubernetes")
        launcher = values["runLauncher"]["config"]["k8sRunLauncher"]
        config = file["run_launcher"]["config"]
        assert {
            re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name): value
            for name, value in launcher["runK8sConfig"].items()
        } == config["run_k8s_config"]
        assert [secret["name"] for secret in launcher["envSecrets"]] == config["env_secrets"]
        assert launcher["envVars"] == config["env_vars"]
        assert values["global"]["dagsterHome"] == config["dagster_home"]
        extra = values["additionalInstanceConfig"]
        assert extra == {name: file[name] for name in extra}
        left = {"storage", "run_launcher", "telemetry"}  # the chart writes these from other values
        assert set(extra) == set(file) - left
        assert values["telemetry"] == file["telemetry"]
        for name in ("runCoordinator", "runMonitoring", "runRetries"):
            assert values["dagsterDaemon"][name] == {"enabled": False}, "it would stand in dagster.yaml twice"

    def test_the_code_location_is_that_of_the_image(self) -> None:
        """Module and name of the location are the same everywhere, and the chart is of the pinned Dagster."""
        text = (CHECKOUT / "deploy" / "helm" / "values.yaml").read_text()
        (deployment,) = read_yaml("deploy/helm/values.yaml")["dagster-user-deployments"]["deployments"]
        command = read_yaml("docker-compose.yml")["services"]["code"]["command"]
        assert " ".join(deployment["dagsterApiGrpcArgs"]) in command
        assert f" -p {deployment['port']} " in command
        (workspace,) = read_yaml("deploy/workspace.yaml")["load_from"]
        assert deployment["name"] == workspace["grpc_server"]["location_name"]
        assert f"--version {dg.__version__} " in text


def test_the_server_in_kubernetes_is_that_of_compose() -> None:
    """Kubernetes' own client reads the manifests; command, variables and mounts are those of the service `serve`."""
    client = pytest.importorskip("kubernetes.client")
    loaded = list(YAML(typ="safe", pure=True).load_all(CHECKOUT / "deploy" / "helm" / "serve.yaml"))
    read = client.ApiClient()
    kinds = ("V1Deployment", "V1Service")
    deployment, service = (
        read.deserialize(SimpleNamespace(data=json.dumps(each)), kind) for each, kind in zip(loaded, kinds, strict=True)
    )
    (container,) = deployment.spec.template.spec.containers
    serve = read_yaml("docker-compose.yml")["services"]["serve"]
    assert " ".join(container.args) == serve["command"]
    mounted = {volume.removesuffix(":ro").rsplit(":", 1)[1] for volume in serve["volumes"]}
    assert {mount.mount_path for mount in container.volume_mounts} == mounted
    assert {each.name for each in container.env} == {"SOURCEBOOK_CONFIG", "SOURCEBOOK_FOLDERS"}
    (of_chart,) = read_yaml("deploy/helm/values.yaml")["dagster-user-deployments"]["deployments"]
    assert {each["secretRef"]["name"] for each in loaded[0]["spec"]["template"]["spec"]["containers"][0]["envFrom"]} > {
        each["name"] for each in of_chart["envSecrets"]
    }
    assert loaded[0]["spec"]["template"]["spec"]["volumes"] == of_chart["volumes"]
    assert service.spec.selector == deployment.spec.template.metadata.labels


class TestCelery:
    def test_workers_and_launcher_have_one_broker(self) -> None:
        """Both read broker and results from the same variables, which every service of the overlay sets."""
        launcher = launcher_config("celery")
        worker = read_yaml("deploy/celery-worker.yaml")["execution"]["config"]
        assert (launcher["broker"], launcher["backend"]) == (worker["broker"], worker["backend"])
        services = read_yaml("deploy/celery.yml")["services"]
        for name in ("code", "webserver", "daemon", "worker"):
            assert {launcher["broker"]["env"], launcher["backend"]["env"]} <= set(services[name]["environment"]), name
        assert services["worker"]["command"].endswith("-- --pool solo")

    def test_runs_that_transcribe_have_workers_of_their_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The queue of the tag is that of a service with more memory; all other runs are in the launcher's."""
        services = read_yaml("deploy/celery.yml")["services"]
        tags = run_tags("celery", monkeypatch)
        assert set(tags) == {Use.SPEECH}
        queue = tags[Use.SPEECH]["dagster-celery/queue"]
        assert f" -q {queue} " in services["worker-speech"]["command"]
        assert " -q " not in services["worker"]["command"]
        assert queue != launcher_config("celery")["default_queue"]
        differing = {key for key, value in services["worker"].items() if services["worker-speech"][key] != value}
        assert differing == {"mem_limit", "cpus", "command"}

    def test_dagsters_worker_takes_its_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The file is valid for `dagster-celery worker start`."""
        pytest.importorskip("dagster_celery")
        for name in ("SOURCEBOOK_CELERY_BROKER", "SOURCEBOOK_CELERY_RESULTS"):
            monkeypatch.setenv(name, "memory://")
        worker = import_module("dagster_celery.cli").get_validated_config(str(CHECKOUT / "deploy/celery-worker.yaml"))
        assert worker["broker"] == "memory://"
        assert worker["config_source"]["worker_prefetch_multiplier"] == 1


@pytest.mark.parametrize("overlay", ["docker-launcher.yml", "celery.yml"])
def test_an_overlay_adds_to_services_and_mounts_its_instance_file(overlay: str) -> None:
    """Every Dagster service reads the launcher's instance file; no password stands in the file."""
    compose, added = read_yaml("docker-compose.yml"), read_yaml(f"deploy/{overlay}")
    name = overlay.split(".")[0].removesuffix("-launcher")
    mount = f"./orchestration/instances/{name}.yaml:/var/lib/dagster/dagster.yaml:ro"
    for service in ("code", "webserver", "daemon"):
        assert service in compose["services"]
        assert mount in added["services"][service]["volumes"], service
    text = (CHECKOUT / "deploy" / overlay).read_text()
    for line in text.splitlines():
        if re.search(r"PASS(WORD)?:", line):
            assert "PASSWORD:?" in line
