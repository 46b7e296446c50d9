//! Who calls: passwords, browser cookies, API tokens. The only maker of scopes.

mod address;
mod identify;
mod password;
mod secret;
mod setup;
mod sign_in;
mod throttle;
mod workspace;

pub use identify::{Identity, by_cookie, by_token};
pub use password::PasswordCost;
pub use setup::{needs_setup, setup};
pub use sign_in::{SignedIn, sign_in, sign_out};
pub use workspace::{find_workspace_by_operator, list_workspaces, switch};

pub(crate) use address::Address;
pub(crate) use identify::IdentityCache;
pub(crate) use password::{PasswordQueue, hash_password};
pub(crate) use secret::{Secret, SecretKind};
