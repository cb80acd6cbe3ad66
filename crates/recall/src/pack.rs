//! Packs ranked memories into a context within a token budget.
//!
//! The engine formats the items and gives the resulting text to an agent. The text is grouped by
//! file, or, for a stage of an agent pipeline, by *sections* with fixed titles:
//!
//! ```text
//! <header>                         <header>
//! - a memory without a file        Recipes that worked:
//! src/b.rs:                        - a recipe
//! - a memory about src/b.rs        Recent outcomes:
//! <footer>                         - an outcome
//!                                  <footer>
//! ```
//!
//! Every memory type (or section) has a reserved share of the budget, which depends on the *phase*,
//! the kind of work the agent does. Packing has two passes. In the first, each type or section fills
//! only its share. In the second, the unused shares go to the best remaining items, whatever their
//! type. An item that is nearly the same as a chosen one is left out.
//!
//! Every piece of the text ends with a line break, so the estimates of the pieces add up to
//! [`estimate_tokens`] of the whole.

use model::{MemoryType, PerMille, Phase, ProjectPath};

use crate::pipeline::ContextSection;
use crate::tokens::estimate_tokens;
use crate::{frame, phase_weights};

/// A candidate for the context.
#[derive(Clone, Debug, PartialEq)]
pub struct PackItem {
    /// The caller's number for the memory.
    pub key: u32,
    pub memory_type: MemoryType,
    pub score: f32,
    /// The formatted text with its citation; may have several lines.
    pub text: String,
    /// Files it refers to, most relevant first.
    pub files: Vec<ProjectPath>,
    /// Index into [`PackRequest::sections`]; not used if the request has none.
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
    /// The reserved share of its type or section.
    Share,
    /// Shares that other types or sections did not use.
    Rest,
}

/// Reasons why a memory is not in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackedReason {
    /// It needs `cost` tokens, and only `tokens_left` remained at the end.
    OverBudget { cost: u32, tokens_left: u32 },
    /// Nearly the same as a chosen memory.
    Duplicate { chosen_key: u32, similarity: PerMille },
}

/// Fills a context with the best items. `similar` compares two keys; `None` if it cannot.
pub fn pack_context(
    items: &[PackItem],
    request: &PackRequest<'_>,
    similar: &dyn Fn(u32, u32) -> Option<PerMille>,
) -> PackedContext {
    // Header and footer are always part of the text, so they are paid for first.
    let header_cost = estimate_tokens(&edge_text(request.header));
    let footer_cost = estimate_tokens(&edge_text(request.footer));
    let body_budget = request.budget.saturating_sub(header_cost.saturating_add(footer_cost));
    let mut packer =
        Packer { request, similar, tokens_left: body_budget, candidates: sort_items(items) };

    // First pass: an item may use only the share of its section or type, so that one type with many
    // good items cannot crowd out the others.
    let mut shares = BudgetShares::new(request, body_budget);
    for i in 0..packer.candidates.len() {
        // An item of a section that the request does not have waits for the second pass.
        let Some(share_left) = shares.left_for(packer.candidates[i].item) else { continue };
        *share_left -= packer.try_place(i, *share_left, BudgetSource::Share);
    }

    // Second pass: everything that the shares left over goes to the best remaining items. It repeats
    // while something is placed, because an item may then fit under a heading that is already paid.
    loop {
        let left_before = packer.tokens_left;
        for i in 0..packer.candidates.len() {
            packer.try_place(i, packer.tokens_left, BudgetSource::Rest);
        }
        if packer.tokens_left == left_before {
            return packer.render_context();
        }
    }
}

/// The reserved parts of the budget: one per section, or one per memory type of the phase and one
/// for all other types.
struct BudgetShares {
    phase: phase_weights::PhaseRow,
    has_sections: bool,
    /// Tokens left of each share.
    tokens_left: Vec<u32>,
}

impl BudgetShares {
    fn new(request: &PackRequest<'_>, body_budget: u32) -> Self {
        let phase = phase_weights::phase_row(request.phase);
        let has_sections = !request.sections.is_empty();
        let mut tokens_left = Vec::new();
        if has_sections {
            for section in request.sections {
                tokens_left.push(share_of_budget(body_budget, section.share));
            }
        } else {
            // The order that `share_index` counts in: listed types, then all others.
            for (_, share) in phase.shares {
                tokens_left.push(share_of_budget(body_budget, *share));
            }
            tokens_left.push(share_of_budget(body_budget, phase.other_share));
        }
        Self { phase, has_sections, tokens_left }
    }

    /// The tokens left of the share that an item belongs to.
    fn left_for(&mut self, item: &PackItem) -> Option<&mut u32> {
        let share_index = if self.has_sections {
            item.section
        } else {
            phase_weights::share_index(self.phase, &item.memory_type)
        };
        self.tokens_left.get_mut(share_index)
    }
}

