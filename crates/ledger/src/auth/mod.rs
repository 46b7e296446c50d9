//! Authentication: passwords, browser cookies and API tokens. Scopes of callers are created only here.

mod account;
mod address;
mod identify;
mod link;
mod link_maker;
mod password;
mod scope_now;
mod secret;
mod setup;
mod sign_in;
mod sign_ins;
mod throttle;
mod workspace;

pub use account::{set_name, set_password};
pub use identify::{Identity, Person, by_cookie, by_token};
pub use link::{LinkUse, OpenLink, find_link, use_link};
pub use password::PasswordCost;
pub use setup::{needs_setup, setup};
pub use sign_in::{SignedIn, record_refused_sign_in, sign_in, sign_out};
pub use sign_ins::{end_other_sign_ins, end_sign_in, list_sign_ins};
pub use workspace::{find_workspace_by_operator, list_workspaces, switch};

pub(crate) use address::Address;
pub(crate) use identify::IdentityCache;
pub(crate) use link_maker::{open_invitations, remove_ended_invitations};
pub(crate) use password::{PasswordQueue, hash_password};
pub(crate) use scope_now::scope_now;
pub(crate) use secret::{Secret, SecretKind};
