// The script of a form that people answer: saves drafts, hides questions that do not apply, tells the page around a
// frame its height. The form works without it. All rules are the server's: it says which questions do not apply.

const form = document.querySelector("form[data-draft]");
const SAVE_AFTER_MS = 1000;

// Answers that were not recorded stay in this tab, by the address of their form.
const storedAs = action => `shiftbook-form ${action}`;
const forget = name => { try { sessionStorage.removeItem(name); } catch { /* storage is off */ } };

// The page after a submission: the answers are recorded.
if (document.querySelector("[data-done]")) forget(storedAs(location.pathname));

if (form) {
    document.documentElement.classList.add("js");
    const state = form.querySelector("[data-state]");
    const rev = form.elements._rev;
    const id = form.elements._id;
    const stored = storedAs(form.getAttribute("action"));
    let timer = 0, dirty = false, saving = null, conflict = false, leaves = false;

    const fields = () => {
        const body = new URLSearchParams();
        for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
        return body;
    };
    // The answers among the fields of a form, as text to compare.
    const answers = pairs => JSON.stringify(Array.from(pairs).filter(([name]) => !name.startsWith("_")));
    const say = text => { state.textContent = text; };

    // What could not be sent stays in this tab until it is sent, and no longer. What is saved while another page loads
    // stays until the form is opened again: if that page is this form, it may have been rendered before the save.
    const keep = () => { try { sessionStorage.setItem(stored, fields().toString()); } catch { /* storage is off */ } };
    const drop = () => forget(stored);
    const kept = () => { try { return sessionStorage.getItem(stored); } catch { return null; /* storage is off */ } };

    const apply = off => {
        for (const question of form.querySelectorAll("[data-question]")) {
            question.toggleAttribute("data-off", off.includes(question.dataset.question));
        }
    };

    const save = async leaving => {
        clearTimeout(timer);
        if (!dirty || conflict) return;
        if (saving && !leaving) {
            await saving;
            // The form may have been submitted meanwhile.
            if (!dirty || conflict) return;
        }
        dirty = false;
        const body = fields();
        if (leaving) body.append("_leaving", "1");
        const sent = fetch(form.dataset.draft, {
            method: "POST", body, credentials: "same-origin", keepalive: leaving, headers: { accept: "application/json" },
        });
        saving = sent.then(async response => {
            if (response.ok) {
                const saved = await response.json();
                rev.value = saved.rev;
                apply(saved.off);
                if (leaves) keep(); else drop();
                if (!dirty) say("Draft saved");
            } else if (response.status === 409) {
                conflict = true;
                keep();
                say("This form was changed in another tab or on another device. Submit to decide which answers count.");
            } else {
                dirty = true;
                keep();
                say(response.status === 429 ? "Not saved yet: too many requests." : "Not saved. Your answers are kept in this tab.");
            }
        }).catch(() => {
            dirty = true;
            keep();
            say("No connection. Your answers are kept in this tab.");
        }).finally(() => { saving = null; });
        await saving;
    };

    const changed = () => {
        dirty = true;
        leaves = false;
        clearTimeout(timer);
        timer = setTimeout(() => save(false), SAVE_AFTER_MS);
    };
    form.addEventListener("input", changed);
    form.addEventListener("change", () => { dirty = true; save(false); });
    addEventListener("online", () => save(false));
    addEventListener("beforeunload", () => { leaves = true; });
    addEventListener("pageshow", event => {
        leaves = false;
        // The browser went back to this page as it was. Answers are still kept if their submission was not recorded.
        if (event.persisted && kept()) {
            dirty = true;
            save(false);
        }
    });
    addEventListener("pagehide", () => save(true));
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(true); });
    form.addEventListener("submit", event => {
        if (navigator.onLine === false) {
            event.preventDefault();
            keep();
            say("No connection. Your answers are kept in this tab. Submit again when you are online.");
            return;
        }
        clearTimeout(timer);
        // A save that is on its way gives the draft a new number, which the form has to carry.
        if (saving) {
            event.preventDefault();
            const { submitter } = event;
            saving.then(() => form.requestSubmit(submitter));
            return;
        }
        // The submission may not reach the server. The page after it drops what is kept.
        if (dirty || conflict) keep();
        else drop();
        dirty = false;
    });

    // Answers of this tab that were not sent, if the draft has not changed since.
    const restore = () => {
        const text = kept();
        if (!text) return;
        const pairs = new URLSearchParams(text);
        if (Number(pairs.get("_rev")) < Number(rev.value)) { drop(); return; }
        rev.value = pairs.get("_rev");
        // If a submission was recorded and its answer was lost, the same id makes the next one its repeat.
        if (answers(pairs) !== answers(fields())) id.value = pairs.get("_id");
        for (const control of form.elements) {
            if (!control.name || control.name.startsWith("_") || control.type === "hidden") continue;
            const values = pairs.getAll(control.name);
            if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
            else control.value = values[0] || "";
        }
        dirty = true;
        save(false);
    };
    restore();
}

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
