//! Synthesis: statements about a module that all of its sessions support together and none alone. A module
//! is a part of the project, by default a folder.
//!
//! The input is visits: the files that each session touched. Three statements are drafted: files outside a
//! module that its sessions usually edit as well, files to open first, and modules that change together.
//!
//! A pattern must be usual among the sessions concerned (its share), and clearly more frequent there than
//! among all sessions (its lift), so that chance and files that every session edits are left out. Example:
//! of 8 sessions, 5 changed `src/wire`, and 4 of these also edited `web/wire.ts`, which no other session did.
//! The share is 4/5 = 0.8 and the share among all 4/8 = 0.5, so that the lift is 1.6: "Work in `src/wire`
//! usually reaches `web/wire.ts` …".
//!
//! Errors are no part of it: those with a known fix are memories of their own.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    CausalDependency, MemoryKind, Payload, PerMille, PrefetchPattern, ProjectPath, SessionId,
};

use crate::ModuleLookup;
use crate::draft::{MemoryDraft, quote_paths};
use crate::path_rules::is_test_path;

/// Numbers of sessions of a module at which its statements are drafted anew.
pub const SESSION_MILESTONES: &[u32] = &[5, 10, 20, 50, 100];
/// The most drafts of one synthesis.
pub const MAX_MODULE_DRAFTS: usize = 5;
/// Sessions behind any statement: three may be one piece of work.
const MIN_SESSIONS: u32 = 4;
/// Sessions that must have changed two modules before they count as coupled.
const MIN_SHARED_SESSIONS: u32 = 5;
/// Share of the sessions that changed one thing which must have changed the other, in per mille.
const USUAL_SHARE_PER_MILLE: u32 = 750;
/// Files outside a module that are drafted.
const MAX_OUTSIDE_FILES: usize = 2;
/// Files to open first.
const MAX_FILES_TO_OPEN: usize = 6;
/// A file to open first was opened by more than this share of the module's sessions, in per mille.
const OPENED_SHARE_PER_MILLE: u32 = 600;
/// Above this share it counts as always opened, below as often, in per mille.
const ALWAYS_SHARE_PER_MILLE: u32 = 800;
/// Least lift, in per mille: the share among the module's sessions over the share among all sessions. A
/// file that every session edits says nothing about a module.
const MIN_LIFT_PER_MILLE: u32 = 1_500;
/// Sessions that a dependency lists as its evidence.
const MAX_DEPENDENCY_SESSIONS: usize = 20;

/// The files that one session touched. The caller leaves out sessions whose work did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionVisit {
    pub session: SessionId,
    /// Files that were only read.
    pub read: Vec<ProjectPath>,
    pub edited: Vec<ProjectPath>,
}

impl SessionVisit {
    /// Returns whether the session edited a file of a module.
    pub fn edits_in(&self, module: &str, modules: &ModuleLookup) -> bool {
        self.edited.iter().any(|it| modules.module_of_file(it.as_str()) == module)
    }

    fn has_opened(&self, file: &ProjectPath) -> bool {
        self.read.contains(file) || self.edited.contains(file)
    }
}

/// The modules of edited files. Files at the root belong to none.
pub fn edited_modules<'a>(
    edited: &'a [ProjectPath],
    modules: &'a ModuleLookup,
) -> BTreeSet<&'a str> {
    let all = edited.iter().map(|it| modules.module_of_file(it.as_str()));
    all.filter(|it| !it.is_empty()).collect()
}

/// Drafts what the sessions of a module show about it, strongest first.
pub fn draft_module(
    module: &str,
    all: &[SessionVisit],
    modules: &ModuleLookup,
) -> Vec<MemoryDraft> {
    let visits: Vec<&SessionVisit> = all.iter().filter(|it| it.edits_in(module, modules)).collect();
    let mut acc = Vec::new();
    acc.extend(draft_outside_files(module, &visits, all, modules));
    acc.extend(draft_files_to_open(module, &visits, all, modules));
    acc.truncate(MAX_MODULE_DRAFTS);
    acc
}

