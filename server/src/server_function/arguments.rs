//! Why the arguments of a server function cannot be read: which field is wrong, and what is expected there.
//!
//! A field whose name has the wrong shape is found by that. Of the others, the reader of the arguments names those that
//! are missing, and those whose values it cannot read.

use crate::{extract::named_field, problem::Problem};
use wire::Code;

/// Arguments that are texts by key: `items[ID]`.
const MAPS: [&str; 3] = ["input", "items", "source"];
/// The one of them that can be a single text instead.
const MAP_OR_TEXT: &str = "input";
/// Fields that can have several texts, and the begins of the names of such fields.
const LISTS: [&str; 3] = ["answer", "answer.", "value."];

const ONE: &str = "one text is expected here";
const LIST: &str = "one text or a list of texts is expected here";
/// What is expected of such arguments.
pub const BY_KEY: &str = "one text for each key is expected here, such as `items[KEY]`";

/// The problem of arguments that could not be read. `message` is what their reader says, and `sent` the fields as they
/// were sent, encoded as a form.
pub fn unreadable(message: String, sent: &[u8]) -> Problem {
    if let Some((field, expected)) = form_urlencoded::parse(sent).find_map(|(name, _)| misshapen(&name)) {
        return Problem::field(Code::InvalidRequest, field, expected);
    }
    match named_field(&message) {
        Some(name) => Problem::field(Code::InvalidRequest, name.to_owned(), message),
        None => Problem::detailed(Code::InvalidRequest, message),
    }
}

/// The field of this name and what is expected there, if the name has another shape than that.
fn misshapen(name: &str) -> Option<(String, &'static str)> {
    let (base, keys) = name.split_once('[').unwrap_or((name, ""));
    let keys: Vec<&str> = keys.split_terminator('[').map(|key| key.trim_end_matches(']')).collect();
    let is_list = |of: &str| if of.ends_with('.') { base.starts_with(of) } else { base == of };
    if MAPS.contains(&base) {
        return match keys[..] {
            [] => (base != MAP_OR_TEXT).then(|| (base.to_owned(), BY_KEY)),
            [""] => Some((base.to_owned(), BY_KEY)),
            [_] => None,
            [key, ..] => Some((format!("{base}[{key}]"), ONE)),
        };
    }
    if LISTS.into_iter().any(is_list) {
        let is_place = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
        let fits = keys.len() < 2 && keys.iter().all(|key| is_place(key));
        return (!fits).then(|| (base.to_owned(), LIST));
    }
    (!keys.is_empty()).then(|| (base.to_owned(), ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_the_shape_of_its_name() {
        for (name, found) in [
            ("id", None),
            ("id[x]", Some(("id", ONE))),
            ("id[]", Some(("id", ONE))),
            ("answer", None),
            ("answer[]", None),
            ("answer.when[3]", None),
            ("answer.when[a]", Some(("answer.when", LIST))),
            ("value.tags[0][b]", Some(("value.tags", LIST))),
            ("items", Some(("items", BY_KEY))),
            ("items[]", Some(("items", BY_KEY))),
            ("items[a]", None),
            ("items[a][b]", Some(("items[a]", ONE))),
            ("input", None),
            ("input[week]", None),
            ("input[week][day]", Some(("input[week]", ONE))),
        ] {
            let found = found.map(|(field, expected): (&str, _)| (field.to_owned(), expected));
            assert_eq!(misshapen(name), found, "{name}");
        }
    }
}
