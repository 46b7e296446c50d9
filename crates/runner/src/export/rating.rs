//! Ratings of sessions, as an export reads them.

use datalake::{Feedback, InteractionRecord};
use domain::{id::SessionId, interaction::of_ratings, session_feedback::Label};
use ledger::{Ledger, feedback};
use std::{cell::RefCell, collections::HashMap};
use tokio::runtime::Handle;

/// Sessions whose ratings are remembered while an export runs.
const RATINGS_REMEMBERED: usize = 10_000;

/// Returns the rating of a session. It is called on another thread.
pub type Rated = Box<dyn Fn(&InteractionRecord) -> Result<Option<Feedback>, String> + Send>;

/// Returns a reader of ratings of whole sessions: the label that most people gave. Skipping is no rating. A session
/// whose ratings cannot be read is not asked again. The reader blocks, so it is called off the runtime's threads.
pub fn rating(ledger: &Ledger) -> Rated {
    // Without the instance key no one can have rated.
    if ledger.instance_key().is_err() {
        return Box::new(|_| Ok(None));
    }
    let (ledger, runtime) = (ledger.clone(), Handle::current());
    let known: RefCell<HashMap<SessionId, Result<Option<Feedback>, String>>> = RefCell::default();
    Box::new(move |record| {
        let Ok(id) = record.session_id.parse::<SessionId>() else { return Ok(None) };
        if let Some(rated) = known.borrow().get(&id) {
            return rated.clone();
        }
        let rated = match runtime.block_on(feedback::list_by_operator(&ledger, id)) {
            Ok(ratings) => {
                let count = |label| ratings.iter().filter(|rating| rating.label == label).count() as u64;
                Ok(of_ratings(count(Label::Positive), count(Label::Negative)))
            }
            Err(error) => {
                tracing::warn!(session = %id, %error, "its ratings cannot be read; the export counts them");
                Err(error.to_string())
            }
        };
        let mut known = known.borrow_mut();
        if known.len() >= RATINGS_REMEMBERED {
            known.clear();
        }
        known.insert(id, rated.clone());
        rated
    })
}
