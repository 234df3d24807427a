//! What came of the lessons over time.

use std::collections::{BTreeMap, BTreeSet};

use adage::playbook::PlaybookLesson;
use adage::{Feedback, LessonId};
use adage_review::Result;
use chrono::{DateTime, Datelike, Days, FixedOffset, NaiveDate};
use maud::{Markup, html};

use crate::answer::{Answer, Frame, Tab};
use crate::form::link;
use crate::lessons::title_of;
use crate::plot::{Series, bars};
use crate::text::{counted, grouped};

/// The weeks of a plot, the last ones that have anything.
const MAX_WEEKS: usize = 26;
const MAX_PAIRS: usize = 50;

pub(crate) fn page(frame: &Frame<'_>) -> Result<Answer> {
    Ok(Answer::Page { status: 200, title: "Over time".to_owned(), tab: Tab::Time, body: body(frame)? })
}

pub(crate) fn body(frame: &Frame<'_>) -> Result<Markup> {
    let lessons = frame.memory.lessons()?;
    Ok(html! {
        h1 { "Over time" }
        (totals(frame, &lessons)?)
        (outcomes(frame)?)
        (growth(&lessons))
        (near(frame, &lessons))
    })
}

fn totals(frame: &Frame<'_>, lessons: &[PlaybookLesson]) -> Result<Markup> {
    let sum = |count: fn(&adage::Lesson) -> u64| {
        let all = lessons.iter().map(|found| count(&found.lesson)).fold(0, u64::saturating_add);
        usize::try_from(all).unwrap_or(usize::MAX)
    };
    let n_with = |is: fn(&adage::Lesson) -> bool| lessons.iter().filter(|found| is(&found.lesson)).count();
    let n_unshown = n_with(|lesson| lesson.retrievals == 0);
    let n_unhelpful = n_with(|lesson| lesson.retrievals > 0 && lesson.helpful_retrievals == 0);
    let n_harmful = n_with(|lesson| lesson.harmful_retrievals > 0);
    let mut rooms = Vec::new();
    for playbook in frame.memory.books.as_slice() {
        let stats = playbook.stats()?;
        rooms.push((stats.realms.into_values().max().unwrap_or_default(), stats.capacity));
    }
    let listed = |state: &str, count: usize| {
        let text = counted(count, "lesson");
        html! { @if frame.is_file() { (text) } @else { a href=(link("lessons", &[("state", state)])) { (text) } } }
    };
    Ok(html! {
        dl.figures {
            div { dt { "lessons" } dd { (grouped(lessons.len())) } }
            div { dt { "shown" } dd { (grouped(sum(|lesson| lesson.retrievals))) } }
            div { dt { "helped" } dd { (grouped(sum(|lesson| lesson.helpful_retrievals))) } }
            div { dt { "did harm" } dd { (grouped(sum(|lesson| lesson.harmful_retrievals))) } }
        }
        ul.plain-list {
            li { (listed("unshown", n_unshown)) " never shown" }
            li { (listed("unhelpful", n_unhelpful)) " shown, never of help" }
            li { (listed("harmed", n_harmful)) " did harm" }
            @for (largest, capacity) in rooms {
                li { "The largest project and role has " (grouped(largest)) " of " (grouped(capacity)) " lessons "
                    meter min="0" max=(capacity) value=(largest) aria-label="Lessons of the capacity" {} }
            }
        }
    })
}

/// The Monday of a time's week.
fn week(time: DateTime<FixedOffset>) -> NaiveDate {
    let day = time.date_naive();
    day.checked_sub_days(Days::new(u64::from(day.weekday().num_days_from_monday()))).unwrap_or(day)
}

/// All weeks from the first to the last that is counted, at most the last ones; with no gap where nothing was.
fn weeks<'a>(counted: impl IntoIterator<Item = &'a NaiveDate>) -> Vec<NaiveDate> {
    let known: BTreeSet<NaiveDate> = counted.into_iter().copied().collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Vec::new() };
    let all = std::iter::successors(Some(*last), |week| week.checked_sub_days(Days::new(7)));
    let mut weeks: Vec<NaiveDate> = all.take_while(|week| week >= first).take(MAX_WEEKS).collect();
    weeks.reverse();
    weeks
}

