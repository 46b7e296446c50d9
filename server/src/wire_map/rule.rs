//! Converts rules.

use domain::rule::{AmountLimit, Condition, Definition, Limits, Subject};
use ledger::{
    RuleUseRecord,
    rule::{self, BackTested, RuleChange, TestedGate},
};
use wire::rule::{
    BackTest, BackTestedApproval, NewRule, Rule, RuleAmount, RuleCondition, RuleDecision, RuleLimits, RuleSubject,
    UpdateRule,
};

/// Converts a rule to its JSON type.
pub fn rule(rule: rule::Rule) -> Rule {
    let rule::Rule { record, decided_7d, decided_90d } = rule;
    let sentence = record.definition.sentence();
    let Definition { subject, conditions, limits } = record.definition;
    Rule {
        id: record.id,
        version: record.version,
        state: record.state,
        sentence,
        subject: to_subject(subject),
        conditions: conditions.into_iter().map(to_condition).collect(),
        limits: to_limits(limits),
        made_by: record.made_by,
        made_at: record.made_at,
        created_by: record.created_by,
        created_at: record.created_at,
        updated_by: record.updated_by,
        updated_at: record.updated_at,
        suspended_why: record.suspended_why,
        suspended_approval: record.suspended_gate,
        decided_7d,
        decided_90d,
    }
}

fn to_subject(Subject { agent, kind, tool, fields }: Subject) -> RuleSubject {
    RuleSubject { agent, kind, tool, fields }
}

fn to_condition(Condition { field, one_of, at_least, at_most }: Condition) -> RuleCondition {
    RuleCondition { field, one_of, at_least, at_most }
}

fn to_limits(limits: Limits) -> RuleLimits {
    let Limits { per_day, amount, expires_at, canary_percent } = limits;
    let amount = amount.map(|AmountLimit { field, per_day }| RuleAmount { field, per_day });
    RuleLimits { per_day, amount, expires_at, canary_percent }
}

fn condition(RuleCondition { field, one_of, at_least, at_most }: RuleCondition) -> Condition {
    Condition { field, one_of, at_least, at_most }
}

fn limits(limits: RuleLimits) -> Limits {
    let RuleLimits { per_day, amount, expires_at, canary_percent } = limits;
    let amount = amount.map(|RuleAmount { field, per_day }| AmountLimit { field, per_day });
    Limits { per_day, amount, expires_at, canary_percent }
}

/// Converts the body of a request that makes or tests a rule.
pub fn new_rule(body: NewRule) -> Definition {
    let RuleSubject { agent, kind, tool, fields } = body.subject;
    Definition {
        subject: Subject { agent, kind, tool, fields },
        conditions: body.conditions.into_iter().map(condition).collect(),
        limits: limits(body.limits),
    }
}

/// Converts the body of a request that changes a rule.
pub fn rule_change(body: UpdateRule) -> RuleChange {
    RuleChange {
        version: body.version,
        conditions: body.conditions.map(|all| all.into_iter().map(condition).collect()),
        limits: body.limits.map(limits),
    }
}

/// Converts a decision of a rule to its JSON type.
pub fn rule_decision(record: RuleUseRecord) -> RuleDecision {
    RuleDecision {
        approval_id: record.gate_id,
        session_id: record.session_id,
        title: record.title,
        version: record.version,
        decided_at: record.at,
        state: record.state,
        verdict: record.outcome,
    }
}

/// Converts the result of a back-test to its JSON type.
pub fn back_test(tested: BackTested) -> BackTest {
    BackTest {
        from: tested.from,
        is_cut: tested.is_cut,
        differed: tested.differed,
        agreed: tested.agreed,
        undecided: tested.undecided,
        asked: tested.asked,
        approvals: tested.gates.into_iter().map(tested_approval).collect(),
    }
}

fn tested_approval(gate: TestedGate) -> BackTestedApproval {
    BackTestedApproval {
        approval_id: gate.gate_id,
        session_id: gate.session_id,
        title: gate.title,
        opened_at: gate.opened_at,
        verdict: gate.verdict,
        outcome: gate.tested.outcome,
        asks_why: gate.tested.why,
    }
}
