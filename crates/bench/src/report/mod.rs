//! The findings of a run and their goals.

mod machine;
mod markdown;

use machine::Machine;
pub use markdown::{Run, line, table, write};

/// A limit on a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {}", number(least)),
            Self::AtMost(most) => format!("≤ {}", number(most)),
        }
    }
}

/// The rounds of one figure.
#[derive(Debug, Clone, Default)]
pub struct Rounds(Vec<f64>);

impl Rounds {
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub fn highest(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The last round; 0 before the first.
    pub fn last(&self) -> f64 {
        self.0.last().copied().unwrap_or_default()
    }

    /// The same rounds in another unit.
    pub fn scaled(&self, by: f64) -> Self {
        Self(self.0.iter().map(|value| value * by).collect())
    }

    /// The same rounds as costs: `whole` divided by each rate.
    pub fn inverted(&self, whole: f64) -> Self {
        Self(self.0.iter().map(|rate| whole / rate).collect())
    }

    pub fn lowest(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// What a figure is compared with.
#[derive(Debug, Clone)]
pub struct Reference {
    pub what: String,
    pub value: f64,
    /// Absent where the reference is a constant.
    pub median: Option<f64>,
}

/// One line of the report.
#[derive(Debug, Clone)]
pub struct Finding {
    pub goal: &'static str,
    pub what: String,
    pub unit: &'static str,
    pub ours: f64,
    pub ours_median: f64,
    pub reference: Option<Reference>,
    pub must: Option<Bound>,
    pub aim: Option<Bound>,
    /// What is judged beside the figure itself, e.g. events that were lost.
    pub broken: Option<String>,
    /// Latencies, CPU time and similar facts as text.
    pub facts: String,
}

/// Whether a finding meets its goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    MetAim,
    MetMust,
    Missed,
    /// There is no limit, and the aim is not reached.
    MissedAim,
    /// Measured for context.
    Noted,
}

impl Finding {
    /// A figure without a goal.
    pub fn new(goal: &'static str, what: impl Into<String>, unit: &'static str, ours: f64) -> Self {
        Self {
            goal,
            what: what.into(),
            unit,
            ours,
            ours_median: ours,
            reference: None,
            must: None,
            aim: None,
            broken: None,
            facts: String::new(),
        }
    }

    /// Rounds of which the highest counts.
    pub fn highest(goal: &'static str, what: impl Into<String>, unit: &'static str, rounds: &Rounds) -> Self {
        Self { ours_median: rounds.median(), ..Self::new(goal, what, unit, rounds.highest()) }
    }

    /// Rounds of which the lowest counts.
    pub fn lowest(goal: &'static str, what: impl Into<String>, unit: &'static str, rounds: &Rounds) -> Self {
        Self { ours_median: rounds.median(), ..Self::new(goal, what, unit, rounds.lowest()) }
    }

    /// Compares with rounds of a reference in this run.
    pub fn against(mut self, what: impl Into<String>, value: f64, median: f64) -> Self {
        self.reference = Some(Reference { what: what.into(), value, median: Some(median) });
        self
    }

    /// Compares with a figure of another machine, and says so: such a ratio is no ratio within one run.
    pub fn against_constant(mut self, what: &str, value: f64) -> Self {
        let what = format!("{what}: a constant of another machine");
        self.reference = Some(Reference { what, value, median: None });
        self
    }

    pub fn goals(mut self, must: Bound, aim: Bound) -> Self {
        self.must = Some(must);
        self.aim = Some(aim);
        self
    }

    pub fn facts(mut self, facts: impl Into<String>) -> Self {
        self.facts = facts.into();
        self
    }

    /// The goal is missed, whatever the figure says.
    pub fn broken_if(mut self, is_broken: bool, why: impl Into<String>) -> Self {
        if is_broken {
            self.broken = Some(why.into());
        }
        self
    }

    /// The figure divided by the reference.
    pub fn ratio(&self) -> Option<f64> {
        self.reference.as_ref().map(|reference| self.ours / reference.value)
    }

    /// The median figure divided by the median of the reference.
    pub fn median_ratio(&self) -> Option<f64> {
        self.reference.as_ref().map(|reference| self.ours_median / reference.median.unwrap_or(reference.value))
    }

    pub fn verdict(&self) -> Verdict {
        let judged = self.ratio().unwrap_or(self.ours);
        let holds = |bound: Option<Bound>| bound.is_none_or(|bound| bound.holds(judged));
        match (self.must, self.aim) {
            _ if self.broken.is_some() => Verdict::Missed,
            (None, None) => Verdict::Noted,
            _ if !holds(self.must) => Verdict::Missed,
            _ if holds(self.aim) => Verdict::MetAim,
            (None, _) => Verdict::MissedAim,
            _ => Verdict::MetMust,
        }
    }
}

/// A figure for people: enough digits and no more.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 10_000.0 => thousands(value),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ if (value * 100.0 - (value * 100.0).round()).abs() < 1e-9 || value.abs() >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let shown = [0.0, 0.025, 0.4, 0.75, 2.0, 37.25, 812.4, 2_498.0, 130_000.4].map(number);
        assert_eq!(shown, ["0", "0.025", "0.40", "0.75", "2.00", "37.2", "812", "2498", "130,000"]);
    }

    #[test]
    fn a_constant_is_called_one() {
        let finding = Finding::new("G8", "x", "/s", 50.0).against_constant("other", 100.0);
        assert_eq!(finding.reference.as_ref().unwrap().what, "other: a constant of another machine");
        assert_eq!((finding.ratio(), finding.median_ratio()), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn a_finding_is_judged_by_its_ratio_or_itself() {
        let rounds = Rounds(vec![30.0, 50.0, 40.0]);
        let finding = |reference: f64| {
            let (must, aim) = (Bound::AtLeast(0.4), Bound::AtLeast(0.75));
            Finding::highest("G1", "x", "/s", &rounds).against("raw", reference, reference).goals(must, aim)
        };
        assert_eq!(finding(60.0).verdict(), Verdict::MetAim);
        assert_eq!(finding(100.0).verdict(), Verdict::MetMust);
        assert_eq!(finding(200.0).verdict(), Verdict::Missed);
        assert_eq!(finding(60.0).broken_if(true, "3 lost").verdict(), Verdict::Missed);
        assert_eq!(finding(80.0).median_ratio(), Some(0.5));
        let start = Finding::lowest("G16", "x", "s", &rounds).goals(Bound::AtMost(35.0), Bound::AtMost(10.0));
        assert_eq!((start.ours, start.verdict()), (30.0, Verdict::MetMust));
        assert_eq!(Finding::new("G1", "x", "/s", 1.0).verdict(), Verdict::Noted);
    }
}
