//! Attacks through the program: properties that hold whoever wrote the row, the file or the folder.

#[cfg(unix)]
mod ground;
mod huge;
mod import;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod links_of_targets;
mod loss;
mod machine;
mod masked;
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod names;
mod program;
#[cfg(unix)]
mod relative;
#[cfg(unix)]
mod relative_open;
#[cfg(unix)]
mod run;
mod shown;
mod shown_skills;
#[path = "../../../../../tests/it/red/table.rs"]
mod table;
mod terminal;
mod terminal_words;
#[cfg(unix)]
mod trust;
