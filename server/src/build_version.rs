//! The version of this build.

/// Version of the package, and the commit if the build knows it. `build.rs` always sets the variable.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("SHIFTBOOK_COMMIT_SUFFIX"));
