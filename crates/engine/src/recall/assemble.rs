//! From candidates to a context: check what they speak of, set contradictions side by side, pack.

use std::collections::{HashMap, HashSet};

use model::{Kind, Memory, MemoryId, MemoryType, PerMille, ProjectPath};
use observe::{Expected, Foreseen};
use recall::{
    Brief, Item, Purpose, Stage, Unpacked, Without, frame, pack, phase, pipeline, stale, tokens,
};
use store::WARNING_KINDS;

use super::ask::{Hit, PassedOver};
use super::context::{Context, FILES, Occasion, Omitted, Placement, Pool};
use super::fate::Fate;
use super::likeness::{Kinship, Likeness, attribution, overrides};
use crate::{Engine, Error, Shown};

/// How many of the best are checked against the working tree, compared and packed, and how many of
/// each type whatever the others are worth: a phase keeps room for some.
const CHECKED: usize = 60;
const PER_TYPE: usize = 12;
/// Puts warnings about the files at hand before everything; scores are a few units at most.
const FIRST: f32 = 100.0;
/// How many characters of a report are kept: who failed knows it, and it is there to be told from others.
const REPORT: usize = 1_200;

/// Stands before the errors to expect.
const EXPECTED: &str = "What failed in earlier sessions here, command and answer:";

/// Stands before the files that a task will need.
const NEEDED: &str = "Files that sessions on such work opened:";

/// Stands before what is said of the project itself.
const MAPPED: &str = "This project, as its files say:";

/// A memory that may be shown.
struct Entry {
    hit: Hit,
    /// Its files by their names now, those at hand first.
    files: Vec<ProjectPath>,
    remarks: Vec<String>,
}

/// Memories that contradict one another and so stand together, the one that counts most first. Most
/// groups have one member.
type Group = Vec<Entry>;

