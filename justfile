# Each recipe is one command; `.ci/run` is all that must hold of a checkout.

# List the recipes.
default:
    @just --list

# The README's main command.
quickstart:
    cargo run --example quickstart

# Every test, or those whose name contains FILTER.
test *FILTER:
    cargo test --workspace {{FILTER}}

# Form and lints, as `.ci/run` checks them first.
lint:
    cargo fmt --all --check && cargo clippy --workspace --all-targets --all-features -- -D warnings

# The documentation of all crates, without warnings.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

# The benchmarks, or one: `just bench --bench recall`.
bench *ARGS:
    cargo bench --workspace {{ARGS}}

# Faults against the real program: kills, flipped bits, full disks, hand edits, stuck locks. 1 is the short form.
torture SCALE="1":
    cargo build -p adage-cli -p adage-torture
    target/debug/adage-torture target/debug/adage {{SCALE}}

# Everything that must hold of a checkout.
ci:
    .ci/run

# The command line, `adage`.
install:
    cargo install --path crates/cli
