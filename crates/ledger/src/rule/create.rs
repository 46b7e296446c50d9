//! Making a rule.

use super::admin;
use crate::{Error, Ledger, Result, RuleRecord, audit::Act};
use domain::{
    Scope, Timestamp,
    audit::{Kind, TargetKind},
    id::RuleId,
    limit::{RULES_ALIKE_MAX, RULES_MAX},
    rule::{Definition, State},
};
use serde_json::json;

/// Makes a rule, which decides from now on.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins who are signed in; [`Error::Invalid`] for a wrong definition;
/// [`Error::LimitReached`] if the workspace has too many rules.
pub async fn create(ledger: &Ledger, scope: &Scope, definition: Definition) -> Result<RuleRecord> {
    let made_by = admin(scope)?;
    let now = ledger.now();
    let definition = checked(definition, now)?;
    let actor = scope.caller.to_string();
    let rule = RuleRecord {
        id: RuleId::new(now, ledger.entropy()),
        version: 1,
        state: State::Active,
        definition,
        made_by,
        made_at: now,
        created_by: actor.clone(),
        created_at: now,
        updated_by: actor,
        updated_at: now,
        suspended_why: None,
        suspended_gate: None,
    };
    let (tenant_id, act) = (scope.tenant_id, Act::new(Kind::RuleCreated, scope.caller, now));
    let act = act.on(TargetKind::Rule, rule.id.0).with(json!({ "version": 1 }));
    ledger
        .write(scope.into(), async move |tx| {
            // The lock keeps two requests from exceeding the limits together.
            store::user::lock_admins(tx, tenant_id).await?;
            let (all, alike) = store::rule::count(tx.conn(), tenant_id, &rule.definition.subject.key()).await?;
            if all >= RULES_MAX {
                return Err(Error::LimitReached(format!("a workspace has at most {RULES_MAX} rules")));
            }
            if alike >= RULES_ALIKE_MAX {
                return Err(Error::LimitReached(format!("at most {RULES_ALIKE_MAX} rules are about the same items")));
            }
            store::rule::insert(tx, tenant_id, &rule).await?;
            act.record(tx, tenant_id).await?;
            Ok(rule)
        })
        .await
}

/// Returns the definition as it is stored.
///
/// # Errors
/// [`Error::Invalid`] with every problem.
pub(super) fn checked(definition: Definition, now: Timestamp) -> Result<Definition> {
    let definition = Definition { subject: definition.subject.sorted(), ..definition };
    let issues = definition.check(now);
    if issues.is_empty() { Ok(definition) } else { Err(Error::Invalid(issues)) }
}
