//! Tying a SCRAM login to the TLS session it runs in (`tls-server-end-point`, RFC 5929): both sides prove
//! that they see the same server certificate, so nobody in between can hold a session of each.
//!
//! ```text
//! Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OID, ... }, ... }
//! ```

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

/// The hash of a certificate in DER, by the hash function of its own signature, but at least SHA-256.
/// None where the signature has no single hash function (RSA-PSS, Ed25519): RFC 5929 leaves those out.
pub(super) fn server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let algorithm = hash_of_signature(signature_algorithm(certificate)?)?;
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// The OID of the signature's algorithm.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(certificate)?;
    let (_to_be_signed, rest) = element(certificate)?;
    let (algorithm, _) = element(rest)?;
    element(algorithm).map(|(oid, _)| oid)
}

/// Content of the first DER element, and what follows it.
fn element(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *bytes.get(1)? {
        short @ 0..=0x7f => (usize::from(short), &bytes[2..]),
        long => {
            let (length, rest) = bytes[2..].split_at_checked(usize::from(long & 0x7f))?;
            (length.iter().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))?, rest)
        }
    };
    rest.split_at_checked(length)
}

fn hash_of_signature(oid: &[u8]) -> Option<&'static Algorithm> {
    // 1.2.840.113549.1.1 (RSA, PKCS #1) and 1.2.840.10045.4 (ECDSA).
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    match (oid.strip_prefix(RSA), oid.strip_prefix(ECDSA)) {
        // MD5 and SHA-1 are too weak and are replaced by SHA-256.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Some(&SHA256),
        (Some([12]), _) | (_, Some([3, 3])) => Some(&SHA384),
        (Some([13]), _) | (_, Some([3, 4])) => Some(&SHA512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = match content.len() {
            short @ 0..=0x7f => vec![short as u8],
            long => vec![0x82, (long >> 8) as u8, long as u8],
        };
        [&[tag], length.as_slice(), content].concat()
    }

    fn certificate(oid: &[u8]) -> Vec<u8> {
        let to_be_signed = der(0x30, &[7; 300]);
        let algorithm = der(0x30, &[der(6, oid), vec![5, 0]].concat());
        der(0x30, &[to_be_signed, algorithm].concat())
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let rsa_sha512 = certificate(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 13]);
        assert_eq!(Some(digest(&SHA512, &rsa_sha512).as_ref().to_vec()), server_end_point(&rsa_sha512));
        let rsa_sha1 = certificate(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 5]);
        assert_eq!(Some(digest(&SHA256, &rsa_sha1).as_ref().to_vec()), server_end_point(&rsa_sha1));
        let ecdsa_sha384 = certificate(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 3, 3]);
        assert_eq!(Some(digest(&SHA384, &ecdsa_sha384).as_ref().to_vec()), server_end_point(&ecdsa_sha384));
    }

    #[test]
    fn what_has_no_single_hash_or_is_cut_short_has_none() {
        assert_eq!(None, server_end_point(&certificate(&[0x2b, 0x65, 0x70])));
        let whole = certificate(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 3, 2]);
        assert!((0..whole.len()).all(|length| server_end_point(&whole[..length]).is_none()));
    }
}
