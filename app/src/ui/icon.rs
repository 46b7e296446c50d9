//! Icons: symbols of one SVG sprite at the end of the document, referenced by id.

use leptos::prelude::*;

macro_rules! icons {
    ($($name:ident = $id:literal: $path:literal;)+) => {
        /// An icon of the sprite. The browser build uses few of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Icon { $(#[doc = $id] $name),+ }

        impl Icon {
            const fn reference(self) -> &'static str {
                match self { $(Self::$name => concat!("<use href=\"#i-", $id, "\"></use>")),+ }
            }
        }

        /// An icon as an HTML string, for code that does not use views.
        #[cfg(feature = "ssr")]
        pub const fn icon_markup(icon: Icon) -> &'static str {
            match icon {
                $(Icon::$name => concat!("<svg class=\"icon\" aria-hidden=\"true\"><use href=\"#i-", $id, "\"></use></svg>")),+
            }
        }

        /// The SVG sprite, written once into every document.
        #[cfg(feature = "ssr")]
        pub const SPRITE: &str = concat!(
            "<svg class=\"sprite\" aria-hidden=\"true\" xmlns=\"http://www.w3.org/2000/svg\">",
            $("<symbol id=\"i-", $id, "\" viewBox=\"0 0 16 16\">", $path, "</symbol>",)+
            "</svg>"
        );
    };
}

