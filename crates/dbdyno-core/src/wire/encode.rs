//! The client's messages, written behind one another into one buffer.

/// Appends a message: type byte, length, and what `body` writes.
pub fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    with_length(out, body);
}

/// Appends a length that counts itself, and what `body` writes.
fn with_length(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    patch_length(out, start);
}

/// Writes the length of everything from `start` on into the 4 bytes at `start`.
pub fn patch_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a string with its terminator.
fn string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// The first message of a session.
pub(super) fn startup(out: &mut Vec<u8>, parameters: &[(&str, &str)]) {
    const PROTOCOL_3_0: i32 = 3 << 16;
    with_length(out, |out| {
        out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
        for (name, value) in parameters {
            string(out, name);
            string(out, value);
        }
        out.push(0);
    });
}

/// The request to continue inside TLS.
pub(super) fn ssl_request(out: &mut Vec<u8>) {
    const SSL_REQUEST_CODE: i32 = (1234 << 16) | 5679;
    with_length(out, |out| out.extend_from_slice(&SSL_REQUEST_CODE.to_be_bytes()));
}

/// The request, over a connection of its own, to stop what another one is doing.
pub(super) fn cancel_request(out: &mut Vec<u8>, process_id: i32, secret_key: &[u8]) {
    const CANCEL_REQUEST_CODE: i32 = (1234 << 16) | 5678;
    with_length(out, |out| {
        out.extend_from_slice(&CANCEL_REQUEST_CODE.to_be_bytes());
        out.extend_from_slice(&process_id.to_be_bytes());
        out.extend_from_slice(secret_key);
    });
}

/// A password, clear or hashed.
pub(super) fn password(out: &mut Vec<u8>, text: &str) {
    message(out, b'p', |out| string(out, text));
}

/// The first message of a SASL exchange.
pub(super) fn sasl_initial_response(out: &mut Vec<u8>, mechanism: &str, data: &[u8]) {
    message(out, b'p', |out| {
        string(out, mechanism);
        out.extend_from_slice(&(data.len() as i32).to_be_bytes());
        out.extend_from_slice(data);
    });
}

/// A later message of a SASL exchange.
pub(super) fn sasl_response(out: &mut Vec<u8>, data: &[u8]) {
    message(out, b'p', |out| out.extend_from_slice(data));
}

/// A simple query.
pub fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| string(out, sql));
}

/// Parse, under a name (empty: the unnamed statement), with no parameter types given.
pub fn parse(out: &mut Vec<u8>, name: &str, sql: &str) {
    message(out, b'P', |out| {
        string(out, name);
        string(out, sql);
        out.extend_from_slice(&0i16.to_be_bytes());
    });
}

/// Describe a prepared statement.
pub fn describe_statement(out: &mut Vec<u8>, name: &str) {
    message(out, b'D', |out| {
        out.push(b'S');
        string(out, name);
    });
}

/// Describe the unnamed portal.
pub fn describe_portal(out: &mut Vec<u8>) {
    message(out, b'D', |out| out.extend_from_slice(b"P\0"));
}

/// Execute the unnamed portal to its end.
pub fn execute(out: &mut Vec<u8>) {
    execute_for(out, 0);
}

/// Execute the unnamed portal until it has returned so many rows; 0: to its end.
pub fn execute_for(out: &mut Vec<u8>, rows_max: u32) {
    message(out, b'E', |out| {
        string(out, "");
        out.extend_from_slice(&rows_max.to_be_bytes());
    });
}

/// The server is to send what it has, without the end of a batch.
pub fn flush(out: &mut Vec<u8>) {
    message(out, b'H', |_| ());
}

/// End of a batch: the server answers ReadyForQuery.
pub fn sync(out: &mut Vec<u8>) {
    message(out, b'S', |_| ());
}

/// End of the session.
pub(super) fn terminate(out: &mut Vec<u8>) {
    message(out, b'X', |_| ());
}

/// What comes before the parameters of a Bind of the unnamed portal: names, all formats text, count.
/// The length behind the type byte is left open.
#[must_use]
pub fn bind_head(statement_name: &str, parameters: usize) -> Vec<u8> {
    let mut out = vec![b'B', 0, 0, 0, 0, 0];
    string(&mut out, statement_name);
    out.extend_from_slice(&0i16.to_be_bytes());
    out.extend_from_slice(&(parameters as i16).to_be_bytes());
    out
}

/// What comes behind the parameters of a Bind: one format for all result columns.
#[must_use]
pub fn bind_tail(binary_results: bool) -> Vec<u8> {
    let mut out = 1i16.to_be_bytes().to_vec();
    out.extend_from_slice(&i16::from(binary_results).to_be_bytes());
    out
}

/// Appends one parameter: its length and what `write` writes.
pub fn parameter(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = (out.len() - start - 4) as i32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a NULL parameter.
pub fn null_parameter(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1i32).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_themselves_but_not_the_type() {
        let mut out = Vec::new();
        query(&mut out, "SELECT 1");
        assert_eq!(b"Q\0\0\0\x0dSELECT 1\0".as_slice(), out);
    }

    #[test]
    fn an_execute_may_have_a_limit() {
        let mut out = Vec::new();
        execute(&mut out);
        execute_for(&mut out, 258);
        assert_eq!(b"E\0\0\0\x09\0\0\0\0\0E\0\0\0\x09\0\0\0\x01\x02".as_slice(), out);
    }

    #[test]
    fn a_bind_from_a_template_is_a_whole_message() {
        let mut out = bind_head("s1", 2);
        parameter(&mut out, |out| out.extend_from_slice(b"42"));
        null_parameter(&mut out);
        out.extend_from_slice(&bind_tail(true));
        patch_length(&mut out[1..], 0);
        assert_eq!(b"B\0\0\0\x1a\0s1\0\0\0\0\x02\0\0\0\x0242\xff\xff\xff\xff\0\x01\0\x01".as_slice(), out);
    }
}
