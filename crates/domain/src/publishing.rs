//! States of what is published in versions: views and tools.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a view takes responses, or a tool can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was never published. Only a draft can be deleted.
    Draft,
    /// Its newest version takes responses, or can be run.
    Published,
    /// It was published before, and takes no responses or cannot be run now. Its versions stay.
    Unpublished,
}

names!(State { Draft = "draft", Published = "published", Unpublished = "unpublished" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_reads_back_from_its_name() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
    }
}
