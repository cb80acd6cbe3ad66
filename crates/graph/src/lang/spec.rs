//! The supported languages as two tables: one row per language, one row per language family.
//!
//! A language ([`SourceLanguage::row`]) has a grammar and a function that extracts facts. A family
//! ([`LanguageFamily::rules`]) is a set of languages whose files can refer to one another, such as
//! C and C++, and has the rules by which the resolver looks up names. To add a language, see
//! `docs/adding-a-language.md`.
//!
//! ```text
//! a.hpp → SourceLanguage::Cpp      by its extension; parsed with tree-sitter-cpp by `generic`
//!       → LanguageFamily::C        its names are looked up in one namespace, "c:", for all files
//! ```

use model::closed;

use super::{ecmascript, generic, go, java, python, rust};
use crate::facts::LayoutRule;
use crate::facts_builder::FactsBuilder;
use crate::manifest;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// A language whose files are read. Stored facts contain the position in this list.
    pub enum SourceLanguage : "language" {
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
        /// A package manifest: no code, but the names by which imports find code.
        Manifest = "manifest",
    }
}

/// Everything the crate needs to know about a language before it reads a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanguageSpec {
    pub(crate) family: LanguageFamily,
    /// How a call selects one of several functions with the same name.
    pub(crate) overloads: OverloadRule,
    /// File name extensions in lower case.
    pub(crate) extensions: &'static [&'static str],
    /// The tree-sitter grammar; manifests have none.
    pub(crate) grammar: Option<fn() -> tree_sitter::Language>,
    /// Records the facts of the builder's file.
    pub(crate) extract: fn(&mut FactsBuilder<'_>),
}

/// Property by which overloads of one name are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverloadRule {
    /// The number of arguments, in a language that has overloads at all.
    ByArity,
    /// The types of the arguments: Java's `print(1)` and `print("a")` may be two methods.
    ByType,
}

impl SourceLanguage {
    /// The row of this language in the table of languages.
    #[rustfmt::skip]
    const fn row(self) -> LanguageSpec {
        use LanguageFamily as Family;
        use OverloadRule::{ByArity, ByType};
        match self {
            //                       family              overload extensions                                    grammar                                                      extract
            Self::TypeScript => spec(Family::EcmaScript, ByArity, &["ts", "mts", "cts"],                        Some(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()), ecmascript::extract),
            Self::Tsx        => spec(Family::EcmaScript, ByArity, &["tsx"],                                     Some(|| tree_sitter_typescript::LANGUAGE_TSX.into()),        ecmascript::extract),
            Self::JavaScript => spec(Family::EcmaScript, ByArity, &["js", "jsx", "mjs", "cjs"],                 Some(|| tree_sitter_javascript::LANGUAGE.into()),            ecmascript::extract),
            Self::Python     => spec(Family::Python,     ByArity, &["py", "pyi"],                               Some(|| tree_sitter_python::LANGUAGE.into()),                python::extract),
            Self::Rust       => spec(Family::Rust,       ByArity, &["rs"],                                      Some(|| tree_sitter_rust::LANGUAGE.into()),                  rust::extract),
            Self::Go         => spec(Family::Go,         ByArity, &["go"],                                      Some(|| tree_sitter_go::LANGUAGE.into()),                    go::extract),
            Self::Java       => spec(Family::Java,       ByType,  &["java"],                                    Some(|| tree_sitter_java::LANGUAGE.into()),                  java::extract),
            Self::C          => spec(Family::C,          ByArity, &["c", "h"],                                  Some(|| tree_sitter_c::LANGUAGE.into()),                     generic::extract),
            Self::Cpp        => spec(Family::C,          ByType,  &["cc", "cpp", "cxx", "hh", "hpp", "hxx"],    Some(|| tree_sitter_cpp::LANGUAGE.into()),                   generic::extract),
            Self::CSharp     => spec(Family::CSharp,     ByType,  &["cs"],                                      Some(|| tree_sitter_c_sharp::LANGUAGE.into()),               generic::extract),
            Self::Ruby       => spec(Family::Ruby,       ByArity, &["rb", "rake"],                              Some(|| tree_sitter_ruby::LANGUAGE.into()),                  generic::extract),
            Self::Php        => spec(Family::Php,        ByArity, &["php"],                                     Some(|| tree_sitter_php::LANGUAGE_PHP.into()),               generic::extract),
            Self::Manifest   => spec(Family::Manifest,   ByArity, &[],                                          None,                                                        extract_manifest),
        }
    }

    pub(crate) fn spec(self) -> &'static LanguageSpec {
        &LANGUAGE_SPECS[self as usize]
    }

    pub(crate) fn family(self) -> LanguageFamily {
        self.spec().family
    }

    /// Returns whether a name can denote a type and, independently, a value.
    pub(crate) fn separates_types_from_values(self) -> bool {
        self.family().rules().separates_types_from_values
    }

    pub(crate) fn overloads_by_type(self) -> bool {
        self.spec().overloads == OverloadRule::ByType
    }

    /// The tree-sitter grammar, for callers that need the syntax tree and no facts.
    pub fn grammar(self) -> Option<tree_sitter::Language> {
        self.spec().grammar.map(|it| it())
    }

    /// Finds the language with a file name extension, given without its dot.
    pub(super) fn with_extension(extension: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.spec().extensions.contains(&extension))
    }
}

