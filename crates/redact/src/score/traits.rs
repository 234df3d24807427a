//! The traits of a candidate: its form, and what is around it. Each trait has a fixed number of levels.

use std::collections::HashMap;
use std::ops::Range;

use crate::byte_set::ByteSet;

use super::context::{Context, N_PLACES, N_PROMISES, N_SEPARATORS};
use super::form::{self, Form};
use super::grams::{Around, Grams};
use super::weights::Weights;
use super::words::SaidWords;
use super::{Other, known};

/// The index of the trait `other`: why a value may not be a secret.
pub(super) const OTHER: usize = 32;
/// The index of the trait `rules`: the number of rules that found the value.
const RULES: usize = 33;
/// The index of the trait `form_rules`: the same, by the form of the value.
const FORM_RULES: usize = 34;
/// The name of each trait and the number of its levels, in the order of [`Levels`].
pub(super) const TRAITS: [(&str, u16); 38] = [
    ("form", Form::N),
    ("length", 10),
    ("oddness", 8),
    ("entropy", 7),
    ("switches", 6),
    ("digits", 6),
    ("spice", 4),
    ("case", 4),
    ("password", N_PLACES),
    ("strong", N_PLACES),
    ("weak", N_PLACES),
    ("user", N_PLACES),
    ("digest", N_PLACES),
    ("public", N_PLACES),
    ("meta", N_PLACES),
    ("separator", N_SEPARATORS),
    ("quote", 5),
    ("next", 8),
    ("previous", 8),
    ("name", 6),
    ("line_words", 5),
    ("line_place", 4),
    ("in_url", 3),
    ("form_promise", Form::N * N_PROMISES),
    ("length_promise", 10 * N_PROMISES),
    ("form_separator", Form::N * N_SEPARATORS),
    ("oddness_promise", 8 * N_PROMISES),
    ("separator_promise", N_SEPARATORS * N_PROMISES),
    ("quote_promise", 5 * N_PROMISES),
    ("next_promise", 8 * N_PROMISES),
    ("line_promise", 5 * N_PROMISES),
    ("name_promise", 6 * N_PROMISES),
    ("other", Other::N),
    ("rules", 4),
    ("form_rules", Form::N * 4),
    ("known", known::N_SHARES),
    ("known_promise", known::N_SHARES * N_PROMISES),
    ("form_known", Form::N * known::N_SHARES),
];

/// The number of borders that a value reaches; the borders ascend.
fn level(value: f64, borders: &[f64]) -> u16 {
    u16::try_from(borders.iter().filter(|border| value >= **border).count()).unwrap_or(u16::MAX)
}

/// The level of each trait, in the order of [`TRAITS`].
pub(super) type Levels = [u16; TRAITS.len()];
/// The levels of the traits that depend on the value alone, which come first.
type ValueLevels = [u16; 9];

/// Measures candidates, and caches what it measured: of each value, as texts repeat names; of a place that a rule
/// found, as the same place comes again as a candidate; and of the current line, what does not depend on the candidate.
#[derive(Default)]
pub(super) struct Measurer<'t> {
    values: HashMap<&'t str, ValueLevels>,
    places: HashMap<Range<usize>, Measured<'t>>,
    line: Line,
    grams: Grams,
}

/// Measurements shared by all candidates of a line.
#[derive(Default)]
struct Line {
    at: Range<usize>,
    /// The level of the number of words.
    n_words: u16,
    has_url: bool,
}

impl Line {
    /// Measures a line, unless it is the one measured last.
    fn read(&mut self, text: &str, at: &Range<usize>) {
        if self.at == *at {
            return;
        }
        let line = text.get(at.start..text.floor_char_boundary(at.end)).unwrap_or_default();
        let n_words = line.split_ascii_whitespace().take(16).count();
        let n_words = level(n_words as f64, &[2.0, 4.0, 8.0, 16.0]);
        *self = Self { at: at.clone(), n_words, has_url: line.contains("://") };
    }
}

/// A measured candidate. Rarely needed measurements are computed on first use.
pub(super) struct Measured<'t> {
    levels: Levels,
    around: Around<'t>,
    why: Option<Other>,
    buckets: Option<Vec<u16>>,
}

impl Measured<'_> {
    /// The level of each trait, given the number of rules that found the candidate. The level of `other` is 0 until
    /// [`Self::why`] is called.
    pub(super) fn levels(&self, n_rules: usize) -> Levels {
        let mut levels = self.levels;
        let n_rules = u16::try_from(n_rules).unwrap_or(3).min(3);
        let more = [(OTHER, self.why.map_or(0, |why| why as u16)), (RULES, n_rules), (FORM_RULES, n_rules)];
        for (trait_, level) in more {
            if let Some(it) = levels.get_mut(trait_) {
                *it += level;
            }
        }
        levels
    }

    /// Why the value may not be a secret; `ask` runs at the first call only.
    pub(super) fn why(&mut self, ask: impl FnOnce() -> Other) -> Other {
        *self.why.get_or_insert_with(ask)
    }
}

