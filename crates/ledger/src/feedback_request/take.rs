//! Taking answers for which a session did not wait. Each answer is taken once: its stamp, and the event that has its
//! words, are in the transaction that takes it. A call whose response was lost is repeated with the same key, which the
//! stamp has too, and gets the same answers again.

use crate::{
    Ledger, Result,
    commit::{Minter, append_server_events, state},
    guard::{Fields, require},
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::kind::{Context, ContextInjected},
    feedback_request::{ShownAnswer, render},
    id::{RequestAnswerId, SessionId, TenantId},
    limit::{ANSWERS_TAKEN_MAX, KEY_CHARS_MAX},
    role::Permission,
    session::{Actor, Command, Session, decide},
    untrusted::Delimiter,
    view::Field,
};
use serde_json::Value;
use store::{AnswerRecord, PreparedEvent, WriteTx};

/// Answers that an attempt took, oldest first.
#[derive(Debug, Clone, Default)]
pub struct TakenAnswers {
    /// The answers; at most [`ANSWERS_TAKEN_MAX`].
    pub answers: Vec<AnswerRecord>,
    /// Questions and answers as a block of untrusted text for the agent; empty without answers.
    pub block: String,
}

/// Takes the oldest answers that a running session has not got yet. `call` is the idempotency key of the call: if the
/// same attempt has taken answers with it before, the call is a repeat, and returns those.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Refused`] if the worker does not hold it; [`crate::Error::Invalid`] for a malformed key.
pub async fn take(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    attempt: u32,
    call: Option<String>,
) -> Result<TakenAnswers> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    fields.key("idempotencyKey", call.as_deref(), KEY_CHARS_MAX);
    fields.check()?;
    let mut minter = Minter::new(ledger, ledger.now());
    let delimiter = Delimiter::new(ledger.entropy());
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| {
            let session = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let session = require_visible_or_claimed(tx.conn(), &caller, session).await?;
            decide(state(&session), Actor::Worker { attempt }, Command::Append)?;
            if let Some(call) = call.as_deref()
                && let Some(taken) = taken_before(tx, &session, (attempt, call), &delimiter).await?
            {
                return Ok(taken);
            }
            let by = (attempt, call.as_deref());
            let Some((taken, event)) = take_on(tx, &session, by, &mut minter, &delimiter).await? else {
                return Ok(TakenAnswers::default());
            };
            append_server_events(tx, session, vec![event], caller.caller, minter.at()).await?;
            Ok(taken)
        })
        .await
}

/// What an earlier call with this key took; `None` if it took nothing, so that nothing can have been lost.
async fn taken_before(
    tx: &mut WriteTx<'_>,
    session: &Session,
    by: (u32, &str),
    delimiter: &Delimiter,
) -> Result<Option<TakenAnswers>> {
    let tenant_id = session.tenant_id;
    let answers = store::feedback_request::of_call(tx.conn(), tenant_id, session.id, by, ANSWERS_TAKEN_MAX).await?;
    if answers.is_empty() { Ok(None) } else { with_block(tx, tenant_id, answers, delimiter).await.map(Some) }
}

/// Stamps the oldest untaken answers of a locked session for an attempt, and for the call with this key if it is not a
/// claim. Returns them with the event that records them in the log; `None` if there are none.
pub(crate) async fn take_on(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (attempt, call): (u32, Option<&str>),
    minter: &mut Minter,
    delimiter: &Delimiter,
) -> Result<Option<(TakenAnswers, PreparedEvent)>> {
    let (tenant_id, at) = (session.tenant_id, minter.at());
    let mut answers = store::feedback_request::unconsumed(tx.conn(), tenant_id, session.id, ANSWERS_TAKEN_MAX).await?;
    if answers.is_empty() {
        return Ok(None);
    }
    for answer in &mut answers {
        store::feedback_request::consume(tx, tenant_id, answer.id, (attempt, call), at).await?;
        answer.consumed_at = Some(at);
        answer.consumed_attempt = Some(attempt);
    }
    let taken = with_block(tx, tenant_id, answers, delimiter).await?;
    let ids: Vec<RequestAnswerId> = taken.answers.iter().map(|answer| answer.id).collect();
    let context = Context::Answers { answer_ids: ids, attempt };
    let event = minter.event(&ContextInjected { text: taken.block.clone(), context });
    Ok(Some((taken, event)))
}

/// Adds the block of untrusted text to answers.
async fn with_block(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    answers: Vec<AnswerRecord>,
    delimiter: &Delimiter,
) -> Result<TakenAnswers> {
    let mut forms: Vec<Vec<Field>> = Vec::with_capacity(answers.len());
    for answer in &answers {
        let version = store::view::version_of(tx.conn(), tenant_id, answer.view_id, answer.version).await?;
        forms.push(version.map(|version| version.fields).unwrap_or_default());
    }
    let block = block(&answers, &forms, delimiter);
    Ok(TakenAnswers { answers, block })
}

fn block(answers: &[AnswerRecord], forms: &[Vec<Field>], delimiter: &Delimiter) -> String {
    let value = |answer: &AnswerRecord| answer.answers.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let values: Vec<Option<Value>> = answers.iter().map(value).collect();
    let shown: Vec<ShownAnswer<'_>> = answers
        .iter()
        .zip(forms)
        .zip(&values)
        .map(|((answer, fields), value)| ShownAnswer {
            message: &answer.message,
            fields,
            outcome: answer.outcome,
            answers: value.as_ref(),
            note: answer.note.as_deref(),
            respondent: &answer.respondent,
            at: answer.deposited_at,
        })
        .collect();
    render(&shown, delimiter)
}
