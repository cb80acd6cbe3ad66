//! A server whose certificate no trusted authority signed gets neither texts nor key.

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

use crate::providers::{GENEROUS_DEADLINE, KEY};

/// A self-signed certificate for `localhost`, used only by this test.
const CERTIFICATE: &[u8] = include_bytes!("../../fixtures/localhost.cert.der");
const PRIVATE_KEY: &[u8] = include_bytes!("../../fixtures/localhost.key.der");

#[test]
fn a_self_signed_certificate_ends_the_call_before_anything_is_sent() {
    // A TLS server that returns everything it could read.
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
        // On a machine without any certificates HTTPS cannot be used at all.
        Err(error) => return assert!(matches!(error, Error::Config { .. }), "{error}"),
    };
    let prompt = TextPrompt { system: "", user: "why", max_tokens: 1 };
    let error = generator.complete(&prompt, GENEROUS_DEADLINE).unwrap_err();
    assert!(matches!(error, Error::Untrusted { .. }) && !error.is_temporary(), "{error}");
    assert!(server.join().unwrap().is_empty(), "the server received nothing");
}
