//! The fuzzing body of the recall file.

use std::convert::Infallible;
use std::sync::Arc;

use adage_index::{IndexConfig, UnitVector};

use super::clock;
use crate::folder::Directory;
use crate::hash::TextHash;
use crate::lesson::{Lesson, Realm};
use crate::state::{Book, EmbeddedText, RecallIndex, StoredPieces, StoredVectors};
use crate::store::recall_file::{FORMAT, RECALL, RecallFile, next_section};
use crate::store::sections::{Label, SectionWriter, Sections};

const TEXTS: [EmbeddedText; 3] = EmbeddedText::ALL;
const N_COMPONENTS: usize = 8;

/// Corrects every section's header and checksum; a section is as long as its header says, or up to the end of the bytes.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = SectionWriter::behind(0);
    let mut starts: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(b"section\0"))).collect();
    starts.push(bytes.len());
    for pair in starts.windows(2) {
        let section = bytes.get(pair[0]..pair[1]).unwrap();
        let length = section.get(8..).and_then(|rest| rest.first_chunk()).map_or(u64::MAX, |n| u64::from_le_bytes(*n));
        let content = section.get(64..).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(content.len());
        let label = Label { kind: FORMAT, model: TextHash::from_bytes([0; 16]), n_columns: 0, n_rows: 0 };
        writer.push(label, &[&content[..length]]);
    }
    writer.into_bytes()
}

fn vector_of(text: &str) -> Option<UnitVector> {
    let component = |nth: usize| ((text.len() * 31 + nth * 17) as f32 * 0.7).sin();
    UnitVector::new(&(0..N_COMPONENTS).map(component).collect::<Vec<f32>>()).ok()
}

fn lesson(number: usize) -> Arc<Lesson> {
    let project = ["", "shop"][number % 2];
    let row = serde_json::json!({"trigger": format!("parsing export {number}"), "solution": format!("rename it {number}"),
        "mistake": "it was overwritten", "project": project, "timestamp": format!("2026-01-01T00:00:{number:02}Z")});
    Arc::new(Lesson::from_row(row, &clock()).unwrap())
}

fn realm() -> Realm {
    Realm { project: "shop".to_owned(), role: String::new() }
}

/// Queries a parsed index: it answers, and with no more rows than the file can hold.
fn ask(index: &RecallIndex, n_bytes: usize) {
    let lessons = &index.book.lessons;
    assert!(lessons.len() <= n_bytes && lessons.iter().count() <= lessons.len());
    let words = index.words();
    let scored = words.scored("an export was overwritten", &realm());
    assert!(scored.n_in_sight() <= n_bytes && scored.best(4).len() <= scored.n_in_sight().max(n_bytes));
    for lesson in lessons.iter().take(40) {
        let _ = (scored.score(lesson), scored.grams(lesson), lessons.get(lesson.id));
    }
    let query = vector_of("an export").unwrap();
    for text in TEXTS.into_iter().filter(|text| index.has_vectors(*text)) {
        let known = |_: &[&str]| Ok::<_, Infallible>(());
        let Ok(vectors) = index.vectors(text, N_COMPONENTS, &IndexConfig::default(), known, &vector_of);
        assert!(vectors.nearest(&realm(), &query, 4).0.len() <= n_bytes);
    }
}

/// The path of the file for this process.
fn place() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("adage-fuzz-recall-{}", std::process::id()))
}

/// Invalid sections lead to no index, or to one with fewer rows; a parsed index is queried and updated.
fn fuzz_recall(bytes: &[u8]) {
    let place = place();
    #[allow(clippy::disallowed_methods, reason = "sections are read from a file")]
    std::fs::create_dir_all(&place).unwrap();
    let files = Directory::real(&place);
    for bytes in [bytes, &resealed(bytes)] {
        files.create(RECALL, bytes).unwrap();
        let sections = Sections::unchecked(&files, RECALL).unwrap();
        assert!(sections.len() * 64 <= bytes.len());
        let mut rest = sections.into_iter();
        let Some((_, _, lessons)) = RecallFile::read(&mut rest) else { continue };
        let mut pieces = std::iter::from_fn(|| next_section(&mut rest));
        let config = IndexConfig::default();
        let Some(index) = RecallIndex::read(&lessons, &config, StoredVectors::Use, &mut StoredPieces(&mut pieces))
        else {
            continue;
        };
        ask(&index, bytes.len());
        let mut changed = lessons.clone();
        for lesson in lessons.iter().step_by(2).take(20) {
            changed.take(lesson.id);
        }
        for number in 10..15 {
            changed.put(lesson(number));
        }
        let book = Arc::new(Book { lessons: changed, ..Book::default() });
        ask(&index.follow(book, &vector_of), bytes.len() + 5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::recall_file::{Head, to_bytes};
    use crate::testing::mutated::check;

    fn whole() -> Vec<u8> {
        let book = Book { lessons: (0..12).map(lesson).collect(), ..Book::default() };
        let index = RecallIndex::new(Arc::new(book));
        index.words();
        for text in TEXTS {
            let known = |_: &[&str]| Ok::<_, Infallible>(());
            let Ok(_) = index.vectors(text, N_COMPONENTS, &IndexConfig::default(), known, &vector_of);
        }
        let place = (1, 2, (3, 4), (5, 6));
        let playbook = (place, [8; 16], b"start".to_vec(), true, true);
        let head = Head::from_fields((Some([7; 16]), playbook, 11));
        to_bytes(&head, b"{}".to_vec(), &index.book.lessons, &index.stored().unwrap())
    }

    #[test]
    fn a_recall_file_gives_an_index_that_answers_or_none() {
        assert_eq!(resealed(&whole()).len(), whole().len());
        check(&[whole()], fuzz_recall);
        #[allow(clippy::disallowed_methods, reason = "made by the test")]
        std::fs::remove_dir_all(place()).unwrap();
    }
}
