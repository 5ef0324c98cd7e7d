//! A session driven through psql: what it was sent goes on while the test does something else.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A session of the server.
pub struct Session {
    psql: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Process id of its backend.
    pub pid: i32,
}

impl Session {
    pub(super) fn open(binaries: &Path, socket: &Path) -> Self {
        let mut command = Command::new(binaries.join("psql"));
        command.arg("-h").arg(socket).args(["-XqAt", "-F|", "-U", "dyno", "postgres"]);
        let mut psql = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = psql.stdin.take().unwrap();
        let output = BufReader::new(psql.stdout.take().unwrap());
        let mut session = Session { psql, input, output, pid: 0 };
        session.pid = session.rows("select pg_backend_pid()")[0].parse().unwrap();
        session
    }

    /// Send a statement and go on without its result.
    pub fn send(&mut self, statement: &str) {
        writeln!(self.input, "{statement};").unwrap();
        self.input.flush().unwrap();
    }

    /// The rows of a statement; columns are separated by `|`.
    pub fn rows(&mut self, statement: &str) -> Vec<String> {
        self.send(statement);
        self.send("select 'end of rows'");
        let lines = self.output.by_ref().lines().map(Result::unwrap);
        lines.take_while(|line| line != "end of rows").collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.psql.kill();
        let _ = self.psql.wait();
    }
}
