//! Commands that carry memories out, in, and away.

use engine::{Error, ImportOptions, ImportRecord, PurgeReport, RecordOutcome, RuleTrust};
use model::{
    Actor, DAY_MS, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryKind, MemoryScope,
    MemorySource, MemoryType, PerMille, ProjectPath, Relation, RelationKind, RelationTarget,
    SessionId, SoftStates, SymbolAnchor, UsageCounters, Visibility, WorkUnit,
};
use store::StoreChange;

use super::Line;
use super::change::{observed, on_secret, reach};
use super::stage::files;
use crate::random::id_bytes;
use crate::{World, print};

pub(super) fn export(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let reach = reach(line);
    let package = world.with(async |engine| engine.maintenance().export(reach).await)?;
    acc.push(format!(
        "{} memories, {} with a past, {} settings",
        package.memories.len(),
        package.versions.len(),
        package.settings.len()
    ));
    acc.extend(package.redacted.iter().map(|it| format!("{} masked", world.name(*it))));
    let record =
        |(nth, it): (usize, Memory)| ImportRecord { at: nth + 1, memory: Ok(Box::new(it)) };
    world.parcel = package.memories.into_iter().enumerate().map(record).collect();
    Ok(())
}

pub(super) fn import(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let how = ImportOptions {
        file: "parcel.json".to_owned(),
        scope: reach(line),
        is_vouched: line.has("vouched"),
        skip_invalid: line.has("skip"),
        on_secret: on_secret(line),
        dry_run: line.has("dry"),
    };
    let records = world.parcel.clone();
    let res = world.with(async |engine| engine.editor().import(records, how).await)?;
    for it in &res.outcomes {
        acc.push(match it {
            RecordOutcome::Added(id) => format!("{} added", world.name(*id)),
            RecordOutcome::Duplicate(id) => format!("{} known", world.name(*id)),
            RecordOutcome::Erased(id) => format!("{} erased", world.name(*id)),
        });
    }
    acc.extend(res.problems.iter().map(|it| format!("record {}: {}", it.at, it.what)));
    if !res.written {
        acc.push("nothing written".to_owned());
    }
    Ok(())
}

/// Takes the rules of the project's rule files in.
pub(super) fn rules(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let trust = if line.has("vouched") { RuleTrust::Vouched } else { RuleTrust::External };
    let res = world.with(async |engine| {
        let books = engine.editor().list_rules();
        engine.editor().import_rules(&books, trust).await
    })?;
    for it in &res.added {
        acc.push(format!("added: {}", print::memory(&world.name(it.id), it)));
    }
    for (it, before) in &res.changed {
        acc.push(format!("was {before:?}: {}", print::memory(&world.name(it.id), it)));
    }
    for it in &res.retired {
        acc.push(format!("retired: {}", print::memory(&world.name(it.id), it)));
    }
    acc.push(format!("{} known", res.n_known));
    Ok(())
}

/// Puts what a stranger wrote into the parcel.
pub(super) fn parcel(world: &mut World, line: &Line) {
    if line.has("empty") {
        world.parcel.clear();
        return;
    }
    let at = world.parcel.len() + 1;
    let memory = match line.one("bad") {
        Some(why) => Err(format!("{why} {}", line.text(0)).trim().to_owned()),
        None => Ok(Box::new(stranger(world, line))),
    };
    world.parcel.push(ImportRecord { at, memory });
}

/// Writes a record past the door, as an older version with weaker rules would have.
pub(super) fn smuggle(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let (reach, memory, now) = (reach(line), stranger(world, line), world.now);
    let id = memory.id;
    world.with(async |engine| {
        let notebook = engine.notebook(reach).await?;
        let project = notebook.project;
        let changes = vec![StoreChange::Insert(Box::new(Memory { project, ..memory }))];
        engine.writer(&notebook).apply(observed(now, changes)).await?;
        Ok(())
    })?;
    acc.push(format!("{} smuggled in", world.name(id)));
    Ok(())
}

