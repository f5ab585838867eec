"""The sentence on a source whose loss of documents is held back; see `RemovalSettings`."""

from sourcebook.model.counted import counted


def held_back(
    lost: int, of: int, collection: str, lost_as: str = "gone at once, as from a disk that is not mounted"
) -> str:
    """Say how many documents of a source are kept, and what takes their loss."""
    are = "is" if lost == 1 else "are"
    return (
        f"{lost:,} of its {counted(of, 'document')} {are} {lost_as}: they stay "
        f"searchable until they are back, or until  sourcebook ingest {collection} --accept"
    )
