//! Figures of inferred outcomes.

use domain::outcome::Outcome;

/// How many pairs of a label are exported so, of how many that are exported so and that have the label.
pub struct Figures {
    pub right: usize,
    pub exported: usize,
    pub labelled: usize,
}

impl Figures {
    /// Counts pairs of a label and of what was exported.
    pub fn of(pairs: &[(Outcome, Outcome)], class: Outcome) -> Figures {
        let count = |keep: &dyn Fn(&(Outcome, Outcome)) -> bool| pairs.iter().filter(|pair| keep(pair)).count();
        Figures {
            right: count(&|(label, exported)| *label == class && *exported == class),
            exported: count(&|(_, exported)| *exported == class),
            labelled: count(&|(label, _)| *label == class),
        }
    }

    pub fn precision(&self) -> usize {
        (1_000 * self.right).checked_div(self.exported).unwrap_or(1_000)
    }

    pub fn recall(&self) -> usize {
        (1_000 * self.right).checked_div(self.labelled).unwrap_or(1_000)
    }

    pub fn render(&self) -> String {
        let Figures { right, exported, labelled } = self;
        let (precision, recall) = (self.precision(), self.recall());
        format!("precision {precision} ({right}/{exported}), recall {recall} ({right}/{labelled})")
    }
}
