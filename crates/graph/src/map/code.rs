//! A module as bytes, as facts are. Its files are kept apart.

use super::Module;
use crate::facts::{Reader, Writer};

pub fn encode_module(module: &Module) -> Vec<u8> {
    let mut to = Writer::default();
    for it in [&module.name, &module.root, &module.description] {
        to.text(it);
    }
    for list in lists(module) {
        to.size(list.len());
        list.iter().for_each(|it| to.text(it));
    }
    to.0.push(u8::from(module.is_test));
    to.0.push(u8::from(module.is_linked));
    to.0
}

fn lists(module: &Module) -> [&Vec<String>; 6] {
    let Module { core, entries, tests, needs, needed_by, related, .. } = module;
    [core, entries, tests, needs, needed_by, related]
}

pub fn decode_module(id: &str, bytes: &[u8]) -> Option<Module> {
    let mut from = Reader(bytes);
    let mut text = || from.text().map(str::to_owned);
    let (name, root, description) = (text()?, text()?, text()?);
    let mut list = || -> Option<Vec<String>> {
        let n = from.size()?;
        (0..n).map(|_| from.text().map(str::to_owned)).collect()
    };
    let (core, entries, tests) = (list()?, list()?, list()?);
    let (needs, needed_by, related) = (list()?, list()?, list()?);
    let (is_test, is_linked) = (from.byte()? == 1, from.byte()? == 1);
    let (id, files) = (id.to_owned(), Vec::new());
    Some(Module {
        id,
        name,
        root,
        description,
        files,
        core,
        entries,
        tests,
        needs,
        needed_by,
        related,
        is_test,
        is_linked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let module = Module {
            id: "a".to_owned(),
            name: "A".to_owned(),
            description: "What it is".to_owned(),
            core: vec!["a/x.rs".to_owned(), "a/y.rs".to_owned()],
            needs: vec!["b".to_owned()],
            is_linked: true,
            ..Module::default()
        };
        let bytes = encode_module(&module);
        assert_eq!(decode_module("a", &bytes), Some(module));
        assert_eq!(decode_module("a", &bytes[1..]), None);
    }
}
