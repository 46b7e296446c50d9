/**
 * Content that tries to run scripts or to reach other hosts: selected from OWASP's lists, and generated. None of it
 * may work on any page; `watch` reports what did.
 */
import { expect, type BrowserContext, type Page } from "@playwright/test";
import { hydrated } from "./support";

/** The call that every payload makes. */
const RUN = "ran()";

/** Selected payloads. `§` stands for the call. */
const PICKED = [
  "<script>§</script>",
  "<script src=data:text/javascript,§></script>",
  "<SCRIPT/x>§</SCRIPT>",
  "<scr<script>ipt>§</scr</script>ipt>",
  "</script><script>§</script>",
  "</textarea><script>§</script>",
  "</title><script>§</script>",
  "</style><script>§</script>",
  "</noscript><script>§</script>",
  "</template><script>§</script>",
  "</pre></code><img src=x onerror=§>",
  "</select></option><img src=x onerror=§>",
  "--><script>§</script><!--",
  "]]><script>§</script>",
  "<![CDATA[<script>§</script>]]>",
  "<!--><img src=x onerror=§>-->",
  "<img src=x onerror=§>",
  "<img src=x onerror='§'>",
  '<img src="x" onerror="§">',
  "<img src=`x` onerror=`§`>",
  "<img/src=x/onerror=§//",
  "<img src=x:x onerror=§ ",
  "<image src=x onerror=§>",
  "<svg onload=§>",
  "<svg/onload=§//",
  "<svg><script>§</script></svg>",
  "<svg><script xlink:href=data:,§></script></svg>",
  "<svg><animate onbegin=§ attributeName=x dur=1s>",
  "<svg><a xlink:href=javascript:§><text y=20>x</text></a></svg>",
  "<svg><foreignObject><iframe srcdoc='<script>parent.§</script>'></foreignObject></svg>",
  "<math><mtext></table><mglyph><style><img src=x onerror=§></style></mglyph></mtext></math>",
  "<math href=javascript:§>x</math>",
  "<iframe src=javascript:parent.§></iframe>",
  "<iframe srcdoc='<script>parent.§</script>'></iframe>",
  "<object data=javascript:§></object>",
  "<object data='data:text/html,<script>parent.§</script>'></object>",
  "<embed src=javascript:§>",
  "<base href=javascript:§//>",
  "<meta http-equiv=refresh content='0;url=javascript:§'>",
  "<link rel=stylesheet href=javascript:§>",
  "<style>@import 'javascript:§';</style>",
  "<style>*{background:url(javascript:§)}</style>",
  "<div style='background:url(javascript:§)'>x</div>",
  "<div style=width:expression(§)>x</div>",
  "<body onload=§>",
  "<body onpageshow=§>",
  "<input autofocus onfocus=§>",
  "<select autofocus onfocus=§>",
  "<textarea autofocus onfocus=§>",
  "<button autofocus onfocus=§ formaction=javascript:§>x</button>",
  "<form action=javascript:§><input type=submit>",
  "<details open ontoggle=§><summary>x</summary></details>",
  "<dialog open onclose=§><form method=dialog><button>x</button></form></dialog>",
  "<div popover id=x onbeforetoggle=§>x</div><button popovertarget=x>x</button>",
  "<video><source onerror=§></video>",
  "<video src=x onerror=§></video>",
  "<audio src=x onerror=§></audio>",
  "<marquee onstart=§>x</marquee>",
  "<p onmouseover=§ onclick=§ onfocus=§ tabindex=0>x</p>",
  "<p style='animation:x' onanimationstart=§>x</p>",
  "<a href=javascript:§>x</a>",
  "<a href='java\tscript:§'>x</a>",
  "<a href=' &#14; javascript:§'>x</a>",
  "<a href='data:text/html,<script>§</script>'>x</a>",
  "<a href=vbscript:§>x</a>",
  "<isindex action=javascript:§ type=image>",
  "<custom-element onclick=§ autofocus tabindex=0 onfocus=§>x</custom-element>",
  "<leptos-island data-component=Palette onclick=§><img src=x onerror=§></leptos-island>",
  '" onmouseover="§" autofocus onfocus="§" x="',
  "' onmouseover='§' autofocus onfocus='§' x='",
  "` onmouseover=`§` x=`",
  '"><img src=x onerror=§>',
  "'><img src=x onerror=§>",
  "javascript:§",
  "JaVaScRiPt:§",
  "java\nscript:§",
  "data:text/html,<script>§</script>",
  "[x](javascript:§)",
  "[x](JAVASCRIPT:§)",
  "[x](<java\tscript:§>)",
  "[x](data:text/html;base64,PHNjcmlwdD5yYW4oKTwvc2NyaXB0Pg==)",
  "[x](vbscript:§)",
  "[x](&#106;avascript:§)",
  '[x](https://a.test/ "onmouseover=§")',
  '[x](https://a.test/"onmouseover="§")',
  "[x][ref]\n\n[ref]: javascript:§",
  "<javascript:§>",
  "![x](javascript:§)",
  '![x"onerror="§](x)',
  '![x](x"onerror="§)',
  "```html\n<script>§</script>\n```",
  '```"><script>§</script>\nx\n```',
  "`<img src=x onerror=§>`",
  "|a|\n|-|\n|<img src=x onerror=§>|",
  "- [ ] <img src=x onerror=§>",
  "<img src=x onerror=§>\n<p>\n</p>",
  "{{constructor.constructor('§')()}}",
  "${§}",
  "<%= § %>",
  '{"x":"</script><script>§</script>"}',
  "\u2028§\u2029",
  "&lt;img src=x onerror=§&gt;",
  "&#60;img src=x onerror=§&#62;",
  "\\u003cimg src=x onerror=§\\u003e",
  "%3Cimg%20src=x%20onerror=§%3E",
  "+ADw-script+AD4-§+ADw-/script+AD4-",
  "\uFF1Cimg src=x onerror=§\uFF1E",
  "<img src=x onerror\u000c=§>",
  "<img src=x onerror=window.onerror=§//",
  "<a id=__proto__ name=constructor href=x>x</a>",
  "<form id=documentElement><input name=body></form>",
];

