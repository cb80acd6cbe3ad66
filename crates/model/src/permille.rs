//! Fractions between 0 and 1 as integers per mille, so that sums are exact and results reproducible.
//! Confidences, scores and shares have this type.

/// A fraction between 0 and 1, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerMille(u16);

impl PerMille {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(1000);

    /// Makes a fraction of thousandths. Values above 1000 are clamped: callers compute them, and rounding can
    /// exceed one.
    pub const fn new(thousandths: u16) -> Self {
        Self(if thousandths > 1000 { 1000 } else { thousandths })
    }

    /// Converts a fraction; `None` outside of 0 to 1. Input is rejected rather than clamped, because a
    /// user should learn of a mistake.
    pub fn from_fraction(fraction: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was just checked"
        )]
        (0.0..=1.0).contains(&fraction).then(|| Self((fraction * 1000.0).round() as u16))
    }

    pub const fn get(self) -> u16 {
        self.0
    }

    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    #[must_use]
    pub const fn saturating_add(self, thousandths: u16) -> Self {
        Self::new(self.0.saturating_add(thousandths))
    }

    #[must_use]
    pub const fn saturating_sub(self, thousandths: u16) -> Self {
        Self(self.0.saturating_sub(thousandths))
    }

    /// The smaller of this value and `cap`.
    #[must_use]
    pub const fn at_most(self, cap: Self) -> Self {
        if self.0 > cap.0 { cap } else { self }
    }
}

/// Stored as thousandths; wire types that show fractions convert explicitly.
impl serde::Serialize for PerMille {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u16(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for PerMille {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u16::deserialize(from).map(Self::new)
    }
}

impl std::fmt::Display for PerMille {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // As people read a confidence: `0.85`.
        write!(f, "{:.2}", self.as_fraction())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_and_stay_within_bounds() {
        assert_eq!(PerMille::from_fraction(0.8499).unwrap().get(), 850);
        assert_eq!(PerMille::from_fraction(f64::NAN), None);
        assert_eq!(PerMille::from_fraction(1.01), None);
        assert_eq!(PerMille::new(900).saturating_add(200), PerMille::ONE);
        assert_eq!(PerMille::new(900).saturating_sub(950), PerMille::ZERO);
    }
}
