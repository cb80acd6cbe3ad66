//! From ranked memories to a context within a budget of tokens.
//!
//! Each type has first claim on its share; what a share does not use goes to the next best. What
//! is chosen is laid out by file and rendered here, and lines add up exactly in [`tokens`], so what
//! is counted is what is shown. Scores come in; nothing here changes an order or shortens a text.
//! A stage of a pipeline has sections in place of types and files.

use model::{MemoryType, PerMille, Phase, ProjectPath};

use crate::pipeline::Section;
use crate::tokens::tokens;
use crate::{frame, phase};

/// A memory that could be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub key: u32,
    pub kind: MemoryType,
    pub score: f32,
    /// As it would be shown, with its citation; may be several lines.
    pub text: String,
    /// The files it is about, the most telling first.
    pub files: Vec<ProjectPath>,
    /// Where it stands among the sections, when there are any.
    pub section: usize,
}

/// What a context is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    pub phase: Phase,
    /// Tokens of the whole text, `head` and `foot` included.
    pub budget: u32,
    /// Stands before everything; nothing when empty.
    pub head: &'a str,
    pub foot: &'a str,
    /// Two memories at least this similar are not both shown; depends on the embedding model.
    pub duplicate: PerMille,
    /// What the text is divided into; none divides it by file.
    pub sections: &'static [Section],
}

/// A context, and what became of every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Empty when nothing was chosen.
    pub text: String,
    /// Tokens of `text`.
    pub used: u32,
    /// In the order of the text.
    pub chosen: Vec<Placed>,
    /// Best first.
    pub left_out: Vec<(u32, Unpacked)>,
}

/// A memory in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub key: u32,
    /// The file it stands under; memories about no file come first.
    pub file: Option<ProjectPath>,
    /// Tokens it added, those of a new heading included.
    pub cost: u32,
    pub paid_by: PaidBy,
}

/// Where the room for a memory came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaidBy {
    /// The share of its type.
    Share,
    /// What other types left.
    Rest,
}

/// Why a memory is not in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// It needs `cost` tokens, and `left` were left at the end.
    OverBudget { cost: u32, left: u32 },
    /// It says nearly what a chosen one says.
    Duplicate { of: u32, similarity: PerMille },
}

/// Fills a context with the best of the items. `similar` compares two keys; `None` when it cannot.
pub fn pack(
    items: &[Item],
    brief: &Brief<'_>,
    similar: &dyn Fn(u32, u32) -> Option<PerMille>,
) -> Packed {
    let row = phase::row(brief.phase);
    let frame = tokens(&edge(brief.head)).saturating_add(tokens(&edge(brief.foot)));
    let room = brief.budget.saturating_sub(frame);
    let mut table = Table { brief, similar, left: room, places: ranked(items) };
    let by_type = row.shares.iter().map(|it| it.1).chain([row.other]);
    let by_section = brief.sections.iter().map(|it| it.share);
    let is_divided = !brief.sections.is_empty();
    let shares: Vec<u16> = if is_divided { by_section.collect() } else { by_type.collect() };
    let mut shares: Vec<u32> = shares.into_iter().map(|it| share(room, it)).collect();
    for i in 0..table.places.len() {
        let item = table.places[i].item;
        let of = if is_divided { item.section } else { phase::share_of(row, &item.kind) };
        let Some(share) = shares.get_mut(of) else { continue };
        *share -= table.offer(i, *share, PaidBy::Share);
    }
    loop {
        let before = table.left;
        (0..table.places.len()).for_each(|i| {
            table.offer(i, table.left, PaidBy::Rest);
        });
        // Once more: a heading that is there now makes room for what did not fit with one of its own.
        if table.left == before {
            return table.render();
        }
    }
}

/// The items on their way to a place, best first.
struct Table<'a> {
    brief: &'a Brief<'a>,
    similar: &'a dyn Fn(u32, u32) -> Option<PerMille>,
    left: u32,
    places: Vec<Place<'a>>,
}

struct Place<'a> {
    item: &'a Item,
    /// Tokens of the text alone.
    cost: u32,
    fate: Fate<'a>,
}

enum Fate<'a> {
    Open,
    Chosen { file: Option<&'a ProjectPath>, cost: u32, paid_by: PaidBy },
    Duplicate { of: u32, similarity: PerMille },
}

