//! Fits a model to samples, with the crate `hessboost`.

use crate::{
    model::{Model, Node},
    sample::{FEATURES, Sample},
};
use hessboost::{
    config::{TrainingParams, TreeMethod},
    data::DMatrix,
    objective::{Objective, RegLoss},
    training::Trainer,
};
use std::ops::ControlFlow;

/// Trees of a model.
pub(crate) const ROUNDS: usize = 100;
/// Decisions from the root of a tree to a leaf, at most.
const DEPTH: usize = 4;
/// Learning rate: the factor of each tree.
const RATE: f64 = 0.1;
/// Weight that a leaf has at least, in samples whose prediction is undecided, times four. Smaller leaves learn noise.
const LEAF_WEIGHT: f64 = 5.0;
/// Values into which a feature is divided.
const BINS: usize = 64;
/// Threads. The model is the same for each number of threads.
const THREADS: usize = 2;

/// Fits a model; `round` gets the number of trees that are done. `None` if there are no samples, if all labels are
/// equal, or if a value is not finite.
pub(crate) fn fit(samples: &[Sample], seed: u64, mut round: impl FnMut(usize) + Send) -> Option<Model> {
    let labels: Vec<f32> = samples.iter().map(|sample| f32::midpoint(sample.label, 1.0)).collect();
    let first = *labels.first()?;
    if labels.iter().all(|label| label.total_cmp(&first).is_eq()) {
        return None;
    }
    let features: Vec<f32> = samples.iter().flat_map(|sample| sample.features).collect();
    let weights: Vec<f32> = samples.iter().map(|sample| sample.weight).collect();
    let data = DMatrix::from_dense_vec(features, samples.len(), FEATURES).ok()?;
    let data = data.with_labels(&labels).ok()?.with_weights(&weights).ok()?;
    let params = TrainingParams::builder()
        .objective(Objective::RegLogistic(RegLoss::default()))
        .tree_method(TreeMethod::Hist)
        .max_depth(DEPTH)
        .eta(RATE)
        .min_child_weight(LEAF_WEIGHT)
        .max_bin(BINS)
        .nthread(THREADS)
        .seed(seed)
        .build()
        .ok()?;
    let trainer = Trainer::new(&params, &data, ROUNDS).on_round(|done| {
        round(done.iteration() + 1);
        ControlFlow::Continue(())
    });
    let fitted = trainer.train().ok()?.model;
    let trees: Option<Vec<Vec<Node>>> =
        fitted.trees().iter().map(|tree| tree.nodes().iter().map(node).collect()).collect();
    Model::new(f64::from(fitted.base_score()), trees?)
}

fn node(node: &hessboost::tree::Node) -> Option<Node> {
    if node.is_leaf() {
        return Some(Node::Leaf(f64::from(node.leaf_value)));
    }
    let (left, right) = (u32::try_from(node.left).ok()?, u32::try_from(node.right).ok()?);
    Some(Node::Split { feature: node.split_feature, split: f64::from(node.split_cond), left, right })
}
