//! What a line of a trace can say. Texts are borrowed from the line; times are nanoseconds.

/// A kind of database call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallKind {
    Parse,
    Exec,
    Fetch,
    Unmap,
    SortUnmap,
    Close,
    /// On a large object; has no cursor.
    Lob,
    /// A remote procedure that the client has called; has no cursor.
    Rpc,
}

impl CallKind {
    pub(super) const COUNT: usize = 8;
    pub(super) const ALL: [Self; Self::COUNT] =
        [Self::Parse, Self::Exec, Self::Fetch, Self::Unmap, Self::SortUnmap, Self::Close, Self::Lob, Self::Rpc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Exec => "exec",
            Self::Fetch => "fetch",
            Self::Unmap => "unmap",
            Self::SortUnmap => "sort_unmap",
            Self::Close => "close",
            Self::Lob => "lob",
            Self::Rpc => "rpc",
        }
    }
}

/// `EXEC #3:c=0,e=104,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=4,plh=2239883476,tim=664029042165`, and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub kind: CallKind,
    pub cursor: u64,
    /// CPU and elapsed, both with those of its recursive calls.
    pub cpu_ns: i64,
    pub elapsed_ns: i64,
    pub physical_reads: i64,
    pub consistent_reads: i64,
    pub current_reads: i64,
    pub misses: i64,
    pub rows: i64,
    pub depth: usize,
    pub plan_hash: u64,
    /// None with `timed_statistics` off.
    pub tim_ns: Option<i64>,
    /// A duration below zero or longer than any can be: a clock was set back.
    pub is_questionable: bool,
}

/// `LOBREAD: type=TEMPORARY LOB,bytes=32528,c=99,e=577,p=8,cr=7,cu=1,tim=648123782`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LobCall<'a> {
    pub operation: &'a [u8],
    pub bytes: i64,
    pub call: Call,
}

/// `WAIT #3: nam='db file sequential read' ela= 8458 file#=110 block#=63682 blocks=1 obj#=221 tim=506028963546`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait<'a> {
    pub cursor: u64,
    pub event: &'a [u8],
    pub elapsed_ns: i64,
    /// Between `ela` and `obj#`.
    pub parameters: &'a [u8],
    pub object: Option<i64>,
    /// None before 10g.
    pub tim_ns: Option<i64>,
    pub is_questionable: bool,
}

/// `PARSING IN CURSOR #3 len=6 dep=1 uid=90 oct=44 lid=90 tim=14849138 hv=255718823 ad='0' sqlid='8ggw94h7mvxd7'`, and
/// `PARSE ERROR`, which has `err` and no `hv`. The text follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parsing<'a> {
    pub cursor: u64,
    pub text_bytes: i64,
    pub depth: usize,
    pub user: i64,
    pub command: i64,
    pub hash_value: Option<i64>,
    pub sql_id: Option<&'a [u8]>,
    pub error: Option<i64>,
    pub tim_ns: Option<i64>,
}

/// `STAT #2 id=1 cnt=1 pid=0 pos=1 obj=22 op='TABLE ACCESS FULL T (cr=2 pr=0 pw=0 str=1 time=60 us cost=1 size=160
/// card=1)'`; -1 where the version does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat<'a> {
    pub cursor: u64,
    pub id: i64,
    pub rows: i64,
    pub parent: i64,
    pub position: i64,
    pub object: i64,
    pub operation: &'a [u8],
    pub consistent_reads: i64,
    pub physical_reads: i64,
    pub physical_writes: i64,
    pub starts: i64,
    pub time_ns: i64,
    pub cost: i64,
    pub bytes: i64,
    pub cardinality: i64,
}

/// What a `***` line says of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark<'a> {
    /// `*** 2019-07-09T09:57:07.703476-07:00 (PDB(8))`.
    Time(&'a [u8]),
    /// `*** SESSION ID:(504.46635) ...`.
    Session(&'a [u8]),
    /// `*** [ Unix process pid: 9850 ]` of trcsess; `Unix process pid: 9850, image: ...` of a header.
    Process(u64),
    /// Service, module, action, client, driver, container: (which, its name).
    Attribute(Attribute, &'a [u8]),
    /// Module and action of 9i.
    Application { module: &'a [u8], action: &'a [u8] },
    /// Of the file itself: it is continued elsewhere, or has reached its limit.
    File(FileMark),
}

/// What a session says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attribute {
    Service,
    Module,
    Action,
    Client,
    Driver,
    Container,
}

impl Attribute {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Module => "module",
            Self::Action => "action",
            Self::Client => "client_id",
            Self::Driver => "client_driver",
            Self::Container => "container_id",
        }
    }
}

/// Where the trace does not begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileMark {
    ContinuesElsewhere,
    ContinuedFromElsewhere,
    SizeLimited,
}

/// A line that means something wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Call(Call),
    Lob(LobCall<'a>),
    Wait(Wait<'a>),
    Parsing(Parsing<'a>),
    ParseError(Parsing<'a>),
    EndOfStatement,
    Binds(u64),
    Stat(Stat<'a>),
    /// `XCTEND rlbk=0, rd_only=1, tim=12205299536`.
    TransactionEnd {
        is_rollback: bool,
        is_read_only: bool,
        tim_ns: Option<i64>,
    },
    /// `ERROR #3:err=942 tim=506028963546`.
    Error {
        cursor: u64,
        code: i64,
        tim_ns: Option<i64>,
    },
    Mark(Mark<'a>),
    /// Between two statements.
    Separator,
    /// `RPC CALL:` and `RPC BINDS:`: what belongs to an `RPC EXEC`.
    Rpc,
    /// It begins as a record, and then something is missing, or too much.
    Damaged,
}
