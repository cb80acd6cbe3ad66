//! A session as claims see it: which calls edited, passed or failed, and where the agent was working.

use std::collections::{BTreeMap, BTreeSet};

use model::ProjectPath;
use observe::{CallEffects, Scratchpad, StringId};

use crate::Claim;
use crate::surface::identifier_parts;

/// Calls after a sentence within which an edit counts as its consequence.
const EDIT_WINDOW: u32 = 20;
/// Calls after an edit within which a check counts as a check of it.
const CHECK_WINDOW: u32 = 40;
/// Calls after a sentence within which a command counts as its use.
const USE_WINDOW: u32 = 6;
/// Calls before a sentence within which a failure counts as its reason.
const FAILURE_WINDOW: u32 = 3;
/// Calls before a sentence within which an edited file is its place.
const PLACE_WINDOW: u32 = 20;
/// Texts after a sentence within which a retraction counts.
const RETRACTION_WINDOW: usize = 8;
/// Files named in an outcome.
const MAX_OUTCOME_FILES: usize = 2;

/// The scratchpad with indexes over its calls.
pub(crate) struct SessionView<'a> {
    pub(crate) pad: &'a Scratchpad,
    /// Edits of files that succeeded, by call.
    edits: BTreeMap<u32, Vec<StringId>>,
    /// Names in the edited texts, by call.
    names: BTreeMap<u32, Vec<StringId>>,
    /// Calls of tests, checks and commits that succeeded.
    passes: BTreeSet<u32>,
    commits: BTreeSet<u32>,
    failures: BTreeSet<u32>,
    /// From a failed call to the next success of the same command.
    resolved: Vec<(u32, u32)>,
}

impl<'a> SessionView<'a> {
    pub(crate) fn new(pad: &'a Scratchpad) -> Self {
        let mut view = Self {
            pad,
            edits: BTreeMap::new(),
            names: BTreeMap::new(),
            passes: BTreeSet::new(),
            commits: BTreeSet::new(),
            failures: BTreeSet::new(),
            resolved: Vec::new(),
        };
        // Commands that failed and have not succeeded since.
        let mut open: BTreeMap<StringId, u32> = BTreeMap::new();
        for (number, call) in (0..).zip(&pad.calls) {
            let is_check = call.effects.has_any(CallEffects::RUNS_TEST | CallEffects::RUNS_CHECK);
            let is_commit = call.effects.has_any(CallEffects::MAKES_COMMIT);
            if call.has_failed() {
                view.failures.insert(number);
                if let Some(command) = call.command {
                    open.entry(command).or_insert(number);
                }
            } else if call.has_succeeded() {
                if is_check || is_commit {
                    view.passes.insert(number);
                }
                if is_commit {
                    view.commits.insert(number);
                }
                if let Some(start) = call.command.and_then(|it| open.remove(&it)) {
                    view.resolved.push((start, number));
                }
            }
        }
        for touch in pad.touches.iter().filter(|it| it.is_write) {
            if pad.calls.get(touch.call as usize).is_some_and(observe::LoggedCall::has_succeeded) {
                view.edits.entry(touch.call).or_default().push(touch.file);
            }
        }
        for (call, name) in &pad.edit_names {
            view.names.entry(*call).or_default().push(*name);
        }
        view
    }

