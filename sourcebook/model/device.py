"""Names of the devices that models compute on."""

from typing import Literal

DeviceSetting = Literal["auto", "cpu", "cuda", "mps"]


DeviceName = Literal["cpu", "cuda", "mps"]
