//! Every form of line that some version writes, by hand from the grammar.

use super::fields::TimeUnit;
use super::recognise::recognise;
use super::record::{Call, Mark, Record, Wait};
use super::wait_line;

/// The fields that tell forms apart, in few words.
fn shown(record: Option<Record<'_>>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tim = |tim_ns: Option<i64>| tim_ns.map_or_else(|| "-".to_owned(), |tim_ns| tim_ns.to_string());
    let call = |call: &Call| {
        let Call { kind, cursor, cpu_ns, elapsed_ns, rows, depth, plan_hash, .. } = call;
        let blocks = [call.physical_reads, call.consistent_reads, call.current_reads, call.misses];
        let tim = tim(call.tim_ns);
        format!(
            "{} #{cursor} c={cpu_ns} e={elapsed_ns} {blocks:?} r={rows} dep={depth} plh={plan_hash} tim={tim}",
            kind.name()
        )
    };
    match record {
        None => "no record".to_owned(),
        Some(Record::Call(each)) => call(&each) + if each.is_questionable { " questionable" } else { "" },
        Some(Record::Lob(lob)) => format!("{} {} bytes, {}", text(lob.operation), lob.bytes, call(&lob.call)),
        Some(Record::Wait(wait)) => {
            let Wait { cursor, elapsed_ns, object, .. } = wait;
            let (event, parameters, tim) = (text(wait.event), text(wait.parameters), tim(wait.tim_ns));
            format!("wait #{cursor} {event}: {elapsed_ns}{parameters} obj={object:?} tim={tim}")
        }
        Some(Record::Parsing(parsing)) => {
            let id = parsing.sql_id.map_or_else(|| "-".to_owned(), text);
            let (length, depth, hash, tim) =
                (parsing.text_bytes, parsing.depth, parsing.hash_value, tim(parsing.tim_ns));
            format!("parsing #{} {length} dep={depth} hv={hash:?} {id} tim={tim}", parsing.cursor)
        }
        Some(Record::ParseError(parsing)) => {
            format!(
                "parse error #{} {} dep={} err={:?}",
                parsing.cursor, parsing.text_bytes, parsing.depth, parsing.error
            )
        }
        Some(Record::Stat(stat)) => {
            let figures = [stat.consistent_reads, stat.physical_reads, stat.physical_writes, stat.starts, stat.time_ns];
            let plan = [stat.cost, stat.bytes, stat.cardinality];
            let place = [stat.id, stat.rows, stat.parent, stat.position, stat.object];
            format!("stat #{} {place:?} {} {figures:?} {plan:?}", stat.cursor, text(stat.operation))
        }
        Some(Record::TransactionEnd { is_rollback, is_read_only, tim_ns }) => {
            format!("end rollback={is_rollback} read_only={is_read_only} tim={}", tim(tim_ns))
        }
        Some(Record::Error { cursor, code, tim_ns }) => format!("error #{cursor} {code} tim={}", tim(tim_ns)),
        Some(Record::Mark(mark)) => match mark {
            Mark::Time(time) => format!("time {}", text(time)),
            Mark::Session(session) => format!("session {}", text(session)),
            Mark::Process(process) => format!("process {process}"),
            Mark::Attribute(attribute, name) => format!("{} {}", attribute.name(), text(name)),
            Mark::Application { module, action } => format!("module {} action {}", text(module), text(action)),
            Mark::File(mark) => format!("{mark:?}"),
        },
        Some(Record::Binds(cursor)) => format!("binds #{cursor}"),
        Some(other) => format!("{other:?}"),
    }
}

