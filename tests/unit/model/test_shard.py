"""The shard of an item follows from its URI alone."""

from collections import Counter

from sourcebook.model.shard import BUCKETS, Shard, bucket_of, partition_keys, shards_of


def test_every_item_is_in_exactly_one_shard() -> None:
    """Whatever the number of shards, they share all items among them, about evenly."""
    uris = [f"file:///library/{number}.md" for number in range(4_000)]
    for number in (2, 3, 8, 64):
        counts = Counter(shard.number for uri in uris for shard in shards_of("handbook", number) if shard.takes(uri))
        assert counts.total() == len(uris)
        assert max(counts.values()) < 2 * len(uris) / number
    assert shards_of("handbook", 1) == []


def test_the_pages_of_a_host_are_together() -> None:
    """Politeness is whole: a crawl and its pages are one worker's, in whatever case the host is written."""
    pages = ("https://docs.example.org/a", "https://DOCS.example.org/b?page=2", "https://docs.example.org")
    assert len({bucket_of(page) for page in pages}) == 1
    assert all(0 <= bucket_of(f"https://host{number}.example/") < BUCKETS for number in range(100))


def test_a_partition_key_is_read_back() -> None:
    """With one shard the key is the collection's name, as before there were shards."""
    assert partition_keys("handbook", 1) == ["handbook"]
    assert partition_keys("handbook", 2) == ["handbook:1of2", "handbook:2of2"]
    assert Shard.of_key("handbook:2of4") == ("handbook", Shard("handbook", 2, 4))
    assert Shard.of_key("a.b-c_9") == ("a.b-c_9", None)
