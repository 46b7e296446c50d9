//! Shows times in the reader's time zone, and ages such as "2 h ago".

use super::dom;
use js_sys::Date;
use wasm_bindgen::JsValue;
use web_sys::Element;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Ages below this are shown as one moment, in milliseconds.
const MOMENT: f64 = 10_000.0;

/// Rewrites all times under `root`.
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
            // "Oldest: a moment" would be unclear.
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

/// A time (RFC 3339) in the reader's time zone: `2 Jan 2026, 09:05`.
pub fn local(machine: &str) -> String {
    absolute(&Date::new(&JsValue::from_str(machine)))
}

/// The reader's time zone, as an IANA name.
pub fn zone_name() -> String {
    let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new());
    dom::text(&JsValue::from(format.resolved_options()), "timeZone").unwrap_or_else(|| "UTC".to_owned())
}

/// The reader's time zone, encoded for a query.
pub fn zone() -> String {
    String::from(js_sys::encode_uri_component(&zone_name()))
}

/// The current time, RFC 3339 with milliseconds.
pub fn now_text() -> String {
    Date::new_0().to_iso_string().into()
}

/// Rewrites the times of the page now, and keeps ages current.
pub fn start() {
    let refresh = || {
        if let Some(root) = dom::root() {
            refine(&root);
        }
    };
    refresh();
    dom::every(20_000, refresh);
    // Tells the server the reader's time zone for the next page.
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

/// An age of up to six days in words; `None` beyond that.
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
