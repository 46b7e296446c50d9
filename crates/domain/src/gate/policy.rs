//! The rules for approval in an action's `metadata.approval`: who may decide, how many approvals are needed,
//! and until when.

use crate::{
    id::UserId,
    issue::Issue,
    limit::{APPROVAL_QUORUM_MAX, APPROVAL_REVIEWERS_MAX, APPROVAL_SECONDS_MAX, APPROVAL_SECONDS_MIN},
    role::{Permission, Role, TokenScope, may},
    slug::is_slug,
};
use serde_json::{Map, Value};
use std::fmt;

/// A party that may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// The person with this id.
    User(UserId),
    /// Every member of the group with this slug.
    Group(String),
    /// Everyone whose role includes the permission to decide.
    Anyone,
}

impl Principal {
    /// Parses `user:<uuid>`, `group:<slug>` or `anyone`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => (text == "anyone").then_some(Self::Anyone),
            Some(("user", id)) => id.parse().ok().map(Self::User),
            Some(("group", slug)) => is_slug(slug).then(|| Self::Group(slug.to_owned())),
            Some(_) => None,
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Group(slug) => write!(f, "group:{slug}"),
            Self::Anyone => f.write_str("anyone"),
        }
    }
}

/// The gates that a person may decide because of their role, without being named as a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ByRole {
    /// No gates.
    Nothing,
    /// Gates whose reviewers include [`Principal::Anyone`].
    Anyones,
    /// The same, and gates that were given to the admins because too few of their reviewers are left.
    Admins,
}

impl ByRole {
    /// Returns what this role allows. `scope` is the scope of the token, if the caller is a token with one.
    pub fn of(role: Role, scope: Option<TokenScope>) -> Self {
        if !may(role, scope, Permission::Decide) {
            Self::Nothing
        } else if may(role, scope, Permission::Administer) {
            Self::Admins
        } else {
            Self::Anyones
        }
    }
}

/// Whether too few people are left to reach the quorum. Counted are those who may decide now, and those whose
/// approval still counts although they may no longer decide.
pub fn lacks_reviewers(may_decide: &[UserId], approved: &[UserId], quorum: u32) -> bool {
    let gone = approved.iter().filter(|user_id| !may_decide.contains(user_id)).count();
    ((may_decide.len() + gone) as u64) < u64::from(quorum)
}

/// The rules by which an action's gates are decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Parties that may decide. If empty: the action's assignee, or anyone whose role allows it.
    pub reviewers: Vec<Principal>,
    /// Number of approvals that are needed, each from another person.
    pub quorum: u32,
    /// Whether the person for whom the session runs may decide too. The default is true.
    pub self_approval: bool,
    /// Time after which an undecided gate expires and its session with it, seconds.
    pub expires_after: Option<i64>,
    /// Time after which the reviewers are reminded, seconds.
    pub remind_after: Option<i64>,
    /// Time after which `escalate_to` may decide too, seconds.
    pub escalate_after: Option<i64>,
    /// Party that is asked when no one has decided in that time.
    pub escalate_to: Option<Principal>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            reviewers: Vec::new(),
            quorum: 1,
            self_approval: true,
            expires_after: None,
            remind_after: None,
            escalate_after: None,
            escalate_to: None,
        }
    }
}

/// Whether an action's output waits for a decision: `metadata.requiresApproval`.
pub fn needs_approval(metadata: &Map<String, Value>) -> bool {
    metadata.get("requiresApproval") == Some(&Value::Bool(true))
}

impl Policy {
    /// Reads `approval` of an action's metadata and checks `requiresApproval`. Without `approval` it returns
    /// the default.
    ///
    /// # Errors
    /// One [`Issue`] for each invalid field, with its path in the metadata.
    pub fn of(metadata: &Map<String, Value>) -> Result<Self, Vec<Issue>> {
        let mut reading = Reading { issues: Vec::new() };
        if metadata.get("requiresApproval").is_some_and(|value| !value.is_boolean()) {
            reading.refuse("requiresApproval", "true or false");
        }
        let policy = match metadata.get("approval") {
            None | Some(Value::Null) => Self::default(),
            Some(Value::Object(approval)) => reading.policy(approval),
            Some(_) => {
                reading.refuse("approval", "an object");
                Self::default()
            }
        };
        if reading.issues.is_empty() { Ok(policy) } else { Err(reading.issues) }
    }
}

