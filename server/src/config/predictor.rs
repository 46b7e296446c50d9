//! `[predictor]`: ratings of memories and their labels.

use super::Error;
use domain::relevance::{Settings, Weights};
use serde::Deserialize;
use std::num::NonZeroU32;

/// The table of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PredictorFile {
    /// Whether agents are asked for ratings, and their ratings are stored.
    agent_feedback: Option<bool>,
    /// The request comes with every so many prompts that have memories.
    every_nth: Option<NonZeroU32>,
    /// Weight of the mean of the ratings in a label.
    feedback_weight: Option<f64>,
    /// Weight of uses.
    fts_weight: Option<f64>,
    /// Weight of the score of the session.
    continuity_weight: Option<f64>,
    /// Mean at or below which a memory is not given again in its session.
    harmful_mean: Option<f64>,
    /// Ratings that it takes at least.
    harmful_ratings: Option<NonZeroU32>,
    /// Whether memories are in random order.
    shuffle: Option<bool>,
    /// Share of the memories that are withheld at random.
    holdout: Option<f64>,
    /// Whether workspaces may opt in to training telemetry.
    telemetry: Option<bool>,
}

/// The table `[pipelineV2]`: `predictor` is where the specification of the ratings has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PipelineFile {
    #[serde(default)]
    predictor: PredictorFile,
}

impl PredictorFile {
    /// These settings; what they do not have comes from `[pipelineV2.predictor]`.
    pub(super) fn above(self, pipeline: PipelineFile) -> Self {
        let under = pipeline.predictor;
        Self {
            agent_feedback: self.agent_feedback.or(under.agent_feedback),
            every_nth: self.every_nth.or(under.every_nth),
            feedback_weight: self.feedback_weight.or(under.feedback_weight),
            fts_weight: self.fts_weight.or(under.fts_weight),
            continuity_weight: self.continuity_weight.or(under.continuity_weight),
            harmful_mean: self.harmful_mean.or(under.harmful_mean),
            harmful_ratings: self.harmful_ratings.or(under.harmful_ratings),
            shuffle: self.shuffle.or(under.shuffle),
            holdout: self.holdout.or(under.holdout),
            telemetry: self.telemetry.or(under.telemetry),
        }
    }
}

/// Largest share that is withheld.
const HOLDOUT_MAX: f64 = 0.5;

/// Checks the table.
pub(super) fn settings(file: PredictorFile) -> Result<Settings, Error> {
    let default = Settings::default();
    let between = |name: &str, value: Option<f64>, (least, default, most): (f64, f64, f64)| {
        let value = value.unwrap_or(default);
        let refused = || Error::Value(format!("predictor.{name} is {least} to {most}"));
        if (least..=most).contains(&value) { Ok(value) } else { Err(refused()) }
    };
    let weights = Weights {
        feedback: between("feedbackWeight", file.feedback_weight, (0.0, default.weights.feedback, 1.0))?,
        uses: between("ftsWeight", file.fts_weight, (0.0, default.weights.uses, 1.0))?,
        continuity: between("continuityWeight", file.continuity_weight, (0.0, default.weights.continuity, 1.0))?,
    };
    let holdout = between("holdout", file.holdout, (0.0, 0.0, HOLDOUT_MAX))?;
    Ok(Settings {
        agent_feedback: file.agent_feedback.unwrap_or(default.agent_feedback),
        every_nth: file.every_nth.map_or(default.every_nth, NonZeroU32::get),
        weights,
        harmful_mean: between("harmfulMean", file.harmful_mean, (-1.0, default.harmful_mean, 0.0))?,
        harmful_ratings: file.harmful_ratings.map_or(default.harmful_ratings, NonZeroU32::get),
        shuffle: file.shuffle.unwrap_or(default.shuffle),
        holdout_permille: (holdout * 1_000.0).round() as u16,
        telemetry: file.telemetry.unwrap_or(default.telemetry),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<Settings, String> {
        settings(toml::from_str(text).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_domain_and_each_value_has_its_bounds() {
        assert_eq!(checked("").unwrap(), Settings::default());
        let set = checked("agentFeedback = false\neveryNth = 3\nholdout = 0.05\nshuffle = true").unwrap();
        assert_eq!((set.agent_feedback, set.every_nth, set.holdout_permille, set.shuffle), (false, 3, 50, true));
        for wrong in ["feedbackWeight = -0.1", "ftsWeight = nan", "holdout = 0.6", "harmfulMean = 0.1"] {
            let name = wrong.split(' ').next().unwrap();
            let refused = checked(wrong).unwrap_err();
            assert!(refused.starts_with(&format!("predictor.{name} is ")), "{refused}");
        }
    }
    #[test]
    fn the_table_of_the_specification_is_read_too() {
        let own = |text: &str| toml::from_str::<PredictorFile>(text).unwrap();
        let text = "[predictor]\nagentFeedback = false\nfeedbackWeight = 0.6\nftsWeight = 0.3\ncontinuityWeight = 0.1";
        let pipeline: PipelineFile = toml::from_str(text).unwrap();
        let set = settings(own("").above(pipeline.clone())).unwrap();
        assert!(!set.agent_feedback && (set.weights.feedback - 0.6).abs() < 1e-9, "{set:?}");
        let set = settings(own("feedbackWeight = 0.5").above(pipeline)).unwrap();
        assert!((set.weights.feedback - 0.5).abs() < 1e-9 && (set.weights.uses - 0.3).abs() < 1e-9, "{set:?}");
        assert!(toml::from_str::<PipelineFile>("[predictor]\nfeedback = 1").is_err(), "misspelt keys are refused");
    }
}