    /// The source file that was edited last before a call.
    pub(crate) fn place_at(&self, call: u32) -> Option<&'a str> {
        let recent = self.edits.range(call.saturating_sub(PLACE_WINDOW)..call).rev();
        let mut files =
            recent.flat_map(|it| it.1.iter().rev()).map(|it| self.pad.strings.text(*it));
        files.find(|it| is_source_file(it))
    }

    /// Returns whether edits follow within the window.
    pub(crate) fn is_followed_by_edit(&self, call: u32) -> bool {
        self.edits.range(call..call + EDIT_WINDOW).next().is_some()
    }

    /// Returns whether one of the next edits names or touches one of the names.
    pub(crate) fn edits_touch(&self, call: u32, names: &BTreeSet<String>) -> bool {
        if names.is_empty() {
            return false;
        }
        let window = call..call + EDIT_WINDOW;
        let in_path = |file: &StringId| {
            identifier_parts(self.pad.strings.text(*file)).any(|it| names.contains(it))
        };
        let in_text = |name: &StringId| names.contains(self.pad.strings.text(*name));
        self.edits.range(window.clone()).any(|it| it.1.iter().any(in_path))
            || self.names.range(window).any(|it| it.1.iter().any(in_text))
    }

    /// Returns whether one of the next successful commands contains one of the names.
    pub(crate) fn commands_use(&self, call: u32, names: &BTreeSet<String>) -> bool {
        let start = (call as usize).min(self.pad.calls.len());
        let next = self.pad.calls[start..].iter().take(USE_WINDOW as usize);
        let mut commands = next.filter(|it| it.has_succeeded()).filter_map(|it| it.command);
        commands.any(|it| identifier_parts(self.pad.strings.text(it)).any(|it| names.contains(it)))
    }

    /// Returns whether an edit and then a passing check follow.
    pub(crate) fn is_borne_out(&self, call: u32) -> bool {
        let edit = self.edits.range(call..call + EDIT_WINDOW).next();
        edit.is_some_and(|(edit, _)| {
            self.passes.range(edit + 1..edit + CHECK_WINDOW).next().is_some()
        })
    }

    /// Returns whether a call failed shortly before.
    pub(crate) fn is_after_failure(&self, call: u32) -> bool {
        self.failures.range(call.saturating_sub(FAILURE_WINDOW)..call).next().is_some()
    }

    /// Returns whether the position lies between a failure and the success of the same command.
    pub(crate) fn is_in_resolved_failure(&self, call: u32) -> bool {
        self.resolved.iter().any(|(start, end)| (start + 1..=*end).contains(&call))
    }

    /// Returns whether one of the next texts takes back something with one of these names.
    pub(crate) fn is_retracted(&self, order: u32, names: &BTreeSet<String>) -> bool {
        let later = self.pad.agent_texts.iter().skip_while(|it| it.order <= order);
        later.take(RETRACTION_WINDOW).filter(|it| it.retracts).any(|text| {
            let shared = text.retracted_names.iter().filter(|name| {
                identifier_parts(self.pad.strings.text(**name)).any(|it| names.contains(it))
            });
            // One shared name can be the file that all texts are about.
            shared.count() >= names.len().clamp(1, 2)
        })
    }

    /// Describes the consequences of a claim: the next edits, the next check, and whether it was committed.
    pub(crate) fn outcome_after(&self, claim: &Claim) -> String {
        let mut parts = Vec::new();
        let mut files: Vec<&str> = Vec::new();
        for file in self.edits.range(claim.call..claim.call + EDIT_WINDOW).flat_map(|it| it.1) {
            let path = self.pad.strings.text(*file);
            if !files.contains(&path) && files.len() < MAX_OUTCOME_FILES {
                files.push(path);
            }
        }
        if !files.is_empty() {
            parts.push(format!("then edited {}", files.join(", ")));
        }
        let check = self.passes.range(claim.call..claim.call + CHECK_WINDOW).next();
        let command =
            check.and_then(|it| self.pad.calls.get(*it as usize)).and_then(|it| it.command);
        if let Some(command) = command {
            let command = model::clean_label(self.pad.strings.text(command), 60);
            parts.push(format!("`{command}` passed"));
        }
        if self.commits.range(claim.call..).next().is_some() {
            parts.push("committed".to_owned());
        }
        parts.join("; ")
    }

    /// The files of a claim: those it names, else its place.
    pub(crate) fn files_of(&self, text: &str, place: Option<&str>) -> Vec<ProjectPath> {
        let named = observe::find_named_files(self.pad, text);
        if named.is_empty() {
            place.and_then(|it| ProjectPath::parse(it).ok()).into_iter().collect()
        } else {
            named
        }
    }
}

/// Returns whether a path is code, not prose about it.
fn is_source_file(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |it| it.1);
    !matches!(extension, "md" | "mdx" | "txt" | "log" | "rst")
}
