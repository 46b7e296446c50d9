// Loads the parts of the frontend that are fetched when they are needed. `cargo xtask` joins this file to the script
// of wasm-bindgen and defines `partFiles`: the files that each lazy function needs.

// Session storage: the parts for which this tab has reloaded its page and that have not come since.
const RELOADED_FOR = "shiftbook-reloaded-for";
// How long after a failed request the page says so, in milliseconds.
const UNREACHABLE_MS = 2000;

// What is fetched when the pointer comes to a link: the first name of its path → what its page loads, and behind a
// space what the pages below it load.
const HOVERED = new Map(Object.entries({
    inbox: "LiveInbox LiveInbox",
    today: "WorkQueueStrip",
    sessions: "LiveRows LiveTranscript",
    chat: "LiveRows LiveConversation",
    actions: "LiveRows LiveRows",
    canvases: " CanvasEditor",
    settings: "BindingsEditor",
    exports: " LiveProgress",
    views: " LivePreview",
    "working-on": "LiveDay",
}));

// File → the fetch that `prefetch` has begun, until it is used.
const begunFetches = new Map();
// Lazy function → its module, and the module when it is compiled.
const openedParts = new Map();
const partModules = new Map();
const partLoads = new Map();
const partCalls = new Set();
// What the page last said of a part.
let partNotice;

// The server does not have a part.
class PartGone extends Error {}

async function fetchPart(file) {
    const begun = begunFetches.get(file);
    // A response can be read once.
    begunFetches.set(file, undefined);
    const response = await (begun || fetch(new URL(file, import.meta.url)));
    if (!response.ok) throw new PartGone(`${file}: ${response.status}`);
    return response;
}

function compilePart(file) {
    return WebAssembly.compileStreaming(fetchPart("./" + file));
}

// The module of a lazy function, which comes first among its files.
function openPart(name) {
    let module = openedParts.get(name);
    if (!module) {
        module = compilePart(partFiles[name][0]);
        openedParts.set(name, module);
        module.then((compiled) => partModules.set(name, compiled), () => openedParts.delete(name));
    }
    return module;
}

// A small part that several lazy functions share: the module of each has it as a custom section.
async function heldPart(name) {
    for (const module of partModules.values()) {
        const [section] = WebAssembly.Module.customSections(module, name);
        if (section) return WebAssembly.compile(section);
    }
    throw new PartGone(name);
}

async function instantiatePart(compiled, imports) {
    return WebAssembly.instantiate(await compiled, imports);
}

// Begins to fetch what an island or a lazy function needs, before there is WASM to call it.
export function prefetch(island) {
    const name = island.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
    for (const file of partFiles[name] || []) {
        const path = "./" + file;
        if (!begunFetches.has(path)) {
            const begun = fetch(new URL(path, import.meta.url));
            // Who needs it reports the failure.
            begun.catch(() => {});
            begunFetches.set(path, begun);
        }
    }
}

document.addEventListener("pointerover", (event) => {
    const link = event.target.closest("a[href^='/']");
    const [, first, below] = link ? link.pathname.split("/") : [];
    const island = (HOVERED.get(first) || "").split(" ")[below ? 1 : 0];
    if (island) prefetch(island);
});

// Loads parts that the page may need soon, while the browser has nothing else to do. A failure is no matter yet.
export function loadWhenIdle(names) {
    const idle = window.requestIdleCallback || ((call) => setTimeout(call, 1000));
    idle(() => names.forEach(loadSoon));
}

function loadSoon(name) {
    const load = partLoads.get(name);
    if (load) load().catch(() => {});
}

// The function by which the WASM asks for a part. Where a part cannot be had, the WASM is not called back: the page
// is reloaded, or says that it stopped.
function lazyPart(name, loadAll) {
    const load = async () => {
        prefetch(name);
        await openPart(name);
        return loadAll();
    };
    partLoads.set(name, load);
    const call = async (callback, data) => {
        try {
            await load();
        } catch (error) {
            console.error(error);
            if (error instanceof PartGone) onMissingPart(name);
            // A page that is being left aborts what it fetches, and never comes to this. Offline a reload does not help.
            else setTimeout(() => showMissingPart(name), UNREACHABLE_MS);
            await new Promise(() => {});
        }
        onPart(name);
        getSharedImports().__wasm_split.__indirect_function_table.get(callback)(data, true);
    };
    return (callback, data) => {
        const begun = call(callback, data);
        partCalls.add(begun);
        begun.finally(() => partCalls.delete(begun));
    };
}

// Waits for the parts that the WASM has asked for; for ever if one of them is missing.
export async function settleParts() {
    while (partCalls.size > 0) await Promise.allSettled(partCalls);
}

function reloadedFor() {
    return (sessionStorage.getItem(RELOADED_FOR) || "").split(" ").filter(Boolean);
}

function onPart(name) {
    try {
        const names = reloadedFor();
        if (!names.includes(name)) return;
        sessionStorage.setItem(RELOADED_FOR, names.filter((other) => other !== name).join(" "));
        showPartNotice("status", "This page was reloaded, because a part of it could not be loaded.");
    } catch {
        // Without storage no page is reloaded.
    }
}

// After an upgrade the server no longer has the parts of an old page: a new page has new ones. One reload for each
// part that is missing, so that a part that never comes cannot make the page reload for ever.
function onMissingPart(name) {
    try {
        const names = reloadedFor();
        if (!names.includes(name) && !hasTypedText()) {
            sessionStorage.setItem(RELOADED_FOR, [...names, name].join(" "));
            location.reload();
            return;
        }
    } catch {
        // Without storage the page cannot know whether it was reloaded before.
    }
    showMissingPart(name);
}

function showMissingPart(name) {
    document.documentElement.dataset.partMissing = name;
    showPartNotice("alert", "A part of this page could not be loaded. Reload the page to try again.");
}

// Text in a form would be lost.
function hasTypedText() {
    const fields = document.querySelectorAll("input:not([type=hidden]), textarea");
    return [...fields].some((field) => field.value !== field.defaultValue);
}

function showPartNotice(role, text) {
    const notice = document.createElement("p");
    notice.className = "broken";
    notice.id = "part-notice";
    notice.setAttribute("role", role);
    notice.textContent = text;
    if (partNotice) partNotice.remove();
    partNotice = notice;
    // What is outside of a modal dialog is neither read out nor usable.
    (document.querySelector("dialog:modal") || document.body).append(notice);
}
