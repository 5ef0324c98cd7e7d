"""Tables of a PostgreSQL server.

```
session        a read-only session of ours
relation, columns, statistics, planner   what the server says of a table, together: catalogue
scan_source    which columns and rows are read; condition tries a user's --where
copy_plan      source (a): rows are copied to us, by the core
server_hash, sql_plan, sql_scan          source (b), --via sql: the server computes the registers
what_if, statements                      plans before and after a fix, rolled back
```
"""
