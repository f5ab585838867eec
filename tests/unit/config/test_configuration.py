"""What sourcebook.yaml promises to the person who writes it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sourcebook.config.collection import FilesSource
from sourcebook.config.loading import Configuration, configuration_path, load_configuration, sourcebook_home
from sourcebook.errors import ConfigurationError
from tests.checkout import CHECKOUT

MINIMAL = """\
collections:
  handbook:
    files:
      - root: ./docs
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCEBOOK_CONFIG", raising=False)
    monkeypatch.delenv("SOURCEBOOK_HOME", raising=False)


def read(text: str | bytes) -> Configuration:
    path = Path("sourcebook.yaml").absolute()
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_configuration(path)


def refusal(text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return str(caught.value)


def collection(body: str) -> str:
    return MINIMAL + "".join(f"    {line}\n" for line in body.splitlines())


def source(line: str) -> str:
    return MINIMAL + f"        {line}\n"


class TestDefaults:
    def test_a_root_is_all_it_takes(self, tmp_path: Path) -> None:
        """Everything but a collection's root has a default."""
        handbook = read(MINIMAL).collections["handbook"]
        (files,) = handbook.files
        assert (files.include, files.exclude, files.tags) == (("**/*",), (), ())
        assert files.max_bytes == 100_000_000
        assert files.location == str(tmp_path / "docs")
        assert (handbook.chunking.tokens, handbook.chunking.overlap) == (256, 0)
        assert (handbook.embedding.model, handbook.embedding.precision) == ("auto", "auto")

    def test_every_setting_is_read(self) -> None:
        """What the file says is what the settings hold."""
        settings = read(
            """
            collections:
              2024.hand-book_x:
                files:
                  - root: ./docs
                    include: ["**/*.md", "./notes/"]
                    exclude: ["drafts/**"]
                    tags: [policy, policy, "2024"]
                    max_bytes: 1.5GiB
                chunking: {tokens: 512, overlap: 64}
                embedding:
                  {model: other, precision: bfloat16, device: cuda, generated_indexes: true}
            """
        ).collections["2024.hand-book_x"]
        assert settings.files[0].include == ("**/*.md", "notes/**")
        assert settings.files[0].exclude == ("drafts/**",)
        assert settings.files[0].tags == ("policy", "2024")
        assert settings.files[0].max_bytes == 3 * 2**29
        assert settings.chunking.model_dump() == {"tokens": 512, "overlap": 64, "context": ("title", "headings")}
        assert settings.embedding.model_dump() == {
            "model": "other",
            "dimensions": None,
            "precision": "bfloat16",
            "device": "cuda",
            "generated_indexes": True,
        }

    def test_settings_cannot_be_changed(self) -> None:
        """Settings are frozen."""
        with pytest.raises(ValidationError, match="frozen"):
            read(MINIMAL).collections["handbook"].chunking.tokens = 12

    def test_collections_share_settings_through_an_alias(self) -> None:
        """A YAML alias repeats the settings it names."""
        collections = read(MINIMAL.replace("handbook:", "handbook: &same") + "  other: *same\n").collections
        assert collections["handbook"] == collections["other"]


class TestWhichFile:
    def test_the_argument_wins_over_the_environment(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """An explicit path, then SOURCEBOOK_CONFIG, then ./sourcebook.yaml."""
        for name in ("sourcebook.yaml", "named.yaml", "argument.yaml"):
            (tmp_path / name).write_text(MINIMAL)
        assert load_configuration().path == tmp_path / "sourcebook.yaml"
        monkeypatch.setenv("SOURCEBOOK_CONFIG", "named.yaml")
        assert load_configuration().path == tmp_path / "named.yaml"
        assert load_configuration(Path("argument.yaml")).path == tmp_path / "argument.yaml"
        monkeypatch.setenv("SOURCEBOOK_CONFIG", "~/not-there.yaml")
        assert configuration_path() == Path.home() / "not-there.yaml"

    def test_a_missing_file_says_how_to_make_one(self, tmp_path: Path) -> None:
        """The message names the path that was looked at and holds an example that is itself valid."""
        with pytest.raises(ConfigurationError, match="no configuration at") as caught:
            load_configuration()
        message = str(caught.value)
        assert str(tmp_path / "sourcebook.yaml") in message
        assert read(message.split("\n\n", 1)[1]).collections.keys() == {"handbook"}

    def test_a_folder_or_an_unreadable_path_is_refused_by_name(self, tmp_path: Path) -> None:
        """What the operating system says is passed on."""
        with pytest.raises(ConfigurationError, match="Is a directory"):
            load_configuration(tmp_path)

    def test_state_lies_beside_the_file_unless_the_environment_says_where(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """SOURCEBOOK_HOME moves the folder for state; `~` is expanded."""
        assert sourcebook_home(tmp_path / "a" / "sourcebook.yaml") == tmp_path / "a" / ".sourcebook"
        monkeypatch.setenv("SOURCEBOOK_HOME", "state")
        assert sourcebook_home(tmp_path / "a" / "sourcebook.yaml") == tmp_path / "state"
        monkeypatch.setenv("SOURCEBOOK_HOME", "~/state")
        assert sourcebook_home(tmp_path / "a" / "sourcebook.yaml") == Path.home() / "state"


class TestRoots:
    @pytest.mark.parametrize("url", ["s3://bucket/docs", "memory://docs", "zip://*.md::s3://bucket/all.zip"])
    def test_a_url_is_kept_as_it_stands(self, url: str) -> None:
        """fsspec opens what the person wrote."""
        (files,) = read(MINIMAL.replace("./docs", url)).collections["handbook"].files
        assert (files.location, files.is_local) == (url, False)

    def test_a_password_in_a_url_is_refused_and_not_shown(self) -> None:
        with pytest.raises(ConfigurationError, match=r"files\[0\]\.root: found a URL with a password") as refused:
            read(MINIMAL.replace("./docs", "ftp://reader:tide42@example.com/docs"))
        assert "tide42" not in str(refused.value)

    @pytest.mark.parametrize("written", ["./docs", "docs/", "../{here}/docs", "{folder}/docs", "file://{folder}/docs"])
    def test_a_folder_has_one_location_however_it_is_written(self, written: str, tmp_path: Path) -> None:
        """The location is the identity of a source, so every spelling ends at the same path."""
        root = written.format(here=tmp_path.name, folder=tmp_path)
        (files,) = read(MINIMAL.replace("./docs", root)).collections["handbook"].files
        assert (files.location, files.is_local) == (str(tmp_path / "docs"), True)

    def test_a_root_is_relative_to_the_file_and_not_to_the_current_folder(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Reading the file from elsewhere changes nothing."""
        here = read(MINIMAL)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert load_configuration(here.path) == here
        assert here.collections["handbook"].files[0].location == str(tmp_path / "docs")

    def test_links_are_followed(self, tmp_path: Path) -> None:
        """A link to a folder is that folder."""
        (tmp_path / "real").mkdir()
        (tmp_path / "docs").symlink_to(tmp_path / "real")
        assert FilesSource(root="docs").location == str(tmp_path / "real")

    def test_the_home_folder_is_expanded(self) -> None:
        """`~` works as in a shell, and an unknown user's is an ordinary name."""
        assert FilesSource(root="~/docs").location == str(Path.home() / "docs")
        assert FilesSource(root="~nobody-of-that-name").location.endswith("/~nobody-of-that-name")

    def test_one_collection_has_a_root_once(self) -> None:
        """The second mention is the one that is named; another collection may have the same root."""
        message = refusal(MINIMAL + "      - root: docs/\n")
        assert "line 5, column 15: collections.handbook.files[1].root" in message
        assert "files[0] has this root already" in message
        assert len(read(MINIMAL + "  other:\n    files: [{root: docs}]\n").collections) == 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(
            collection("chunking: {tokens: 5}"),
            ["line 5, column 24: collections.handbook.chunking.tokens: found 5", "from 16 to 8192"],
            id="number too small",
        ),
        pytest.param(collection("chunking: {tokens: 9000}"), ["found 9000", "from 16 to 8192"], id="number too big"),
        pytest.param(collection("chunking: {tokens: true}"), ["found true", "a whole number"], id="not a number"),
        pytest.param(collection('chunking: {tokens: "64"}'), ["found '64'", "a whole number"], id="a number as text"),
        pytest.param(collection(f"chunking: {{tokens: {'9' * 5000}}}"), ["tokens: found"], id="an endless number"),
        pytest.param(
            collection("chunking: {tokens: 100, overlap: 50}"),
            ["line 5, column 38: collections.handbook.chunking.overlap: found 50", "less than half"],
            id="overlap of half",
        ),
        pytest.param(collection("chunking: {overlap: -1}"), ["found -1", "from 0"], id="negative overlap"),
        pytest.param(
            collection("chunking: big"), ["found 'big'", "a mapping with the keys tokens, overlap"], id="text"
        ),
        pytest.param(collection("chunking:"), ["line 5, column 5", "found nothing", "keys tokens"], id="no value"),
        pytest.param(
            collection("embeding: {model: x}"),
            [
                "line 5, column 5: collections.handbook.embeding",
                "did you mean embedding?",
                "files, sites, repositories, records, from, chunking, embedding",
            ],
            id="misspelt key",
        ),
        pytest.param(collection("<<: {}"), ["collections.handbook.<<: there is no such key"], id="merge key"),
        pytest.param(MINIMAL + "zzz: 1\n", ["line 5, column 1: zzz:", "allowed: collections"], id="key at the top"),
        pytest.param(
            collection("embedding: {precision: float16}"),
            ["found 'float16'", "allowed: auto, float32 or bfloat16"],
            id="unknown choice",
        ),
        pytest.param(source("max_bytes: 10XB"), ["found '10XB'", "100MB or 1GiB"], id="unknown unit"),
        pytest.param(source("follow_links: maybe"), ["found 'maybe'", "true or false"], id="links, perhaps"),
        pytest.param(source("max_bytes: 0"), ["found 0", "a size from 1"], id="no bytes"),
        pytest.param(source("max_bytes: 5iB"), ["found '5iB'"], id="half a unit"),
        pytest.param(source("tags: policy"), ["found 'policy'", "a list of words"], id="text for a list"),
        pytest.param(source("tags: [a, 12]"), ["files[0].tags[1]: found 12", "in quotes"], id="a number for a word"),
        pytest.param(source("include: []"), ["found an empty list", "at least one"], id="nothing included"),
        pytest.param(source("include: [/etc/*]"), ["include[0]: found '/etc/*'", "relative"], id="absolute pattern"),
        pytest.param(source('exclude: ["a/../b"]'), ["exclude[0]", "relative"], id="pattern that climbs"),
        pytest.param(MINIMAL.replace("./docs", '""'), ["files[0].root: found ''", "a folder"], id="empty root"),
        pytest.param(MINIMAL.replace("./docs", '"a\\0b"'), ["line 4", "not text"], id="NUL"),
        pytest.param(MINIMAL.replace("./docs", '"a\\ud800b"'), ["line 4"], id="half a character"),
        pytest.param(MINIMAL.replace("root: ./docs", "include: [a]"), ["line 4", "key root is missing"], id="no root"),
        pytest.param(
            "collections:\n  a: {chunking: {}}\n", ["collections.a: found neither files nor sites"], id="no files"
        ),
        pytest.param("collections: {}\n", ["found an empty mapping", "at least one"], id="no collection"),
        pytest.param(MINIMAL.replace("handbook", "my docs"), ["line 2, column 3", "'my docs'", "1 to 63"], id="name"),
        pytest.param(MINIMAL.replace("handbook", "a..b"), ["'a..b'", "single dots"], id="name with dots"),
        pytest.param(MINIMAL.replace("handbook", "_a"), ["'_a'", "beginning with a letter"], id="name's beginning"),
        pytest.param(MINIMAL.replace("handbook", "a" * 64), ["1 to 63"], id="name too long"),
        pytest.param(MINIMAL + "  handbook: {}\n", ["line 5, column 3", "already given on line 2"], id="key twice"),
        pytest.param("", ["line 1", "the file is empty", "root: ./docs"], id="empty file"),
        pytest.param("# nothing\n", ["the file is empty"], id="only a comment"),
        pytest.param("- a\n", ["does not hold a mapping", "root: ./docs"], id="a list"),
        pytest.param("collections: [\n", ["line 2", "not YAML"], id="syntax"),
        pytest.param("a: b: c\n", ["line 1, column 5", "not YAML"], id="two colons"),
        pytest.param("collections:\n\ta: 1\n", ["line 2, column 1", "spaces, not with tabs"], id="tab"),
        pytest.param("a: &x 1\nb: &x 2\n", ["no such key"], id="anchor given twice"),
        pytest.param("a: *nowhere\n", ["line 1, column 4", "not YAML"], id="unknown alias"),
        pytest.param("a: 1\n---\nb: 2\n", ["not YAML"], id="two documents"),
        pytest.param(b"a: \xff\n", ["line 1", "not UTF-8"], id="not UTF-8"),
        pytest.param("collections:\n  a\x07: 1\n", ["line 2, column 4", "U+0007"], id="control character"),
        pytest.param("? [a]\n: 1\n", ["line 1, column 3", "must be text"], id="a list as key"),
        pytest.param("a: !!python/object/apply:os.getcwd []\n", ["the YAML tag"], id="tag on a list"),
        pytest.param("a: !!python/name:os.getcwd x\n", ["line 1", "the YAML tag"], id="tag on a text"),
        pytest.param("a: !!str []\n", ["the YAML tag"], id="a list said to be text"),
        pytest.param("a: !!binary x\n", ["the YAML tag"], id="binary"),
        pytest.param("a: " + "[" * 100_000, ["nested too deeply"], id="depth that exhausts the stack"),
        pytest.param("a: " + "[" * 50 + "]" * 50, ["nested too deeply"], id="depth"),
        pytest.param("a: &a [*a]\n", ["nested too deeply"], id="an alias inside itself"),
        pytest.param("#" * 1_000_001, ["larger than 1,000,000 bytes"], id="size"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(text: str | bytes, parts: list[str]) -> None:
    """The message begins with the file and says where, what was found and what belongs there."""
    message = refusal(text)
    assert message.startswith(str(Path("sourcebook.yaml").absolute()))
    for part in parts:
        assert part in message


def test_every_mistake_is_reported_at_once_in_the_order_of_the_file() -> None:
    """Nobody mends a file one error at a time; a very broken one is cut short."""
    assert [line.split(": ")[1] for line in refusal(collection("embedding: 1\nchunking: 2")).splitlines()] == [
        "collections.handbook.embedding",
        "collections.handbook.chunking",
    ]
    assert refusal(MINIMAL + "".join(f"k{number}: 1\n" for number in range(100))).endswith("… and 80 more")


def test_aliases_that_repeat_aliases_are_refused_before_they_fill_the_memory() -> None:
    """A "billion laughs" file ends soon, with an error."""
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    begin = time.monotonic()
    assert "more than 20,000 values" in refusal(laughs)
    assert time.monotonic() - begin < 30


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.lists(
            st.sampled_from([
                "collections", "handbook", "files", "root", "tags", "chunking", "tokens", "max_bytes", "include",
                ": ", ":", "\n", "\n  ", "\n    ", "- ", "[", "]", "{", "}", ", ", "1", "true", "~", "&a ", "*a",
                "!!set ", "'", '"', "|", ">", "<<", "? ", "\t", "\0", "0x1F", ".inf", "2024-01-01",
                "%YAML 1.1\n---\n", "1_0", "é",
            ])
        ).map("".join),
    )
)  # fmt: skip
def test_whatever_the_file_holds_the_answer_is_settings_or_a_configuration_error(text: str | bytes) -> None:
    """No other exception reaches the person, whatever the bytes are."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        assert read(data).collections
    except ConfigurationError as error:
        assert str(error)  # noqa: PT017 - both outcomes are right


@given(st.integers(1, 999), st.sampled_from(["", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "mib"]))
def test_sizes_are_decimal_or_binary_as_their_unit_says(number: int, unit: str) -> None:
    """1KB is a thousand bytes and 1KiB is 1,024, with or without a space."""
    base = 1024 if "i" in unit.lower() else 1000
    expected = number * base ** "BKMG".index((unit or "B")[0].upper())
    for written in (f"{number}{unit}", f" {number} {unit}"):
        assert FilesSource.model_validate({"root": ".", "max_bytes": written}).max_bytes == expected


def test_importing_the_settings_needs_no_yaml_reader() -> None:
    """Programs that build settings themselves do not pay for reading YAML."""
    script = "import sys, sourcebook.config.loading; sys.exit('ruamel.yaml' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=CHECKOUT)


def test_the_guard_of_removals_has_sane_bounds() -> None:
    """A third of twelve is much, four of six is not; a share of 1 lets everything pass, and no share is above it."""
    rules = read(MINIMAL).collections["handbook"].removals
    assert [rules.hold(lost, 12) for lost in (3, 4, 5, 12)] == [False, False, True, True]
    assert not rules.hold(4, 6)
    assert not rules.hold(5, 17)
    assert not read(collection("removals: {share: 1}")).collections["handbook"].removals.hold(12, 12)
    assert read(collection("removals: {share: 0, at_least: 1}")).collections["handbook"].removals.hold(1, 1_000)
    for wrong in ("share: 1.1", "share: -1", "share: .nan", "at_least: 0", "at_least: many", "most: 3"):
        assert "removals" in refusal(collection(f"removals: {{{wrong}}}"))
