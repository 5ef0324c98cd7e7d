//! What is damaged gives a note, and what is not is still counted.

use super::notes::Note;
use super::testing::{assert_adds_up, notes_of, outcome_of};

/// Two executions: 3 calls and 2 waits of cursor 1, then 2 calls and 1 wait of cursor 2; 1 commit.
const WHOLE: &str = "Trace file /u01/x_ora_1.trc
Oracle Database 12c Enterprise Edition Release 12.2.0.1.0 - 64bit Production
Unix process pid: 11, image: oracle@db1

*** 2019-07-09T09:57:07.703476-07:00 (PDB(8))
*** SESSION ID:(5.6) 2019-07-09T09:57:07.703508-07:00

=====================
PARSING IN CURSOR #1 len=24 dep=0 uid=90 oct=3 lid=90 tim=1000100 hv=2343063137 ad='0' sqlid='7h35uxf5uhmm1'
select sysdate from dual
END OF STMT
PARSE #1:c=50,e=100,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=7,tim=1000200
BINDS #1:

 Bind#0
  oacdty=02 mxl=22(22) mxlc=00 mal=00 scl=00 pre=00
  oacflg=00 fl2=1000001 frm=00 csi=00 siz=24 off=0
  kxsbbbfp=7fc23b65c748  bln=22  avl=02  flg=05
  value=18
EXEC #1:c=20,e=40,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=7,tim=1000300
WAIT #1: nam='db file sequential read' ela= 30 file#=1 block#=2 blocks=1 obj#=3 tim=1000350
FETCH #1:c=5,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=7,tim=1000370
STAT #1 id=1 cnt=1 pid=0 pos=1 obj=0 op='FAST DUAL  (cr=0 pr=0 pw=0 str=1 time=1 us cost=2 size=0 card=1)'
WAIT #1: nam='SQL*Net message from client' ela= 900 driver id=1413697536 #bytes=1 p3=0 obj#=3 tim=1001300
=====================
PARSING IN CURSOR #2 len=6 dep=0 uid=90 oct=44 lid=90 tim=1001400 hv=255718823 ad='0' sqlid='8ggw94h7mvxd7'
COMMIT
END OF STMT
XCTEND rlbk=0, rd_only=0, tim=1001410
WAIT #2: nam='log file sync' ela= 500 buffer#=1 sync scn=2 p3=0 obj#=-1 tim=1001950
EXEC #2:c=10,e=560,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=0,tim=1002000
CLOSE #2:c=1,e=2,dep=0,type=3,tim=1002010
";

fn replaced(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(1, WHOLE.matches(from).count(), "{from}");
    WHOLE.replace(from, to).into_bytes()
}

fn cut_after(text: &str) -> Vec<u8> {
    let at = WHOLE.find(text).expect("part of it") + text.len();
    WHOLE.as_bytes()[..at].to_vec()
}

fn with(line: &[u8]) -> Vec<u8> {
    let at = WHOLE.find("STAT #1").expect("part of it");
    [&WHOLE.as_bytes()[..at], line, &WHOLE.as_bytes()[at..]].concat()
}

