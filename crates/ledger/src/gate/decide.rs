//! Records decisions. The decision and its event are stored first. The effect follows when the undo window is
//! over.

use super::{
    announce::announce_gate,
    by_role,
    decision_event::decision_event,
    decision_state, decisions_of,
    item::{GateItem, MayDecide, load, may_decide},
    memory, not_found,
    open::{check_output_safety, criteria_of},
    parse_digest, person, proposed,
    settle::{SettleContext, settle},
    visibility::lock,
};
use crate::{
    Error, Ledger, Result,
    commit::{Minter, append_server_events},
    guard::{Fields, require},
    memory::Stamp,
    output, rule,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    criteria_set::SafetyGate,
    gate::{
        Approval, DecisionEffect, DecisionRequest, DecisionState, Gate, GateKind, Task, Verdict, approval,
        canonical_digest, evaluate,
    },
    id::{GateId, UserId},
    issue::Issue,
    limit::{GATE_DECISIONS_MAX, REASON_CHARS_MAX},
    notification::Topic,
    role::Permission,
    session::Session,
    view::{Answers, Field, check_answers, defaults},
};
use serde_json::{Map, Value};
use store::{DecisionRecord, WriteTx};

/// A decision that a reviewer submits.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// Whether the reviewer approves, edits, denies or responds.
    pub verdict: Verdict,
    /// The changed values of an edit, or the answer of a response. Null is the same as no value.
    pub value: Option<Value>,
    /// Text for the agent and the log.
    pub note: Option<String>,
    /// Hexadecimal digest of the proposal that the reviewer was shown.
    pub digest: Option<String>,
}

impl NewDecision {
    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        fields.text("note", self.note.as_deref(), REASON_CHARS_MAX);
        fields.value("value", self.value.as_ref());
        fields.check()
    }
}

/// Why a question is not approved, alone or with others.
const QUESTION_TAKES_NO_APPROVAL: &str = "Questions need an answer. Select only approvals, or use Answer.";

/// Records a decision. A repeat of the same decision returns the recorded state.
///
/// # Errors
///
/// - [`Error::NotFound`] if there is no such gate or the caller may not see it.
/// - [`Error::Forbidden`] for a token and for people who are not its reviewers.
/// - [`Error::Invalid`] for a verdict, a note or values that the gate does not take.
/// - [`Error::AlreadyDecided`] if it has a different decision.
/// - [`Error::StaleDecision`] if the proposal is not the one that the reviewer was shown.
/// - [`Error::GateClosed`] if it takes no decision any more.
/// - [`Error::HardBlock`] if a safety rule forbids the values.
/// - [`Error::LimitReached`] if it has too many decisions.
///
/// Without an undo window also [`Error::OutputInvalid`] if the output cannot be written.
pub async fn decide(ledger: &Ledger, scope: &Scope, id: GateId, new: NewDecision) -> Result<GateItem> {
    require(scope, Permission::Read)?;
    let user_id = person(scope)?;
    new.check()?;
    let shown = new.digest.as_deref().map(parse_digest).transpose()?;
    let now = ledger.now();
    let decider = Decider { scope: *scope, user_id, minter: Minter::new(ledger, now), stamp: Stamp::new(ledger) };
    let loaded = ledger
        .write(scope.into(), async move |tx| {
            let scope = decider.scope;
            let (session, gate) = lock(tx, &scope, id).await?;
            let (asked, minter) = (gate.clone(), decider.minter.clone());
            let gate = record(tx, session, gate, decider, new, shown).await?;
            let verdict = gate.state.verdict();
            let loaded = load(tx.conn(), &scope, vec![gate], now).await?;
            if asked.state.is_open() && verdict.is_some_and(|verdict| verdict != Verdict::Approve) {
                rule::suspend_covering(tx, &asked, scope.caller, &minter).await?;
            }
            Ok(loaded)
        })
        .await?;
    loaded.item(scope)
}

