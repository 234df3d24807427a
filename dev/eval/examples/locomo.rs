//! Measures how much of the evidence for a question a vector memory finds in long conversations (`LoCoMo`, Maharana et al. 2024).
//!
//! ```text
//! cargo run -p adage-eval --example locomo -- locomo10.json [VECTORS]
//! ```
//!
//! Each conversation is a memory: its turns are the documents, or its sessions. Questions without evidence and those of category
//! 5, which have no answer, are left out. `VECTORS` is a file that keeps the vectors for the next run.

#![allow(clippy::print_stdout, clippy::indexing_slicing, reason = "a program, not a library")]

mod outside_sets;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use adage::embed::{Engine, Model, OnnxEmbedder};
use adage::{Document, Lookup, VectorMemory};
use adage_eval::CachedEmbedder;
use outside_sets::{Halves, recall, rows, text};
use serde_json::Value;

/// The number of documents that are looked at.
const K: usize = 10;

struct Question {
    text: String,
    /// Ids of turns.
    evidence: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name the file locomo10.json")?;
    let vectors = arguments.next();
    let model = Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn));
    let embedder = Arc::new(CachedEmbedder::new(model, vectors.as_deref().map(Path::new))?);
    let (mut turns, mut sessions) = (Halves::new(), Halves::new());
    for conversation in rows(Path::new(&file))? {
        let documents = documents(&conversation["conversation"]);
        let questions = questions(&conversation["qa"], &documents);
        measure(&documents, &questions, &embedder, &mut turns)?;
        let whole = |question: &Question| {
            let mut evidence: Vec<String> = question.evidence.iter().map(|turn| session_of(turn).to_owned()).collect();
            evidence.sort();
            evidence.dedup();
            Question { text: question.text.clone(), evidence }
        };
        let questions: Vec<Question> = questions.iter().map(whole).collect();
        measure(&joined(&documents), &questions, &embedder, &mut sessions)?;
    }
    println!("| documents | questions | n | words and vectors R@{K} | vectors | words |\n|---|---|--:|--:|--:|--:|");
    print!("{}{}", turns.rows("turns"), sessions.rows("sessions"));
    Ok(())
}

/// The turns of a conversation.
fn documents(conversation: &Value) -> Vec<Document> {
    let sessions = (1..).map_while(|number| conversation[format!("session_{number}")].as_array());
    let turn = |turn: &Value| {
        Document::new(text(turn, "dia_id"), format!("{}: {}", text(turn, "speaker"), text(turn, "text")))
    };
    sessions.flatten().map(turn).collect()
}

/// The sessions of a conversation.
fn joined(turns: &[Document]) -> Vec<Document> {
    let of_sessions = turns.chunk_by(|one, other| session_of(&one.id) == session_of(&other.id));
    let session = |turns: &[Document]| {
        let lines: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
        Document::new(session_of(&turns[0].id), lines.join("\n"))
    };
    of_sessions.map(session).collect()
}

/// `D3` of the turn `D3:7`.
fn session_of(turn: &str) -> &str {
    turn.split_once(':').map_or(turn, |(session, _)| session)
}

fn questions(questions: &Value, turns: &[Document]) -> Vec<Question> {
    let question = |row: &Value| {
        let evidence = row["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let ids = evidence.flat_map(|ids| ids.split([';', ',', ' '])).map(str::to_owned);
        let evidence: Vec<String> = ids.filter(|id| turns.iter().any(|turn| turn.id == *id)).collect();
        Question { text: text(row, "question").to_owned(), evidence }
    };
    let rows = questions.as_array().into_iter().flatten().filter(|row| row["category"] != 5);
    rows.map(question).filter(|question| !question.evidence.is_empty()).collect()
}

fn measure(
    documents: &[Document],
    questions: &[Question],
    embedder: &Arc<CachedEmbedder>,
    halves: &mut Halves<3>,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let memory = VectorMemory::builder(folder.path()).with_embedder(embedder.clone()).open()?;
    memory.add_all(documents.iter().cloned())?;
    let by_words = VectorMemory::builder(folder.path()).without_embedder().open()?;
    for question in questions {
        let of = |memory: &VectorMemory, lookup: Lookup| -> Result<f64, Box<dyn Error>> {
            let hits = memory.query(&lookup.limit(K))?.hits;
            let found: Vec<String> = hits.into_iter().map(|hit| hit.document.id.clone()).collect();
            Ok(recall(&found, &question.evidence, K))
        };
        let asked = || Lookup::text(question.text.as_str());
        let by_vectors = of(&memory, asked().vectors_only())?;
        halves.add(&question.text, [of(&memory, asked())?, by_vectors, of(&by_words, asked())?]);
    }
    Ok(())
}
