//! Rule files: imports the rules that people wrote for agents (`CLAUDE.md`, `AGENTS.md` …) as
//! memories.
//!
//! Each rule becomes one memory whose author is its file. A later import compares the file with
//! these memories: a reworded rule updates its memory, a removed rule deprecates it, and a memory
//! that the user has changed no longer follows the file. The crate `agents` lists and parses the
//! rule files. A *host* is the program that runs an agent; each host reads some of the files itself.
//! *Tainted* means derived from text that the user did not vouch for.
//!
//! ```text
//! ## Tests
//! - Run `make test` before a commit.   →  preference: "Run `make test` before a commit."
//! - The tests take ten minutes.        →  a description, not a rule; only counted
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use agents::{
    RULE_FILES, RuleFile, RuleStatement, find_rule_file, is_read_by_host, parse_statements,
};
use model::{
    Actor, Deprecation, MAX_CONTENT, Memory, MemoryKind, MemorySource, MemoryStatus, MemoryType,
    PerMille, ProjectPath,
};
use promote::StatementRelation;
use store::{AuditAction, AuditEntry, StoreChange, StoreReader, WriteBatch};

use crate::editing::{set_content, user_batch};
use crate::export::list_all_memories;
use crate::remember::draft_memory;
use crate::text_admission::{OnSecret, admit_content};
use crate::{Error, Notebook, NotebookScope, Project, ProjectReader, format_count};

/// Initial confidence of an imported rule.
const RULE_CONFIDENCE: PerMille = PerMille::new(850);
/// Most files that one rule is attached to. A rule that names more is a list and about none of them
/// in particular.
const MAX_FILES_PER_RULE: usize = 5;

/// A rule file and the rules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedRuleFile {
    pub path: ProjectPath,
    pub rules: Vec<WrittenRule>,
    /// Statements that describe the project and demand nothing.
    pub n_descriptions: usize,
    /// Rules that are longer than a memory may be.
    pub n_too_long: usize,
}

/// A rule as it would be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRule {
    /// Line in the file, counted from 1.
    pub line: usize,
    pub kind: MemoryKind,
    pub text: String,
    pub files: Vec<ProjectPath>,
}

/// Trust in the rules of a file when they are imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTrust {
    /// The user has seen the rules and vouches for them.
    Vouched,
    /// The rules came with the repository, so they are tainted and wait for review.
    External,
}

/// The result of importing the rules of a project.
#[derive(Clone, Debug, Default)]
pub struct RuleImport {
    pub added: Vec<Memory>,
    /// Rules that were reworded in their file, each with the text before.
    pub changed: Vec<(Memory, String)>,
    /// Rules that were deprecated because they are no longer in their file.
    pub retired: Vec<Memory>,
    /// Rules that were stored already.
    pub n_known: usize,
}

impl RuleImport {
    /// Returns whether the import changed nothing.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.retired.is_empty()
    }
}

/// A rule that was imported before.
struct ImportedRule {
    memory: Memory,
    /// The texts of its earlier versions.
    earlier_texts: Vec<String>,
    /// The user has changed or judged it since the import.
    is_changed_by_user: bool,
    /// Its file still contains it; false until it is matched.
    is_in_file: bool,
}

impl ImportedRule {
    async fn load(store: &StoreReader, memory: Memory) -> Result<Self, Error> {
        let versions = store.history().list_versions(memory.id).await?;
        let earlier_texts = versions.into_iter().map(|it| it.content).collect();
        let entries = store.history().audit_entries_of(memory.id).await?;
        // A change that was undone does not count.
        let is_by_user = |it: &AuditEntry| it.actor == Actor::User && it.undone_by.is_none();
        let is_changed_by_user = entries.iter().any(|(entry, _version)| is_by_user(entry));
        Ok(Self { memory, earlier_texts, is_changed_by_user, is_in_file: false })
    }

    /// Returns whether it has this text. A rule that no longer follows its file also matches by its
    /// earlier texts, so that the file's version is not imported again.
    fn has_text(&self, text: &str) -> bool {
        self.memory.content == text
            || (!self.follows_file() && self.earlier_texts.iter().any(|it| it == text))
    }

    /// Returns whether changes of the file still apply: it is active, and the user has not changed
    /// it.
    fn follows_file(&self) -> bool {
        let is_active =
            !matches!(self.memory.status(), MemoryStatus::Deleted | MemoryStatus::Deprecated);
        is_active && !self.is_changed_by_user
    }

    /// Returns whether a new rule of the file is probably this one in other words.
    fn is_reworded_as(&self, text: &str) -> bool {
        // Only the texts are compared.
        let statement = |text| promote::MemoryStatement {
            text,
            files: &[] as &[ProjectPath],
            kind: &self.memory.kind,
        };
        let relation =
            promote::compare_statements(&statement(&self.memory.content), &statement(text));
        // A contradiction counts as well: a rule whose number was changed is the same rule.
        self.follows_file() && !self.is_in_file && relation != StatementRelation::Unrelated
    }
}

