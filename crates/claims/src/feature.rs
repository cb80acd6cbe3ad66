//! Features of a claim: yes-or-no properties that the scorer weighs, as a set of bits.

use model::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum. The slug names the row of the weights table.
closed! {
    /// A property of a claim. The comments group them: moment, what a person did, what an agent did,
    /// wording, form.
    pub enum ClaimFeature : "feature" {
        // Moment.
        FirstPrompt = "first_prompt",
        Remark = "remark",
        Refusal = "refusal",
        Answer = "answer",
        Plan = "plan",
        Diagnosis = "diagnosis",
        Summary = "summary",
        Conclusion = "conclusion",
        Thought = "thought",
        // A person's message.
        ActRule = "act_rule",
        ActCorrectiveQuestion = "act_corrective_question",
        ActTask = "act_task",
        ActQuestion = "act_question",
        ActReport = "act_report",
        LongMessage = "long_message",
        PersonEditsFollow = "person_edits_follow",
        PersonNamesEdited = "person_names_edited",
        AgentConcedes = "agent_concedes",
        Interrupts = "interrupts",
        // A text of the agent or a plan.
        LongText = "long_text",
        StatesCause = "states_cause",
        NamesEdited = "names_edited",
        NamesUsed = "names_used",
        EditAndPass = "edit_and_pass",
        AfterFailure = "after_failure",
        Unchallenged = "unchallenged",
        ReasonSection = "reason_section",
        // Wording.
        Norm = "norm",
        Because = "because",
        Negation = "negation",
        Only = "only",
        Past = "past",
        Now = "now",
        PlanVerb = "plan_verb",
        General = "general",
        Mechanism = "mechanism",
        You = "you",
        We = "we",
        Please = "please",
        VersionControl = "version_control",
        Wish = "wish",
        Number = "number",
        Code = "code",
        Hedge = "hedge",
        FirstPerson = "first_person",
        MomentBound = "moment_bound",
        Question = "question",
        // Form.
        PointsBack = "points_back",
        Short = "short",
        Long = "long",
        TwoNames = "two_names",
        NoNames = "no_names",
        NamesKnown = "names_known",
        NamesGone = "names_gone",
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureSet(u64);

// One bit each.
const _: () = assert!(ClaimFeature::ALL.len() <= 64);

impl FeatureSet {
    pub const fn insert(&mut self, feature: ClaimFeature) {
        self.0 |= 1 << feature as u32;
    }

    pub const fn insert_if(&mut self, feature: ClaimFeature, holds: bool) {
        if holds {
            self.insert(feature);
        }
    }

    pub const fn contains(self, feature: ClaimFeature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// The features in the order of the enum.
    pub fn iter(self) -> impl Iterator<Item = ClaimFeature> {
        ClaimFeature::ALL.iter().copied().filter(move |it| self.contains(*it))
    }
}
