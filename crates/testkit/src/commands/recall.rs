//! Commands that search and build contexts.

use std::collections::HashSet;
use std::path::PathBuf;

use engine::{
    ContextBlock, ContextRequest, DisabledStages, Error, NoteDetail, SearchPurpose, SearchQuery,
};
use model::{MemoryId, Phase, ProjectPath};

use super::ScriptLine;
use super::inspect::{filter, push_nothing_if_empty};
use crate::TestWorld;

pub(super) fn search_query(world: &mut TestWorld, line: &ScriptLine) -> Result<SearchQuery, Error> {
    let (filter, reach) = filter(world, line)?;
    let (text, phase, purpose) = (line.text_from(0), None, SearchPurpose::Search);
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

pub(super) fn search(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let question = search_query(world, line)?;
    let (answer, notice) = world.with_project(async |project| {
        let notice = project.embedding_indexer().embed_new_memories().await;
        Ok((project.retriever().search(&question).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(answer.notices);
    for it in answer.hits {
        let name = world.name_of(it.rated.memory.id);
        let because = match it.explanation.linked_from {
            Some(by) => format!("pulled in by {}", world.name_of(by)),
            None => format!("by {}", it.explanation.matched_terms.join(" ")),
        };
        acc.push(format!("{name} {:?} {because}", it.rated.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

/// Generated text, if there is any, then the evidence.
pub(super) fn ask(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let question = search_query(world, line)?;
    let (reply, notice) = world.with_project(async |project| {
        let notice = project.embedding_indexer().embed_new_memories().await;
        Ok((project.retriever().ask(&question).await?, notice))
    })?;
    acc.extend(notice);
    acc.extend(reply.results.notices);
    if let Some(prose) = reply.generated {
        let cited: Vec<String> = prose.cited_memories.iter().map(|it| world.name_of(*it)).collect();
        acc.push(format!("{} ({})", prose.text, cited.join(" ")));
    }
    for it in reply.results.hits {
        let name = world.name_of(it.rated.memory.id);
        acc.push(format!("{name} {:?}", it.rated.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

pub(super) fn context(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let mut occasion = context_request(world, line, &line.options("file"))?;
    occasion.task = line.text_from(0);
    let context = world.with_project(async |project| {
        let mut notice = None;
        if occasion.has_search_text() {
            notice = project.embedding_indexer().embed_new_memories().await;
        }
        let mut context = project.injector().start_context(&occasion).await?;
        context.notices.extend(notice);
        Ok(context)
    })?;
    push_context(world, line, context, acc);
    Ok(())
}

pub(super) fn file_context(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let occasion = context_request(world, line, &line.words)?;
    let context =
        world.with_project(async |project| project.injector().file_context(&occasion).await)?;
    push_context(world, line, context, acc);
    Ok(())
}

/// Notes for a step that accesses files; `--shown ID` names memories that were shown before.
pub(super) fn touch(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let files = paths(world, &line.words)?;
    let shown =
        line.options("shown").iter().filter_map(|it| world.resolve_id(it).parse().ok()).collect();
    let shown: HashSet<MemoryId> = shown;
    for it in world
        .with_project(async |project| project.retriever().file_warnings(&files, &shown).await)?
    {
        let name = world.name_of(it.memory.id);
        acc.push(format!("{name} {} {:?}", it.memory.kind, it.memory.content));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

fn context_request(
    world: &mut TestWorld,
    line: &ScriptLine,
    files: &[String],
) -> Result<ContextRequest, Error> {
    let phase = line.option("phase").map_or(Ok(Phase::Explore), |it| Phase::parse(&it))?;
    let (files, token_budget) = (paths(world, files)?, line.number_option("budget"));
    let detail = if line.has_switch("full") { NoteDetail::Full } else { NoteDetail::Summary };
    let (disabled_stages, request) = (without(line)?, ContextRequest::new(phase));
    Ok(ContextRequest { files, token_budget, detail, disabled_stages, ..request })
}

fn paths(world: &mut TestWorld, given: &[String]) -> Result<Vec<ProjectPath>, Error> {
    let cwd = world.cwd.clone();
    let path =
        |project: &engine::Project, it: &String| project.project_path(&PathBuf::from(it), &cwd);
    world.with_project(async |project| given.iter().map(|it| path(project, it)).collect())
}

fn without(line: &ScriptLine) -> Result<DisabledStages, Error> {
    let stages: Result<Vec<_>, _> =
        line.options("without").iter().map(|it| engine::RankingStage::parse(it)).collect();
    Ok(DisabledStages(stages?))
}

/// The lines inside the frame; with `--explain` also the reasons and the omitted memories.
fn push_context(
    world: &mut TestWorld,
    line: &ScriptLine,
    context: ContextBlock,
    acc: &mut Vec<String>,
) {
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
    if line.has_switch("explain") {
        for it in &context.placed {
            let doubts = it.hit.explanation.caveats.join("; ");
            let name = world.name_of(it.hit.rated.memory.id);
            acc.push(format!("  {name} worth {}: {doubts}", it.hit.rated.current_confidence));
        }
        for (hit, why) in &context.omitted {
            let name = world.name_of(hit.rated.memory.id);
            acc.push(format!("  without {name}: {}", why.description()));
        }
    }
    push_nothing_if_empty(acc);
}
