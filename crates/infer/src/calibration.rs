//! What a cosine means, per model: models spread their vectors differently, so 0.7 is a hit for
//! one and noise for another. The room does not judge by it; `recall` does.

/// Cosines in per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Two texts that have nothing to do with one another, on average.
    pub unrelated: u16,
    /// One unrelated pair in a hundred is closer than this.
    pub chance: u16,
    /// A question and what answers it, on average.
    pub related: u16,
    /// From here on two texts may say the same. Not a proof: "the limit is 3" and "the limit is 5"
    /// are at 986 with the built-in model.
    pub duplicate: u16,
    /// Whether somebody measured this model.
    pub measured: bool,
}

/// Three columns are measured, the last is a judgement. The first row whose name is in the model id counts.
#[rustfmt::skip]
const ROWS: &[(&str, Calibration)] = &[
    //                             unrelated chance related duplicate
    ("granite-embedding-30m",  row(560,      750,   850,    950)),
    ("granite-embedding:30m",  row(560,      750,   850,    950)),
    ("all-minilm",             row(190,      560,   710,    950)),
];

/// For a model nobody measured: little is taken for a hit by its cosine alone, and next to nothing
/// for a duplicate.
const UNKNOWN: Calibration = Calibration { measured: false, ..row(500, 750, 850, 980) };

const fn row(unrelated: u16, chance: u16, related: u16, duplicate: u16) -> Calibration {
    assert!(unrelated < chance && chance < related, "noise is below a hit");
    assert!(related < duplicate && duplicate < 1000, "a hit is below a duplicate");
    Calibration { unrelated, chance, related, duplicate, measured: true }
}

pub fn calibration(model_id: &str) -> Calibration {
    let id = model_id.to_ascii_lowercase();
    ROWS.iter().find(|(name, _)| id.contains(name)).map_or(UNKNOWN, |(_, it)| *it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_model_is_measured_and_others_are_doubted() {
        assert_eq!(calibration(crate::MODEL_ID).unrelated, 560);
        assert_eq!(calibration("ollama/granite-embedding:30m@0123456789ab/384/p1").related, 850);
        assert_eq!(calibration("localhost:8080/all-MiniLM-L6-v2/384/p1").unrelated, 190);
        assert_eq!(calibration("api.openai.com/text-embedding-3-small/1024/p1"), UNKNOWN);
    }
}
