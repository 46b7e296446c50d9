//! Stacked bar charts over days, as SVG in the colours of the page. The axes are drawn by plotters.

use plotters::backend::SVGBackend;
use plotters::{
    chart::ChartBuilder,
    coord::ranged1d::{IntoSegmentedCoord as _, SegmentValue},
    drawing::{DrawingAreaErrorKind, IntoDrawingArea as _},
    element::Rectangle,
    style::{Color as _, IntoFont as _, RGBColor, TRANSPARENT},
};

/// Size of the drawing, units; the page scales it.
const WIDTH: u32 = 720;
const HEIGHT: u32 = 200;
/// Font size, units, chosen so that text has its normal size at the drawing's natural width.
const FONT: u32 = 15;
/// Most days labelled on the horizontal axis.
const DAYS_NAMED_MAX: usize = 7;
/// Room left of the first bar for half of its day's name, units, where no axis is there.
const DAY_OVERHANG: u32 = 26;
/// Smallest and largest width of the labels of the vertical axis, units.
const LABEL_WIDTH_MIN: u32 = 40;
const LABEL_WIDTH_MAX: u32 = 200;
/// Number of ticks on the vertical axis.
const TICKS: usize = 5;

/// The colour of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesColor {
    /// A good result.
    Positive,
    /// A result in between.
    Caution,
    /// A bad result.
    Negative,
    /// The accent colour of the page.
    Accent,
    /// A weaker accent colour.
    AccentSoft,
    /// A neutral colour.
    Quiet,
}

const SERIES_COLORS: [SeriesColor; 6] = [
    SeriesColor::Positive,
    SeriesColor::Caution,
    SeriesColor::Negative,
    SeriesColor::Accent,
    SeriesColor::AccentSoft,
    SeriesColor::Quiet,
];
/// Placeholder colours of axis and grid lines, and of labels.
const LINE: RGBColor = RGBColor(1, 2, 3);
const WORDS: RGBColor = RGBColor(1, 2, 4);

impl SeriesColor {
    /// Its name in the style sheet.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Caution => "caution",
            Self::Negative => "negative",
            Self::Accent => "accent",
            Self::AccentSoft => "accent-soft",
            Self::Quiet => "quiet",
        }
    }

    /// A placeholder colour, which [`themed`] replaces by the page's colour.
    const fn marker(self) -> RGBColor {
        RGBColor(1, 3, self as u8)
    }
}

/// The side of the vertical axis. It is the side that is seen first where the drawing is wider than the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisSide {
    /// Beside the first bar.
    Left,
    /// Beside the last bar.
    Right,
}

/// One series of the chart: one part of every bar.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name in the legend and the table.
    pub name: &'static str,
    /// The colour.
    pub color: SeriesColor,
    /// One value per day.
    pub values: Vec<f64>,
    /// The values for the table, if they differ from the heights of the parts.
    pub says: Option<Vec<f64>>,
}

