//! The languages: which file is written in which, and who reads it.
//!
//! One language is one folder here: its kinds of syntax nodes and one walk over them. What it knows
//! of modules and names stands in `resolve`.

mod arena;
#[macro_use]
mod grammar;
mod go;
mod java;
pub(crate) mod plain;
mod python;
mod rust;
mod typescript;
mod walk;

use model::closed;

pub(crate) use grammar::Grammar;

use crate::facts::Facts;
use crate::sketch::Sketch;

closed! {
    /// A language whose files are understood.
    pub enum Lang : "language" {
        TypeScript = "typescript",
        Tsx = "tsx",
        JavaScript = "javascript",
        Python = "python",
        Rust = "rust",
        Go = "go",
        Java = "java",
        C = "c",
        Cpp = "cpp",
        CSharp = "csharp",
        Ruby = "ruby",
        Php = "php",
        /// What a package says about itself: no code, but names that code is found by.
        Manifest = "manifest",
    }
}

/// What the definitions at the top of a file join, so that others find them without knowing the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// Nothing: a file is a module, and has to be named.
    File,
    /// Those of the other files in the folder.
    Folder,
    /// A namespace that the file names itself.
    Named,
    /// Those of all files.
    All,
}

/// What a family of languages takes for granted about names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    pub(crate) joins: Joins,
    /// Before the name of every open namespace, so that no two families share one.
    pub(crate) prefix: &'static str,
    /// What is made is always named by a type, never by a variable that holds one.
    pub(crate) makes_by_types: bool,
    /// A type is called to make an object of it.
    pub(crate) calls_types: bool,
    /// A value that nobody defines is the language's own, however it is written; elsewhere only one
    /// that begins with a capital.
    pub(crate) has_globals: bool,
}

/// Languages that can call one another directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Script,
    Python,
    Rust,
    Go,
    Java,
    C,
    CSharp,
    Ruby,
    Php,
    Manifest,
}

impl Family {
    #[rustfmt::skip]
    pub(crate) const fn ways(self) -> Ways {
        use Joins::{All, File, Folder, Named};
        match self {
            //                     joins   prefix    made by types, types called, globals
            Self::Script   => ways(File,   "",       false,         false,        true),
            Self::Python   => ways(File,   "",       false,         true,         true),
            Self::Rust     => ways(File,   "",       true,          true,         false),
            Self::Go       => ways(Folder, "go:",    true,          true,         true),
            Self::Java     => ways(Named,  "java:",  true,          false,        true),
            Self::C        => ways(All,    "c:",     true,          true,         false),
            Self::CSharp   => ways(Named,  "cs:",    true,          true,         false),
            Self::Ruby     => ways(All,    "ruby:",  false,         true,         false),
            Self::Php      => ways(Named,  "php:",   false,         true,         false),
            Self::Manifest => ways(File,   "",       false,         true,         false),
        }
    }
}

const fn ways(
    joins: Joins,
    prefix: &'static str,
    makes_by_types: bool,
    calls_types: bool,
    has_globals: bool,
) -> Ways {
    Ways { joins, prefix, makes_by_types, calls_types, has_globals }
}

impl Lang {
    pub(crate) const fn family(self) -> Family {
        match self {
            Self::TypeScript | Self::Tsx | Self::JavaScript => Family::Script,
            Self::Python => Family::Python,
            Self::Rust => Family::Rust,
            Self::Go => Family::Go,
            Self::Java => Family::Java,
            Self::C | Self::Cpp => Family::C,
            Self::CSharp => Family::CSharp,
            Self::Ruby => Family::Ruby,
            Self::Php => Family::Php,
            Self::Manifest => Family::Manifest,
        }
    }

    /// Whether a name may be a type and, independently, a value.
    pub(crate) const fn keeps_types_apart(self) -> bool {
        matches!(self.family(), Family::Script)
    }

    /// Whether methods of one name are told apart by the types of what they are given.
    pub(crate) const fn tells_by_types(self) -> bool {
        matches!(self, Self::Java | Self::Cpp | Self::CSharp)
    }

    pub(crate) const fn is_by_indentation(self) -> bool {
        matches!(self, Self::Python)
    }
}

