//! Times in the reader's own zone, and "2 h ago" where the page asks for it.

use super::dom;
use js_sys::Date;
use wasm_bindgen::JsValue;
use web_sys::Element;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Milliseconds that are not counted.
const MOMENT: f64 = 10_000.0;

/// Refines every time under `root`.
pub fn refine(root: &Element) {
    let now = Date::now();
    for element in dom::find_all(root, "time[data-time]") {
        let Some(machine) = element.get_attribute("datetime") else { continue };
        let at = Date::new(&JsValue::from_str(&machine));
        if at.get_time().is_nan() {
            continue;
        }
        let ago = (now - at.get_time()).max(0.0);
        let shown = match element.get_attribute("data-time").as_deref() {
            Some("clock") => clock(&at),
            Some("due") => match relative((at.get_time() - now).max(0.0)) {
                Some(_) if at.get_time() <= now => "now".to_owned(),
                Some(words) => ["in ", &words].concat(),
                None => absolute(&at),
            },
            // "oldest a moment" would be no answer.
            Some("age") if ago < MOMENT => "under 10 s".to_owned(),
            Some("age") => relative(ago).unwrap_or_else(|| absolute(&at)),
            Some("ago") => relative(ago).map_or_else(|| absolute(&at), |words| format!("{words} ago")),
            Some("since") => {
                relative(ago).map_or_else(|| format!("since {}", absolute(&at)), |words| format!("for {words}"))
            }
            _ => absolute(&at),
        };
        if element.text_content().as_deref() != Some(&shown) {
            element.set_text_content(Some(&shown));
        }
        if !element.has_attribute("title") {
            let _ = element.set_attribute("title", &format!("{}, {}", day(&at), clock(&at)));
        }
    }
}

/// The reader's zone, as IANA calls it.
pub fn zone_name() -> String {
    let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new());
    dom::text(&JsValue::from(format.resolved_options()), "timeZone").unwrap_or_else(|| "UTC".to_owned())
}

/// The same, ready for a query.
pub fn zone() -> String {
    String::from(js_sys::encode_uri_component(&zone_name()))
}

/// Refines the page now and keeps "ago" true.
pub fn start() {
    let refresh = || {
        if let Some(root) = dom::root() {
            refine(&root);
        }
    };
    refresh();
    dom::every(20_000, refresh);
    // The server makes the next page with the reader's own midnight.
    dom::set_cookie("timezone", &zone_name());
}

fn clock(at: &Date) -> String {
    format!("{:02}:{:02}:{:02}", at.get_hours(), at.get_minutes(), at.get_seconds())
}

fn day(at: &Date) -> String {
    let month = MONTHS.get(at.get_month() as usize).copied().unwrap_or_default();
    format!("{} {month} {}", at.get_date(), at.get_full_year())
}

fn absolute(at: &Date) -> String {
    format!("{}, {:02}:{:02}", day(at), at.get_hours(), at.get_minutes())
}

/// Up to six days in words; beyond that a date says more.
fn relative(ms: f64) -> Option<String> {
    let minutes = (ms / 60_000.0) as u64;
    Some(match minutes {
        0 if ms < MOMENT => "a moment".to_owned(),
        0 => format!("{} s", (ms / 1_000.0) as u64),
        1..60 => format!("{minutes} min"),
        60..1_440 => format!("{} h", minutes / 60),
        1_440..10_080 => format!("{} d", minutes / 1_440),
        _ => return None,
    })
}
