//! Drafts about files: which belong together, where to begin, where not to look.

use std::collections::BTreeMap;

use model::{
    CausalDependency, ContextCost, Kind, Payload, PerMille, PrefetchPattern, ProjectPath, SessionId,
};

use super::{Draft, Seen, Support, list, n_sessions};
use crate::Modules;

/// Of the sessions that edited one file, how many must have edited the other, in thousandths.
const TOGETHER: u32 = 600;

pub(super) fn coupled(seen: &[Seen], support: Support) -> Option<Draft> {
    let [a, b] = &seen.last()?.evidence.files[..] else { return None };
    let n = u32::try_from(n_sessions(seen)).ok()?;
    // Told from the file that is changed less often: that is the one which implies the other.
    let (from, to, of) = if support.first <= support.second {
        (a, b, support.first)
    } else {
        (b, a, support.second)
    };
    let of = of.max(n);
    if n * 1000 < of * TOGETHER {
        return None;
    }
    let content = format!(
        "A change to `{from}` usually needs one in `{to}` as well: {n} of the {of} sessions that edited `{from}` edited both. Check `{to}` before you finish."
    );
    let lift = n * 1000 / of;
    let payload = causal(from, to, seen, lift, true);
    Some(
        Draft::new(Kind::CausalDependency, content)
            .about(vec![from.clone(), to.clone()])
            .with(payload),
    )
}