/// Reads the rules in this project's rule files, in the order of the files.
pub(crate) fn list_rules(reader: &ProjectReader) -> Vec<ParsedRuleFile> {
    let mut files = Vec::new();
    for path in RULE_FILES.iter().flat_map(|it| expand_path(reader, it)) {
        if let Some(file) = parse_rule_file(reader, &path)
            && !file.rules.is_empty()
        {
            files.push(file);
        }
    }
    files
}

/// Returns the texts of the rules that a host reads by itself, which need not be injected. Called
/// for every file that an agent touches, so the rules of each file are cached until it changes.
pub(crate) fn rules_read_by_host(reader: &ProjectReader, host: Option<&str>) -> HashSet<String> {
    let Some(host) = host else { return HashSet::new() };
    let exists = |path: &str| source::exists_in_project(&reader.place.root, path);
    let mut texts = HashSet::new();
    for file in RULE_FILES.iter().filter(|it| it.read_by.contains(&host)) {
        for path in expand_path(reader, file) {
            // Some hosts read a file only if another one does not exist.
            if is_read_by_host(&path, host, exists)
                && let Some(rules) = cached_rule_texts(reader, &path)
            {
                texts.extend(rules.iter().cloned());
            }
        }
    }
    texts
}

/// Returns the texts of the rules in a file, in every form that an import may have given them; `None` if
/// the file does not exist.
fn cached_rule_texts(reader: &ProjectReader, path: &str) -> Option<Arc<Vec<String>>> {
    let parse = || {
        let text = source::read_text(&reader.place.root, path)?;
        let statements = parse_statements(&text).into_iter();
        let rules = statements.filter(|it| promote::is_rule(&it.text));
        Some(rules.flat_map(|it| it.possible_texts()).collect())
    };
    reader.file_caches.rules.get_or_compute(&reader.place.root.join(path), parse)
}

/// Imports rules as memories; updates or deprecates those imported before from the same files.
pub(crate) async fn import_rules(
    project: &mut Project,
    files: &[ParsedRuleFile],
    trust: RuleTrust,
) -> Result<RuleImport, Error> {
    project.require_memory_enabled()?;
    let Notebook { store, .. } = project.ensure_notebook(NotebookScope::Project).await?;
    let stored = list_all_memories(&store).await?;
    let mut import = RuleImport::default();

    // The same rule is often in the files of several hosts; the first file keeps it.
    let mut seen: HashSet<String> = HashSet::new();

    // A deleted rule file has no entry in `files`, but its memories must be retired too.
    let emptied = emptied_files(&stored, files);

    // One batch per file, so that each can be undone by itself.
    for file in files.iter().chain(&emptied) {
        let author = Actor::Import(file.path.as_str().to_owned());
        let mut imported = Vec::new();
        for memory in stored.iter().filter(|it| it.created_by == author) {
            imported.push(ImportedRule::load(&store, memory.clone()).await?);
        }
        // Texts of all other memories.
        let other_texts: HashSet<&str> = stored
            .iter()
            .filter(|it| it.created_by != author)
            .map(|it| it.content.as_str())
            .collect();
        let rules = admit_rules(&file.rules)?;
        let n_rules = rules.len();
        let new = match_rules(rules, &mut imported, &other_texts, &mut seen);
        import.n_known += n_rules - new.len();
        let mut changes = add_rules(project, &mut import, new, &mut imported, &author, trust);
        changes.extend(retire_rules(project, &mut import, &imported, &file.path));
        if !changes.is_empty() {
            let detail = Some(format_count(changes.len(), "rule", "rules"));
            let batch = user_batch(AuditAction::Import, project.now, changes);
            let batch = WriteBatch { actor: author, detail, ..batch };
            project.write(NotebookScope::Project, batch).await?;
        }
    }
    Ok(import)
}

/// Expands an entry of the table of rule files: a file, or all files of a folder (with a trailing
/// slash).
fn expand_path(reader: &ProjectReader, file: &RuleFile) -> Vec<String> {
    match file.path.strip_suffix('/') {
        Some(folder) => source::list_folder(&reader.place.root, folder),
        None => vec![file.path.to_owned()],
    }
}

/// Parses a rule file; `None` if it does not exist.
fn parse_rule_file(reader: &ProjectReader, path: &str) -> Option<ParsedRuleFile> {
    let text = source::read_text(&reader.place.root, path)?;
    let mut file = empty_file(ProjectPath::parse(path).ok()?);
    for statement in parse_statements(&text) {
        if !promote::is_rule(&statement.text) {
            file.n_descriptions += 1;
        } else if statement.told_text().len() > MAX_CONTENT {
            file.n_too_long += 1;
        } else {
            file.rules.push(to_rule(reader, &statement));
        }
    }
    Some(file)
}

/// Lists the files from which rules were imported before, and which no longer exist or contain
/// none.
fn emptied_files(stored: &[Memory], files: &[ParsedRuleFile]) -> Vec<ParsedRuleFile> {
    let mut acc: Vec<ParsedRuleFile> = Vec::new();
    for memory in stored {
        // Not an imported memory.
        let Actor::Import(path) = &memory.created_by else { continue };
        let is_listed = files.iter().chain(&acc).any(|it| it.path.as_str() == path);
        if !is_listed
            && find_rule_file(path).is_some()
            && let Ok(path) = ProjectPath::parse(path)
        {
            acc.push(empty_file(path));
        }
    }
    acc
}

