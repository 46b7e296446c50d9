//! Joins two orders of the same things by their ranks.

/// Added to each rank, so that the first places of one order do not outweigh good places in both. The publication
/// (Cormack, Clarke and Büttcher, 2009) has 60, for orders of 1,000. With 60, everything that is in both of our orders
/// of at most 100 comes before the first of one order alone, and a text that answers in other words is in one. It was
/// chosen on one half of the questions of `docs/memory.md` and measured on the other.
const RANK_SHIFT: f64 = 10.0;

/// What a place in one order is worth. `rank` is counted from 1.
pub fn rank_worth(rank: usize) -> f64 {
    1.0 / (RANK_SHIFT + rank as f64)
}

/// Joins orders by reciprocal ranks: each thing gets the sum of [`rank_worth`] of its places. The best is first; of
/// equal ones, the one that an earlier order has earlier. Each order names a thing once.
pub fn fuse<K: Copy + Eq>(orders: &[&[K]]) -> Vec<(K, f64)> {
    let mut all: Vec<(K, f64)> = Vec::new();
    for order in orders {
        for (rank, key) in (1..).zip(*order) {
            match all.iter_mut().find(|(known, _)| known == key) {
                Some((_, score)) => *score += rank_worth(rank),
                None => all.push((*key, rank_worth(rank))),
            }
        }
    }
    // Stable: equal ones stay in the order in which they came.
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(orders: &[&[u8]]) -> Vec<u8> {
        fuse(orders).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn what_both_orders_have_comes_before_what_one_has() {
        assert_eq!(order(&[&[1, 2, 3], &[3, 4]]), [3, 1, 2, 4]);
        assert_eq!(order(&[&[1, 2], &[2, 1]]), [1, 2], "of equal ones the first of the first order");
        assert_eq!(order(&[&[5, 6], &[]]), [5, 6], "one order alone stays as it is");
        assert_eq!(order(&[]), Vec::<u8>::new());
    }

    #[test]
    fn the_first_of_one_order_comes_before_what_is_far_behind_in_both() {
        let words: Vec<u8> = (1..=40).collect();
        let near: Vec<u8> = std::iter::once(100).chain((1..=40).rev()).collect();
        let joined = order(&[&words, &near]);
        let place = |key| joined.iter().position(|one| *one == key).unwrap();
        assert!(place(100) < place(20), "{joined:?}");
    }

    proptest::proptest! {
        #[test]
        fn each_thing_is_there_once_and_scores_fall(first in proptest::sample::subsequence((0..9).collect::<Vec<u8>>(), 0..9),
            second in proptest::sample::subsequence((0..9).rev().collect::<Vec<u8>>(), 0..9)) {
            let all = fuse(&[first.as_slice(), second.as_slice()]);
            let wanted = first.iter().chain(second.iter().filter(|key| !first.contains(key))).count();
            proptest::prop_assert_eq!(all.len(), wanted);
            proptest::prop_assert!(all.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        }
    }
}