fn causal(
    from: &ProjectPath,
    to: &ProjectPath,
    seen: &[Seen],
    lift: u32,
    directed: bool,
) -> Payload {
    let mut sessions: Vec<SessionId> = seen.iter().map(|it| it.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions.truncate(20);
    Payload::CausalDependency(CausalDependency {
        from: from.to_string(),
        to: to.to_string(),
        sessions,
        lift: PerMille::new(u16::try_from(lift).unwrap_or(1000)),
        directed,
    })
}

pub(super) fn configured(seen: &[Seen], support: Support) -> Option<Draft> {
    let [file, config] = &seen.last()?.evidence.files[..] else { return None };
    let n = u32::try_from(n_sessions(seen)).ok()?;
    let of = support.first.max(n);
    if n < 2 || n * 1000 < of * TOGETHER {
        return None;
    }
    let content = format!(
        "A change to `{file}` has meant a change to `{config}` in {n} of {of} sessions; look whether it needs one."
    );
    let payload = causal(file, config, seen, n * 1000 / of, true);
    Some(
        Draft::new(Kind::CausalDependency, content)
            .about(vec![file.clone(), config.clone()])
            .with(payload),
    )
}

pub(super) fn imported(seen: &[Seen]) -> Option<Draft> {
    let [from, to] = &seen.last()?.evidence.files[..] else { return None };
    let content = format!(
        "To understand `{from}`, read `{to}` with it: it imports what it works on from there."
    );
    let payload = causal(from, to, seen, 1000, true);
    Some(
        Draft::new(Kind::CausalDependency, content)
            .about(vec![from.clone(), to.clone()])
            .with(payload),
    )
}

/// Files opened early in more than half of the module's sessions.
pub(super) fn first_files(
    module: &str,
    seen: &[Seen],
    support: Support,
    modules: &Modules,
) -> Option<Draft> {
    let all = u32::try_from(n_sessions(seen)).ok()?.max(1);
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for it in seen {
        for file in &it.evidence.files {
            *counts.entry(file).or_insert(0) += 1;
        }
    }
    let share = |n: u32| n * 1000 / all;
    let mut ranked: Vec<(&ProjectPath, u32)> =
        counts.into_iter().filter(|it| share(it.1) > 500).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    ranked.truncate(6);
    let within = ranked.iter().any(|it| modules.of(it.0.as_str()) == module);
    if ranked.len() < 2 || !within {
        return None;
    }
    let of = |wanted: fn(u32) -> bool| -> Vec<ProjectPath> {
        ranked.iter().filter(|it| wanted(share(it.1))).map(|it| it.0.clone()).collect()
    };
    let (always, often) = (of(|it| it > 800), of(|it| it <= 800));
    let files: Vec<ProjectPath> = ranked.iter().map(|it| it.0.clone()).collect();
    let content = format!(
        "Work in `{module}` begins with {}: sessions that changed this {} opened them first.",
        list(&files),
        modules.noun(module)
    );
    let payload = Payload::PrefetchPattern(PrefetchPattern {
        always,
        often,
        trigger_module: Some(module.to_owned()),
        session_count: all.max(support.module),
    });
    let mut res = Draft::new(Kind::PrefetchPattern, content).about(files).with(payload);
    res.modules.push(module.to_owned());
    Some(res)
}

pub(super) fn not_there(seen: &[Seen]) -> Option<Draft> {
    let [read, right] = &seen.last()?.evidence.files[..] else { return None };
    let content = format!(
        "Start in `{right}`, not in `{read}`: sessions read `{read}` several times and then made their change in `{right}`."
    );
    Some(Draft::new(Kind::Gotcha, content).about(vec![right.clone(), read.clone()]))
}

/// Where a query was answered, when every session found it in the same place.
pub(super) fn found_at(seen: &[Seen]) -> Option<Draft> {
    let last = &seen.last()?.evidence;
    let (query, file) = (last.query.as_deref()?, last.files.first()?);
    if !seen.iter().all(|it| it.evidence.files.first() == Some(file)) {
        return None;
    }
    let name = query
        .rsplit(' ')
        .next()
        .unwrap_or(query)
        .trim_end_matches(['(', '\\', ')'])
        .trim_start_matches('^');
    let missed = seen.iter().rev().find_map(|it| it.evidence.before.as_deref());
    let instead =
        missed.map(|it| format!(" A search for `{it}` finds nothing.")).unwrap_or_default();
    let content = format!(
        "`{name}` is in `{file}`; open it there instead of searching for `{query}`.{instead}"
    );
    Some(Draft::new(Kind::ModuleInsight, content).about(vec![file.clone()]))
}

pub(super) fn listed(seen: &[Seen]) -> Option<Draft> {
    let last = &seen.last()?.evidence;
    let pattern = last.query.as_deref()?;
    let first = &seen.first()?.evidence.files;
    let files: Vec<ProjectPath> = first
        .iter()
        .filter(|file| seen.iter().all(|it| it.evidence.files.contains(file)))
        .cloned()
        .collect();
    if files.is_empty() {
        return None;
    }
    let content = format!(
        "Do not list `{pattern}` ({} files): what was needed of it every time is {}.",
        last.number,
        list(&files)
    );
    Some(Draft::new(Kind::Gotcha, content).about(files))
}

pub(super) fn costly(seen: &[Seen]) -> Option<Draft> {
    let file = seen.last()?.evidence.files.first()?;
    let mut tokens: Vec<u64> = seen.iter().map(|it| it.evidence.number).collect();
    tokens.sort_unstable();
    let average = tokens.iter().sum::<u64>() / tokens.len() as u64;
    let p90 = tokens[(tokens.len() - 1) * 9 / 10];
    let content = format!(
        "Reading `{file}` whole costs about {} tokens; search in it or read the part you need.",
        average / 100 * 100
    );
    let payload = Payload::ContextCost(ContextCost {
        module: file.to_string(),
        avg_tokens: average,
        p90_tokens: p90,
        samples: u32::try_from(tokens.len()).unwrap_or(u32::MAX),
    });
    Some(Draft::new(Kind::ContextCost, content).about(vec![file.clone()]).with(payload))
}

pub(super) fn contested(seen: &[Seen]) -> Option<Draft> {
    let file = seen.last()?.evidence.files.first()?;
    let content = format!(
        "Do not let two subagents edit `{file}` at once: they did, and one has to work on what the other wrote. Give it to one of them."
    );
    Some(Draft::new(Kind::Gotcha, content).about(vec![file.clone()]))
}
