//! Synthesis: what all sessions of a module together say that none of them says alone.
//!
//! Composed from counts, and told only where a reader would look at a file they would not have looked
//! at. Errors are not told here: those with a known end are memories of their own after two sessions,
//! those without say nothing.

use std::collections::{BTreeMap, BTreeSet};

use model::{CausalDependency, Kind, Payload, PerMille, PrefetchPattern, ProjectPath, SessionId};

use crate::Modules;
use crate::draft::{Draft, list};
use crate::sighting::is_test;

/// Sessions of a module after which it is looked at as a whole.
pub const MILESTONES: &[u32] = &[5, 10, 20, 50, 100];
/// Sessions that two modules must share before they are called coupled.
const SHARED: u32 = 5;
/// What one look at a module may say.
pub const MOST_INSIGHTS: usize = 5;
/// Of the sessions that changed one thing, how many must have changed the other, in thousandths.
const USUALLY: u32 = 750;
/// In how many sessions at least: three may be one piece of work.
const FEWEST: u32 = 4;
/// Files elsewhere that are told of one module.
const MOST_REACHED: usize = 2;
/// Of the sessions of a module, how many must have opened a file that is told to be opened first.
const MOSTLY: u32 = 600;
/// How much likelier that must be than in any session, in thousandths: what everybody edits says
/// nothing about a module.
const LIFT: u32 = 1_500;

/// What one session that holds did to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    pub session: SessionId,
    pub read: Vec<ProjectPath>,
    pub edited: Vec<ProjectPath>,
}

impl Visit {
    /// Whether it changed something in a module.
    pub fn edits_in(&self, module: &str, modules: &Modules) -> bool {
        self.edited.iter().any(|it| modules.of(it.as_str()) == module)
    }
}

/// The modules that a session changed; files at the root are of none.
pub fn modules_of<'a>(edited: &'a [ProjectPath], modules: &'a Modules) -> BTreeSet<&'a str> {
    edited.iter().map(|it| modules.of(it.as_str())).filter(|it| !it.is_empty()).collect()
}

/// What the sessions of a module say about it, strongest first.
pub fn about_module(module: &str, all: &[Visit], modules: &Modules) -> Vec<Draft> {
    let visits: Vec<&Visit> = all.iter().filter(|it| it.edits_in(module, modules)).collect();
    let mut acc = Vec::new();
    acc.extend(reaches_out(module, &visits, all, modules));
    acc.extend(begins_with(module, &visits, all, modules));
    acc.truncate(MOST_INSIGHTS);
    acc
}

/// Files elsewhere that most sessions of the module changed as well: tests apart from the others.
fn reaches_out(module: &str, visits: &[&Visit], all: &[Visit], modules: &Modules) -> Vec<Draft> {
    let mut counts: BTreeMap<&ProjectPath, Vec<SessionId>> = BTreeMap::new();
    for visit in visits {
        let outside: BTreeSet<&ProjectPath> =
            visit.edited.iter().filter(|it| modules.of(it.as_str()) != module).collect();
        for file in outside {
            counts.entry(file).or_default().push(visit.session);
        }
    }
    let of = number(visits.len());
    let usual = |(file, sessions): &(&ProjectPath, Vec<SessionId>)| {
        let anywhere = number(all.iter().filter(|it| it.edited.contains(file)).count());
        together(number(sessions.len()), of, anywhere, number(all.len()))
    };
    let mut found: Vec<(&ProjectPath, Vec<SessionId>)> = counts.into_iter().filter(usual).collect();
    found.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
    found.truncate(MOST_REACHED);
    found.into_iter().map(|(file, sessions)| reaches(module, file, sessions, of, modules)).collect()
}

fn reaches(
    module: &str,
    file: &ProjectPath,
    sessions: Vec<SessionId>,
    of: u32,
    modules: &Modules,
) -> Draft {
    let n = number(sessions.len());
    let then = if is_test(file.as_str()) {
        format!("Its tests are in `{file}` as well: extend them with the change.")
    } else {
        format!("Check `{file}` before you finish.")
    };
    let noun = modules.noun(module);
    let content = format!(
        "Work in `{module}` usually reaches `{file}`: {n} of the {of} sessions that changed this {noun} changed it, too. {then}"
    );
    let payload = dependency(module, file.as_str(), sessions.clone(), n * 1000 / of.max(1));
    let mut res =
        Draft::new(Kind::CausalDependency, content).about(vec![file.clone()]).with(payload);
    res.sessions = sessions;
    res.modules.push(module.to_owned());
    res.complete(modules)
}

