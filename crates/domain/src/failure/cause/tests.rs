//! What groups failures, and what keeps them apart.

use super::{cases::CAUSES, *};
use crate::limit::CAUSE_MESSAGE_CHARS_MAX;
use proptest::prelude::*;
use std::collections::HashMap;

#[test]
fn messages_that_people_would_group_are_grouped_and_no_others() {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for group in CAUSES {
        let (first, others) = group.split_first().unwrap();
        let normalised = normalise(first);
        for other in others {
            assert_eq!(normalise(other), normalised, "{first:?} and {other:?}");
        }
        if let Some(known) = seen.insert(normalised, first) {
            panic!("{known:?} and {first:?} are grouped");
        }
    }
    assert!(CAUSES.iter().map(|group| group.len()).sum::<usize>() >= 60);
}

#[test]
fn a_normalised_message_is_read_by_people() {
    let of = normalise;
    assert_eq!(
        of(" 401 Unauthorized:\n token expired for tenant 7 "),
        "401 Unauthorized: token expired for tenant ‹number›"
    );
    assert_eq!(
        of("GET https://u:p@a.example:8443/v2/orders/77.json?k=1#x"),
        "GET https://‹host›/v2/orders/‹number›.json"
    );
    assert_eq!(of("can't open './a b'"), "can't open ‹value›");
    assert_eq!(of("fields 'a', 'b', and 'c' are missing"), "fields ‹value›, and ‹value› are missing");
    assert_eq!(of(r#"{"code":"rate_limited","who":"ann"}"#), "{code:rate_limited,who:‹value›}");
    assert_eq!(of("🚒\u{7}é 12\u{202f}% o'clock"), "🚒 é ‹number› % o'clock");
}

#[test]
fn a_long_message_is_cut_once() {
    for word in ["word ", "七", "x1y2z3 ", "\"", "a/b/c "] {
        let long = normalise(&word.repeat(3_000));
        assert!(long.chars().count() <= CAUSE_MESSAGE_CHARS_MAX + 1, "{long}");
        assert_eq!(normalise(&long), long);
    }
    let (same, other) = ("七".repeat(600), format!("{}八", "七".repeat(600)));
    assert_eq!(normalise(&same), normalise(&other), "what is beyond the bound separates nothing");
}

#[test]
fn code_tool_step_and_message_all_separate_causes() {
    let origin = |tool: Option<&str>, step: Option<&str>| Origin {
        tool: tool.map(str::to_owned),
        step: step.map(str::to_owned),
    };
    let of = |code, tool, step, message| fingerprint(code, origin(tool, step), message).id;
    let first = of("error", Some("search"), None, "no answer in 3 s");
    assert_eq!(of("error", Some("search"), None, "no answer in 44 s"), first);
    let others = [
        of("auth", Some("search"), None, "no answer in 3 s"),
        of("error", None, None, "no answer in 3 s"),
        of("error", None, Some("search"), "no answer in 3 s"),
        of("error", Some("search"), Some(""), "no answer in 3 s"),
        of("error", Some("search"), None, "no reply in 3 s"),
    ];
    for (at, other) in others.iter().enumerate() {
        assert!(*other != first && !others[..at].contains(other), "{at}");
    }
    assert_eq!(first.0.get_version_num(), 8);
}

/// A value of each kind that is cut.
fn cut_part() -> impl Strategy<Value = (usize, String)> {
    prop_oneof![
        "[1-9][0-9]{0,8}".prop_map(|text| (0, text)),
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}".prop_map(|text| (1, text)),
        "([1-9][0-9]?\\.){3}[1-9][0-9]?:[1-9][0-9]{3}".prop_map(|text| (2, text)),
        "/[a-z]{2,6}/[a-z0-9]{2,9}/[a-z]{1,5}\\.log".prop_map(|text| (3, text)),
        "202[0-9]-1[0-2]-[12][0-9]T1[0-9]:[0-5][0-9]:[0-5][0-9]Z".prop_map(|text| (4, text)),
        "[1-9][0-9]{0,3}(ms|s|m|h)".prop_map(|text| (5, text)),
        "[1-9][0-9]{0,3}(kB|MB|GiB)".prop_map(|text| (6, text)),
        "\"[a-zé ]{1,6}\""
            .prop_filter("a value", |text| !text[1..text.len() - 1].trim().is_empty())
            .prop_map(|text| (7, text)),
        "[a-z]{2,8}@[a-z]{2,8}\\.example".prop_map(|text| (8, text)),
    ]
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[b-dq]{2,3}[e-p]{2,6}", 1..6)
}

proptest! {
    #[test]
    fn a_normalised_message_stays_as_it_is(message in "\\PC{0,400}") {
        let once = normalise(&message);
        prop_assert_eq!(normalise(&once), once);
    }

    #[test]
    fn marks_and_placeholders_in_any_order_are_normalised_once(
        parts in prop::collection::vec(prop_oneof![
            Just("‹number›"), Just("‹time›"), Just("‹"), Just("›"), Just("'"), Just("\""), Just(" "), Just("May"), Just("3"),
            Just("404"), Just("X"), Just("a1b2c3"), Just("10:20:30"), Just("http://"), Just("/"), Just("x.rs"), Just(":"),
            Just(","), Just("("), Just("="), Just("code"), Just("UTC"), Just("5s"), Just("\u{1b}[3m"), Just("…"), Just("-"),
            Just("\\"), Just("日本"), Just("٣"), Just("@"), Just("a.com"),
        ], 0..20)
    ) {
        let once = normalise(&parts.concat());
        prop_assert_eq!(normalise(&once), once);
    }

    #[test]
    fn only_what_is_cut_may_differ(words in words(), first in cut_part(), second in cut_part()) {
        let of = |value: &str| normalise(&format!("{} {value} was refused", words.join(" ")));
        prop_assert_eq!(of(&first.1) == of(&second.1), first.0 == second.0, "{} {}", of(&first.1), of(&second.1));
    }

    #[test]
    fn other_words_are_another_cause(first in words(), second in words(), number in 0_u32..9_999) {
        let of = |words: &[String]| normalise(&format!("{} after {number} tries", words.join(" ")));
        prop_assert_eq!(of(&first) == of(&second), first == second);
    }
}
