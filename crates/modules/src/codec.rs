//! Stored form of a module, written with the byte codec of `model`.
//!
//! The id and the list of files are not part of it: the store keeps the id as the row's key and the
//! files in a table of their own, by path. In the order of the bytes:
//!
//! ```text
//! name, root, description                                     a length and the text each
//! core files, entry points, tests, dependencies, dependents,  a number of texts and the texts each
//! co-changing modules
//! is_test, is_linked                                          one byte each
//! ```

use model::codec::{ByteReader, ByteWriter};

use crate::Module;

/// Encodes everything but the id and the files.
pub fn encode_module(module: &Module) -> Vec<u8> {
    let mut writer = ByteWriter::default();
    for text in [&module.name, &module.root, &module.description] {
        writer.write_str(text);
    }
    for list in string_lists(module) {
        writer.write_len(list.len());
        for text in list {
            writer.write_str(text);
        }
    }
    writer.write_byte(u8::from(module.is_test));
    writer.write_byte(u8::from(module.is_linked));
    writer.bytes
}

/// The lists in the order in which they are stored; `decode_module` reads them in the same order.
fn string_lists(module: &Module) -> [&Vec<String>; 6] {
    let Module {
        core_files, entry_points, test_files, dependencies, dependents, co_changing, ..
    } = module;
    [core_files, entry_points, test_files, dependencies, dependents, co_changing]
}

/// Decodes a module, without its files; `None` if the bytes are damaged.
pub fn decode_module(id: &str, bytes: &[u8]) -> Option<Module> {
    let mut reader = ByteReader::new(bytes);
    let mut read_text = || reader.read_str().map(str::to_owned);
    let (name, root, description) = (read_text()?, read_text()?, read_text()?);
    let mut read_list = || -> Option<Vec<String>> {
        let n_texts = reader.read_len()?;
        (0..n_texts).map(|_| reader.read_str().map(str::to_owned)).collect()
    };
    let (core_files, entry_points, test_files) = (read_list()?, read_list()?, read_list()?);
    let (dependencies, dependents, co_changing) = (read_list()?, read_list()?, read_list()?);
    let (is_test, is_linked) = (reader.read_byte()? == 1, reader.read_byte()? == 1);
    Some(Module {
        id: id.to_owned(),
        name,
        root,
        description,
        files: Vec::new(),
        core_files,
        entry_points,
        test_files,
        dependencies,
        dependents,
        co_changing,
        is_test,
        is_linked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_reverses_encoding_and_refuses_damaged_bytes() {
        let module = Module {
            id: "a".to_owned(),
            name: "A".to_owned(),
            description: "What it is".to_owned(),
            core_files: vec!["a/x.rs".to_owned(), "a/y.rs".to_owned()],
            dependencies: vec!["b".to_owned()],
            is_linked: true,
            ..Module::default()
        };
        let bytes = encode_module(&module);
        assert_eq!(decode_module("a", &bytes), Some(module));
        assert_eq!(decode_module("a", &bytes[1..]), None);
    }
}
