//! Yielding a session until someone or something answers.

use super::graph::resume_parent;
use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, state, write},
    gate::{RequestTerms, ask_or_approve, pause},
    guard::{Fields, require},
    output::check_schema,
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    gate::{PausedToolCall, Question, Task},
    id::{GateId, SessionId},
    limit::{KEY_CHARS_MAX, NAME_CHARS_MAX, REASON_CHARS_MAX},
    role::Permission,
    session::{Actor, Command, Report, Session, YieldTo, decide},
};
use serde_json::Value;

/// The request of a worker to yield.
#[derive(Debug, Clone)]
pub struct YieldRequest {
    /// The attempt of the claim, which is the fencing token.
    pub attempt: u32,
    /// The status to yield to.
    pub to: YieldTo,
    /// What the session waits for, as a text for people.
    pub detail: Option<String>,
    /// The tool call that must not run before a person approves it. Only with `awaiting_tool`.
    pub paused_tool_call: Option<PausedToolCall>,
    /// The question for a person. Only with `waiting_human`.
    pub question: Option<Question>,
    /// Whether the session is queued again when all sessions that it started have ended. Only with `idle`.
    pub waits_for_children: bool,
    /// Usage so far, as a JSON object.
    pub usage: Option<String>,
}

impl YieldRequest {
    /// Creates a request without any optional field.
    pub const fn at(attempt: u32, to: YieldTo) -> Self {
        Self {
            attempt,
            to,
            detail: None,
            paused_tool_call: None,
            question: None,
            waits_for_children: false,
            usage: None,
        }
    }

    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        fields.object("usage", self.usage.as_deref());
        fields.text("detail", self.detail.as_deref(), REASON_CHARS_MAX);
        if let Some(call) = &self.paused_tool_call {
            fields.key("pausedToolCall.toolCallId", Some(&call.tool_call_id), KEY_CHARS_MAX);
            fields.name("pausedToolCall.toolName", &call.tool_name, NAME_CHARS_MAX);
            let input = Value::Object(call.tool_input.clone()).to_string();
            fields.document("pausedToolCall.toolInput", Some(&input));
            if self.to != YieldTo::AwaitingTool {
                fields.refuse("pausedToolCall", "goes with status awaiting_tool");
            }
        }
        if let Some(question) = &self.question {
            refuse_question(&mut fields, question);
            if !question.fields.is_empty() || question.request_id.is_some() {
                fields.refuse("question", "a form of fields is asked for by a feedback request");
            }
            if self.to != YieldTo::WaitingHuman {
                fields.refuse("question", "goes with status waiting_human");
            }
        }
        if self.waits_for_children && self.to != YieldTo::Idle {
            fields.refuse("waitFor", "goes with status idle");
        }
        fields.check()
    }

    /// Returns what a person has to decide, if anything.
    fn task(&self) -> Option<Task> {
        match self.to {
            YieldTo::Idle => None,
            YieldTo::AwaitingTool => self.paused_tool_call.clone().map(Task::Tool),
            YieldTo::WaitingHuman => Some(Task::Question(self.question.clone().unwrap_or_else(|| {
                let detail = self.detail_text();
                Question::new(detail.unwrap_or_else(|| "The agent is waiting for an answer.".into()), None)
            }))),
        }
    }

    fn detail_text(&self) -> Option<String> {
        self.detail.clone().filter(|detail| !detail.trim().is_empty())
    }

    fn reason(&self) -> String {
        let fallback = match self.to {
            YieldTo::Idle if self.waits_for_children => "waiting for the sessions it started",
            YieldTo::Idle => "resting",
            YieldTo::WaitingHuman => "waiting for a person",
            YieldTo::AwaitingTool => "waiting for a tool",
        };
        self.detail_text().unwrap_or_else(|| fallback.into())
    }
}

fn refuse_question(fields: &mut Fields, question: &Question) {
    fields.text("question.message", Some(&question.message), REASON_CHARS_MAX);
    if question.message.trim().is_empty() {
        fields.refuse("question.message", "needs a text");
    }
    let schema = question.schema.as_ref();
    if let Some(wrong) = schema.and_then(|schema| check_schema(schema, "question.schema")) {
        fields.refuse(&wrong.field, wrong.message);
    }
}

/// Checks the text and the schema of a question as [`yield_to`] does, so that an agent gets the error before it yields.
///
/// # Errors
/// [`Error::Invalid`] for a text that is blank, too long or has a NUL, and for a schema that cannot be used.
pub fn check_question(question: &Question) -> Result<()> {
    let mut fields = Fields::default();
    refuse_question(&mut fields, question);
    fields.check()
}

/// Yields the session, which ends its lease. If a person has to decide or answer, a gate opens. A session that
/// waits for its children is queued again when the last one ends, or at once if all have ended.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, and for a session that waits for children and has none; [`Error::NotFound`] if
/// there is no such session, or if the caller neither can see it nor claimed it last; [`Error::Refused`] if the worker
/// does not hold it.
pub async fn yield_to(ledger: &Ledger, scope: &Scope, id: SessionId, yield_request: YieldRequest) -> Result<Session> {
    require(scope, Permission::Work)?;
    yield_request.check()?;
    let now = ledger.now();
    let mut change = Change {
        id,
        actor: Actor::Worker { attempt: yield_request.attempt },
        command: Command::Yield(yield_request.to),
        caller: scope.caller,
        reason: yield_request.reason(),
        minter: Minter::new(ledger, now),
    };
    let joining = Minter::new(ledger, now);
    let gate_id = GateId::new(now, ledger.entropy());
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
            let transition = decide(state(&before), change.actor, change.command)?;
            let (mut events, mut opened) = (Vec::new(), None);
            if let Some(task) = yield_request.task() {
                let of = RequestTerms::default();
                let (gate, event) = pause(tx, &before, (gate_id, task), of, &mut change.minter).await?;
                events.push(event);
                opened = Some((gate, change.minter.clone()));
            }
            let waits_for_children = yield_request.waits_for_children;
            let report = Report { usage: yield_request.usage, waits_for_children, ..Report::default() };
            if !waits_for_children {
                let waiting = write(tx, before, transition, change, events, report).await?;
                return match opened {
                    Some((gate, minter)) => ask_or_approve(tx, waiting, gate, minter).await,
                    None => Ok(waiting),
                };
            }
            if !store::session::graph::has_children(tx.conn(), caller.tenant_id, id).await? {
                return Err(Error::invalid("waitFor", "it has started no session to wait for"));
            }
            let parked = write(tx, before, transition, change, events, report).await?;
            // The last child may have ended already. A child that ends later finds this session waiting.
            resume_parent(tx, parked, joining).await
        })
        .await
}
