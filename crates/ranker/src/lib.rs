//! Learns in which order an agent is given memories.
//!
//! [`learn`] fits a model to labelled samples of the older sessions, measures it on the newer ones against the formula,
//! and says whether the model should be used. [`Model`] scores the candidates of a prompt. [`alpha`] is the share of
//! the formula in the score. Everything is a pure function of samples and a seed; nothing is read or stored.

mod evaluate;
mod fit;
mod learn;
mod model;
mod sample;
mod schedule;

pub use evaluate::{Interval, Measures, Report};
pub use learn::{Learned, Progress, Refusal, Step, learn};
pub use model::{BadModel, MODEL_BYTES_MAX, Model, NODES_MAX, TREES_MAX};
pub use sample::{FEATURE_NAMES, FEATURES, Facts, Folder, Sample, features};
pub use schedule::{ALPHA_LEAST, SESSIONS_FULL, SESSIONS_MIN, alpha, mixed};
