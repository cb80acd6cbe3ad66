//! Normalizes the URL of a repository to `host/owner/name`.
//!
//! It removes everything in which two clones of one repository may differ: scheme, user, password,
//! default port, `.git`, slashes. Credentials never survive, because only host, port and path are
//! copied. Rewriting rules (`insteadOf`) are not applied.

use std::fs;
use std::net::Ipv6Addr;
use std::path::{Component, Path, PathBuf};

/// A normalized URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemoteUrl {
    /// `host/owner/name`, or the path of a local repository.
    pub(crate) key: String,
    /// Last part of the path, in its original case.
    pub(crate) name: String,
}

/// Longest URL of a repository.
const MAX_URL_BYTES: usize = 2048;

/// Default ports of schemes.
const DEFAULT_PORTS: &[(&str, u16)] = &[
    ("ssh", 22),
    ("git+ssh", 22),
    ("ssh+git", 22),
    ("https", 443),
    ("http", 80),
    ("git", 9418),
    ("ftp", 21),
    ("ftps", 990),
];

/// Alternative hosts of the same service, for networks that block port 22.
const HOST_ALIASES: &[(&str, &str)] = &[
    ("ssh.github.com:443", "github.com"),
    ("altssh.gitlab.com:443", "gitlab.com"),
    ("altssh.bitbucket.org:443", "bitbucket.org"),
    ("www.github.com", "github.com"),
];

/// Hosts on which `Owner/Name` and `owner/name` are the same.
const CASELESS_HOSTS: &[&str] = &["bitbucket.org", "codeberg.org", "github.com", "gitlab.com"];

/// Normalizes a URL; relative local paths start at `base`. `None` if it names no known kind of
/// repository.
pub(crate) fn normalize_url(url: &str, base: &Path) -> Option<RemoteUrl> {
    let url = url.trim();
    if url.is_empty() || url.len() > MAX_URL_BYTES || url.chars().any(char::is_control) {
        return None;
    }
    if let Some((scheme, rest)) = url.split_once("://").filter(|it| is_scheme(it.0)) {
        let scheme = scheme.to_ascii_lowercase();
        // Queries and fragments may hold tokens.
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        return match scheme.as_str() {
            "file" if matches!(authority, "" | "localhost") => {
                local_url(&decode_all(path)?, Path::new("/"))
            }
            _ => network_url(&scheme, authority, path),
        };
    }
    // Without a scheme: `user@host:path` or a local path.
    match scp_colon(url) {
        // `ext::sh -c …` and other remote helpers are commands, not URLs.
        Some(colon) if url[colon..].starts_with("::") => None,
        // The drive of a Windows path.
        Some(1) if url.starts_with(|it: char| it.is_ascii_alphabetic()) => local_url(url, base),
        Some(colon) => network_url("ssh", strip_brackets(&url[..colon]), &url[colon + 1..]),
        None => local_url(url, base),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'))
}

/// Position of the colon in `user@host:path`: the first one outside brackets and before any slash.
fn scp_colon(url: &str) -> Option<usize> {
    let head = url.split('/').next().unwrap_or_default();
    let after_brackets = head.find(']').unwrap_or(0);
    head[after_brackets..].find(':').map(|it| after_brackets + it)
}

/// `[host:port]` without its brackets, unless they belong to an IPv6 address.
fn strip_brackets(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inner) if inner.parse::<Ipv6Addr>().is_err() => inner,
        _ => authority,
    }
}

/// Normalizes a URL with a host.
fn network_url(scheme: &str, authority: &str, path: &str) -> Option<RemoteUrl> {
    let host = normalize_host(scheme, authority)?;
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            _ => segments.push(decode_plain(segment)),
        }
    }
    // `…/name/.git` names the git directory inside the working tree `name`.
    if segments.last().is_some_and(|it| it == ".git") {
        segments.pop();
    }
    let name = segments.pop()?;
    let name = name.strip_suffix(".git").filter(|it| !it.is_empty()).unwrap_or(&name).to_owned();
    let mut path = String::new();
    for segment in segments.iter().chain([&name]) {
        path.push('/');
        path.push_str(segment);
    }
    if CASELESS_HOSTS.contains(&host.as_str()) {
        path = path.to_lowercase();
    }
    Some(RemoteUrl { key: host + &path, name })
}