struct Decider {
    scope: Scope,
    user_id: UserId,
    minter: Minter,
    stamp: Stamp,
}

/// Records the decision on a locked gate, and returns the gate as it is then.
async fn record(
    tx: &mut WriteTx<'_>,
    session: Session,
    mut gate: Gate,
    mut decider: Decider,
    new: NewDecision,
    seen_digest: Option<domain::chain::Digest>,
) -> Result<Gate> {
    let scope = decider.scope;
    let by = by_role(&scope);
    let named = store::gate::is_reviewer(tx.conn(), scope.tenant_id, gate.id, decider.user_id, by).await?;
    match may_decide(&scope, &gate, named) {
        MayDecide::Yes | MayDecide::NotOpen => {}
        refused => return Err(Error::Forbidden(refused.reason().unwrap_or_default())),
    }
    let decisions = decisions_of(tx.conn(), &gate).await?;
    let decision_state = decision_state(&gate, &decisions);
    let decided = read(&gate, &decision_state, &decisions, decider.user_id, new)?;
    let Decided { verdict, digest, restates, .. } = decided;
    let request = DecisionRequest { user_id: decider.user_id, verdict, value: digest, seen_digest, restates };
    let decides = match evaluate(gate.state.name(), gate.quorum, &decision_state, &request) {
        DecisionEffect::Repeat(_) => return Ok(gate),
        DecisionEffect::Conflict(number) => {
            let recorded = decisions.into_iter().find(|d| d.number == number).ok_or_else(not_found)?;
            return Err(Error::AlreadyDecided(Box::new(recorded)));
        }
        DecisionEffect::Stale => return Err(Error::StaleDecision { current: decision_state.digest }),
        DecisionEffect::Closed => return Err(Error::GateClosed { state: gate.state.name() }),
        DecisionEffect::Record { decides } => decides,
    };
    if decisions.len() as u64 >= u64::from(GATE_DECISIONS_MAX) {
        return Err(Error::LimitReached(format!("a gate records at most {GATE_DECISIONS_MAX} decisions")));
    }
    match (&decided.values, gate.kind) {
        (Some(values), GateKind::Memory) => memory::check(tx.conn(), &gate, values).await?,
        (Some(values), GateKind::Output | GateKind::Fields) => check_output(tx, &session, &gate, values).await?,
        (None, _) | (Some(_), GateKind::Tool | GateKind::Question) => {}
    }
    let decision = DecisionRecord {
        number: u32::try_from(decisions.len()).unwrap_or(u32::MAX).saturating_add(1),
        user_id: Some(decider.user_id),
        actor: scope.caller.to_string(),
        email: String::new(),
        verdict: Some(decided.verdict),
        undoes: None,
        value: decided.stored.as_ref().map(Value::to_string),
        value_digest: decided.digest,
        note: decided.note,
        at: decider.minter.at(),
        entity_version: None,
    };
    store::gate::add_decision(tx, scope.tenant_id, gate.id, &decision).await?;
    let undo_seconds = store::tenant::undo_seconds(tx.conn(), scope.tenant_id).await?;
    if decides {
        let until = decision.at + TimeDelta::seconds(i64::from(undo_seconds));
        gate.state = gate.state.hold(decided.verdict, until)?;
    }
    // Without an undo window the decision takes effect in this transaction, so the message has the state after it.
    let settled = match decides && undo_seconds == 0 {
        true => Some(Gate { state: gate.state.settle(decided.verdict, decision.at)?, ..gate.clone() }),
        false => None,
    };
    let announced = settled.as_ref().unwrap_or(&gate);
    announce_gate(tx, &decider.minter, Topic::ApprovalDecided, announced, Some(&decision)).await?;
    let event = decision_event(&mut decider.minter, &gate, &decision, decided.stored);
    let minter = decider.minter.clone();
    let session = append_server_events(tx, session, vec![event], scope.caller, minter.at()).await?;
    store::gate::save(tx, &gate).await?;
    if settled.is_none() {
        return Ok(gate);
    }
    let id = gate.id;
    let by = SettleContext { caller: scope.caller, minter, details: None, stamp: Some(decider.stamp) };
    settle(tx, session, gate, by).await?;
    // The effect may have written the entity, whose title a gate has too.
    store::gate::find(tx.conn(), scope.tenant_id, id).await?.ok_or_else(not_found)
}

