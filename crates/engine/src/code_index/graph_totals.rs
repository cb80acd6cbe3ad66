//! Totals of the code graph, stored with it, so that a pass without changes can report them without
//! loading the graph.

use graph::SymbolGraph;
use store::GraphReader;

use super::index::IndexReport;
use crate::Error;

/// Key of the row that holds the totals.
const TOTALS_STATE: &str = "totals";

/// Numbers of files, symbols and edges of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "named as in the report")]
pub(super) struct GraphTotals {
    n_files: usize,
    n_symbols: usize,
    n_partly_parsed: usize,
    n_edges: usize,
    n_unresolved: u64,
    n_foreign: u64,
}

impl GraphTotals {
    pub(super) fn count(graph: &SymbolGraph) -> Self {
        let mut totals = Self::default();
        for (id, _) in graph.files() {
            totals.n_files += 1;
            totals.n_symbols += graph.n_symbols(id);
            totals.n_partly_parsed += usize::from(graph.is_partly_parsed(id));
            if let Some(edges) = graph.encoded_edges(id) {
                let counts = edges.counts();
                totals.n_edges += counts.n_edges;
                totals.n_unresolved += u64::from(counts.n_unresolved);
                totals.n_foreign += u64::from(counts.n_external);
            }
        }
        totals
    }

    /// The totals of the stored graph; `None` if there are none, or unreadable ones.
    pub(super) async fn read(store: &GraphReader) -> Result<Option<Self>, Error> {
        let stored = store.get_state(TOTALS_STATE).await?;
        Ok(stored.as_deref().and_then(Self::parse))
    }

    /// The row to store.
    pub(super) fn to_state(self) -> (&'static str, String) {
        let Self { n_files, n_symbols, n_partly_parsed, n_edges, n_unresolved, n_foreign } = self;
        let value =
            format!("{n_files} {n_symbols} {n_partly_parsed} {n_edges} {n_unresolved} {n_foreign}");
        (TOTALS_STATE, value)
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u64> = text.split(' ').map_while(|it| it.parse().ok()).collect();
        let [n_files, n_symbols, n_partly_parsed, n_edges, n_unresolved, n_foreign] = numbers[..]
        else {
            return None;
        };
        Some(Self {
            n_files: usize::try_from(n_files).ok()?,
            n_symbols: usize::try_from(n_symbols).ok()?,
            n_partly_parsed: usize::try_from(n_partly_parsed).ok()?,
            n_edges: usize::try_from(n_edges).ok()?,
            n_unresolved,
            n_foreign,
        })
    }

    pub(super) fn add_to(self, report: &mut IndexReport) {
        report.n_files = self.n_files;
        report.n_symbols = self.n_symbols;
        report.n_partly_parsed = self.n_partly_parsed;
        report.n_edges = self.n_edges;
        report.n_unresolved = self.n_unresolved;
        report.n_foreign = self.n_foreign;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_as_they_were_stored() {
        let totals = GraphTotals {
            n_files: 1,
            n_symbols: 2,
            n_partly_parsed: 3,
            n_edges: 4,
            n_unresolved: 5,
            n_foreign: 6,
        };
        assert_eq!(GraphTotals::parse(&totals.to_state().1), Some(totals));
        for damaged in ["", "1 2 3", "1 2 3 4 5 x", "1 2 3 4 5 6 7"] {
            assert_eq!(GraphTotals::parse(damaged), None, "{damaged}");
        }
    }
}