/// Host and non-default port. The user part, everything before the last `@`, is dropped.
fn normalize_host(scheme: &str, authority: &str) -> Option<String> {
    let address = authority.rsplit('@').next()?;
    // An IPv6 address has colons of its own, inside brackets.
    let (host, port) = match address.find(']') {
        Some(end) => (&address[..=end], address[end + 1..].strip_prefix(':').unwrap_or_default()),
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '.' | '_');
    let is_valid = match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(is_name),
    };
    if !is_valid {
        return None;
    }
    let port = if port.is_empty() { None } else { Some(port.parse::<u16>().ok()?) };
    let is_default = |port| DEFAULT_PORTS.contains(&(scheme, port));
    let with_port = port.filter(|it| !is_default(*it)).map(|it| format!("{host}:{it}"));
    // An alias is listed with its port even if that is the default of the scheme.
    let spelled = port.map_or_else(|| host.clone(), |it| format!("{host}:{it}"));
    let alias = HOST_ALIASES.iter().find(|it| it.0 == spelled).map(|it| it.1.to_owned());
    Some(alias.or(with_port).unwrap_or(host))
}

/// A repository on this machine, by its canonical path if it still exists.
fn local_url(path: &str, base: &Path) -> Option<RemoteUrl> {
    let given = base.join(path);
    let with_suffix = PathBuf::from(format!("{}.git", given.to_str()?));
    // Like git, tries the name with `.git` appended if the name itself does not exist.
    let found = [&given, &with_suffix].into_iter().find_map(|it| fs::canonicalize(it).ok());
    let mut path = found.unwrap_or_else(|| remove_dots(&given));
    if path.file_name().is_some_and(|it| it == ".git") {
        path.pop();
    }
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".git").filter(|it| !it.is_empty()).unwrap_or(name).to_owned();
    let key = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    // The prefix of canonical paths on Windows.
    let key = key.strip_prefix("//?/").map(str::to_owned).unwrap_or(key);
    (!key.chars().any(char::is_control)).then_some(RemoteUrl { key, name })
}

/// Resolves `.` and `..` by their text, for a path that no longer exists.
fn remove_dots(path: &Path) -> PathBuf {
    let mut acc = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = acc.pop(),
            _ => acc.push(component),
        }
    }
    acc
}

/// Decodes `%41`, which is only another spelling of `A`, and leaves `%2F`, which is not a slash.
fn decode_plain(segment: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_' | b'~');
    String::from_utf8(percent_decode(segment, is_plain)).unwrap_or_else(|_| segment.to_owned())
}

/// Decodes the path of a `file:` URL, which has lost its first slash; a Windows path has none.
fn decode_all(path: &str) -> Option<String> {
    let path = String::from_utf8(percent_decode(path, |_| true)).ok()?;
    Some(if path.as_bytes().get(1) == Some(&b':') { path } else { format!("/{path}") })
}

