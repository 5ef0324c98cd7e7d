"""What the wait events of PostgreSQL 14 to 18 mean, and what to try when sessions spend their time in one.

Written for a DBA in a hurry: one sentence on what the session waits for, one concrete thing to do. Names changed their
capitals in 17 (`WALSync` became `WalSync`), so they are looked up without them.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Meaning:
    """`what` completes "sessions ..."; `next` is a command or a setting to try."""

    what: str
    next: str


_COMMITS = (
    "commit more rows per transaction; where losing the last commits in a crash is acceptable, "
    "SET synchronous_commit = off for those"
)
_WAL_DISK = "put pg_wal on a device with a fast flush (measure it: pg_test_fsync)"
_SHARED_BUFFERS = "find the reader under By query and look at its plan: EXPLAIN (ANALYZE, BUFFERS)"
_WORK_MEM = "raise work_mem for the query that spills (SET work_mem = '64MB') and watch temp_files in pg_stat_database"
BLOCKERS = "SELECT pg_blocking_pids(PID) names who holds the lock"
_PARALLEL = "compare with SET max_parallel_workers_per_gather = 0 for that query"
_SUBTRANSACTIONS = "avoid more than 64 savepoints or EXCEPTION blocks in a transaction, and end long transactions"
_MULTIXACT = "avoid many sessions locking the same rows FOR SHARE / FOR KEY SHARE; raise multixact SLRU buffers (17+)"
_CHECKPOINTS = "raise max_wal_size and checkpoint_timeout, so that checkpoints write less often"
_STANDBY = "look at the standby: SELECT application_name, write_lag, flush_lag, replay_lag FROM pg_stat_replication"

MEANINGS = {
    # -- IO -----------------------------------------------------------------------------------------------------------
    "IO:WalSync": Meaning("wait for the flush of the WAL to the disk: the price of a durable commit", _COMMITS),
    "IO:WalWrite": Meaning("write WAL to the operating system", _WAL_DISK),
    "IO:WalRead": Meaning(
        "read WAL, for replication or recovery", "raise wal_keep_size, or see which standby lags in pg_stat_replication"
    ),
    "IO:WalInitWrite": Meaning(
        "fill a new WAL file with zeros before its use", "raise min_wal_size, so that WAL files are used again"
    ),
    "IO:WalInitSync": Meaning(
        "flush a new WAL file before its use", "raise min_wal_size, so that WAL files are used again"
    ),
    "IO:WalCopyRead": Meaning("copy WAL to a new timeline", "wait: this is over once recovery is"),
    "IO:DataFileRead": Meaning("read table or index pages that were not in shared_buffers", _SHARED_BUFFERS),
    "IO:DataFileWrite": Meaning(
        "write dirty pages themselves, because no clean buffer was free",
        "raise bgwriter_lru_maxpages and bgwriter_lru_multiplier, or shared_buffers",
    ),
    "IO:DataFileExtend": Meaning(
        "make a table or index file longer", "load in fewer sessions, with COPY rather than INSERT"
    ),
    "IO:DataFileSync": Meaning("flush data files, as a checkpoint or a bulk load ends", _CHECKPOINTS),
    "IO:DataFileImmediateSync": Meaning(
        "flush a file that was made without WAL", "load data before its indexes are made, in one transaction"
    ),
    "IO:DataFileFlush": Meaning("ask the system to start writing dirty pages", "compare with backend_flush_after = 0"),
    "IO:DataFilePrefetch": Meaning(
        "ask the system to read ahead", "compare with effective_io_concurrency = 0 for that query"
    ),
    "IO:DataFileTruncate": Meaning("cut the empty end off a table file", "ALTER TABLE ... SET (vacuum_truncate = off)"),
    "IO:AioIoCompletion": Meaning(
        "wait until an I/O worker or the kernel has completed an asynchronous request; "
        "that is time in its queue as well, not the latency of the device",
        "see the I/O workers under Background; where they are busy raise io_workers, or try io_method = io_uring",
    ),
    "IO:AioIoUringSubmit": Meaning("hand requests to the kernel through io_uring", "compare with io_method = worker"),
    "IO:AioIoUringExecution": Meaning(
        "wait for the kernel to complete requests through io_uring, several at once; "
        "that is time in its queue as well, not the latency of the device",
        _SHARED_BUFFERS,
    ),
    "IO:BufFileRead": Meaning(
        "read temporary files: a sort, hash or materialised result did not fit its memory", _WORK_MEM
    ),
    "IO:BufFileWrite": Meaning(
        "write temporary files: a sort, hash or materialised result did not fit its memory", _WORK_MEM
    ),
    "IO:SlruRead": Meaning("read the status of old transactions from disk", _SUBTRANSACTIONS),
    "IO:SlruWrite": Meaning("write the status of transactions to disk", _SUBTRANSACTIONS),
    "IO:SlruSync": Meaning("flush the status of transactions, in a checkpoint", _CHECKPOINTS),
    "IO:SlruFlushSync": Meaning("flush the status of transactions, in a checkpoint", _CHECKPOINTS),
    "IO:ControlFileSyncUpdate": Meaning("flush the control file", _CHECKPOINTS),
    "IO:CopyFileRead": Meaning(
        "read files while a database is copied", "CREATE DATABASE ... STRATEGY wal_log for a small template"
    ),
    "IO:CopyFileWrite": Meaning(
        "write files while a database is copied", "CREATE DATABASE ... STRATEGY wal_log for a small template"
    ),
    "IO:BaseBackupRead": Meaning(
        "read data files for a base backup", "pg_basebackup --max-rate=32M, or at another hour"
    ),
    "IO:ReorderBufferRead": Meaning(
        "read large transactions that logical decoding spilled", "raise logical_decoding_work_mem"
    ),
    "IO:ReorderBufferWrite": Meaning("spill large transactions in logical decoding", "raise logical_decoding_work_mem"),
    "IO:DsmFillZeroWrite": Meaning("make shared memory for parallel workers", "mount a larger /dev/shm"),
    "IO:RelationMapRead": Meaning(
        "read which files the catalogs are in, when a session starts", "use a connection pool: sessions start too often"
    ),
    # -- LWLock -------------------------------------------------------------------------------------------------------
    "LWLock:WALWrite": Meaning(
        "wait while another session writes and flushes the WAL, theirs with it: group commit at work", _COMMITS
    ),
    "LWLock:WALInsert": Meaning(
        "stand in line to copy their WAL into the buffers",
        "write less WAL: fewer indexes, wal_compression = lz4, longer between checkpoints",
    ),
    "LWLock:WALBufMapping": Meaning("wait for a free WAL buffer", "raise wal_buffers to 64MB"),
    "LWLock:LockManager": Meaning(
        "stand in line for the table of heavy locks: queries that lock more than 16 relations (partitions, indexes)",
        "prune partitions at planning time, drop unused indexes; from 18 on raise max_locks_per_transaction",
    ),
    "LWLock:BufferContent": Meaning(
        "wait for the content lock of one page: many sessions change the same page",
        "find the hot table under By query; spread it: a lower fillfactor, hash partitions, fewer counters in one row",
    ),
    "LWLock:AioUringCompletion": Meaning(
        "wait while another session takes completed requests out of this one's io_uring; "
        "that is time in the kernel's queue as well, not the latency of the device",
        "compare with io_method = worker",
    ),
    "LWLock:BufferMapping": Meaning(
        "stand in line for the table of buffers: pages come and go quickly",
        "raise shared_buffers, or make the scans that replace its content rarer",
    ),
    "LWLock:ProcArray": Meaning(
        "stand in line for the list of running transactions: snapshots and commits at a high rate",
        "use a connection pool with fewer server connections",
    ),
    "LWLock:XidGen": Meaning("stand in line for a transaction id", "write in fewer, larger transactions"),
    "LWLock:XactSLRU": Meaning("stand in line for the pages of transaction status", _SUBTRANSACTIONS),
    "LWLock:XactBuffer": Meaning("wait while a page of transaction status is read or written", _SUBTRANSACTIONS),
    "LWLock:SubtransSLRU": Meaning("stand in line for the parents of subtransactions", _SUBTRANSACTIONS),
    "LWLock:SubtransBuffer": Meaning("wait while parents of subtransactions are read", _SUBTRANSACTIONS),
    "LWLock:MultiXactOffsetSLRU": Meaning(
        "stand in line for locks that several transactions share on rows", _MULTIXACT
    ),
    "LWLock:MultiXactMemberSLRU": Meaning(
        "stand in line for locks that several transactions share on rows", _MULTIXACT
    ),
    "LWLock:MultiXactOffsetBuffer": Meaning("wait while shared row locks are read or written", _MULTIXACT),
    "LWLock:MultiXactMemberBuffer": Meaning("wait while shared row locks are read or written", _MULTIXACT),
    "LWLock:MultiXactGen": Meaning("stand in line to make a shared row lock", _MULTIXACT),
    "LWLock:SInvalRead": Meaning(
        "read messages that catalogs changed", "create and drop fewer temporary tables, or other DDL, per second"
    ),
    "LWLock:SInvalWrite": Meaning(
        "send messages that catalogs changed", "create and drop fewer temporary tables, or other DDL, per second"
    ),
    "LWLock:CheckpointerComm": Meaning(
        "stand in line to hand flush requests to the checkpointer",
        "raise shared_buffers; see the checkpointer under Background",
    ),
    "LWLock:DynamicSharedMemoryControl": Meaning(
        "stand in line to make or end shared memory of parallel workers", _PARALLEL
    ),
    "LWLock:ParallelHashJoin": Meaning("coordinate a parallel hash join", _PARALLEL),
    "LWLock:ParallelQueryDSA": Meaning("stand in line for the memory of a parallel query", _PARALLEL),
    "LWLock:SharedTidBitmap": Meaning("share a bitmap among parallel workers", _PARALLEL),
    "LWLock:SerializableXactHash": Meaning(
        "keep track of serializable transactions", "use READ ONLY where nothing is written, and shorter transactions"
    ),
    "LWLock:PredicateLockManager": Meaning(
        "keep track of what serializable transactions read",
        "use READ ONLY where nothing is written, and shorter transactions",
    ),
    "LWLock:ReplicationSlotControl": Meaning(
        "stand in line for the replication slots", "drop slots that nobody uses: SELECT * FROM pg_replication_slots"
    ),
    "LWLock:PgStatsHash": Meaning(
        "stand in line for statistics of relations", "use a connection pool, or fewer relations per query"
    ),
    "LWLock:pg_stat_statements": Meaning(
        "stand in line for pg_stat_statements",
        "raise pg_stat_statements.max, set pg_stat_statements.track_planning = off",
    ),
    # -- Lock ---------------------------------------------------------------------------------------------------------
    "Lock:transactionid": Meaning("wait for another transaction to end, because it changed the same row", BLOCKERS),
    "Lock:tuple": Meaning("stand in line for one row that several sessions want to change", BLOCKERS),
    "Lock:relation": Meaning(
        "wait for a lock on a whole table, as DDL, VACUUM FULL or LOCK take it",
        BLOCKERS + "; run DDL with SET lock_timeout = '2s'",
    ),
    "Lock:extend": Meaning(
        "wait while another session makes the same table longer",
        "load in fewer sessions, with COPY; PostgreSQL 16 and later extend in larger steps",
    ),
    "Lock:virtualxid": Meaning("wait for older snapshots to end, as CREATE INDEX CONCURRENTLY does", BLOCKERS),
    "Lock:advisory": Meaning("wait for an advisory lock: the application's own", BLOCKERS),
    "Lock:object": Meaning("wait for a lock on an object that is no table", BLOCKERS),
    "Lock:page": Meaning(
        "wait for a lock on an index page (GIN, hash)", "REINDEX, or set fastupdate = off for that GIN index"
    ),
    "Lock:frozenid": Meaning("wait while another session advances the oldest transaction id of the database", BLOCKERS),
    "Lock:spectoken": Meaning(
        "wait for another session's INSERT ... ON CONFLICT of the same key",
        "insert a key from one session only, or keys in one order",
    ),
    "BufferPin:BufferPin": Meaning(
        "wait until nobody looks at a page, in order to clean it",
        "close cursors that stay open; see who is idle in transaction",
    ),
    # -- IPC ----------------------------------------------------------------------------------------------------------
    "IPC:BufferIO": Meaning("wait for a page that another session is reading", _SHARED_BUFFERS),
    "IPC:MessageQueueSend": Meaning(
        "are parallel workers whose leader does not take their rows as fast",
        "let fewer rows cross the Gather: aggregate below it; " + _PARALLEL,
    ),
    "IPC:MessageQueueReceive": Meaning("wait for rows from parallel workers", _PARALLEL),
    "IPC:MessageQueueInternal": Meaning("wait for another process to attach to their queue", _PARALLEL),
    "IPC:ExecuteGather": Meaning("wait for rows from parallel workers, whose own time is counted as well", _PARALLEL),
    "IPC:ParallelFinish": Meaning("wait for parallel workers to finish", _PARALLEL),
    "IPC:ParallelCreateIndexScan": Meaning("wait for the workers of CREATE INDEX", "raise maintenance_work_mem"),
    "IPC:BgworkerStartup": Meaning("wait for a worker to start", _PARALLEL),
    "IPC:BgworkerShutdown": Meaning("wait for a worker to end", _PARALLEL),
    "IPC:HashBuildHashInner": Meaning("wait for others that build the same hash table", _PARALLEL),
    "IPC:HashBatchLoad": Meaning("wait for others that load a batch of a hash join", _WORK_MEM),
    "IPC:ParallelBitmapScan": Meaning("wait for the bitmap that another worker makes", _PARALLEL),
    "IPC:BtreePage": Meaning("wait for the next page of a parallel index scan", _PARALLEL),
    "IPC:ProcArrayGroupUpdate": Meaning(
        "wait while a leader ends many transactions at once: a very high commit rate", _COMMITS
    ),
    "IPC:XactGroupUpdate": Meaning("wait while a leader writes the status of many transactions at once", _COMMITS),
    "IPC:SyncRep": Meaning("wait for a synchronous standby to confirm a commit", _STANDBY),
    "IPC:CheckpointStart": Meaning(
        "wait for a checkpoint to begin", "find who asks for checkpoints: CREATE DATABASE, backups, CHECKPOINT"
    ),
    "IPC:CheckpointDone": Meaning(
        "wait for a checkpoint to end", "find who asks for checkpoints: CREATE DATABASE, backups, CHECKPOINT"
    ),
    "IPC:ProcsignalBarrier": Meaning(
        "wait for all processes to take note of a change, as DROP DATABASE does",
        "look for processes that do not answer: long CPU loops in extensions",
    ),
    "IPC:SafeSnapshot": Meaning(
        "wait for a snapshot for a READ ONLY DEFERRABLE transaction", "end the serializable transactions that write"
    ),
    "IPC:RecoveryConflictSnapshot": Meaning(
        "hold up recovery because queries need old rows",
        "lower max_standby_streaming_delay, or run the query elsewhere",
    ),
    # -- Timeout ------------------------------------------------------------------------------------------------------
    "Timeout:PgSleep": Meaning("sleep because they were told to: pg_sleep()", "find the caller under By query"),
    "Timeout:VacuumDelay": Meaning(
        "pause in VACUUM on purpose",
        "where vacuum cannot keep up raise vacuum_cost_limit, or lower autovacuum_vacuum_cost_delay",
    ),
    "Timeout:VacuumTruncate": Meaning(
        "wait for a lock to cut the empty end off a table", "ALTER TABLE ... SET (vacuum_truncate = off)"
    ),
    "Timeout:SpinDelay": Meaning(
        "back off from a contended spinlock", "use a connection pool with fewer server connections"
    ),
    "Timeout:RegisterSyncRequest": Meaning(
        "wait because the checkpointer's queue of flush requests is full",
        "raise shared_buffers; see the checkpointer under Background",
    ),
    "Timeout:BaseBackupThrottle": Meaning(
        "pause in a base backup on purpose", "raise --max-rate if the backup should be faster"
    ),
    "Timeout:CheckpointWriteDelay": Meaning(
        "pace the writes of a checkpoint on purpose", "nothing: this is checkpoint_completion_target at work"
    ),
    # -- Client, Extension --------------------------------------------------------------------------------------------
    "Client:ClientRead": Meaning(
        "wait for the client in the middle of a statement: COPY data, or the rest of a pipeline",
        "send from nearer by, or in larger portions",
    ),
    "Client:ClientWrite": Meaning(
        "wait for the client to take the result",
        "fetch less, or faster: LIMIT, fewer columns, a client that does not compute between fetches",
    ),
    "Client:SSLOpenServer": Meaning("negotiate TLS with a client", "use a connection pool: sessions start too often"),
    "Extension:Extension": Meaning(
        "wait in an extension, which does not say for what",
        "find the query under By query: it calls dblink, postgres_fdw or the like",
    ),
    "Extension:PostgresFdwGetResult": Meaning("wait for another server, through postgres_fdw", "profile that server"),
    "Extension:DblinkGetResult": Meaning("wait for another server, through dblink", "profile that server"),
}

_CLASSES = {
    "IO": Meaning("wait for a file", "find the query under By query: EXPLAIN (ANALYZE, BUFFERS)"),
    "LWLock": Meaning("stand in line for a short internal lock", "use a connection pool with fewer server connections"),
    "Lock": Meaning("wait for a lock that another session holds", BLOCKERS),
    "IPC": Meaning("wait for another process of the server", _PARALLEL),
    "Timeout": Meaning("wait for a time to pass", "find the query under By query"),
    "Extension": Meaning("wait in an extension", "ask the extension's manual for this event"),
    "BufferPin": Meaning("wait until nobody looks at a page", "close cursors that stay open"),
    "InjectionPoint": Meaning("wait at a point for tests", "use a server that was not built for tests"),
}
_BY_NAME = {event.lower(): meaning for event, meaning in MEANINGS.items()}


def explain(event: str) -> Meaning | None:
    """What an event means, else what its class does; None for a class that we do not know."""
    return _BY_NAME.get(event.lower()) or _CLASSES.get(event.partition(":")[0])


def meaning_of(event: str) -> str | None:
    """In words: what sessions do in this event."""
    found = explain(event)
    return None if found is None else found.what
