//! Lines of transcripts, as every reader reads them: whole and in pieces they say the same.

use agents::{Cutter, Dialect, Origin, Reader, recognise};
use model::Envelope;

pub(crate) fn run(data: &[u8]) {
    let _ = recognise(data);
    for dialect in Dialect::ALL {
        let whole = read(*dialect, data, data.len().max(1));
        let pieces = read(*dialect, data, 7);
        assert_eq!(whole.len(), pieces.len(), "{}", dialect.slug());
        for (a, b) in whole.iter().zip(&pieces) {
            assert_eq!(a.line(), b.line(), "{}", dialect.slug());
            Envelope::read(&a.line()).expect("what we write, we can read");
        }
    }
}

fn read(dialect: Dialect, data: &[u8], size: usize) -> Vec<Envelope> {
    let origin =
        Origin { project: Some("/p".to_owned()), name: "session".to_owned(), subagent: None };
    let mut reader = Reader::new(dialect, origin);
    let mut cutter = Cutter::new(dialect.form());
    let mut events = Vec::new();
    for piece in data.chunks(size) {
        cutter.feed(piece, |line| reader.line(&mut events, line));
    }
    cutter.finish(|line| reader.line(&mut events, line));
    reader.finish(&mut events);
    events
}
