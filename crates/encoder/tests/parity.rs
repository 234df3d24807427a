//! Compares the encoder with an engine that runs the model's file, and the tokenizer with the library that defined it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::many_single_char_names,
    reason = "tests"
)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use adage_encoder::{DIMENSION, Encoder, Kernel, tokenize};
use proptest::prelude::*;
use rten::{ModelOptions, ValueView};
use tokenizers::{Tokenizer, TruncationParams};

/// Paragraphs of the project's documentation: prose, code and tables.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages =
        ["README.md", "ARCHITECTURE.md", "SECURITY.md", "docs/spec/playbook.md", "docs/spec/capture.md", "src/lib.rs"];
    let text: String = pages.map(|page| fs::read_to_string(root.join(page)).unwrap()).join("\n");
    let lines = text.lines().filter(|line| line.trim().len() > 3);
    let paragraphs = text.split("\n\n").filter(|paragraph| paragraph.len() > 300);
    lines.step_by(9).chain(paragraphs.step_by(11)).map(str::to_owned).collect()
}

fn oracle(max_tokens: usize) -> Tokenizer {
    let mut tokenizer = Tokenizer::from_bytes(adage_minilm::TOKENIZER).unwrap();
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).unwrap().with_padding(None);
    tokenizer.set_encode_special_tokens(true);
    tokenizer
}

fn check_tokens(oracle: &Tokenizer, text: &str, max_tokens: usize) {
    let expected = oracle.encode_fast(text, true).unwrap();
    assert_eq!(tokenize(text, max_tokens), expected.get_ids(), "{text:?}");
}

fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot =
        |one: &[f32], other: &[f32]| -> f64 { one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

/// Mean-pooled vectors of the model's file.
fn by_engine(texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let model = ModelOptions::with_all_ops().load_static_slice(adage_minilm::MODEL).unwrap();
    let node = |name: &str| model.node_id(name).unwrap();
    let of = |text: &Vec<u32>| {
        let ids: Vec<i32> = text.iter().map(|id| i32::try_from(*id).unwrap()).collect();
        let shape = [1, ids.len()];
        let (mask, types) = (vec![1; ids.len()], vec![0; ids.len()]);
        let mut inputs = vec![("input_ids", &ids), ("attention_mask", &mask)];
        if model.find_node("token_type_ids").is_some() {
            inputs.push(("token_type_ids", &types));
        }
        let inputs =
            inputs.into_iter().map(|(name, data)| (node(name), ValueView::from_shape(shape, data).unwrap().into()));
        let output = model.find_node("last_hidden_state").unwrap_or(model.output_ids()[0]);
        let [hidden] = model.run_n(inputs.collect(), [output], None).unwrap();
        let (_, hidden) = hidden.into_shape_vec::<f32, 3>().unwrap();
        let mut mean = vec![0.0; DIMENSION];
        for token in hidden.chunks(DIMENSION) {
            mean.iter_mut().zip(token).for_each(|(total, number)| *total += number);
        }
        mean
    };
    texts.iter().map(of).collect()
}

#[test]
fn vectors_equal_those_of_the_models_file() {
    let texts: Vec<Vec<u32>> = texts().iter().map(|text| tokenize(text, 256)).collect();
    assert!(texts.len() > 100 && texts.iter().any(|text| text.len() > 150), "{}", texts.len());
    let slices: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
    let least =
        Encoder::new().encode(&slices).into_iter().zip(by_engine(&texts)).map(|(one, other)| cosine(&one, &other));
    let least = least.fold(1.0, f64::min);
    assert!(least > 0.99999, "{least}");
}

#[test]
fn every_kernel_gives_the_same_bits_alone_and_in_a_batch() {
    let texts: Vec<Vec<u32>> = texts().iter().take(40).map(|text| tokenize(text, 256)).collect();
    let slices: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
    let portable = Encoder::with_kernel(Kernel::Portable).unwrap().encode(&slices);
    for kernel in Kernel::available() {
        let encoder = Encoder::with_kernel(*kernel).unwrap();
        assert_eq!(encoder.encode(&slices), portable, "{kernel:?}");
        for (text, expected) in slices.iter().zip(&portable).take(10) {
            assert_eq!(encoder.encode(&[text])[0], *expected, "{kernel:?}");
        }
    }
}

#[test]
fn threads_do_not_change_the_bits() {
    let texts: Vec<Vec<u32>> = texts().iter().take(25).map(|text| tokenize(text, 256)).collect();
    let slices: Vec<&[u32]> = texts.iter().map(Vec::as_slice).chain([&[][..]; 3]).collect();
    for n_texts in [0, 1, 2, 28] {
        let alone = Encoder::new().encode(&slices[..n_texts]);
        for n_threads in [2, 3, 40] {
            let shared = Encoder::new().with_threads(NonZeroUsize::new(n_threads).unwrap()).encode(&slices[..n_texts]);
            assert_eq!(shared, alone, "{n_texts} texts, {n_threads} threads");
        }
    }
}

#[test]
fn every_processor_gives_these_bits() {
    let texts =
        ["pin the version", "A longer text, whose tokens fill a block of rows and begin another one: ßçñ 東京 42."];
    let texts = texts.map(|text| tokenize(text, 256));
    let vectors = Encoder::new().encode(&[&texts[0], &texts[1]]);
    // FNV-1a, recorded on x86-64.
    let digest = vectors
        .iter()
        .flatten()
        .flat_map(|number| number.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(digest, 0x8bac_0aec_d308_6702, "{digest:#x}");
}

#[test]
fn vectors_have_unit_length_and_unusual_input_is_accepted() {
    let (long, unknown, empty) = (vec![2051; 700], [101, u32::MAX, 102], []);
    let vectors = Encoder::new().encode(&[&long, &unknown, &empty, &[101, 102]]);
    for (vector, expected) in vectors.iter().zip([1.0, 1.0, 0.0, 1.0]) {
        let length: f32 = vector.iter().map(|number| number * number).sum();
        assert!((length - expected).abs() < 1e-5, "{length}");
    }
    assert!(Encoder::new().encode(&[]).is_empty());
}

#[test]
fn tokens_of_real_texts_equal_those_of_the_library() {
    let (whole, short) = (oracle(256), oracle(16));
    for text in texts() {
        check_tokens(&whole, &text, 256);
        check_tokens(&short, &text, 16);
    }
}

#[test]
fn tokens_of_unusual_texts_equal_those_of_the_library() {
    let oracle = oracle(256);
    let long = "a".repeat(101);
    for text in [
        "",
        " ",
        "\t\n\r",
        "[CLS] [SEP] [MASK] [UNK] [PAD] ##s",
        "naïve café — Straße İstanbul ΣΑΣ ﬁ",
        "数据库迁移, データ 한국어",
        "مرحبا עברית हिन्दी ไทย",
        "👩‍🔧 e\u{301}\u{0}\u{fffd}\u{200b}\u{ad}x",
        "a_b::c--d/e.f(g)[h]{i}<j>=~`^|$",
        "１２３ ⅷ ½ ²",
        &long,
        "\u{1b}[31mred\u{85}next\u{a0}blank\u{2028}line",
        "ǅ ǆ ß ẞ ŉ ΐ",
        "\u{1f1e9}\u{1f1ea} \u{e000} \u{d7a4}",
    ] {
        check_tokens(&oracle, text, 256);
    }
}

/// A character of any script, common ones more often.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => prop::char::range(' ', '~'),
        2 => prop::char::range('\u{a0}', '\u{24f}'),
        2 => prop::char::range('\u{250}', '\u{1fff}'),
        1 => prop::char::range('\u{2000}', '\u{33ff}'),
        2 => prop::char::range('\u{3400}', '\u{d7ff}'),
        1 => prop::char::range('\u{e000}', '\u{ffff}'),
        1 => prop::char::range('\u{10000}', '\u{3ffff}'),
        1 => any::<char>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn tokens_of_any_text_equal_those_of_the_library(texts in prop::collection::vec(prop::collection::vec(character(), 0..40), 10)) {
        static ORACLE: std::sync::LazyLock<Tokenizer> = std::sync::LazyLock::new(|| oracle(256));
        for text in texts {
            check_tokens(&ORACLE, &text.into_iter().collect::<String>(), 256);
        }
    }
}
