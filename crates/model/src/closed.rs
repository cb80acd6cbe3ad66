//! The macro `closed!` declares an enum whose variants are the whole vocabulary, each with the slug that
//! databases and wire formats contain. An unknown word is an error that suggests the right one:
//! "unknown fruit `aple` (did you mean `apple`?)".

/// A word that is not in a closed vocabulary, with the words that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// Name of the vocabulary, e.g. `type`.
    pub what: &'static str,
    pub given: String,
    pub known: Vec<&'static str>,
}

/// Bytes of a given word that are compared with the known ones. A user can type anything; known words are
/// shorter.
const MAX_COMPARED_BYTES: usize = 64;

impl UnknownWord {
    /// The closest known word, if its edit distance suggests a typo.
    pub fn closest_known(&self) -> Option<&'static str> {
        // As slugs are written: `Blood-Orange` is no typo of `blood_orange`.
        let given = self.given.to_ascii_lowercase().replace('-', "_");
        let distance_to = |known: &str| edit_distance(known.as_bytes(), given.as_bytes());
        let closest = self.known.iter().min_by_key(|it| distance_to(it))?;
        // One typo in three letters is allowed.
        let max_distance = closest.len().max(3) / 3;
        (distance_to(closest) <= max_distance).then_some(*closest)
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

/// Levenshtein distance (Wagner and Fischer 1974), with a single row of the table.
pub fn edit_distance(left: &[u8], right: &[u8]) -> usize {
    let right = &right[..right.len().min(MAX_COMPARED_BYTES)];
    // `row[j]` is the distance of the part of `left` so far to `right[..j]`.
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        // The value of the previous row at `j`, before it is overwritten.
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

/// Declares an enum with `ALL`, `slug()`, `from_slug()` and `parse()`. It is printed, stored and sent as its
/// slug (`Display` and serde). The text after the colon is the name of the vocabulary in errors.
///
/// ```text
/// closed! { enum Fruit : "fruit" { Apple = "apple", BloodOrange = "blood_orange" } }
///
/// enum Fruit { Apple, BloodOrange }            // with the usual derives
/// Fruit::ALL                                   // [Apple, BloodOrange]
/// Fruit::BloodOrange.slug()                    // "blood_orange"
/// Fruit::from_slug("apple")                    // Some(Apple); None for any other word
/// Fruit::parse("aple")                         // Err(UnknownWord { what: "fruit", given: "aple", … })
/// ```
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
            // In the order of declaration.
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
                // Borrowed, if the input contains no escapes.
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
    fn every_slug_is_parsed_as_its_variant() {
        for it in Fruit::ALL {
            assert_eq!(Fruit::from_slug(it.slug()), Some(*it));
        }
        assert_eq!(serde_json::to_string(&Fruit::BloodOrange).unwrap(), "\"blood_orange\"");
    }

    #[test]
    fn a_typo_gives_an_error_that_suggests_the_right_word() {
        let error_of = |word: &str| Fruit::parse(word).unwrap_err().to_string();
        assert_eq!(error_of("aple"), "unknown fruit `aple` (did you mean `apple`?)");
        assert_eq!(
            error_of("Blood-Orange"),
            "unknown fruit `Blood-Orange` (did you mean `blood_orange`?)"
        );
        assert_eq!(error_of("steak"), "unknown fruit `steak` (one of: apple, blood_orange)");
    }
}
