//! From a fresh stream to a session that is ready: TLS, startup, authentication, server version.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};

use super::channel_binding::server_end_point;
use super::connection::Connection;
use super::encode;
use super::server_error::ServerError;
use super::target::{SslMode, Target};
use super::tls;
use super::transport::{Transport, unreachable};
use crate::error::{CoreError, Result};

/// The oldest server whose protocol, views and wait events this program knows.
const OLDEST_MAJOR_VERSION: u32 = 14;

/// Connects, with TLS as the sslmode wants it.
pub(super) fn open_transport(target: &Target) -> Result<Transport> {
    let mut transport = Transport::connect(target)?;
    if target.is_unix() || target.sslmode == SslMode::Disable {
        return Ok(transport);
    }
    let mut request = Vec::new();
    encode::ssl_request(&mut request);
    let mut answer = [0];
    transport.write(&request).and_then(|_| transport.read(&mut answer)).map_err(|error| unreachable(target, &error))?;
    match (answer[0], target.sslmode) {
        (b'S', _) => {}
        (_, SslMode::Prefer) => return Ok(transport),
        _ => return Err(tls::tls_error(target, "the server does not offer it")),
    }
    transport.start_tls(tls::session(target)?);
    transport.complete_handshake().map_err(|error| tls::tls_error(target, &error.to_string()))?;
    Ok(transport)
}

/// Logs in and waits until the server is ready for queries.
pub(super) fn log_in(connection: &mut Connection, target: &Target, password: Option<&str>) -> Result<()> {
    let parameters = [
        ("user", target.user.as_str()),
        ("database", target.dbname.as_str()),
        ("application_name", target.application_name.as_str()),
        ("client_encoding", "UTF8"),
    ];
    encode::startup(connection.outgoing(), &parameters);
    connection.send_blocking()?;
    authenticate(connection, target, password)?;
    finish_startup(connection, target)
}

fn authenticate(connection: &mut Connection, target: &Target, password: Option<&str>) -> Result<()> {
    const OK: u32 = 0;
    const CLEARTEXT: u32 = 3;
    const MD5: u32 = 5;
    const SASL: u32 = 10;
    loop {
        let (tag, body) = connection.receive_blocking()?;
        match tag {
            b'R' => {}
            b'E' => return Err(refusal(target, &ServerError::parse(&body))),
            _ => continue,
        }
        let (kind, data) = split_u32(&body).ok_or_else(|| protocol_error("authentication message too short"))?;
        match kind {
            OK => return Ok(()),
            CLEARTEXT => encode::password(connection.outgoing(), needed(target, password)?),
            MD5 => {
                let salt = data.try_into().map_err(|_| protocol_error("md5 salt is not 4 bytes"))?;
                let hash = md5_hash(target.user.as_bytes(), needed(target, password)?.as_bytes(), salt);
                encode::password(connection.outgoing(), &hash);
            }
            SASL => {
                scram(connection, target, needed(target, password)?, data)?;
                continue;
            }
            other => {
                let message = format!(
                    "target {}: the server asks for authentication method {other}; known are password, md5 and SCRAM-SHA-256",
                    target.address()
                );
                return Err(CoreError::new("authentication_failed", message));
            }
        }
        connection.send_blocking()?;
    }
}

fn scram(connection: &mut Connection, target: &Target, password: &str, mechanisms: &[u8]) -> Result<()> {
    const SASL_CONTINUE: u32 = 11;
    const SASL_FINAL: u32 = 12;
    let wrong = |error: std::io::Error| {
        let message =
            format!("target {}: SCRAM with user {} failed: {error}; check the password", target.address(), target.user);
        CoreError::new("authentication_failed", message)
    };
    let (mechanism, binding) = mechanism(connection, mechanisms)?;
    let mut exchange = ScramSha256::new(password.as_bytes(), binding);
    encode::sasl_initial_response(connection.outgoing(), mechanism, exchange.message());
    connection.send_blocking()?;
    exchange.update(&sasl_data(connection, target, SASL_CONTINUE)?).map_err(wrong)?;
    encode::sasl_response(connection.outgoing(), exchange.message());
    connection.send_blocking()?;
    exchange.finish(&sasl_data(connection, target, SASL_FINAL)?).map_err(wrong)
}

