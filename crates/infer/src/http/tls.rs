//! TLS configuration: trusts the certificates of the system, so that a company's own certificate
//! authority is accepted too.

use std::sync::Arc;

use rustls::crypto::ring;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::error::Error;

pub(super) fn tls_config(secure: bool) -> Result<TlsConfig, Error> {
    let roots = if secure { system_roots()? } else { Vec::new() };
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build())
}

fn system_roots() -> Result<Vec<Certificate<'static>>, Error> {
    // An unreadable certificate is skipped; the others remain valid.
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        let what = "this system has no certificates to trust, so https cannot be used; install `ca-certificates`";
        return Err(Error::bad_config(what));
    }
    Ok(found.iter().map(|it| Certificate::from_der(it).to_owned()).collect())
}