impl Engine {
    pub(super) async fn assemble(
        &self,
        occasion: &Occasion,
        purpose: Purpose,
        mut pool: Pool,
    ) -> Result<Context, Error> {
        let (seen, hits): (Vec<Hit>, Vec<Hit>) = std::mem::take(&mut pool.hits)
            .into_iter()
            .partition(|it| occasion.already_shown.contains(&it.shown.memory.id));
        let shown = Omitted::PassedOver(PassedOver::Shown);
        pool.left_out.extend(seen.into_iter().map(|it| (it, shown)));
        let read = self.read_by(occasion.host);
        let (own, hits): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|it| read.contains(&it.shown.memory.content));
        let own = own.into_iter();
        pool.left_out.extend(own.map(|it| (it, Omitted::PassedOver(PassedOver::ReadByHost))));
        let is_due =
            |it: &Memory| !occasion.general || is_general(it) || occasion.lost.contains(&it.id);
        let (hits, special): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|it| is_due(&it.shown.memory));
        let special = special.into_iter();
        pool.left_out.extend(special.map(|it| (it, Omitted::PassedOver(PassedOver::Special))));
        let (hits, misplaced): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|it| self.has_place(&it.shown.memory, occasion));
        let misplaced = misplaced.into_iter();
        pool.left_out.extend(misplaced.map(|it| (it, Omitted::PassedOver(PassedOver::OutOfPhase))));
        let hits = best_first(hits);
        let (hits, beyond) = within_reach(hits);
        let fates = self.fates(hits.iter().map(|it| &it.shown.memory)).await;
        let mut entries = Vec::new();
        for (hit, fate) in hits.into_iter().zip(fates) {
            match checked(hit, fate, occasion, purpose) {
                Ok(entry) => entries.push(entry),
                Err((hit, why)) => pool.left_out.push((*hit, Omitted::PassedOver(why))),
            }
        }
        let omitted = Omitted::PassedOver(PassedOver::Beyond);
        pool.left_out.extend(beyond.into_iter().map(|it| (it, omitted)));
        entries.sort_by(|a, b| by_score(&a.hit, &b.hit));
        let hits: Vec<Hit> = entries.iter().map(|it| it.hit.clone()).collect();
        let likeness = self.likeness(&hits).await?;
        pool.notices.extend(likeness.notice());
        let mut groups = Vec::new();
        for entry in entries {
            if let Err((hit, of)) = join(&mut groups, entry, &likeness, &occasion.without) {
                let why = PassedOver::Duplicate(of);
                pool.left_out.push((*hit, Omitted::PassedOver(why)));
            }
        }
        groups.iter_mut().filter(|it| it.len() > 1).for_each(remark);
        Ok(self.packed(occasion, groups, &likeness, pool))
    }

    fn packed(
        &self,
        occasion: &Occasion,
        groups: Vec<Group>,
        likeness: &Likeness,
        pool: Pool,
    ) -> Context {
        let budget = occasion.budget.unwrap_or(phase::row(occasion.phase).budget);
        let outlook = Extra::of(EXPECTED, &pool.outlook, budget / 2);
        let lines: Vec<&str> = pool.excerpt.iter().map(|it| it.line.as_str()).collect();
        let excerpt = Extra::of(MAPPED, &lines.join("\n"), budget / 5);
        let needed = Extra::of(NEEDED, &needed(pool.foreseen.as_ref()), budget / 5);
        let items: Vec<Item> = groups
            .iter()
            .zip(0..)
            .map(|(group, key)| Item {
                key,
                kind: group[0].hit.shown.memory.kind.clone(),
                score: group[0].hit.score + if warns(&group[0], occasion) { FIRST } else { 0.0 },
                text: self.lines(group, occasion).join("\n"),
                files: group[0].files.clone(),
                section: self.section(&group[0].hit.shown.memory, occasion).unwrap_or_default(),
            })
            .collect();
        let sections = occasion.pipeline.map_or(&[][..], |it| it.row().sections);
        let foot = foot(&occasion.report);
        let brief = Brief {
            phase: occasion.phase,
            budget: budget - outlook.cost - excerpt.cost - needed.cost,
            head: frame::HEAD,
            foot: &foot,
            duplicate: likeness.duplicate(),
            sections,
        };
        let similar =
            |a: u32, b: u32| similarity(&groups[a as usize], &groups[b as usize], likeness);
        let apart = |_, _| None;
        let packed = if occasion.without.has(Stage::Duplicates) {
            pack(&items, &brief, &apart)
        } else {
            pack(&items, &brief, &similar)
        };
        let mut placed = Vec::new();
        for it in &packed.chosen {
            let group = &groups[it.key as usize];
            let lines = self.lines(group, occasion);
            let costs: Vec<u32> = lines.iter().map(|it| tokens(&format!("{it}\n"))).collect();
            let section = self.section(&group[0].hit.shown.memory, occasion);
            let heading = it.cost.saturating_sub(costs.iter().sum());
            for (nth, (entry, cost)) in group.iter().zip(costs).enumerate() {
                placed.push(Placement {
                    hit: entry.hit.clone(),
                    file: it.file.clone(),
                    section: section.and_then(|it| Some(sections.get(it)?.title)),
                    cost: cost + if nth == 0 { heading } else { 0 },
                    paid_by: it.paid_by,
                });
            }
        }
        let mut left_out = pool.left_out;
        for (key, why) in &packed.left_out {
            let why = match *why {
                Unpacked::OverBudget { cost, left } => Omitted::OverBudget { cost, left },
                Unpacked::Duplicate { of, .. } => {
                    let of = groups[of as usize][0].hit.shown.memory.id;
                    Omitted::PassedOver(PassedOver::Duplicate(of))
                }
            };
            left_out.extend(groups[*key as usize].iter().map(|it| (it.hit.clone(), why)));
        }
        left_out.sort_by(|a, b| by_score(&a.0, &b.0));
        let Pool { class, verdict, notices, excerpt: told, foreseen, .. } =
            Pool { left_out: Vec::new(), ..pool };
        let told = told.into_iter().filter(|_| excerpt.cost > 0).map(|it| it.word);
        let told = told.chain((needed.cost > 0).then(|| FILES.to_owned())).collect();
        let text = outlook.added_to(excerpt.added_to(needed.added_to(packed.text)));
        let (used, outlook, phase) = (tokens(&text), outlook.lines, occasion.phase);
        Context {
            text,
            used,
            budget,
            phase,
            outlook,
            told,
            foreseen,
            placed,
            left_out,
            class,
            verdict,
            notices,
        }
    }

    /// The members of a group as they are shown.
    fn lines(&self, group: &Group, occasion: &Occasion) -> Vec<String> {
        let line = |it: &Entry| match occasion.pipeline {
            Some(_) if !occasion.full => {
                let memory = &it.hit.shown.memory;
                self.note(memory, &pipeline::said(memory), &it.remarks)
            }
            _ => self.line(&it.hit, occasion.full, &it.remarks),
        };
        group.iter().map(line).collect()
    }

    /// Whether a context has a place for a memory; only one with sections may have none.
    fn has_place(&self, memory: &Memory, occasion: &Occasion) -> bool {
        occasion.pipeline.is_none() || self.section(memory, occasion).is_some()
    }

    fn section(&self, memory: &Memory, occasion: &Occasion) -> Option<usize> {
        occasion.pipeline?.section_of(memory, self.now)
    }

    /// A memory as a model is shown it: its summary, or the whole text.
    pub(super) fn line(&self, hit: &Hit, full: bool, remarks: &[String]) -> String {
        let memory = &hit.shown.memory;
        let text =
            if full || memory.summary.is_empty() { &memory.content } else { &memory.summary };
        self.note(memory, text, remarks)
    }

    /// A text of a memory, as a model is shown it.
    pub(super) fn note(&self, memory: &Memory, text: &str, remarks: &[String]) -> String {
        let (label, id) = (self.label(&memory.kind), memory.id.short());
        frame::line(&frame::Note { label: &label, text, id: &id, remarks })
    }

    /// The word at the head of a line; a type of a methodology has the one it was declared with.
    fn label(&self, kind: &MemoryType) -> String {
        if let Some(core) = kind.core() {
            return core.row().label.to_owned();
        }
        let declared = self.config.types.iter().find(|it| it.slug == kind.slug());
        declared.map_or_else(|| kind.slug().to_owned(), |it| it.label.clone())
    }
}

