"""What a directory's storage can do: measured by a schedule of cells, each one load for one window.

```
place      may we measure here, and what is it that we measure
own_file   a file that nobody else sees and that is gone with us
existing_file, file_phases   files that are there: read, and left as they are
guard, guard_rule   a service that must not suffer meanwhile
storage    runs cells and flushes: on a file, or on a device of known truth
budget     how much of everything: quick, standard, full
phases     the cells of each phase, in random order within blocks
procedure  phase after phase, into the record
running, spending   cell after cell, within the byte budget
```

Nothing here knows statistics, but for the rule of the guard.
"""
