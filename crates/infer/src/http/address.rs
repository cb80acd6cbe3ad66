//! The address of a provider: parsed and checked once, then combined with the path of each call.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::error::Error;

/// A valid address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderAddress {
    /// HTTPS.
    pub(crate) secure: bool,
    /// Host, with the port unless it is the default; an IPv6 address is in brackets.
    pub(crate) host: String,
    /// Path before that of each call: empty, or begins with a slash and does not end with one.
    prefix: String,
}

impl ProviderAddress {
    pub(crate) fn parse(url: &str, allow_plain_http: bool) -> Result<Self, Error> {
        // The rejected text is not repeated: it may contain a password or a key.
        if url.contains(['@', '?', '#']) {
            let what = "the address of a provider has no user, password, query or fragment; a key has its own setting";
            return Err(Error::bad_config(what));
        }
        let invalid = || {
            let url: String = url.chars().filter(|it| !it.is_control()).take(100).collect();
            Error::bad_config(format!("`{url}` is no address such as `https://host/v1`"))
        };
        let uri: Uri = url.trim().parse().map_err(|_| invalid())?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid()),
        };
        let name = uri.host().filter(|it| !it.is_empty()).ok_or_else(invalid)?.to_ascii_lowercase();
        if !secure && !allow_plain_http && !is_loopback(&name) {
            return Err(Error::bad_config(format!(
                "`{name}` would be sent texts unencrypted; use https, or allow plain http for it"
            )));
        }
        let default_port = if secure { 443 } else { 80 };
        let port = uri.port_u16().filter(|it| *it != default_port);
        let host = port.map_or(name.clone(), |it| format!("{name}:{it}"));
        Ok(Self { secure, host, prefix: uri.path().trim_end_matches('/').to_owned() })
    }

    pub(crate) fn is_local(&self) -> bool {
        let name = match self.host.rsplit_once(':') {
            // `[::1]` without a port: the last colon is inside the brackets of an IPv6 address.
            Some((_, port)) if port.contains(']') => &self.host,
            Some((name, _)) => name,
            None => &self.host,
        };
        is_loopback(name)
    }

    /// The whole URL of a call. A beginning of `path` with which the address already ends is not
    /// repeated, so users may configure the bare host, `…/v1` or `…/v1/embeddings`.
    pub(crate) fn url(&self, path: &str) -> String {
        // Tries the beginnings of the path that end with a segment: `/v1`, then `/v1/embeddings`. The
        // longest that the address ends with is left out.
        let mut n_repeated = 0;
        for end in 1..=path.len() {
            let ends_segment = end == path.len() || path.as_bytes()[end] == b'/';
            if ends_segment && self.prefix.ends_with(&path[..end]) {
                n_repeated = end;
            }
        }
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}{}", self.host, self.prefix, &path[n_repeated..])
    }
}

fn is_loopback(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the host and the URL of a call, or the error.
    fn check(url: &str, expect: Expect) {
        let text = match ProviderAddress::parse(url, false) {
            Ok(it) => format!("{} {}", it.host, it.url("/v1/embeddings")),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn the_version_may_be_part_of_the_address() {
        let url = "https://api.openai.com/v1/embeddings";
        for base in ["https://api.openai.com", "https://API.openai.com:443/v1/", url] {
            let address = ProviderAddress::parse(base, false).unwrap();
            assert_eq!(
                (address.host.as_str(), address.url("/v1/embeddings")),
                ("api.openai.com", url.to_owned())
            );
        }
        check(
            "https://gate.example/llm/v1",
            expect!["gate.example https://gate.example/llm/v1/embeddings"],
        );
        check(
            "https://gate.example/xv1",
            expect!["gate.example https://gate.example/xv1/v1/embeddings"],
        );
    }

    #[test]
    fn plain_http_is_allowed_only_to_this_machine() {
        check(
            "http://localhost:8080",
            expect!["localhost:8080 http://localhost:8080/v1/embeddings"],
        );
        check("http://[::1]:8080", expect!["[::1]:8080 http://[::1]:8080/v1/embeddings"]);
        check("http://127.0.0.2", expect!["127.0.0.2 http://127.0.0.2/v1/embeddings"]);
        let refused = expect![
            "`gpu.lan` would be sent texts unencrypted; use https, or allow plain http for it"
        ];
        check("http://gpu.lan:11434", refused);
        let refused = expect![
            "`localhost.evil.example` would be sent texts unencrypted; use https, or allow plain http for it"
        ];
        check("http://localhost.evil.example", refused);
        assert!(ProviderAddress::parse("http://gpu.lan:11434", true).is_ok());
        for url in ["http://localhost:1", "https://127.0.0.1/v1", "http://[::1]", "http://[::1]:1"]
        {
            assert!(ProviderAddress::parse(url, false).unwrap().is_local(), "{url}");
        }
        for url in ["https://gpu.lan:1", "https://[fe80::1]:1", "https://localhost.evil.example"] {
            assert!(!ProviderAddress::parse(url, false).unwrap().is_local(), "{url}");
        }
    }

    #[test]
    fn invalid_addresses_are_rejected_without_repeating_secrets() {
        for url in ["", "host", "ftp://host", "https://", "file:///etc/passwd", "https://a b"] {
            assert!(ProviderAddress::parse(url, true).is_err(), "{url}");
        }
        for url in ["https://me:hunter2@host", "https://host/?key=hunter2", "https://host#hunter2"]
        {
            let error = ProviderAddress::parse(url, true).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"));
        }
    }
}
