"""A client in TypeScript, which openapi-typescript makes of the description of the API, has types for errors."""

import json
from pathlib import Path

import pytest

from sourcebook.server.app import create_app
from tests.node_programs import OPENAPI_TYPESCRIPT, TYPESCRIPT, NoRegistryError, run_program

PLAIN = ("--skipLibCheck", "--lib", "es2022")
"""The types of browsers, and the compiler's own, are no matter of this client's."""
PROGRAM = """\
import type { paths } from "./api";

type Search = paths["/v1/search"]["post"];
type Body = NonNullable<Search["requestBody"]>["content"]["application/json"];
type Answer = Search["responses"][200]["content"]["application/json"];
type Failure = Search["responses"][401]["content"]["application/problem+json"];

export const asked: Body = { query: "batteries" };
export const title = (answer: Answer): string | null => answer.results[0].title;
export const said = (failure: Failure): string => `${failure.status.toFixed()} ${failure.detail.trim()}`;
// @ts-expect-error: there is no such field
export const none = (failure: Failure) => failure.reason;
"""


def test_generated_without_a_warning_it_is_checked_by_the_compiler(tmp_path: Path) -> None:
    description = tmp_path / "openapi.json"
    described = create_app(None, requires_key=True).openapi()  # type: ignore[arg-type] # nothing is asked
    description.write_text(json.dumps(described), encoding="utf-8")
    (tmp_path / "program.ts").write_text(PROGRAM, encoding="utf-8")
    made = (str(description), "--default-non-nullable=false", "-o", str(tmp_path / "api.ts"))
    try:
        told = run_program(OPENAPI_TYPESCRIPT, *made, seconds=240)
    except NoRegistryError as error:
        pytest.skip(str(error))
    assert (told.returncode, told.stderr) == (0, "")
    checked = run_program(TYPESCRIPT, "--noEmit", "--strict", *PLAIN, str(tmp_path / "program.ts"), seconds=240)
    assert checked.returncode == 0, checked.stdout
