"""Azure's form of OpenAI's protocol: deployment and version in the address, the key in a header of its own."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

KEY_HEADER: Final = "api-key"


@dataclass(frozen=True, slots=True)
class AzureApi:
    """The API of one resource of Azure."""

    version: str | None
    """Such as `2024-10-21`; None for the API `v1`, which has none."""

    def path(self, path: str, model: object) -> str:
        """Return the path of a request below the address of the resource.

        Args:
            path: path in OpenAI's protocol, such as `/embeddings`.
            model: name of the deployment.
        """
        return (
            f"/openai/v1{path}" if self.version is None else f"/openai/deployments/{quote(str(model), safe='')}{path}"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the address."""
        return {} if self.version is None else {"api-version": self.version}
