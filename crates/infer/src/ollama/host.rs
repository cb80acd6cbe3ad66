//! Parses the environment variable `OLLAMA_HOST` in all forms that Ollama itself accepts.

use std::net::IpAddr;

use crate::error::Error;

const DEFAULT_HOST: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 11434;

/// The URL of the server, from the text of `OLLAMA_HOST`: empty, a host, a host with a port, or a URL.
///
/// A URL without a port means the port of its scheme, not Ollama's. A server that listens on all
/// addresses (`0.0.0.0`) is contacted on this machine.
pub fn parse_host(text: &str) -> Result<String, Error> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, default_port) = match text.split_once("://") {
        None => ("http", text, DEFAULT_PORT),
        Some(("http", rest)) => ("http", rest, 80),
        Some(("https", rest)) => ("https", rest, 443),
        Some(_) => {
            return Err(Error::bad_config(
                "`OLLAMA_HOST` begins with `http://`, `https://` or a host",
            ));
        }
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = split_port(authority);
    let port = match port {
        Some(text) => text
            .parse()
            .map_err(|_| Error::bad_config("the port of `OLLAMA_HOST` is no number up to 65535"))?,
        None => default_port,
    };
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    Ok(format!("{scheme}://{}:{port}{slash}{path}", reachable_host(host)))
}

/// Host and port. Colons within an IPv6 address, with or without brackets, begin no port.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    if authority.parse::<IpAddr>().is_ok() {
        return (authority, None);
    }
    match authority.rsplit_once(':') {
        // `[fe80::1]` without a port: the last colon is inside the brackets.
        Some((_, rest)) if rest.ends_with(']') => (authority, None),
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    }
}

/// The host under which a server that listens on `host` can be reached.
fn reachable_host(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        // The address that means all interfaces is no destination.
        Ok(IpAddr::V4(it)) if it.is_unspecified() => DEFAULT_HOST.to_owned(),
        Ok(IpAddr::V6(it)) if it.is_unspecified() => "[::1]".to_owned(),
        Ok(IpAddr::V6(it)) => format!("[{it}]"),
        Err(_) if bare.is_empty() => DEFAULT_HOST.to_owned(),
        // Any other address, or a host name.
        Ok(IpAddr::V4(_)) | Err(_) => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_becomes_a_url() {
        #[rustfmt::skip]
        let rows = [
            ("",                          "http://127.0.0.1:11434"),
            ("  \"gpu.lan\" ",            "http://gpu.lan:11434"),
            ("gpu.lan:8080",              "http://gpu.lan:8080"),
            (":8080",                     "http://127.0.0.1:8080"),
            ("0.0.0.0",                   "http://127.0.0.1:11434"),
            ("0.0.0.0:8080",              "http://127.0.0.1:8080"),
            ("::1",                       "http://[::1]:11434"),
            ("[::]:8080",                 "http://[::1]:8080"),
            ("[fe80::1]",                 "http://[fe80::1]:11434"),
            ("http://gpu.lan",            "http://gpu.lan:80"),
            ("http://gpu.lan:11434/",     "http://gpu.lan:11434"),
            ("https://gpu.lan",           "https://gpu.lan:443"),
            ("https://gate.lan/ollama/",  "https://gate.lan:443/ollama"),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_host(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_schemes_and_invalid_ports_are_rejected() {
        for text in ["ftp://gpu.lan", "gpu.lan:ollama", "gpu.lan:99999", "gpu.lan:-1"] {
            assert!(parse_host(text).is_err(), "{text}");
        }
    }
}