struct Reading {
    issues: Vec<Issue>,
}

impl Reading {
    fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.issues.push(Issue::new(format!("metadata.{field}"), message));
    }

    fn policy(&mut self, approval: &Map<String, Value>) -> Policy {
        let known = [
            "reviewers",
            "quorum",
            "selfApproval",
            "expiresAfterSeconds",
            "remindAfterSeconds",
            "escalateAfterSeconds",
            "escalateTo",
        ];
        for key in approval.keys().filter(|key| !known.contains(&key.as_str())) {
            self.refuse(&format!("approval.{key}"), "there is no such approval setting");
        }
        let policy = Policy {
            reviewers: self.reviewers(approval.get("reviewers")),
            quorum: self.quorum(approval.get("quorum")),
            self_approval: self.flag(approval.get("selfApproval")),
            expires_after: self.seconds(approval, "expiresAfterSeconds"),
            remind_after: self.seconds(approval, "remindAfterSeconds"),
            escalate_after: self.seconds(approval, "escalateAfterSeconds"),
            escalate_to: approval.get("escalateTo").and_then(|value| self.escalate_to(value)),
        };
        let names = |key: &str| approval.get(key).is_some_and(|value| !value.is_null());
        if names("escalateAfterSeconds") != names("escalateTo") {
            self.refuse("approval.escalateTo", "must be set together with escalateAfterSeconds");
        }
        policy
    }

    fn reviewers(&mut self, value: Option<&Value>) -> Vec<Principal> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) if items.len() <= APPROVAL_REVIEWERS_MAX => items
                .iter()
                .enumerate()
                .filter_map(|(at, item)| self.principal(&format!("approval.reviewers[{at}]"), item))
                .collect(),
            Some(_) => {
                self.refuse("approval.reviewers", format!("a list of at most {APPROVAL_REVIEWERS_MAX}"));
                Vec::new()
            }
        }
    }

    fn escalate_to(&mut self, value: &Value) -> Option<Principal> {
        if value.is_array() {
            self.refuse(
                "approval.escalateTo",
                "one person or group, not a list: create a group and give it as `group:` and its slug",
            );
            return None;
        }
        self.principal("approval.escalateTo", value)
    }

    fn principal(&mut self, field: &str, value: &Value) -> Option<Principal> {
        let principal = value.as_str().and_then(Principal::parse);
        if principal.is_none() && !value.is_null() {
            self.refuse(field, "`user:` and an id, `group:` and a slug, or `anyone`");
        }
        principal
    }

    fn quorum(&mut self, value: Option<&Value>) -> u32 {
        match value.filter(|value| !value.is_null()) {
            None => 1,
            Some(value) => match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(quorum) if (1..=APPROVAL_QUORUM_MAX).contains(&quorum) => quorum,
                _ => {
                    self.refuse("approval.quorum", format!("1 to {APPROVAL_QUORUM_MAX}"));
                    1
                }
            },
        }
    }

    fn flag(&mut self, value: Option<&Value>) -> bool {
        match value {
            None | Some(Value::Null) => true,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.refuse("approval.selfApproval", "true or false");
                true
            }
        }
    }

    fn seconds(&mut self, approval: &Map<String, Value>, key: &str) -> Option<i64> {
        let value = approval.get(key).filter(|value| !value.is_null())?;
        match value.as_i64() {
            Some(seconds) if (APPROVAL_SECONDS_MIN..=APPROVAL_SECONDS_MAX).contains(&seconds) => Some(seconds),
            _ => {
                self.refuse(
                    &format!("approval.{key}"),
                    format!("{APPROVAL_SECONDS_MIN} to {APPROVAL_SECONDS_MAX} seconds"),
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(metadata: Value) -> Result<Policy, Vec<String>> {
        Policy::of(metadata.as_object().unwrap()).map_err(|issues| issues.into_iter().map(|i| i.field).collect())
    }

    #[test]
    fn a_whole_policy_is_read() {
        let id = "018f0000-0000-7000-8000-000000000000";
        let policy = of(json!({ "requiresApproval": true, "approval": {
            "reviewers": [format!("user:{id}"), "group:legal", "anyone"], "quorum": 2, "selfApproval": false,
            "expiresAfterSeconds": 3600, "remindAfterSeconds": 60, "escalateAfterSeconds": 600, "escalateTo": "group:leads",
        }}))
        .unwrap();
        let reviewers: Vec<_> = policy.reviewers.iter().map(Principal::to_string).collect();
        assert_eq!(reviewers, [format!("user:{id}"), "group:legal".into(), "anyone".into()]);
        assert_eq!((policy.quorum, policy.self_approval, policy.expires_after), (2, false, Some(3600)));
        assert_eq!(policy.escalate_to, Some(Principal::Group("leads".into())));
        assert_eq!(of(json!({})).unwrap(), Policy::default());
    }

    #[test]
    fn only_the_value_true_asks_for_approval() {
        let asks = |metadata: Value| needs_approval(metadata.as_object().unwrap());
        assert!(asks(json!({ "requiresApproval": true })));
        for other in [json!({}), json!({ "requiresApproval": false }), json!({ "requiresApproval": "true" })] {
            assert!(!asks(other.clone()), "{other}");
        }
    }

    #[test]
    fn a_role_decides_what_anyone_may_and_an_admin_what_has_too_few_reviewers() {
        let by = [Role::Admin, Role::Operator, Role::Reviewer, Role::Member].map(|role| ByRole::of(role, None));
        assert_eq!(by, [ByRole::Admins, ByRole::Anyones, ByRole::Anyones, ByRole::Nothing]);
        assert_eq!(ByRole::of(Role::Admin, Some(TokenScope::Worker)), ByRole::Nothing);
    }

    #[test]
    fn a_quorum_counts_who_is_left_and_who_approved_before_they_left() {
        let [a, b] = [1, 2].map(|n| UserId(uuid::Uuid::from_u128(n)));
        assert!(lacks_reviewers(&[], &[], 1));
        assert!(!lacks_reviewers(&[a], &[], 1));
        assert!(lacks_reviewers(&[a], &[], 2) && lacks_reviewers(&[a], &[a], 2));
        assert!(!lacks_reviewers(&[a], &[b], 2));
    }

    #[test]
    fn a_list_to_escalate_to_is_told_what_it_is_not() {
        let metadata = json!({ "requiresApproval": true, "approval": {
            "escalateAfterSeconds": 600, "escalateTo": ["group:leads", "anyone"],
        }});
        let refused = Policy::of(metadata.as_object().unwrap()).unwrap_err();
        let described: Vec<_> = refused.iter().map(|issue| (issue.field.as_str(), issue.message.as_str())).collect();
        assert!(
            matches!(described.as_slice(), [("metadata.approval.escalateTo", message)] if message.contains("not a list")),
            "{described:?}"
        );
    }

    #[test]
    fn a_list_of_reviewers_has_a_largest_length() {
        let named = |count| of(json!({ "approval": { "reviewers": vec!["anyone"; count] } }));
        assert_eq!(named(APPROVAL_REVIEWERS_MAX).map(|policy| policy.reviewers.len()), Ok(APPROVAL_REVIEWERS_MAX));
        assert_eq!(named(APPROVAL_REVIEWERS_MAX + 1), Err(vec!["metadata.approval.reviewers".to_owned()]));
    }

    #[test]
    fn every_wrong_setting_is_named() {
        let named = of(json!({ "requiresApproval": "yes", "approval": {
            "reviewers": ["user:me", "boss"], "quorum": 0, "selfApproval": 1, "expiresAfterSeconds": 0,
            "escalateAfterSeconds": 60, "delay": 1,
        }}))
        .unwrap_err();
        assert_eq!(
            named,
            [
                "metadata.requiresApproval",
                "metadata.approval.delay",
                "metadata.approval.reviewers[0]",
                "metadata.approval.reviewers[1]",
                "metadata.approval.quorum",
                "metadata.approval.selfApproval",
                "metadata.approval.expiresAfterSeconds",
                "metadata.approval.escalateTo",
            ]
        );
    }
}