/// A decision after it was checked against the gate.
struct Decided {
    verdict: Verdict,
    /// What is stored with the decision: the values that differ from the staged ones, or the answer.
    stored: Option<Value>,
    /// The values that would take effect; `None` if the decision has none.
    values: Option<Map<String, Value>>,
    digest: domain::chain::Digest,
    note: Option<String>,
    /// The same as [`DecisionRequest::restates`].
    restates: bool,
}

impl Decided {
    /// A decision without values.
    const fn plain(verdict: Verdict, digest: domain::chain::Digest, note: Option<String>) -> Self {
        Self { verdict, stored: None, values: None, digest, note, restates: false }
    }
}

/// Checks a submitted decision against the present proposal. [`approval`] determines whether an approval changes
/// the proposal and is an edit.
fn read(
    gate: &Gate,
    decision_state: &DecisionState,
    decisions: &[DecisionRecord],
    user_id: UserId,
    new: NewDecision,
) -> Result<Decided> {
    let note = new.note.filter(|note| !note.trim().is_empty());
    if gate.kind == GateKind::Question && !gate.kind.takes(new.verdict) {
        return Err(Error::invalid("decision", QUESTION_TAKES_NO_APPROVAL));
    }
    if !gate.kind.takes(new.verdict) {
        let message = format!("a gate of kind {} cannot be answered with `{}`", gate.kind, new.verdict);
        return Err(Error::invalid("decision", message));
    }
    let value = new.value.filter(|value| !value.is_null());
    match new.verdict {
        Verdict::Approve | Verdict::Edit => edit(gate, decision_state, decisions, user_id, new.verdict, value, note),
        Verdict::Deny => {
            if value.is_some() {
                return Err(Error::invalid("value", "a denial has a note, not a value"));
            }
            if note.is_none() && matches!(gate.kind, GateKind::Output | GateKind::Fields | GateKind::Memory) {
                return Err(Error::invalid("note", "give a reason: the agent continues with it"));
            }
            Ok(Decided::plain(Verdict::Deny, gate.task_digest, note))
        }
        Verdict::Respond => {
            let answer = value.or_else(|| note.clone().map(Value::from));
            let answer = answer.ok_or_else(|| Error::invalid("value", "a response needs an answer"))?;
            let answer = check_answer(gate, answer)?;
            let digest = canonical_digest(&answer);
            let plain = Decided::plain(Verdict::Respond, digest, note);
            Ok(Decided { stored: Some(answer), ..plain })
        }
    }
}

/// Checks the answer to a question: against its fields, else against its schema. Returns the answer that counts,
/// which leaves out the answers of fields that do not apply.
pub(super) fn check_answer(gate: &Gate, answer: Value) -> Result<Value> {
    let Task::Question(question) = &gate.task else { return Ok(answer) };
    if !question.fields.is_empty() {
        let Value::Object(given) = answer else { return Err(Error::invalid("value", "an object with the answers")) };
        return Ok(Value::Object(check_form(&question.fields, given, "value")?));
    }
    let Some(schema) = &question.schema else { return Ok(answer) };
    let errors = output::form_errors(schema, &answer, "value");
    if errors.is_empty() { Ok(answer) } else { Err(Error::Invalid(errors)) }
}

