//! Rule files: each rule that people wrote down for their agents becomes a memory, and follows its file.

use std::collections::HashSet;
use std::sync::Arc;

use agents::{RULE_FILES, RuleFile, Statement, is_read, rule_file, statements};
use model::{Actor, Kind, MAX_CONTENT, Memory, MemoryType, PerMille, ProjectPath, Source, Status};
use promote::Relationship;
use store::{Action, Batch, Change, Entry, Store};

use crate::admit::{self, OnSecret};
use crate::carry::everything;
use crate::change::{by_user, reword};
use crate::{Engine, Error, Notebook, Reach};

/// A written rule is believed this much from the start.
const WRITTEN: PerMille = PerMille::new(850);
/// A rule speaks of a few files; more are an inventory.
const FILES: usize = 5;

/// A file with rules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleBook {
    pub path: ProjectPath,
    pub rules: Vec<Rule>,
    /// Statements that describe and do not bind.
    pub n_described: usize,
    /// Rules that are longer than a memory may be.
    pub n_too_long: usize,
}

/// A rule as it would be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Counted from one.
    pub line: usize,
    pub kind: Kind,
    pub text: String,
    pub files: Vec<ProjectPath>,
}

/// What became of the rules of a project.
#[derive(Clone, Debug, Default)]
pub struct RulesTaken {
    pub added: Vec<Memory>,
    /// What was reworded in its file, with the text before.
    pub changed: Vec<(Memory, String)>,
    /// No longer in its file, and so deprecated.
    pub retired: Vec<Memory>,
    pub n_known: usize,
}

impl RulesTaken {
    /// Whether everything was as it should be already.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.retired.is_empty()
    }
}

impl Engine {
    /// The rules in this project's rule files, in the order of the files.
    pub fn rules(&self) -> Vec<RuleBook> {
        let paths = RULE_FILES.iter().flat_map(|it| self.paths_of(it));
        paths.filter_map(|it| self.read_rules(&it)).filter(|it| !it.rules.is_empty()).collect()
    }

    /// What a host reads by itself in this project's rule files. Asked at every file, so each of them is
    /// read again only when it may have changed.
    pub(crate) fn read_by(&self, host: Option<&str>) -> HashSet<String> {
        let Some(host) = host else { return HashSet::new() };
        let is_there = |path: &str| source::exists(&self.place.root, path);
        let files = RULE_FILES.iter().filter(|it| it.read_by.contains(&host));
        let read = files.flat_map(|it| self.paths_of(it)).filter(|it| is_read(it, host, is_there));
        let said = |path: String| {
            self.kept.rules.of(&self.place.root.join(&path), || {
                Some(self.read_rules(&path)?.rules.into_iter().map(|it| it.text).collect())
            })
        };
        let all: Vec<Arc<Vec<String>>> = read.filter_map(said).collect();
        all.iter().flat_map(|it| it.iter().cloned()).collect()
    }

    fn paths_of(&self, file: &RuleFile) -> Vec<String> {
        match file.path.strip_suffix('/') {
            Some(folder) => source::entries(&self.place.root, folder),
            None => vec![file.path.to_owned()],
        }
    }

    fn read_rules(&self, path: &str) -> Option<RuleBook> {
        let text = source::prose(&self.place.root, path)?;
        Some(self.rule_book(ProjectPath::parse(path).ok()?, &text))
    }

    fn rule_book(&self, path: ProjectPath, text: &str) -> RuleBook {
        let mut res = RuleBook { path, rules: Vec::new(), n_described: 0, n_too_long: 0 };
        for statement in statements(text) {
            if !promote::is_rule(&statement.text) {
                res.n_described += 1;
            } else if wording(&statement).len() > MAX_CONTENT {
                res.n_too_long += 1;
            } else {
                res.rules.push(self.rule(&statement));
            }
        }
        res
    }

    fn rule(&self, statement: &Statement) -> Rule {
        let text = wording(statement);
        let kind = match promote::suggest_type(&text).kind {
            kind @ (Kind::Decision | Kind::Requirement | Kind::Gotcha | Kind::CausalDependency) => {
                kind
            }
            // It binds, whatever words it has: a convention. That errors are to be logged is no error.
            _ => Kind::Preference,
        };
        let quoted = text.split('`').skip(1).step_by(2);
        let is_file = |it: &&str| it.contains(['.', '/']) && source::exists(&self.place.root, it);
        let files = quoted.filter(is_file).filter_map(|it| ProjectPath::parse(it).ok());
        let files = files.take(FILES).collect();
        Rule { line: statement.line, kind, text, files }
    }

