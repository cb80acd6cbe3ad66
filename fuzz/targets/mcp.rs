//! Input of an MCP client: no input panics, and every answer is JSON.

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use model::Timestamp;
use waylore_mcp::{Config, OpenFuture, serve_lines};

#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Opens no project: this target tests the layers above the engine.
fn nowhere(_: PathBuf) -> OpenFuture {
    Box::pin(async { Err("there is no project".to_owned()) })
}

pub(crate) fn run(data: &[u8]) {
    let config = Config {
        open: Arc::new(nowhere),
        now: || Timestamp(1_700_000_000_000),
        random: || [7; 10],
        folder: None,
        current_dir: PathBuf::from("/"),
        host_session: None,
    };
    let answers = Answers::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("the system has threads");
    let served =
        serve_lines(config, Box::new(Cursor::new(data.to_vec())), Box::new(answers.clone()));
    runtime.block_on(served).expect("a disconnecting client is no error");
    let written = answers.0.lock().expect("no thread panics while writing");
    for line in String::from_utf8_lossy(&written).lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("every answer is JSON");
    }
}
