//! Creating an action.

use super::{check, check_references};
use crate::{
    ActionRecord, Error, Ledger, Result, action_input,
    guard::{Fields, require},
};
use domain::{
    Scope,
    action::{ActionStatus, OutputType},
    id::{ActionId, EntityId, UserId},
    limit::{KEY_CHARS_MAX, SLUG_CHARS_MAX},
    role::Permission,
    slug::slugify,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::action::Creation;

/// The fields of a new action.
#[derive(Debug, Clone, Default)]
pub struct NewAction {
    /// 1 to 200 characters.
    pub name: String,
    /// Derived from the name when `None`.
    pub slug: Option<String>,
    /// At most 10,000 characters.
    pub description: Option<String>,
    /// Slug of the agent that may claim the action's sessions.
    pub agent_slug: Option<String>,
    /// User id of a member of the workspace.
    pub assigned_to: Option<UserId>,
    /// Id of an entity of the workspace.
    pub target_entity_id: Option<EntityId>,
    /// Defaults to text.
    pub output_type: Option<OutputType>,
    /// The output contract as a JSON object. Defaults to `{}`.
    pub output_config: Option<String>,
    /// A JSON object. Defaults to `{}`.
    pub metadata: Option<String>,
}

impl NewAction {
    /// Returns a digest of the request. Requests with the same key must have the same digest.
    fn digest(&self) -> [u8; 32] {
        let fields = json!([
            self.name,
            self.slug,
            self.description,
            self.agent_slug,
            self.assigned_to.map(|id| id.to_string()),
            self.target_entity_id.map(|id| id.to_string()),
            self.output_type.map(OutputType::as_str),
            self.output_config,
            self.metadata,
        ]);
        Sha256::digest(fields.to_string().as_bytes()).into()
    }
}

/// Highest number that is appended to a slug made from a name: `report`, `report-2`, … `report-9`. Each number is
/// tried in a transaction of its own. The tasks that follow get random characters, so that any number of tasks may
/// have one name.
const NUMBERED_MAX: u32 = 9;
/// Random characters in a slug that neither the name nor a number makes unique.
const RANDOM_CHARS: usize = 10;

/// Returns whether this is a task that people create for themselves: assigned to the caller, with nothing but a
/// name and a description.
fn is_own_task(scope: &Scope, new: &NewAction) -> bool {
    let NewAction {
        name: _,
        slug,
        description: _,
        agent_slug,
        assigned_to,
        target_entity_id,
        output_type,
        output_config,
        metadata,
    } = new;
    let is_plain = agent_slug.is_none()
        && slug.is_none()
        && target_entity_id.is_none()
        && output_type.is_none()
        && output_config.is_none()
        && metadata.is_none();
    is_plain && assigned_to.is_some() && *assigned_to == scope.user_id()
}

/// Creates an action. Operators and admins may create any action. Other people may create a task for themselves.
/// If a slug made from the name is taken, it gets a number, and random characters when the numbers are taken too. A
/// slug that the caller gave is refused when it is taken.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields and for references to what is not in
/// the workspace.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewAction) -> Result<ActionRecord> {
    create_with(ledger, scope, new, None).await
}

/// Creates an action once for each key of a caller. A repeat of the request, whose response was lost, returns the
/// action that the first one created, as it is now.
///
/// # Errors
/// Those of [`create`]; [`Error::Invalid`] for a malformed key; [`Error::IdConflict`] if the caller used the key for a
/// different request.
pub async fn create_once(ledger: &Ledger, scope: &Scope, new: NewAction, key: &str) -> Result<ActionRecord> {
    let mut fields = Fields::default();
    fields.key("key", Some(key), KEY_CHARS_MAX);
    fields.check()?;
    let creation = Creation { key: format!("{} {key}", scope.caller), digest: new.digest() };
    create_with(ledger, scope, new, Some(creation)).await
}

async fn create_with(
    ledger: &Ledger,
    scope: &Scope,
    new: NewAction,
    creation: Option<Creation>,
) -> Result<ActionRecord> {
    require(scope, if is_own_task(scope, &new) { Permission::StartSession } else { Permission::ManageActions })?;
    if let Some(slug) = new.slug.clone() {
        return create_as(ledger, scope, (new, slug), creation).await;
    }
    let random: String = ledger.request_id().to_string().chars().rev().take(RANDOM_CHARS).collect();
    // A name in another script, such as 在庫 or Отчёт, has no letters for a slug.
    let base = slugify(&new.name).unwrap_or_else(|| format!("task-{random}"));
    let mut made = create_as(ledger, scope, (new.clone(), base.clone()), creation.clone()).await;
    for tail in (2..=NUMBERED_MAX).map(|number| number.to_string()).chain([random]) {
        if !matches!(made, Err(Error::NameTaken(_))) {
            break;
        }
        made = create_as(ledger, scope, (new.clone(), with_tail(&base, &tail)), creation.clone()).await;
    }
    made
}

/// `base-tail`, with as much of the base as the length of a slug allows.
fn with_tail(base: &str, tail: &str) -> String {
    let kept: String = base.chars().take(SLUG_CHARS_MAX - 1 - tail.len()).collect();
    format!("{}-{tail}", kept.trim_end_matches('-'))
}

async fn create_as(
    ledger: &Ledger,
    scope: &Scope,
    (new, slug): (NewAction, String),
    creation: Option<Creation>,
) -> Result<ActionRecord> {
    let now = ledger.now();
    let action = ActionRecord {
        id: ActionId::new(now, ledger.entropy()),
        name: new.name,
        slug,
        description: new.description.unwrap_or_default(),
        agent_slug: new.agent_slug,
        assigned_to: new.assigned_to,
        target_entity_id: new.target_entity_id,
        output_type: new.output_type.unwrap_or(OutputType::Text),
        output_config: new.output_config.unwrap_or_else(|| "{}".into()),
        metadata: new.metadata.unwrap_or_else(|| "{}".into()),
        status: ActionStatus::Active,
        created_at: now,
        updated_at: now,
    };
    check(&action)?;
    action_input::check(&action)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            if let Some(creation) = &creation {
                store::session::lock_idempotency_key(tx, tenant_id, &creation.key).await?;
            }
            if let Some(creation) = &creation
                && let Some((known, digest)) = store::action::find_created(tx.conn(), tenant_id, &creation.key).await?
            {
                let detail = format!("this key already created the task {} from a different request", known.id);
                return if digest == creation.digest { Ok(known) } else { Err(Error::IdConflict { detail }) };
            }
            check_references(tx.conn(), tenant_id, &action).await?;
            if !store::action::insert(tx, tenant_id, &action).await? {
                return Err(Error::NameTaken("the slug"));
            }
            if let Some(creation) = &creation
                && !store::action::set_creation(tx, tenant_id, action.id, creation).await?
            {
                // Only a server of an earlier version, which does not lock the key, can have taken it.
                let why = "the same request is still being handled; send it again";
                return Err(Error::Unavailable(why.into()));
            }
            tx.counts_changed(tenant_id);
            Ok(action)
        })
        .await
}