/// Checks the answers to a form. Fields that the form does not show have their defaults. `root` is the path of the
/// answers in the request.
pub(crate) fn check_form(fields: &[Field], mut given: Answers, root: &str) -> Result<Answers> {
    let hidden = fields.iter().filter(|field| field.hidden).cloned().collect::<Vec<_>>();
    for (key, value) in defaults(&hidden) {
        given.entry(key).or_insert(value);
    }
    check_answers(fields, &given).map_err(|issues| {
        let at = |issue: Issue| {
            let field = if issue.field.is_empty() { root.to_owned() } else { format!("{root}.{}", issue.field) };
            Issue::new(field, issue.message)
        };
        Error::Invalid(issues.into_iter().map(at).collect())
    })
}

fn edit(
    gate: &Gate,
    decision_state: &DecisionState,
    decisions: &[DecisionRecord],
    user_id: UserId,
    verdict: Verdict,
    value: Option<Value>,
    note: Option<String>,
) -> Result<Decided> {
    let Some(staged) = gate.task.editable() else { return Err(not_found()) };
    let current = proposed(gate, decision_state, decisions)?.unwrap_or_default();
    let given = match value {
        None => Map::new(),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(Error::invalid("value", "an object with the values to put in place of the staged ones")),
    };
    let read = approval(gate.kind, staged, &current, &given).map_err(|issues| {
        Error::Invalid(issues.into_iter().map(|i| Issue::new(format!("value.{}", i.field), i.message)).collect())
    })?;
    let is_edit = matches!(read, Approval::Edited { .. });
    match read {
        Approval::AsProposed { .. } if verdict == Verdict::Edit && given.is_empty() => {
            Err(Error::invalid("value", "an edit needs values; to accept the proposal unchanged, approve it"))
        }
        Approval::AsProposed { restates } => {
            let own = decisions.iter().any(|d| Some(d.number) == decision_state.proposal && d.user_id == Some(user_id));
            // The reviewer sends the proposed values: either they repeat their own edit, or the values they send
            // turn the staged values into the proposed ones.
            let restates = restates || (own && !given.is_empty());
            // An approval of a proposed edit applies to that edit only: it has the edit's digest.
            let plain = Decided::plain(Verdict::Approve, decision_state.digest, note);
            Ok(Decided { values: Some(current), restates, ..plain })
        }
        Approval::Rebased { values, changed } | Approval::Edited { values, changed } => Ok(Decided {
            verdict: if is_edit { Verdict::Edit } else { Verdict::Approve },
            stored: Some(Value::Object(changed)),
            digest: canonical_digest(&gate.task.bound_value_with(&values)),
            values: Some(values),
            note,
            restates: false,
        }),
    }
}

/// Checks the values that would be written against the output contract and the safety rules. The rules are the
/// same for values of a reviewer and of an agent.
async fn check_output(tx: &mut WriteTx<'_>, session: &Session, gate: &Gate, values: &Map<String, Value>) -> Result<()> {
    let action = match gate.action_id {
        Some(id) => store::action::find(tx.conn(), gate.tenant_id, id).await?,
        None => None,
    };
    let action = action.ok_or_else(|| Error::Internal(format!("gate {} has staged output and no action", gate.id)))?;
    let criteria = criteria_of(tx.conn(), &action, session).await?;
    let blocked = match &criteria {
        Err(reason) => Some(Issue::new("criteria", reason.clone())),
        Ok(criteria) => match check_output_safety(action.output_type, values, criteria) {
            SafetyGate::Passed { .. } => None,
            blocked => {
                let reason = blocked.refusal().unwrap_or_default();
                let SafetyGate::Blocked { dimension, .. } = blocked else { return Ok(()) };
                Some(Issue::new(dimension, reason))
            }
        },
    };
    if let Some(error) = blocked {
        return Err(Error::HardBlock(error));
    }
    let text = gate.task.output(values.clone()).to_string();
    let errors = output::check(tx.conn(), gate.tenant_id, &action, session, Some(&text)).await?;
    if errors.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
}
