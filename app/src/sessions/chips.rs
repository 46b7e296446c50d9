//! The conditions of a list of sessions, as chips show them.

use super::filter::{DayFilter, Filter};

/// Each condition and word of a list, with the address of the list without it.
pub fn set(filter: &Filter, action: Option<String>, reader_zone: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (place, part) in filter.line.parts().into_iter().enumerate() {
        let without = Filter { line: filter.line.without(place), ..filter.clone() };
        all.push((part, without.href(None)));
    }
    if filter.action_id.is_some() {
        let name = action.unwrap_or_default();
        all.push((format!("Task: {name}"), Filter { action_id: None, ..filter.clone() }.href(None)));
    }
    let zone = filter.zone.as_deref().filter(|zone| *zone != reader_zone);
    for DayFilter { name, label, day } in filter.days() {
        if let Some(day) = day {
            let zone = zone.map(|zone| format!(" ({zone})")).unwrap_or_default();
            all.push((format!("{label} {day}{zone}"), filter.without_day(name).href(None)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::to_html, ui::chip::chips};
    use domain::search::Line;

    #[test]
    fn each_condition_is_a_link_to_the_list_without_it() {
        let filter = Filter {
            line: Line::parse("status:failed <b>tea</b>").unwrap(),
            action_id: Some("7".into()),
            ended: Some("2026-11-25".into()),
            zone: Some("Asia/Tokyo".into()),
            ..Filter::default()
        };
        let html = to_html(chips(set(&filter, Some("Weekly".into()), "UTC"), "Conditions"));
        for part in [
            "href=\"/sessions?q=%3Cb%3Etea%3C%2Fb%3E&amp;actionId=7&amp;ended=2026-11-25&amp;zone=Asia%2FTokyo\"",
            "href=\"/sessions?q=status%3Afailed&amp;actionId=7",
            ">&lt;b&gt;tea&lt;/b&gt;<",
            "&amp;ended=2026-11-25&amp;zone=Asia%2FTokyo\"",
            ">Task: Weekly<",
            ">Ended on 2026-11-25 (Asia/Tokyo)<",
            "%20%3Cb%3Etea%3C%2Fb%3E&amp;actionId=7\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(set(&Filter::default(), None, "UTC").is_empty());
    }
}
