//! The forms that `OLLAMA_HOST` takes, read as Ollama itself reads them.

use std::net::IpAddr;

use crate::error::Error;

const DEFAULT_HOST: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 11434;

/// The address to ask, from the text of `OLLAMA_HOST`: nothing, a host, a host with a port, or a URL.
///
/// A URL without a port means the port of its scheme, not Ollama's. Where a server listens on all
/// addresses (`0.0.0.0`), it is asked on this machine.
pub fn parse_host(text: &str) -> Result<String, Error> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, default) = match text.split_once("://") {
        None => ("http", text, DEFAULT_PORT),
        Some(("http", rest)) => ("http", rest, 80),
        Some(("https", rest)) => ("https", rest, 443),
        Some(_) => {
            return Err(Error::bad_config(
                "`OLLAMA_HOST` begins with `http://`, `https://` or a host",
            ));
        }
    };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = split_port(place);
    let port = match port {
        Some(it) => it
            .parse()
            .map_err(|_| Error::bad_config("the port of `OLLAMA_HOST` is no number up to 65535"))?,
        None => default,
    };
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    Ok(format!("{scheme}://{}:{port}{slash}{path}", reachable_host(host)))
}

/// Colons within an IPv6 address are no port, whether it stands in brackets or not.
fn split_port(place: &str) -> (&str, Option<&str>) {
    if place.parse::<IpAddr>().is_ok() {
        return (place, None);
    }
    match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    }
}

fn reachable_host(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(it)) if it.is_unspecified() => DEFAULT_HOST.to_owned(),
        Ok(IpAddr::V6(it)) if it.is_unspecified() => "[::1]".to_owned(),
        Ok(IpAddr::V6(it)) => format!("[{it}]"),
        _ if bare.is_empty() => DEFAULT_HOST.to_owned(),
        _ => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_becomes_an_address() {
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
        for (text, wanted) in rows {
            assert_eq!(parse_host(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["ftp://gpu.lan", "gpu.lan:ollama", "gpu.lan:99999", "gpu.lan:-1"] {
            assert!(parse_host(text).is_err(), "{text}");
        }
    }
}
