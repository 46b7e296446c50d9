//! The parts of a value that its tree shows.

use super::shape::is_part;
use crate::text::json;
use serde_json::value::RawValue;

/// Most parts of a tree.
const PARTS_MAX: usize = 500;
/// Deepest part of a tree.
pub(super) const DEPTH_MAX: usize = 16;

/// The members or items of a value.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    /// Those that are shown: the first ones.
    pub parts: Vec<Part<'a>>,
    /// Number of all.
    pub count: usize,
}

/// A member of an object by its key, or an item of a list by its index.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// The key or the index.
    pub key: String,
    /// JSON of this member or item.
    pub value: &'a RawValue,
    /// Index of the branch with the parts of the value; `None` if it has no parts, or is too deep.
    pub branch: Option<usize>,
}

/// Chooses at most [`PARTS_MAX`] parts of a value: all of a level before any of the next level, so that the first items
/// of a long list do not hide the others. The first branch is that of the value itself.
pub(super) fn branches(raw: &RawValue) -> Vec<Branch<'_>> {
    let (mut branches, mut level, mut room) = (Vec::new(), vec![raw], PARTS_MAX);
    for depth in 0..=DEPTH_MAX {
        let first_of_next = branches.len() + level.len();
        let mut next = Vec::new();
        for value in level {
            let members = members_of(value);
            let count = members.len();
            let mut parts = Vec::with_capacity(count.min(room));
            for (key, value) in members.into_iter().take(room) {
                let has_branch = is_part(value) && depth < DEPTH_MAX;
                let branch = has_branch.then_some(first_of_next + next.len());
                if has_branch {
                    next.push(value);
                }
                parts.push(Part { key, value, branch });
            }
            room -= parts.len();
            branches.push(Branch { parts, count });
        }
        level = next;
    }
    branches
}

/// The members of an object by their keys, or the items of a list by their indexes.
fn members_of(raw: &RawValue) -> Vec<(String, &RawValue)> {
    if raw.get().starts_with('{') {
        return json::members(raw.get()).into_iter().map(|(key, value)| (key.into_owned(), value)).collect();
    }
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of parts of a list of objects with three members each that are shown: of the list, and of its items.
    fn parts_of(rows: usize) -> (usize, Vec<usize>) {
        let row = r#"{"a":1,"b":2,"c":{"d":3}}"#;
        let raw = RawValue::from_string(format!("[{}]", vec![row; rows].join(","))).unwrap();
        let branches = branches(&raw);
        let list = &branches[0];
        assert_eq!(list.count, rows);
        assert!(list.parts.iter().enumerate().all(|(at, part)| part.key == at.to_string()), "the order of {rows}");
        let of = |part: &Part<'_>| branches[part.branch.unwrap()].parts.len();
        (list.parts.len(), list.parts.iter().map(of).collect())
    }

    #[test]
    fn a_level_is_shown_before_the_parts_of_its_first_items() {
        for rows in [1, 2, 7, 40] {
            assert_eq!(parts_of(rows), (rows, vec![3; rows]));
        }
        let (rows, parts) = parts_of(400);
        assert_eq!((rows, parts.iter().sum::<usize>()), (400, 100));
        assert_eq!((parts[0], parts[32], parts[33], parts[34], parts[399]), (3, 3, 1, 0, 0));
        assert_eq!(parts_of(501), (500, vec![0; 500]));
    }

    #[test]
    fn each_part_names_the_branch_with_its_own_parts() {
        let raw = RawValue::from_string(r#"{"a":[{"x":1},2],"b":{},"c":{"y":[3]}}"#.to_owned()).unwrap();
        let branches = branches(&raw);
        let at = |branch: usize, part: usize| branches[branch].parts[part].branch;
        assert_eq!((at(0, 0), at(0, 1), at(0, 2)), (Some(1), None, Some(2)));
        let keys = |branch: Option<usize>| {
            branches[branch.unwrap()].parts.iter().map(|part| part.key.as_str()).collect::<Vec<_>>()
        };
        assert_eq!((keys(at(1, 0)), keys(at(2, 0))), (vec!["x"], vec!["0"]));
        assert_eq!((at(1, 1), branches.len()), (None, 5));
    }
}
