//! A person's own name and password.

use super::{
    Secret, SecretKind, hash_password,
    password::verify_password,
    throttle::{email_digest, reserve},
};
use crate::{
    Ledger,
    audit::Act,
    error::{Error, Result},
    guard::Fields,
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::UserId,
    limit::NAME_CHARS_MAX,
};
use store::Access;

/// Returns the person who calls. Tokens have no account of their own and are refused.
pub(super) fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person has an account: sign in with a browser, not a token"))
}

/// Changes the caller's display name.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::Invalid`] for a wrong name.
pub async fn set_name(ledger: &Ledger, scope: &Scope, name: &str) -> Result<()> {
    let user_id = person(scope)?;
    let mut fields = Fields::default();
    fields.name("name", name, NAME_CHARS_MAX);
    fields.check()?;
    let name = name.trim().to_owned();
    ledger.write(Access::System, async move |tx| Ok(store::user::set_name(tx, user_id, &name).await?)).await?;
    ledger.identities().clear();
    Ok(())
}

/// Changes the caller's password. All other sign-ins of the caller end. The sign-in with the cookie `secret`
/// continues.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::Invalid`] if `current` is not the password, or if `new`
/// is too short or too long; [`Error::TooManyAttempts`] while the address is blocked; [`Error::Busy`] if the password
/// queue is full; [`Error::NotFound`] if the account is gone.
pub async fn set_password(ledger: &Ledger, scope: &Scope, secret: &str, current: &str, new: &str) -> Result<()> {
    let user_id = person(scope)?;
    let kept = Secret::parse(SecretKind::Cookie, secret).map(|secret| secret.digest());
    let user = ledger.store().read(Access::System, async move |conn| store::user::find(conn, user_id).await).await?;
    let user = user.ok_or(Error::NotFound("account"))?;
    let digest = email_digest(&user.email);
    let place = ledger.passwords().acquire()?;
    reserve(ledger, digest).await?;
    let wrong = || Error::invalid("current_password", "is not your password");
    if !verify_password(place, current, Some(user.password_hash.clone())).await? {
        return Err(wrong());
    }
    // The attempt was right. If the new password is refused, it must not count as a wrong one.
    let cleared = ledger.write(Access::System, async move |tx| Ok(store::clear_sign_in_attempts(tx, digest).await?));
    cleared.await?;
    let password_hash = hash_password(ledger, new).await?;
    let changed = Act::new(Kind::PasswordChanged, scope.caller, ledger.now()).on(TargetKind::User, user_id.0);
    ledger
        .write(Access::System, async move |tx| {
            // Another change may have been made while the hashes waited in the queue.
            let known = store::user::find_locked(tx, user_id).await?;
            if known.is_none_or(|known| known.password_hash != user.password_hash) {
                return Err(wrong());
            }
            store::user::set_password(tx, user_id, &password_hash).await?;
            store::access_link::delete_resets(tx, user_id).await?;
            store::browser_session::delete_of_user(tx, user_id, kept).await?;
            changed.record_for(tx, user_id).await
        })
        .await?;
    ledger.access_changed().await;
    Ok(())
}