icons! {
    Mark = "mark": r#"<rect x="2" y="1.5" width="12" height="13" rx="1.5"/><path d="M5 1.5v13M7.5 5h4M7.5 8h4M7.5 11h2"/>"#;
    Today = "today": r#"<circle cx="8" cy="8" r="3"/><path d="M8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1"/>"#;
    Inbox = "inbox": r#"<path d="M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 2h3l1-2H14"/>"#;
    Sessions = "sessions": r#"<path d="M5.5 3.5h8.5M5.5 8h8.5M5.5 12.5h8.5M2 3.5h.5M2 8h.5M2 12.5h.5"/>"#;
    Actions = "actions": r#"<path d="M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z"/>"#;
    Entities = "entities": r#"<path d="M2 4.5h4.5l1.5 2h6v7H2zM5 2.5h6.5l1 1.5"/>"#;
    Memory = "memory": r#"<path d="M3 2.5h8.5L13 4v9.5H3zM5.5 6h5M5.5 8.5h5M5.5 11h3"/>"#;
    Insights = "insights": r#"<path d="M2 14h12M3.5 14V9.5h2V14M7 14V6h2v8M10.5 14V2.5h2V14"/>"#;
    Settings = "settings": r#"<path d="M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7"/><circle cx="10.5" cy="4.5" r="1.5"/><circle cx="5.5" cy="11.5" r="1.5"/>"#;
    SignOut = "sign-out": r#"<path d="M6 2.5H3v11h3M10.5 5l3 3-3 3M13 8H6.5"/>"#;
    Theme = "theme": r#"<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/>"#;
    Search = "search": r#"<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>"#;
    Keys = "keys": r#"<rect x="1.5" y="4" width="13" height="8.5" rx="1.5"/><path d="M4 7h.5M7 7h.5M10 7h.5M12 7h.2M5 10h6"/>"#;
    Draft = "draft": r#"<circle cx="8" cy="8" r="5.5" stroke-dasharray="2 2.3"/>"#;
    Pending = "pending": r#"<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3h2.5"/>"#;
    Running = "running": r#"<circle cx="8" cy="8" r="5.5"/><circle cx="8" cy="8" r="2.5" fill="currentColor"/>"#;
    WaitingHuman = "waiting-human": r#"<circle cx="8" cy="5" r="2.5"/><path d="M3 13.5c.5-3 2.5-4.5 5-4.5s4.5 1.5 5 4.5z"/>"#;
    AwaitingTool = "awaiting-tool": r#"<path d="M10 2.2a3.5 3.5 0 0 0-3.3 4.7L2 11.6 4.4 14l4.7-4.7A3.5 3.5 0 0 0 13.8 6L11.5 7.5 9 6.8 8.5 4.5z"/>"#;
    Idle = "idle": r#"<path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z"/>"#;
    Completed = "completed": r#"<circle cx="8" cy="8" r="5.5"/><path d="m5.5 8.2 1.8 1.8 3.2-3.7"/>"#;
    Failed = "failed": r#"<path d="M5.4 2h5.2L14 5.4v5.2L10.6 14H5.4L2 10.6V5.4zM8 5v3.5M8 11v.1"/>"#;
    Abandoned = "abandoned": r#"<circle cx="8" cy="8" r="5.5"/><path d="m4.2 11.8 7.6-7.6"/>"#;
    Expired = "expired": r#"<path d="M4 2h8M4 14h8M4.5 2c0 3.5 3.5 4 3.5 6s-3.5 2.5-3.5 6M11.5 2c0 3.5-3.5 4-3.5 6s3.5 2.5 3.5 6"/>"#;
    Person = "person": r#"<circle cx="8" cy="5" r="2.5"/><path d="M3 13.5c.5-3 2.5-4.5 5-4.5s4.5 1.5 5 4.5"/>"#;
    Agent = "agent": r#"<rect x="2.5" y="5" width="11" height="8.5" rx="2"/><path d="M8 5V2.5M6 9v.5M10 9v.5"/>"#;
    Tool = "tool": r#"<path d="m3 5 3 3-3 3M8 11.5h5"/>"#;
    System = "system": r#"<path d="M2.5 8h11"/>"#;
    External = "external": r#"<path d="M9 2.5h4.5V7M13 3 7 9M11 9.5v4H2.5V5h4"/>"#;
    Eye = "eye": r#"<path d="M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8z"/><circle cx="8" cy="8" r="2"/>"#;
    Flag = "flag": r#"<path d="M3.5 14.5v-13M3.5 2.5h8.5l-2 3 2 3H3.5"/>"#;
    Arrow = "arrow": r#"<path d="M2.5 8h11M9.5 4l4 4-4 4"/>"#;
    Copy = "copy": r#"<rect x="5.5" y="5.5" width="8" height="8" rx="1"/><path d="M10.5 5.5v-3h-8v8h3"/>"#;
    Alert = "alert": r#"<path d="M8 2 14.5 13.5h-13zM8 6.5V9.5M8 11.5v.1"/>"#;
    Seal = "seal": r#"<path d="M8 1.5 13.5 3.5V8c0 3-2.3 5.2-5.5 6.5C4.8 13.2 2.5 11 2.5 8V3.5z"/><path d="m5.7 8 1.6 1.6 3-3.3"/>"#;
    More = "more": r#"<circle cx="3" cy="8" r="1" fill="currentColor"/><circle cx="8" cy="8" r="1" fill="currentColor"/><circle cx="13" cy="8" r="1" fill="currentColor"/>"#;
    Down = "down": r#"<path d="M8 2.5v11M4 9.5l4 4 4-4"/>"#;
    Close = "close": r#"<path d="m3.5 3.5 9 9M12.5 3.5l-9 9"/>"#;
    Target = "target": r#"<circle cx="8" cy="8" r="6"/><circle cx="8" cy="8" r="3"/><circle cx="8" cy="8" r=".6" fill="currentColor"/>"#;
    Square = "square": r#"<rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor"/>"#;
    ThumbUp = "thumb-up": r#"<path d="M5 7v6.5H2.5V7zM5 7l3-5.5c1 0 1.7.8 1.5 1.8L9 6h3.7c.8 0 1.4.8 1.2 1.6l-1.2 4.7c-.2.7-.8 1.2-1.5 1.2H5"/>"#;
    ThumbDown = "thumb-down": r#"<path d="M5 9V2.5H2.5V9zM5 9l3 5.5c1 0 1.7-.8 1.5-1.8L9 10h3.7c.8 0 1.4-.8 1.2-1.6l-1.2-4.7c-.2-.7-.8-1.2-1.5-1.2H5"/>"#;
    Chat = "chat": r#"<path d="M2 3h12v8.5H7.5L4.5 14v-2.5H2zM5 6.2h6M5 8.6h4"/>"#;
    Code = "code": r#"<path d="M5.5 2.5c-2 0-2 1.2-2 2.8S3.5 8 2 8c1.5 0 1.5 1.1 1.5 2.7s0 2.8 2 2.8M10.5 2.5c2 0 2 1.2 2 2.8S12.5 8 14 8c-1.5 0-1.5 1.1-1.5 2.7s0 2.8-2 2.8"/>"#;
}

/// An icon. It is hidden from assistive technology, so it needs a text next to it.
pub fn icon(icon: Icon) -> impl IntoView {
    view! { <svg class="icon" aria-hidden="true" inner_html=icon.reference()></svg> }
}