/// The chart, hidden from assistive technology because a table next to it has the same figures. `None` if there is
/// nothing to draw. `tick` formats a value of the vertical axis; an empty text omits the tick.
pub fn stacked_bars(
    days: &[String],
    series: &[Series],
    axis: AxisSide,
    tick: impl Fn(f64) -> String,
) -> Option<String> {
    let sums = (0..days.len()).map(|day| series.iter().filter_map(|s| s.values.get(day)).sum::<f64>());
    let top = sums.fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let mut svg = String::new();
    draw(&mut svg, days, series, axis, (top, &tick)).ok()?;
    Some(themed(&svg))
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw(
    svg: &mut String,
    days: &[String],
    series: &[Series],
    axis: AxisSide,
    (top, tick): (f64, &dyn Fn(f64) -> String),
) -> Drawn {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    let last = u32::try_from(days.len()).unwrap_or(u32::MAX).saturating_sub(1);
    let mut builder = ChartBuilder::on(&root);
    builder.margin(6).x_label_area_size(26);
    match axis {
        AxisSide::Left => builder.y_label_area_size(label_width(top, tick)),
        AxisSide::Right => builder.margin_left(DAY_OVERHANG).right_y_label_area_size(label_width(top, tick)),
    };
    let mut chart = builder.build_cartesian_2d((0..last).into_segmented(), 0.0..top * 1.05)?;
    let named = |at: &SegmentValue<u32>| match at {
        SegmentValue::CenterOf(at) => days.get(*at as usize).cloned().unwrap_or_default(),
        SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(LINE)
        .label_style(("sans-serif", FONT).into_font().color(&WORDS))
        .x_labels(days.len().min(DAYS_NAMED_MAX))
        .x_label_formatter(&named)
        .y_labels(TICKS)
        .y_label_formatter(&|value| tick(*value))
        .draw()?;
    let mut floor = vec![0.0; days.len()];
    for part in series {
        let bars = part.values.iter().zip(&mut floor).zip(0_u32..).filter(|((value, _), _)| **value > 0.0);
        let bars = bars.map(|((value, floor), day)| {
            let low = *floor;
            *floor += value;
            let corners = [(SegmentValue::Exact(day), low), (SegmentValue::Exact(day + 1), *floor)];
            let mut bar = Rectangle::new(corners, part.color.marker().filled());
            let gap = if days.len() > 60 { 0 } else { 2 };
            bar.set_margin(0, 0, gap, gap);
            bar
        });
        chart.draw_series(bars)?;
    }
    root.present()
}

/// Width of the labels of the vertical axis, so that the longest fits. A letter is about half as wide as it is high.
fn label_width(top: f64, tick: &dyn Fn(f64) -> String) -> u32 {
    let words = (0..=TICKS).map(|at| tick(top * at as f64 / TICKS as f64).chars().count());
    let longest = u32::try_from(words.max().unwrap_or_default()).unwrap_or(u32::MAX);
    longest.saturating_mul(FONT * 3 / 5).saturating_add(FONT).clamp(LABEL_WIDTH_MIN, LABEL_WIDTH_MAX)
}

/// The chart in the page's colours and size, hidden from assistive technology.
fn themed(svg: &str) -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("\"#{r:02X}{g:02X}{b:02X}\"");
    let mut svg = svg.replace(&hex(LINE), "\"var(--line)\"").replace(&hex(WORDS), "\"var(--ink-soft)\"");
    for color in SERIES_COLORS {
        svg = svg.replace(&hex(color.marker()), &format!("\"var(--chart-{})\"", color.name()));
    }
    let sized = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\" ");
    svg.replacen(&sized, "class=\"chart\" aria-hidden=\"true\" focusable=\"false\" ", 1)
        .replace("font-family=\"sans-serif\" ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(count: usize) -> Vec<String> {
        (1..=count).map(|day| format!("Mar {day}")).collect()
    }

    #[test]
    fn the_axis_labels_fit() {
        let narrow = label_width(4.0, &|value| format!("{value:.0}"));
        let wide = label_width(5_400.0, &|value| crate::text::duration::words((value * 1_000.0) as u64));
        assert!(narrow == LABEL_WIDTH_MIN && wide > 64, "{narrow} {wide}");
    }

    #[test]
    fn bars_use_the_colours_of_the_page_and_are_stacked() {
        let good = Series { name: "Good", color: SeriesColor::Positive, values: vec![2.0, 0.0, 1.0], says: None };
        let bad = Series { name: "Bad", color: SeriesColor::Negative, values: vec![1.0, 0.0, 0.0], says: None };
        let svg = stacked_bars(&days(3), &[good, bad], AxisSide::Right, |value| format!("{value:.0}")).unwrap();
        assert_eq!(svg.matches("var(--chart-positive)").count(), 2, "a day without a value has no bar");
        assert_eq!(svg.matches("var(--chart-negative)").count(), 1);
        assert!(svg.contains("Mar 2") && svg.contains("viewBox=\"0 0 720 200\""), "{svg}");
        assert!(!svg.contains("#0") && !svg.contains("width=\"720\""), "no colour or size of its own: {svg}");
    }

    #[test]
    fn the_vertical_axis_is_on_the_side_that_is_asked_for() {
        let series = [Series { name: "Cost", color: SeriesColor::Accent, values: vec![2.0], says: None }];
        // How far right the label of 2 is.
        let place = |axis| {
            let svg = stacked_bars(&days(1), &series, axis, |value| format!("tick {value:.1}")).unwrap();
            let label = svg.split("<text ").find(|text| text.contains("tick 2.0")).unwrap().to_owned();
            let number = label.split_once("x=\"").unwrap().1.split_once('"').unwrap().0;
            number.parse::<u32>().unwrap()
        };
        assert!(place(AxisSide::Left) < WIDTH / 4 && place(AxisSide::Right) > WIDTH / 4 * 3);
    }

    #[test]
    fn no_data_draws_nothing_and_a_year_is_drawn() {
        let series = |values| [Series { name: "Cost", color: SeriesColor::Accent, values, says: None }];
        assert_eq!(stacked_bars(&days(7), &series(vec![0.0; 7]), AxisSide::Left, |_| String::new()), None);
        assert_eq!(stacked_bars(&[], &series(Vec::new()), AxisSide::Left, |_| String::new()), None);
        for count in [1, 366] {
            let svg =
                stacked_bars(&days(count), &series(vec![0.004; count]), AxisSide::Right, |value| format!("${value}"));
            let svg = svg.unwrap();
            assert_eq!(svg.matches("var(--chart-accent)").count(), count);
        }
    }
}
