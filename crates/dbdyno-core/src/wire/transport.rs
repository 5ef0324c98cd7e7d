//! A byte stream to the server: Unix socket or TCP, plain or inside TLS, blocking or not.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use super::target::Target;
use crate::error::{CoreError, Result};

/// The stream. Reading and writing go straight to the socket unless TLS is on.
#[derive(Debug)]
pub(super) struct Transport {
    socket: Socket,
    tls: Option<Box<rustls::ClientConnection>>,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Transport {
    /// Connects within the target's timeout; reads and writes then time out likewise.
    pub(super) fn connect(target: &Target) -> Result<Self> {
        let timeout = Duration::from_nanos(target.connect_timeout_ns.max(1_000_000));
        let socket = if target.is_unix() {
            UnixStream::connect(target.address()).map(Socket::Unix)
        } else {
            connect_tcp(target, timeout).map(Socket::Tcp)
        };
        let socket = socket.map_err(|error| unreachable(target, &error))?;
        let transport = Self { socket, tls: None };
        transport.set_timeout(Some(timeout)).map_err(|error| unreachable(target, &error))?;
        Ok(transport)
    }

    /// Continues inside TLS: everything sent from now on is encrypted.
    pub(super) fn start_tls(&mut self, tls: rustls::ClientConnection) {
        self.tls = Some(Box::new(tls));
    }

    /// Completes the TLS handshake; the socket must be blocking.
    pub(super) fn complete_handshake(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.is_handshaking() {
            tls.complete_io(&mut self.socket)?;
        }
        Ok(())
    }

    /// The server's certificate, inside TLS.
    pub(super) fn server_certificate(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.peer_certificates()?.first().map(|certificate| certificate.as_ref())
    }

    /// Limits blocking reads and writes; None waits for ever.
    pub(super) fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(socket) => socket.set_read_timeout(timeout).and_then(|()| socket.set_write_timeout(timeout)),
            Socket::Tcp(socket) => socket.set_read_timeout(timeout).and_then(|()| socket.set_write_timeout(timeout)),
        }
    }

    /// Blocking or not.
    pub(super) fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(socket) => socket.set_nonblocking(nonblocking),
            Socket::Tcp(socket) => socket.set_nonblocking(nonblocking),
        }
    }

    /// For the readiness loop.
    pub(super) fn as_raw_fd(&self) -> RawFd {
        match &self.socket {
            Socket::Unix(socket) => socket.as_raw_fd(),
            Socket::Tcp(socket) => socket.as_raw_fd(),
        }
    }

    /// Whether a short read says nothing about what is left: TLS may hold more plaintext.
    pub(super) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Reads what is there; 0 means that the server has closed.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(io::Error::other)?;
        }
    }

    /// Hands bytes over and returns how many were taken; inside TLS they may still have to be flushed.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => tls.writer().write(bytes),
        }
    }

    /// Writes what TLS still holds.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.read(buffer),
            Self::Tcp(socket) => socket.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.write(bytes),
            Self::Tcp(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn connect_tcp(target: &Target, timeout: Duration) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in (target.host.as_str(), target.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                SockRef::from(&stream).set_tcp_keepalive(&keepalive())?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Somebody who waits for hours for a scan to send its first row must still learn within two minutes that nobody is
/// there any more: a host that is gone, or a firewall that has forgotten the connection, says nothing.
fn keepalive() -> TcpKeepalive {
    TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(10)).with_retries(6)
}

/// The server could not be talked to.
pub(super) fn unreachable(target: &Target, error: &io::Error) -> CoreError {
    let what = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    };
    CoreError::new(
        "unreachable",
        format!("target {}: {what}; check host and port and that the server is running", target.address()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_over_tcp_notices_that_nobody_is_there() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let target = format!(
            r#"{{"host": "127.0.0.1", "port": {port}, "user": "u", "dbname": "d", "sslmode": "disable",
                "connect_timeout_ns": 1000000000}}"#
        );
        let target: Target = serde_json::from_str(&target).expect("valid");
        let stream = connect_tcp(&target, Duration::from_secs(1)).expect("it listens");
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().expect("an option"));
        assert_eq!(Duration::from_secs(60), socket.tcp_keepalive_time().expect("an option"));
    }
}
