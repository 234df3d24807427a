//! Bars over weeks as SVG, told apart by their pattern as well as by their colour.

use maud::{Markup, html};

use crate::text::grouped;

/// Values that belong to the same weeks.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// The class of its bars in the style sheet.
    pub(crate) class: &'static str,
    pub(crate) values: Vec<usize>,
}

const HEIGHT: usize = 140;
const GROUP: usize = 30;
const LEFT: usize = 44;

/// A bar for each value of each series in each week, and the same as a table.
pub(crate) fn bars(title: &str, weeks: &[String], series: &[Series]) -> Markup {
    let most = series.iter().flat_map(|series| series.values.iter().copied()).max().unwrap_or(0).max(1);
    let width = LEFT + weeks.len() * GROUP + 8;
    let bar = (GROUP - 8) / series.len().max(1);
    let y_of = |value: usize| HEIGHT - value * HEIGHT / most;
    html! {
        figure {
            figcaption { (title) ": " @for series in series { span.key { span.swatch.(series.class) {} " " (series.name) " " } } }
            div.scroll tabindex="0" role="group" aria-label={ (title) ", chart" } {
                svg width=(width) height=(HEIGHT + 34) viewBox={ "0 -8 " (width) " " (HEIGHT + 34) } role="img" aria-label={ (title) ": as in the table below" } {
                    defs { pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { rect.ink width="2" height="4" {} } }
                    line.axis x1=(LEFT) y1=(HEIGHT) x2=(width) y2=(HEIGHT) {}
                    text.scale x=(LEFT - 6) y="4" text-anchor="end" { (grouped(most)) }
                    text.scale x=(LEFT - 6) y=(HEIGHT) text-anchor="end" { "0" }
                    @for (place, week) in weeks.iter().enumerate() {
                        @let x = LEFT + place * GROUP + 4;
                        @for (nth, series) in series.iter().enumerate() {
                            @let value = series.values.get(place).copied().unwrap_or_default();
                            @if value > 0 { rect.bar.(series.class) x=(x + nth * bar) y=(y_of(value)) width=(bar - 1) height=(HEIGHT - y_of(value)) {} }
                        }
                        @if place.is_multiple_of(4) { text.scale x=(x) y=(HEIGHT + 18) { (week) } }
                    }
                }
            }
            details {
                summary { "As a table" }
                table {
                    caption.hidden { (title) }
                    thead { tr { th scope="col" { "Week of" } @for series in series { th.number scope="col" { (series.name) } } } }
                    tbody { @for (place, week) in weeks.iter().enumerate() { tr {
                        th scope="row" { (week) }
                        @for series in series { td.number { (grouped(series.values.get(place).copied().unwrap_or_default())) } }
                    } } }
                }
            }
        }
    }
}
