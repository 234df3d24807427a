//! A report as one self-contained HTML page: no scripts, fonts or images from elsewhere.

mod plot;

use std::fmt::Write;

use adage::redact::{as_shown, printable_line};

use crate::default_rule::{Loss, ReliabilityClass};
use crate::merging::{DuplicatesReport, PairOutcome, PairsReport};
use crate::report::{DataReport, DuplicateFileReport, PairFileReport, Report, SizeReport};
use crate::retention::{FeedbackModel, Policy, RetentionRow, Stream};
use plot::{Axis, Dot, Scale, Series, figure};

const STYLE: &str = include_str!("style.css");

/// The highest risk that is drawn: share of unrelated questions that are answered.
const MAX_RISK: f64 = 0.4;

/// Pairs with a wrong result that are listed, per file.
const N_WRONG_PAIRS: usize = 20;

impl Report {
    /// The report as an HTML page. `made` is printed at its end: the command and the versions that made it.
    #[must_use]
    pub fn to_html(&self, made: &str) -> String {
        let mut body = String::from(
            "<h1>What adage remembers, and when it stays silent</h1>\n<p>Measured through the calls that a host makes, at the default settings. Wrong answers are listed below each data set.</p>\n",
        );
        self.data.iter().for_each(|data| retrieval(&mut body, data));
        self.pairs.iter().for_each(|file| pairs(&mut body, file));
        if !self.duplicates.is_empty() {
            duplicates(&mut body, &self.duplicates);
        }
        if !self.retention.is_empty() {
            retention(&mut body, &self.retention);
        }
        let _ = write!(body, "<footer><code>{}</code></footer>", escape(made));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>adage: evaluation</title>\n<style>\n{STYLE}</style>\n{body}\n</html>\n"
        )
    }
}

