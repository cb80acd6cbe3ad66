//! The journal: one event a line. Folding it gives the scratchpad, after a crash as after a pause.

use model::Envelope;

use crate::Scratchpad;

/// What a journal held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    pub pad: Scratchpad,
    /// Lines that are no events; the rest is intact.
    pub damaged: u32,
    /// The last line has no end: the process died while writing it.
    pub unfinished: bool,
}

/// Folds the bytes of a journal, cut anywhere.
pub fn fold(journal: &[u8]) -> Folded {
    let mut acc = Folded::default();
    for line in journal.split_inclusive(|it| *it == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else {
            acc.unfinished = true;
            break;
        };
        match Envelope::read(&String::from_utf8_lossy(line)) {
            Ok(envelope) => acc.pad.observe(&envelope),
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Err(_) => acc.damaged += 1,
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::events;

    const SCRIPT: &str = "user fix the total\nread a.rs\nedit a.rs\nfail make: error: missing `x`\nsay I was wrong about `a.rs`: it is generated, not written.\nrun make test\ncommit";

    #[test]
    fn a_journal_cut_at_any_byte_is_the_state_before() {
        let all = events(SCRIPT);
        let bytes = all.iter().map(|it| it.line() + "\n").collect::<String>().into_bytes();
        let (mut pad, mut whole) = (Scratchpad::new(), 0);
        for cut in 0..=bytes.len() {
            if cut > 0 && bytes[cut - 1] == b'\n' {
                pad.observe(&all[whole]);
                whole += 1;
            }
            let folded = fold(&bytes[..cut]);
            assert_eq!((folded.damaged, &folded.pad), (0, &pad), "cut at {cut}");
        }
        assert_eq!(whole, all.len());
    }

    #[test]
    fn damage_and_repeats_change_nothing() {
        let lines: Vec<String> = events(SCRIPT).iter().map(|it| it.line() + "\n").collect();
        let clean = fold(lines.concat().as_bytes()).pad;
        let doubled: String =
            lines.iter().flat_map(|it| [it.as_str(), "\0rubbish\n", it]).collect();
        let folded = fold(doubled.as_bytes());
        assert_eq!(folded.damaged as usize, lines.len());
        assert_eq!((folded.pad.calls, folded.pad.remarks), (clean.calls, clean.remarks));
    }
}
