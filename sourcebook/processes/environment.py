"""The environment of child processes that read foreign bytes: without database URL, passwords and foreign tokens.

The resource trackers of multiprocessing and loky, one of each a process, keep the whole environment. They read the
names of temporary files and nothing else, and neither library takes another environment for them.
"""

import os
import re
from typing import Final

_NEEDED: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|DISPLAY|LANG|LANGUAGE|LC_\w+|TZ|TMP|TEMP|TMPDIR|XDG_\w+|"
    r"LD_\w+|DYLD_\w+|PYTHON\w+|VIRTUAL_ENV|COVERAGE_\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|"
    r"(?:HTTPS?|ALL|NO)_PROXY|HF_\w+|HUGGINGFACE_\w+|TRANSFORMERS_\w+|TOKENIZERS_\w+|SENTENCE_TRANSFORMERS_\w+|"
    r"TORCH\w*|PYTORCH_\w+|ONNX\w*|ORT_\w+|OMP_\w+|GOMP_\w+|KMP_\w+|MKL_\w+|OPENBLAS_\w+|BLIS_\w+|NUMEXPR_\w+|ATEN_\w+|"
    r"CT2_\w+|MALLOC_\w+|GLIBC_\w+|CUDA_\w+|NVIDIA_\w+|ROCM_\w+|DOCLING_\w+|LOKY_\w+|CRAWL4_AI_\w+|PLAYWRIGHT_\w+|"
    r"FONTCONFIG_\w+|DBUS_\w+|SOURCEBOOK_\w+",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(r"SOURCEBOOK_\w*(?:URL|PASSWORD|TOKEN|SECRET|KEY)|PYTHON\w*(?:PASSWORD|TOKEN|SECRET|KEY)")


def child_environment() -> dict[str, str]:
    """Return the variables that a parser, a model or a browser needs: places, languages, threads and certificates."""
    return {name: value for name, value in os.environ.items() if _is_needed(name)}


def hidden_variables() -> dict[str, str]:
    """Return the other variables with empty values, for libraries that can only replace variables of a child."""
    return {name: "" for name in os.environ if not _is_needed(name)}


def drop_hidden_variables() -> None:
    """Remove the variables that `hidden_variables` has emptied for this process."""
    for name in [name for name, value in os.environ.items() if not value and not _is_needed(name)]:
        del os.environ[name]


def _is_needed(name: str) -> bool:
    return _NEEDED.fullmatch(name) is not None and _SECRET.fullmatch(name) is None
