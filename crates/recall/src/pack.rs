//! Packs ranked memories into a context within a token budget.
//!
//! Each memory kind has a reserved share; unused shares go to the best remaining items. The result is
//! grouped by file and rendered here. Every piece ends with a line break, so the estimates of the
//! pieces add up to [`estimate_tokens`] of the text. Item texts are never changed. A pipeline context
//! has sections in place of kinds and files.

use model::{MemoryType, PerMille, Phase, ProjectPath};

use crate::pipeline::ContextSection;
use crate::tokens::estimate_tokens;
use crate::{frame, phase_weights};

/// A candidate for the context.
#[derive(Clone, Debug, PartialEq)]
pub struct PackItem {
    pub key: u32,
    pub kind: MemoryType,
    pub score: f32,
    /// The formatted text with its citation; may have several lines.
    pub text: String,
    /// Files it refers to, most relevant first.
    pub files: Vec<ProjectPath>,
    /// Index of its section, if the request has sections.
    pub section: usize,
}

/// Parameters of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackRequest<'a> {
    pub phase: Phase,
    /// Token limit of the whole text, including header and footer.
    pub budget: u32,
    /// First lines of the text; may be empty.
    pub header: &'a str,
    pub footer: &'a str,
    /// Of two memories at least this similar, one is dropped; depends on the embedding model.
    pub duplicate_threshold: PerMille,
    /// Sections of the text; if empty, the text is grouped by file.
    pub sections: &'static [ContextSection],
}

/// The rendered context and the result for every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedContext {
    /// Empty if nothing was chosen.
    pub text: String,
    /// Tokens of `text`.
    pub n_tokens: u32,
    /// In the order of the text.
    pub chosen: Vec<PlacedMemory>,
    /// Best first.
    pub left_out: Vec<(u32, UnpackedReason)>,
}

/// A memory in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedMemory {
    pub key: u32,
    /// The file heading it is under; memories without a file come first.
    pub file: Option<ProjectPath>,
    /// Tokens added, including those of a new heading.
    pub cost: u32,
    pub paid_by: BudgetSource,
}

/// The part of the budget that a memory used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetSource {
    /// The reserved share of its kind.
    Share,
    /// Unused shares of other kinds.
    Rest,
}

/// Reasons why a memory is not in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackedReason {
    /// It needs `cost` tokens and `left` remained at the end.
    OverBudget { cost: u32, left: u32 },
    /// Nearly the same as a chosen memory.
    Duplicate { of: u32, similarity: PerMille },
}

/// Fills a context with the best items. `similar` compares two keys; `None` if it cannot.
pub fn pack_context(
    items: &[PackItem],
    request: &PackRequest<'_>,
    similar: &dyn Fn(u32, u32) -> Option<PerMille>,
) -> PackedContext {
    let row = phase_weights::phase_row(request.phase);
    let frame = estimate_tokens(&frame_line(request.header))
        .saturating_add(estimate_tokens(&frame_line(request.footer)));
    let budget = request.budget.saturating_sub(frame);
    let mut packer =
        Packer { request, similar, tokens_left: budget, candidates: sort_items(items) };
    let by_type = row.shares.iter().map(|it| it.1).chain([row.other]);
    let by_section = request.sections.iter().map(|it| it.share);
    let is_divided = !request.sections.is_empty();
    let shares: Vec<u16> = if is_divided { by_section.collect() } else { by_type.collect() };
    let mut shares: Vec<u32> = shares.into_iter().map(|it| share_of_budget(budget, it)).collect();
    for i in 0..packer.candidates.len() {
        let item = packer.candidates[i].item;
        let of =
            if is_divided { item.section } else { phase_weights::share_index(row, &item.kind) };
        let Some(share) = shares.get_mut(of) else { continue };
        *share -= packer.try_place(i, *share, BudgetSource::Share);
    }
    loop {
        let before = packer.tokens_left;
        (0..packer.candidates.len()).for_each(|i| {
            packer.try_place(i, packer.tokens_left, BudgetSource::Rest);
        });
        // Repeat while something was placed: an item may now fit under an existing heading.
        if packer.tokens_left == before {
            return packer.render_context();
        }
    }
}

