//! An item of the inbox: a gate, at which a session waits, or a question for which none does. Both have one kind of
//! address, so the id of a question is passed like that of a gate.

use crate::{
    Error, Ledger, Result,
    feedback_request::{self, Answerable, NewAnswer},
    gate::{self, GateDetail, GateItem, NewDecision},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    feedback_request::Outcome,
    gate::Verdict,
    id::{FeedbackRequestId, GateId},
    role::Permission,
};
use serde_json::{Map, Value};
use store::Conn;

/// An item with what a person reads to decide it.
#[derive(Debug)]
pub enum Item {
    /// A gate, at which a session waits.
    Gate(Box<GateDetail>),
    /// A question. No session waits for it, unless the id was that of a question which has a gate.
    Question(Box<Answerable>),
}

/// Which item it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemId {
    /// Where a session waits for a decision.
    Gate(GateId),
    /// A question without a gate.
    Question(FeedbackRequestId),
}

impl Item {
    /// Returns which item it is.
    pub const fn id(&self) -> ItemId {
        match self {
            Self::Gate(found) => ItemId::Gate(found.item.gate.id),
            Self::Question(asked) => ItemId::Question(asked.request.id),
        }
    }

    /// The JSON Schema of the values that a reviewer may change, if it is known.
    pub fn schema(&self) -> Option<&Value> {
        match self {
            Self::Gate(found) => found.schema.as_ref(),
            Self::Question(_) => None,
        }
    }
}

/// Returns an item.
///
/// # Errors
/// [`Error::NotFound`] if there is neither such a gate nor such a question, or if the caller cannot see it;
/// [`Error::Forbidden`] for a question that others are asked.
pub async fn get(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<Item> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| get_on(conn, &reader, id, now).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, scope: &Scope, id: GateId, now: Timestamp) -> Result<Item> {
    match gate::find_on(conn, scope, id).await? {
        Some(gate) => Ok(Item::Gate(Box::new(gate::detail_on(conn, scope, gate, now).await?))),
        None => {
            let asked = feedback_request::answerable_on(conn, scope, question_id(id)).await?;
            Ok(Item::Question(Box::new(asked)))
        }
    }
}

const fn question_id(id: GateId) -> FeedbackRequestId {
    FeedbackRequestId(id.0)
}

/// Decides an item. A question for which no session waits takes an answer or a denial, at once.
///
/// # Errors
/// Those of [`gate::decide`], or those of [`feedback_request::answer()`], which name the answers `content`;
/// [`Error::Invalid`] for a question that is approved, or answered with something else than an object.
pub async fn decide(ledger: &Ledger, scope: &Scope, id: ItemId, new: NewDecision) -> Result<()> {
    match id {
        ItemId::Gate(id) => gate::decide(ledger, scope, id, new).await.map(drop),
        ItemId::Question(id) => feedback_request::answer(ledger, scope, id, answer_of(new)?).await.map(drop),
    }
}

/// Decides gates one after the other. Those that are refused do not keep the others from being decided. A decision that
/// could not be read keeps its error.
pub async fn decide_many<E: From<Error>>(
    ledger: &Ledger,
    scope: &Scope,
    decisions: Vec<std::result::Result<(GateId, NewDecision), E>>,
) -> Vec<std::result::Result<GateItem, E>> {
    let mut decided = Vec::with_capacity(decisions.len());
    for decision in decisions {
        decided.push(match decision {
            Ok((id, new)) => gate::decide(ledger, scope, id, new).await.map_err(E::from),
            Err(error) => Err(error),
        });
    }
    decided
}

/// Closes a question without an answer, whether or not a session waits for it.
///
/// # Errors
/// Those of [`gate::cancel_question`] or of [`feedback_request::answer()`].
pub async fn close(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<()> {
    require(scope, Permission::StartSession)?;
    let reader = *scope;
    let gate = ledger.snapshot(scope, async move |conn| gate::find_on(conn, &reader, id).await).await?;
    match gate {
        Some(_) => gate::cancel_question(ledger, scope, id).await,
        None => {
            let new = NewAnswer { outcome: Outcome::Cancelled, answers: None, note: None };
            feedback_request::answer(ledger, scope, question_id(id), new).await.map(drop)
        }
    }
}

/// What a decision on a question means for the agent that asks.
fn answer_of(decision: NewDecision) -> Result<NewAnswer> {
    let NewDecision { verdict, value, note, .. } = decision;
    match (verdict, value) {
        (Verdict::Deny, _) => Ok(NewAnswer { outcome: Outcome::Declined, answers: None, note }),
        (Verdict::Respond, None) => Ok(NewAnswer { outcome: Outcome::Answered, answers: Some(Map::new()), note: None }),
        (Verdict::Respond, Some(Value::Object(answers))) => {
            Ok(NewAnswer { outcome: Outcome::Answered, answers: Some(answers), note: None })
        }
        (Verdict::Respond, Some(_)) => Err(Error::invalid("value", "an object with the answers")),
        (Verdict::Approve | Verdict::Edit, _) => Err(Error::invalid("decision", "deny or respond")),
    }
}
