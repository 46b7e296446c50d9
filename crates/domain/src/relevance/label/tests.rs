use super::*;
use proptest::prelude::*;

fn signals(agent_mean: Option<f64>, use_hits: u32, continuity: Option<f64>) -> Signals {
    Signals { agent_mean, use_hits, continuity }
}

fn labelled(agent_mean: Option<f64>, use_hits: u32, continuity: Option<f64>) -> Option<f64> {
    label(signals(agent_mean, use_hits, continuity), Weights::default())
}

fn is_near(value: Option<f64>, expected: Option<f64>) -> bool {
    match (value, expected) {
        (Some(value), Some(expected)) => (value - expected).abs() < 0.000_6,
        (value, expected) => value.is_none() && expected.is_none(),
    }
}

#[test]
fn the_six_vectors_have_their_labels() {
    let vectors = [
        (Some(0.8), 0, None, Some(0.8)),
        (Some(0.0), 2, None, Some(0.3)),
        (Some(0.8), 1, Some(1.0), Some(0.72)),
        (Some(-0.5), 3, None, Some(-0.189)),
        (None, 1, None, Some(0.3)),
        (None, 0, None, None),
    ];
    for (mean, uses, continuity, expected) in vectors {
        let found = labelled(mean, uses, continuity);
        assert!(is_near(found, expected), "{mean:?} {uses} {continuity:?}: {found:?}");
    }
}

/// Each line of the table is the mean, the uses, the score of the session and the label, to three decimals.
#[test]
fn the_table_that_a_reader_can_check_by_hand_holds() {
    let number = |text: &str| (text != "-").then(|| text.parse::<f64>().unwrap());
    let rows = include_str!("table.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [mean, uses, session, expected] = columns[..] else { panic!("{row}") };
        let found = labelled(number(mean), uses.parse().unwrap(), number(session));
        assert!(is_near(found, number(expected)), "{row}: {found:?}");
        count += 1;
    }
    assert!(count >= 60, "{count}");
}

#[test]
fn the_session_alone_gives_no_label_and_a_weight_of_zero_leaves_its_term_out() {
    assert_eq!(labelled(None, 0, Some(1.0)), None);
    let without_uses = Weights { uses: 0.0, ..Weights::default() };
    assert!(is_near(label(signals(Some(0.5), 3, None), without_uses), Some(0.5)));
    assert_eq!(label(signals(None, 3, None), without_uses), None, "no weight is left");
}

#[test]
fn more_ratings_and_rarer_decisions_weigh_more() {
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
    assert!(near(weight(0, 1.0), 1.0 / 3.0));
    assert!(near(weight(1, 1.0), 0.5));
    assert!(near(weight(3, 0.5), 4.0 / 6.0 * 2.0));
    assert!(near(weight(1, 0.05), 0.5 * 10.0), "at most ten times");
    for no_probability in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        assert!(near(weight(1, no_probability), 0.5), "{no_probability}");
    }
}

proptest! {
    #[test]
    fn a_label_is_within_its_scale_and_a_rating_alone_is_the_label(
        mean in proptest::option::of(-9.0_f64..9.0),
        uses in 0_u32..20,
        continuity in proptest::option::of(-9.0_f64..9.0),
    ) {
        let found = labelled(mean, uses, continuity);
        prop_assert_eq!(found.is_some(), mean.is_some() || uses > 0);
        prop_assert!(found.is_none_or(|label| (-1.0..=1.0).contains(&label)));
        if let Some(mean) = mean {
            prop_assert!(is_near(labelled(Some(mean), 0, None), Some(mean.clamp(-1.0, 1.0))));
        }
    }
}
