#!/usr/bin/env bash
# Packages every crate for the registry, which takes at most 10 MB per crate: the model is split, and joined again at build time.
#
# Works on a copy of HEAD below target/. Options such as --offline are passed to cargo. See docs/releasing.md.
set -euo pipefail
cd "$(dirname "$0")/.."

n_parts=3
limit=10000000
# One folder per commit, because cargo caches unpacked packages by their path.
stage="$(realpath -m "${CARGO_TARGET_DIR:-target}")/package-model/$(git rev-parse --short HEAD)"
rm -rf "$(dirname "$stage")"
mkdir -p "$stage/workspace"
git archive HEAD | tar -x -C "$stage/workspace"
cd "$stage/workspace"

# Each package includes its licences.
for folder in crates/*/; do
    cp LICENSE-APACHE LICENSE-MIT "$folder"
done

echo "== model"
sha256sum="$(awk '$2 == "model.onnx" { print $1 }' models/SHA256SUMS)"
split --number="$n_parts" --numeric-suffixes=1 --suffix-length=1 models/model.onnx model.part
rm models/model.onnx
parts=""
dependencies=""
for n in $(seq "$n_parts"); do
    folder="crates/minilm-part$n"
    mkdir -p "$folder/src"
    mv "model.part$n" "$folder/model.part"
    cp models/LICENSE "$folder/"
    cat > "$folder/Cargo.toml" <<TOML
[package]
name = "adage-minilm-part$n"
description = "Part $n of $n_parts of the model in adage-minilm, which joins them; of no use alone."
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license = "Apache-2.0"

[lib]
doctest = false
TOML
    cat > "$folder/src/lib.rs" <<RUST
//! Part $n of $n_parts of the model in \`adage-minilm\`, which joins them; of no use alone.

/// The bytes.
pub const BYTES: &[u8] = include_bytes!("../model.part");
RUST
    parts+="adage_minilm_part$n::BYTES, "
    dependencies+="adage-minilm-part$n = { path = \"../$folder\", version = \"=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)\" }
"
done
sed "s/\[PARTS\]/[${parts%, }]/" scripts/join_model.rs > models/build.rs
cat >> models/Cargo.toml <<TOML

[build-dependencies]
${dependencies}sha2 = { version = "0.10", default-features = false }
TOML
sed -i 's|include_bytes!("../model.onnx")|include_bytes!(concat!(env!("OUT_DIR"), "/model.onnx"))|' models/src/lib.rs
grep -q OUT_DIR models/src/lib.rs || { echo "models/src/lib.rs does not include the model as expected" >&2; exit 1; }

echo "== packages"
# Each package is unpacked and built as by a user, with the other packages in place of those in the registry.
export CARGO_TARGET_DIR="$stage/target"
# Nothing that is built is run, so dependencies need no optimisation.
cargo package --workspace --allow-dirty --config 'profile.dev.package."*".opt-level=0' "$@"

echo "== joined model"
find "$CARGO_TARGET_DIR/debug/build" -path '*/adage-minilm-*/out/model.onnx' -printf "$sha256sum  %p\n" > "$stage/joined"
[ -s "$stage/joined" ] || { echo "adage-minilm was not built" >&2; exit 1; }
sha256sum --check "$stage/joined"

echo "== contents of the library"
if tar -tzf "$CARGO_TARGET_DIR"/package/adage-[0-9]*.crate | grep -E '^[^/]+/(models|tests|crates|scripts|target)/|\.onnx$'; then
    echo "these files do not belong in the library's package" >&2
    exit 1
fi

echo "== sizes"
is_small=true
for package in "$CARGO_TARGET_DIR"/package/*.crate; do
    size="$(stat --format=%s "$package")"
    echo "$size $(basename "$package")"
    [ "$size" -le "$limit" ] || is_small=false
done
$is_small || { echo "the registry takes at most $limit bytes" >&2; exit 1; }
