//! Files of past commits that said something alike.

use std::collections::HashMap;

use super::{History, decay};
use crate::fast::FastHasher;

impl History {
    /// Files by how much the commits that changed them share rare words with a text, likeliest first.
    pub fn alike(&self, text: &str) -> Vec<(String, f64)> {
        let asked = super::hashes(text);
        let mut holding: HashMap<u32, u64, FastHasher> = asked.iter().map(|it| (*it, 0)).collect();
        for commit in &self.commits {
            for word in &commit.words {
                if let Some(n) = holding.get_mut(word) {
                    *n += 1;
                }
            }
        }
        let all = self.commits.len() as u64;
        let weights: HashMap<u32, f64, FastHasher> = holding
            .into_iter()
            .filter(|it| it.1 > 0)
            .map(|(word, n)| (word, model::words::weight(all, n)))
            .collect();
        let newest = self.newest();
        let mut sums: HashMap<u32, f64, FastHasher> = HashMap::default();
        for commit in &self.commits {
            let shared: f64 = commit.words.iter().filter_map(|it| weights.get(it)).sum();
            if shared > 0.0 {
                #[expect(clippy::cast_precision_loss, reason = "a commit of few files")]
                let each = shared * shared * decay(newest - commit.at)
                    / (commit.files.len() as f64).sqrt();
                for file in &commit.files {
                    *sums.entry(*file).or_default() += each;
                }
            }
        }
        self.ranked(sums)
    }

    /// Files by how much they change of late.
    pub fn busy(&self) -> Vec<(String, f64)> {
        let newest = self.newest();
        let mut sums: HashMap<u32, f64, FastHasher> = HashMap::default();
        for commit in &self.commits {
            for file in &commit.files {
                *sums.entry(*file).or_default() += decay(newest - commit.at);
            }
        }
        self.ranked(sums)
    }

    fn ranked(&self, sums: HashMap<u32, f64, FastHasher>) -> Vec<(String, f64)> {
        /// What comes later is not looked at by anybody.
        const NAMED: usize = 100;
        let named = |(file, sum): (u32, f64)| Some((self.path(file)?.to_owned(), sum));
        let mut res: Vec<(String, f64)> = sums.into_iter().filter_map(named).collect();
        res.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        res.truncate(NAMED);
        res
    }
}

#[cfg(test)]
mod tests {
    use super::super::Touched;
    use super::*;

    #[test]
    fn rare_words_lead_to_the_files_of_those_who_used_them() {
        let mut it = History::default();
        for (subject, path) in [
            ("fix the token parser", "token.rs"),
            ("fix the login page", "login.rs"),
            ("fix typo", "readme.md"),
            ("fix typo", "readme.md"),
        ] {
            it.take(0, subject, &[Touched { path, before: None, is_new: false }]);
        }
        assert_eq!(it.alike("why does the parser fix fail")[0].0, "token.rs");
        assert!(it.alike("unheard of").is_empty());
        assert_eq!(it.busy()[0].0, "readme.md");
    }
}
