//! Inputs of tools that people saved under a name, for their own next runs. Private values are never saved.

use crate::{
    Error, Ledger, Result, SavedInputRecord,
    guard::{Fields as Checks, require_for},
    tool::{get_on, published_on, require_audience},
};
use domain::{
    Scope,
    id::{ToolId, UserId},
    limit::{NAME_CHARS_MAX, TOOL_SAVED_INPUT_BYTES_MAX, TOOL_SAVED_INPUTS_MAX},
    role::Permission,
    tool::{
        draft::Fields,
        run::{take_formless, take_private},
    },
};
use serde_json::Value;
use store::Conn;

/// The request to save an input under a name.
#[derive(Debug, Clone, Default)]
pub struct SaveInput {
    /// Name, unique among those of the person for the tool. An input with this name is replaced.
    pub name: String,
    /// Fields by name. They need not be complete or valid.
    pub fields: Fields,
}

/// Returns the person whose inputs a caller saves.
fn owner(scope: &Scope) -> Result<UserId> {
    require_for(scope, Permission::Converse, "saved inputs are for people and their programs, not for worker tokens")?;
    scope.acting_user().ok_or(Error::Forbidden("saved inputs belong to a person, and this token acts for no one"))
}

/// Returns the inputs that the caller saved for a tool, by name.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::Forbidden`] for a token that acts for no one.
pub async fn saved_inputs(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Vec<SavedInputRecord>> {
    let (reader, slug) = (*scope, slug.to_owned());
    owner(scope)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, reader.tenant_id, &slug).await?;
        saved_on(conn, &reader, tool.id).await
    });
    read.await
}

/// The inputs that a caller saved for a tool; none for a caller without a person.
pub(crate) async fn saved_on(conn: &mut Conn<'_>, scope: &Scope, tool_id: ToolId) -> Result<Vec<SavedInputRecord>> {
    let Some(user_id) = scope.acting_user() else { return Ok(Vec::new()) };
    let of = (user_id, tool_id);
    Ok(store::tool_saved_input::list(conn, scope.tenant_id, of, TOOL_SAVED_INPUTS_MAX).await?)
}

/// Saves an input without its private values.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it is not published;
/// [`Error::Forbidden`] for a caller outside of its audience, and for a token that acts for no one; [`Error::Invalid`]
/// for a name that is none, and for fields that are too large; [`Error::LimitReached`].
pub async fn save_input(ledger: &Ledger, scope: &Scope, slug: &str, input: SaveInput) -> Result<SavedInputRecord> {
    let user_id = owner(scope)?;
    let mut checks = Checks::default();
    checks.name("name", &input.name, NAME_CHARS_MAX);
    let whole = Value::Object(input.fields);
    checks.value("fields", Some(&whole));
    if whole.to_string().len() > TOOL_SAVED_INPUT_BYTES_MAX {
        checks.refuse("fields", format!("at most {TOOL_SAVED_INPUT_BYTES_MAX} bytes"));
    }
    checks.check()?;
    let (caller, slug, name, now) = (*scope, slug.to_owned(), input.name, ledger.now());
    let saved = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding the limit together: the list would not show the input after it.
        store::user::lock_admins(tx, caller.tenant_id).await?;
        let (tool, version) = published_on(tx.conn(), caller.tenant_id, &slug).await?;
        require_audience(tx.conn(), &caller, &version.definition).await?;
        let of = (user_id, tool.id);
        let known = store::tool_saved_input::list(tx.conn(), caller.tenant_id, of, TOOL_SAVED_INPUTS_MAX).await?;
        let is_known = known.iter().any(|known| known.name == name);
        if !is_known && known.len() >= TOOL_SAVED_INPUTS_MAX as usize {
            let most = format!("a person saves at most {TOOL_SAVED_INPUTS_MAX} inputs of one tool");
            return Err(Error::LimitReached(most));
        }
        let mut fields = whole;
        take_private(&mut fields, version.definition.private_pointers());
        take_formless(&mut fields, version.definition.private_pointers());
        let saved = SavedInputRecord { name, fields: fields.to_string(), saved_at: now };
        store::tool_saved_input::save(tx, caller.tenant_id, of, &saved).await?;
        Ok(saved)
    });
    saved.await
}

/// Deletes an input that the caller saved.
///
/// # Errors
/// [`Error::NotFound`] if there is none with this name; [`Error::Forbidden`] for a token that acts for no one.
pub async fn delete_input(ledger: &Ledger, scope: &Scope, slug: &str, name: &str) -> Result<()> {
    let user_id = owner(scope)?;
    // PostgreSQL takes no text with this character.
    if name.contains('\0') {
        return Err(Error::NotFound("saved input"));
    }
    let (tenant_id, slug, name) = (scope.tenant_id, slug.to_owned(), name.to_owned());
    ledger
        .write(scope.into(), async move |tx| {
            let tool = get_on(tx.conn(), tenant_id, &slug).await?;
            let of = (user_id, tool.id);
            match store::tool_saved_input::delete(tx, tenant_id, of, &name).await? {
                true => Ok(()),
                false => Err(Error::NotFound("saved input")),
            }
        })
        .await
}
