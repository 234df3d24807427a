//! Attacks through the program: what must hold whoever wrote the row, the file or the folder.

mod loss;
mod machine;
#[path = "../../../../../tests/it/red/table.rs"]
mod table;
