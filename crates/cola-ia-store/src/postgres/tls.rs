//! TLS to the server, with libpq's words for how much is asked of it (its manual, "34.19.1 Client Verification of Server
//! Certificates").

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cola_ia_core::store::{ErrorKind, StoreError};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How much is asked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// No TLS.
    Disable,
    /// TLS where the server has it; its certificate is not looked at.
    Prefer,
    /// TLS; its certificate is not looked at, unless there is a file of authorities.
    Require,
    /// An authority that is trusted signed it.
    VerifyCa,
    /// And it is of the host that was asked for.
    VerifyFull,
}

/// What is asked of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tls {
    mode: Mode,
    /// A file of authorities that are trusted, in PEM; without it those of the system.
    root: Option<PathBuf>,
}

impl Tls {
    /// # Errors
    /// What the words do not say.
    pub(super) fn of(mode: Option<&str>, root: Option<PathBuf>) -> Result<Self, String> {
        let mode = match mode {
            None if root.is_some() => Mode::VerifyFull,
            None | Some("prefer") => Mode::Prefer,
            Some("disable") => Mode::Disable,
            // As libpq: who names authorities wants them asked.
            Some("require") if root.is_some() => Mode::VerifyCa,
            Some("require") => Mode::Require,
            Some("verify-ca") => Mode::VerifyCa,
            Some("verify-full") => Mode::VerifyFull,
            Some(other) => {
                return Err(format!("sslmode {other:?}: disable, prefer, require, verify-ca or verify-full"));
            }
        };
        Ok(Self { mode, root })
    }

    /// What the driver does before the handshake.
    pub(super) const fn negotiation(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// # Errors
    /// `store_tls`: the authorities cannot be read.
    pub(super) fn connector(&self, address: &str) -> Result<MakeRustlsConnect, StoreError> {
        let wrong =
            |cause: String| StoreError::new(ErrorKind::Invalid, "store_tls").with("path", address).with("cause", cause);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|cause| wrong(cause.to_string()))?;
        let asks = matches!(self.mode, Mode::VerifyCa | Mode::VerifyFull);
        let config = if asks {
            let roots = Arc::new(self.roots().map_err(wrong)?);
            if self.mode == Mode::VerifyFull {
                builder.with_root_certificates(roots).with_no_client_auth()
            } else {
                let chain = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                    .build()
                    .map_err(|cause| wrong(cause.to_string()))?;
                let asker = Arc::new(Asker { chain: Some(chain), provider });
                builder.dangerous().with_custom_certificate_verifier(asker).with_no_client_auth()
            }
        } else {
            let asker = Arc::new(Asker { chain: None, provider });
            builder.dangerous().with_custom_certificate_verifier(asker).with_no_client_auth()
        };
        Ok(MakeRustlsConnect::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        match &self.root {
            Some(path) if path != Path::new("system") => {
                let said = |cause: &dyn std::fmt::Display| format!("sslrootcert {}: {cause}", path.display());
                let certificates = CertificateDer::pem_file_iter(path).map_err(|cause| said(&cause))?;
                for certificate in certificates {
                    roots.add(certificate.map_err(|cause| said(&cause))?).map_err(|cause| said(&cause))?;
                }
                if roots.is_empty() {
                    return Err(said(&"no certificate"));
                }
            }
            _ => {
                let system = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(system.certs);
                if roots.is_empty() {
                    return Err("the system has no authorities that are trusted; say sslrootcert".to_owned());
                }
            }
        }
        Ok(roots)
    }
}

/// Takes any certificate, or any that an authority signed whatever its name. That the server has the certificate's key is asked
/// in any case.
#[derive(Debug)]
struct Asker {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Asker {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last: all else was found right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
