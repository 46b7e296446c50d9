//! Members of a workspace.

use crate::{
    Error, Ledger, MemberRecord, Result, TenantRecord,
    auth::{Address, hash_password},
    guard::{Fields, require},
};
use domain::{
    Scope, Timestamp,
    id::{TenantId, UserId},
    limit::NAME_CHARS_MAX,
    role::{Permission, Role},
    slug::is_slug,
};
use store::{Access, UserRecord, WriteTx};

/// The members, by address.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<MemberRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::user::members(conn, tenant_id)));
    Ok(read.await?)
}

/// Adds a person to the workspace, or changes the role of one who is in it. A new person needs a password.
pub async fn add(
    ledger: &Ledger,
    scope: &Scope,
    email: &str,
    role: Role,
    password: Option<&str>,
) -> Result<MemberRecord> {
    require(scope, Permission::Administer)?;
    join(ledger, scope.tenant_id, email, role, password, Replace::Nothing).await
}

/// The same from the server's own machine: creates the workspace when it does not exist, and sets the password
/// of a person who has one already.
pub async fn add_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    email: &str,
    role: Role,
    password: &str,
) -> Result<MemberRecord> {
    let tenant = ensure_tenant(ledger, tenant_slug, tenant_slug).await?;
    join(ledger, tenant.id, email, role, Some(password), Replace::Password).await
}

/// What happens to the password of a person who exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    /// Another workspace's admin must not change it.
    Nothing,
    /// The machine's operator may.
    Password,
}

/// The workspace of this slug, made when it is missing.
pub(crate) async fn ensure_tenant(ledger: &Ledger, slug: &str, name: &str) -> Result<TenantRecord> {
    let mut fields = Fields::default();
    fields.name("workspace", name, NAME_CHARS_MAX);
    if !is_slug(slug) {
        fields.refuse("tenant", "lower-case letters, digits and single hyphens, at most 64 characters");
    }
    fields.check()?;
    let now = ledger.now();
    let tenant =
        TenantRecord { id: TenantId::new(now, ledger.entropy()), slug: slug.to_owned(), name: name.to_owned() };
    ledger
        .store()
        .write(Access::System, move |tx| {
            Box::pin(async move {
                if let Some(existing) = store::tenant::find_by_slug(tx.conn(), &tenant.slug).await? {
                    return Ok(existing);
                }
                store::tenant::insert(tx, &tenant, now).await?;
                Ok::<_, Error>(tenant)
            })
        })
        .await
}

async fn join(
    ledger: &Ledger,
    tenant_id: TenantId,
    email: &str,
    role: Role,
    password: Option<&str>,
    replace: Replace,
) -> Result<MemberRecord> {
    let email = Address::parse(email)?.into_string();
    let password_hash = match password {
        Some(password) => Some(hash_password(ledger, password).await?),
        None => None,
    };
    let now = ledger.now();
    let fresh = UserId::new(now, ledger.entropy());
    ledger
        .store()
        .write(Access::System, move |tx| {
            Box::pin(async move {
                let user_id = match store::user::find_by_email(tx.conn(), &email).await? {
                    Some(user) => {
                        if let (Replace::Password, Some(hash)) = (replace, &password_hash) {
                            store::user::set_password(tx, user.id, hash).await?;
                        }
                        user.id
                    }
                    None => create(tx, fresh, email, password_hash, now).await?,
                };
                store::user::join(tx, tenant_id, user_id, role, now).await?;
                let member = store::user::find_member(tx.conn(), tenant_id, user_id).await?;
                member.ok_or(Error::NotFound("member"))
            })
        })
        .await
}

async fn create(
    tx: &mut WriteTx<'_>,
    id: UserId,
    email: String,
    password_hash: Option<String>,
    now: Timestamp,
) -> Result<UserId> {
    let password_hash = password_hash.ok_or_else(|| Error::invalid("password", "a new person needs one"))?;
    store::user::insert(tx, &UserRecord { id, email, password_hash }, now).await?;
    Ok(id)
}
