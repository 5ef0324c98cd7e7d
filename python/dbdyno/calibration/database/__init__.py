"""The same storage measured the way a database uses it, beside the device itself in the same blocks.

```
budget      how much of everything
server      which PostgreSQL: one of our own below the directory, or the one that a URL names
table       a table of which each row fills a page
plan        arms (the device, the server as it reads, the server past the page cache), levels, random order
load        a level as the engine's spec
counting    what the server, its processes and its device counted meanwhile
procedure   block after block, into the record's `database`
```
"""
