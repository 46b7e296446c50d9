//! Rules: an admin lets Shiftbook approve tool calls and outputs of an agent that people have approved many times.
//!
//! A rule only approves. Whatever it does not decide waits for a person as before. [`Definition::judge`] is the only
//! place that says what a rule decides: the transaction that opens a gate uses it, and so does the back-test.

mod back_test;
mod check;
mod definition;
mod judge;
mod number;
mod sentence;
mod suggest;

pub use back_test::{BackTest, Days, Outcome, Past, Tested, back_test};
pub use definition::{AmountLimit, Condition, Definition, Limits, State, Subject, SuspendedWhy};
pub use judge::{Case, Day, Judgement, Used, Why, day_of};
pub use number::micros;
pub use suggest::suggest;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
