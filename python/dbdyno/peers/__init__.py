"""Other engines that do an arm's work, each in a process of its own: DuckDB, SQLite, and `dbdyno ndv` by COPY.

```
python -m dbdyno.peers          a program that is started for one trial and ends with it
   < {"engine": "duckdb", "statement": "...", ...}      what to do; open everything
   > {"settings": {...}, "version": "2.0.0"}            ready: it sleeps, its clocks and memory can be read
   < go
   > {"started_at_ns": 0, "elapsed_ns": 0, "cpu_ns": 0, "run_queue_ns": 0, "row": {"id": 500000}}
```

With `load` in the first line it makes DuckDB's file from pipes that it was handed, and ends.
CPU and run queue are of the thread that asked the engine; its other threads have their part in the process's CPU time.
What goes wrong is `{"error": "..."}` in the place of an answer.
"""
