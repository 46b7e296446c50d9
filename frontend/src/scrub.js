// The slider of the versions of a canvas: it shows a version while it is moved. Without it the form shows one. New times
// are in UTC until the script of all pages shows them in the time zone of the reader, which it does each 20 s.

const WAIT_MS = 60;

const form = document.querySelector("form[data-scrub]");
const slider = form?.querySelector("input[type=range]");
const show = form?.querySelector("button");

let timer = 0;
let asked = null;

// Everything beside the form is that of the shown version. The form stays, because its slider is held.
const replaceAround = page => {
    const next = page.querySelector("form[data-scrub]");
    if (!next) return false;
    for (const node of [...form.parentElement.childNodes]) if (node !== form) node.remove();
    const nodes = [...next.parentElement.childNodes];
    const at = nodes.indexOf(next);
    form.before(...nodes.slice(0, at));
    form.after(...nodes.slice(at + 1));
    slider.setAttribute("aria-valuetext", next.querySelector("input[type=range]").getAttribute("aria-valuetext"));
    return true;
};

const load = async () => {
    asked?.abort();
    const own = asked = new AbortController();
    const address = `${form.getAttribute("action")}?at=${slider.value}`;
    try {
        const response = await fetch(address, { signal: own.signal });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        if (own !== asked) return;
        if (!response.ok || !replaceAround(page)) throw new Error(response.statusText);
        history.replaceState(history.state, "", address);
        show.hidden = true;
    } catch (error) {
        // A newer request has taken the place of this one, or the button is the way that is left.
        if (error.name !== "AbortError") show.hidden = false;
    }
};

if (slider && show) {
    show.hidden = true;
    slider.addEventListener("input", () => {
        // A screen reader says it with the key, before the version is loaded.
        slider.setAttribute("aria-valuetext", `version ${slider.value}`);
        clearTimeout(timer);
        timer = setTimeout(load, WAIT_MS);
    });
}
