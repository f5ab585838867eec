"""Memory that a process has freed, but that its C library keeps."""

import ctypes


def return_freed_memory() -> None:
    """Give memory that is freed back to the system, where the C library keeps it, as glibc does."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
