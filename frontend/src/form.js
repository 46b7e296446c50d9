// The script of a form that people answer, of the form of a tool and of its run: saves drafts, hides questions that do
// not apply, sets the offset of times, shows progress, tells the page around a frame its height. The form works without
// it. All rules are the server's: it says which questions do not apply.

const form = document.querySelector("form[data-draft]");
// A form in a frame saves no drafts. It asks the server which questions apply.
const asking = document.querySelector("form[data-asks]");
const SAVE_AFTER_MS = 1000;
const ELSEWHERE =
    "This form was changed in another tab or on another device. Submit to decide which answers count.";

// Answers that were not recorded stay in this tab, by the address of their form.
const storedAs = action => `shiftbook-form ${action}`;
const forget = name => { try { sessionStorage.removeItem(name); } catch { /* storage is off */ } };

const fieldsOf = of => {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(of)) if (typeof value === "string") body.append(name, value);
    return body;
};

const apply = (of, off) => {
    for (const question of of.querySelectorAll("[data-question]")) {
        question.toggleAttribute("data-off", off.includes(question.dataset.question));
    }
};

// A time that is typed has the offset of the reader's time zone at that time, until another offset is chosen.
for (const zone of document.querySelectorAll("[data-zone]")) {
    const time = zone.parentElement.querySelector("[type=datetime-local]");
    const follow = () => {
        const minutes = -(time.value ? new Date(time.value) : new Date()).getTimezoneOffset();
        const two = part => String(part).padStart(2, "0");
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        if (!Array.from(zone.options).some(option => option.value === offset)) zone.add(new Option(`UTC${offset}`, offset));
        zone.value = offset;
    };
    if (time.value) continue;
    follow();
    time.addEventListener("input", follow);
    zone.addEventListener("change", () => time.removeEventListener("input", follow));
}

if (asking && asking.querySelector(".condition")) {
    const root = document.documentElement;
    root.classList.add("js");
    let running = false, again = false;
    // One question at a time. The answer to the last one counts.
    const ask = async () => {
        again = running;
        if (running) return;
        running = true;
        const body = fieldsOf(asking);
        body.append("_asks", "1");
        const answered = fetch(asking.getAttribute("action"), { method: "POST", body, headers: { accept: "application/json" } })
            .then(response => response.ok ? response.json() : null);
        const answer = await answered.catch(() => null);
        running = false;
        // Without an answer every question is shown, with the condition under which it applies.
        root.classList.toggle("js", answer !== null);
        if (answer) apply(asking, answer.off);
        if (again) ask();
    };
    asking.addEventListener("change", ask);
    // The browser went back to what was typed before.
    addEventListener("pageshow", event => { if (event.persisted) ask(); });
}

// The page after a submission: the answers are recorded.
if (document.querySelector("[data-done]")) forget(storedAs(location.pathname));

