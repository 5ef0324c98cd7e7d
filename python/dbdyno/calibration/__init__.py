"""What a directory's storage can do: measured by a schedule of cells, each one load for one window.

```
place      may we measure here, and what is it that we measure
own_file   a file that nobody else sees and that is gone with us
storage    runs cells and flushes: on a file, or on a device of known truth
budget     how much of everything: quick, standard, full
phases     the cells of each phase, in random order within blocks
procedure  phase after phase, into the record
```

Nothing here knows statistics.
"""