/// Something that is no memory, on its way into a block: the errors to expect, the map.
struct Extra {
    title: &'static str,
    lines: String,
    /// The most tokens it takes, the block around it included.
    cost: u32,
}

impl Extra {
    /// What would take more than `most` tokens is not told: the budget is there for memories.
    fn of(title: &'static str, lines: &str, most: u32) -> Self {
        let lines: Vec<String> = lines.lines().map(frame::neutral).collect();
        let lines = lines.join("\n");
        let cost = tokens(&format!("{}\n{title}\n{lines}\n{}\n", frame::HEAD, frame::FOOT));
        if lines.is_empty() || cost > most {
            return Self { title, lines: String::new(), cost: 0 };
        }
        Self { title, lines, cost }
    }

    fn added_to(&self, block: String) -> String {
        if self.lines.is_empty() {
            return block;
        }
        let before = block.trim_end().strip_suffix(frame::FOOT).unwrap_or(frame::HEAD);
        format!("{}\n{}\n{}\n{}", before.trim_end(), self.title, self.lines, frame::FOOT)
    }
}

/// A line for each file that a task will need.
fn needed(foreseen: Option<&Foreseen>) -> String {
    let Some(Foreseen { files, alike, .. }) = foreseen else { return String::new() };
    let line = |it: &Expected| format!("`{}`: {} of {alike} sessions", it.path, it.sessions);
    files.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The end of a block, behind what was reported as failed, if anything was.
fn foot(report: &str) -> String {
    let report = frame::neutral(report);
    if report.is_empty() {
        return frame::FOOT.to_owned();
    }
    let cut: String = report.chars().take(REPORT).collect();
    let more = if cut.len() < report.len() { " …" } else { "" };
    format!("The report that failed:\n    {cut}{more}\n{}", frame::FOOT)
}

/// Whether a memory concerns any work, whichever file it is in.
fn is_general(memory: &Memory) -> bool {
    let recurs = memory.kind.core() == Some(Kind::ErrorPattern);
    memory.flags.pinned || memory.files.is_empty() || recurs
}

/// Best first, each memory once.
fn best_first(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(by_score);
    let mut known = HashSet::new();
    hits.retain(|it| known.insert(it.shown.memory.id));
    hits
}

/// Parts what is looked at closely from what is not.
fn within_reach(hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    let mut of_type: HashMap<MemoryType, usize> = HashMap::new();
    let (mut near, mut beyond) = (Vec::new(), Vec::new());
    for hit in hits {
        let n_before = of_type.entry(hit.shown.memory.kind.clone()).or_default();
        *n_before += 1;
        if near.len() < CHECKED || *n_before <= PER_TYPE {
            near.push(hit);
        } else {
            beyond.push(hit);
        }
    }
    (near, beyond)
}

fn by_score(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.shown.memory.id.cmp(&b.shown.memory.id))
}

