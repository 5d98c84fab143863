"""Writes docs/datasets.md: its text stands here, its tables are made of the table of data sets.

Run `python docs/make_datasets.py` after a change of that table; tests/test_published.py holds the page current.
"""

from __future__ import annotations

from pathlib import Path

from dualgap.datasets import DATASETS
from dualgap.datasets.published import PUBLISHED, Published, Stored

PAGE = Path(__file__).with_name("datasets.md")
HEAD = """# Data sets

This page is written by `python docs/make_datasets.py`. `dualgap datasets` prints the same list and says which are here.

A data set is a name, a spec or a file, on the command line and in Python:

```python
from dualgap.datasets import for_task, load, split

cancer = load("breast-cancer")  # .X .y .X_test .y_test .feature_names .description .source
noisy = load("simulated(n=500, d=20, noise=0.8)")
parts = split(for_task(cancer, "classification"), test_size=0.2, seed=0)  # standardized where the set asks for it
```

`-` and `_` are the same in names. Where a set has more than two labels, `load` keeps them all: `dualgap fit` then fits every
class, `positive=["3"]` (`--positive 3`) sets some against the rest, and `for_task`, and so a race, takes the two classes that
the table names.

## Where files are looked for

1. In the folders that the variable `DUALGAP_DATA` names, one or more, separated as in `PATH`.
2. In the cache: the folder that `DUALGAP_CACHE` names, else the place your system has for such things (`dualgap datasets`
   prints it; the extra `race` knows it).
3. Nowhere else, unless you ask: `dualgap datasets skin covtype --download`, or `load("skin", download=True)`, fetches what
   scikit-learn or OpenML has into the cache.

What is read is compared with the sizes below (rows, columns, rows of each label, mean of a measured target), and refused if it
is something else; a download is compared before it enters the cache, and moved there in one step. **The live downloads were
not exercised:** no network was at hand when they were written. The tests fetch from a local server that answers as OpenML
does, through scikit-learn's own fetchers, and try what happens when it fails, ends early, or sends something else.

A dense file is an `.npz` with `X` and `y`, perhaps `X_test`, `y_test` and `feature_names`; a sparse one has `data`, `indices`,
`indptr`, `shape` and `y`, its test part with the ending `_test`. Adult and Arrhythmia are UCI's own text as `.csv.gz`.

## Your own files

| file | what is needed |
|---|---|
| `.svm`, `.libsvm`, `.svmlight`, or no suffix | a label and `index:value` pairs in each line; also `.gz` and `.bz2` |
| `.csv`, `.tsv` | numbers, with or without a header, between commas, semicolons or tabs; the target is the last column or `--target`, and may be words; also `.gz` and `.bz2` |
| `.parquet` | the same, with the extra `io` |
| `.npz` | as above |
| a folder or `.zip` of pictures | a folder for each label, with the extra `images`; `TRAIN` and `TEST` above them become the parts |

A file that is damaged or is not what its name says is refused in one sentence that names it, the line where one is at fault, and
what is needed; the command line then leaves with 2. Zips are read in memory and never unpacked.

### What a csv file may hold

| in the file | what happens |
|---|---|
| UTF-8, with a byte-order mark or without; UTF-16 and UTF-32 with one | read |
| another encoding | refused with the line and the byte, because two labels that differ in that byte alone would become one; `--encoding latin-1` |
| a decimal comma, where cells are separated by something else | read; `1,234` alone, which could be 1234, and points beside commas are refused; `--decimal ,` |
| `True`, `False` in any case | 1 and 0; as labels they stay words |
| dates and times | refused: days since a fixed day, or month and weekday, are numbers that a linear model can use |
| text | refused by races; `dualgap fit --onehot` makes a column of each category, `--category COL` of numbers such as zip codes too, `--drop COL` leaves columns out |
| missing cells: nothing, `?`, `NA`, `n/a`, `nan`, `null`, `none` | refused; `dualgap fit --impute median` (or `mean`) fills numbers, and in text a missing cell is a category |

In Python, `load("people.csv", options=TextOptions(encoding="latin-1", drop=("name",)))`, with `TextOptions` of
`dualgap.datasets.layout`, reads columns that are numbers; text and gaps are the work of pandas and scikit-learn there.
"""


def page() -> str:
    """The whole page as Markdown."""
    built_in = [(name, source) for name, source in DATASETS.items() if not issubclass(source, Stored)]
    parts = [HEAD, "## Built in\n", "| name | rows × columns | from | what it is |", "|---|---|---|---|"]
    parts += [
        f"| `{name}` | {_size(source().shape)} | {source.source} | {source.summary} |" for name, source in built_in
    ]
    parts += ["\n## Published\n", "| name | rows × columns | labels | files | download | from | what it is |"]
    parts += ["|---|---|---|---|---|---|---|", *(_line(row) for row in PUBLISHED.values())]
    genomic = DATASETS["genomic"]
    parts.append(
        f"\n`genomic` is {genomic.summary}: `prostate` as it is, or `genomic(stand_in=golub)`, `tox171` or "
        "`breast_relapse`. Counts of labels are those of the training part, labels ascending; after + stand the rows of an "
        "official test part."
    )
    return "\n".join(parts) + "\n"


def _line(row: Published) -> str:
    files = ", ".join(f"`{file}`" for file in row.files)
    tested = f" + {row.test_rows:,}" if row.test_rows else ""
    download = (
        f"`{row.download}`" if row.download.startswith("fetch") else row.download.replace("openml", "OpenML") or "–"
    )
    size = f"{row.shape[0]:,}{tested} × {row.shape[1]:,}"
    return f"| `{row.name}` | {size} | {_labels(row)} | {files} | {download} | {row.source} | {row.summary} |"


def _labels(row: Published) -> str:
    """The counts where they are few, else how many labels there are and how large."""
    if not row.counts:
        return f"mean {row.mean:.6g}"
    if len(row.counts) <= 4:
        return ", ".join(f"{count:,}" for count in row.counts)
    return f"{len(row.counts)} of {min(row.counts):,} to {max(row.counts):,}"


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
