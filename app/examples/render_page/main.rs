//! Renders the page of a session repeatedly from API responses, to measure the cost of a page without HTTP, sign-in
//! and database. `render_page ME.json SESSION.json EVENTS.json ROUNDS SECONDS` prints one line per round: pages per
//! second of CPU time. `cargo xtask bench` runs it.

use app::{
    FormState, Shell, Theme,
    session::{OpensAt, Props, Rating, Summary, Titles, page},
};
use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;
use std::{env, error::Error, fs, hint::black_box};
use wire::{
    event::Events,
    me::Me,
    session::{Dependencies, Session},
};

/// Pages rendered between two readings of the clock. Copying their data is not measured.
const AT_ONCE: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [me, session, events, rounds, seconds] = words.as_slice() else {
        return Err("render_page ME.json SESSION.json EVENTS.json ROUNDS SECONDS".into());
    };
    let (shell, props) = page_of(read(me)?, read(session)?, read(events)?);
    let (rounds, seconds): (u32, f64) = (rounds.parse()?, seconds.parse()?);
    for _ in 0..rounds {
        let (mut pages, mut used) = (0_u32, 0.0);
        while used < seconds {
            let copies = vec![props.clone(); AT_ONCE];
            let begun = cpu_seconds();
            for props in copies {
                black_box(page(&shell, props));
                pages += 1;
            }
            used += cpu_seconds() - begun;
        }
        println!("{}", f64::from(pages) / used);
    }
    Ok(())
}

/// CPU time of this thread, seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

/// The data from which the server renders the page.
fn page_of(me: Me, session: Session, log: Events) -> (Shell, Props) {
    let shell = Shell {
        css_href: "/pkg/app.css".into(),
        pages_css_href: "/pkg/pages.css".into(),
        js_href: "/pkg/app.js".into(),
        wasm_href: "/pkg/app.wasm".into(),
        tree_js_href: "/pkg/tree.js".into(),
        scrub_js_href: "/pkg/scrub.js".into(),
        nonce: "bm9uY2U".into(),
        theme: Theme::System,
        workspaces: vec![me.tenant.clone()],
        viewer: Some(me),
        working_on: None,
        needs_me: 0,
        saved: Vec::new(),
        live_mark: String::new(),
        notice: None,
        now: session.updated_at,
        form_key: "key".into(),
    };
    let summary = Summary {
        may_forget: false,
        may_share: false,
        may_label: false,
        assignee: None,
        session,
        action_name: None,
        action_status: None,
        promoted: None,
        promotion_waits_at: None,
        output: None,
        timeline: log.events.clone(),
        failure: None,
        alike: None,
        error_sequence: None,
        kind_counts: Vec::new(),
        gate: None,
        offer: Default::default(),
        rating: Rating::Silent,
        shown: (0, 0),
    };
    let props = Props {
        summary,
        events: log.events,
        opens_at: OpensAt::Start,
        titles: Titles::default(),
        is_rated: false,
        has_earlier: false,
        has_later: false,
        kinds: String::new(),
        find: Default::default(),
        parent: None,
        children: Vec::new(),
        has_more_children: false,
        graph: Dependencies::default(),
        retries: Vec::new(),
        promotion: None,
        calls: Vec::new(),
        form: FormState::default(),
        progress_script: String::new(),
    };
    (shell, props)
}
