"""Release the version in pyproject.toml: wheel, sdist and SBOM in `dist/`, checked in empty environments, and a tag.

Everything is made of a clone of the last commit, so that no file of the checkout gets in, and a failure leaves nothing.
"""

import argparse
import shutil
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from release.checking import check_installed, check_rebuilt
from release.running import ReleaseError, make_environment, run
from release.sbom import write_sbom
from release.source import check_source, clone, commit_date, dated, tag

CHECKOUT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run the command; exit with 1 and a sentence where there is nothing to release."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--no-tag", action="store_true", help="build and check alone, of whatever is committed")
    try:
        _release(is_tagged=not parser.parse_args().no_tag)
    except ReleaseError as error:
        sys.exit(f"release: {error}")


def _release(*, is_tagged: bool) -> None:
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if is_tagged:
        check_source(CHECKOUT, version)
    work, dist = CHECKOUT / "build" / "release", CHECKOUT / "dist"
    for folder in (work, dist):
        shutil.rmtree(folder, ignore_errors=True)
    source = clone(CHECKOUT, work / "source")
    changelog = source / "CHANGELOG.md"
    text = dated(changelog.read_text(encoding="utf-8"), version, datetime.now(UTC).date())
    if text != changelog.read_text(encoding="utf-8"):
        changelog.write_text(text, encoding="utf-8")
        commit_date(CHECKOUT, source, version)
    tools = make_environment(work / "tools", "--require-hashes", "--no-deps", "-r", source / "release" / "tools.txt")
    run(tools, "-m", "build", "--no-isolation", "--outdir", dist, source)
    wheel = dist / f"sourcebook-{version}-py3-none-any.whl"
    check_rebuilt(tools, source, wheel)
    write_sbom(tools, source / "pyproject.toml", dist / f"sourcebook-{version}.cdx.json")
    check_installed(work, wheel, source / "constraints.txt", version)
    if is_tagged:
        tag(CHECKOUT, source, version)
    for path in sorted(dist.iterdir()):
        print(f"{path.relative_to(CHECKOUT)}  {path.stat().st_size:,} bytes")
    print(f"Tagged v{version}; publish it with: git push --follow-tags" if is_tagged else "Checked; nothing is tagged.")


if __name__ == "__main__":
    main()