/// Packing state; items best first.
struct Packer<'a> {
    request: &'a PackRequest<'a>,
    similar: &'a dyn Fn(u32, u32) -> Option<PerMille>,
    tokens_left: u32,
    candidates: Vec<PackCandidate<'a>>,
}

struct PackCandidate<'a> {
    item: &'a PackItem,
    /// Tokens of the text alone.
    cost: u32,
    state: CandidateState<'a>,
}

enum CandidateState<'a> {
    Open,
    Chosen { file: Option<&'a ProjectPath>, cost: u32, paid_by: BudgetSource },
    Duplicate { of: u32, similarity: PerMille },
}

impl<'a> Packer<'a> {
    /// Places an item if it is undecided, fits and is no duplicate; returns its cost.
    fn try_place(&mut self, i: usize, budget: u32, paid_by: BudgetSource) -> u32 {
        if !matches!(self.candidates[i].state, CandidateState::Open) {
            return 0;
        }
        let (file, cost) = self.find_heading(i);
        if cost > budget {
            return 0;
        }
        if let Some((of, similarity)) = self.find_duplicate(self.candidates[i].item.key) {
            self.candidates[i].state = CandidateState::Duplicate { of, similarity };
            return 0;
        }
        self.candidates[i].state = CandidateState::Chosen { file, cost, paid_by };
        self.tokens_left -= cost;
        cost
    }

    /// The file heading for an item, preferring one that exists, and the tokens it would add. Items in
    /// sections have no file heading.
    fn find_heading(&self, i: usize) -> (Option<&'a ProjectPath>, u32) {
        let PackCandidate { item, cost, .. } = &self.candidates[i];
        if let Some(section) = self.request.sections.get(item.section) {
            let begun = self.chosen().any(|(it, _)| it.section == item.section);
            let title = if begun { 0 } else { estimate_tokens(&with_line_break(section.title)) };
            return (None, cost.saturating_add(title));
        }
        let known = item.files.iter().find(|it| self.chosen().any(|(_, file)| file == Some(*it)));
        match known.or(item.files.first()) {
            Some(file) if known.is_none() => {
                (Some(file), cost.saturating_add(estimate_tokens(&file_heading(file))))
            }
            file => (file, *cost),
        }
    }

    fn find_duplicate(&self, key: u32) -> Option<(u32, PerMille)> {
        self.chosen().find_map(|(item, _)| {
            let same = (item.key == key).then_some(PerMille::ONE);
            let similarity = same.or_else(|| (self.similar)(item.key, key))?;
            (similarity >= self.request.duplicate_threshold).then_some((item.key, similarity))
        })
    }

    fn chosen(&self) -> impl Iterator<Item = (&'a PackItem, Option<&'a ProjectPath>)> + '_ {
        self.candidates.iter().filter_map(|it| match it.state {
            CandidateState::Chosen { file, .. } => Some((it.item, file)),
            CandidateState::Open | CandidateState::Duplicate { .. } => None,
        })
    }

    fn render_context(self) -> PackedContext {
        // Files in the order of their best memory, after memories without a file.
        let mut files = vec![None];
        files.extend(self.chosen().map(|(_, file)| file));
        let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
        for (i, PackCandidate { item, state, .. }) in self.candidates.iter().enumerate() {
            match *state {
                CandidateState::Chosen { file, cost, paid_by } => {
                    let placed = PlacedMemory { key: item.key, file: file.cloned(), cost, paid_by };
                    let section = self.request.sections.get(item.section).map(|_| item.section);
                    let place = (section, files.iter().position(|it| *it == file));
                    chosen.push((place, *item, placed));
                }
                CandidateState::Duplicate { of, similarity } => {
                    left_out.push((item.key, UnpackedReason::Duplicate { of, similarity }));
                }
                CandidateState::Open => {
                    let cost = self.find_heading(i).1;
                    left_out.push((
                        item.key,
                        UnpackedReason::OverBudget { cost, left: self.tokens_left },
                    ));
                }
            }
        }
        chosen.sort_by_key(|(place, ..)| *place);
        let text = render_text(self.request, &chosen);
        let used = estimate_tokens(&text);
        PackedContext {
            text,
            n_tokens: used,
            chosen: chosen.into_iter().map(|it| it.2).collect(),
            left_out,
        }
    }
}