#[rustfmt::skip]
const MICROSECONDS: [(&str, &str); 78] = [
    // Calls: 9i and 10g, 11.1 (the plan's hash since 11.1.0.7), 12.2 and later; cursors are addresses from 11.2 on.
    ("PARSE #1:c=0,e=1427,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,tim=749963466", "parse #1 c=0 e=1427000 [0, 0, 0, 1] r=0 dep=0 plh=0 tim=749963466000"),
    ("EXEC #3:c=10000,e=8371,p=2,cr=7,cu=3,mis=0,r=5,dep=1,og=4,tim=1017039304454213", "exec #3 c=10000000 e=8371000 [2, 7, 3, 0] r=5 dep=1 plh=0 tim=1017039304454213000"),
    ("FETCH #5:c=0,e=0,p=0,cr=2,cu=0,mis=0,r=1,dep=1,og=4,plh=1457651150,tim=1230889092568518", "fetch #5 c=0 e=0 [0, 2, 0, 0] r=1 dep=1 plh=1457651150 tim=1230889092568518000"),
    ("EXEC #140472196919200:c=4254,e=187354,p=0,cr=0,cu=0,mis=1,r=0,dep=1,og=4,plh=1457651150,tim=664029018588", "exec #140472196919200 c=4254000 e=187354000 [0, 0, 0, 1] r=0 dep=1 plh=1457651150 tim=664029018588000"),
    ("UNMAP #2:c=0,e=12,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=77", "unmap #2 c=0 e=12000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=77000"),
    ("SORT UNMAP #2:c=0,e=13,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=78", "sort_unmap #2 c=0 e=13000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=78000"),
    ("CLOSE #140472196482632:c=0,e=10,dep=0,type=1,tim=664028828663", "close #140472196482632 c=0 e=10000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=664028828663000"),
    ("FETCH #18446744071497070208:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=4294967295,tim=5", "fetch #18446744071497070208 c=1000 e=2000 [0, 0, 0, 0] r=0 dep=0 plh=4294967295 tim=5000"),
    ("FETCH #1:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=1,newer=7,tim=5", "fetch #1 c=1000 e=2000 [0, 0, 0, 0] r=0 dep=0 plh=1 tim=5000"),
    // Without timed_statistics.
    ("EXEC #1:c=0,e=0,p=0,cr=1,cu=0,mis=0,r=0,dep=0,og=4,tim=0", "exec #1 c=0 e=0 [0, 1, 0, 0] r=0 dep=0 plh=0 tim=-"),
    // A clock was set back.
    ("FETCH #1:c=0,e=18446744073709551234,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=9", "fetch #1 c=0 e=0 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=9000 questionable"),
    ("FETCH #1:c=0,e=-7,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=9", "fetch #1 c=0 e=-7000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=9000 questionable"),
    // LOB calls and remote procedures have no cursor.
    ("LOBREAD: type=TEMPORARY LOB,bytes=32528,c=99,e=577,p=8,cr=7,cu=1,tim=648123782", "LOBREAD 32528 bytes, lob #0 c=99000 e=577000 [8, 7, 1, 0] r=0 dep=0 plh=0 tim=648123782000"),
    ("LOBPGSIZE: type=TEMPORARY LOB,bytes=8132,c=16,e=17,p=0,cr=0,cu=0,tim=648119653", "LOBPGSIZE 8132 bytes, lob #0 c=16000 e=17000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=648119653000"),
    ("LOBWRITE: type=PERSISTENT LOB,bytes=8,c=1,e=2,p=0,cr=0,cu=5,tim=6", "LOBWRITE 8 bytes, lob #0 c=1000 e=2000 [0, 0, 5, 0] r=0 dep=0 plh=0 tim=6000"),
    ("LOBGETLEN: c=0,e=21,p=0,cr=1,cu=0,tim=7", "LOBGETLEN 0 bytes, lob #0 c=0 e=21000 [0, 1, 0, 0] r=0 dep=0 plh=0 tim=7000"),
    ("LOBTMPCREATE: c=0,e=21,p=0,cr=0,cu=3,tim=7", "LOBTMPCREATE 0 bytes, lob #0 c=0 e=21000 [0, 0, 3, 0] r=0 dep=0 plh=0 tim=7000"),
    ("LOBARRREAD: c=5,e=21,p=0,cr=0,cu=3,tim=7", "LOBARRREAD 0 bytes, lob #0 c=5000 e=21000 [0, 0, 3, 0] r=0 dep=0 plh=0 tim=7000"),
    ("RPC CALL:FUNCTION SCOTT.F(X IN NUMBER) RETURN NUMBER", "Rpc"),
    ("RPC BINDS:", "Rpc"),
    ("RPC EXEC:c=10000,e=20000", "rpc #0 c=10000000 e=20000000 [0, 0, 0, 0] r=0 dep=0 plh=0 tim=-"),
    // Waits: 9i; 10.1 with p1 to p3 and, later, a moment; named parameters; blanks and quotes.
    ("WAIT #1: nam='db file sequential read' ela= 8458 p1=110 p2=63682 p3=1", "wait #1 db file sequential read: 8458000 p1=110 p2=63682 p3=1 obj=None tim=-"),
    ("WAIT #1: nam=\"SQL*Net message to client\" ela=0 p1=1650815232 p2=1 p3=0", "wait #1 SQL*Net message to client: 0 p1=1650815232 p2=1 p3=0 obj=None tim=-"),
    ("WAIT #8: nam='db file scattered read' ela= 77 p1=4 p2=9 p3=16 obj#=52 tim=1017039304454213", "wait #8 db file scattered read: 77000 p1=4 p2=9 p3=16 obj=Some(52) tim=1017039304454213000"),
    ("WAIT #6: nam='db file sequential read' ela= 8458 file#=110 block#=63682 blocks=1 obj#=221 tim=506028963546", "wait #6 db file sequential read: 8458000 file#=110 block#=63682 blocks=1 obj=Some(221) tim=506028963546000"),
    ("WAIT #2: nam='direct path read' ela= 37 file number=17 first dba=33280 block cnt=512 obj#=55839 tim=1212643347820647", "wait #2 direct path read: 37000 file number=17 first dba=33280 block cnt=512 obj=Some(55839) tim=1212643347820647000"),
    ("WAIT #140472196482632: nam='SQL*Net message from client' ela= 992 driver id=1413697536 #bytes=1 p3=0 obj#=-1 tim=664028828439", "wait #140472196482632 SQL*Net message from client: 992000 driver id=1413697536 #bytes=1 p3=0 obj=Some(-1) tim=664028828439000"),
    ("WAIT #0: nam='log file sync' ela= 612 buffer#=17 sync scn=2342342 p3=0 obj#=-1 tim=42", "wait #0 log file sync: 612000 buffer#=17 sync scn=2342342 p3=0 obj=Some(-1) tim=42000"),
    ("WAIT #3: nam='enq: TX - row lock contention' ela= 2999 name|mode=1415053318 usn<<16 | slot=393254 sequence=912 obj#=73 tim=43", "wait #3 enq: TX - row lock contention: 2999000 name|mode=1415053318 usn<<16 | slot=393254 sequence=912 obj=Some(73) tim=43000"),
    ("WAIT #1: nam='library cache: mutex X' ela= 814 idn=3606132107 value=3302829850624 where=4 obj#=-1 tim=995364327604", "wait #1 library cache: mutex X: 814000 idn=3606132107 value=3302829850624 where=4 obj=Some(-1) tim=995364327604000"),
    ("WAIT #1: nam='latch: cache buffers chains' ela= 3 address=4611686018427387904 number=122 tries=0 tim=44", "wait #1 latch: cache buffers chains: 3000 address=4611686018427387904 number=122 tries=0 obj=None tim=44000"),
    // Cursors: 9i and 10g, 11g with sqlid, long ones, without a hash.
    ("PARSING IN CURSOR #1 len=135 dep=1 uid=0 oct=3 lid=0 tim=777069789359 hv=1115215392 ad='33e7e384'", "parsing #1 135 dep=1 hv=Some(1115215392) - tim=777069789359000"),
    ("PARSING IN CURSOR #398131288 len=6 dep=1 uid=90 oct=44 lid=90 tim=1484913807072 hv=255718823 ad='0' sqlid='8ggw94h7mvxd7'", "parsing #398131288 6 dep=1 hv=Some(255718823) 8ggw94h7mvxd7 tim=1484913807072000"),
    ("PARSING IN CURSOR #2 len=70000 dep=0 uid=57 oct=47 lid=57 tim=0 hv=0 ad='7ffc03a8'", "parsing #2 70000 dep=0 hv=Some(0) - tim=-"),
    ("PARSE ERROR #3:len=27 dep=0 uid=5 oct=3 lid=5 tim=12 err=942", "parse error #3 27 dep=0 err=Some(942)"),
    ("ERROR #3:err=1 tim=506028963546", "error #3 1 tim=506028963546000"),
    ("ERROR #3:err=1403", "error #3 1403 tim=-"),
    ("END OF STMT", "EndOfStatement"),
    ("=====================", "Separator"),
    ("BINDS #5:", "binds #5"),
    ("BINDS #140472196919200:", "binds #140472196919200"),
    // Row sources: 9.0, 9.2, 10g, 11g, 12.2 and later.
    ("STAT #1 id=1 cnt=14 pid=0 pos=0 obj=6195 op='TABLE ACCESS FULL EMP '", "stat #1 [1, 14, 0, 0, 6195] TABLE ACCESS FULL EMP [-1, -1, -1, -1, -1] [-1, -1, -1]"),
    ("STAT #1 id=2 cnt=1 pid=1 pos=1 obj=0 op='SORT AGGREGATE (cr=24 r=3 w=1 time=1234 us)'", "stat #1 [2, 1, 1, 1, 0] SORT AGGREGATE [24, 3, 1, -1, 1234000] [-1, -1, -1]"),
    ("STAT #4 id=1 cnt=1 pid=0 pos=1 obj=74 op='TABLE ACCESS BY INDEX ROWID IDL$ (cr=4 pr=0 pw=0 time=20 us)'", "stat #4 [1, 1, 0, 1, 74] TABLE ACCESS BY INDEX ROWID IDL$ [4, 0, 0, -1, 20000] [-1, -1, -1]"),
    ("STAT #5 id=1 cnt=1 pid=0 pos=1 obj=22 op='INDEX UNIQUE SCAN I_USER1 (cr=1 pr=0 pw=0 time=0 us cost=2 size=3 card=4)'", "stat #5 [1, 1, 0, 1, 22] INDEX UNIQUE SCAN I_USER1 [1, 0, 0, -1, 0] [2, 3, 4]"),
    ("STAT #47214410064360 id=1 cnt=0 pid=4 pos=1 obj=9 op='TABLE ACCESS FULL T (PARTITION) (cr=0 pr=0 pw=0 str=1 time=7 us cost=1 size=17 card=1)'", "stat #47214410064360 [1, 0, 4, 1, 9] TABLE ACCESS FULL T (PARTITION) [0, 0, 0, 1, 7000] [1, 17, 1]"),
    // Transactions: before and since 11.2.
    ("XCTEND rlbk=0, rd_only=1", "end rollback=false read_only=true tim=-"),
    ("XCTEND rlbk=1, rd_only=0, tim=12205299536", "end rollback=true read_only=false tim=12205299536000"),
    // Marks.
    ("*** SESSION ID:(9.188) 2003-07-24 13:46:32.984", "session 9.188"),
    ("*** SESSION ID:(504.46635) 2019-07-09T09:57:07.703508-07:00", "session 504.46635"),
    ("*** 2007-10-9 16:21:08.294", "time 2007-10-9 16:21:08.294"),
    ("*** 2010-01-15 08:21:16.294", "time 2010-01-15 08:21:16.294"),
    ("*** 2019-07-09T09:57:07.703476-07:00 (PDB(8))", "time 2019-07-09T09:57:07.703476-07:00 (PDB(8))"),
    ("*** SERVICE NAME:(SYS$USERS) 2010-01-15 08:21:16.294", "service SYS$USERS"),
    ("*** MODULE NAME:(SQL*Plus (x)) 2010-01-15 08:21:16.294", "module SQL*Plus (x)"),
    ("*** ACTION NAME:() 2010-01-15 08:21:16.294", "action "),
    ("*** CLIENT ID:(ann) 2010-01-15 08:21:16.294", "client_id ann"),
    ("*** CLIENT DRIVER:(jdbcthin : 19.3) 2019-07-09T09:57:07.7", "client_driver jdbcthin : 19.3"),
    ("*** CONTAINER ID:(8) 2019-07-09T09:57:07.703529-07:00", "container_id 8"),
    ("APPNAME mod='Module 1' mh=262111370 act='Action 11' ah=810452301", "module Module 1 action Action 11"),
    ("*** [ Unix process pid: 9850 ]", "process 9850"),
    ("*** [ Windows thread id: 2104 ]", "process 2104"),
    ("Unix process pid: 9850, image: oracle@db1", "process 9850"),
    ("Windows thread id: 2104, image: ORACLE.EXE (SHAD)", "process 2104"),
    ("*** TRACE DUMP CONTINUES IN FILE /u01/x.trc ***", "ContinuesElsewhere"),
    ("*** TRACE CONTINUED FROM FILE /u01/x.trc ***", "ContinuedFromElsewhere"),
    ("*** DUMP FILE SIZE IS LIMITED TO 10485760 BYTES ***", "SizeLimited"),
    // What only looks like a record.
    ("EXECUTE IMMEDIATE 'x'", "no record"),
    ("EXEC p(1);", "no record"),
    ("WAIT a moment", "no record"),
    ("PARSE # 3", "no record"),
    ("CLOSE c;", "no record"),
    ("FETCH c INTO x;", "no record"),
    ("END OF STMTS", "Damaged"),
    ("LOB: 1", "no record"),
    ("*** nothing known", "no record"),
    ("", "no record"),
    ("  value=1", "no record"),
];

