//! A file was read again and again and never needed; where the agent went instead is kept.

use model::SignalKind;

use crate::facts::file_uses;
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for (name, it) in file_uses(pad).into_iter().filter(|it| it.1.n_reads >= 2 && it.1.n_edits == 0)
    {
        let Some(read) = it.first_read else { continue };
        // Where the work was done after all.
        let next = pad.good_touches().find(|touch| touch.writes && touch.call > read);
        if let Some(next) = next.map(|it| it.file) {
            let key = format!("{}→{}", pad.names.text(name), pad.names.text(next));
            let evidence = Evidence { files: paths(pad, [name, next]), ..Evidence::default() };
            acc.push(Sighting::new(SignalKind::ReadAbandon, key, evidence).times(it.n_reads));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ReadAbandon;

    #[test]
    fn a_file_read_twice_in_vain_points_to_the_right_one() {
        check(
            ReadAbandon,
            "read a.rs\nread a.rs\nedit b.rs",
            expect![[r#"
                a.rs→b.rs ×2 {"files":["a.rs","b.rs"]}
            "#]],
        );
        check(ReadAbandon, "read a.rs\nedit b.rs", expect![""]);
        check(ReadAbandon, "read a.rs\nread a.rs\nedit a.rs", expect![""]);
        check(ReadAbandon, "read a.rs\nread a.rs", expect![""]);
    }
}
