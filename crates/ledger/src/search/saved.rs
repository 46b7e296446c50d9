//! Saved searches: search lines with names, for the person who saved them or for everyone in the workspace.

use crate::{
    Error, Ledger, Result, SavedSearchRecord,
    guard::{Fields, require, require_for},
    list_line::refused,
};
use domain::{
    Scope,
    id::{SavedSearchId, UserId},
    limit::{NAME_CHARS_MAX, SAVED_SEARCHES_OF_PERSON_MAX, SAVED_SEARCHES_SHARED_MAX},
    role::Permission,
    search::Line,
};
use store::Conn;

/// A search line to save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSavedSearch {
    /// Name, unique among those of the person.
    pub name: String,
    /// The search line. It is saved in its canonical form.
    pub line: String,
    /// Whether everyone in the workspace sees it.
    pub shared: bool,
}

/// Returns the person whose searches a caller saves.
pub(crate) fn owner(scope: &Scope) -> Result<UserId> {
    require_for(
        scope,
        Permission::Converse,
        "saved searches are for people and their programs, not for worker tokens",
    )?;
    scope.acting_user().ok_or(Error::Forbidden("saved searches belong to a person, and this token acts for no one"))
}

/// Returns the searches that the caller saved and those that are shared, by name.
///
/// # Errors
/// [`Error::Forbidden`] for a token that acts for nobody, and for a worker token.
pub async fn saved(ledger: &Ledger, scope: &Scope) -> Result<Vec<SavedSearchRecord>> {
    let (reader, user_id) = (*scope, owner(scope)?);
    ledger.snapshot(scope, async move |conn| saved_on(conn, &reader, user_id).await).await
}

/// The searches that a person sees, by name.
pub(crate) async fn saved_on(conn: &mut Conn<'_>, scope: &Scope, user_id: UserId) -> Result<Vec<SavedSearchRecord>> {
    let most = SAVED_SEARCHES_OF_PERSON_MAX + SAVED_SEARCHES_SHARED_MAX;
    let mut found = store::search::saved::visible(conn, scope.tenant_id, user_id, most).await?;
    found.sort_by_cached_key(|search| (search.name.to_lowercase(), search.id));
    Ok(found)
}

/// Saves a search line under a name. To save it again under the same name changes nothing.
///
/// # Errors
/// [`Error::Invalid`] for a name or a line that is none, and for an empty line; [`Error::NameTaken`] if the person
/// saved another search under this name; [`Error::LimitReached`]; [`Error::Forbidden`] for a token that acts for no
/// one, and for a shared search of a caller who may not manage sessions.
pub async fn save(ledger: &Ledger, scope: &Scope, new: NewSavedSearch) -> Result<SavedSearchRecord> {
    let user_id = owner(scope)?;
    if new.shared {
        require_for(scope, Permission::ManageSessions, "only operators and admins can share a saved search")?;
    }
    let mut fields = Fields::default();
    fields.name("name", &new.name, NAME_CHARS_MAX);
    fields.check()?;
    let line = Line::parse(&new.line).map_err(|bad| refused(&bad))?;
    if line.is_empty() {
        return Err(Error::invalid("q", "enter what to search for"));
    }
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let search = SavedSearchRecord {
        id: SavedSearchId::new(now, ledger.entropy()),
        user_id,
        name: new.name,
        line: line.to_string(),
        shared: new.shared,
        created_at: now,
    };
    let saved = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding a limit together.
        store::user::lock_admins(tx, tenant_id).await?;
        let known = store::search::saved::visible(tx.conn(), tenant_id, user_id, u32::MAX).await?;
        if let Some(known) = known.into_iter().find(|known| known.user_id == user_id && known.name == search.name) {
            let is_same = known.line == search.line && known.shared == search.shared;
            return if is_same { Ok(known) } else { Err(Error::NameTaken("the name")) };
        }
        let (own, shared) = store::search::saved::counts(tx.conn(), tenant_id, user_id).await?;
        if own >= u64::from(SAVED_SEARCHES_OF_PERSON_MAX) {
            let most = format!("a person has at most {SAVED_SEARCHES_OF_PERSON_MAX} saved searches");
            return Err(Error::LimitReached(most));
        }
        if search.shared && shared >= u64::from(SAVED_SEARCHES_SHARED_MAX) {
            let most = format!("a workspace has at most {SAVED_SEARCHES_SHARED_MAX} shared searches");
            return Err(Error::LimitReached(most));
        }
        if store::search::saved::insert(tx, tenant_id, &search).await? {
            Ok(search)
        } else {
            Err(Error::NameTaken("the name"))
        }
    });
    saved.await
}

/// The saved search with this id, if the caller may change it. `why` is the reason of a refusal.
async fn changeable(
    conn: &mut Conn<'_>,
    caller: &Scope,
    user_id: UserId,
    id: SavedSearchId,
    why: &'static str,
) -> Result<SavedSearchRecord> {
    let found = store::search::saved::find(conn, caller.tenant_id, id).await?;
    let Some(search) = found.filter(|search| search.shared || search.user_id == user_id) else {
        return Err(Error::NotFound("saved search"));
    };
    if search.user_id != user_id {
        require_for(caller, Permission::ManageSessions, why)?;
    }
    Ok(search)
}

/// Gives a saved search another name: one of the person's own, or a shared one.
///
/// # Errors
/// [`Error::Invalid`] for a name that is none; [`Error::NameTaken`] if the person who saved it has another search of
/// this name; [`Error::NotFound`] if there is none that the caller sees; [`Error::Forbidden`] for a shared search of
/// another person if the caller may not manage sessions.
pub async fn rename_saved(
    ledger: &Ledger,
    scope: &Scope,
    id: SavedSearchId,
    name: String,
) -> Result<SavedSearchRecord> {
    require(scope, Permission::Read)?;
    let (caller, user_id) = (*scope, owner(scope)?);
    let mut fields = Fields::default();
    fields.name("name", &name, NAME_CHARS_MAX);
    fields.check()?;
    let renamed = ledger.write(scope.into(), async move |tx| {
        let why = "only operators and admins can rename a shared search of another person";
        let search = changeable(tx.conn(), &caller, user_id, id, why).await?;
        if search.name == name {
            return Ok(search);
        }
        let search = SavedSearchRecord { name, ..search };
        // The application's role cannot update rows of this table.
        store::search::saved::delete(tx, caller.tenant_id, id).await?;
        if store::search::saved::insert(tx, caller.tenant_id, &search).await? {
            Ok(search)
        } else {
            Err(Error::NameTaken("the name"))
        }
    });
    renamed.await
}

/// Deletes a saved search: one of the person's own, or a shared one.
///
/// # Errors
/// [`Error::NotFound`] if there is none that the caller sees; [`Error::Forbidden`] for a shared search of another
/// person if the caller may not manage sessions.
pub async fn delete_saved(ledger: &Ledger, scope: &Scope, id: SavedSearchId) -> Result<()> {
    require(scope, Permission::Read)?;
    let (caller, user_id) = (*scope, owner(scope)?);
    let deleted = ledger.write(scope.into(), async move |tx| {
        let why = "only operators and admins can delete a shared search of another person";
        changeable(tx.conn(), &caller, user_id, id, why).await?;
        store::search::saved::delete(tx, caller.tenant_id, id).await?;
        Ok(())
    });
    deleted.await
}
