//! Two requests at the same time.

use ledger::Error;

/// Checks that a limit held for two requests of which it allows one.
pub fn one_is_over_the_limit<T>(one: ledger::Result<T>, other: ledger::Result<T>) {
    let made = [one, other].map(|made| made.map(drop));
    let is_one = matches!(made, [Ok(()), Err(Error::LimitReached(_))] | [Err(Error::LimitReached(_)), Ok(())]);
    assert!(is_one, "{made:?}");
}
