//! What a rule would have done with gates of the past.

use super::{Case, Definition, Judgement, Used, Why, day_of};
use crate::{gate::Verdict, names::names};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, fmt};

/// A gate of the past, with what people decided.
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    /// The gate as it was when it opened.
    pub case: Case<'a>,
    /// What a person decided; `None` if no person did.
    pub verdict: Option<Verdict>,
}

/// What a rule has decided on each day.
#[derive(Debug, Clone, Default)]
pub struct Days(HashMap<i64, Used>);

impl Days {
    /// Judges the next gate, and counts it if the rule approves it. Gates must come in the order in which they opened.
    pub fn judge(&mut self, definition: &Definition, case: Case<'_>) -> Judgement {
        let used = self.0.entry(day_of(case.gate.opened_at).number).or_default();
        let judgement = definition.judge(case, *used);
        if let Judgement::Approve { amount_micros } = judgement {
            used.count += 1;
            used.amount_micros += amount_micros;
        }
        judgement
    }
}

/// What a rule would have done with a gate, beside what a person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It would have approved what a person denied, changed or answered.
    Differed,
    /// It would have approved what a person approved.
    Agreed,
    /// It would have approved what no person decided.
    Undecided,
    /// It would have asked a person.
    Asked,
}

names!(Outcome { Differed = "differed", Agreed = "agreed", Undecided = "undecided", Asked = "asked" });

/// What a rule would have done with one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tested {
    /// What it would have done.
    pub outcome: Outcome,
    /// Why it would have asked; `None` if it would have approved.
    pub why: Option<Why>,
}

/// What a rule would have done with gates of the past.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackTest {
    /// One for each gate, in the same order.
    pub tested: Vec<Tested>,
}

impl BackTest {
    /// The number of gates with this outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.tested.iter().filter(|tested| tested.outcome == outcome).count() as u64
    }
}

/// Judges gates of the past, in the order in which they opened, as if the rule had been active all the time. A
/// difference does not suspend it, so that all of them are found.
pub fn back_test<'a>(definition: &Definition, past: impl IntoIterator<Item = Past<'a>>) -> BackTest {
    let mut days = Days::default();
    let tested = past.into_iter().map(|past| match (days.judge(definition, past.case), past.verdict) {
        (Judgement::Ask(why), _) => Tested { outcome: Outcome::Asked, why: Some(why) },
        (Judgement::Approve { .. }, None) => Tested { outcome: Outcome::Undecided, why: None },
        (Judgement::Approve { .. }, Some(Verdict::Approve)) => Tested { outcome: Outcome::Agreed, why: None },
        (Judgement::Approve { .. }, Some(Verdict::Edit | Verdict::Deny | Verdict::Respond)) => {
            Tested { outcome: Outcome::Differed, why: None }
        }
    });
    BackTest { tested: tested.collect() }
}
