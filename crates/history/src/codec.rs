//! Stored form of commits and co-change partners (files that often change together with a file). The
//! store keeps the bytes as blobs; the decoders return `None` for damaged ones.
//!
//! The byte codec of `model` writes a number as a varint (fewer bytes for a smaller number) and a text
//! as its length and its bytes. File ids are written as differences: `3 4 900` as `3 1 896`.

use model::codec::{ByteReader, ByteWriter};

use crate::{CoChangePartner, CommitRecord, HistoryFileId};

/// Encodes the keyword hashes and the files of a commit, as two blobs in that order. The time is a
/// column of its own.
pub fn encode_commit(commit: &CommitRecord) -> (Vec<u8>, Vec<u8>) {
    // Hashes are spread over all 32 bits, so a varint would lengthen them.
    let word_hashes = commit.word_hashes.iter().flat_map(|it| it.to_le_bytes()).collect();
    let (mut writer, mut previous) = (ByteWriter::default(), 0);

    for file in &commit.files {
        // File ids are sorted, so the differences are small numbers, which take few bytes.
        writer.write_u32(file.0 - previous);
        previous = file.0;
    }
    (word_hashes, writer.bytes)
}

/// Decodes the blobs of [`encode_commit`].
pub fn decode_commit(committed_at: i64, word_hashes: &[u8], files: &[u8]) -> Option<CommitRecord> {
    let (hashes, incomplete) = word_hashes.as_chunks::<4>();
    if !incomplete.is_empty() {
        return None;
    }
    let word_hashes = hashes.iter().map(|it| u32::from_le_bytes(*it)).collect();

    let (mut reader, mut previous) = (ByteReader::new(files), 0_u32);
    let mut files = Vec::new();
    while !reader.is_empty() {
        // An overflow means damaged bytes.
        previous = previous.checked_add(reader.read_u32()?)?;
        files.push(HistoryFileId(previous));
    }
    Some(CommitRecord { committed_at, word_hashes, files })
}

/// Encodes the partners of one file; their order is kept.
pub fn encode_partners(partners: &[CoChangePartner]) -> Vec<u8> {
    let mut writer = ByteWriter::default();
    for partner in partners {
        writer.write_str(&partner.path);
        writer.write_u32(partner.strength.to_bits());
        writer.write_u32(partner.n_commits);
    }
    writer.bytes
}

/// Decodes the bytes of [`encode_partners`].
pub fn decode_partners(bytes: &[u8]) -> Option<Vec<CoChangePartner>> {
    let (mut reader, mut partners) = (ByteReader::new(bytes), Vec::new());
    while !reader.is_empty() {
        let path = reader.read_str()?.to_owned();
        let strength = f32::from_bits(reader.read_u32()?);
        if !strength.is_finite() {
            return None;
        }
        partners.push(CoChangePartner { path, strength, n_commits: reader.read_u32()? });
    }
    Some(partners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_reverses_encoding_and_refuses_damaged_bytes() {
        let files = [3, 4, 900].map(HistoryFileId).to_vec();
        let commit = CommitRecord { committed_at: 7, word_hashes: vec![1, u32::MAX], files };
        let (words, files) = encode_commit(&commit);
        assert_eq!(decode_commit(7, &words, &files), Some(commit));
        // Half a hash, and a number whose last byte is missing.
        assert_eq!(decode_commit(7, &[1, 2], &files), None);
        assert_eq!(decode_commit(7, &words, &[0xff]), None);

        let partners =
            vec![CoChangePartner { path: "a/b.rs".to_owned(), strength: 0.25, n_commits: 3 }];
        assert_eq!(decode_partners(&encode_partners(&partners)), Some(partners));
        // A path of nine bytes that are not there.
        assert_eq!(decode_partners(&[9]), None);
    }
}