if (form) {
    document.documentElement.classList.add("js");
    const state = form.querySelector("[data-state]");
    const rev = form.elements._rev;
    const id = form.elements._id;
    const stored = storedAs(form.getAttribute("action"));
    let timer = 0, dirty = false, leaves = false;
    // The end of all saves that were sent, how many have no answer yet, and whether two of them overlapped.
    let saving = Promise.resolve(), inFlight = 0, overlaps = false;
    // The answers that were sent last, and the fields of a save of which it is not known whether it was recorded.
    let sent = "", lost = null;
    // Whether the draft was changed elsewhere, and whether answers could not be recorded for that or another reason.
    let conflict = false, unsent = false;

    const fields = () => fieldsOf(form);
    // The answers among the fields of a form, as text to compare.
    const answers = pairs => JSON.stringify(Array.from(pairs).filter(([name]) => !name.startsWith("_")));
    const say = text => { state.textContent = text; };

    // What could not be sent stays in this tab until it is sent, and no longer. What is saved while another page loads
    // stays until the form is opened again: if that page is this form, it may have been rendered before the save.
    const keep = () => {
        const pairs = fields();
        pairs.append("_sent", sent);
        if (unsent) pairs.append("_unsent", "1");
        try { sessionStorage.setItem(stored, pairs.toString()); } catch { /* storage is off */ }
    };
    const drop = () => forget(stored);
    const kept = () => { try { return sessionStorage.getItem(stored); } catch { return null; /* storage is off */ } };

    const later = () => {
        clearTimeout(timer);
        timer = setTimeout(() => save(), SAVE_AFTER_MS);
    };

    const saved = answer => {
        rev.value = Math.max(rev.value, answer.rev);
        lost = null;
        unsent = conflict;
        apply(form, answer.off);
        if (leaves || dirty || conflict) keep(); else drop();
        if (dirty) later(); else say("Draft saved");
    };

    const refused = (status, body) => {
        dirty = true;
        // Another save of this page may have changed the draft: one at the same time, or one whose answer was lost.
        const mayBeOwn = overlaps || (lost && body !== lost);
        if (status === 409 && !mayBeOwn) conflict = true;
        else if (status === 0 || status >= 500) lost = lost || body;
        unsent = true;
        keep();
        if (conflict) say(ELSEWHERE);
        else if (status === 409) later();
        else if (status === 0) say("No connection. Your answers are kept in this tab.");
        else say(status === 429 ? "Not saved yet: too many requests." : "Not saved. Your answers are kept in this tab.");
    };

    // One save at a time, because each has to carry the number that the one before gave the draft. `atOnce` is for a
    // page that is left and cannot wait.
    const save = async (leaving = false, atOnce = false) => {
        clearTimeout(timer);
        if (dirty && (leaving || conflict)) keep();
        if (!atOnce) while (inFlight > 0) await saving;
        // The form may have been submitted meanwhile.
        if (!dirty || conflict) return;
        // The server accepts what it has recorded already, whatever its number, so a lost save is repeated first.
        const body = lost && !leaving ? lost : fields();
        sent = answers(body);
        dirty = sent !== answers(fields());
        if (leaving) body.append("_leaving", "1");
        overlaps = inFlight > 0;
        inFlight += 1;
        const answered = fetch(form.dataset.draft, {
            method: "POST", body, credentials: "same-origin", keepalive: leaving, headers: { accept: "application/json" },
        }).then(async response => [response.status, response.ok ? await response.json() : null]);
        const handled = answered.catch(() => [0, null]).then(([status, answer]) => {
            inFlight -= 1;
            if (answer) saved(answer); else refused(status, body);
        });
        saving = saving.then(() => handled);
        await saving;
    };

    const changed = () => {
        dirty = true;
        leaves = false;
        later();
    };
    form.addEventListener("input", changed);
    form.addEventListener("change", () => { dirty = true; save(); });
    addEventListener("online", () => save());
    addEventListener("beforeunload", () => { leaves = true; });
    addEventListener("pageshow", event => {
        leaves = false;
        // The browser went back to this page as it was. Answers are still kept if their submission was not recorded.
        if (event.persisted && kept()) {
            dirty = true;
            save();
        }
    });
    addEventListener("pagehide", () => save(true, true));
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(true); });
    form.addEventListener("submit", event => {
        if (dirty || conflict) unsent = true;
        if (navigator.onLine === false) {
            event.preventDefault();
            keep();
            say("No connection. Your answers are kept in this tab. Submit again when you are online.");
            return;
        }
        clearTimeout(timer);
        // A save that is on its way gives the draft a new number, which the form has to carry.
        if (inFlight > 0) {
            event.preventDefault();
            const { submitter } = event;
            saving.then(() => form.requestSubmit(submitter));
            return;
        }
        // The submission may not reach the server. The page after it drops what is kept. The page after a form with
        // `data-leaves` knows nothing of it.
        if (unsent && !form.hasAttribute("data-leaves")) keep(); else drop();
        dirty = false;
    });

    // Shows answers of this tab that were not recorded. If the draft was changed elsewhere since, nothing is saved: the
    // server asks on submitting which answers count.
    const restore = () => {
        const text = kept();
        if (!text) return;
        const pairs = new URLSearchParams(text);
        const shown = answers(fields());
        const isShown = answers(pairs) === shown;
        // A draft with what this tab sent last has its newer number from this tab.
        const isOlder = Number(pairs.get("_rev")) < Number(rev.value);
        const isElsewhere = isOlder && pairs.get("_sent") !== shown;
        if ((isOlder && isShown) || (isElsewhere && !pairs.has("_unsent"))) { drop(); return; }
        if (isElsewhere || !isOlder) rev.value = pairs.get("_rev");
        // If a submission was recorded and its answer was lost, the same id makes the next one its repeat.
        if (!isShown) id.value = pairs.get("_id");
        for (const control of form.elements) {
            if (!control.name || control.name.startsWith("_") || control.type === "hidden") continue;
            const values = pairs.getAll(control.name);
            if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
            else control.value = values[0] || "";
        }
        dirty = true;
        conflict = isElsewhere;
        unsent = pairs.has("_unsent");
        if (conflict) say(ELSEWHERE); else save();
    };
    restore();
}

// How far the run of a tool is, on the page of its session. Nothing of it is stored.
const run = document.querySelector("[data-progress]");
if (run) {
    const source = new EventSource(run.dataset.progress);
    source.addEventListener("progress", event => {
        const { done, total, note } = JSON.parse(event.data);
        const bar = document.createElement("progress");
        if (total) [bar.max, bar.value] = [total, done];
        bar.ariaLabel = "Progress";
        run.replaceChildren(bar, ` ${total ? `${done} of ${total}` : `${done} done`}${note ? `: ${note}` : ""}`);
    });
    source.addEventListener("end", () => { source.close(); run.replaceChildren(); });
}

// A change of many sessions is sent in parts. The page of each part sends the next one.
document.querySelector("form[data-continue]")?.requestSubmit();

const origins = (document.body.dataset.embeddedIn || "").split(" ").filter(Boolean);
if (origins.length && parent !== window) {
    // The body is at least as high as the frame, so the height is that of its content.
    const content = document.querySelector("main");
    const report = () => {
        const height = Math.min(10000, Math.ceil(content.getBoundingClientRect().height));
        for (const origin of origins) parent.postMessage({ type: "shiftbook:height", v: 1, height }, origin);
    };
    new ResizeObserver(report).observe(content);
    report();
}
