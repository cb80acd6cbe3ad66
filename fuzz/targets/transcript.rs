//! Transcripts in every format: read as a whole and in pieces they give the same events.

use agents::{LineSplitter, TranscriptFormat, TranscriptOrigin, TranscriptReader, detect_format};
use model::EventEnvelope;

pub(crate) fn run(data: &[u8]) {
    let _ = detect_format(data);
    for format in TranscriptFormat::ALL {
        let whole = read(*format, data, data.len().max(1));
        let pieces = read(*format, data, 7);
        assert_eq!(whole.len(), pieces.len(), "{}", format.slug());
        for (a, b) in whole.iter().zip(&pieces) {
            assert_eq!(a.to_line(), b.to_line(), "{}", format.slug());
            EventEnvelope::parse_line(&a.to_line()).expect("a line that we wrote can be read");
        }
    }
}

fn read(format: TranscriptFormat, data: &[u8], piece_size: usize) -> Vec<EventEnvelope> {
    let origin = TranscriptOrigin {
        project: Some("/p".to_owned()),
        fallback_session_id: "session".to_owned(),
        subagent: None,
    };
    let mut reader = TranscriptReader::new(format, origin);
    let mut splitter = LineSplitter::new(format.layout());
    let mut events = Vec::new();
    for piece in data.chunks(piece_size) {
        splitter.feed(piece, |line| reader.read_line(&mut events, line));
    }
    splitter.finish(|line| reader.read_line(&mut events, line));
    reader.finish(&mut events);
    events
}
