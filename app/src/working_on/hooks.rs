//! Where the picker and the rest of the page meet. Only in the WASM build.

pub use super::{marker::open as open_marker, state::watch_waiting};

/// Workspace and person, as one name.
pub fn owner_of(tenant_id: &str, user_id: &str) -> String {
    [tenant_id, "/", user_id].concat()
}
