//! HTML and images in the Markdown that a model proposes. A Markdown parser decides what is HTML and what is code.

use super::section;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

const HTML: &str = "raw HTML is not allowed outside of code";
const IMAGES: &str = "images are not allowed";

/// Elements of HTML, SVG and MathML. Another name between angle brackets, as in `feature/<ticket>`, is a placeholder.
const ELEMENTS: &str = " a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink \
    blockquote body br button canvas caption center circle cite code col colgroup content data datalist dd del details dfn dialog dir \
    div dl dt ellipse em embed fencedframe fieldset figcaption figure font footer foreignobject form frame frameset g h1 h2 h3 h4 h5 h6 head \
    header hgroup hr html i iframe image img input ins isindex kbd keygen label legend li line link listing main map mark marquee \
    math menu menuitem meta meter mi mn mo mtext nav nobr noembed noframes noscript object ol optgroup option output p param path \
    picture plaintext polygon polyline portal pre progress q rb rect rp rt rtc ruby s samp script search section select \
    selectedcontent shadow slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th \
    thead time title tr track tt u ul use var video wbr xmp ";

/// Tags with which prompts frame what they hold. A memory may not look like one.
const FRAMES: &str = " antml assistant developer document documents function_calls function_results human important instruction \
    instructions invoke item memories memory override policy prompt rules system system-reminder thinking tool_result \
    tool_use transcript ";

/// Returns why a text may not become a part of a memory; `None` if it has neither HTML nor images outside of code.
///
/// The text is parsed as a whole and line by line: a line that is left out later, or the document around it, may not
/// turn what is code here into HTML. Only fences and spans on one line count as code.
pub fn forbidden(text: &str) -> Option<&'static str> {
    let lines = text.lines().zip(section::blocks(text).0).filter(|(_, block)| *block == 0);
    let mut outside = lines.map(|(line, _)| line.trim_start());
    in_markdown(text).or_else(|| outside.find_map(in_markdown))
}

fn in_markdown(text: &str) -> Option<&'static str> {
    let mut code = Vec::new();
    let mut is_fenced = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Html(html) | Event::InlineHtml(html) if is_html(&html) => return Some(HTML),
            Event::Start(Tag::Image { .. }) => return Some(IMAGES),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => is_fenced = true,
            Event::End(TagEnd::CodeBlock) => is_fenced = false,
            Event::Code(_) => code.push(range),
            Event::Text(_) if is_fenced => code.push(range),
            _ => {}
        }
    }
    // A definition elsewhere in the document makes an image of it.
    let is_code = |at: usize| code.iter().any(|range| range.contains(&at));
    text.match_indices("![").any(|(at, _)| !is_code(at)).then_some(IMAGES)
}

/// Whether what the parser takes for HTML is a tag, and no placeholder or type as in `Vec<String>`.
fn is_html(html: &str) -> bool {
    html.split('<').skip(1).any(|tag| {
        let tag = tag.split('>').next().unwrap_or_default();
        let name: String = tag.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')).collect();
        // One capital letter is a parameter of a type.
        let is_parameter = name.len() == 1 && name.chars().all(char::is_uppercase);
        let name = name.to_ascii_lowercase();
        let has_value = tag.contains(['=', '"', '\'']);
        let is_known = |names: &str| names.split_whitespace().any(|known| known == name);
        name.is_empty() || has_value || name.contains(':') || is_known(FRAMES) || (is_known(ELEMENTS) && !is_parameter)
    })
}
