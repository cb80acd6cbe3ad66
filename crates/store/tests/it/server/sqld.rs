//! Starts a real server for the duration of a test.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running server, which is killed when it is dropped.
pub(crate) struct Sqld {
    child: Child,
    address: String,
    _data: tempfile::TempDir,
}

impl Sqld {
    /// Starts a server. Returns `None`, and reports the skipped test, if none is installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(binary) = find_binary() else {
            skip("`sqld` is not here; `scripts/setup test` installs it, or set WAYLORE_SQLD");
            return None;
        };
        let data = tempfile::tempdir().unwrap();
        // The port is free now. If another process takes it first, the server fails and so does the
        // test.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let address = free.to_string();
        let mut child = Command::new(binary)
            .arg("--db-path")
            .arg(data.path().join("server"))
            .args(["--http-listen-addr", &address, "--no-welcome"])
            .env("NO_COLOR", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let up = lines.by_ref().map_while(Result::ok).any(|it| it.contains("listening"));
        assert!(up, "the server ended before it listened on {address}");
        // Its output must be read on, or the server would block.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, address, _data: data })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Sqld {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The server's program: the configured one, or the one that `scripts/setup` installs.
fn find_binary() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where the server is, only the machine knows")]
    let configured = std::env::var_os("WAYLORE_SQLD").map(PathBuf::from);
    let installed = workspace().join(".tools/sqld/current/sqld");
    configured.or(Some(installed)).filter(|it| it.is_file())
}

/// Reports a skipped test where people and the build look for it.
fn skip(why: &str) {
    let line = format!("statements on a server: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let noted = OpenOptions::new()
        .create(true)
        .append(true)
        .open(workspace().join("target/skipped.txt"))
        .and_then(|mut it| it.write_all(line.as_bytes()));
    noted.unwrap();
}