impl<'a> Table<'a> {
    /// Gives an item a place if it is open, fits and is new; says what that cost.
    fn offer(&mut self, i: usize, room: u32, paid_by: PaidBy) -> u32 {
        if !matches!(self.places[i].fate, Fate::Open) {
            return 0;
        }
        let (file, cost) = self.home(i);
        if cost > room {
            return 0;
        }
        if let Some((of, similarity)) = self.twin(self.places[i].item.key) {
            self.places[i].fate = Fate::Duplicate { of, similarity };
            return 0;
        }
        self.places[i].fate = Fate::Chosen { file, cost, paid_by };
        self.left -= cost;
        cost
    }

    /// The file an item would stand under, one that has a heading before others, and what it would add.
    /// In a section it stands under no file.
    fn home(&self, i: usize) -> (Option<&'a ProjectPath>, u32) {
        let Place { item, cost, .. } = &self.places[i];
        if let Some(section) = self.brief.sections.get(item.section) {
            let begun = self.chosen().any(|(it, _)| it.section == item.section);
            let title = if begun { 0 } else { tokens(&line(section.title)) };
            return (None, cost.saturating_add(title));
        }
        let known = item.files.iter().find(|it| self.chosen().any(|(_, file)| file == Some(*it)));
        match known.or(item.files.first()) {
            Some(file) if known.is_none() => {
                (Some(file), cost.saturating_add(tokens(&heading(file))))
            }
            file => (file, *cost),
        }
    }

    fn twin(&self, key: u32) -> Option<(u32, PerMille)> {
        self.chosen().find_map(|(item, _)| {
            let same = (item.key == key).then_some(PerMille::ONE);
            let similarity = same.or_else(|| (self.similar)(item.key, key))?;
            (similarity >= self.brief.duplicate).then_some((item.key, similarity))
        })
    }

    fn chosen(&self) -> impl Iterator<Item = (&'a Item, Option<&'a ProjectPath>)> + '_ {
        self.places.iter().filter_map(|it| match it.fate {
            Fate::Chosen { file, .. } => Some((it.item, file)),
            Fate::Open | Fate::Duplicate { .. } => None,
        })
    }

    fn render(self) -> Packed {
        // Files in the order of their best memory, behind what is about none.
        let mut files = vec![None];
        files.extend(self.chosen().map(|(_, file)| file));
        let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
        for (i, Place { item, fate, .. }) in self.places.iter().enumerate() {
            match *fate {
                Fate::Chosen { file, cost, paid_by } => {
                    let placed = Placed { key: item.key, file: file.cloned(), cost, paid_by };
                    let section = self.brief.sections.get(item.section).map(|_| item.section);
                    let place = (section, files.iter().position(|it| *it == file));
                    chosen.push((place, *item, placed));
                }
                Fate::Duplicate { of, similarity } => {
                    left_out.push((item.key, Unpacked::Duplicate { of, similarity }));
                }
                Fate::Open => {
                    let cost = self.home(i).1;
                    left_out.push((item.key, Unpacked::OverBudget { cost, left: self.left }));
                }
            }
        }
        chosen.sort_by_key(|(place, ..)| *place);
        let text = text(self.brief, &chosen);
        let used = tokens(&text);
        Packed { text, used, chosen: chosen.into_iter().map(|it| it.2).collect(), left_out }
    }
}

fn text<T: PartialEq>(brief: &Brief<'_>, chosen: &[(T, &Item, Placed)]) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let mut res = edge(brief.head);
    for group in chosen.chunk_by(|a, b| a.0 == b.0) {
        let (_, first, placed) = &group[0];
        res.extend(brief.sections.get(first.section).map(|it| line(it.title)));
        res.extend(placed.file.as_ref().map(heading));
        res.extend(group.iter().map(|(_, item, _)| line(&item.text)));
    }
    res + &edge(brief.foot)
}

/// A file's name is as much somebody else's text as a memory is.
fn heading(file: &ProjectPath) -> String {
    format!("{}:\n", frame::neutral(file.as_str()))
}