/// Files outside the module that most of its sessions edited as well.
fn draft_outside_files(
    module: &str,
    visits: &[&SessionVisit],
    all: &[SessionVisit],
    modules: &ModuleLookup,
) -> Vec<MemoryDraft> {
    // Collect the sessions that edited each file outside the module.
    let mut sessions_by_file: BTreeMap<&ProjectPath, Vec<SessionId>> = BTreeMap::new();
    for visit in visits {
        let is_outside = |it: &&ProjectPath| modules.module_of_file(it.as_str()) != module;
        let outside: BTreeSet<&ProjectPath> = visit.edited.iter().filter(is_outside).collect();
        for file in outside {
            sessions_by_file.entry(file).or_default().push(visit.session);
        }
    }
    // Select the usual ones, those with the most sessions first; ties by path.
    let n_visits = to_u32(visits.len());
    let mut usual: Vec<(&ProjectPath, Vec<SessionId>)> = Vec::new();
    for (file, sessions) in sessions_by_file {
        let n_anywhere = all.iter().filter(|it| it.edited.contains(file)).count();
        let frequency = SessionFrequency {
            n_matching: to_u32(sessions.len()),
            n_sessions: n_visits,
            n_matching_anywhere: to_u32(n_anywhere),
            n_all_sessions: to_u32(all.len()),
        };
        if is_usual(frequency) {
            usual.push((file, sessions));
        }
    }
    usual.sort_by(|(file_a, sessions_a), (file_b, sessions_b)| {
        sessions_b.len().cmp(&sessions_a.len()).then_with(|| file_a.cmp(file_b))
    });
    let mut acc = Vec::new();
    for (file, sessions) in usual.into_iter().take(MAX_OUTSIDE_FILES) {
        acc.push(draft_outside_file(module, file, sessions, n_visits, modules));
    }
    acc
}

fn draft_outside_file(
    module: &str,
    file: &ProjectPath,
    sessions: Vec<SessionId>,
    n_visits: u32,
    modules: &ModuleLookup,
) -> MemoryDraft {
    let n_both = to_u32(sessions.len());
    // A test is extended, any other file is only checked.
    let advice = if is_test_path(file.as_str()) {
        format!("Its tests are in `{file}` as well: extend them with the change.")
    } else {
        format!("Check `{file}` before you finish.")
    };
    let noun = modules.noun_for(module);
    let content = format!(
        "Work in `{module}` usually reaches `{file}`: {n_both} of the {n_visits} sessions that changed this {noun} changed it, too. {advice}"
    );
    let share = n_both * 1000 / n_visits.max(1);
    let payload = dependency_payload(module, file.as_str(), sessions.clone(), share);
    let mut draft = MemoryDraft::new(MemoryKind::CausalDependency, content)
        .with_files(vec![file.clone()])
        .with_payload(payload);
    draft.sessions = sessions;
    draft.modules.push(module.to_owned());
    draft.finish(modules)
}

/// The files that most sessions of the module opened, at any time. Unlike the drafts of `file_access`, it
/// does not matter when they were opened.
fn draft_files_to_open(
    module: &str,
    visits: &[&SessionVisit],
    all: &[SessionVisit],
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    let ranked = rank_opened_files(visits, all);
    // One file is no pattern of work.
    if ranked.len() < 2 {
        return None;
    }
    // The ranking is by share, so that the files that are always opened come first.
    let n_visits = to_u32(visits.len()).max(1);
    let is_always = |n_opened: u32| n_opened * 1000 / n_visits > ALWAYS_SHARE_PER_MILLE;
    let n_always = ranked.iter().filter(|(_, n_opened)| is_always(*n_opened)).count();
    if n_always == 0 {
        return None;
    }
    // A choice of files helps only if the module has at least twice as many.
    let opened = visits.iter().flat_map(|it| it.read.iter().chain(&it.edited));
    let module_files: BTreeSet<&ProjectPath> =
        opened.filter(|it| modules.module_of_file(it.as_str()) == module).collect();
    if module_files.len() < 2 * ranked.len() {
        return None;
    }
    let files: Vec<ProjectPath> = ranked.iter().map(|(file, _)| (*file).clone()).collect();
    let content = format!(
        "For work in `{module}`, open {} first: most sessions that changed this {} needed them, of {} files they opened there.",
        quote_paths(&files),
        modules.noun_for(module),
        module_files.len()
    );
    let (always, often) = files.split_at(n_always);
    let payload = Payload::PrefetchPattern(PrefetchPattern {
        always: always.to_vec(),
        often: often.to_vec(),
        trigger_module: Some(module.to_owned()),
        session_count: n_visits,
    });
    let has_opened_any = |it: &&&SessionVisit| files.iter().any(|file| it.has_opened(file));
    let sessions = visits.iter().filter(has_opened_any).map(|it| it.session).collect();
    let mut draft = MemoryDraft::new(MemoryKind::PrefetchPattern, content)
        .with_files(files)
        .with_payload(payload);
    draft.sessions = sessions;
    draft.modules.push(module.to_owned());
    Some(draft.finish(modules))
}

