use super::*;
use crate::limit::SEARCH_QUERY_CHARS_MAX;

fn printed(text: &str) -> String {
    Line::parse(text).unwrap_or_else(|bad| panic!("{text}: {bad}")).to_string()
}

fn refused(text: &str) -> BadQuery {
    Line::parse(text).expect_err(text)
}

#[test]
fn conditions_and_words_are_read_in_any_order_and_printed_in_one() {
    for (typed, canonical) in [
        ("", ""),
        (" … & ", ""),
        ("token expired", "token expired"),
        ("token status:FAILED agent:scout", "agent:scout status:failed token"),
        ("Status:failed,expired,failed", "status:failed,expired"),
        ("error:\"rate limit\",timeout", "error:\"rate limit\",timeout"),
        ("title:„weekly report“", "title:\"weekly report\""),
        ("-status:completed -\"no data\" tea", "-status:completed -\"no data\" tea"),
        ("-agent:a,b", "-agent:a,b"),
        ("agent:tool:mail", "agent:tool:mail"),
        ("cost>0.50 cost<=2 duration>=120s", "cost>0.5 cost<=2 duration>=2m"),
        ("cost:>1 cost=3 duration:<1h", "cost>1 cost:3 duration<1h"),
        ("after:Friday before:2026-11-25", "after:fri before:2026-11-25"),
        ("after:2026-11-25T06:00:00Z", "after:2026-11-25T06:00:00Z"),
        ("by:\"Ada Lovelace\",me", "by:\"Ada Lovelace\",me"),
        ("assignee:me tag:urgent,acme -tag:done", "tag:urgent,acme -tag:done assignee:me"),
        ("error:\":8080\"", "error:\":8080\""),
        ("agent:scout agent:scout tea tea", "agent:scout tea tea"),
        ("status:failed\"rate limit\"", "status:failed \"rate limit\""),
    ] {
        assert_eq!(printed(typed), canonical, "{typed}");
        assert_eq!(printed(canonical), canonical);
    }
}