impl Lang {
    /// The grammar by itself, for whoever needs the tree and nothing else.
    pub fn grammar(self) -> Option<tree_sitter::Language> {
        Some(match self {
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Self::Manifest => return None,
        })
    }
}

/// The language of a file, by its name. Every row is one ending.
#[rustfmt::skip]
const ENDINGS: &[(&str, Lang)] = &[
    (".ts", Lang::TypeScript), (".mts", Lang::TypeScript), (".cts", Lang::TypeScript),
    (".tsx", Lang::Tsx),
    (".js", Lang::JavaScript), (".jsx", Lang::JavaScript), (".mjs", Lang::JavaScript), (".cjs", Lang::JavaScript),
    (".py", Lang::Python), (".pyi", Lang::Python),
    (".rs", Lang::Rust),
    (".go", Lang::Go),
    (".java", Lang::Java),
    (".c", Lang::C), (".h", Lang::C),
    (".cc", Lang::Cpp), (".cpp", Lang::Cpp), (".cxx", Lang::Cpp), (".hh", Lang::Cpp), (".hpp", Lang::Cpp), (".hxx", Lang::Cpp),
    (".cs", Lang::CSharp),
    (".rb", Lang::Ruby), (".rake", Lang::Ruby),
    (".php", Lang::Php),
];

/// Files that name packages and say where their modules are.
const MANIFESTS: &[&str] =
    &["package.json", "tsconfig.json", "jsconfig.json", "Cargo.toml", "go.mod"];

pub fn language(path: &str) -> Option<Lang> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_config = name.starts_with("tsconfig.") && name.ends_with(".json");
    if MANIFESTS.contains(&name) || is_config {
        return Some(Lang::Manifest);
    }
    let ending = name.rfind('.').map(|it| name[it..].to_ascii_lowercase())?;
    ENDINGS.iter().find(|it| it.0 == ending).map(|it| it.1)
}

/// Reads one file. Never fails: what cannot be understood is left out.
pub fn extract(lang: Lang, path: &str, source: &[u8]) -> Facts {
    let lang = if lang == Lang::C && is_cpp_header(path, source) { Lang::Cpp } else { lang };
    let mut sketch = Sketch::new(lang, source);
    sketch.is_test = is_test_path(path);
    arena::within(|| walk(&mut sketch, path));
    sketch.finish()
}

fn walk(sketch: &mut Sketch<'_>, path: &str) {
    match sketch.lang {
        Lang::TypeScript | Lang::Tsx | Lang::JavaScript => typescript::walk(sketch),
        Lang::Go => go::walk(sketch),
        Lang::Java => java::walk(sketch),
        Lang::Rust => rust::walk(sketch),
        Lang::Python => python::walk(sketch),
        Lang::Manifest => crate::manifest::read(sketch, path),
        Lang::C | Lang::Cpp | Lang::CSharp | Lang::Ruby | Lang::Php => plain::walk(sketch),
    }
}

/// Both languages call their headers `.h`; what only one of them has tells which it is.
fn is_cpp_header(path: &str, source: &[u8]) -> bool {
    const MARKS: &[&str] =
        &["class ", "namespace ", "template", "public:", "private:", "virtual ", "using ", "std::"];
    let text = String::from_utf8_lossy(source);
    let is_code = |it: &&str| !it.trim_start().starts_with(['*', '/']);
    path.ends_with(".h")
        && text
            .lines()
            .filter(is_code)
            .any(|line| MARKS.iter().any(|it| line.trim_start().starts_with(it)))
}

/// Whether a file holds tests, by the habits of all languages.
pub fn is_test_path(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = folders
        .split('/')
        .any(|it| matches!(it, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing"));
    let stem = name.split('.').next().unwrap_or(name);
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    in_folder
        || stem == "tests"
        || name == "test.rs"
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test_")
        || TEST_STEMS.iter().any(|it| {
            (it.0.is_empty() || it.0 == ending) && it.1.iter().any(|it| stem.ends_with(it))
        })
}

/// How the stems of test files end, by the ending of the file; without one, in all languages.
const TEST_STEMS: &[(&str, &[&str])] =
    &[("", &["_test", "_spec"]), ("java", &["Test", "Tests", "IT"]), ("cs", &["Test", "Tests"])];
