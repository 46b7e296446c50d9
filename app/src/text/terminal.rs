//! What programs print to a terminal: lines with colours. Of all control sequences only those that set colours and
//! weights (SGR) and those that write a line anew (carriage return, backspace, erase in line) have an effect; the
//! others are left out.

use anstyle_parse::{DefaultCharAccumulator, Params, ParamsIter, Parser, Perform};

/// The introducer of control sequences.
const ESCAPE: char = '\u{1b}';
/// Longest line of which single places can be written again, characters. The rest of a longer line is appended.
const REWRITTEN_CHARS_MAX: usize = 4_096;

/// Whether a text has control sequences, or lines that overwrite themselves.
pub fn is_terminal(text: &str) -> bool {
    text.contains([ESCAPE, '\u{8}', '\u{9b}']) || text.replace("\r\n", "").contains('\r')
}

/// The text without control sequences.
pub fn plain(text: &str) -> String {
    if !is_terminal(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    each_line(text, |cells| out.extend(cells.iter().map(|cell| cell.0)));
    out
}

/// Calls `take` with each piece of the text that has one style: its classes in `style/output.css`, empty for no style,
/// and its words.
pub fn each_run(text: &str, mut take: impl FnMut(&str, &str)) {
    each_line(text, |cells| {
        for run in cells.chunk_by(|one, next| one.1 == next.1) {
            let style = run.first().map(|cell| cell.1).unwrap_or_default();
            let words: String = run.iter().map(|cell| cell.0).collect();
            take(&style.classes(), &words);
        }
    });
}

/// Calls `take` with each line, with its line break. A control sequence ends with its line at the latest: one that is
/// never closed would hide everything after it.
fn each_line(text: &str, mut take: impl FnMut(&[Cell])) {
    let mut line = Line::default();
    for part in text.split_inclusive('\n') {
        let (words, is_ended) = part.strip_suffix('\n').map_or((part, false), |words| (words, true));
        let mut parser = Parser::<DefaultCharAccumulator>::new();
        for byte in words.strip_suffix('\r').unwrap_or(words).bytes() {
            parser.advance(&mut line, byte);
        }
        if is_ended {
            line.cells.push(('\n', Style::default()));
        }
        take(&line.cells);
        line.cells.clear();
        line.place = 0;
    }
}

/// A character with its style.
type Cell = (char, Style);

/// One line as a terminal shows it, and the style of what comes next.
#[derive(Default)]
struct Line {
    cells: Vec<Cell>,
    place: usize,
    style: Style,
}

/// Colours are numbers of the 16 colours of terminals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    ink: Option<u8>,
    ground: Option<u8>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    struck: bool,
    inverse: bool,
}

impl Style {
    fn classes(self) -> String {
        let mut classes = Vec::new();
        let (ink, ground) = if self.inverse { (self.ground, self.ink.or(Some(7))) } else { (self.ink, self.ground) };
        classes.extend(ink.map(|colour| format!("ansi-{colour}")));
        classes.extend(ground.map(|colour| format!("ansi-on-{}", colour % 8)));
        let set = [
            (self.bold, "ansi-bold"),
            (self.dim, "ansi-dim"),
            (self.italic, "ansi-italic"),
            (self.underlined, "ansi-underlined"),
            (self.struck, "ansi-struck"),
        ];
        classes.extend(set.into_iter().filter(|(is_set, _)| *is_set).map(|(_, class)| class.to_owned()));
        classes.join(" ")
    }

    /// Applies one sequence. Unknown numbers change nothing.
    fn apply(&mut self, params: &Params) {
        let mut groups = params.iter();
        while let Some(group) = groups.next() {
            match group.first().copied().unwrap_or_default() {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = group.get(1) != Some(&0),
                7 => self.inverse = true,
                9 => self.struck = true,
                21 | 22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.inverse = false,
                29 => self.struck = false,
                code @ 30..=37 => self.ink = Some((code - 30) as u8),
                38 => self.ink = extended(group, &mut groups).or(self.ink),
                39 => self.ink = None,
                code @ 40..=47 => self.ground = Some((code - 40) as u8),
                48 => self.ground = extended(group, &mut groups).or(self.ground),
                49 => self.ground = None,
                code @ 90..=97 => self.ink = Some((code - 82) as u8),
                code @ 100..=107 => self.ground = Some((code - 92) as u8),
                _ => {}
            }
        }
    }
}

/// The colour of `38;5;N`, `38;2;R;G;B` and their forms with colons, as the nearest of the 16.
fn extended(group: &[u16], rest: &mut ParamsIter<'_>) -> Option<u8> {
    let mut own = group.iter().skip(1).copied();
    let by_colon = group.len() > 1;
    let mut next = || if by_colon { own.next() } else { rest.next().and_then(|group| group.first().copied()) };
    match next()? {
        5 => of_palette(u8::try_from(next()?).ok()?),
        2 => {
            // `38:2::R:G:B` has a colour space before the three.
            if group.len() == 6 {
                next();
            }
            let (red, green, blue) = (next()?, next()?, next()?);
            Some(nearest([red, green, blue].map(|part| part.min(255))))
        }
        _ => None,
    }
}