/// (what, the trace, calls and waits still counted, what is said of it; "unknown" for a line that is no record).
fn damages() -> Vec<(&'static str, Vec<u8>, u64, u64, &'static str)> {
    let damaged = Note::DamagedLine.code();
    let unfinished = Note::UnfinishedLine.code();
    let fetch = "FETCH #1:c=5,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=7,tim=1000370";
    let wait = "WAIT #1: nam='db file sequential read' ela= 30 file#=1 block#=2 blocks=1 obj#=3 tim=1000350";
    vec![
        ("nothing", Vec::new(), 0, 0, ""),
        ("a call cut inside its numbers", replaced(fetch, "FETCH #1:c=5,e=6"), 4, 3, damaged),
        ("a call cut after a comma", replaced(fetch, "FETCH #1:c=5,e=60,p=1,"), 4, 3, damaged),
        ("a call without a number", replaced(fetch, "FETCH #1:c=,e=60,tim=1000370"), 5, 3, "questionable_duration"),
        ("a call without its elapsed time", replaced(fetch, "FETCH #1:c=5,p=1,tim=1000370"), 4, 3, damaged),
        ("a call of letters", replaced(fetch, "FETCH #1:c=5,e=60,p=x,cr=2,tim=1000370"), 4, 3, damaged),
        ("a call deeper than there is room", replaced("mis=0,r=1,dep=0", "mis=0,r=1,dep=999"), 4, 3, damaged),
        ("two calls run together", replaced("tim=1000370\n", "tim=1000370FETCH #1:c=1,e=1\n"), 4, 3, damaged),
        ("a moment beyond all clocks", replaced("tim=1000370", "tim=999999999999999999"), 4, 3, damaged),
        ("a duration of years", replaced("e=60,p=1", "e=999999999999999999,p=1"), 5, 3, "questionable_duration"),
        ("a cursor beyond 64 bits", replaced("FETCH #1:", "FETCH #99999999999999999999:"), 4, 3, damaged),
        ("a cursor of letters", replaced("FETCH #1:", "FETCH #x:"), 4, 3, "unknown"),
        ("a wait cut inside its name", replaced(wait, "WAIT #1: nam='db file seq"), 5, 2, damaged),
        ("a wait cut before its moment", replaced(" obj#=3 tim=1000350", ""), 5, 2, damaged),
        ("a wait cut inside its moment's key", replaced(" tim=1000350", " ti"), 5, 2, damaged),
        ("a wait without its time", replaced("ela= 30 ", ""), 5, 2, damaged),
        ("a wait of letters", replaced("ela= 30", "ela= x"), 5, 2, damaged),
        ("the file ends inside a number", cut_after("plh=7,tim=1000"), 0, 0, unfinished),
        ("the file ends inside the moment of a wait", cut_after("obj#=3 tim=1000"), 2, 0, unfinished),
        ("the file ends inside a text", cut_after("select sys"), 0, 0, "text_without_end"),
        ("the file ends inside binds", cut_after("oacdty=02"), 1, 0, ""),
        ("the file ends inside a mark", cut_after("*** SESSION ID:(5.6"), 0, 0, "unknown"),
        ("a text without its end", replaced("COMMIT\nEND OF STMT\n", "COMMIT\n"), 5, 3, "text_without_end"),
        ("a text without anything", replaced("select sysdate from dual\nEND OF STMT\n", ""), 5, 3, "text_without_end"),
        ("a text that lost a part", replaced("select sysdate from", "select sysd"), 5, 3, "text_length_differs"),
        ("a cursor's line cut", replaced(" uid=90 oct=3 lid=90 tim=1000100", ""), 5, 3, damaged),
        ("an end without a text", with(b"END OF STMT\n"), 5, 3, ""),
        ("a row source cut", replaced(" time=1 us cost=2 size=0 card=1)'", ""), 5, 3, damaged),
        ("an end of a transaction cut", replaced("rlbk=0, rd_only=0, tim=1001410", "rlbk=0, rd_"), 5, 3, damaged),
        ("an error cut", with(b"ERROR #1:err=\n"), 5, 3, damaged),
        ("bytes of zero", with(&[0; 300]), 5, 3, "unknown"),
        ("bytes that are no text", with(b"\xFF\xFE\x80 garbage \xC3\n"), 5, 3, "unknown"),
        ("another program's lines", with(b"kjbdrmcvtq: lock 0x1\nkjbdrmcvtq: lock 0x2\n"), 5, 3, "unknown"),
        ("a line of megabytes", with(&[&[b'x'; 3 << 20][..], b"\n"].concat()), 5, 3, "long_line"),
        ("a record of megabytes", with(&[b"WAIT #1: nam='", &[b'x'; 3 << 20][..], b"'\n"].concat()), 5, 3, unfinished),
        ("a clock that goes back", replaced("tim=1001950", "tim=995000"), 5, 3, "clock_went_back"),
        ("the beginning is missing", WHOLE.as_bytes()[WHOLE.find("EXEC #1").expect("it")..].to_vec(), 4, 3, ""),
        ("carriage returns", WHOLE.replace('\n', "\r\n").into_bytes(), 5, 3, ""),
        ("no times at all", replaced("tim=1000370", "tim=0"), 5, 3, "no_times"),
        ("another file behind it", [WHOLE, WHOLE].concat().into_bytes(), 10, 6, "clock_went_back"),
        ("a size limit", with(b"*** DUMP FILE SIZE IS LIMITED TO 1024 BYTES ***\n"), 5, 3, "size_limited"),
    ]
}

#[test]
fn nothing_is_said_of_a_whole_trace() {
    let outcome = outcome_of(WHOLE.as_bytes());
    assert_adds_up(&outcome);
    assert!(notes_of(&outcome).is_empty(), "{}", outcome["notes"]);
    assert_eq!(
        (5, 3, 0),
        (
            number(&outcome["records"]["calls"]),
            number(&outcome["records"]["waits"]),
            number(&outcome["unknown_lines"]["count"])
        )
    );
    let profile = &outcome["scopes"][0]["profile_ns"];
    assert_eq!((86_000, 1_910_000), (number(&profile["cpu"]), number(&outcome["scopes"][0]["duration_ns"])));
    assert_eq!(1_910_000 - 86_000 - 1_430_000, number(&profile["unaccounted"]));
    assert_eq!(762_000 - 86_000 - 530_000, number(&profile["unaccounted_within_calls"]));
}

#[test]
fn each_damage_is_said_and_the_rest_is_counted() {
    let damages = damages();
    assert!(damages.len() >= 30);
    for (what, text, calls, waits, said) in damages {
        let outcome = outcome_of(&text);
        assert_adds_up(&outcome);
        let counted = ["calls", "waits"].map(|kind| number(&outcome["records"][kind]));
        assert_eq!([calls, waits], counted.map(|count| count as u64), "{what}");
        let unknown = number(&outcome["unknown_lines"]["count"]) > 0;
        match said {
            "" => assert!(notes_of(&outcome).is_empty() && !unknown, "{what}: {}", outcome["notes"]),
            "unknown" => assert!(unknown, "{what}"),
            code => assert!(notes_of(&outcome).contains(&code), "{what}: {}", outcome["notes"]),
        }
        let has_line = |note: &serde_json::Value| number(&note["line"]) > 0;
        assert!(outcome["notes"].as_array().expect("notes").iter().all(has_line), "{what}");
    }
}

fn number(value: &serde_json::Value) -> i64 {
    value.as_i64().expect("a number")
}
