"""Data: the table of known sets, generators, readers of files, and the split into train and test."""

from dualgap.datasets.catalog import DATASETS, load, place_of, title
from dualgap.datasets.dataset import Dataset, against_rest, for_task
from dualgap.datasets.splitting import split

__all__ = ["DATASETS", "Dataset", "against_rest", "for_task", "load", "place_of", "split", "title"]
