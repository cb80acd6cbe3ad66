//! A server with a certificate that nobody vouches for is not spoken to.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use waylore_infer::{
    ApiKey, Error, ProviderEndpoint, TextApi, TextConfig, TextGenerator, TextPrompt,
};

use crate::kit::{KEY, LONG};

/// For `localhost`, signed by itself, and part of no program.
const CERTIFICATE: &[u8] = include_bytes!("../../fixtures/localhost.cert.der");
const PRIVATE_KEY: &[u8] = include_bytes!("../../fixtures/localhost.key.der");

#[test]
fn a_certificate_nobody_vouches_for_ends_the_call() {
    let certificate = CertificateDer::from(CERTIFICATE);
    let key = PrivatePkcs8KeyDer::from(PRIVATE_KEY).into();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(vec![certificate], key))
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut acc = Vec::new();
        let _ = StreamOwned::new(connection, stream).read_to_end(&mut acc);
        acc
    });

    let url = format!("https://localhost:{port}");
    let endpoint =
        ProviderEndpoint { url, key: Some(ApiKey::new(KEY).unwrap()), allow_plain_http: false };
    let config = TextConfig { api: TextApi::Anthropic, endpoint, model: "m".to_owned() };
    let generator = match TextGenerator::new(&config) {
        Ok(it) => it,
        // A machine without any certificates trusts nobody either.
        Err(error) => return assert!(matches!(error, Error::Config { .. }), "{error}"),
    };
    let prompt = TextPrompt { system: "", user: "why", max_tokens: 1 };
    let error = generator.complete(&prompt, LONG).unwrap_err();
    assert!(matches!(error, Error::Untrusted { .. }) && !error.is_temporary(), "{error}");
    assert!(server.join().unwrap().is_empty(), "nothing was said to it");
}