/// The files that most sessions of the module opened, whenever they did.
fn begins_with(module: &str, visits: &[&Visit], all: &[Visit], modules: &Modules) -> Option<Draft> {
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for visit in visits {
        let touched: BTreeSet<&ProjectPath> = visit.read.iter().chain(&visit.edited).collect();
        for it in touched {
            *counts.entry(it).or_default() += 1;
        }
    }
    let of = number(visits.len()).max(1);
    let share = |n: u32| n * 1000 / of;
    let needs_it = |it: &(&ProjectPath, u32)| {
        let opens = |visit: &&Visit| visit.read.contains(it.0) || visit.edited.contains(it.0);
        let anywhere = number(all.iter().filter(opens).count()) * 1000 / number(all.len()).max(1);
        it.1 >= FEWEST && share(it.1) > MOSTLY && share(it.1) * 1000 >= anywhere * LIFT
    };
    let mut usual: Vec<(&ProjectPath, u32)> = counts.into_iter().filter(needs_it).collect();
    usual.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    usual.truncate(6);
    // Only of a folder with more files than that it says something which these are.
    let inside = visits.iter().flat_map(|it| it.read.iter().chain(&it.edited));
    let inside: BTreeSet<&ProjectPath> =
        inside.filter(|it| modules.of(it.as_str()) == module).collect();
    let always = usual.iter().any(|it| share(it.1) > 800);
    if usual.len() < 2 || !always || inside.len() < 2 * usual.len() {
        return None;
    }
    let pick = |wanted: fn(u32) -> bool| -> Vec<ProjectPath> {
        usual.iter().filter(|it| wanted(share(it.1))).map(|it| it.0.clone()).collect()
    };
    let (always, often) = (pick(|it| it > 800), pick(|it| it <= 800));
    let files: Vec<ProjectPath> = usual.iter().map(|it| it.0.clone()).collect();
    let content = format!(
        "For work in `{module}`, open {} first: most sessions that changed this {} needed them, of {} files they opened there.",
        list(&files),
        modules.noun(module),
        inside.len()
    );
    let payload = Payload::PrefetchPattern(PrefetchPattern {
        always,
        often,
        trigger_module: Some(module.to_owned()),
        session_count: of,
    });
    let opens =
        |it: &&&Visit| files.iter().any(|file| it.read.contains(file) || it.edited.contains(file));
    let sessions = visits.iter().filter(opens).map(|it| it.session).collect();
    let mut res = Draft::new(Kind::PrefetchPattern, content).about(files).with(payload);
    res.sessions = sessions;
    res.modules.push(module.to_owned());
    Some(res.complete(modules))
}

/// Pairs of modules that many sessions changed together, strongest first; those in `known` are told
/// already.
pub fn about_pairs(
    all: &[Visit],
    known: &dyn Fn(&str, &str) -> bool,
    modules: &Modules,
) -> Vec<Draft> {
    let mut of: BTreeMap<&str, u32> = BTreeMap::new();
    let mut pairs: BTreeMap<(&str, &str), Vec<&Visit>> = BTreeMap::new();
    for visit in all {
        let changed: Vec<&str> = modules_of(&visit.edited, modules).into_iter().collect();
        for (nth, a) in changed.iter().enumerate() {
            *of.entry(a).or_default() += 1;
            changed[nth + 1..].iter().for_each(|b| pairs.entry((a, b)).or_default().push(visit));
        }
    }
    let mut found: Vec<(u32, Draft)> = Vec::new();
    for ((a, b), visits) in pairs {
        let (n, n_a, n_b) = (number(visits.len()), of[a], of[b]);
        // Told from the module that is changed less often: that is the one which implies the other.
        let (from, to, n_from, n_to) = if n_a <= n_b { (a, b, n_a, n_b) } else { (b, a, n_b, n_a) };
        let tell = n >= SHARED && together(n, n_from, n_to, number(all.len())) && !known(from, to);
        if tell && let Some(draft) = pair(from, to, &visits, n_from, modules) {
            found.push((n * 1000 / n_from, draft));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.content.cmp(&b.1.content)));
    found.into_iter().map(|it| it.1).take(MOST_INSIGHTS).collect()
}

