//! `closed!`: an enum whose variants are the whole vocabulary, with the slugs that database and wire carry.

/// A word that is not in a closed vocabulary, with the words that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// Name of the vocabulary, e.g. `type`.
    pub what: &'static str,
    pub given: String,
    pub known: Vec<&'static str>,
}

impl UnknownWord {
    /// The closest known word, if its edit distance suggests a typo.
    pub fn closest_known(&self) -> Option<&'static str> {
        let given = self.given.to_ascii_lowercase().replace('-', "_");
        let near = |it: &&&'static str| edit_distance(it.as_bytes(), given.as_bytes());
        let best = self.known.iter().min_by_key(near)?;
        (edit_distance(best.as_bytes(), given.as_bytes()) <= best.len().max(3) / 3).then_some(*best)
    }
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown {} `{}`", self.what, self.given)?;
        match self.closest_known() {
            Some(word) => write!(f, " (did you mean `{word}`?)"),
            None => write!(f, " (one of: {})", self.known.join(", ")),
        }
    }
}

impl std::error::Error for UnknownWord {}

/// Levenshtein distance with a single row; the inputs are words, so the cost stays small.
fn edit_distance(left: &[u8], right: &[u8]) -> usize {
    let right = &right[..right.len().min(64)];
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// Declares an enum with `ALL`, `slug()`, `from_slug()` and `parse()`; it is stored and sent as its slug.
#[macro_export]
macro_rules! closed {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident : $what:literal {
            $($(#[$variant_meta:meta])* $variant:ident = $slug:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            $vis const ALL: &'static [Self] = &[$(Self::$variant),+];

            $vis const fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug),+ }
            }

            $vis fn from_slug(slug: &str) -> Option<Self> {
                match slug { $($slug => Some(Self::$variant),)+ _ => None }
            }

            /// Parses a word written by a user or a peer; the error lists the valid ones.
            $vis fn parse(word: &str) -> Result<Self, $crate::UnknownWord> {
                Self::from_slug(word).ok_or_else(|| $crate::UnknownWord {
                    what: $what,
                    given: word.to_owned(),
                    known: vec![$($slug),+],
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.slug())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.slug())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                Self::parse(&word).map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    closed! {
        enum Fruit : "fruit" { Apple = "apple", BloodOrange = "blood_orange" }
    }

    #[test]
    fn slugs_go_both_ways() {
        for it in Fruit::ALL {
            assert_eq!(Fruit::from_slug(it.slug()), Some(*it));
        }
        assert_eq!(serde_json::to_string(&Fruit::BloodOrange).unwrap(), "\"blood_orange\"");
    }

    #[test]
    fn a_typo_is_answered_with_the_right_word() {
        let said = |word: &str| Fruit::parse(word).unwrap_err().to_string();
        assert_eq!(said("aple"), "unknown fruit `aple` (did you mean `apple`?)");
        assert_eq!(
            said("Blood-Orange"),
            "unknown fruit `Blood-Orange` (did you mean `blood_orange`?)"
        );
        assert_eq!(said("steak"), "unknown fruit `steak` (one of: apple, blood_orange)");
    }
}
