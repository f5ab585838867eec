"""The SBOM (CycloneDX JSON) of `sourcebook[pipeline]`, as this environment has it pinned."""

import json
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.running import run


def write_sbom(tools: Path, pyproject: Path, path: Path) -> None:
    """Describe the packages that the extra `pipeline` needs, with versions, licences and what each depends on.

    Args:
        tools: the Python that has cyclonedx-bom.
        pyproject: describes the product.
        path: the file to write.
    """
    options = ("--output-reproducible", "--pyproject", pyproject)
    described = run(tools, "-m", "cyclonedx_py", "environment", *options, sys.executable)
    path.write_text(json.dumps(of_packages(json.loads(described), needed("sourcebook", "pipeline")), indent=1) + "\n")


def needed(distribution: str, extra: str) -> set[str]:
    """Return the names of the installed distributions that one needs with an extra, itself among them."""
    found: dict[str, set[str]] = {}
    waiting = [(distribution, {extra})]
    while waiting:
        name, extras = waiting.pop()
        if name in found and extras <= found[name]:
            continue
        try:
            wanted = requires(name) or ()
        except PackageNotFoundError:  # left out here, as triton is where there is no GPU
            continue
        found[name] = extras = found.get(name, set()) | extras
        waiting += [
            (canonicalize_name(each.name), set(each.extras))
            for each in map(Requirement, wanted)
            if each.marker is None or any(each.marker.evaluate({"extra": one}) for one in ("", *extras))
        ]
    return set(found)


def of_packages(bom: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return an SBOM without the packages that are not named, such as those of tests."""
    components = [each for each in bom["components"] if canonicalize_name(each["name"]) in names]
    kept = {each["bom-ref"] for each in components} | {bom["metadata"]["component"]["bom-ref"]}
    dependencies = [
        {**each, "dependsOn": [ref for ref in each.get("dependsOn", ()) if ref in kept]}
        for each in bom["dependencies"]
        if each["ref"] in kept
    ]
    return {**bom, "components": components, "dependencies": dependencies}
