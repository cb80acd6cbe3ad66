//! From what a person writes to what is meant.

use super::{Atlas, NodeId};
use crate::sketch::index;

/// What a text may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// These nodes; several when a name is borne by several.
    Found(Vec<NodeId>),
    /// The file is there, the symbol is not.
    NoSymbol {
        path: String,
    },
    Nothing,
}

impl Atlas {
    /// Reads `path:symbol`, `path:line`, `path`, `symbol` or `Type.member`. A path may be the end of
    /// one, as long as only one file ends like that.
    pub fn find(&self, text: &str) -> Target {
        if let Some(file) = self.file(text) {
            return Target::Found(vec![self.sheets[file].first]);
        }
        if let Some((path, rest)) = text.rsplit_once(':')
            && let Some(file) = self.file(path.trim_end_matches(':'))
        {
            let found = match rest.parse::<u32>() {
                Ok(line) => vec![self.at_line(file, line)],
                Err(_) => self.named(rest, Some(file)),
            };
            return if found.is_empty() {
                Target::NoSymbol { path: self.sheets[file].path.to_string() }
            } else {
                Target::Found(found)
            };
        }
        match self.named(text, None) {
            found if found.is_empty() => Target::Nothing,
            found => Target::Found(self.without_prototypes(found)),
        }
    }

    /// A prototype and its definition are one thing with one name.
    fn without_prototypes(&self, mut found: Vec<NodeId>) -> Vec<NodeId> {
        let all = found.clone();
        found.retain(|node| {
            let defined = self.into(*node).iter().filter(|it| self.announces(it, *node));
            defined.into_iter().all(|it| !all.contains(&it.node))
        });
        found
    }

    fn file(&self, path: &str) -> Option<usize> {
        let path = path.trim_start_matches("./");
        if path.is_empty() {
            return None;
        }
        if let Ok(at) = self.sheets.binary_search_by(|it| (*it.path).cmp(path)) {
            return Some(at);
        }
        let is_end = |it: &str| it.strip_suffix(path).is_some_and(|it| it.ends_with('/'));
        let mut ends = self.sheets.iter().enumerate().filter(|it| is_end(&it.1.path));
        let (first, second) = (ends.next()?, ends.next());
        second.is_none().then_some(first.0)
    }

    /// The innermost definition around a line, or the file.
    fn at_line(&self, file: usize, line: u32) -> NodeId {
        let sheet = &self.sheets[file];
        let wanted = line.saturating_sub(1);
        let around = sheet
            .outline
            .defs
            .iter()
            .enumerate()
            .filter(|it| it.1.lines.0 <= wanted && wanted <= it.1.lines.1);
        let innermost = around.min_by_key(|it| (it.1.lines.1 - it.1.lines.0, usize::MAX - it.0));
        innermost.map_or(sheet.first, |it| sheet.first + 1 + index(it.0))
    }

    /// Definitions of a name: `run`, `Server.run`, `Server::run`. In one file, what is called exactly so
    /// comes before what only ends like that.
    fn named(&self, name: &str, file: Option<usize>) -> Vec<NodeId> {
        let name = name.replace("::", ".").replace('#', ".");
        let last = name.rsplit('.').next().unwrap_or(&name);
        let tail = format!(".{name}");
        let (mut exact, mut ending) = (Vec::new(), Vec::new());
        let sheets =
            self.sheets.iter().enumerate().filter(|it| file.is_none_or(|file| file == it.0));
        for (_, sheet) in sheets {
            let facts = &sheet.outline;
            let Some(word) = facts.names.iter().position(|it| it == last) else { continue };
            for (i, _) in facts.defs.iter().enumerate().filter(|it| it.1.name as usize == word) {
                let (node, qualified) = (sheet.first + 1 + index(i), facts.qualified(index(i)));
                if qualified == name {
                    exact.push(node);
                } else if qualified.ends_with(&tail) {
                    ending.push(node);
                }
            }
        }
        if file.is_none() || exact.is_empty() {
            exact.extend(ending);
        }
        exact
    }
}