/// Packing state; candidates best first.
struct Packer<'a> {
    request: &'a PackRequest<'a>,
    similar: &'a dyn Fn(u32, u32) -> Option<PerMille>,
    tokens_left: u32,
    candidates: Vec<PackCandidate<'a>>,
}

struct PackCandidate<'a> {
    item: &'a PackItem,
    /// Tokens of the item's text alone, without a heading.
    text_cost: u32,
    state: CandidateState<'a>,
}

enum CandidateState<'a> {
    /// Not placed yet; it may still fit.
    Undecided,
    /// `cost` includes the heading that it was the first to need.
    Chosen {
        file: Option<&'a ProjectPath>,
        cost: u32,
        paid_by: BudgetSource,
    },
    Duplicate {
        chosen_key: u32,
        similarity: PerMille,
    },
}

impl<'a> Packer<'a> {
    /// Places a candidate if it is undecided, costs at most `limit` and is no duplicate. Returns its
    /// cost, 0 if it was not placed.
    fn try_place(&mut self, i: usize, limit: u32, paid_by: BudgetSource) -> u32 {
        if !matches!(self.candidates[i].state, CandidateState::Undecided) {
            return 0;
        }
        let (file, cost) = self.find_heading(i);
        if cost > limit {
            return 0;
        }
        // Compared last: comparing vectors costs more than comparing token counts.
        if let Some((chosen_key, similarity)) = self.find_duplicate(self.candidates[i].item.key) {
            self.candidates[i].state = CandidateState::Duplicate { chosen_key, similarity };
            return 0;
        }
        self.candidates[i].state = CandidateState::Chosen { file, cost, paid_by };
        self.tokens_left -= cost;
        cost
    }

    /// The file heading for a candidate, and the tokens that the candidate adds to the text: those of
    /// its own text and of a heading that is not there yet.
    fn find_heading(&self, i: usize) -> (Option<&'a ProjectPath>, u32) {
        let PackCandidate { item, text_cost, .. } = &self.candidates[i];
        // In sections, the heading is the section's title and files have none.
        if let Some(section) = self.request.sections.get(item.section) {
            let has_title = self.chosen().any(|(it, _)| it.section == item.section);
            let title_cost =
                if has_title { 0 } else { estimate_tokens(&with_line_break(section.title)) };
            return (None, text_cost.saturating_add(title_cost));
        }
        // Any of its files that already has a heading is preferred to a new one for its first file.
        let has_heading =
            |file: &&'a ProjectPath| self.chosen().any(|(_, chosen)| chosen == Some(*file));
        if let Some(file) = item.files.iter().find(has_heading) {
            return (Some(file), *text_cost);
        }
        let new_file = item.files.first();
        let heading_cost = new_file.map_or(0, |it| estimate_tokens(&file_heading(it)));
        (new_file, text_cost.saturating_add(heading_cost))
    }

    /// The first chosen memory that is too similar to `key`, with the similarity.
    fn find_duplicate(&self, key: u32) -> Option<(u32, PerMille)> {
        for (chosen, _) in self.chosen() {
            // The same memory may be offered twice; `similar` need not know that.
            let similarity = if chosen.key == key {
                Some(PerMille::ONE)
            } else {
                (self.similar)(chosen.key, key)
            };
            // Memories that cannot be compared are not duplicates.
            if let Some(similarity) = similarity
                && similarity >= self.request.duplicate_threshold
            {
                return Some((chosen.key, similarity));
            }
        }
        None
    }

    /// The chosen items, best first, with the file each is under.
    fn chosen(&self) -> impl Iterator<Item = (&'a PackItem, Option<&'a ProjectPath>)> + '_ {
        self.candidates.iter().filter_map(|it| match it.state {
            CandidateState::Chosen { file, .. } => Some((it.item, file)),
            CandidateState::Undecided | CandidateState::Duplicate { .. } => None,
        })
    }

    fn render_context(self) -> PackedContext {
        // Files in the order of their best memory; `None` first, for memories without a file.
        let mut file_order = vec![None];
        file_order.extend(self.chosen().map(|(_, file)| file));

        let mut chosen = Vec::new();
        let mut left_out = Vec::new();
        for (i, PackCandidate { item, state, .. }) in self.candidates.iter().enumerate() {
            match *state {
                CandidateState::Chosen { file, cost, paid_by } => {
                    let placed = PlacedMemory { key: item.key, file: file.cloned(), cost, paid_by };
                    let has_section = item.section < self.request.sections.len();
                    let section = has_section.then_some(item.section);
                    let file_rank = file_order.iter().position(|it| *it == file);
                    chosen.push(GroupedMemory { group: (section, file_rank), item, placed });
                }
                CandidateState::Duplicate { chosen_key, similarity } => {
                    left_out.push((item.key, UnpackedReason::Duplicate { chosen_key, similarity }));
                }
                // Still undecided after the second pass: it did not fit.
                CandidateState::Undecided => {
                    let (_, cost) = self.find_heading(i);
                    let tokens_left = self.tokens_left;
                    left_out.push((item.key, UnpackedReason::OverBudget { cost, tokens_left }));
                }
            }
        }
        // The sort is stable, so the best memory of each group stays first.
        chosen.sort_by_key(|it| it.group);
        let text = render_text(self.request, &chosen);
        PackedContext {
            n_tokens: estimate_tokens(&text),
            text,
            chosen: chosen.into_iter().map(|it| it.placed).collect(),
            left_out,
        }
    }
}

