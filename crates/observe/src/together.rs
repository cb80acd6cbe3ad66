//! What sessions say about the parts of a project: which files were changed in the same piece of work,
//! and which are worked on most. Said of files, for whoever draws the map.

use std::collections::BTreeMap;

use model::ProjectPath;

use crate::synthesis::Visit;

/// A session that changed more says nothing about any two of them.
const MOST_CHANGED: usize = 15;
/// Once is chance.
const FEWEST: u32 = 2;

/// What sessions did to files, taken together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worked {
    /// Of the sessions that changed the first, the share that changed the second as well.
    pub together: Vec<(ProjectPath, ProjectPath, f32)>,
    /// In how many sessions each was changed.
    pub often: BTreeMap<ProjectPath, u32>,
}

/// Adds up what sessions changed, in the order of paths.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions are small")]
pub fn worked(visits: &[Visit]) -> Worked {
    let mut often: BTreeMap<ProjectPath, u32> = BTreeMap::new();
    let mut pairs: BTreeMap<(&ProjectPath, &ProjectPath), u32> = BTreeMap::new();
    for visit in visits {
        let mut changed: Vec<&ProjectPath> = visit.edited.iter().collect();
        changed.sort_unstable();
        changed.dedup();
        for it in &changed {
            *often.entry((*it).clone()).or_default() += 1;
        }
        if changed.len() > MOST_CHANGED {
            continue;
        }
        for (nth, a) in changed.iter().enumerate() {
            for b in &changed[nth + 1..] {
                *pairs.entry((a, b)).or_default() += 1;
            }
        }
    }
    let mut together = Vec::new();
    for ((a, b), n) in pairs.into_iter().filter(|it| it.1 >= FEWEST) {
        together.push((a.clone(), b.clone(), n as f32 / often[a] as f32));
        together.push((b.clone(), a.clone(), n as f32 / often[b] as f32));
    }
    Worked { together, often }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{SessionId, Timestamp};

    fn visit(files: &str) -> Visit {
        let edited = files.split(' ').map(|it| ProjectPath::parse(it).unwrap()).collect();
        Visit { session: SessionId::new(Timestamp(1), [1; 10]), read: Vec::new(), edited }
    }

    #[test]
    fn what_is_changed_in_the_same_sessions_hangs_together() {
        let many: Vec<String> = (0..20).map(|it| format!("x/{it}.rs")).collect();
        let all = [
            visit("a.rs b.rs"),
            visit("b.rs a.rs"),
            visit("a.rs c.rs"),
            visit("b.rs"),
            visit(&many.join(" ")),
            visit(&many.join(" ")),
        ];
        let res = worked(&all);
        let told: Vec<String> =
            res.together.iter().map(|it| format!("{} → {} {:.2}", it.0, it.1, it.2)).collect();
        assert_eq!(told, ["a.rs → b.rs 0.67", "b.rs → a.rs 0.67"]);
        assert_eq!(
            res.often[&ProjectPath::parse("x/3.rs").unwrap()],
            2,
            "large ones count as work"
        );
        assert_eq!(worked(&[]), Worked::default());
    }
}