/// With channel binding where both sides can. Where only this side can, it says so: if the server could
/// too, somebody in between has taken its offer away, and the server refuses.
fn mechanism(connection: &Connection, offered: &[u8]) -> Result<(&'static str, ChannelBinding)> {
    let is_offered = |name: &str| offered.split(|byte| *byte == 0).any(|mechanism| mechanism == name.as_bytes());
    let end_point = connection.server_certificate().and_then(server_end_point);
    match end_point {
        Some(hash) if is_offered(SCRAM_SHA_256_PLUS) => {
            Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)))
        }
        _ if !is_offered(SCRAM_SHA_256) => Err(protocol_error("it offers SASL, but not SCRAM-SHA-256")),
        Some(_) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
        None => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
    }
}

fn sasl_data(connection: &mut Connection, target: &Target, expected: u32) -> Result<Vec<u8>> {
    loop {
        let (tag, body) = connection.receive_blocking()?;
        match (tag, split_u32(&body)) {
            (b'E', _) => return Err(refusal(target, &ServerError::parse(&body))),
            (b'R', Some((kind, data))) if kind == expected => return Ok(data.to_vec()),
            (b'R', _) => return Err(protocol_error("unexpected step of the SASL exchange")),
            _ => {}
        }
    }
}

fn finish_startup(connection: &mut Connection, target: &Target) -> Result<()> {
    loop {
        let (tag, body) = connection.receive_blocking()?;
        match tag {
            b'K' => {
                let (process_id, secret) = split_u32(&body).ok_or_else(|| protocol_error("no backend key"))?;
                connection.set_backend_key(process_id as i32, secret);
            }
            b'S' => {
                let mut fields = body.split(|byte| *byte == 0);
                if fields.next() == Some(b"server_version") {
                    let version = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
                    check_version(target, &version)?;
                }
            }
            b'E' => return Err(refusal(target, &ServerError::parse(&body))),
            b'Z' => return Ok(()),
            _ => {}
        }
    }
}

fn check_version(target: &Target, version: &str) -> Result<()> {
    let digits = version.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
    match digits.parse::<u32>() {
        Ok(major) if major >= OLDEST_MAJOR_VERSION => Ok(()),
        _ => {
            let message = format!(
                "target {}: the server is PostgreSQL {version}; use version {OLDEST_MAJOR_VERSION} or newer",
                target.address()
            );
            Err(CoreError::new("unsupported_server", message))
        }
    }
}

/// The server refused the session: a wrong password or rule, or it has no room or no such database.
fn refusal(target: &Target, error: &ServerError) -> CoreError {
    let (code, advice) = match error.sqlstate.as_str() {
        "28P01" => ("authentication_failed", "check user and password"),
        "28000" => ("not_admitted", "check user, sslmode and pg_hba.conf"),
        "3D000" => ("unreachable", "check dbname"),
        "53300" => ("unreachable", "use fewer clients or raise max_connections"),
        _ => ("unreachable", "check that the server accepts connections"),
    };
    CoreError::new(code, format!("target {}: {error}; {advice}", target.address()))
}

fn needed<'a>(target: &Target, password: Option<&'a str>) -> Result<&'a str> {
    password.ok_or_else(|| {
        let message =
            format!("target {}: the server asks user {} for a password; give one", target.address(), target.user);
        CoreError::new("authentication_failed", message)
    })
}

fn protocol_error(what: &str) -> CoreError {
    CoreError::new("unreachable", format!("the server does not speak PostgreSQL's protocol as expected: {what}"))
}

fn split_u32(body: &[u8]) -> Option<(u32, &[u8])> {
    body.split_first_chunk().map(|(head, rest)| (u32::from_be_bytes(*head), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        serde_json::from_str(r#"{"host": "h", "port": 5432, "user": "u", "dbname": "d"}"#).expect("valid")
    }

    #[test]
    fn old_servers_are_refused_by_name() {
        let error = check_version(&target(), "13.4 (Debian 13.4-1)").expect_err("13 is too old");
        assert_eq!("unsupported_server", error.code);
        assert_eq!(
            "target h:5432: the server is PostgreSQL 13.4 (Debian 13.4-1); use version 14 or newer",
            error.message
        );
    }

    #[test]
    fn supported_servers_are_taken() {
        for version in ["14.0", "15.18 (Debian 15.18-0+deb12u1)", "18.6", "19devel"] {
            assert_eq!(Ok(()), check_version(&target(), version));
        }
    }
}