/// Holds a hit against what has become of its files; what may not be shown comes back with the
/// reason. What a linked memory pulled in is held to the same rules as what was found.
fn checked(
    mut hit: Hit,
    fate: Fate,
    occasion: &Occasion,
    purpose: Purpose,
) -> Result<Entry, (Box<Hit>, PassedOver)> {
    let row = purpose.row();
    let without = &occasion.without;
    hit.because.doubts = fate.doubts;
    if fate.gone {
        return Err((Box::new(hit), PassedOver::FilesGone));
    }
    if fate.unbound {
        return Err((Box::new(hit), PassedOver::SymbolsGone));
    }
    if without.keeps(Stage::Trust) {
        let factor = stale::factor(fate.changed);
        hit.shown.current = stale::lowered(hit.shown.current, fate.changed);
        hit.because.factors.confidence *= factor;
        hit.because.factors.score *= factor;
        hit.score *= factor;
        if hit.shown.current < row.least {
            return Err((Box::new(hit), PassedOver::Unsure));
        }
        if !is_trusted(&hit.shown, occasion.above) {
            return Err((Box::new(hit), PassedOver::Untrusted));
        }
    }
    let kind = &hit.shown.memory.kind;
    if without.keeps(Stage::Phase) && phase::is_out(occasion.phase, kind) {
        return Err((Box::new(hit), PassedOver::OutOfPhase));
    }
    let mut files = fate.files;
    files.sort_by_key(|it| !occasion.files.contains(it));
    let mut remarks = Vec::new();
    if fate.changed >= stale::WORTH_SAYING {
        remarks.push("what it speaks of has changed since: check".to_owned());
    }
    Ok(Entry { hit, files, remarks })
}

/// Whether the trust level lets it be said unasked; what a person pinned is.
pub(super) fn is_trusted(shown: &Shown, above: PerMille) -> bool {
    shown.memory.flags.pinned || above == PerMille::ZERO || shown.current > above
}

/// Whether it is a warning about a file at hand.
fn warns(entry: &Entry, occasion: &Occasion) -> bool {
    let kind = entry.hit.shown.memory.kind.core();
    WARNING_KINDS.iter().any(|it| Some(*it) == kind)
        && entry.files.iter().any(|it| occasion.files.contains(it))
}

/// Sets a memory beside those it contradicts. One that repeats a member of such a group comes back
/// with the other's id; repetition elsewhere is up to the packing, which knows what has a place.
fn join(
    groups: &mut Vec<Group>,
    entry: Entry,
    likeness: &Likeness,
    without: &Without,
) -> Result<(), (Box<Hit>, MemoryId)> {
    let kinship = |it: &Entry| likeness.between(&it.hit.shown.memory, &entry.hit.shown.memory);
    let mut at = None;
    for (nth, group) in groups.iter().enumerate() {
        let kinships: Vec<Kinship> = group.iter().map(kinship).collect();
        let same = kinships.iter().position(|it| matches!(it, Kinship::Same(_)));
        if let Some(same) = same.filter(|_| group.len() > 1 && without.keeps(Stage::Duplicates)) {
            return Err((Box::new(entry.hit), group[same].hit.shown.memory.id));
        }
        if kinships.contains(&Kinship::Contradicts) {
            at = Some(nth);
            break;
        }
    }
    match at.map(|it| &mut groups[it]) {
        None => groups.push(vec![entry]),
        Some(group) if overrides(&entry.hit.shown, &group[0].hit.shown) => group.insert(0, entry),
        Some(group) => group.push(entry),
    }
    Ok(())
}

/// Says in each line how the members of a group stand to one another.
fn remark(group: &mut Group) {
    let (lead, others) = group.split_first_mut().expect("a group has members");
    let of_lead = lead.hit.shown.memory.id.short();
    lead.remarks.insert(0, attribution(&lead.hit.shown).to_owned());
    for other in others {
        let of_other = other.hit.shown.memory.id.short();
        let (says, said) = if overrides(&lead.hit.shown, &other.hit.shown) {
            ("overrides", "overridden by")
        } else {
            ("contradicts", "contradicts")
        };
        lead.remarks.push(format!("{says} #{of_other}"));
        other.remarks.insert(0, attribution(&other.hit.shown).to_owned());
        other.remarks.push(format!("{said} #{of_lead}"));
        lead.hit.because.doubts.push(format!("{says} #{of_other}"));
        other.hit.because.doubts.push(format!("{said} #{of_lead}"));
    }
}

/// How alike two groups are; those with several members say several things.
fn similarity(a: &Group, b: &Group, likeness: &Likeness) -> Option<PerMille> {
    let ([a], [b]) = (a.as_slice(), b.as_slice()) else {
        return None;
    };
    match likeness.between(&a.hit.shown.memory, &b.hit.shown.memory) {
        Kinship::Same(similarity) => Some(similarity),
        Kinship::Apart | Kinship::Contradicts => None,
    }
}
