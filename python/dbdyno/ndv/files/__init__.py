"""Files that are one table: Parquet, CSV and Arrow.

```
plan      the spec of the core for all of them, or for one
part      what is known of some of the files: made by the core, united with what is known of others
cluster   a scheduler of dask.distributed and its workers: one that runs, or one in this process
spread    a file for each task, a tree of unions, and the outcome of the whole
```
"""