/// A text that ends in a line break, so that it adds up with others.
fn line(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The head or foot; none is no line.
fn edge(text: &str) -> String {
    if text.is_empty() { String::new() } else { line(text) }
}

fn share(room: u32, thousandths: u16) -> u32 {
    let res = u64::from(room) * u64::from(thousandths) / 1000;
    u32::try_from(res).expect("a share is no larger than the whole")
}

/// Best first, equals by key; a score that is no number comes last.
fn ranked(items: &[Item]) -> Vec<Place<'_>> {
    let number = |it: f32| if it.is_nan() { f32::NEG_INFINITY } else { it };
    let mut res: Vec<Place<'_>> = items
        .iter()
        .map(|item| Place { item, cost: tokens(&line(&item.text)), fate: Fate::Open })
        .collect();
    res.sort_by(|a, b| {
        let (left, right) = (number(a.item.score), number(b.item.score));
        right.total_cmp(&left).then(a.item.key.cmp(&b.item.key))
    });
    res
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pipeline;
    use expect_test::{Expect, expect};
    use model::Kind;
    use proptest::prelude::*;

    fn item(key: u32, kind: Kind, score: f32, text: &str, files: &[&str]) -> Item {
        let files = files.iter().map(|it| ProjectPath::parse(it).unwrap()).collect();
        let (kind, text) = (MemoryType::Core(kind), text.to_owned());
        Item { key, kind, score, text, files, section: 0 }
    }

    fn brief(phase: Phase, budget: u32) -> Brief<'static> {
        let duplicate = PerMille::new(900);
        Brief { phase, budget, head: "", foot: "", duplicate, sections: &[] }
    }

    /// Shows what was packed, then what was not.
    fn check(items: &[Item], brief: &Brief<'_>, expect: Expect) {
        // Keys that differ by a hundred say nearly the same.
        let similar = |a: u32, b: u32| (a % 100 == b % 100).then_some(PerMille::new(950));
        let packed = pack(items, brief, &similar);
        let left_out = packed.left_out.iter().map(|(key, why)| match why {
            Unpacked::OverBudget { cost, left } => format!("{key} needs {cost} of {left}\n"),
            Unpacked::Duplicate { of, similarity } => {
                format!("{key} is {of} again, {similarity}\n")
            }
        });
        let left_out: String = left_out.collect();
        let (text, used, budget) = (packed.text, packed.used, brief.budget);
        expect.assert_eq(&format!("{text}= {used} of {budget}\n{left_out}"));
    }

    #[test]
    fn memories_stand_under_their_files_and_files_by_their_best() {
        let items = [
            item(1, Kind::Gotcha, 0.9, "- one", &["src/b.rs"]),
            item(2, Kind::Gotcha, 0.8, "- two", &["src/a.rs"]),
            item(3, Kind::Gotcha, 0.7, "- three", &["src/c.rs", "src/b.rs"]),
            item(4, Kind::Decision, 0.6, "- four", &[]),
        ];
        let brief = Brief { head: "<memory>", foot: "</memory>", ..brief(Phase::Implement, 1000) };
        check(
            &items,
            &brief,
            expect![[r"
            <memory>
            - four
            src/b.rs:
            - one
            - three
            src/a.rs:
            - two
            </memory>
            = 35 of 1000
        "]],
        );
    }

    #[test]
    fn a_share_is_kept_for_types_that_rank_lower() {
        let gotcha = |key| item(key, Kind::Gotcha, 0.9, "- a trap of ten tokens or so it is", &[]);
        let mut items: Vec<Item> = (0..8).map(gotcha).collect();
        items.push(item(50, Kind::ErrorPattern, 0.1, "- an error and its fix", &[]));
        check(
            &items,
            &brief(Phase::Implement, 60),
            expect![[r"
            - a trap of ten tokens or so it is
            - a trap of ten tokens or so it is
            - a trap of ten tokens or so it is
            - a trap of ten tokens or so it is
            - an error and its fix
            = 51 of 60
            4 needs 11 of 9
            5 needs 11 of 9
            6 needs 11 of 9
            7 needs 11 of 9
        "]],
        );
    }

    #[test]
    fn what_a_share_does_not_use_flows_on() {
        let custom = MemoryType::Custom("custom:acme.ritual".into());
        let items = [
            Item { kind: custom, ..item(1, Kind::Gotcha, 0.9, "- a ritual", &[]) },
            item(2, Kind::Gotcha, 0.8, "- a trap", &[]),
        ];
        check(
            &items,
            &brief(Phase::Explore, 20),
            expect![[r"
            - a ritual
            - a trap
            = 8 of 20
        "]],
        );
    }

    #[test]
    fn one_that_is_too_large_does_not_stand_in_the_way() {
        let items = [
            item(1, Kind::Gotcha, 0.9, &"many words ".repeat(40), &[]),
            item(2, Kind::Gotcha, 0.8, "- short", &[]),
        ];
        check(
            &items,
            &brief(Phase::Implement, 20),
            expect![[r"
            - short
            = 3 of 20
            1 needs 81 of 17
        "]],
        );
    }

    #[test]
    fn nothing_is_said_twice() {
        let items = [
            item(1, Kind::Gotcha, 0.7, "- said already", &[]),
            item(101, Kind::Gotcha, 0.8, "- said first", &[]),
            item(101, Kind::Gotcha, 0.6, "- the very same", &[]),
        ];
        check(
            &items,
            &brief(Phase::Implement, 100),
            expect![[r"
            - said first
            = 4 of 100
            1 is 101 again, 0.95
            101 is 101 again, 1.00
        "]],
        );
    }

    #[test]
    fn without_room_nothing_is_said_at_all() {
        let items = [item(1, Kind::Gotcha, f32::NAN, "- short", &[])];
        let brief = Brief { head: "memories of this project", ..brief(Phase::Implement, 6) };
        check(
            &items,
            &brief,
            expect![[r"
            = 0 of 6
            1 needs 3 of 0
        "]],
        );
    }

    #[test]
    fn sections_come_in_their_order_whatever_their_best_is_worth() {
        let sections = Pipeline::Plan.row().sections;
        let at = |section, it| Item { section, ..it };
        let items = [
            at(4, item(1, Kind::WorkUnitOutcome, 0.9, "- it failed", &["src/a.rs"])),
            at(0, item(2, Kind::WorkflowRecipe, 0.1, "- one, two", &[])),
            at(4, item(3, Kind::WorkUnitOutcome, 0.8, "- it worked", &[])),
        ];
        let brief = Brief { sections, ..brief(Phase::Define, 100) };
        check(
            &items,
            &brief,
            expect![[r"
                Recipes that worked:
                - one, two
                Recent outcomes:
                - it failed
                - it worked
                = 23 of 100
            "]],
        );
    }

    fn items() -> impl Strategy<Value = Vec<Item>> {
        let text = prop_oneof![any::<String>(), "[a-z ]{0,120}", "[ -~\n]{0,60}"];
        let files = prop::collection::vec(0_u8..5, 0..3);
        let row = (0_u32..400, 0..Kind::ALL.len(), -2_i8..5, text, files);
        prop::collection::vec(row, 0..40).prop_map(|rows| {
            rows.into_iter()
                .map(|(key, kind, score, text, files)| {
                    let files: Vec<String> =
                        files.iter().map(|it| format!("src/{it}.rs")).collect();
                    let files: Vec<&str> = files.iter().map(String::as_str).collect();
                    let it = item(key, Kind::ALL[kind], f32::from(score), &text, &files);
                    Item { section: kind % 4, ..it }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn a_context_is_exact_full_and_without_twins(
            items in items(),
            phase in 0..Phase::ALL.len(),
            budget in prop_oneof![0_u32..80, 0_u32..800],
            head in prop_oneof![Just(String::new()), any::<String>()],
            foot in "[a-z\n]{0,9}",
            pipeline in prop::option::of(0..Pipeline::ALL.len()),
        ) {
            let similar = |a: u32, b: u32| (a % 100 == b % 100).then_some(PerMille::new(950));
            let sections = pipeline.map_or(&[][..], |it| Pipeline::ALL[it].row().sections);
            let brief =
                Brief { head: &head, foot: &foot, sections, ..brief(Phase::ALL[phase], budget) };
            let packed = pack(&items, &brief, &similar);

            prop_assert!(packed.used <= budget);
            prop_assert_eq!(packed.used, tokens(&packed.text));
            let frame = tokens(&edge(&head)) + tokens(&edge(&foot));
            let costs: u32 = packed.chosen.iter().map(|it| it.cost).sum();
            prop_assert_eq!(packed.used, if costs == 0 { 0 } else { frame + costs });

            let mut keys: Vec<u32> = packed.chosen.iter().map(|it| it.key).collect();
            for (i, key) in keys.iter().enumerate() {
                prop_assert!(keys[..i].iter().all(|it| it % 100 != key % 100), "twins");
            }
            keys.extend(packed.left_out.iter().map(|it| it.0));
            keys.sort_unstable();
            let mut all: Vec<u32> = items.iter().map(|it| it.key).collect();
            all.sort_unstable();
            prop_assert_eq!(keys, all, "every item is told of once");

            for (_, why) in &packed.left_out {
                if let Unpacked::OverBudget { cost, left } = why {
                    prop_assert!(cost > left, "it would have fitted");
                    prop_assert!(packed.chosen.is_empty() || *left == budget - packed.used);
                }
            }
        }

        #[test]
        fn the_order_of_the_items_does_not_matter(items in items(), budget in 0_u32..400) {
            let mut items = items;
            items.sort_by_key(|it| it.key);
            items.dedup_by_key(|it| it.key);
            let forwards = pack(&items, &brief(Phase::Refine, budget), &|_, _| None);
            items.reverse();
            prop_assert_eq!(pack(&items, &brief(Phase::Refine, budget), &|_, _| None), forwards);
        }
    }
}
