"""Tables of a SQLite database, by the standard library's module, read-only.

```
database    the file, opened so that nothing is written beside it; its tables, their columns
collation   which texts a column takes for equal
canonical   values as bytes that are equal where SQLite says that the values are
rows        a table's rows as batches of such columns
session     these together, as `databases.Session`
```
"""