fn render_text<T: PartialEq>(
    request: &PackRequest<'_>,
    chosen: &[(T, &PackItem, PlacedMemory)],
) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let mut res = frame_line(request.header);
    for group in chosen.chunk_by(|a, b| a.0 == b.0) {
        let (_, first, placed) = &group[0];
        res.extend(request.sections.get(first.section).map(|it| with_line_break(it.title)));
        res.extend(placed.file.as_ref().map(file_heading));
        res.extend(group.iter().map(|(_, item, _)| with_line_break(&item.text)));
    }
    res + &frame_line(request.footer)
}

/// File names are untrusted text, like memories.
fn file_heading(file: &ProjectPath) -> String {
    format!("{}:\n", frame::neutralize_text(file.as_str()))
}

/// Ends the text with a line break, so that token counts add up.
fn with_line_break(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Header or footer line; empty stays empty.
fn frame_line(text: &str) -> String {
    if text.is_empty() { String::new() } else { with_line_break(text) }
}

fn share_of_budget(budget: u32, thousandths: u16) -> u32 {
    let res = u64::from(budget) * u64::from(thousandths) / 1000;
    u32::try_from(res).expect("a share is no larger than the whole")
}

/// Sorts best first, ties by key; NaN scores come last.
fn sort_items(items: &[PackItem]) -> Vec<PackCandidate<'_>> {
    let number = |it: f32| if it.is_nan() { f32::NEG_INFINITY } else { it };
    let mut res: Vec<PackCandidate<'_>> = items
        .iter()
        .map(|item| PackCandidate {
            item,
            cost: estimate_tokens(&with_line_break(&item.text)),
            state: CandidateState::Open,
        })
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
    use crate::PipelineContext;
    use expect_test::{Expect, expect};
    use model::MemoryKind;
    use proptest::prelude::*;

    fn item(key: u32, kind: MemoryKind, score: f32, text: &str, files: &[&str]) -> PackItem {
        let files = files.iter().map(|it| ProjectPath::parse(it).unwrap()).collect();
        let (kind, text) = (MemoryType::Core(kind), text.to_owned());
        PackItem { key, kind, score, text, files, section: 0 }
    }

    fn request(phase: Phase, budget: u32) -> PackRequest<'static> {
        let duplicate = PerMille::new(900);
        PackRequest {
            phase,
            budget,
            header: "",
            footer: "",
            duplicate_threshold: duplicate,
            sections: &[],
        }
    }

    /// Shows what was packed, then what was not.
    fn check(items: &[PackItem], request: &PackRequest<'_>, expect: Expect) {
        // Keys that differ by a hundred say nearly the same.
        let similar = |a: u32, b: u32| (a % 100 == b % 100).then_some(PerMille::new(950));
        let packed = pack_context(items, request, &similar);
        let left_out = packed.left_out.iter().map(|(key, why)| match why {
            UnpackedReason::OverBudget { cost, left } => format!("{key} needs {cost} of {left}\n"),
            UnpackedReason::Duplicate { of, similarity } => {
                format!("{key} is {of} again, {similarity}\n")
            }
        });
        let left_out: String = left_out.collect();
        let (text, used, budget) = (packed.text, packed.n_tokens, request.budget);
        expect.assert_eq(&format!("{text}= {used} of {budget}\n{left_out}"));
    }

    #[test]
    fn memories_stand_under_their_files_and_files_by_their_best() {
        let items = [
            item(1, MemoryKind::Gotcha, 0.9, "- one", &["src/b.rs"]),
            item(2, MemoryKind::Gotcha, 0.8, "- two", &["src/a.rs"]),
            item(3, MemoryKind::Gotcha, 0.7, "- three", &["src/c.rs", "src/b.rs"]),
            item(4, MemoryKind::Decision, 0.6, "- four", &[]),
        ];
        let request = PackRequest {
            header: "<memory>",
            footer: "</memory>",
            ..request(Phase::Implement, 1000)
        };
        check(
            &items,
            &request,
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
        let gotcha =
            |key| item(key, MemoryKind::Gotcha, 0.9, "- a trap of ten tokens or so it is", &[]);
        let mut items: Vec<PackItem> = (0..8).map(gotcha).collect();
        items.push(item(50, MemoryKind::ErrorPattern, 0.1, "- an error and its fix", &[]));
        check(
            &items,
            &request(Phase::Implement, 60),
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
            PackItem { kind: custom, ..item(1, MemoryKind::Gotcha, 0.9, "- a ritual", &[]) },
            item(2, MemoryKind::Gotcha, 0.8, "- a trap", &[]),
        ];
        check(
            &items,
            &request(Phase::Explore, 20),
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
            item(1, MemoryKind::Gotcha, 0.9, &"many words ".repeat(40), &[]),
            item(2, MemoryKind::Gotcha, 0.8, "- short", &[]),
        ];
        check(
            &items,
            &request(Phase::Implement, 20),
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
            item(1, MemoryKind::Gotcha, 0.7, "- said already", &[]),
            item(101, MemoryKind::Gotcha, 0.8, "- said first", &[]),
            item(101, MemoryKind::Gotcha, 0.6, "- the very same", &[]),
        ];
        check(
            &items,
            &request(Phase::Implement, 100),
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
        let items = [item(1, MemoryKind::Gotcha, f32::NAN, "- short", &[])];
        let request =
            PackRequest { header: "memories of this project", ..request(Phase::Implement, 6) };
        check(
            &items,
            &request,
            expect![[r"
            = 0 of 6
            1 needs 3 of 0
        "]],
        );
    }

    #[test]
    fn sections_come_in_their_order_whatever_their_best_is_worth() {
        let sections = PipelineContext::Plan.row().sections;
        let at = |section, it| PackItem { section, ..it };
        let items = [
            at(4, item(1, MemoryKind::WorkUnitOutcome, 0.9, "- it failed", &["src/a.rs"])),
            at(0, item(2, MemoryKind::WorkflowRecipe, 0.1, "- one, two", &[])),
            at(4, item(3, MemoryKind::WorkUnitOutcome, 0.8, "- it worked", &[])),
        ];
        let request = PackRequest { sections, ..request(Phase::Define, 100) };
        check(
            &items,
            &request,
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

    fn items() -> impl Strategy<Value = Vec<PackItem>> {
        let text = prop_oneof![any::<String>(), "[a-z ]{0,120}", "[ -~\n]{0,60}"];
        let files = prop::collection::vec(0_u8..5, 0..3);
        let row = (0_u32..400, 0..MemoryKind::ALL.len(), -2_i8..5, text, files);
        prop::collection::vec(row, 0..40).prop_map(|rows| {
            rows.into_iter()
                .map(|(key, kind, score, text, files)| {
                    let files: Vec<String> =
                        files.iter().map(|it| format!("src/{it}.rs")).collect();
                    let files: Vec<&str> = files.iter().map(String::as_str).collect();
                    let it = item(key, MemoryKind::ALL[kind], f32::from(score), &text, &files);
                    PackItem { section: kind % 4, ..it }
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
            pipeline in prop::option::of(0..PipelineContext::ALL.len()),
        ) {
            let similar = |a: u32, b: u32| (a % 100 == b % 100).then_some(PerMille::new(950));
            let sections = pipeline.map_or(&[][..], |it| PipelineContext::ALL[it].row().sections);
            let request =
                PackRequest { header: &head, footer: &foot, sections, ..request(Phase::ALL[phase], budget) };
            let packed = pack_context(&items, &request, &similar);

            prop_assert!(packed.n_tokens <= budget);
            prop_assert_eq!(packed.n_tokens, estimate_tokens(&packed.text));
            let frame = estimate_tokens(&frame_line(&head)) + estimate_tokens(&frame_line(&foot));
            let costs: u32 = packed.chosen.iter().map(|it| it.cost).sum();
            prop_assert_eq!(packed.n_tokens, if costs == 0 { 0 } else { frame + costs });

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
                if let UnpackedReason::OverBudget { cost, left } = why {
                    prop_assert!(cost > left, "it would have fitted");
                    prop_assert!(packed.chosen.is_empty() || *left == budget - packed.n_tokens);
                }
            }
        }

        #[test]
        fn the_order_of_the_items_does_not_matter(items in items(), budget in 0_u32..400) {
            let mut items = items;
            items.sort_by_key(|it| it.key);
            items.dedup_by_key(|it| it.key);
            let forwards = pack_context(&items, &request(Phase::Refine, budget), &|_, _| None);
            items.reverse();
            prop_assert_eq!(pack_context(&items, &request(Phase::Refine, budget), &|_, _| None), forwards);
        }
    }
}
