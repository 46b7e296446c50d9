//! The model: trees of decisions whose sum is the log odds that a memory is useful.

use crate::sample::FEATURES;

/// Most trees of a model. With [`NODES_MAX`] nodes in all, 200 candidates are scored within a millisecond.
pub const TREES_MAX: usize = 200;
/// Most nodes of all trees together.
pub const NODES_MAX: usize = 20_000;
/// Most bytes of a stored model.
pub const MODEL_BYTES_MAX: usize = HEADER + TREES_MAX * 4 + NODES_MAX * NODE;

/// First bytes of a stored model, and the number of the form.
const MARK: [u8; 4] = *b"SBR1";
/// Mark, number of trees, base.
const HEADER: usize = 16;
/// Bytes of a node.
const NODE: usize = 20;
/// Feature number of a leaf.
const LEAF: u32 = u32::MAX;

/// The bytes are no stored model, or one of a form that this version does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no model")]
pub struct BadModel;

/// A node of a tree. The children of a node come after it, so each walk ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Node {
    /// Adds a value to the sum.
    Leaf(f64),
    /// Goes to `left` if the feature is below `split`, else to `right`; both are places in the tree.
    Split { feature: u32, split: f64, left: u32, right: u32 },
}

/// A model of which memories are useful.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    base: f64,
    trees: Vec<Vec<Node>>,
}

impl Model {
    /// `None` if the model is too large, if a tree is empty, or if a child does not come after its node.
    pub(crate) fn new(base: f64, trees: Vec<Vec<Node>>) -> Option<Self> {
        let nodes: usize = trees.iter().map(Vec::len).sum();
        let is_sound = |tree: &Vec<Node>| {
            let is_after = |at: usize, child: u32| (at + 1..tree.len()).contains(&(child as usize));
            let is_sound = |(at, node): (usize, &Node)| match node {
                Node::Leaf(value) => value.is_finite(),
                Node::Split { feature, split, left, right } => {
                    (*feature as usize) < FEATURES && split.is_finite() && is_after(at, *left) && is_after(at, *right)
                }
            };
            !tree.is_empty() && tree.iter().enumerate().all(is_sound)
        };
        let fits = trees.len() <= TREES_MAX && nodes <= NODES_MAX && base.is_finite();
        (fits && trees.iter().all(is_sound)).then_some(Self { base, trees })
    }

    /// Returns how likely a candidate with these features is useful, from 0 to 1.
    pub fn score(&self, features: &[f32; FEATURES]) -> f64 {
        let sum: f64 = self.trees.iter().map(|tree| walk(tree, features)).sum();
        1.0 / (1.0 + (-(self.base + sum)).exp())
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of nodes of all trees.
    pub fn nodes(&self) -> usize {
        self.trees.iter().map(Vec::len).sum()
    }

    /// Returns the model as it is stored: at most [`MODEL_BYTES_MAX`] bytes, the same for the same model.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.trees.len() * 4 + self.nodes() * NODE);
        bytes.extend(MARK);
        bytes.extend(count(self.trees.len()));
        bytes.extend(self.base.to_le_bytes());
        for tree in &self.trees {
            bytes.extend(count(tree.len()));
            for node in tree {
                let (feature, value, left, right) = match *node {
                    Node::Leaf(value) => (LEAF, value, 0, 0),
                    Node::Split { feature, split, left, right } => (feature, split, left, right),
                };
                bytes.extend(feature.to_le_bytes());
                bytes.extend(value.to_le_bytes());
                bytes.extend(left.to_le_bytes());
                bytes.extend(right.to_le_bytes());
            }
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] returned.
    ///
    /// # Errors
    /// [`BadModel`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadModel> {
        Self::read(bytes).ok_or(BadModel)
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        if take::<4>(&mut bytes)? != MARK {
            return None;
        }
        let trees = u32::from_le_bytes(take(&mut bytes)?) as usize;
        let base = f64::from_le_bytes(take(&mut bytes)?);
        if trees > TREES_MAX {
            return None;
        }
        let trees: Option<Vec<Vec<Node>>> = (0..trees).map(|_| read_tree(&mut bytes)).collect();
        if bytes.is_empty() { Self::new(base, trees?) } else { None }
    }
}

fn read_tree(bytes: &mut &[u8]) -> Option<Vec<Node>> {
    let nodes = u32::from_le_bytes(take(bytes)?) as usize;
    if nodes > bytes.len() / NODE {
        return None;
    }
    let read = |_| {
        let feature = u32::from_le_bytes(take(bytes)?);
        let value = f64::from_le_bytes(take(bytes)?);
        let (left, right) = (u32::from_le_bytes(take(bytes)?), u32::from_le_bytes(take(bytes)?));
        Some(if feature == LEAF { Node::Leaf(value) } else { Node::Split { feature, split: value, left, right } })
    };
    (0..nodes).map(read).collect()
}

/// Takes the first bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

/// Numbers of a model are at most [`NODES_MAX`].
fn count(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

fn walk(tree: &[Node], features: &[f32; FEATURES]) -> f64 {
    let mut at = 0;
    while let Some(node) = tree.get(at) {
        match node {
            Node::Leaf(value) => return *value,
            Node::Split { feature, split, left, right } => {
                let value = features.get(*feature as usize).copied().unwrap_or_default();
                at = if f64::from(value) < *split { *left as usize } else { *right as usize };
            }
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(feature: u32, left: u32, right: u32) -> Node {
        Node::Split { feature, split: 0.5, left, right }
    }

    fn model() -> Model {
        Model::new(0.0, vec![vec![split(0, 1, 2), Node::Leaf(2.0), Node::Leaf(-2.0)]]).unwrap()
    }

    #[test]
    fn a_stored_model_scores_as_the_model_does() {
        let (model, mut features) = (model(), [0.0; FEATURES]);
        assert_eq!(Model::from_bytes(&model.to_bytes()), Ok(model.clone()));
        assert!(model.score(&features) > 0.85);
        features[0] = 0.5;
        assert!(model.score(&features) < 0.15, "a value at the split goes right");
        assert!(model.to_bytes().len() <= MODEL_BYTES_MAX);
    }

    #[test]
    fn other_bytes_are_no_model_whatever_they_are() {
        let bytes = model().to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Model::from_bytes(&bytes[..end]), Err(BadModel), "{end}");
        }
        assert_eq!(Model::from_bytes(&[bytes.clone(), vec![0]].concat()), Err(BadModel));
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let mut changed = bytes.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..changed.len());
                changed[at] = random.u8(..);
            }
            if let Ok(model) = Model::from_bytes(&changed) {
                assert!((0.0..=1.0).contains(&model.score(&[0.5; FEATURES])));
            }
        }
        for tree in [vec![], vec![split(0, 0, 0)], vec![split(99, 1, 1), Node::Leaf(0.0)], vec![Node::Leaf(f64::NAN)]] {
            assert_eq!(Model::new(0.0, vec![tree]), None);
        }
        assert_eq!(Model::new(0.0, vec![vec![Node::Leaf(0.0)]; TREES_MAX + 1]), None);
    }
}