impl<'t> Measurer<'t> {
    /// Measures the candidate at a place, or takes the measurement that [`Self::keep`] stored.
    pub(super) fn measure(
        &mut self,
        text: &'t str,
        at: &Range<usize>,
        said: &SaidWords,
        weights: &Weights,
    ) -> Measured<'t> {
        if let Some(known) = self.places.remove(at) {
            return known;
        }
        let of_value = self.of_value(text.get(at.clone()).unwrap_or_default(), weights);
        let context = Context::of(text, at, said);
        self.line.read(text, &context.line);
        let [form, ..] = of_value;
        let levels = levels(&context, &self.line, of_value);
        let around = Around { text, at: at.clone(), line: context.line, name: context.name, form };
        Measured { levels, around, why: None, buckets: None }
    }

    /// Passes the buckets of a candidate to `ask`, each once: those of its text and surroundings, and of the rules that found it.
    pub(super) fn buckets<T>(
        &mut self,
        one: &mut Measured<'t>,
        rules: &[[&'static str; 2]],
        ask: impl FnOnce(&[u16]) -> T,
    ) -> T {
        match &one.buckets {
            Some(buckets) => self.grams.restore(buckets),
            None => self.grams.read(&one.around),
        }
        if !rules.is_empty() {
            one.buckets = Some(self.grams.buckets().to_vec());
            self.grams.add_rules(rules, one.around.form);
        }
        ask(self.grams.buckets())
    }

    /// Keeps a measured candidate for the next call of [`Self::measure`] at its place.
    pub(super) fn keep(&mut self, at: Range<usize>, one: Measured<'t>) {
        self.places.insert(at, one);
    }

    /// The levels of a value, cached.
    fn of_value(&mut self, value: &'t str, weights: &Weights) -> ValueLevels {
        *self.values.entry(value).or_insert_with(|| value_levels(value, weights))
    }

    /// True for the form of a name: only lower-case letters, or known words.
    pub(super) fn is_name(&mut self, value: &'t str, weights: &Weights) -> bool {
        // A lower-case name need not be measured.
        static OTHERS: ByteSet = ByteSet::of(b" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&*+?@^~");
        if value.bytes().any(|b| b.is_ascii_lowercase()) && !OTHERS.is_in(value) {
            return true;
        }
        let [_, _, _, _, switches, digits, spice, case, known] = self.of_value(value, weights);
        (switches, digits, spice) == (0, 0, 0) && (known == known::N_SHARES - 1 || (case == 1 && !value.contains(' ')))
    }
}

/// The levels of the traits that depend on the value alone.
fn value_levels(value: &str, weights: &Weights) -> ValueLevels {
    let measured = form::Measured::of(value, weights);
    let counts = &measured.counts;
    let share = counts.digits as f64 / value.len().max(1) as f64;
    [
        measured.form as u16,
        level(value.len() as f64, &[5.0, 6.0, 8.0, 10.0, 13.0, 17.0, 25.0, 37.0, 65.0]),
        level(measured.oddness, &[0.1, 3.4, 3.9, 4.4, 5.0, 5.6, 6.4]),
        level(measured.entropy, &[2.0, 2.5, 3.0, 3.4, 3.8, 4.3]),
        level(counts.switches as f64, &[1.0, 2.0, 3.0, 5.0, 9.0]),
        level(share, &[0.01, 0.15, 0.3, 0.5, 1.0]),
        level(counts.spice as f64, &[1.0, 2.0, 3.0]),
        u16::from(counts.lower > 0) + 2 * u16::from(counts.upper > 0),
        known::share(value),
    ]
}

/// The levels of a candidate that no rule found.
fn levels(context: &Context<'_>, line: &Line, of_value: ValueLevels) -> Levels {
    let [form, length, oddness, entropy, switches, digits, spice, case, known] = of_value;
    let near @ [password, strong, weak, user, digest, public, meta] = context.near();
    let promise = context.promise(&near);
    let (separator, quote, next, name) = (context.separator, context.quote(), context.next(), context.name());
    let line_words = line.n_words;
    [
        form,
        length,
        oddness,
        entropy,
        switches,
        digits,
        spice,
        case,
        password,
        strong,
        weak,
        user,
        digest,
        public,
        meta,
        separator,
        quote,
        next,
        context.previous(),
        name,
        line_words,
        context.line_place(),
        if line.has_url { context.in_url() } else { 0 },
        form * N_PROMISES + promise,
        length * N_PROMISES + promise,
        form * N_SEPARATORS + separator,
        oddness * N_PROMISES + promise,
        separator * N_PROMISES + promise,
        quote * N_PROMISES + promise,
        next * N_PROMISES + promise,
        line_words * N_PROMISES + promise,
        name * N_PROMISES + promise,
        0,
        0,
        form * 4,
        known,
        known * N_PROMISES + promise,
        form * known::N_SHARES + known,
    ]
}
