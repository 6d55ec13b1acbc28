//! A place before a server where TLS ends, with a certificate of an authority of the test's own.

#![allow(dead_code, reason = "no test file uses all of it")]

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A certificate authority that nobody knows.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate, as `SSL_CERT_FILE` wants it.
    pub(crate) pem: String,
}

impl Authority {
    /// Of this name, which is another one for each: it is by their names that they are told apart.
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().to_vec();
        Self { issuer: Issuer::new(params, key), pem: pem("CERTIFICATE", &der) }
    }

    /// A certificate for this name, and its key.
    fn signed(&self, name: &str) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        (CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// The same as text.
    pub(crate) fn certificate(&self, name: &str) -> (String, String) {
        let (leaf, key) = self.signed(name);
        (pem("CERTIFICATE", leaf.der()), pem("PRIVATE KEY", &key.serialize_der()))
    }
}

fn pem(what: &str, der: &[u8]) -> String {
    // Some readers take no longer lines (RFC 7468).
    let text = STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", lines.join("\n"))
}

/// It ends with its test.
pub(crate) struct Terminator {
    pub(crate) port: u16,
    _runtime: Runtime,
}

impl Terminator {
    /// Before what listens at `behind`, as the server of this name.
    pub(crate) fn start(authority: &Authority, name: &str, behind: &str) -> Self {
        let (leaf, key) = authority.signed(name);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config =
            ServerConfig::builder().with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let behind: SocketAddr = behind.parse().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // Who does not trust us goes away in the middle of it.
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let mut inside = TcpStream::connect(behind).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        Self { port, _runtime: runtime }
    }
}