/// Redacts the secrets in rules. Stored texts are redacted too, so the comparison must use this
/// form.
fn admit_rules(rules: &[WrittenRule]) -> Result<Vec<WrittenRule>, Error> {
    let admit = |it: &WrittenRule| {
        let text = admit_content(&it.text, OnSecret::Redact)?.text;
        Ok(WrittenRule { text, ..it.clone() })
    };
    rules.iter().map(admit).collect()
}

/// Marks the imported rules that their file still contains. Returns the rules that are not stored
/// yet.
fn match_rules(
    rules: Vec<WrittenRule>,
    imported: &mut [ImportedRule],
    other_texts: &HashSet<&str>,
    seen: &mut HashSet<String>,
) -> Vec<WrittenRule> {
    let mut new = Vec::new();
    for rule in rules {
        let is_repeated = !seen.insert(rule.text.clone());
        if let Some(known) = imported.iter_mut().find(|it| it.has_text(&rule.text)) {
            known.is_in_file = true;
        // A rule that the user taught or that another file has is not stored again.
        } else if !is_repeated && !other_texts.contains(rule.text.as_str()) {
            new.push(rule);
        }
    }
    new
}

/// Adds new rules, or rewords the imported ones that they replace.
fn add_rules(
    reader: &ProjectReader,
    import: &mut RuleImport,
    new: Vec<WrittenRule>,
    imported: &mut [ImportedRule],
    author: &Actor,
    trust: RuleTrust,
) -> Vec<StoreChange> {
    let mut changes = Vec::new();
    for rule in new {
        if let Some(old) = imported.iter_mut().find(|it| it.is_reworded_as(&rule.text)) {
            old.is_in_file = true;
            let (mut after, before) = (old.memory.clone(), old.memory.content.clone());
            set_content(&mut after, rule.text);
            (after.files, after.updated_at) = (rule.files, reader.now);
            changes.push(StoreChange::Replace(Box::new(after.clone())));
            import.changed.push((after, before));
        } else {
            let memory = rule_memory(reader, rule, author, trust);
            changes.push(StoreChange::Insert(Box::new(memory.clone())));
            import.added.push(memory);
        }
    }
    changes
}

/// Deprecates the imported rules that their file no longer contains, unless the user changed them.
fn retire_rules(
    reader: &ProjectReader,
    import: &mut RuleImport,
    imported: &[ImportedRule],
    path: &ProjectPath,
) -> Vec<StoreChange> {
    let mut changes = Vec::new();
    for removed in imported.iter().filter(|it| it.follows_file() && !it.is_in_file) {
        let mut after = removed.memory.clone();
        let reason = Deprecation::RuleRemoved { path: path.to_string() };
        after.states.deprecate(&reason, reader.now);
        after.updated_at = reader.now;
        changes.push(StoreChange::Replace(Box::new(after.clone())));
        import.retired.push(after);
    }
    changes
}

fn empty_file(path: ProjectPath) -> ParsedRuleFile {
    ParsedRuleFile { path, rules: Vec::new(), n_descriptions: 0, n_too_long: 0 }
}

/// Converts a statement to a rule, with a type and the files it names.
fn to_rule(reader: &ProjectReader, statement: &RuleStatement) -> WrittenRule {
    let text = statement.told_text();
    let kind = match promote::suggest_type(&text).kind {
        kind @ (MemoryKind::Decision
        | MemoryKind::Requirement
        | MemoryKind::Gotcha
        | MemoryKind::CausalDependency) => kind,
        // A rule that no other type fits is a convention. "Log errors" is about errors, but it is
        // not an error pattern.
        _ => MemoryKind::Preference,
    };
    // Split at backticks, every second piece is quoted.
    let quoted = text.split('`').skip(1).step_by(2);
    let is_file =
        |it: &&str| it.contains(['.', '/']) && source::exists_in_project(&reader.place.root, it);
    let files = quoted.filter(is_file).filter_map(|it| ProjectPath::parse(it).ok());
    let files = files.take(MAX_FILES_PER_RULE).collect();
    WrittenRule { line: statement.line, kind, text, files }
}

/// Builds the memory of a new rule.
fn rule_memory(
    reader: &ProjectReader,
    rule: WrittenRule,
    author: &Actor,
    trust: RuleTrust,
) -> Memory {
    let kind = MemoryType::Core(rule.kind);
    let mut memory = draft_memory(reader, NotebookScope::Project, kind, &rule.text);
    (memory.files, memory.created_by) = (rule.files, author.clone());
    memory.confidence = RULE_CONFIDENCE;
    let is_external = trust == RuleTrust::External;
    // A text that tries to command the agent needs review even if the user vouches for the file.
    memory.flags.needs_review = is_external || promote::detect_instruction(&rule.text).is_some();
    if is_external {
        (memory.flags.tainted, memory.flags.user_verified) = (true, false);
        memory.source = MemorySource::ObserverInferred;
    }
    memory
}
