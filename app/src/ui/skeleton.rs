//! The place of what is still being read.

/// Three grey rows of the height that the real ones will have, so that nothing moves when they come. Screen readers get
/// none of them. An island puts them in beside a label of its own.
pub const ROWS: &str = "<span class=\"skeleton-row\" aria-hidden=\"true\"></span>\
    <span class=\"skeleton-row\" aria-hidden=\"true\"></span><span class=\"skeleton-row\" aria-hidden=\"true\"></span>";
