//! Commands that ask memory a question or have it make a context.

use std::collections::HashSet;
use std::path::PathBuf;

use engine::{Context, Error, Occasion, Purpose, Question, Without};
use model::{MemoryId, Phase, ProjectPath};

use super::Line;
use super::look::{filter, said};
use crate::World;

pub(super) fn question(world: &mut World, line: &Line) -> Result<Question, Error> {
    let (filter, reach) = filter(world, line)?;
    let (text, phase, purpose) = (line.text(0), None, Purpose::Search);
    let files = Vec::new();
    Ok(Question { text, files, filter, reach, phase, purpose, without: without(line)? })
}

pub(super) fn search(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let question = question(world, line)?;
    let answer = world.with(async |engine| engine.recall(&question).await)?;
    acc.extend(answer.notices);
    for it in answer.hits {
        let name = world.name(it.shown.memory.id);
        let because = match it.because.pulled_by {
            Some(by) => format!("pulled in by {}", world.name(by)),
            None => format!("by {}", it.because.words.join(" ")),
        };
        acc.push(format!("{name} {:?} {because}", it.shown.memory.content));
    }
    said(acc);
    Ok(())
}

/// Prose, if anybody wrote some, then the evidence.
pub(super) fn ask(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let question = question(world, line)?;
    let reply = world.with(async |engine| engine.ask(&question).await)?;
    acc.extend(reply.answer.notices);
    if let Some(prose) = reply.prose {
        let cited: Vec<String> = prose.cited.iter().map(|it| world.name(*it)).collect();
        acc.push(format!("{} ({})", prose.text, cited.join(" ")));
    }
    for it in reply.answer.hits {
        let name = world.name(it.shown.memory.id);
        acc.push(format!("{name} {:?}", it.shown.memory.content));
    }
    said(acc);
    Ok(())
}

pub(super) fn context(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let mut occasion = occasion(world, line, &line.all("file"))?;
    occasion.task = line.text(0);
    let context = world.with(async |engine| engine.context_start(&occasion).await)?;
    say(world, line, context, acc);
    Ok(())
}

pub(super) fn about(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let occasion = occasion(world, line, &line.words)?;
    let context = world.with(async |engine| engine.context_file(&occasion).await)?;
    say(world, line, context, acc);
    Ok(())
}

/// What is said at a step that touches files, with `--shown ID` for what was said before.
pub(super) fn touch(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let files = paths(world, &line.words)?;
    let shown = line.all("shown").iter().filter_map(|it| world.id(it).parse().ok()).collect();
    let shown: HashSet<MemoryId> = shown;
    for it in world.with(async |engine| engine.by_file(&files, &shown).await)? {
        let name = world.name(it.memory.id);
        acc.push(format!("{name} {} {:?}", it.memory.kind, it.memory.content));
    }
    said(acc);
    Ok(())
}

fn occasion(world: &mut World, line: &Line, files: &[String]) -> Result<Occasion, Error> {
    let phase = line.one("phase").map_or(Ok(Phase::Explore), |it| Phase::parse(&it))?;
    let (files, budget, full) = (paths(world, files)?, line.number("budget"), line.has("full"));
    Ok(Occasion { files, budget, full, without: without(line)?, ..Occasion::of(phase) })
}

fn paths(world: &mut World, given: &[String]) -> Result<Vec<ProjectPath>, Error> {
    let cwd = world.cwd.clone();
    let path = |engine: &engine::Engine, it: &String| engine.path(&PathBuf::from(it), &cwd);
    world.with(async |engine| given.iter().map(|it| path(engine, it)).collect())
}

fn without(line: &Line) -> Result<Without, Error> {
    let stages: Result<Vec<_>, _> =
        line.all("without").iter().map(|it| engine::Stage::parse(it)).collect();
    Ok(Without(stages?))
}

/// The lines between head and foot; with `--explain` also why, and what was left out.
fn say(world: &mut World, line: &Line, context: Context, acc: &mut Vec<String>) {
    assert_eq!(context.used, engine::tokens(&context.text), "what is counted is what is shown");
    assert!(context.used <= context.budget, "a budget is kept");
    acc.extend(context.notices.clone());
    let lines: Vec<&str> = context.text.lines().collect();
    if let [_, _, lines @ .., _] = &lines[..] {
        acc.extend(lines.iter().map(|it| (*it).to_owned()));
    }
    if line.has("explain") {
        for it in &context.placed {
            let doubts = it.hit.because.doubts.join("; ");
            let name = world.name(it.hit.shown.memory.id);
            acc.push(format!("  {name} worth {}: {doubts}", it.hit.shown.current));
        }
        for (hit, why) in &context.left_out {
            let name = world.name(hit.shown.memory.id);
            acc.push(format!("  without {name}: {}", why.reading()));
        }
    }
    said(acc);
}
