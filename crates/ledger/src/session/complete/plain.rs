//! The fast path of a completion, for sessions whose end changes nothing but the session and its log. On PostgreSQL the
//! completions that wait together share two statements.
//!
//! Such a session runs no tool, is not private, has no contract beyond a text, and no result that is stored apart from
//! its row; neither approvals, related sessions nor webhooks wait for its end. Everything else, and every refusal, is
//! left to the general path.

use super::Completion;
use crate::{
    Ledger, Result,
    commit::{Change, Minter, completed_alone, state},
};
use domain::{
    Caller, Scope,
    action::OutputType,
    event::kind,
    gate::needs_approval,
    id::SessionId,
    limit::DOCUMENT_BYTES_MAX,
    output::{read, shape},
    session::{Actor, Command, Report, Session, Status, decide},
    tool::run::ToolRun,
};
use serde_json::{Map, Value};
use store::session::{DecideCompletion, PlainCompletion, SeenContract, SeenSession};

/// Completes a session together with others. Returns `None` if the general path must be used.
pub(super) async fn attempt(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    completion: &Completion,
) -> Result<Option<Session>> {
    let is_large = completion.result.as_ref().is_some_and(|result| result.len() > DOCUMENT_BYTES_MAX);
    if is_large || !ledger.store().is_postgres() {
        return Ok(None);
    }
    let minter = Minter::new(ledger, ledger.now());
    let (caller, completion) = (scope.caller, completion.clone());
    let text = |text: Option<&String>| text.map_or(0, String::len);
    let bytes = text(completion.result.as_ref()) + text(completion.usage.as_ref());
    let decide: DecideCompletion = Box::new(move |seen| decided(seen, caller, completion, minter));
    Ok(ledger.store().complete_plain(scope.into(), id, (decide, bytes)).await?)
}

/// Decides the completion of a session that was read without a lock. The store writes it only if the session is still
/// the same.
fn decided(seen: SeenSession, caller: Caller, completion: Completion, minter: Minter) -> Option<PlainCompletion> {
    let SeenSession { session: before, contract } = seen;
    if before.private_to.is_some() || before.status() != Status::Running || ToolRun::of_session(&before).is_some() {
        return None;
    }
    if before.action_id.is_some() && !fulfils(contract.as_ref()?, completion.result.as_deref()) {
        return None;
    }
    let mut change = Change {
        id: before.id,
        actor: Actor::Worker { attempt: completion.attempt },
        command: Command::Complete,
        caller,
        reason: super::REASON.into(),
        minter,
    };
    let transition = decide(state(&before), change.actor, change.command).ok()?;
    let completed = kind::Completed {
        attempt: Some(completion.attempt),
        has_result: completion.result.is_some(),
        written: before.action_id.is_some().then(Vec::new),
        ..kind::Completed::default()
    };
    let events = vec![change.minter.event(&completed)];
    let Completion { result, usage, .. } = completion;
    // Only the usage in the completion counts, as on the general path.
    let before = Session { usage: None, ..before };
    completed_alone(before, transition, change, events, Report { result, usage, ..Report::default() })
}

/// Whether a result fulfils a contract that asks for a text without a schema and without approval.
fn fulfils(contract: &SeenContract, result: Option<&str>) -> bool {
    let metadata: Map<String, Value> = serde_json::from_str(&contract.metadata).unwrap_or_default();
    if contract.output_type != OutputType::Text || needs_approval(&metadata) {
        return false;
    }
    let Ok(terms) = read(contract.output_type, &contract.output_config) else { return false };
    let Ok(result) = result.map(serde_json::from_str::<Value>).transpose() else { return false };
    terms.schema.is_none() && shape(&terms, result.as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(output_type: OutputType, output_config: &str, metadata: &str) -> SeenContract {
        SeenContract { output_type, output_config: output_config.into(), metadata: metadata.into() }
    }

    #[test]
    fn only_a_text_without_schema_and_approval_fulfils_a_contract_here() {
        let text = of(OutputType::Text, "{}", "{}");
        for good in [None, Some("null"), Some(r#""done""#), Some(r#"{"text":"done"}"#)] {
            assert!(fulfils(&text, good), "{good:?}");
        }
        for bad in ["7", "[]", r#"{"words":1}"#, "no JSON"] {
            assert!(!fulfils(&text, Some(bad)), "{bad}");
        }
        for contract in [
            of(OutputType::Text, r#"{"schema":{"type":"string"}}"#, "{}"),
            of(OutputType::Text, "{}", r#"{"requiresApproval":true}"#),
            of(OutputType::Fields, "{}", "{}"),
        ] {
            assert!(!fulfils(&contract, Some(r#""done""#)), "{contract:?}");
        }
    }
}
