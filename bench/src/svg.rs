//! Pictures of the report: bars and lines as inline SVG, drawn by hand, readable in the dark.
//!
//! 1. Values begin at zero: a bar twice as long is twice as much.
//! 2. Colour only helps: every bar has its name and value beside it, every line its name at its
//!    end, every point a tooltip.
//! 3. A panel of bars has its own scale; panels are not compared by length.
//! 4. Text takes the page's colour, series take classes `s0` .. `s7` of the page's style sheet.

use std::fmt::Write;

use crate::document::{Plot, Series, Shape};

/// The picture of a plot.
pub(crate) fn draw(plot: &Plot) -> String {
    match plot.shape {
        Shape::Bars => bars(plot),
        Shape::Lines => lines(plot),
    }
}

/// Text that may stand anywhere in a page.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A number as a person reads it: three or four digits that count, thousands apart.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 100.0 || value == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), ""), |(w, r)| (w, r));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{rest}")
}

const WIDTH: f64 = 760.0;
const ROW: f64 = 24.0;
const NAME_WIDTH: f64 = 210.0;
const VALUE_WIDTH: f64 = 90.0;
const HEADER: f64 = 26.0;

fn bars(plot: &Plot) -> String {
    let mut body = String::new();
    let mut y = 4.0;
    for (column, x) in plot.x.iter().enumerate() {
        if !x.is_empty() {
            let across = escape(&format!("{x} {}", plot.across));
            let _ =
                writeln!(body, r#"<text class="panel" x="0" y="{:.0}">{across}</text>"#, y + 16.0);
            y += HEADER;
        }
        let largest = plot.series.iter().map(|series| reach(series, column)).fold(0.0, f64::max);
        for (place, series) in plot.series.iter().enumerate() {
            let Some(value) = series.values[column] else { continue };
            bar(&mut body, plot, series, place, column, value, largest, y);
            y += ROW;
        }
        y += 8.0;
    }
    frame(plot, y, &body)
}

/// The farthest that a bar and its whisker go.
fn reach(series: &Series, column: usize) -> f64 {
    let value = series.values[column].unwrap_or(0.0);
    let quartiles = series.quartiles.get(column).copied().flatten();
    quartiles.map_or(value, |[_, third]| third.max(value))
}

#[allow(clippy::too_many_arguments)] // a bar is its place, its value and its scale
fn bar(
    body: &mut String,
    plot: &Plot,
    series: &Series,
    place: usize,
    column: usize,
    value: f64,
    largest: f64,
    y: f64,
) {
    let room = WIDTH - NAME_WIDTH - VALUE_WIDTH;
    let scale = if largest > 0.0 { room / largest } else { 0.0 };
    let length = (value * scale).max(1.0);
    let middle = y + ROW / 2.0;
    let (name, unit) = (escape(&series.name), escape(&plot.unit));
    let (shown, class) = (number(value), class(place, &series.name));
    let mut end = NAME_WIDTH + length;
    let _ = writeln!(
        body,
        r#"<text class="name" x="{:.0}" y="{:.1}">{name}</text>
<rect class="fill {class}" x="{NAME_WIDTH:.0}" y="{:.1}" width="{length:.1}" height="{:.0}" rx="2">
<title>{name}: {shown} {unit}</title></rect>"#,
        NAME_WIDTH - 8.0,
        middle + 4.0,
        y + 4.0,
        ROW - 8.0
    );
    if let Some([first, third]) = series.quartiles.get(column).copied().flatten() {
        let (from, to) = (NAME_WIDTH + first * scale, NAME_WIDTH + third * scale);
        end = end.max(to);
        let _ = writeln!(
            body,
            r#"<line class="whisker" x1="{from:.1}" x2="{to:.1}" y1="{middle:.1}" y2="{middle:.1}">
<title>quartiles {} to {} {unit}</title></line>"#,
            number(first),
            number(third)
        );
    }
    let _ = writeln!(
        body,
        r#"<text class="value" x="{:.1}" y="{:.1}">{shown}</text>"#,
        end + 6.0,
        middle + 4.0
    );
}

/// Holdfast stands out; the others take the colours in turn.
fn class(place: usize, name: &str) -> String {
    if name.starts_with("Holdfast") {
        let shade = if name.ends_with("plain") { "ours2" } else { "ours" };
        return shade.into();
    }
    format!("s{}", place % 8)
}

const PLOT_HEIGHT: f64 = 260.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 14.0;
const LABELS_MAX: usize = 12;

fn lines(plot: &Plot) -> String {
    let columns = 0..plot.x.len();
    let of_series =
        |series: &Series| columns.clone().map(|at| reach(series, at)).fold(0.0, f64::max);
    let largest = plot.series.iter().map(of_series).fold(0.0, f64::max);
    let step = step_of(largest);
    let top = (largest / step).ceil().max(1.0) * step;
    let right = WIDTH - RIGHT;
    let at_x = |column: usize| {
        let steps = (plot.x.len().max(2) - 1) as f64;
        LEFT + (right - LEFT) * column as f64 / steps
    };
    let at_y = |value: f64| TOP + PLOT_HEIGHT * (1.0 - value / top);
    let mut body = String::new();
    let mut tick = 0.0;
    while tick <= top * 1.0001 {
        let y = at_y(tick);
        let _ = writeln!(
            body,
            r#"<line class="grid" x1="{LEFT:.0}" x2="{right:.0}" y1="{y:.1}" y2="{y:.1}"/>
<text class="name" x="{:.0}" y="{:.1}">{}</text>"#,
            LEFT - 8.0,
            y + 4.0,
            number(tick)
        );
        tick += step;
    }
    let every = plot.x.len().div_ceil(LABELS_MAX).max(1);
    for (column, x) in plot.x.iter().enumerate().step_by(every) {
        let (at, under) = (at_x(column), TOP + PLOT_HEIGHT + 18.0);
        let _ =
            writeln!(body, r#"<text class="tick" x="{at:.1}" y="{under:.0}">{}</text>"#, escape(x));
    }
    let _ = writeln!(
        body,
        r#"<text class="tick" x="{:.1}" y="{:.0}">{}</text>"#,
        (LEFT + right) / 2.0,
        TOP + PLOT_HEIGHT + 36.0,
        escape(&plot.across)
    );
    let mut ends = Vec::new();
    for (place, series) in plot.series.iter().enumerate() {
        line(&mut body, plot, series, place, &at_x, &at_y);
        if let Some(value) = series.values.iter().rev().find_map(|value| *value) {
            ends.push((at_y(value), place));
        }
    }
    end_labels(&mut body, plot, ends, right);
    frame(plot, TOP + PLOT_HEIGHT + 44.0, &body)
}

fn line(
    body: &mut String,
    plot: &Plot,
    series: &Series,
    place: usize,
    at_x: &dyn Fn(usize) -> f64,
    at_y: &dyn Fn(f64) -> f64,
) {
    let class = class(place, &series.name);
    let mut points = String::new();
    let mut dots = String::new();
    for (column, value) in series.values.iter().enumerate() {
        let Some(value) = value else { continue };
        let (x, y) = (at_x(column), at_y(*value));
        let _ = write!(points, "{x:.1},{y:.1} ");
        if let Some([first, third]) = series.quartiles.get(column).copied().flatten() {
            let _ = writeln!(
                dots,
                r#"<line class="whisker" x1="{x:.1}" x2="{x:.1}" y1="{:.1}" y2="{:.1}"/>"#,
                at_y(first),
                at_y(third)
            );
        }
        let _ = writeln!(
            dots,
            r#"<circle class="fill {class}" cx="{x:.1}" cy="{y:.1}" r="3">
<title>{}, {} {}: {} {}</title></circle>"#,
            escape(&series.name),
            escape(&plot.x[column]),
            escape(&plot.across),
            number(*value),
            escape(&plot.unit)
        );
    }
    let _ = writeln!(body, r#"<polyline class="line {class}" points="{}"/>"#, points.trim());
    body.push_str(&dots);
}

/// Names at the ends of the lines, moved apart where they would overlap.
fn end_labels(body: &mut String, plot: &Plot, mut ends: Vec<(f64, usize)>, right: f64) {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::NEG_INFINITY;
    for (y, place) in ends {
        let y = y.max(last + 16.0);
        last = y;
        let name = &plot.series[place].name;
        let _ = writeln!(
            body,
            r#"<rect class="fill {}" x="{:.0}" y="{:.1}" width="10" height="10" rx="2"/>
<text class="value" x="{:.0}" y="{:.1}">{}</text>"#,
            class(place, name),
            right + 12.0,
            y - 5.0,
            right + 28.0,
            y + 4.0,
            escape(name)
        );
    }
}

/// A round distance of grid lines that gives about five of them.
fn step_of(largest: f64) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let rough = largest / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

fn frame(plot: &Plot, height: f64, body: &str) -> String {
    let (title, unit) = (escape(&plot.title), escape(&plot.unit));
    format!(
        "<figure>\n<figcaption>{title}, {unit}</figcaption>\n\
         <svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
         {body}</svg>\n</figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(shape: Shape, values: Vec<Option<f64>>) -> Plot {
        let x = (0..values.len()).map(|at| at.to_string()).collect();
        let quartiles = vec![None; values.len()];
        let series = vec![Series { name: "a <b>".into(), values, quartiles }];
        let (title, unit, across) = ("t & u".into(), "us".into(), "x".into());
        Plot { title, unit, shape, across, x, series }
    }

    #[test]
    fn numbers_are_grouped_and_rounded() {
        let shown = [0.0, 0.1234, 1.25, 12.34, 123.4, 12_345.6, 1_234_567.0, -5.0].map(number);
        assert_eq!(shown, ["0", "0.123", "1.25", "12.3", "123", "12,346", "1,234,567", "-5.00"]);
    }

    #[test]
    fn names_cannot_break_the_page() {
        for shape in [Shape::Bars, Shape::Lines] {
            let picture = draw(&plot(shape, vec![Some(1.0), None, Some(3.0)]));
            assert!(picture.contains("a &lt;b&gt;") && picture.contains("t &amp; u"));
            assert!(!picture.contains("<b>") && !picture.contains("NaN"));
        }
    }

    #[test]
    fn pictures_of_nothing_and_of_zero_are_drawn() {
        for shape in [Shape::Bars, Shape::Lines] {
            for values in [vec![], vec![None], vec![Some(0.0)]] {
                let picture = draw(&plot(shape, values));
                assert!(picture.contains("</svg>") && !picture.contains("NaN"), "{picture}");
            }
        }
    }

    #[test]
    fn grid_lines_are_round_and_few() {
        assert_eq!([9.0, 34.0, 101.0, 1_600.0].map(step_of), [2.0, 10.0, 50.0, 500.0]);
    }
}