/// A memory that claims whatever it likes: it is sure of itself, pinned and verified.
fn stranger(world: &World, line: &Line) -> Memory {
    let now = world.now;
    let target = |id: String| RelationTarget::Memory(id.parse().expect("a relation has a target"));
    let relation = |id: String| Relation {
        kind: RelationKind::DerivedFrom,
        target: target(world.id(&id)),
        confidence: PerMille::ONE,
        auto: false,
    };
    let text = line.text(0);
    let taken = line.one("like").and_then(|it| world.id(&it).parse().ok());
    let id = taken.unwrap_or_else(|| MemoryId::new(now, with_short(line.one("short"))));
    let hidden = |field: &str| line.one("hide").filter(|it| it == field).map(|_| text.clone());
    let path = |it: &str| ProjectPath::parse(it).expect("the path is relative");
    let anchor =
        |symbol: String| SymbolAnchor { file: path("src/a.rs"), symbol, hash: String::new() };
    let anchored = |file: String| SymbolAnchor {
        file: path(&file),
        symbol: "f".to_owned(),
        hash: String::new(),
    };
    let about = |file: String| Relation {
        kind: RelationKind::DerivedFrom,
        target: RelationTarget::File(path(&file)),
        confidence: PerMille::ONE,
        auto: false,
    };
    let anchors = hidden("anchor").map(anchor).into_iter();
    let relations = line.all("rests-on").into_iter().map(relation);
    let boasts = line.has("boast");
    let kind = hidden("type").map(|it| MemoryType::Custom(format!("custom:acme.{it}")));
    let plain = line.has("plain");
    let linked = |id: String| Relation { kind: RelationKind::RequiredWith, ..relation(id) };
    let linked = line.all("requires").into_iter().map(linked);
    let said = |name: &str| line.one(name).unwrap_or_default();
    let kind = kind.or_else(|| MemoryType::from_slug(&said("type")).ok());
    let files = line.all("file").into_iter().map(|it| path(&it));
    let work_unit =
        |label: String| WorkUnit { methodology: "native".to_owned(), hierarchy: Vec::new(), label };
    Memory {
        id,
        project: None,
        kind: kind.unwrap_or(MemoryType::Core(MemoryKind::Gotcha)),
        source: MemorySource::from_slug(&said("source")).unwrap_or(MemorySource::UserTaught),
        scope: MemoryScope::from_slug(&said("scope")).unwrap_or(MemoryScope::Global),
        visibility: Visibility::from_slug(&said("for")).unwrap_or(if boasts {
            Visibility::Organization
        } else {
            Visibility::Personal
        }),
        content: line.one("says").unwrap_or_else(|| text.clone()),
        summary: if plain { text.clone() } else { "a summary that says something else".to_owned() },
        citation: "else".to_owned(),
        confidence: PerMille::ONE,
        tags: line.all("tag"),
        files: hidden("file")
            .and_then(|it| ProjectPath::parse(&it).ok())
            .into_iter()
            .chain(files)
            .collect(),
        modules: line.all("module"),
        anchors: anchors.chain(hidden("anchor_file").map(anchored)).collect(),
        work_unit: hidden("work_unit").map(work_unit),
        session: line.number("session").map(session),
        provenance: Vec::new(),
        commit: hidden("commit"),
        branch: hidden("branch").or_else(|| line.one("branch")),
        relations: relations.chain(linked).chain(hidden("relation").map(about)).collect(),
        half_life_days: boasts.then_some(100_000),
        flags: MemoryFlags { user_verified: true, pinned: !plain, ..MemoryFlags::default() },
        states: SoftStates {
            deprecated_reason: hidden("reason"),
            stale_at: boasts.then_some(now),
            ..SoftStates::default()
        },
        payload: None,
        created_by: hidden("author").map_or(Actor::User, Actor::Agent),
        created_at: now.plus_millis(if boasts { 9_000 * DAY_MS } else { 0 }),
        updated_at: now,
        version: 1,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters { used_count: u64::from(boasts) * 999, ..UsageCounters::default() },
    }
}

/// A session by its number.
fn session(number: u32) -> SessionId {
    let mut bytes = [0; 10];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    SessionId::new(model::Timestamp(0), bytes)
}

/// The bytes of an id whose short form is as wished.
fn with_short(wished: Option<String>) -> [u8; 10] {
    let mut res = id_bytes();
    if let Some(number) = wished.and_then(|it| u32::from_str_radix(&it, 16).ok()) {
        res[6..].copy_from_slice(&number.to_be_bytes());
    }
    res
}

pub(super) fn purge(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let ids: Vec<String> = line.words.iter().map(|it| world.id(it)).collect();
    let text = line.text(1);
    let res = match line.word(0) {
        "secret" => world.with(async |engine| engine.maintenance().purge_secret(&text).await)?,
        "secrets" => world.with(async |engine| engine.maintenance().purge_secrets_found().await)?,
        "project" => world.with(async |engine| engine.purge_project().await)?,
        "everything" => world.wait(async |engine| engine?.purge_everything().await)?,
        _ => world.with(async |engine| engine.maintenance().purge_memories(&ids).await)?,
    };
    say(world, &res, acc);
    Ok(())
}

fn say(world: &mut World, res: &PurgeReport, acc: &mut Vec<String>) {
    let names: Vec<String> = res.memories.iter().map(|it| world.name(*it)).collect();
    let names = if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    let proof = match res.proof.found_in.len() {
        _ if res.proof.found_in_database => "still there inside".to_owned(),
        0 if res.proof.pieces > 0 && !res.proof.is_encrypted => "not found anywhere".to_owned(),
        0 if res.memories.is_empty() => "nothing to look for".to_owned(),
        0 => "no bytes to look for, not there inside".to_owned(),
        n => format!("still found in {n} files"),
    };
    acc.push(format!("purged {names}, {proof}"));
}

impl World {
    /// The files of the data folder that hold a text, whatever they are.
    pub fn files_with(&self, text: &str) -> Vec<String> {
        let holds = |bytes: Vec<u8>| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        let found = files(&self.data()).into_iter();
        let found = found.filter(|it| std::fs::read(it).is_ok_and(holds));
        found.map(|it| it.to_string_lossy().into_owned()).collect()
    }
}