/// The files that the visits opened much more often than other sessions did, each with the number of
/// visits, most first.
fn rank_opened_files<'a>(
    visits: &[&'a SessionVisit],
    all: &[SessionVisit],
) -> Vec<(&'a ProjectPath, u32)> {
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for visit in visits {
        // A set, because a file can be both read and edited.
        let opened: BTreeSet<&ProjectPath> = visit.read.iter().chain(&visit.edited).collect();
        for file in opened {
            *counts.entry(file).or_default() += 1;
        }
    }
    let mut ranked: Vec<(&ProjectPath, u32)> = Vec::new();
    for (file, n_opened) in counts {
        let n_anywhere = all.iter().filter(|it| it.has_opened(file)).count();
        let frequency = SessionFrequency {
            n_matching: n_opened,
            n_sessions: to_u32(visits.len()),
            n_matching_anywhere: to_u32(n_anywhere),
            n_all_sessions: to_u32(all.len()),
        };
        let is_opened_often = frequency.share() > OPENED_SHARE_PER_MILLE;
        if n_opened >= MIN_SESSIONS && is_opened_often && frequency.exceeds_chance() {
            ranked.push((file, n_opened));
        }
    }
    ranked.sort_by(|(file_a, n_a), (file_b, n_b)| n_b.cmp(n_a).then_with(|| file_a.cmp(file_b)));
    ranked.truncate(MAX_FILES_TO_OPEN);
    ranked
}

/// Drafts the pairs of modules that many sessions changed together, strongest first, without those for
/// which `is_known` returns true.
pub fn draft_module_pairs(
    all: &[SessionVisit],
    is_known: &dyn Fn(&str, &str) -> bool,
    modules: &ModuleLookup,
) -> Vec<MemoryDraft> {
    // Count the sessions that changed each module, and collect those that changed both of a pair.
    let mut n_by_module: BTreeMap<&str, u32> = BTreeMap::new();
    let mut visits_by_pair: BTreeMap<(&str, &str), Vec<&SessionVisit>> = BTreeMap::new();
    for visit in all {
        let changed: Vec<&str> = edited_modules(&visit.edited, modules).into_iter().collect();
        for (nth, a) in changed.iter().enumerate() {
            *n_by_module.entry(a).or_default() += 1;
            // Only with later modules, so that each pair occurs once.
            for b in &changed[nth + 1..] {
                visits_by_pair.entry((a, b)).or_default().push(visit);
            }
        }
    }
    // Draft the pairs that are coupled, each with its share for the order.
    let mut found: Vec<(u32, MemoryDraft)> = Vec::new();
    for ((a, b), visits) in visits_by_pair {
        // The module that is changed less often implies the other one: of its sessions, more changed both.
        let (from, to) = if n_by_module[a] <= n_by_module[b] { (a, b) } else { (b, a) };
        let frequency = SessionFrequency {
            n_matching: to_u32(visits.len()),
            n_sessions: n_by_module[from],
            n_matching_anywhere: n_by_module[to],
            n_all_sessions: to_u32(all.len()),
        };
        let is_coupled = frequency.n_matching >= MIN_SHARED_SESSIONS && is_usual(frequency);
        if !is_coupled || is_known(from, to) {
            continue;
        }
        if let Some(draft) = draft_module_pair(from, to, &visits, n_by_module[from], modules) {
            found.push((frequency.share(), draft));
        }
    }
    found.sort_by(|(share_a, draft_a), (share_b, draft_b)| {
        share_b.cmp(share_a).then_with(|| draft_a.content.cmp(&draft_b.content))
    });
    found.into_iter().map(|(_, draft)| draft).take(MAX_MODULE_DRAFTS).collect()
}

