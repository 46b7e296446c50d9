//! What `--version` says.

/// Version, and the commit where the build knew it. `build.rs` always sets the variable.
pub const TEXT: &str = concat!(env!("CARGO_PKG_VERSION"), env!("SHIFTBOOK_COMMIT_SUFFIX"));