/// Decodes the percent escapes of `wanted` bytes.
fn percent_decode(text: &str, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut acc = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code =
            after.get(..2).filter(|it| first == b'%' && it.iter().all(u8::is_ascii_hexdigit));
        let byte = code.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        if let Some(byte) = byte.filter(|it| wanted(*it)) {
            acc.push(byte);
            rest = &after[2..];
        } else {
            acc.push(first);
            rest = after;
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> Option<String> {
        normalize_url(url, Path::new("/base/repo")).map(|it| it.key)
    }

    #[test]
    fn spellings_of_one_repository_are_equal() {
        let spellings = [
            "https://github.com/owner/name",
            "https://github.com/owner/name.git",
            "https://github.com/owner/name/",
            "https://github.com/owner/name.git/",
            "https://github.com//owner//name.git",
            "https://GitHub.com/Owner/Name.git",
            "https://github.com./owner/name",
            "https://www.github.com/owner/name",
            "http://github.com:80/owner/name",
            "https://github.com:443/owner/name",
            "https://token@github.com/owner/name.git",
            "https://user:p@ss:word@github.com/owner/name.git",
            "https://github.com/owner/name.git?private_token=secret#fragment",
            "https://github.com/owner/n%61me",
            "https://github.com/owner/./x/../name",
            "HTTPS://github.com/owner/name",
            "git@github.com:owner/name.git",
            "git@github.com:owner/name",
            "git@github.com:/owner/name.git",
            "github.com:owner/name.git",
            "[git@github.com:22]:owner/name.git",
            "ssh://git@github.com/owner/name.git",
            "ssh://git@github.com:22/owner/name.git",
            "ssh://git@ssh.github.com:443/owner/name.git",
            "git+ssh://git@github.com/owner/name.git",
            "git://github.com:9418/owner/name.git",
            "  git@github.com:owner/name.git ",
        ];
        for url in spellings {
            assert_eq!(key(url).as_deref(), Some("github.com/owner/name"), "{url}");
        }
    }

    #[test]
    fn different_repositories_stay_different() {
        let cases = [
            ("https://github.com/fork/name", Some("github.com/fork/name")),
            ("https://git.example.com:8443/a/b.git", Some("git.example.com:8443/a/b")),
            ("ssh://git@git.example.com:443/a/b", Some("git.example.com:443/a/b")),
            ("https://git.example.com/Team/Repo", Some("git.example.com/Team/Repo")),
            ("git@git.example.com:group/sub/repo.git", Some("git.example.com/group/sub/repo")),
            ("https://git.sr.ht/~user/repo", Some("git.sr.ht/~user/repo")),
            ("ssh://host/srv/repo/.git", Some("host/srv/repo")),
            ("host:.git", None),
            ("ssh://[2001:DB8::1]:2222/a/b", Some("[2001:db8::1]:2222/a/b")),
            ("git@[::1]:a/b.git", Some("[::1]/a/b")),
            ("[git@host:2222]:a/b", Some("host:2222/a/b")),
            ("https://host/a%2Fb/c", Some("host/a%2Fb/c")),
            ("https://host/a/%zz", Some("host/a/%zz")),
            ("file://server/share/repo.git", Some("server/share/repo")),
            ("https://host/../../..", None),
            ("https://host", None),
            ("https:///owner/name", None),
            ("https://user:pa/ss@host/x", None),
            ("https://ho st/a/b", None),
            ("https://host:99999/a/b", None),
            ("https://[nonsense]/a/b", None),
            ("ext::sh -c evil", None),
            ("codecommit::eu-west-1://profile@repo", None),
            ("git@host:a/\u{1b}[31mb", None),
            ("https://host/a\0b", None),
            ("", None),
            ("   ", None),
            (":", None),
            ("@:", None),
            ("]:[", None),
        ];
        for (url, expected) in cases {
            assert_eq!(key(url).as_deref(), expected, "{url}");
        }
        assert_eq!(key(&format!("https://host/{}", "a/".repeat(5000))), None);
    }

    #[cfg(unix)]
    #[test]
    fn local_repositories_are_identified_by_their_path() {
        let cases = [
            ("/srv/git/name.git", Some("/srv/git/name.git")),
            ("/srv/git/name/.git", Some("/srv/git/name")),
            ("/srv/git//name/", Some("/srv/git/name")),
            ("file:///srv/git/na%20me", Some("/srv/git/na me")),
            ("file://localhost/srv/name", Some("/srv/name")),
            ("../sibling", Some("/base/sibling")),
            ("./-with:colon", Some("/base/repo/-with:colon")),
            ("/", None),
            ("file:///a%00b", None),
            ("file:///a%ff", None),
        ];
        for (url, expected) in cases {
            assert_eq!(key(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn the_name_keeps_its_case() {
        let remote = normalize_url("git@github.com:Owner/Some-Name.git", Path::new("/")).unwrap();
        assert_eq!(remote.name, "Some-Name");
    }

    #[test]
    fn no_credential_survives() {
        for url in [
            "https://user:hunter2@host/a/b",
            "https://hunter2@host/a/b",
            "https://user:hun@ter2@host/a/b?hunter2#hunter2",
            "hunter2@host:a/b",
            "ssh://user:hunter2@host:2222/a/b",
            "ftp://a:hunter2@[::1]/a/b",
        ] {
            let key = key(url).unwrap();
            assert!(!key.contains("ter2") && !key.contains('@'), "{url} became {key}");
        }
    }
}
