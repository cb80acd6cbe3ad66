//! Typical cosines of embedding models. A cosine of 0.7 is a hit for one model and noise for another,
//! so the engine passes these numbers to retrieval (as a prior) and to the detection of duplicates.

/// Typical cosines of one model, per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCalibration {
    /// Mean cosine of unrelated texts.
    pub unrelated: u16,
    /// The cosine that one unrelated pair in a hundred exceeds.
    pub chance: u16,
    /// Mean cosine of a question and its answer.
    pub related: u16,
    /// Cosine from which texts may be duplicates. Not a proof: "the limit is 3" and "the limit is 5"
    /// have 986 with the built-in model.
    pub duplicate: u16,
    /// True if measured for this model.
    pub measured: bool,
}

/// The first three columns are measured, the last is a judgement. The first row whose name is part of
/// the model id counts.
#[rustfmt::skip]
const CALIBRATIONS: &[(&str, ModelCalibration)] = &[
    //                             unrelated chance related duplicate
    ("granite-embedding-30m",  row(560,      750,   850,    950)),
    ("granite-embedding:30m",  row(560,      750,   850,    950)),
    ("all-minilm",             row(190,      560,   710,    950)),
];

/// For an unmeasured model. Cautious: few texts count as hits by their cosine alone, and nearly none
/// as duplicates.
const DEFAULT_CALIBRATION: ModelCalibration =
    ModelCalibration { measured: false, ..row(500, 750, 850, 980) };

const fn row(unrelated: u16, chance: u16, related: u16, duplicate: u16) -> ModelCalibration {
    assert!(unrelated < chance && chance < related, "noise is below a hit");
    assert!(related < duplicate && duplicate < 1000, "a hit is below a duplicate");
    ModelCalibration { unrelated, chance, related, duplicate, measured: true }
}

/// The calibration of a model; a default for one that was not measured.
pub fn calibration_for(model_id: &str) -> ModelCalibration {
    let id = model_id.to_ascii_lowercase();
    CALIBRATIONS
        .iter()
        .find(|(name, _)| id.contains(name))
        .map_or(DEFAULT_CALIBRATION, |(_, it)| *it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_models_are_found_by_name_and_others_get_the_default() {
        assert_eq!(calibration_for(crate::MODEL_ID).unrelated, 560);
        assert_eq!(
            calibration_for("ollama/granite-embedding:30m@0123456789ab/384/p1").related,
            850
        );
        assert_eq!(calibration_for("localhost:8080/all-MiniLM-L6-v2/384/p1").unrelated, 190);
        assert_eq!(
            calibration_for("api.openai.com/text-embedding-3-small/1024/p1"),
            DEFAULT_CALIBRATION
        );
    }
}