/** Selected payloads with the call filled in. */
export const picked = PICKED.map((text) => text.replaceAll("§", RUN));

/** A seeded random number generator. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const BREAKS = ["", '"', "'", "`", ">", '">', "'>", "-->", "]]>", "</script>", "</textarea>", "</title>", "</style>", "</pre>", "</details>", "\\", "\\\"", "](", "```\n", "\n\n", "|", "> ", "&quot;>", "\u2028", "<!--", "<", "</"];
const TAGS = ["script", "img", "svg", "a", "iframe", "input", "details", "video", "body", "form", "button", "math", "object", "style", "x-y", "svg><script", "template><img", "select><img"];
const SPACES = [" ", "/", "\t", "\n", "\f", " / ", " x=y "];
const EVENTS = ["onerror", "onload", "onfocus", "ontoggle", "onclick", "onmouseover", "ONERROR", "onbegin", "onanimationstart", "onpointerenter"];
const CALLS = [RUN, "ran&#40;&#41;", "ran&lpar;&rpar;", "window['ran']()", "(0,ran)()", "ran``", "parent.ran()", "top['ran'](1)"];
const LINKS = ["href", "src", "action", "formaction", "xlink:href", "srcdoc", "data", "style"];
const SCHEMES = ["javascript:", "JavaScript:", " javascript:", "java\tscript:", "&#106;avascript:", "data:text/html,<script>", "vbscript:", "\u0001javascript:"];
const ENDS = ["", ">", "/>", "//", "></script>", ")", '"', "'>x</a>", "-->", "\n```"];

/** Generated payloads: a string that leaves the context, an element, a handler or address, and an end. */
export function generated(count: number, seed: number): string[] {
  const next = numbers(seed);
  const one = (of: string[]) => of[Math.floor(next() * of.length)]!;
  const piece = () => {
    const begin = one(BREAKS);
    const call = one(CALLS);
    const quote = one(["", '"', "'", "`"]);
    switch (Math.floor(next() * 5)) {
      case 0:
        return `${begin}<${one(TAGS)}${one(SPACES)}${one(EVENTS)}=${quote}${call}${quote}${one(SPACES)}autofocus src=x${one(ENDS)}`;
      case 1:
        return `${begin}<${one(TAGS)}${one(SPACES)}${one(LINKS)}=${quote}${one(SCHEMES)}${call}${quote}${one(ENDS)}`;
      case 2:
        return `${begin}<script>${call}</script>${one(ENDS)}`;
      case 3:
        return `${begin}[x](${one(SCHEMES)}${call} ${quote}${one(EVENTS)}=${call}${quote})${one(ENDS)}`;
      default:
        return `${begin}${one(SPACES)}${one(EVENTS)}=${quote}${call}${quote}${one(SPACES)}${one(ENDS)}`;
    }
  };
  return Array.from({ length: count }, () => (next() < 0.2 ? piece() + piece() : piece()));
}