#[test]
fn each_form_says_what_its_version_means() {
    for (line, meaning) in MICROSECONDS {
        assert_eq!(meaning, shown(recognise(line.as_bytes(), TimeUnit::Microseconds)), "{line}");
    }
}

#[test]
fn before_9i_times_are_centiseconds() {
    let cases = [
        (
            "EXEC #1:c=2,e=3,p=0,cr=1,cu=0,mis=0,r=0,dep=0,og=4,tim=104",
            "exec #1 c=20000000 e=30000000 [0, 1, 0, 0] r=0 dep=0 plh=0 tim=1040000000",
        ),
        (
            "WAIT #1: nam='db file sequential read' ela= 1 p1=1 p2=2 p3=1",
            "wait #1 db file sequential read: 10000000 p1=1 p2=2 p3=1 obj=None tim=-",
        ),
    ];
    for (line, meaning) in cases {
        assert_eq!(meaning, shown(recognise(line.as_bytes(), TimeUnit::Centiseconds)), "{line}");
    }
}

#[test]
fn blocks_are_read_off_all_names_of_parameters() {
    let cases = [
        ("db file sequential read", " file#=110 block#=63682 blocks=1", Some((110, 63682, 1))),
        ("direct path read", " file number=17 first dba=33280 block cnt=512", Some((17, 33280, 512))),
        ("db file scattered read", " p1=4 p2=9 p3=16", Some((4, 9, 16))),
        ("gc cr request", " file#=4 block#=9 class#=1", Some((4, 9, 0))),
        ("log file sync", " p1=4 p2=9 p3=16", None),
        ("db file parallel read", " files=1 blocks=8 requests=8", None),
    ];
    for (event, parameters, expected) in cases {
        let blocks = wait_line::blocks(event.as_bytes(), parameters.as_bytes());
        assert_eq!(expected, blocks.map(|blocks| (blocks.file, blocks.first, blocks.count)), "{event}{parameters}");
    }
}