/// All rows of the table, by the position of their language. The resolver reads a file's family at
/// every name, so the rows are computed at compile time and a lookup is one load.
static LANGUAGE_SPECS: [LanguageSpec; SourceLanguage::ALL.len()] = {
    // A constant expression allows no iterator.
    let mut specs = [SourceLanguage::ALL[0].row(); SourceLanguage::ALL.len()];
    let mut i = 1;
    while i < specs.len() {
        specs[i] = SourceLanguage::ALL[i].row();
        i += 1;
    }
    specs
};

const fn spec(
    family: LanguageFamily,
    overloads: OverloadRule,
    extensions: &'static [&'static str],
    grammar: Option<fn() -> tree_sitter::Language>,
    extract: fn(&mut FactsBuilder<'_>),
) -> LanguageSpec {
    LanguageSpec { family, overloads, extensions, grammar, extract }
}

fn extract_manifest(builder: &mut FactsBuilder<'_>) {
    manifest::extract_manifest(builder, builder.path);
}

/// Languages whose files can refer to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LanguageFamily {
    EcmaScript,
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

/// Naming rules that the languages of a family share.
///
/// A namespace is *open* if several files add names to it, such as a package of Go; a module of
/// Python, which is one file, is not.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent columns of a table")]
pub(crate) struct FamilyRules {
    pub(crate) namespace: NamespaceRule,
    /// Prefix of every open namespace of the family, so that no two families share one.
    pub(crate) namespace_prefix: &'static str,
    /// After `new` there is always the name of a type, never a variable that holds a type. In
    /// JavaScript `new handlers[name]()` is possible.
    pub(crate) constructs_by_type_name: bool,
    /// Calling a type creates an object of it: `Server(1)`.
    pub(crate) calls_type_to_construct: bool,
    /// A name that nothing defines is taken for a built-in: `console`, `len`. In other families
    /// that holds only for a name that begins with a capital: `String`.
    pub(crate) assumes_builtins: bool,
    /// A name can denote a type and, independently, a value.
    pub(crate) separates_types_from_values: bool,
    /// Line breaks and indentation are part of the code (`Indented`), or they only separate
    /// words (`FreeForm`).
    pub(crate) layout: LayoutRule,
    /// Endings of a test file's name, without its extension, that only this family uses:
    /// `ServerTest.java`.
    pub(crate) test_stem_suffixes: &'static [&'static str],
}

/// Namespace that the top-level definitions of a file belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceRule {
    /// The file itself: it is a module that other files must import by name. Python's modules.
    File,
    /// The folder, shared with its other files. Go's packages.
    Folder,
    /// The namespace or package that the file declares. Java's `package a.b;`.
    Named,
    /// One namespace for all files. C's global names.
    All,
}

impl LanguageFamily {
    /// The row of this family in the table of families.
    #[rustfmt::skip]
    pub(crate) const fn rules(self) -> FamilyRules {
        use LayoutRule::{FreeForm, Indented};
        use NamespaceRule::{All, File, Folder, Named};
        // Short names keep the columns narrow.
        const T: bool = true;
        const F: bool = false;
        match self {
            //                        name-            creates  types   assumes  separates           test stem
            //                        space   prefix   by type  called  builtins types     layout    suffixes
            Self::EcmaScript => rules(File,   "",      F,       F,      T,       T,        FreeForm, &[]),
            Self::Python     => rules(File,   "",      F,       T,      T,       F,        Indented, &[]),
            Self::Rust       => rules(File,   "",      T,       T,      F,       F,        FreeForm, &[]),
            Self::Go         => rules(Folder, "go:",   T,       T,      T,       F,        FreeForm, &[]),
            Self::Java       => rules(Named,  "java:", T,       F,      T,       F,        FreeForm, &["Test", "Tests", "IT"]),
            Self::C          => rules(All,    "c:",    T,       T,      F,       F,        FreeForm, &[]),
            Self::CSharp     => rules(Named,  "cs:",   T,       T,      F,       F,        FreeForm, &["Test", "Tests"]),
            Self::Ruby       => rules(All,    "ruby:", F,       T,      F,       F,        FreeForm, &[]),
            Self::Php        => rules(Named,  "php:",  F,       T,      F,       F,        FreeForm, &[]),
            Self::Manifest   => rules(File,   "",      F,       T,      F,       F,        FreeForm, &[]),
        }
    }
}

#[expect(clippy::fn_params_excessive_bools, reason = "the columns of the table above")]
#[expect(clippy::too_many_arguments, reason = "the columns of the table above")]
const fn rules(
    namespace: NamespaceRule,
    namespace_prefix: &'static str,
    constructs_by_type_name: bool,
    calls_type_to_construct: bool,
    assumes_builtins: bool,
    separates_types_from_values: bool,
    layout: LayoutRule,
    test_stem_suffixes: &'static [&'static str],
) -> FamilyRules {
    FamilyRules {
        namespace,
        namespace_prefix,
        constructs_by_type_name,
        calls_type_to_construct,
        assumes_builtins,
        separates_types_from_values,
        layout,
        test_stem_suffixes,
    }
}

#[cfg(test)]
mod tests {
    use super::SourceLanguage;

    #[test]
    fn no_extension_belongs_to_two_languages() {
        let mut seen = std::collections::HashSet::new();
        for language in SourceLanguage::ALL {
            for extension in language.spec().extensions {
                assert!(seen.insert(extension), "`{extension}` of {language}");
            }
        }
    }
}
