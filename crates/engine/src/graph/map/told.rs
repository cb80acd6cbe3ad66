//! The map as a model is shown it: notes in their frame.

use ::recall::frame;

use super::{MappedModule, ModuleMap};

/// How many modules are named; the rest is counted.
const NAMED: usize = 60;

impl ModuleMap {
    /// The modules that are worth naming to whoever is new here.
    pub fn named(&self) -> impl Iterator<Item = &MappedModule> {
        self.modules.iter().filter(|it| !it.module.is_test).take(NAMED)
    }

    /// The whole map as notes.
    pub fn told(&self) -> String {
        let mut lines: Vec<String> = self.named().map(line).collect();
        let n_all = self.modules.iter().filter(|it| !it.module.is_test).count();
        if n_all > lines.len() {
            lines.push(format!("- and {} more", n_all - lines.len()));
        }
        let tools = self.tools.iter();
        lines
            .extend(tools.map(|it| format!("- {}: {}", it.kind.slug(), frame::neutral(&it.value))));
        framed(&lines)
    }
}

impl MappedModule {
    /// Everything about one module, as notes.
    pub fn told(&self) -> String {
        let module = &self.module;
        let mut lines = vec![format!("- {}", frame::neutral(&module.name))];
        if !module.description.is_empty() {
            lines.push(format!("about: {}", frame::neutral(&module.description)));
        }
        let rows = [
            ("comes in at", &module.entries),
            ("core", &module.core),
            ("tests", &module.tests),
            ("needs", &module.needs),
            ("needed by", &module.needed_by),
            ("changes with", &module.related),
        ];
        for (title, names) in rows.into_iter().filter(|it| !it.1.is_empty()) {
            lines.push(format!("{title}: {}", frame::neutral(&names.join(", "))));
        }
        framed(&lines)
    }
}

fn line(mapped: &MappedModule) -> String {
    let module = &mapped.module;
    let about = match module.description.as_str() {
        "" => String::new(),
        about => format!(" — {}", frame::neutral(about)),
    };
    let needs = match module.needs.as_slice() {
        [] => String::new(),
        needs => format!(" (needs {})", frame::neutral(&needs.join(", "))),
    };
    format!("- {}{about}{needs}", frame::neutral(&module.id))
}

fn framed(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT)
}
