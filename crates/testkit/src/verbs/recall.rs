//! Commands that ask memory a question or have it make a context.

use std::collections::HashSet;
use std::path::PathBuf;

use engine::{
    ContextBlock, ContextRequest, DisabledStages, Error, NoteDetail, SearchPurpose, SearchQuery,
};
use model::{MemoryId, Phase, ProjectPath};

use super::Line;
use super::look::{filter, said};
use crate::World;

pub(super) fn question(world: &mut World, line: &Line) -> Result<SearchQuery, Error> {
    let (filter, reach) = filter(world, line)?;
    let (text, phase, purpose) = (line.text(0), None, SearchPurpose::Search);
    let files = Vec::new();
    Ok(SearchQuery {
        text,
        files,
        filter,
        scope: reach,
        phase,
        purpose,
        disabled_stages: without(line)?,
    })
}

pub(super) fn search(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let question = question(world, line)?;
    let (answer, notice) = world.with(async |engine| {
        let notice = engine.embedding_indexer().embed_before_search().await;
        Ok((engine.retriever().search(&question).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(answer.notices);
    for it in answer.hits {
        let name = world.name(it.rated.memory.id);
        let because = match it.explanation.linked_from {
            Some(by) => format!("pulled in by {}", world.name(by)),
            None => format!("by {}", it.explanation.matched_terms.join(" ")),
        };
        acc.push(format!("{name} {:?} {because}", it.rated.memory.content));
    }
    said(acc);
    Ok(())
}

/// Prose, if anybody wrote some, then the evidence.
pub(super) fn ask(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let question = question(world, line)?;
    let (reply, notice) = world.with(async |engine| {
        let notice = engine.embedding_indexer().embed_before_search().await;
        Ok((engine.retriever().ask(&question).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(reply.results.notices);
    if let Some(prose) = reply.generated {
        let cited: Vec<String> = prose.cited_memories.iter().map(|it| world.name(*it)).collect();
        acc.push(format!("{} ({})", prose.text, cited.join(" ")));
    }
    for it in reply.results.hits {
        let name = world.name(it.rated.memory.id);
        acc.push(format!("{name} {:?}", it.rated.memory.content));
    }
    said(acc);
    Ok(())
}

pub(super) fn context(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let mut occasion = occasion(world, line, &line.all("file"))?;
    occasion.task = line.text(0);
    let context = world.with(async |engine| {
        let mut notice = None;
        if occasion.has_search_text() {
            notice = engine.embedding_indexer().embed_before_search().await;
        }
        let mut context = engine.injector().start_context(&occasion).await?;
        context.notices.extend(notice);
        Ok(context)
    })?;
    say(world, line, context, acc);
    Ok(())
}

pub(super) fn about(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let occasion = occasion(world, line, &line.words)?;
    let context = world.with(async |engine| engine.injector().file_context(&occasion).await)?;
    say(world, line, context, acc);
    Ok(())
}

/// What is said at a step that touches files, with `--shown ID` for what was said before.
pub(super) fn touch(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let files = paths(world, &line.words)?;
    let shown = line.all("shown").iter().filter_map(|it| world.id(it).parse().ok()).collect();
    let shown: HashSet<MemoryId> = shown;
    for it in world.with(async |engine| engine.retriever().file_warnings(&files, &shown).await)? {
        let name = world.name(it.memory.id);
        acc.push(format!("{name} {} {:?}", it.memory.kind, it.memory.content));
    }
    said(acc);
    Ok(())
}

fn occasion(world: &mut World, line: &Line, files: &[String]) -> Result<ContextRequest, Error> {
    let phase = line.one("phase").map_or(Ok(Phase::Explore), |it| Phase::parse(&it))?;
    let (files, token_budget) = (paths(world, files)?, line.number("budget"));
    let detail = if line.has("full") { NoteDetail::Full } else { NoteDetail::Summary };
    let (disabled_stages, request) = (without(line)?, ContextRequest::new(phase));
    Ok(ContextRequest { files, token_budget, detail, disabled_stages, ..request })
}

fn paths(world: &mut World, given: &[String]) -> Result<Vec<ProjectPath>, Error> {
    let cwd = world.cwd.clone();
    let path =
        |engine: &engine::Project, it: &String| engine.project_path(&PathBuf::from(it), &cwd);
    world.with(async |engine| given.iter().map(|it| path(engine, it)).collect())
}

fn without(line: &Line) -> Result<DisabledStages, Error> {
    let stages: Result<Vec<_>, _> =
        line.all("without").iter().map(|it| engine::RankingStage::parse(it)).collect();
    Ok(DisabledStages(stages?))
}

/// The lines between head and foot; with `--explain` also why, and what was left out.
fn say(world: &mut World, line: &Line, context: ContextBlock, acc: &mut Vec<String>) {
    assert_eq!(
        context.used_tokens,
        engine::estimate_tokens(&context.text),
        "what is counted is what is shown"
    );
    assert!(context.used_tokens <= context.token_budget, "a budget is kept");
    acc.extend(context.notices.clone());
    let lines: Vec<&str> = context.text.lines().collect();
    if let [_, _, lines @ .., _] = &lines[..] {
        acc.extend(lines.iter().map(|it| (*it).to_owned()));
    }
    if line.has("explain") {
        for it in &context.placed {
            let doubts = it.hit.explanation.caveats.join("; ");
            let name = world.name(it.hit.rated.memory.id);
            acc.push(format!("  {name} worth {}: {doubts}", it.hit.rated.current_confidence));
        }
        for (hit, why) in &context.omitted {
            let name = world.name(hit.rated.memory.id);
            acc.push(format!("  without {name}: {}", why.description()));
        }
    }
    said(acc);
}
