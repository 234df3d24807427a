//! The build script of the packaged `adage-minilm`: joins the parts of the model, because the registry takes no crate that holds it
//! whole. `package-model.sh` replaces `PARTS`.

use std::path::Path;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Lines of a checksum and a file name.
const SUMS: &str = include_str!("SHA256SUMS");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let model = [PARTS].concat();
    let sum: String = Sha256::digest(&model).iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("{sum}  model.onnx");
    assert!(SUMS.lines().any(|known| known == line), "the joined model has the checksum {sum}, which is not in SHA256SUMS");
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("model.onnx"), model).expect("the joined model is written to OUT_DIR");
}
