//! What a browser takes for elements and attributes in the HTML of a page.

/// Elements that no page has.
const NEVER: [&str; 10] =
    ["iframe", "object", "embed", "applet", "base", "frame", "math", "marquee", "foreignobject", "animate"];
/// Attributes with an address.
const ADDRESSES: [&str; 7] = ["href", "src", "action", "formaction", "xlink:href", "data", "poster"];
/// Elements whose content has no elements.
const TEXT_ONLY: [&str; 4] = ["script", "style", "textarea", "title"];

/// The start tag of an element.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// Reads the tag at the beginning of the text. Returns it and what is behind it.
    fn read(text: &str) -> (Self, &str) {
        let end =
            text.find(|char: char| char.is_ascii_whitespace() || char == '/' || char == '>').unwrap_or(text.len());
        let mut element = Self { name: text[..end].to_ascii_lowercase(), attributes: Vec::new() };
        let mut rest = &text[end..];
        loop {
            rest = rest.trim_start_matches(|char: char| char.is_ascii_whitespace() || char == '/');
            if rest.is_empty() {
                return (element, rest);
            }
            if let Some(behind) = rest.strip_prefix('>') {
                return (element, behind);
            }
            let (name, behind) = until(rest, |char| char.is_ascii_whitespace() || "=/>".contains(char));
            let (value, behind) = match behind.strip_prefix('=') {
                None => ("", behind),
                Some(value) => match value.chars().next() {
                    Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                    _ => until(value, |char| char.is_ascii_whitespace() || char == '>'),
                },
            };
            // A name has at least one character, so that each step goes forward.
            let (name, behind) = if name.is_empty() { ("=", &rest[1..]) } else { (name, behind) };
            element.attributes.push((name.to_ascii_lowercase(), value.to_owned()));
            rest = behind;
        }
    }

    fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(known, value)| known == name && !value.is_empty())
    }
}

/// Divides a text before the first character of a kind.
fn until(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

/// The elements of a page.
fn elements(page: &str) -> Vec<Element> {
    let (mut found, mut rest) = (Vec::new(), page);
    while let Some((_, behind)) = rest.split_once('<') {
        rest = behind;
        if let Some(comment) = rest.strip_prefix("!--") {
            // `<!-->` is a whole comment.
            rest = comment.strip_prefix('>').unwrap_or_else(|| comment.split_once("-->").map_or("", |(_, rest)| rest));
        } else if rest.starts_with(|char: char| char.is_ascii_alphabetic()) {
            let (element, behind) = Element::read(rest);
            rest = behind;
            if TEXT_ONLY.contains(&element.name.as_str()) {
                let end = format!("</{}", element.name);
                rest = rest.split_once(end.as_str()).map_or("", |(_, rest)| rest);
            }
            found.push(element);
        }
    }
    found
}

fn leads_nowhere(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    address.is_empty()
        || ["/", "#", "?", "http://", "https://", "mailto:"].iter().any(|begin| address.starts_with(begin))
}

/// Asserts that a page has nothing that would run or load a stored text: no scripts but those with the nonce of the
/// page, no handlers, no documents in it, and no addresses that a script can be in.
pub fn assert_inert(page: &str, what: &str) {
    let elements = elements(page);
    assert!(elements.iter().any(|element| element.name == "main"), "{what}: no page of ours: {page}");
    for Element { name, attributes } in &elements {
        assert!(!NEVER.contains(&name.as_str()), "{what}: an element {name}");
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on") && attribute != "srcdoc", "{what}: {attribute} of {name}: {value}");
            let is_address = ADDRESSES.contains(&attribute.as_str());
            assert!(!is_address || leads_nowhere(value), "{what}: {attribute} of {name} leads to {value}");
        }
    }
    for element in elements.iter().filter(|element| element.name == "script") {
        assert!(element.has("nonce"), "{what}: a script of someone else: {:?}", element.attributes);
    }
    let images = elements.iter().filter(|element| element.name == "img");
    for (_, src) in images.flat_map(|image| &image.attributes).filter(|(name, _)| name == "src") {
        assert!(src.starts_with('/'), "{what}: an image of {src}");
    }
}

#[test]
fn elements_and_attributes_are_found_as_a_browser_finds_them() {
    let page = "<!DOCTYPE html><!--><main data-a=\"<b>\" hidden>a < b &lt;i&gt;<br/><textarea></b><i></textarea>\
                <a href='x'title=y>z</a><script nonce=\"n\">if (a <b) {}</script></main><!-- <u> --><p\nid=q>";
    let found = elements(page);
    let names: Vec<_> = found.iter().map(|element| element.name.as_str()).collect();
    assert_eq!(names, ["main", "br", "textarea", "a", "script", "p"]);
    let attribute = |at: usize, which: usize| {
        let (name, value) = &found[at].attributes[which];
        (name.as_str(), value.as_str())
    };
    assert_eq!([attribute(0, 0), attribute(0, 1), attribute(3, 0)], [("data-a", "<b>"), ("hidden", ""), ("href", "x")]);
    assert_eq!([attribute(3, 1), attribute(5, 0)], [("title", "y"), ("id", "q")]);
    assert_inert("<main><a href=\"/x\" title=\"onclick\">javascript:</a></main>", "plain");
}

#[test]
#[should_panic(expected = "leads to JavaScript:1")]
fn an_address_of_a_script_is_found() {
    assert_inert("<main><a href=JavaScript:1>x</a></main>", "a link");
}

#[test]
#[should_panic(expected = "onerror of img")]
fn a_handler_is_found() {
    assert_inert("<main><img src=/x onerror=alert(1)></main>", "an image");
}
