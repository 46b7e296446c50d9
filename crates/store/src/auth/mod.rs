//! Who uses the installation: workspaces, people, and how they prove who they are.

pub mod access_link;
pub mod browser_session;
mod sign_in;
pub mod tenant;
pub mod token;
pub mod user;

pub use access_link::{AccessLinkRecord, LinkPurpose};
pub use browser_session::{BrowserSessionRecord, SignInRecord};
pub use sign_in::{
    SignInAttempts, clear_sign_in_attempts, lock_sign_in_attempts, prune_sign_in_attempts, record_sign_in_attempt,
    sign_in_attempts,
};
pub use tenant::TenantRecord;
pub use token::TokenRecord;
pub use user::{MemberRecord, UserRecord};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] =
    &[access_link::SQL, browser_session::SQL, sign_in::SQL, tenant::SQL, token::SQL, user::SQL];