fn series(name: &'static str, class: &'static str, weeks: &[NaiveDate], counts: &BTreeMap<NaiveDate, usize>) -> Series {
    let values = weeks.iter().map(|week| counts.get(week).copied().unwrap_or_default()).collect();
    Series { name, class, values }
}

fn labels(weeks: &[NaiveDate]) -> Vec<String> {
    weeks.iter().map(|week| week.format("%Y-%m-%d").to_string()).collect()
}

fn outcomes(frame: &Frame<'_>) -> Result<Markup> {
    let [mut shown, mut helped, mut harmed] = [const { BTreeMap::<NaiveDate, usize>::new() }; 3];
    for playbook in frame.memory.books.as_slice() {
        for receipt in playbook.receipts()?.receipts() {
            *shown.entry(week(receipt.at)).or_default() += 1;
            let counts = match receipt.outcome.map(|outcome| outcome.verdict) {
                Some(Feedback::Helpful) => &mut helped,
                Some(Feedback::Harmful) => &mut harmed,
                _ => continue,
            };
            *counts.entry(week(receipt.at)).or_default() += 1;
        }
    }
    let weeks = weeks(shown.keys());
    let all = [
        series("shown", "plain", &weeks, &shown),
        series("helped", "filled", &weeks, &helped),
        series("harmed", "hatched", &weeks, &harmed),
    ];
    Ok(html! {
        section aria-labelledby="outcomes" {
            h2 id="outcomes" { "Answers by week" }
            @if weeks.is_empty() {
                p.quiet { "No receipts are logged, so there are totals only. " code { "adage config set credit.log_receipts true" } " logs them from now on, without the words that were asked." }
            } @else { (bars("Answers by week", &labels(&weeks), &all)) }
        }
    })
}

fn growth(lessons: &[PlaybookLesson]) -> Markup {
    let mut learned: BTreeMap<NaiveDate, usize> = BTreeMap::new();
    for time in lessons.iter().filter_map(|found| found.lesson.dated()) {
        *learned.entry(week(time)).or_default() += 1;
    }
    let weeks = weeks(learned.keys());
    html! {
        @if !weeks.is_empty() {
            section aria-labelledby="growth" {
                h2 id="growth" { "Learned and still kept" }
                (bars("Lessons by the week in which they were learned", &labels(&weeks), &[series("learned", "filled", &weeks, &learned)]))
            }
        }
    }
}

/// Linked lessons, each pair once.
fn near(frame: &Frame<'_>, lessons: &[PlaybookLesson]) -> Markup {
    let by_id: BTreeMap<LessonId, &PlaybookLesson> = lessons.iter().map(|found| (found.lesson.id, found)).collect();
    let mut pairs: BTreeSet<(LessonId, LessonId)> = BTreeSet::new();
    for found in lessons {
        let id = found.lesson.id;
        pairs.extend(
            found
                .lesson
                .near
                .iter()
                .filter(|other| by_id.contains_key(other))
                .map(|other| (id.min(*other), id.max(*other))),
        );
    }
    let to = |id: &LessonId| {
        if frame.is_file() { format!("#{id}") } else { link("lesson", &[("id", &id.to_string())]) }
    };
    let linked = |id: &LessonId| {
        by_id.get(id).map(|found| html! { a href=(to(id)) dir="auto" { (title_of(&found.lesson, 90)) } })
    };
    html! {
        @if !pairs.is_empty() {
            section aria-labelledby="pairs" {
                h2 id="pairs" { "Near-duplicates" }
                p.quiet { (counted(pairs.len(), "pair")) " that were near, and kept apart." }
                ol.pairs { @for (one, other) in pairs.iter().take(MAX_PAIRS) { li { (linked(one).unwrap_or_default()) " – " (linked(other).unwrap_or_default()) } } }
                @if pairs.len() > MAX_PAIRS { p.quiet { (grouped(pairs.len() - MAX_PAIRS)) " more." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday_and_have_no_gaps() {
        let time = |text: &str| adage::parse_time(text).unwrap();
        let first = week(time("2026-11-29T23:00:00Z"));
        assert_eq!(first.to_string(), "2026-11-23");
        let later = week(time("2026-12-14"));
        assert_eq!(labels(&weeks([&later, &first])), ["2026-11-23", "2026-11-30", "2026-12-07", "2026-12-14"]);
        assert!(weeks([]).is_empty());
        let early = week(time("2020-01-01"));
        assert_eq!(weeks([&early, &later]).len(), MAX_WEEKS);
    }
}