/// Escapes text for HTML, on one line and without control characters.
pub(crate) fn escape(text: &str) -> String {
    // Queries and lessons are a user's: a page is passed on.
    let text = as_shown(text);
    let mut escaped = String::with_capacity(text.len());
    for c in printable_line(&text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn retrieval(body: &mut String, data: &DataReport) {
    let _ = write!(
        body,
        "<h2>Retrieval: {}</h2>\n<p>{} lessons, {} questions. Playbooks of each size are drawn at random. A related question is asked of the playbooks that have its lesson, an unrelated one of every playbook.</p>\n<div class=\"plots\">{}{}{}</div>\n",
        escape(&data.name),
        data.n_lessons,
        data.n_questions,
        risk_coverage(data),
        reliability(data),
        recall_by_latency(data)
    );
    retrieval_table(body, data);
    if let Some(size) = data.sizes.last() {
        losses(body, size);
    }
}

fn size_name(size: &SizeReport) -> String {
    format!("{} lessons", size.default.lessons)
}

/// The kind of unrelated questions that the default gate answers most often.
fn hardest(data: &DataReport) -> Option<&str> {
    let last = data.sizes.last()?;
    let risk = |kind: &String| last.default.answered.get(kind).copied().unwrap_or_default();
    last.risk_coverage.keys().max_by(|a, b| risk(a).total_cmp(&risk(b))).map(String::as_str)
}

/// A risk-coverage curve per size, for the hardest kind of unrelated questions, with a dot for the default gate.
fn risk_coverage(data: &DataReport) -> String {
    let Some(kind) = hardest(data) else { return String::new() };
    let series = |size: &SizeReport| {
        let curve = size.risk_coverage.get(kind).map(Vec::as_slice).unwrap_or_default();
        let line = curve.iter().map(|point| (point.coverage, point.risk)).take_while(|(_, risk)| *risk <= MAX_RISK);
        let risk = size.default.answered.get(kind).copied().unwrap_or_default();
        let coverage = 1.0 - size.default.cut;
        let title =
            format!("default gate: {} answered with their lesson, {} answered", percent(coverage), percent(risk));
        let dot = Dot { x: coverage, y: risk, title, radius: 5.0 };
        Series { name: size_name(size), line: line.collect(), dots: vec![dot] }
    };
    let axes = [
        Axis::shares("related questions answered with their lesson", 1.0),
        Axis::shares("unrelated questions answered", MAX_RISK),
    ];
    let caption = format!(
        "Each line is the gate from strict to open, against the unrelated questions of the kind “{kind}”, the hardest here; the dot is the default gate. Further right and lower is better."
    );
    figure(
        "Risk and coverage",
        &caption,
        [&axes[0], &axes[1]],
        &data.sizes.iter().map(series).collect::<Vec<_>>(),
        false,
    )
}

/// A reliability diagram; the area of a dot is its share of the questions.
fn reliability(data: &DataReport) -> String {
    let series = |size: &SizeReport| {
        let classes = size.reliability.iter().filter(|class| class.weight > 0.0);
        let dot = |class: &ReliabilityClass| Dot {
            x: class.stated,
            y: class.found,
            title: format!(
                "stated {}, found {}; {} of the questions",
                percent(class.stated),
                percent(class.found),
                percent(class.weight)
            ),
            radius: 2.0 + 14.0 * class.weight.sqrt(),
        };
        Series { name: size_name(size), dots: classes.map(dot).collect(), ..Series::default() }
    };
    let errors: Vec<String> = data.sizes.iter().map(|size| format!("{:.3}", size.default.calibration_error)).collect();
    let axes =
        [Axis::shares("stated probability of the best lesson", 1.0), Axis::shares("how often it was right", 1.0)];
    let caption = format!(
        "On the dashed line, probabilities are calibrated. Related and unrelated questions weigh the same; the area of a dot is its share of the questions. Calibration error: {}.",
        errors.join(", ")
    );
    figure("Reliability", &caption, [&axes[0], &axes[1]], &data.sizes.iter().map(series).collect::<Vec<_>>(), true)
}

/// Recall@5 against the time of a request, for the default and the classic rules.
fn recall_by_latency(data: &DataReport) -> String {
    let mut series: Vec<Series> = ["default", "classic, by vectors", "classic, by words"]
        .map(|name| Series { name: name.to_owned(), ..Series::default() })
        .into();
    let place = |tier: &str| match tier {
        "vector" => 1,
        "lexical" => 2,
        _ => 0,
    };
    let dots = data.sizes.iter().flat_map(|size| {
        let classic = size.classic.iter().map(|report| (report.tier, report.p50_us, report.recall5));
        let default = [("default", size.default.p50_us, size.default.recall5)];
        classic.chain(default).map(move |row| (size, row))
    });
    let mut times = Vec::new();
    for (size, (tier, micros, recall)) in dots {
        times.push(micros);
        let title = format!("{}: {} at {micros:.0} µs", size_name(size), percent(recall));
        if let Some(series) = series.get_mut(place(tier)) {
            series.line.push((micros, recall));
            series.dots.push(Dot { x: micros, y: recall, title, radius: 4.0 });
        }
    }
    let axes = [
        Axis::micros("median time of a recall, embedding excluded", times.into_iter()),
        Axis::shares("recall@5, gate open", 1.0),
    ];
    let caption = "Each dot is a size of playbook, the smallest at the left. Further left and higher is better.";
    figure("Recall by latency", caption, [&axes[0], &axes[1]], &series, false)
}

/// A table; headings are text, cells are HTML.
fn table(body: &mut String, headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let heads = headings.iter().map(|heading| format!("<th>{}</th>", escape(heading))).collect::<Vec<_>>().concat();
    let _ = write!(body, "<div class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>");
    for cells in rows {
        let _ = write!(body, "<tr>{}</tr>", cells.concat());
    }
    body.push_str("</tbody></table></div>\n");
}

fn cell(text: &str) -> String {
    format!("<td>{}</td>", escape(text))
}

fn words(text: &str) -> String {
    format!("<td class=\"text\">{}</td>", escape(text))
}

/// A cell with a share and a bar of that length.
fn bar(share: f64) -> String {
    format!("<td class=\"bar\" style=\"--share: {share:.3}\">{}</td>", percent(share))
}

fn retrieval_table(body: &mut String, data: &DataReport) {
    let kinds: Vec<&String> = data.sizes.first().map(|size| size.default.answered.keys().collect()).unwrap_or_default();
    let is_unrelated = |kind: &str| data.sizes.first().is_some_and(|size| size.risk_coverage.contains_key(kind));
    let mut headings: Vec<String> = ["lessons", "books", "nDCG@10", "recall@5"].map(str::to_owned).into();
    headings.extend(kinds.iter().map(|kind| {
        if is_unrelated(kind) { format!("{kind}: answered") } else { format!("{kind}: lesson in the first 3") }
    }));
    headings.extend(["calibration error", "lessons per answer", "median"].map(str::to_owned));
    let rows = data.sizes.iter().map(|size| {
        let report = &size.default;
        let share = |kind: &String| {
            let of = if is_unrelated(kind) { &report.answered } else { &report.among_three };
            bar(of.get(kind).copied().unwrap_or_default())
        };
        let first = [report.lessons.to_string(), report.books.to_string()];
        let first = first.into_iter().chain([report.ndcg10, report.recall5].map(|value| format!("{value:.3}")));
        let last = [
            format!("{:.3}", report.calibration_error),
            format!("{:.2}", report.shown),
            format!("{:.0} µs", report.p50_us),
        ];
        let last = last.iter().map(|text| cell(text));
        first.map(|text| cell(&text)).chain(kinds.iter().map(|kind| share(kind))).chain(last).collect()
    });
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(body, &headings, rows);
}

fn losses(body: &mut String, size: &SizeReport) {
    let row = |loss: &Loss| {
        let shown = if loss.shown.is_empty() { "nothing".to_owned() } else { loss.shown.join("; ") };
        let wanted = loss.wanted.as_deref().unwrap_or("nothing");
        let texts = [&loss.question, wanted, &shown].map(words).concat();
        vec![cell(&loss.kind), texts, cell(&percent(loss.probability))]
    };
    let _ = write!(body, "<details><summary>Wrong answers with {}</summary>", escape(&size_name(size)));
    table(body, &["kind", "question", "wanted", "shown", "probability"], size.losses.iter().map(row));
    body.push_str("</details>\n");
}

fn pairs(body: &mut String, file: &PairFileReport) {
    let _ = write!(
        body,
        "<h2>Merging: {}</h2>\n<p>The second lesson of each pair is learned 30 days after the first; then its trigger is requested. Exchanged values must not merge, rewordings should. A correction must come first and mark the lesson that it revokes. Of additions, both lessons must be shown.</p>\n",
        escape(&file.name)
    );
    let headings =
        ["kind", "pairs", "merged", "merged or asked", "both shown", "newer first", "older marked", "… or not shown"];
    let row = |kind: &PairsReport| {
        let shares = [
            kind.merged,
            kind.merged_or_asked,
            kind.both_shown,
            kind.newer_first,
            kind.older_marked,
            kind.older_marked_or_not_shown,
        ];
        [cell(&kind.kind), cell(&kind.pairs.to_string())].into_iter().chain(shares.map(bar)).collect()
    };
    table(body, &headings, file.kinds.iter().map(row));
    let _ = write!(body, "<details><summary>Pairs with a wrong result ({})</summary>", file.losses.len());
    let row = |loss: &PairOutcome| vec![cell(&loss.kind), cell(&loss.id), words(&loss.outcome)];
    table(body, &["kind", "pair", "what happened"], file.losses.iter().take(N_WRONG_PAIRS).map(row));
    body.push_str("</details>\n");
}

fn duplicates(body: &mut String, files: &[DuplicateFileReport]) {
    body.push_str("<h2>Duplicates</h2>\n");
    let rows =
        files.iter().flat_map(|file| [("default", &file.default), ("classic", &file.classic)].map(|row| (file, row)));
    let row = |(file, (rule, report)): (&DuplicateFileReport, (&str, &DuplicatesReport))| {
        let counts = [&file.name, rule, &report.pairs.to_string(), &report.duplicates.to_string()].map(cell).concat();
        let shares = [report.precision, report.recall, report.asked_precision, report.asked_recall].map(bar).concat();
        vec![counts, shares]
    };
    let headings =
        ["file", "rule", "pairs", "duplicates", "precision", "recall", "precision with “asked”", "recall with “asked”"];
    table(body, &headings, rows.map(row));
}

/// Retention: a plot by feedback at a capacity of 50, and a table by policy.
fn retention(body: &mut String, rows: &[RetentionRow]) {
    body.push_str(
        "<h2>Retention</h2>\n<p>Eviction policies, simulated: hits as a share of those of a policy that knows the future. Streams of 12,000 tasks; a quarter of all lessons are useful; a new lesson always stays.</p>\n",
    );
    let _ = writeln!(body, "<div class=\"plots\">{}</div>", feedback_plot(rows));
    let row = |policy: Policy| {
        let sizes = [20, 50, 200].map(|size| mean(rows, policy, |row| row.capacity == size));
        let streams =
            Stream::ALL.map(|stream| mean(rows, policy, |row| row.capacity == 50 && row.stream == stream.name()));
        [cell(policy.name())].into_iter().chain(sizes.into_iter().chain(streams).map(bar)).collect()
    };
    let headings = ["policy", "20 lessons", "50", "200", "50: still", "50: drift", "50: bursts", "50: one-off"];
    let policies = Policy::ALL.into_iter().filter(|policy| *policy != Policy::Clairvoyant);
    table(body, &headings, policies.map(row));
}

/// The mean result of a policy over the rows that are included; 0 if there are none.
fn mean(rows: &[RetentionRow], policy: Policy, is_included: impl Fn(&RetentionRow) -> bool) -> f64 {
    let results = rows.iter().filter(|row| row.policy == policy.name() && is_included(row)).map(|row| row.mean);
    let (sum, n) = results.fold((0.0, 0.0), |(sum, n), mean| (sum + mean, n + 1.0));
    sum / f64::max(n, 1.0)
}

fn feedback_plot(rows: &[RetentionRow]) -> String {
    let series = |policy: Policy| {
        let place = |(at, outcomes): (usize, FeedbackModel)| {
            let share = mean(rows, policy, |row| row.capacity == 50 && row.outcomes == outcomes.name());
            (at as f64, share, format!("{}, {}: {}", policy.name(), outcomes.name(), percent(share)))
        };
        let places: Vec<_> = FeedbackModel::ALL.into_iter().enumerate().map(place).collect();
        let dots = places.iter().map(|(x, y, title)| Dot { x: *x, y: *y, title: title.clone(), radius: 4.0 });
        let line = places.iter().map(|(x, y, _)| (*x, *y)).collect();
        Series { name: policy.name().to_owned(), line, dots: dots.collect() }
    };
    let ticks =
        FeedbackModel::ALL.into_iter().enumerate().map(|(at, feedback)| (at as f64, feedback.name().to_owned()));
    let feedback = Axis { label: "outcomes", from: -0.3, to: 3.3, scale: Scale::Linear, ticks: ticks.collect() };
    let share = Axis::shares("share of the clairvoyant's hits", 1.0);
    let plotted = Policy::ALL.into_iter().filter(|policy| !matches!(policy, Policy::Clairvoyant | Policy::Fifo));
    let caption =
        "50 lessons, mean over all streams. The classic formula counts a showing without an outcome as a failure.";
    figure("What feedback does", caption, [&feedback, &share], &plotted.map(series).collect::<Vec<_>>(), false)
}
