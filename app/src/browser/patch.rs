//! Patches server-rendered HTML in place, by keyed rows and named parts. Unchanged nodes and the focus are kept.

use super::{dom, times};
use wasm_bindgen::JsCast;
use web_sys::{DocumentFragment, Element, HtmlElement, HtmlTemplateElement, Node};

/// Parses a fragment in a template element: table rows are kept, and nothing is fetched or run.
pub fn parse(html: &str) -> Option<DocumentFragment> {
    let template: HtmlTemplateElement = dom::document().create_element("template").ok()?.dyn_into().ok()?;
    template.set_inner_html(html);
    Some(template.content())
}

/// The child elements of a node.
pub fn children(parent: &Node) -> Vec<HtmlElement> {
    let nodes = parent.child_nodes();
    (0..nodes.length()).filter_map(|i| nodes.get(i)?.dyn_into().ok()).collect()
}

/// Replaces the content of `old` with that of `new`, unless the HTML is the same as last time.
///
/// The browser rewrites times after they arrive, so the original HTML is stored with the element and compared. An
/// element that came with the page has none stored: it is compared as the browser would show it.
pub fn update(old: &HtmlElement, new: &HtmlElement) {
    let html = new.inner_html();
    let same = match source(old) {
        Some(source) => source == html,
        None => {
            times::refine(new);
            new.inner_html() == old.inner_html()
        }
    };
    if same {
        set_source(old, &html);
        return;
    }
    let focused = focus_path(old);
    let names = new.get_attribute_names();
    for name in names.iter().filter_map(|name| name.as_string()) {
        if let Some(value) = new.get_attribute(&name) {
            let _ = old.set_attribute(&name, &value);
        }
    }
    old.set_inner_html(&html);
    set_source(old, &html);
    times::refine(old);
    if let Some(path) = focused {
        refocus(old, &path);
    }
}

/// The server's HTML of an element, as it was before times were rewritten.
fn source(element: &HtmlElement) -> Option<String> {
    js_sys::Reflect::get(element, &"cameFrom".into()).ok().and_then(|value| value.as_string())
}

fn set_source(element: &HtmlElement, html: &str) {
    let _ = js_sys::Reflect::set(element, &"cameFrom".into(), &html.into());
}

/// Stores the original HTML of all parts and rows, before times are rewritten.
pub fn remember(root: &Element) {
    for part in dom::find_all(root, "[data-part], [data-key-id]") {
        // A reader may have opened a `details` element before the islands started.
        let html = part.inner_html().replace(" open=\"\"", "");
        set_source(&part, &html);
    }
}

/// Updates the `data-part` elements of `old` from those of `new`: lists row by row, other parts if their HTML
/// differs. A part with an open popover is left as it is, because replacing it would lose the text typed there.
pub fn parts(old: &Element, new: &Element) {
    for part in dom::find_all(old, "[data-part]") {
        let Some(name) = part.get_attribute("data-part") else { continue };
        match dom::find(new, &["[data-part=", &name, "]"].concat()) {
            Some(now) if part.has_attribute("data-list") => list(&part, &now.inner_html(), "data-key-id"),
            Some(now) if dom::find(&part, ".popover[open]").is_none() => update(&part, &now),
            Some(_) | None => {}
        }
    }
}

/// Makes a list show exactly the rows of `html`, in its order. `key` is the attribute that identifies a row.
pub fn list(container: &Element, html: &str, key: &str) {
    let Some(fragment) = parse(html) else { return };
    let keyed = |parent: &Node| -> Vec<(Option<String>, HtmlElement)> {
        children(parent).into_iter().map(|row| (row.get_attribute(key), row)).collect()
    };
    let (new, mut old) = (keyed(&fragment), keyed(container));
    // Removes old rows first. Otherwise the rows behind them would be moved, and a moved node loses the focus.
    old.retain(|(key, row)| {
        let stays = key.is_some() && new.iter().any(|(new, _)| new == key);
        if !stays {
            row.remove();
        }
        stays
    });
    let mut previous: Option<HtmlElement> = None;
    for (key, row) in new {
        let row = match old.iter().find(|(old, _)| *old == key) {
            Some((_, existing)) => {
                update(existing, &row);
                existing.clone()
            }
            None => {
                times::refine(&row);
                row
            }
        };
        let follows = previous.as_ref().map_or_else(|| container.first_element_child(), |p| p.next_element_sibling());
        if follows.as_ref().is_none_or(|next| !next.is_same_node(Some(&row))) {
            let before = follows.map(|next| next.unchecked_into::<Node>());
            let _ = container.insert_before(&row, before.as_ref());
        }
        previous = Some(row);
    }
}

/// The path to the focused element under `root`, as child indexes.
fn focus_path(root: &HtmlElement) -> Option<Vec<u32>> {
    let mut at: Element = dom::document().active_element()?;
    if !root.contains(Some(&at)) {
        return None;
    }
    let mut path = Vec::new();
    while !at.is_same_node(Some(root)) {
        let mut index = 0;
        let mut before = at.previous_element_sibling();
        while let Some(sibling) = before {
            index += 1;
            before = sibling.previous_element_sibling();
        }
        path.push(index);
        at = at.parent_element()?;
    }
    path.reverse();
    Some(path)
}

fn refocus(root: &HtmlElement, path: &[u32]) {
    let mut at: Element = root.clone().into();
    for index in path {
        match at.children().item(*index) {
            Some(child) => at = child,
            None => break,
        }
    }
    if let Ok(element) = at.dyn_into::<HtmlElement>() {
        let _ = element.focus();
    }
}
