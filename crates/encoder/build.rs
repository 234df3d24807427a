//! Packs the model's weights and its tokenizer's vocabulary into files that the program reads in place.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a build that cannot go on ends"
)]

#[path = "src/layout.rs"]
mod layout;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use layout::{LAYOUT, Matrix, Norm, PANEL, POSITIONS, VOCABULARY, WIDTH};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let write =
        |name: &str, bytes: &[u8]| fs::write(Path::new(&folder).join(name), bytes).expect("OUT_DIR can be written");
    write("weights.bin", &weights(adage_minilm::MODEL));
    let (table, tokens) = vocabulary(adage_minilm::TOKENIZER);
    write("vocabulary_table.bin", &table);
    write("vocabulary_tokens.bin", &tokens);
    println!("cargo::rustc-env=ADAGE_ENCODER_MODEL={}", adage_minilm::MODEL_SHA256);
}

/// A tensor of the file: its shape and its bytes.
struct Tensor<'a> {
    shape: Vec<u64>,
    bytes: &'a [u8],
}

/// The weights in the order of the layout.
fn weights(model: &[u8]) -> Vec<u8> {
    let tensors = tensors(model);
    let mut packed = vec![0; LAYOUT.len];
    let bytes = |name: &str| tensors.get(name).unwrap_or_else(|| panic!("the model has no {name}")).bytes;
    let mut put = |at: usize, bytes: &[u8], expected: usize| {
        assert_eq!(bytes.len(), expected, "the packed model has an unexpected length");
        packed[at..at + bytes.len()].copy_from_slice(bytes);
    };
    let embeddings = "inner.embeddings.";
    let tables = [
        ("word", LAYOUT.words, LAYOUT.word_scales, VOCABULARY),
        ("position", LAYOUT.positions, LAYOUT.position_scales, POSITIONS),
    ];
    for (name, rows, scales, n_rows) in tables {
        put(rows, bytes(&format!("{embeddings}{name}_embeddings.weight_q")), n_rows * WIDTH);
        put(scales, bytes(&format!("{embeddings}{name}_embeddings.weight_scale")), n_rows * 4);
    }
    let types = bytes(&format!("{embeddings}token_type_embeddings.weight"));
    put(LAYOUT.token_type, &types[..WIDTH * 4], WIDTH * 4);
    let mut put_norm = |norm: Norm, name: &str| {
        put(norm.factors, bytes(&format!("{name}LayerNorm.weight")), WIDTH * 4);
        put(norm.summands, bytes(&format!("{name}LayerNorm.bias")), WIDTH * 4);
    };
    put_norm(LAYOUT.norm, embeddings);
    for (number, layer) in LAYOUT.layers.iter().enumerate() {
        put_norm(layer.output_norm, &format!("inner.encoder.layer.{number}.attention.output."));
        put_norm(layer.down_norm, &format!("inner.encoder.layer.{number}.output."));
    }
    // The matrices are named by numbers, in the order in which the graph uses them: six per layer.
    let mut numbers: Vec<u32> =
        tensors.keys().filter_map(|name| name.strip_prefix("val_")?.strip_suffix("_q")?.parse().ok()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers.len(), 36, "the model has an unexpected number of matrices");
    for (number, (layer, names)) in LAYOUT.layers.iter().zip(numbers.chunks(6)).enumerate() {
        let name = |place: usize| format!("val_{}", names[place]);
        let bias = |part: &str| bytes(&format!("inner.encoder.layer.{number}.{part}.bias"));
        let of = ["query", "key", "value"].map(|part| bias(&format!("attention.self.{part}")));
        let parts = [
            (layer.attention, vec![name(0), name(1), name(2)], of.to_vec()),
            (layer.output, vec![name(3)], vec![bias("attention.output.dense")]),
            (layer.up, vec![name(4)], vec![bias("intermediate.dense")]),
            (layer.down, vec![name(5)], vec![bias("output.dense")]),
        ];
        for (matrix, names, biases) in parts {
            let weights: Vec<&Tensor<'_>> = names.iter().map(|name| &tensors[format!("{name}_q").as_str()]).collect();
            put(matrix.weights, &panels(matrix, &weights), matrix.n_rows * matrix.n_columns);
            let scales: Vec<u8> = names.iter().flat_map(|name| bytes(&format!("{name}_scale")).to_vec()).collect();
            put(matrix.scales, &scales, matrix.n_columns * 4);
            put(matrix.biases, &biases.concat(), matrix.n_columns * 4);
        }
    }
    packed
}

