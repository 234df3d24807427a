//! Plots as SVG. The colours come from the style sheet of the page, which has a light and a dark scheme.

use std::fmt::Write;

use super::escape;

/// Size of a plot and of the margins for its labels, in SVG units.
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 44.0;

/// Colours in the style sheet: the classes `s0` to `s5`.
const N_COLOURS: usize = 6;

/// How values map to positions.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// An axis: its label, its range and its ticks.
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<(f64, String)>,
}

/// A point of a plot.
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The tooltip.
    pub(crate) title: String,
    pub(crate) radius: f64,
}

/// A line and dots of one colour.
#[derive(Default)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) dots: Vec<Dot>,
}

impl Axis {
    /// Shares from 0 to `to`, labelled in per cent.
    pub(crate) fn shares(label: &'static str, to: f64) -> Self {
        let step = if to > 0.5 { 0.2 } else { 0.1 };
        let ticks = (0..=10_u32).map(|n| f64::from(n) * step).filter(|at| *at <= to + 1e-9);
        let ticks = ticks.map(|at| (at, format!("{:.0}%", at * 100.0))).collect();
        Self { label, from: 0.0, to, scale: Scale::Linear, ticks }
    }

    /// Times in µs on a logarithmic scale that covers the values.
    pub(crate) fn micros(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        values.filter(|value| *value > 0.0).for_each(|value| (low, high) = (low.min(value), high.max(value)));
        let (low, high) = if low > high { (10.0, 100.0) } else { (low * 0.7, high * 1.4) };
        let all = (0..7).flat_map(|power| [1.0, 2.0, 5.0].map(|first| first * 10_f64.powi(power)));
        let tick = |at: f64| (at, if at < 1_000.0 { format!("{at:.0} µs") } else { format!("{:.0} ms", at / 1_000.0) });
        let ticks = all.filter(|at| (low..=high).contains(at)).map(tick).collect();
        Self { label, from: low, to: high, scale: Scale::Log, ticks }
    }

    /// The position of a value: 0 at the beginning of the axis, 1 at its end.
    fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        share.clamp(0.0, 1.0)
    }
}

fn x_of(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT)
}

fn y_of(axis: &Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM)
}

/// A plot with a title, a legend and a caption.
pub(crate) fn figure(title: &str, caption: &str, [x, y]: [&Axis; 2], series: &[Series], has_diagonal: bool) -> String {
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", escape(title));
    axes(&mut svg, x, y);
    if has_diagonal {
        let [from, to] = [(x.from, y.from), (x.to, y.to)].map(|(at_x, at_y)| (x_of(x, at_x), y_of(y, at_y)));
        let _ = write!(
            svg,
            "<line class=\"diagonal\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }
    for (number, series) in series.iter().enumerate() {
        draw(&mut svg, number % N_COLOURS, series, x, y);
    }
    svg.push_str("</svg>");
    let key = |(number, series): (usize, &Series)| {
        format!("<li class=\"s{}\">{}</li>", number % N_COLOURS, escape(&series.name))
    };
    let keys: String = series.iter().enumerate().map(key).collect();
    format!(
        "<figure><h3>{}</h3>{svg}<ul class=\"key\">{keys}</ul><figcaption>{}</figcaption></figure>",
        escape(title),
        escape(caption)
    )
}

fn axes(svg: &mut String, x: &Axis, y: &Axis) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for (at, label) in &x.ticks {
        let place = x_of(x, *at);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{place:.1}\" y1=\"{TOP}\" x2=\"{place:.1}\" y2=\"{bottom}\"/><text x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            escape(label)
        );
    }
    for (at, label) in &y.ticks {
        let place = y_of(y, *at);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{place:.1}\" x2=\"{right}\" y2=\"{place:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            place + 4.0,
            escape(label)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text class=\"label\" transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 8.0,
        escape(x.label),
        f64::midpoint(TOP, bottom),
        escape(y.label)
    );
}

fn draw(svg: &mut String, colour: usize, series: &Series, x: &Axis, y: &Axis) {
    if !series.line.is_empty() {
        let place = |(at_x, at_y): &(f64, f64)| format!("{:.1},{:.1}", x_of(x, *at_x), y_of(y, *at_y));
        let places: Vec<String> = series.line.iter().map(place).collect();
        let _ = write!(svg, "<polyline class=\"s{colour}\" points=\"{}\"/>", places.join(" "));
    }
    for dot in &series.dots {
        let _ = write!(
            svg,
            "<circle class=\"s{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\"><title>{}</title></circle>",
            x_of(x, dot.x),
            y_of(y, dot.y),
            dot.radius,
            escape(&dot.title)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_places_dots_and_escapes_text() {
        let [x, y] = ["coverage", "risk"].map(|label| Axis::shares(label, 1.0));
        let dot = Dot { x: 0.5, y: 0.2, title: "a <gate>".to_owned(), radius: 4.0 };
        let series = [Series { name: "far & near".to_owned(), dots: vec![dot], ..Series::default() }];
        let figure = figure("Risk", "", [&x, &y], &series, true);
        assert!(figure.contains("cx=\"240.0\" cy=\"206.8\""), "{figure}");
        assert!(figure.contains("a &lt;gate&gt;") && figure.contains("far &amp; near"), "{figure}");
        let axis = Axis::micros("time", [20.0, 500.0].into_iter());
        assert_eq!(
            axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["20 µs", "50 µs", "100 µs", "200 µs", "500 µs"]
        );
        assert!((axis.place(100.0) - 0.5).abs() < 0.01);
    }
}