/// A colour of the palette of 256.
fn of_palette(colour: u8) -> Option<u8> {
    Some(match colour {
        0..=15 => colour,
        16..=231 => {
            let at = u16::from(colour - 16);
            nearest([at / 36, at / 6 % 6, at % 6].map(|step| step * 51))
        }
        232..=255 => nearest([u16::from(colour - 232) * 10 + 8; 3]),
    })
}

/// The one of the 16 colours that has the same parts: each part that is more than half of the largest one counts.
fn nearest([red, green, blue]: [u16; 3]) -> u8 {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most - least < 32 {
        return match most {
            0..48 => 0,
            48..144 => 8,
            144..224 => 7,
            _ => 15,
        };
    }
    let middle = least + (most - least) / 2;
    let hue = u8::from(red > middle) | u8::from(green > middle) << 1 | u8::from(blue > middle) << 2;
    if most > 192 { hue + 8 } else { hue }
}

impl Perform for Line {
    fn print(&mut self, c: char) {
        // The controls of ISO 8859-1 arrive as characters.
        if c.is_control() {
            return;
        }
        match self.cells.get_mut(self.place) {
            Some(cell) => *cell = (c, self.style),
            None => self.cells.push((c, self.style)),
        }
        self.place += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\t' => {
                self.cells.truncate(self.place);
                self.cells.push(('\t', self.style));
                self.place += 1;
            }
            b'\r' if self.cells.len() <= REWRITTEN_CHARS_MAX => self.place = 0,
            0x08 if self.cells.len() <= REWRITTEN_CHARS_MAX => self.place = self.place.saturating_sub(1),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: u8) {
        let first = || params.iter().next().and_then(|group| group.first().copied()).unwrap_or_default();
        match action {
            _ if ignore || !intermediates.is_empty() => {}
            b'm' => self.style.apply(params),
            b'K' if first() == 0 => self.cells.truncate(self.place),
            b'K' if first() == 2 => {
                self.cells.clear();
                self.place = 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::html::Html, *};

    fn html(text: &str) -> String {
        let mut html = Html::default();
        html.terminal(text);
        html.finish()
    }

    #[test]
    fn colours_become_classes() {
        assert_eq!(
            html("\u{1b}[31merror\u{1b}[1m[E0382]\u{1b}[0m: moved\n  --> src/a.rs"),
            "<span class=\"ansi-1\">error</span><span class=\"ansi-1 ansi-bold\">[E0382]</span>: moved\n  --&gt; src/a.rs"
        );
        assert_eq!(
            html("\u{1b}[92mok\u{1b}[39m\u{1b}[41m!\u{1b}[m."),
            "<span class=\"ansi-10\">ok</span><span class=\"ansi-on-1\">!</span>."
        );
        assert_eq!(html("\u{1b}[7mx"), "<span class=\"ansi-on-7\">x</span>");
    }

    #[test]
    fn larger_palettes_become_the_nearest_of_16_colours() {
        let of = |sequence: &str| html(&format!("\u{1b}[{sequence}mx"));
        for (sequence, class) in [
            ("38;5;1", "ansi-1"),
            ("38;5;196", "ansi-9"),
            ("38;5;28", "ansi-2"),
            ("38;5;240", "ansi-8"),
            ("38;2;0;128;128", "ansi-6"),
            ("38:2::255:255:0", "ansi-11"),
            ("38;2;255;255;255", "ansi-15"),
            ("48;5;4", "ansi-on-4"),
        ] {
            assert_eq!(of(sequence), format!("<span class=\"{class}\">x</span>"), "{sequence}");
        }
        for broken in ["38", "38;5", "38;5;999", "38;2;1", "38;9"] {
            assert_eq!(of(broken), "x", "{broken}");
        }
    }

    #[test]
    fn a_style_goes_on_over_lines() {
        assert_eq!(html("\u{1b}[32ma\nb"), "<span class=\"ansi-2\">a</span>\n<span class=\"ansi-2\">b</span>");
    }

    #[test]
    fn other_sequences_have_no_effect_and_hide_nothing_after_their_line() {
        for (given, shown) in [
            ("\u{1b}]0;title\u{7}a", "a"),
            ("\u{1b}]8;;https://evil.test\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never closed\nb", "\nb"),
            ("\u{1b}Pq#0\u{1b}\\a", "a"),
            ("a\u{1b}[2Jb\u{1b}[10;10Hc\u{1b}[?25l", "abc"),
            ("\u{1b}[8msecret", "secret"),
            ("a\u{7}\u{85}b\u{0}", "ab"),
            ("<b>\u{1b}[", "&lt;b&gt;"),
        ] {
            assert_eq!(html(given), shown, "{given:?}");
            assert!(!plain(given).contains(ESCAPE));
        }
    }

    #[test]
    fn a_line_that_is_written_again_shows_what_came_last() {
        assert_eq!(plain("10 %\r100 %\r\nab\u{8}c\rdone\u{1b}[K\r\nx"), "100 %\ndone\nx");
        assert_eq!(plain("unchanged\r\n"), "unchanged\r\n");
    }
}
