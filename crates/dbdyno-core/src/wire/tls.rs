//! TLS by libpq's sslmode.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::target::{SslMode, Target};
use crate::error::{CoreError, Result};

/// A client session for this target, not yet connected.
pub(super) fn session(target: &Target) -> Result<ClientConnection> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let checks = Checks::of(target, &provider)?;
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| tls_error(target, &error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { checks, provider }))
        .with_no_client_auth();
    let name = ServerName::try_from(target.host.clone()).map_err(|error| tls_error(target, &error.to_string()))?;
    let mut session =
        ClientConnection::new(Arc::new(config), name).map_err(|error| tls_error(target, &error.to_string()))?;
    session.set_buffer_limit(None);
    Ok(session)
}

/// An error of the `tls` kind.
pub(super) fn tls_error(target: &Target, what: &str) -> CoreError {
    CoreError::new("tls", format!("target {}: TLS failed: {what}; check sslmode and sslrootcert", target.address()))
}

/// What of the server's certificate is verified.
#[derive(Debug)]
enum Checks {
    Nothing,
    Chain(Arc<WebPkiServerVerifier>),
    ChainAndName(Arc<WebPkiServerVerifier>),
}

impl Checks {
    fn of(target: &Target, provider: &Arc<CryptoProvider>) -> Result<Self> {
        let chain = || {
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots(target)?), Arc::clone(provider))
                .build()
                .map_err(|error| tls_error(target, &error.to_string()))
        };
        match (target.sslmode, &target.sslrootcert) {
            (SslMode::VerifyFull, _) => Ok(Self::ChainAndName(chain()?)),
            (SslMode::VerifyCa, _) | (SslMode::Require, Some(_)) => Ok(Self::Chain(chain()?)),
            _ => Ok(Self::Nothing),
        }
    }
}

fn roots(target: &Target) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let Some(path) = &target.sslrootcert else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return match store.is_empty() {
            true => Err(tls_error(target, "this system has no certificate store and sslrootcert is not set")),
            false => Ok(store),
        };
    };
    let unreadable = |error: &dyn std::fmt::Display| tls_error(target, &format!("sslrootcert {path}: {error}"));
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
        store.add(certificate.map_err(|error| unreadable(&error))?).map_err(|error| unreadable(&error))?;
    }
    match store.is_empty() {
        true => Err(unreadable(&"holds no certificate")),
        false => Ok(store),
    }
}

/// rustls always asks; how much is looked at depends on the sslmode.
#[derive(Debug)]
struct Verifier {
    checks: Checks,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let (chain, name_counts) = match &self.checks {
            Checks::Nothing => return Ok(ServerCertVerified::assertion()),
            Checks::Chain(chain) => (chain, false),
            Checks::ChainAndName(chain) => (chain, true),
        };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !name_counts => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