/// A chosen memory with the group of the text that it belongs to.
struct GroupedMemory<'a> {
    /// Index of the section, if there are sections, then rank of the file. Groups are rendered in
    /// this order.
    group: (Option<usize>, Option<usize>),
    item: &'a PackItem,
    placed: PlacedMemory,
}

/// Renders the chosen memories, sorted by group, each group under its heading.
fn render_text(request: &PackRequest<'_>, chosen: &[GroupedMemory<'_>]) -> String {
    // Header and footer without a memory between them would be noise.
    if chosen.is_empty() {
        return String::new();
    }
    let mut res = edge_text(request.header);
    for group in chosen.chunk_by(|a, b| a.group == b.group) {
        let first = &group[0];
        // At most one of the two headings exists: `find_heading` gives no file in sections.
        res.extend(request.sections.get(first.item.section).map(|it| with_line_break(it.title)));
        res.extend(first.placed.file.as_ref().map(file_heading));
        res.extend(group.iter().map(|it| with_line_break(&it.item.text)));
    }
    res + &edge_text(request.footer)
}

/// File names are untrusted text, like memories.
fn file_heading(file: &ProjectPath) -> String {
    format!("{}:\n", frame::neutralize_text(file.as_str()))
}

/// Ends the text with a line break, so that token counts add up.
fn with_line_break(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The header or footer as rendered; an empty one adds no line.
fn edge_text(text: &str) -> String {
    if text.is_empty() { String::new() } else { with_line_break(text) }
}

fn share_of_budget(budget: u32, thousandths: u16) -> u32 {
    let res = u64::from(budget) * u64::from(thousandths) / 1000;
    u32::try_from(res).expect("a share is no larger than the whole")
}

/// Sorts best first, ties by key; NaN scores come last.
fn sort_items(items: &[PackItem]) -> Vec<PackCandidate<'_>> {
    let without_nan = |it: f32| if it.is_nan() { f32::NEG_INFINITY } else { it };
    let mut res: Vec<PackCandidate<'_>> = items
        .iter()
        .map(|item| PackCandidate {
            item,
            text_cost: estimate_tokens(&with_line_break(&item.text)),
            state: CandidateState::Undecided,
        })
        .collect();
    res.sort_by(|a, b| {
        let (score_a, score_b) = (without_nan(a.item.score), without_nan(b.item.score));
        score_b.total_cmp(&score_a).then(a.item.key.cmp(&b.item.key))
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
        let memory_type = MemoryType::Core(kind);
        PackItem { key, memory_type, score, text: text.to_owned(), files, section: 0 }
    }

    /// A request without header, footer and sections: grouped by file.
    fn request(phase: Phase, budget: u32) -> PackRequest<'static> {
        PackRequest {
            phase,
            budget,
            header: "",
            footer: "",
            duplicate_threshold: PerMille::new(900),
            sections: &[],
        }
    }

    /// The similarity function of these tests: keys with the same last two digits are near
    /// duplicates.
    fn similar_by_last_digits(a: u32, b: u32) -> Option<PerMille> {
        (a % 100 == b % 100).then_some(PerMille::new(950))
    }

    /// Compares the packed text, then `= <tokens> of <budget>`, then the items that were left out, by
    /// key, with their reasons.
    fn check(items: &[PackItem], request: &PackRequest<'_>, expect: Expect) {
        let packed = pack_context(items, request, &similar_by_last_digits);
        let left_out = packed.left_out.iter().map(|(key, why)| match why {
            UnpackedReason::OverBudget { cost, tokens_left } => {
                format!("{key} needs {cost} of {tokens_left}\n")
            }
            UnpackedReason::Duplicate { chosen_key, similarity } => {
                format!("{key} is {chosen_key} again, {similarity}\n")
            }
        });
        let left_out: String = left_out.collect();
        let (text, used, budget) = (packed.text, packed.n_tokens, request.budget);
        expect.assert_eq(&format!("{text}= {used} of {budget}\n{left_out}"));
    }

    #[test]
    fn memories_are_grouped_by_file_and_files_ordered_by_their_best_memory() {
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
    fn lower_ranked_types_keep_their_share_of_the_budget() {
        // Eight better gotchas would fill the whole budget of 60 tokens.
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
    fn unused_shares_go_to_the_best_remaining_memories() {
        // The phase `Explore` reserves nothing for custom types or gotchas.
        let custom = MemoryType::Custom("custom:acme.ritual".into());
        let items = [
            PackItem { memory_type: custom, ..item(1, MemoryKind::Gotcha, 0.9, "- a ritual", &[]) },
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
    fn a_memory_that_is_too_large_does_not_block_smaller_ones() {
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
    fn near_duplicates_and_repeated_keys_are_left_out() {
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
    fn the_text_is_empty_if_no_memory_fits() {
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
    fn sections_keep_their_order_whatever_the_scores_are() {
        let sections = PipelineContext::Plan.row().sections;
        let in_section = |section, it| PackItem { section, ..it };
        let items = [
            in_section(4, item(1, MemoryKind::WorkUnitOutcome, 0.9, "- it failed", &["src/a.rs"])),
            in_section(0, item(2, MemoryKind::WorkflowRecipe, 0.1, "- one, two", &[])),
            in_section(4, item(3, MemoryKind::WorkUnitOutcome, 0.8, "- it worked", &[])),
        ];
        let request = PackRequest { sections, ..request(Phase::Define, 100) };
        check(
            &items,
            &request,
            expect![[r"
                Mind when touching these files:
                - one, two
                Changes together:
                - it failed
                - it worked
                = 26 of 100
            "]],
        );
    }

    /// Arbitrary items; some share files, some are near duplicates.
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
        fn a_context_fits_its_budget_leaves_no_room_unused_and_has_no_duplicates(
            items in items(),
            phase in 0..Phase::ALL.len(),
            budget in prop_oneof![0_u32..80, 0_u32..800],
            head in prop_oneof![Just(String::new()), any::<String>()],
            foot in "[a-z\n]{0,9}",
            pipeline in prop::option::of(0..PipelineContext::ALL.len()),
        ) {
            let sections = pipeline.map_or(&[][..], |it| PipelineContext::ALL[it].row().sections);
            let request =
                PackRequest { header: &head, footer: &foot, sections, ..request(Phase::ALL[phase], budget) };
            let packed = pack_context(&items, &request, &similar_by_last_digits);

            // The budget is kept, and the costs of header, footer and memories add up to the text.
            prop_assert!(packed.n_tokens <= budget);
            prop_assert_eq!(packed.n_tokens, estimate_tokens(&packed.text));
            let header_cost = estimate_tokens(&edge_text(&head));
            let footer_cost = estimate_tokens(&edge_text(&foot));
            let body_cost: u32 = packed.chosen.iter().map(|it| it.cost).sum();
            let expected = if body_cost == 0 { 0 } else { header_cost + body_cost + footer_cost };
            prop_assert_eq!(packed.n_tokens, expected);

            // No two chosen memories are duplicates, and every item is either chosen or left out.
            let mut keys: Vec<u32> = packed.chosen.iter().map(|it| it.key).collect();
            for (i, key) in keys.iter().enumerate() {
                prop_assert!(keys[..i].iter().all(|it| it % 100 != key % 100), "duplicates");
            }
            keys.extend(packed.left_out.iter().map(|(key, _)| *key));
            keys.sort_unstable();
            let mut all: Vec<u32> = items.iter().map(|it| it.key).collect();
            all.sort_unstable();
            prop_assert_eq!(keys, all, "every item has exactly one outcome");

            // What was left out for lack of room really did not fit.
            for (_, why) in &packed.left_out {
                if let UnpackedReason::OverBudget { cost, tokens_left } = why {
                    prop_assert!(cost > tokens_left, "it would have fitted");
                    let unused = budget - packed.n_tokens;
                    prop_assert!(packed.chosen.is_empty() || *tokens_left == unused);
                }
            }
        }

        #[test]
        fn the_input_order_of_the_items_does_not_matter(items in items(), budget in 0_u32..400) {
            let mut items = items;
            items.sort_by_key(|it| it.key);
            items.dedup_by_key(|it| it.key);
            let forwards = pack_context(&items, &request(Phase::Refine, budget), &|_, _| None);
            items.reverse();
            prop_assert_eq!(pack_context(&items, &request(Phase::Refine, budget), &|_, _| None), forwards);
        }
    }
}