fn draft_module_pair(
    from: &str,
    to: &str,
    visits: &[&SessionVisit],
    n_from: u32,
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    // The file of the target that most of the sessions edited.
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for visit in visits {
        let is_in_target = |it: &&ProjectPath| modules.module_of_file(it.as_str()) == to;
        let edited: BTreeSet<&ProjectPath> = visit.edited.iter().filter(is_in_target).collect();
        for file in edited {
            *counts.entry(file).or_default() += 1;
        }
    }
    // Ties go to the smaller path, which `max_by` finds by the reverse order of paths.
    let by_count = |(file_a, n_a): &(&ProjectPath, u32), (file_b, n_b): &(&ProjectPath, u32)| {
        n_a.cmp(n_b).then_with(|| file_b.cmp(file_a))
    };
    let (most_edited, _) = counts.into_iter().max_by(by_count)?;
    let n_both = to_u32(visits.len());
    let content = format!(
        "A change in `{from}` usually needs one in `{to}`, most often in `{most_edited}`: {n_both} of the {n_from} sessions that changed the one changed both. Look there before you finish."
    );
    let sessions: Vec<SessionId> = visits.iter().map(|it| it.session).collect();
    let payload = dependency_payload(from, to, sessions.clone(), n_both * 1000 / n_from.max(1));
    let mut draft = MemoryDraft::new(MemoryKind::CausalDependency, content)
        .with_files(vec![most_edited.clone()])
        .with_payload(payload);
    draft.sessions = sessions;
    draft.modules.extend([from.to_owned(), to.to_owned()]);
    Some(draft.finish(modules))
}

/// The frequency of something among some sessions and, for comparison, among all. In the example of the
/// header: 4 of the 5 sessions of `src/wire`, and 4 of all 8, edited `web/wire.ts`.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "all fields are counts")]
struct SessionFrequency {
    /// Matching ones among the sessions concerned, for instance those of a module.
    n_matching: u32,
    n_sessions: u32,
    /// Matching ones among all sessions of the project.
    n_matching_anywhere: u32,
    n_all_sessions: u32,
}

impl SessionFrequency {
    /// Share of the sessions, in per mille.
    fn share(self) -> u32 {
        self.n_matching * 1000 / self.n_sessions.max(1)
    }

    /// Returns whether the share is clearly larger than among all sessions, which is what chance gives.
    fn exceeds_chance(self) -> bool {
        let share_anywhere = self.n_matching_anywhere * 1000 / self.n_all_sessions.max(1);
        // The lift is `share / share_anywhere`; without the division, a share of 0 is no problem.
        self.share() * 1000 >= share_anywhere * MIN_LIFT_PER_MILLE
    }
}

/// Returns whether most of the sessions match, clearly more than among all sessions.
fn is_usual(frequency: SessionFrequency) -> bool {
    frequency.n_matching >= MIN_SESSIONS
        && frequency.share() >= USUAL_SHARE_PER_MILLE
        && frequency.exceeds_chance()
}

