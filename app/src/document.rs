//! The HTML document of a page: head, scripts and body.

use crate::{
    OWNER_HEADER,
    render::write,
    shell::{Shell, Theme},
    text::{
        escape::{attribute, content},
        number,
    },
};
use hydration_context::SsrSharedContext;
use leptos::{IntoView, reactive::owner::Owner, tachys::view::RenderFlags};
use std::sync::Arc;

/// The icon of the browser tab; the server serves it as `/favicon.svg`.
pub const FAVICON_SVG: &str = include_str!("favicon.svg");

/// Marks the root element before the first paint, so that script-only elements do not shift the layout. Keeps the keys
/// that are pressed in a field with `data-early` in its attribute `data-keys`, each with a space behind it: those that
/// move a selection or choose. The island of the field removes `data-early` and handles them. Hydration writes
/// `data-early` anew, so the keys are not in it. Text that follows a key, or a focus that comes anew, makes it void.
/// One that is held down counts once: the same Enter has opened the popover.
const EARLY: &str = r#"document.documentElement.classList.add("js");for(const n of["focusin","input","keydown"])addEventListener(n,e=>{const d=e.target.dataset;if(d?.early==null)return;if(n!="keydown")d.keys="";else if(!e.isComposing&&/Enter|Arrow[DU]|Home|End/.test(e.key)){e.repeat||(d.keys+=e.key+" ");e.preventDefault()}})"#;

/// Keeps a page that is left while a working session is active and before the recorder has recorded it: the recorder
/// of the next page takes it from the list. The recorder leaves the event that it is about to record in `data-event`.
/// A page with `data-unrecorded` is not recorded. It is the last script, because a browser without storage throws at
/// its first line.
const LEFT: &str = r#"{const s=localStorage,o="shiftbook-recorder-paused",was=s[o];addEventListener("pagehide",()=>{const d=document,w=d.querySelector(".working[data-active]"),r=d.documentElement.dataset,k="shiftbook-left";if(!w||d.querySelector("[data-unrecorded]")||r.recorded||d.prerendering||was||s[o])return;const l=JSON.parse(s[k]||"[]");l.push({owner:w.dataset.owner,active:w.dataset.active,path:location.pathname,at:new Date(performance.timeOrigin).toISOString(),event:r.event||""});s[k]=JSON.stringify(l.slice(-99))})}"#;

/// Adds the owner of the page to the address of each posted form, as the parameter `h`, because another tab may have
/// switched the workspace or signed in as someone else. Forms that an island sends are left alone. The address is
/// restored afterwards, because islands compare it. The page that answers a refused form has its address without the
/// parameter, and one with a file the address of its page, `data-address`.
const OWNED: &str = r#"(h=>{addEventListener("DOMContentLoaded",()=>{const f=document.querySelector("form[data-address]"),q=new URL(location);if(q.searchParams.has(h)){q.searchParams.delete(h);history.replaceState(history.state,"",f?f.dataset.address:q)}});addEventListener("submit",e=>{const f=e.target,b=e.submitter,o=document.querySelector("[data-owner]");if(!o||e.defaultPrevented||f.getAttribute("method")!="post")return;const[t,n]=b?.hasAttribute("formaction")?[b,"formaction"]:[f,"action"],a=t.getAttribute(n)||"",u=new URL(a,location);u.searchParams.set(h,o.dataset.owner);t.setAttribute(n,u);setTimeout(()=>t.setAttribute(n,a))})})"#;

/// Hydrates the islands. Their exported names end in a hash of their source. They are looked up by the part before
/// it, because two compilers may print the same source differently. The function of a lazy island returns a promise;
/// its files are fetched while the core still loads. `data-ready` is set when every island of the page works, except
/// those inside `[data-idle]`: they are dialogs that few visits open, and load when the browser has nothing else to do.
const LOADER: &str = r#"
const plain=n=>n.replace(/_[0-9a-f]{16}$/,"");
const name=el=>plain(el.dataset.component);
const wake=async el=>{try{await m[Object.keys(m).find(n=>plain(n)==name(el))](el)}catch(e){console.error(e)}};
const late=document.querySelectorAll("[data-idle] leptos-island");
const islands=[...document.querySelectorAll("leptos-island:not([data-idle] *)")];
for(const el of islands)m.prefetch(name(el));
await init({module_or_path:WASM});
m.hydrate();
await Promise.all(islands.map(wake));
await m.settleParts();
document.documentElement.dataset.ready="";
document.dispatchEvent(new Event("shiftbook-ready"));
m.loadWhenIdle(["palette_dialog"]);
(window.requestIdleCallback||setTimeout)(()=>late.forEach(wake),{timeout:1000});"#;

/// Renders a whole document. It is synchronous and CPU-bound; the server calls it on a blocking task.
pub fn render<V: IntoView>(shell: &Shell, title: &str, page: impl FnOnce() -> V) -> String {
    let mut html = String::with_capacity(48 * 1024);
    head(&mut html, shell, title);
    let owner = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
    owner.with(|| write(&mut html, page(), RenderFlags::HYDRATE));
    owner.unset_with_forced_cleanup();
    html.push_str(crate::ui::icon::SPRITE);
    html.push_str("</body></html>");
    html
}

fn head(html: &mut String, shell: &Shell, title: &str) {
    html.push_str("<!DOCTYPE html><html lang=\"en\"");
    match shell.theme {
        Theme::System => {}
        Theme::Light => html.push_str(" data-theme=\"light\""),
        Theme::Dark => html.push_str(" data-theme=\"dark\""),
    }
    if !shell.live_mark.is_empty() {
        html.push_str(&format!(" data-mark=\"{}\"", attribute(&shell.live_mark)));
    }
    html.push_str("><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    if shell.needs_me > 0 {
        html.push_str(&format!("({}) ", number::badge(shell.needs_me)));
    }
    content(html, title);
    html.push_str(" · Shiftbook</title><meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"same-origin\">");
    let nonce = attribute(&shell.nonce);
    let (css, js, wasm) = (attribute(&shell.css_href), attribute(&shell.js_href), attribute(&shell.wasm_href));
    html.push_str(&format!(
        "<link rel=\"stylesheet\" href=\"{css}\"><link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">"
    ));
    // The server also serves pages if the site was not built.
    if shell.viewer.is_some() && !shell.js_href.is_empty() {
        html.push_str(&format!(
            "<script nonce=\"{nonce}\">{EARLY};{OWNED}(\"{OWNER_HEADER}\");{LEFT}</script><link rel=\"modulepreload\" nonce=\"{nonce}\" href=\"{js}\"><link rel=\"preload\" href=\"{wasm}\" as=\"fetch\" type=\"application/wasm\" crossorigin>\
             <script type=\"module\" nonce=\"{nonce}\">import init,* as m from \"{js}\";const WASM=\"{wasm}\";{LOADER}</script>"
        ));
    }
    html.push_str("</head><body>");
}
