"""How many different values a column has: what to read, where and how.

```
decoders    which PostgreSQL type is brought to a comparable form by which decoder of the core
postgres/   tables of PostgreSQL: the catalogue, rows copied to us, registers computed by the server, plans what-if
```

Reads only. What the figures mean is `analysis.ndv`, which takes plain documents from here.
"""