/// The payload of a dependency that a share of the sessions shows, in per mille.
fn dependency_payload(from: &str, to: &str, mut sessions: Vec<SessionId>, share: u32) -> Payload {
    sessions.sort_unstable();
    sessions.truncate(MAX_DEPENDENCY_SESSIONS);
    Payload::CausalDependency(CausalDependency {
        from: from.to_owned(),
        to: to.to_owned(),
        sessions,
        // The stored field holds the share, not the lift by which patterns are selected above.
        lift: PerMille::new(u16::try_from(share).unwrap_or(1000)),
        directed: true,
    })
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use model::Timestamp;

    /// One session per line: the files it edited, and in brackets those it only read.
    fn visits(script: &str) -> Vec<SessionVisit> {
        let visit = |(nth, line): (u8, &str)| {
            let path = |it: &str| ProjectPath::parse(it.trim_matches(['[', ']'])).unwrap();
            let (read, edited): (Vec<&str>, Vec<&str>) =
                line.split_whitespace().partition(|it| it.starts_with('['));
            SessionVisit {
                session: SessionId::new(Timestamp(1), [nth; 10]),
                read: read.into_iter().map(path).collect(),
                edited: edited.into_iter().map(path).collect(),
            }
        };
        (0..).zip(script.lines().map(str::trim)).map(visit).collect()
    }

    fn show(drafts: &[MemoryDraft]) -> String {
        let lines: Vec<String> =
            drafts.iter().map(|it| format!("{}: {}\n", it.kind, it.content)).collect();
        lines.concat()
    }

    /// Checks the drafts of one module, one per line: type and text.
    fn check(module: &str, script: &str, expect: Expect) {
        expect.assert_eq(&show(&draft_module(module, &visits(script), &ModuleLookup::default())));
    }

    #[test]
    fn files_edited_with_a_module_are_drafted() {
        check(
            "src/wire",
            "src/wire/a.rs web/wire.ts tests/it/wire.rs
             src/wire/b.rs web/wire.ts tests/it/wire.rs
             src/wire/a.rs web/wire.ts
             src/wire/c.rs tests/it/wire.rs
             src/wire/a.rs web/wire.ts tests/it/wire.rs
             docs/x.md
             docs/y.md
             src/other.rs",
            expect![[r"
                causal_dependency: Work in `src/wire` usually reaches `tests/it/wire.rs`: 4 of the 5 sessions that changed this folder changed it, too. Its tests are in `tests/it/wire.rs` as well: extend them with the change.
                causal_dependency: Work in `src/wire` usually reaches `web/wire.ts`: 4 of the 5 sessions that changed this folder changed it, too. Check `web/wire.ts` before you finish.
            "]],
        );
    }

    #[test]
    fn a_file_that_every_session_edits_gives_no_draft() {
        check(
            "src",
            "src/a.rs docs/log.md\nsrc/a.rs docs/log.md\nsrc/b.rs docs/log.md\nweb/x.ts docs/log.md\nweb/y.ts docs/log.md",
            expect![""],
        );
    }

    #[test]
    fn the_files_to_open_first_are_few_of_many() {
        check(
            "src",
            "src/a.rs [src/state.rs] [src/b.rs]\nsrc/a.rs [src/state.rs] [src/c.rs]\nsrc/a.rs [src/state.rs]\nsrc/a.rs [src/state.rs]\nsrc/d.rs [src/state.rs]\nx/a\nx/b\nx/c",
            expect![[r"
                prefetch_pattern: For work in `src`, open `src/state.rs` and `src/a.rs` first: most sessions that changed this folder needed them, of 5 files they opened there.
            "]],
        );
        check("src", "src/a.rs src/b.rs\nsrc/a.rs src/b.rs\nsrc/a.rs src/b.rs", expect![""]);
    }

    #[test]
    fn modules_that_change_together_are_drafted_unless_known() {
        // Five sessions changed `api` and `web`; five others changed something else.
        let five = "api/a.rs web/x.ts\napi/b.rs web/x.ts\napi/a.rs web/x.ts\napi/c.rs web/y.ts\napi/d.rs web/x.ts\ndocs/a.md\ndocs/b.md\nweb/z.ts\nops/a.yml\nops/b.yml";
        let all = visits(five);
        expect![[r"
            causal_dependency: A change in `api` usually needs one in `web`, most often in `web/x.ts`: 5 of the 5 sessions that changed the one changed both. Look there before you finish.
        "]]
        .assert_eq(&show(&draft_module_pairs(&all, &|_, _| false, &ModuleLookup::default())));

        // The same sessions, but the pair is known.
        let is_known = |from: &str, to: &str| (from, to) == ("api", "web");
        assert!(draft_module_pairs(&all, &is_known, &ModuleLookup::default()).is_empty());

        // One of the five sessions is missing.
        assert!(
            draft_module_pairs(&all[1..], &|_, _| false, &ModuleLookup::default()).is_empty(),
            "four are not five"
        );
    }
}
