//! Who can have written a session file: what others can write is not the person's word (docs/spec/capture.md, 1.7).

use std::path::Path;

use adage::sessions::{source_of_named, source_of_queued};
use adage::transcript::{Reading, Source};
use adage::trust::Tracking;

use crate::tracked::tracking;
use crate::writers::other_writers;

/// How a session file came to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// A person named it.
    Name,
    /// It is in a folder that is looked through.
    Search,
    /// A hook named it when an agent's session ended.
    Queue,
}

/// Why the text in a session is not evidence of what a person said; none if it is.
pub(crate) fn doubt(file: &Path, found_by: FoundBy, reading: &Reading) -> Option<String> {
    let format = reading.report.format;
    let by_path = match found_by {
        FoundBy::Name => source_of_named(file, format),
        FoundBy::Search => Source::Agent,
        FoundBy::Queue => source_of_queued(file, format),
    };
    if reading.transcript.source != Source::Agent || by_path != Source::Agent {
        return Some("it is not in an agent's own format and place".to_owned());
    }
    if tracking(file) != Tracking::Untracked {
        return Some("version control tracks it".to_owned());
    }
    // A person who names a file knows whose it is.
    if found_by == FoundBy::Name { None } else { other_writers(file) }
}