#[test]
fn words_with_colons_and_comparisons_stay_words() {
    for text in [
        "https://example.com/x",
        "std::fmt::Display",
        "agent::run",
        "C:\\temp",
        "Note: tea",
        "src/main.rs:42",
        "12:30",
        "Vec<String>",
        "a->b",
        "x>y",
        "key=value",
        "\"agent:scout\"",
        "-\"cost>1\" tea",
        "e0277:",
    ] {
        let line = Line::parse(text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        assert!(line.conditions.is_empty() && line.query.is_some(), "{text}: {line:?}");
    }
}

#[test]
fn what_is_no_search_says_where_and_what_is_allowed() {
    for (text, at, part) in [
        ("tea foo:bar", 5, "there is no field foo; the fields are agent, status, type, task, title, error, by, tag, "),
        ("foo>5", 1, "there is no field foo"),
        ("-Owner:haiku", 1, "there is no field Owner"),
        ("status:done", 8, "\"done\" is no status; one of draft, pending, running"),
        ("status:failed,done", 15, "\"done\""),
        ("type:robot", 6, "one of agent, response, tool, mixed"),
        ("agent:No_Slug", 7, "\"No_Slug\" is no agent; a slug"),
        ("task:tool:x", 6, "is no task"),
        ("tag:Two", 5, "\"Two\" is no tag; lower-case letters"),
        ("agent:", 6, "agent needs a value without a space before it, as in agent:scout"),
        ("status: failed", 8, "status needs a value"),
        ("status:failed, tea", 15, "status needs a value"),
        ("title:\" \"", 7, "title needs a value"),
        ("title:\"open", 7, "the quotation mark at character 7 has no second one"),
        ("cost>a", 6, "such as 0.5"),
        ("cost>1,2", 8, "\"2\" is no cost"),
        ("duration>2", 10, "such as 90s, 2m"),
        ("after:someday", 7, "such as 2026-11-25"),
        ("agent>scout", 1, "agent cannot be compared; write agent:scout"),
        ("-cost>1", 1, "cost cannot be excluded; turn the comparison around"),
        ("-after:fri", 1, "cannot be excluded"),
        ("status:failed -tea", 1, "name at least one word"),
        ("title:a\u{7}b", 8, "there is a control character at character 8"),
        ("title:\"a\nb\"", 8, "\"a?b\" is no title"),
    ] {
        let bad = refused(text);
        assert!(bad.to_string().contains(part), "{text}: {bad}");
        assert_eq!(bad.at, at, "{text}");
    }
}

#[test]
fn a_search_has_bounds() {
    let many = |count: usize| "cost>1 ".repeat(count);
    assert_eq!(Line::parse(&many(SEARCH_CONDITIONS_MAX)).unwrap().conditions.len(), 1, "each once");
    assert_eq!(refused(&many(SEARCH_CONDITIONS_MAX + 1)).problem, Problem::Field(BadField::TooMany));
    let values = |count: usize| format!("agent:{}", (0..count).map(|n| format!("a{n}")).collect::<Vec<_>>().join(","));
    assert!(Line::parse(&values(SEARCH_VALUES_MAX)).is_ok());
    let problem = refused(&values(SEARCH_VALUES_MAX + 1)).problem;
    assert_eq!(problem, Problem::Field(BadField::TooManyValues(Field::Agent)));
    assert_eq!(refused(&"x".repeat(SEARCH_QUERY_CHARS_MAX + 1)).problem, Problem::TooLong);
    let deep = "(".repeat(SEARCH_QUERY_CHARS_MAX);
    assert!(Line::parse(&deep).unwrap().is_empty(), "there is nothing to nest");
}

#[test]
fn a_condition_is_removed_by_its_part() {
    let line = Line::parse("status:failed \"rate limit\" -tea agent:scout").unwrap();
    assert_eq!(line.parts(), ["agent:scout", "status:failed", "\"rate limit\"", "-tea"]);
    let left: Vec<String> = (0..5).map(|part| line.without(part).to_string()).collect();
    let all = line.to_string();
    let expected = [
        "status:failed \"rate limit\" -tea",
        "agent:scout \"rate limit\" -tea",
        "agent:scout status:failed",
        "agent:scout status:failed \"rate limit\"",
        all.as_str(),
    ];
    assert_eq!(left, expected);
}

#[test]
fn a_search_is_widened_by_a_value_and_narrowed_by_a_condition() {
    let mut line = Line::parse("-status:idle status:failed tea").unwrap();
    line.widen(Test::Status(vec![Status::Expired, Status::Failed]));
    line.widen(Test::Agent(vec!["scout".into()]));
    line.widen(Test::Title(vec!["a".into()]));
    line.widen(Test::Title(vec!["b".into()]));
    assert_eq!(line.to_string(), "agent:scout -status:idle status:failed,expired title:a title:b tea");
}

/// A search that is well formed, as people type it.
fn typed() -> impl proptest::strategy::Strategy<Value = String> {
    let part = "(-?(agent|task):[a-z]{1,5}(,[a-z]{1,5}){0,2})|(-?status:(failed|draft|waiting_human)(,idle)?)|\
        (-?(title|error|by):(\"[^\"“”„\\pC\\s][^\"“”„\\pC]{0,8}\"|[^\"“”„\\pC\\s,:]{1,8}))|(cost(>|<|<=|>=|:|=)[0-9]{1,3}(\\.[0-9]{1,6})?)|\
        (duration(>|<|<=|>=)[0-9]{1,5}(ms|s|m|h|d))|((after|before):(today|fri|2026-11-2[0-9]|[1-9][0-9]{0,3}[mhdw]))|\
        (-?[a-zé東/_.]{1,8}\\*?)|(-?\"[a-z東 ,:]{0,10}\")|([:<>=&*-]{1,3})|([a-z]{1,4}:[a-z/:]{0,3})";
    let parts = proptest::collection::vec(proptest::string::string_regex(part).unwrap(), 0..7);
    proptest::strategy::Strategy::prop_map(parts, |parts| parts.join(" "))
}

#[test]
fn a_list_knows_its_own_fields_alone() {
    let line = Line::parse_for("agent:scout title:\"weekly report\" tea", &Field::OF_TASKS).unwrap();
    assert_eq!((line.conditions.len(), line.words.len()), (2, 1));
    let cases: [(&str, &'static [Field], usize); 3] = [
        ("tea cost>1", &Field::OF_TASKS, 5),
        ("status:failed", &Field::OF_CAUSES, 1),
        ("-agent:x", &Field::OF_ENTITIES, 1),
    ];
    for (text, fields, at) in cases {
        let refused = Line::parse_for(text, fields).unwrap_err();
        let names: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
        assert_eq!(refused.at, at, "{text}");
        assert!(refused.to_string().contains(&format!("the fields are {}.", names.join(", "))), "{refused}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_printed_search_reads_as_the_same_search(text in typed()) {
        if let Ok(line) = Line::parse(&text) {
            let printed = line.to_string();
            proptest::prop_assert_eq!(Line::parse(&printed), Ok(line), "{} {}", text, printed);
        }
    }

    #[test]
    fn any_text_is_a_search_or_says_where_it_is_none(text in "(\\PC|[ \"*:<>=,-]|agent|cost|after){0,40}") {
        match Line::parse(&text) {
            Ok(line) => {
                let printed = line.to_string();
                // Spaces and quotation marks may be added, so a text at the limit can be printed longer.
                if printed.chars().count() <= SEARCH_QUERY_CHARS_MAX {
                    proptest::prop_assert_eq!(Line::parse(&printed), Ok(line), "{}", printed);
                }
            }
            Err(bad) => {
                proptest::prop_assert!((1..=text.chars().count().max(1)).contains(&bad.at), "{:?}", bad);
            }
        }
    }
}
