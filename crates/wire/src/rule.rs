//! Rules that approve tool calls and outputs of agents, their decisions, and back-tests.

use domain::{
    Timestamp,
    gate::{GateKind, GateState, Verdict},
    id::{GateId, RuleId, SessionId, UserId},
    rule::{Outcome, State, SuspendedWhy, Why},
};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// Which approvals a rule is about: those with this agent, kind and tool whose values have exactly these names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleSubject {
    /// Slug of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AgentName))]
    pub agent: String,
    /// What the agent wants to do.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleKind))]
    pub kind: GateKind,
    /// Name of the tool; only and always with the kind `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub tool: Option<String>,
    /// Names of all arguments of the call, or of all values of the output.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::RuleText>, max_items = 100))]
    pub fields: Vec<String>,
}

/// A condition on one value: either `oneOf`, or `atLeast` and `atMost` or one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleCondition {
    /// Name of the value, one of the subject's.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleText))]
    pub field: String,
    /// The value is one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::RuleValue>, max_items = 20))]
    pub one_of: Vec<Value>,
    /// The value is a number, and not less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RuleNumber>))]
    pub at_least: Option<Number>,
    /// The value is a number, and not more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RuleNumber>))]
    pub at_most: Option<Number>,
}

/// How much a rule decides. Beyond a limit a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleLimits {
    /// Most decisions of one day (UTC).
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000))]
    pub per_day: u32,
    /// Largest sum of one value over the decisions of one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<RuleAmount>,
    /// Time from which the rule decides nothing any more. At most 180 days after the version is created.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: Timestamp,
    /// Percentage of approvals that still ask a person.
    #[cfg_attr(feature = "openapi", schema(maximum = 100))]
    pub canary_percent: u32,
}

/// Largest sum of one value over the decisions of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleAmount {
    /// Name of the value, which is a number.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleText))]
    pub field: String,
    /// Largest sum of one day (UTC).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleNumber))]
    pub per_day: Number,
}

/// `POST /api/rules` and `POST /api/rules/back-test`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRule {
    /// Which approvals the rule is about. It never changes.
    pub subject: RuleSubject,
    /// What must hold for the values: all of them. Values without a condition can be anything. If numbers are compared,
    /// a value whose name ends with `currency` needs a condition with one value.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 20))]
    pub conditions: Vec<RuleCondition>,
    /// How much the rule decides.
    pub limits: RuleLimits,
}

/// `PATCH /api/rules/{id}`: absent fields stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateRule {
    /// The version that was read; another one is refused with `stale_version`.
    pub version: u64,
    /// All conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_items = 20))]
    pub conditions: Option<Vec<RuleCondition>>,
    /// All limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RuleLimits>,
}

/// A rule with its newest version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// UUID of the rule.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: RuleId,
    /// Number of the newest version, from 1.
    pub version: u64,
    /// Whether the rule decides. One whose `limits.expiresAt` is over decides nothing either.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleState))]
    pub state: State,
    /// What the rule approves and how much of it, in English.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RuleSentence))]
    pub sentence: String,
    /// Which approvals the rule is about.
    pub subject: RuleSubject,
    /// What must hold for the values.
    pub conditions: Vec<RuleCondition>,
    /// How much the rule decides.
    pub limits: RuleLimits,
    /// The admin who created the newest version. If that person is no admin any more, the rule decides nothing.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub made_by: UserId,
    /// When the newest version was created.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub made_at: Timestamp,
    /// Who created the rule.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// When the rule was created.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Who changed, suspended, resumed or deleted it last.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// When that was.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// Why it is suspended; null unless it is.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RuleSuspendedWhy>))]
    pub suspended_why: Option<SuspendedWhy>,
    /// The approval whose decision suspended it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub suspended_approval: Option<GateId>,
    /// Approvals that it decided in the last 7 days.
    pub decided_7d: u64,
    /// Approvals that it decided in the last 90 days.
    pub decided_90d: u64,
}

/// A decision of a rule, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuleDecision {
    /// The approval that was decided.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub approval_id: GateId,
    /// UUID of the session that waited for it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// What the inbox calls it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Version of the rule that decided.
    pub version: u64,
    /// When it was decided.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub decided_at: Timestamp,
    /// State of the approval now.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateState))]
    pub state: GateState,
    /// The verdict that counts now; null if the decision was undone and no one has decided since.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Verdict>))]
    pub verdict: Option<Verdict>,
}

/// What a rule would have decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BackTest {
    /// Approvals that were asked for since then are compared.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub from: Timestamp,
    /// Whether there are more than are compared. The newest are compared.
    pub is_cut: bool,
    /// How many the rule would have approved and a person denied, changed or answered.
    pub differed: u64,
    /// How many the rule would have approved and a person approved.
    pub agreed: u64,
    /// How many the rule would have approved and no person decided.
    pub undecided: u64,
    /// How many still ask a person.
    pub asked: u64,
    /// At most 200 of them: differences first, then in the order of the numbers above, each newest first.
    pub approvals: Vec<BackTestedApproval>,
}

/// What a rule would have done with one approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BackTestedApproval {
    /// UUID of the approval.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub approval_id: GateId,
    /// UUID of the session that waited for it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// What the inbox calls it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// When it was asked for.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub opened_at: Timestamp,
    /// What a person decided; null if no person did.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Verdict>))]
    pub verdict: Option<Verdict>,
    /// What the rule would have done.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::BackTestOutcome))]
    pub outcome: Outcome,
    /// Why it would have asked; null if it would have approved.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RuleAsksWhy>))]
    pub asks_why: Option<Why>,
}
