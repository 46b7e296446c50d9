// The tools of a tree of a result: search, folding, and the path of a part. A tree folds without it.

const PARTS = ".result-tree li:not(.meta)";
const SEARCH_AFTER_MS = 150;

const make = (tag, attributes, text = "") => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    return element;
};

const detailsOf = part => part.querySelector(":scope > details");
const around = part => part.parentElement.closest(PARTS);

// A key that is shown shortened is in an attribute.
const keyOf = part => part.dataset.key ?? (detailsOf(part)?.firstElementChild ?? part).querySelector(".result-key").textContent;

// The JSON Pointer of a part.
const pathOf = part => {
    const own = `/${keyOf(part).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const above = around(part);
    return (above ? pathOf(above) : part.parentElement.dataset.at ?? "") + own;
};

// What has the focus of a part: its summary, or the part itself if it does not fold.
const rowOf = part => detailsOf(part)?.firstElementChild ?? part;
// The text of a part without those inside of it, and without their number.
const ownText = part => (detailsOf(part) ? keyOf(part) : `${part.dataset.key ?? ""} ${part.textContent}`).toLowerCase();

const startTools = tree => {
    const parts = [...tree.querySelectorAll("li:not(.meta)")];
    const open = new Map(parts.filter(detailsOf).map(part => [part, detailsOf(part).open]));
    const tools = make("div", { class: "result-tools", role: "group", "aria-label": "Tree" });
    const search = make("input", { class: "input", type: "search", "aria-label": "Search in the result", placeholder: "Search" });
    const unfold = make("button", { class: "button", type: "button", "data-size": "small" }, "Unfold all");
    const fold = make("button", { class: "button", type: "button", "data-size": "small" }, "Fold all");
    const line = make("span", { class: "copy-field" });
    const path = make("input", { class: "input", readonly: "", "aria-label": "JSON Pointer of the part", placeholder: "Path of a part" });
    const copy = make("button", { class: "button", type: "button", "data-size": "small", "data-copy": "", "aria-label": "Copy the path" });
    const status = make("span", { class: "meta", role: "status" });
    copy.append(make("span", {}, "Copy"));
    copy.disabled = true;
    line.append(path, copy);
    tools.append(search, unfold, fold, line, status);
    tree.before(tools);

    // One part of the tree is reached with Tab, the others with the arrows.
    let current = null;
    const choose = part => {
        if (current) rowOf(current).tabIndex = -1;
        current = part;
        rowOf(part).tabIndex = 0;
        path.value = pathOf(part);
        copy.dataset.copy = path.value;
        copy.disabled = false;
    };
    for (const part of parts) rowOf(part).tabIndex = -1;
    if (parts.length) rowOf(parts[0]).tabIndex = 0;

    const isShown = part => {
        for (let above = around(part); above; above = around(above)) if (!detailsOf(above).open) return false;
        return !part.hidden;
    };
    const setOpen = value => open.forEach((_, part) => { detailsOf(part).open = value; });
    unfold.addEventListener("click", () => setOpen(true));
    fold.addEventListener("click", () => setOpen(false));

    const find = () => {
        const wanted = search.value.trim().toLowerCase();
        if (!wanted) {
            for (const part of parts) { part.hidden = false; part.removeAttribute("data-found"); }
            open.forEach((was, part) => { detailsOf(part).open = was; });
            status.textContent = "";
            return;
        }
        const found = new Set(parts.filter(part => ownText(part).includes(wanted)));
        // Around what is found everything is open, and what is inside of it stays.
        const outside = new Set(), inside = new Set();
        for (const part of found) for (let above = around(part); above; above = around(above)) outside.add(above);
        for (const part of parts) {
            const above = around(part);
            if (above && (found.has(above) || inside.has(above))) inside.add(part);
            part.hidden = !found.has(part) && !outside.has(part) && !inside.has(part);
            part.toggleAttribute("data-found", found.has(part));
            if (outside.has(part)) detailsOf(part).open = true;
        }
        status.textContent = found.size === 1 ? "1 part found" : `${found.size || "No"} parts found`;
    };
    let timer = 0;
    search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, SEARCH_AFTER_MS); });
    search.addEventListener("keydown", event => {
        if (event.key === "Escape" && search.value) {
            search.value = "";
        } else if (event.key !== "Enter") {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
        clearTimeout(timer);
        find();
        const first = parts.find(part => part.hasAttribute("data-found"));
        if (first) rowOf(first).focus();
    });

    tree.addEventListener("focusin", event => {
        const part = event.target.closest(PARTS);
        if (part) choose(part);
    });
    tree.addEventListener("click", event => {
        const part = event.target.closest(PARTS);
        if (part && !String(getSelection())) rowOf(part).focus();
    });
    tree.addEventListener("keydown", event => {
        if (!current || event.altKey || event.ctrlKey || event.metaKey) return;
        const shown = parts.filter(isShown);
        const at = shown.indexOf(current);
        const details = detailsOf(current);
        const go = part => { if (part) rowOf(part).focus(); };
        switch (event.key) {
            case "ArrowDown": go(shown[at + 1]); break;
            case "ArrowUp": go(shown[at - 1]); break;
            case "Home": go(shown[0]); break;
            case "End": go(shown.at(-1)); break;
            case "ArrowRight":
                if (details?.open) go(shown[at + 1]);
                else if (details) details.open = true;
                break;
            case "ArrowLeft":
                if (details?.open) details.open = false;
                else go(around(current));
                break;
            default: return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
    // Without selected text, Ctrl+C copies the path of the part that has the focus.
    tree.addEventListener("copy", event => {
        if (!current || String(getSelection())) return;
        event.clipboardData.setData("text/plain", pathOf(current));
        event.preventDefault();
        status.textContent = "Path copied";
    });
};

const started = new WeakSet();
const startNew = () => {
    for (const tree of document.querySelectorAll("ul.result-tree")) {
        if (started.has(tree)) continue;
        started.add(tree);
        startTools(tree);
    }
};
startNew();
// A result can arrive while the page of its session is open, and the sidebar is replaced when it has changed.
const sidebar = document.querySelector("[data-part=sidebar]");
if (sidebar) new MutationObserver(startNew).observe(sidebar, { childList: true, subtree: true });