fn pair(from: &str, to: &str, visits: &[&Visit], of: u32, modules: &Modules) -> Option<Draft> {
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for visit in visits {
        let there: BTreeSet<&ProjectPath> =
            visit.edited.iter().filter(|it| modules.of(it.as_str()) == to).collect();
        for it in there {
            *counts.entry(it).or_default() += 1;
        }
    }
    let most = counts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
    let n = number(visits.len());
    let content = format!(
        "A change in `{from}` usually needs one in `{to}`, most often in `{}`: {n} of the {of} sessions that changed the one changed both. Look there before you finish.",
        most.0
    );
    let sessions: Vec<SessionId> = visits.iter().map(|it| it.session).collect();
    let payload = dependency(from, to, sessions.clone(), n * 1000 / of.max(1));
    let mut res =
        Draft::new(Kind::CausalDependency, content).about(vec![(*most.0).clone()]).with(payload);
    res.sessions = sessions;
    res.modules.extend([from.to_owned(), to.to_owned()]);
    Some(res.complete(modules))
}

/// Whether `n` of `of` sessions is usual, and more so than `anywhere` of `all`.
fn together(n: u32, of: u32, anywhere: u32, all: u32) -> bool {
    let share = n * 1000 / of.max(1);
    let expected = anywhere * 1000 / all.max(1);
    n >= FEWEST && share >= USUALLY && share * 1000 >= expected * LIFT
}

fn dependency(from: &str, to: &str, mut sessions: Vec<SessionId>, lift: u32) -> Payload {
    sessions.sort_unstable();
    sessions.truncate(20);
    Payload::CausalDependency(CausalDependency {
        from: from.to_owned(),
        to: to.to_owned(),
        sessions,
        lift: PerMille::new(u16::try_from(lift).unwrap_or(1000)),
        directed: true,
    })
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use model::Timestamp;

    /// One session a line: the files it edited, those only read in brackets.
    fn visits(script: &str) -> Vec<Visit> {
        let visit = |(nth, line): (u8, &str)| {
            let path = |it: &str| ProjectPath::parse(it.trim_matches(['[', ']'])).unwrap();
            let (read, edited): (Vec<&str>, Vec<&str>) =
                line.split_whitespace().partition(|it| it.starts_with('['));
            Visit {
                session: SessionId::new(Timestamp(1), [nth; 10]),
                read: read.into_iter().map(path).collect(),
                edited: edited.into_iter().map(path).collect(),
            }
        };
        (0..).zip(script.lines().map(str::trim)).map(visit).collect()
    }

    fn told(drafts: &[Draft]) -> String {
        let lines: Vec<String> =
            drafts.iter().map(|it| format!("{}: {}\n", it.kind, it.content)).collect();
        lines.concat()
    }

    fn check(module: &str, script: &str, expect: Expect) {
        expect.assert_eq(&told(&about_module(module, &visits(script), &Modules::default())));
    }

    #[test]
    fn a_module_says_what_it_reaches_and_how_it_is_tested() {
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
    fn what_every_session_edits_says_nothing_about_a_module() {
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
    fn modules_that_change_together_are_told_once() {
        let five = "api/a.rs web/x.ts\napi/b.rs web/x.ts\napi/a.rs web/x.ts\napi/c.rs web/y.ts\napi/d.rs web/x.ts\ndocs/a.md\ndocs/b.md\nweb/z.ts\nops/a.yml\nops/b.yml";
        let all = visits(five);
        expect![[r"
            causal_dependency: A change in `api` usually needs one in `web`, most often in `web/x.ts`: 5 of the 5 sessions that changed the one changed both. Look there before you finish.
        "]]
        .assert_eq(&told(&about_pairs(&all, &|_, _| false, &Modules::default())));
        assert!(
            about_pairs(&all, &|from, to| (from, to) == ("api", "web"), &Modules::default())
                .is_empty()
        );
        assert!(
            about_pairs(&all[1..], &|_, _| false, &Modules::default()).is_empty(),
            "four are not five"
        );
    }
}
