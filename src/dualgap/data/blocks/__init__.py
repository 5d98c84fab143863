"""Row blocks: contiguous runs of rows with their labels and weights, in memory, on disk or on Dask's workers."""

from dualgap.data.blocks.block import Block, Coding, Facts
from dualgap.data.blocks.blocks import Blocks
from dualgap.data.blocks.homes import Home

__all__ = ["Block", "Blocks", "Coding", "Facts", "Home"]