/// Matrices joined by columns, in panels.
fn panels(matrix: Matrix, parts: &[&Tensor<'_>]) -> Vec<u8> {
    let columns = |part: &Tensor<'_>| usize::try_from(part.shape[1]).expect("a shape fits");
    let n_columns: usize = parts.iter().map(|part| columns(part)).sum();
    assert_eq!(n_columns, matrix.n_columns, "a matrix has an unexpected width");
    let weight = |row: usize, mut column: usize| {
        for part in parts {
            if column < columns(part) {
                return part.bytes[row * columns(part) + column];
            }
            column -= columns(part);
        }
        unreachable!("the column is below the sum")
    };
    let mut packed = Vec::with_capacity(matrix.n_rows * n_columns);
    for panel in (0..n_columns).step_by(PANEL) {
        for row in (0..matrix.n_rows).step_by(2) {
            for column in panel..panel + PANEL {
                packed.extend([weight(row, column), weight(row + 1, column)]);
            }
        }
    }
    packed
}

/// The tensors in an ONNX file, by name. In onnx.proto, a model's graph is field 7 and a graph's initializers are field 5; an
/// initializer's shape is field 1, its name 8, its bytes 9.
fn tensors(model: &[u8]) -> BTreeMap<&str, Tensor<'_>> {
    let graph =
        fields(model).find_map(|(number, value)| (number == 7).then(|| value.bytes())).expect("a model has a graph");
    let initializers = fields(graph).filter(|(number, _)| *number == 5);
    initializers.map(|(_, value)| tensor(value.bytes())).collect()
}

/// A tensor with its name.
fn tensor(message: &[u8]) -> (&str, Tensor<'_>) {
    let (mut name, mut tensor) = ("", Tensor { shape: Vec::new(), bytes: &[] });
    for (number, value) in fields(message) {
        match (number, value) {
            (1, Value::Number(length)) => tensor.shape.push(length),
            (1, Value::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    tensor.shape.push(varint(&mut packed));
                }
            }
            (8, value) => name = std::str::from_utf8(value.bytes()).expect("names are text"),
            (9, value) => tensor.bytes = value.bytes(),
            _ => {}
        }
    }
    (name, tensor)
}

/// A field of a protocol-buffer message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => panic!("the model's file is not of the expected form"),
        }
    }
}

/// The fields of a message, with their numbers.
fn fields(mut message: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    std::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        let key = varint(&mut message);
        let length = match key & 7 {
            0 => return Some((key >> 3, Value::Number(varint(&mut message)))),
            1 => 8,
            2 => usize::try_from(varint(&mut message)).expect("a length fits"),
            5 => 4,
            other => panic!("a field of kind {other}"),
        };
        let (value, rest) = message.split_at(length);
        message = rest;
        Some((key >> 3, Value::Bytes(value)))
    })
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return number;
        }
        shift += 7;
    }
}

/// The vocabulary in the order of its tokens' bytes: for each token its end in the token text and its id, and the token text.
fn vocabulary(tokenizer: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let file: serde_json::Value = serde_json::from_slice(tokenizer).expect("the tokenizer is JSON");
    let known = file["model"]["vocab"].as_object().expect("the tokenizer has a vocabulary");
    let sorted: BTreeMap<&[u8], u64> =
        known.iter().map(|(token, number)| (token.as_bytes(), number.as_u64().expect("a number"))).collect();
    assert_eq!(sorted.len(), VOCABULARY, "the vocabulary has an unexpected size");
    let (mut table, mut tokens) = (Vec::new(), Vec::new());
    for (token, number) in sorted {
        tokens.extend_from_slice(token);
        let end = u32::try_from(tokens.len()).expect("the tokens are short");
        table.extend(end.to_le_bytes());
        table.extend(u32::try_from(number).expect("a number is small").to_le_bytes());
    }
    (table, tokens)
}
