//! A summary of the approvals that a task needs.

use super::duration_text;
use domain::gate::needs_approval;
use serde_json::{Map, Value};
use wire::{access::Member, action::Action};

/// Which outputs of a task need approval, and whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalSummary {
    /// What is approved before it takes effect.
    pub what: &'static str,
    /// Who decides, and on what terms.
    pub who: String,
}

/// The summary of a task's approval settings.
pub fn approval_summary(action: &Action, members: &[Member]) -> ApprovalSummary {
    let metadata: Map<String, Value> = serde_json::from_str(action.metadata.get()).unwrap_or_default();
    let approval = metadata.get("approval").and_then(Value::as_object).cloned().unwrap_or_default();
    let what = if needs_approval(&metadata) {
        "its output, and tool calls that ask for it"
    } else {
        "only tool calls that ask for it"
    };
    ApprovalSummary {
        what,
        who: [Some(reviewers(action, &approval, members)), terms(&approval)].into_iter().flatten().collect(),
    }
}

fn reviewers(action: &Action, approval: &Map<String, Value>, members: &[Member]) -> String {
    let email =
        |id: &str| members.iter().find(|m| m.id.to_string() == id).map_or("a former member", |m| m.email.as_str());
    let named: Vec<String> = approval
        .get("reviewers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|who| match who.split_once(':') {
            Some(("user", id)) => email(id).to_owned(),
            Some(("group", slug)) => format!("the group {slug}"),
            _ => "any reviewer".to_owned(),
        })
        .collect();
    match (named.is_empty(), &action.assigned_to) {
        (false, _) => named.join(", "),
        (true, Some(id)) => format!("{}, whom the task is assigned to", email(&id.to_string())),
        (true, None) => "any reviewer".to_owned(),
    }
}

/// The number of approvals needed, the deadline and the escalation; `None` if none is set.
fn terms(approval: &Map<String, Value>) -> Option<String> {
    let seconds = |key: &str| approval.get(key).and_then(Value::as_i64).map(duration_text::format);
    let quorum = approval.get("quorum").and_then(Value::as_u64).filter(|quorum| *quorum > 1);
    let others = approval.get("selfApproval") == Some(&Value::Bool(false));
    let terms: Vec<String> = [
        quorum.map(|quorum| format!("{quorum} must approve")),
        others.then(|| "not the person who started it".to_owned()),
        seconds("expiresAfterSeconds").map(|span| format!("expires after {span}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!terms.is_empty()).then(|| format!(" ({})", terms.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ADA: &str = "01935f00-0000-7000-8000-000000000001";
    const BO: &str = "01935f00-0000-7000-8000-000000000002";

    fn summary_of(assigned_to: Option<&str>, metadata: &Value) -> (&'static str, String) {
        let at = "2026-11-21T07:00:00Z";
        let action = json!({
            "id": "01935f00-0000-7000-8000-0000000000a1", "slug": "write", "name": "Write", "description": "", "agentSlug": "scout",
            "assignedTo": assigned_to, "outputType": "text", "outputConfig": {}, "metadata": metadata,
            "status": "active", "createdAt": at, "updatedAt": at,
        });
        let action: Action = serde_json::from_str(&action.to_string()).unwrap();
        let member = |id, email| json!({ "id": id, "email": email, "name": "", "role": "member", "status": "active", "createdAt": at });
        let members = json!([member(ADA, "ada@acme.test"), member(BO, "bo@acme.test")]);
        let members: Vec<Member> = serde_json::from_value(members).unwrap();
        let summary = approval_summary(&action, &members);
        (summary.what, summary.who)
    }

    #[test]
    fn the_summary_says_what_needs_approval_and_whose() {
        let (what, who) = summary_of(None, &json!({ "requiresApproval": true }));
        assert_eq!((what, who.as_str()), ("its output, and tool calls that ask for it", "any reviewer"));
        let (what, who) = summary_of(Some(ADA), &json!({}));
        assert_eq!(what, "only tool calls that ask for it");
        assert_eq!(who, "ada@acme.test, whom the task is assigned to");
        let approval = json!({
            "reviewers": [format!("user:{BO}"), "group:legal", "user:01935f00-0000-7000-8000-000000000009"], "quorum": 2, "selfApproval": false,
            "expiresAfterSeconds": 172_800,
        });
        let (_, who) = summary_of(Some(ADA), &json!({ "requiresApproval": true, "approval": approval }));
        let terms = "(2 must approve; not the person who started it; expires after 2d)";
        assert_eq!(who, format!("bo@acme.test, the group legal, a former member {terms}"));
    }
}