/** Records forbidden events: scripts that ran, dialogs, violations of the content security policy. */
export async function watch(context: BrowserContext): Promise<string[]> {
  const seen: string[] = [];
  await context.exposeBinding("__seen", ({ page }, what: string) => void seen.push(`${page.url()}: ${what}`));
  await context.addInitScript(() => {
    const tell = (window as unknown as { __seen: (what: string) => void }).__seen;
    const ran = () => tell("a stored script ran");
    for (const name of ["ran", "alert", "confirm", "prompt", "print"]) {
      Object.defineProperty(window, name, { value: ran, writable: false, configurable: false });
    }
    document.addEventListener("securitypolicyviolation", (event) => {
      tell(`the policy refused ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on("dialog", (dialog) => {
    seen.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return seen;
}

/**
 * Finds everything on the page that could run or fetch something and that our pages never contain: elements,
 * handlers, addresses. Scripts with the page's nonce are ours. Folded content is unfolded first.
 */
export function forbiddenElements(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const never = "iframe, object, embed, applet, base, img, image, picture, video, audio, source, track, math, marquee, style, frame, frameset, portal, meta[http-equiv], foreignObject, animate, set";
    const note = (element: Element, why: string) => found.push(`${why}: ${element.outerHTML.slice(0, 200)}`);
    document.querySelectorAll(never).forEach((element) => note(element, "a foreign element"));
    document.querySelectorAll("script").forEach((script) => {
      if (!script.nonce) note(script, "a script without our nonce");
    });
    const harmless = /^(https?:|mailto:|\/|#|\?|$)/i;
    for (const element of document.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on")) note(element, "a handler");
        if (name === "srcdoc") note(element, "a document in an attribute");
        const leads = ["href", "src", "action", "formaction", "xlink:href", "data", "poster", "background"].includes(name);
        if (leads && !harmless.test(value.trim())) note(element, "an address");
      }
    }
    return found;
  });
}

/** Unfolds everything but the events' raw JSON, and moves the pointer over it to trigger handlers. */
export async function triggerHandlers(page: Page) {
  await page.evaluate(() => {
    document.querySelectorAll<HTMLDetailsElement>("details:not(.raw)").forEach((details) => (details.open = true));
    document.querySelectorAll<HTMLDetailsElement>("details.raw").forEach((details, at) => (details.open = at < 3));
    for (const element of document.querySelectorAll("main *")) {
      for (const type of ["mouseover", "pointerenter", "focus", "animationstart", "toggle", "error"]) element.dispatchEvent(new Event(type));
    }
  });
}

/** A payload as a name: one line, at most 200 characters. */
export const line = (text: string) => text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim().slice(0, 200);

/** Payloads joined into groups of `of`, for fields with long texts. */
export function joined(payloads: string[], of: number, glue = "\n"): string[] {
  const texts: string[] = [];
  for (let at = 0; at < payloads.length; at += of) texts.push(payloads.slice(at, at + of).join(glue));
  return texts;
}

/** Checks a page as it is. */
export async function look(page: Page, seen: string[], where: string) {
  await triggerHandlers(page);
  expect.soft(await forbiddenElements(page), where).toEqual([]);
  expect(seen, where).toEqual([]);
}

/** Opens a page and checks it. `awake` waits for its scripts. Returns the response. */
export async function visit(page: Page, seen: string[], path: string, awake = true) {
  const response = await page.goto(path, { waitUntil: "load" });
  if (awake) await hydrated(page);
  await look(page, seen, path);
  return response;
}

/** Opens a page that has to exist, and checks it. A page of an error has nothing of the stored content. */
export async function visitExisting(page: Page, seen: string[], path: string, awake = true) {
  const response = await visit(page, seen, path, awake);
  expect(response?.status(), path).toBe(200);
}
