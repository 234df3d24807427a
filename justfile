# Each recipe is one command. `.ci/run` is every check on a checkout.

# List the recipes.
default:
    @just --list

# Run the tour of the README.
quickstart:
    cargo run -p quickstart

# Run every test, or those whose name contains FILTER.
test *FILTER:
    cargo test --workspace {{FILTER}}

# Formatting and lints, the first checks of `.ci/run`.
lint:
    cargo fmt --all --check && cargo clippy --workspace --all-targets --all-features -- -D warnings

# Build the documentation of all crates, without warnings.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

# Run the benchmarks, or one: `just bench --bench recall`.
bench *ARGS:
    cargo bench --workspace {{ARGS}}

# Faults against the real program: kills, flipped bits, full disks, hand edits, held locks. 1 is the short form.
torture SCALE="1":
    cargo build -p adage-cli -p adage-torture
    target/debug/adage-torture target/debug/adage {{SCALE}}

# Every check on a checkout.
ci:
    .ci/run

# Install the command line, `adage`.
install:
    cargo install --path crates/cli