    /// Takes the rules in, and follows the files when they have changed. `vouched`: a person said yes
    /// to them; otherwise they are external and wait for review.
    pub async fn take_rules(
        &mut self,
        books: &[RuleBook],
        vouched: bool,
    ) -> Result<RulesTaken, Error> {
        self.refuse_closed()?;
        let Notebook { store, .. } = self.notebook(Reach::Project).await?;
        let known = everything(&store).await?;
        let mut res = RulesTaken::default();
        let mut taken: Vec<String> = Vec::new();
        let emptied = emptied(&known, books);
        for book in books.iter().chain(&emptied) {
            let author = Actor::Import(book.path.as_str().to_owned());
            let mut of_file = Vec::new();
            for memory in known.iter().filter(|it| it.created_by == author) {
                of_file.push(Kept::read(&store, memory.clone()).await?);
            }
            let mut changes = Vec::new();
            let mut fresh = Vec::new();
            for rule in &book.rules {
                let text = admit::content(&rule.text, OnSecret::Redact)?.text;
                let elsewhere =
                    known.iter().any(|it| it.content == text && it.created_by != author);
                let here = of_file.iter_mut().find(|it| it.said(&text));
                if let Some(here) = here {
                    here.matched = true;
                    res.n_known += 1;
                } else if elsewhere || taken.contains(&text) {
                    res.n_known += 1;
                } else {
                    fresh.push((rule, text.clone()));
                }
                taken.push(text);
            }
            for (rule, text) in fresh {
                let old = of_file.iter_mut().find(|it| it.is_reworded_as(&text));
                if let Some(old) = old {
                    old.matched = true;
                    let (mut after, before) = (old.memory.clone(), old.memory.content.clone());
                    reword(&mut after, text);
                    (after.files, after.updated_at) = (rule.files.clone(), self.now);
                    changes.push(Change::Replace(Box::new(after.clone())));
                    res.changed.push((after, before));
                } else {
                    let memory = self.written(rule, text, &author, vouched);
                    changes.push(Change::Insert(Box::new(memory.clone())));
                    res.added.push(memory);
                }
            }
            for gone in of_file.iter().filter(|it| it.follows_file() && !it.matched) {
                let mut after = gone.memory.clone();
                after.states.deprecated_at = Some(self.now);
                after.states.deprecated_reason = Some(format!("no longer in {}", book.path));
                after.updated_at = self.now;
                changes.push(Change::Replace(Box::new(after.clone())));
                res.retired.push(after);
            }
            if !changes.is_empty() {
                let detail = Some(format!("{} rules", changes.len()));
                let batch = by_user(Action::Import, self.now, changes);
                self.write(&store, Batch { actor: author, detail, ..batch }).await?;
            }
        }
        Ok(res)
    }

    fn written(&self, rule: &Rule, text: String, author: &Actor, vouched: bool) -> Memory {
        let mut res = self.draft(Reach::Project, MemoryType::Core(rule.kind), &text);
        (res.files, res.created_by, res.confidence) = (rule.files.clone(), author.clone(), WRITTEN);
        res.flags.needs_review = !vouched || promote::instruction_like(&text).is_some();
        if !vouched {
            (res.flags.tainted, res.flags.user_verified) = (true, false);
            res.source = Source::ObserverInferred;
        }
        res
    }
}

/// Files that rules were taken from and that have none any more, or are gone.
fn emptied(known: &[Memory], books: &[RuleBook]) -> Vec<RuleBook> {
    let mut res: Vec<RuleBook> = Vec::new();
    for memory in known {
        let Actor::Import(path) = &memory.created_by else { continue };
        let is_known = books.iter().chain(&res).any(|it| it.path.as_str() == path);
        if !is_known
            && rule_file(path).is_some()
            && let Ok(path) = ProjectPath::parse(path)
        {
            res.push(RuleBook { path, rules: Vec::new(), n_described: 0, n_too_long: 0 });
        }
    }
    res
}

/// The heading comes along: it says what the rule is about.
fn wording(statement: &Statement) -> String {
    match &statement.under {
        Some(under) => format!("{under}: {}", statement.text),
        None => statement.text.clone(),
    }
}

/// A rule that was taken before.
struct Kept {
    memory: Memory,
    /// What it said in earlier versions.
    before: Vec<String>,
    /// A person has changed what it says, or what it is worth.
    is_theirs: bool,
    matched: bool,
}

impl Kept {
    async fn read(store: &Store, memory: Memory) -> Result<Self, Error> {
        let versions = store.versions(memory.id).await?;
        let before = versions.into_iter().map(|it| it.content).collect();
        let entries = store.entries_of(memory.id).await?;
        let by_person = |it: &(Entry, u32)| it.0.actor == Actor::User && it.0.undone_by.is_none();
        let is_theirs = entries.iter().any(by_person);
        Ok(Self { memory, before, is_theirs, matched: false })
    }

    /// Whether it says this, or said it before a person put it otherwise.
    fn said(&self, text: &str) -> bool {
        self.memory.content == text
            || (!self.follows_file() && self.before.iter().any(|it| it == text))
    }

    /// Whether it is still what its file says it is.
    fn follows_file(&self) -> bool {
        let stands = !matches!(self.memory.status(), Status::Deleted | Status::Deprecated);
        stands && !self.is_theirs
    }

    fn is_reworded_as(&self, text: &str) -> bool {
        let of = |text| promote::Statement {
            text,
            files: &[] as &[ProjectPath],
            kind: &self.memory.kind,
        };
        let relationship = promote::compare(&of(&self.memory.content), &of(text));
        self.follows_file() && !self.matched && relationship != Relationship::Unrelated
    }
}
