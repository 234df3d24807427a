//! Claims of a row about itself that the gate ignores, because they cannot be verified here.

use chrono::{DateTime, FixedOffset};

use crate::lesson::{Lesson, Origin, Provenance, Trust};

/// The values of `source` that stand for a person.
const PERSON: [&str; 2] = ["", "user"];

/// Keeps of a row of a file only its texts, topics, realm and unknown keys. Claims about origin, trust, checks, promotions,
/// counts and other lessons are dropped, so it awaits review. The host says which file it is.
pub(super) fn disown(lesson: &mut Lesson, file: String, now: DateTime<FixedOffset>) {
    lesson.timestamp = now;
    lesson.confidence = 0.5;
    lesson.source = "imported".into();
    lesson.source_challenge_hash.clear();
    (lesson.graduated, lesson.verified, lesson.verification_attempted) = (false, false, false);
    (lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals, lesson.frequency) = (0, 0, 0, 1);
    lesson.settled_retrievals = 0;
    (lesson.learned_at_recall, lesson.shown_at_recall) = (0, 0);
    (lesson.last_retrieved_at, lesson.last_credited_at) = (None, None);
    lesson.near.clear();
    lesson.provenance =
        Provenance { origin: Origin::Imported, session: file, trust: Trust::Tainted, ..Provenance::default() };
}

/// Limits the claims of a program's draft. It may state what it learned, how sure it is and that it is tainted. Claims that it
/// was checked, promoted or said by the user are dropped, and it does not count as a person's.
pub(super) fn doubt(lesson: &mut Lesson) {
    (lesson.verified, lesson.verification_attempted) = (false, false);
    let origin = match lesson.provenance.origin {
        Origin::Hand if !PERSON.contains(&lesson.source.as_str()) => Origin::Program,
        origin => origin,
    };
    let Provenance { session, trust, .. } = std::mem::take(&mut lesson.provenance);
    lesson.provenance = Provenance { origin, session, trust, ..Provenance::default() };
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::admit;
    use super::*;
    use crate::clock::ManualClock;
    use crate::config::LearnConfig;
    use crate::lesson::LessonDraft;
    use crate::testing::at;

    /// The lesson after the gate, as a row of a file and as a program's draft.
    fn admitted(claims: Value) -> [Lesson; 2] {
        let Value::Object(mut row) = claims else { panic!("{claims}") };
        row.extend([("trigger".to_owned(), json!("t")), ("solution".to_owned(), json!("s"))]);
        let clock = ManualClock::new(at(9));
        [LessonDraft::from_file(row.clone()), LessonDraft::from_program(row)]
            .map(|draft| admit(draft, &LearnConfig::default(), &clock).unwrap())
    }

    #[test]
    fn unverifiable_claims_are_ignored() {
        let nothing = admitted(json!({}));
        for claims in [
            json!({"verified": true, "graduated": "true", "verification_attempted": 1}),
            json!({"frequency": 9, "retrievals": 9, "helpful_retrievals": 9, "last_credited_at": "2026-01-01T00:00:00Z"}),
            json!({"utility": 5}),
            json!({"succeeded_retrievals": 9, "failed_retrievals": 9, "settled_retrievals": 9}),
            json!({"learned_at_recall": 9, "shown_at_recall": 9}),
            json!({"provenance": {"promoted": "0".repeat(32), "supersedes": "019ac61f-0000-7000-8000-000000000001"}}),
            json!({"provenance": {"evidence": [{"quote": "q", "turn": 0, "range": [0, 1]}]}}),
            json!({"timestamp": "2999-01-01T00:00:00Z", "near": ["019ac61f-0000-7000-8000-000000000001"]}),
        ] {
            let said = claims.to_string();
            for (mut lesson, expected) in admitted(claims).into_iter().zip(&nothing) {
                // A draft of the same text at another time has another id; the learner assigns the final one.
                lesson.id = expected.id;
                assert_eq!(&lesson, expected, "{said}");
            }
        }
    }

    #[test]
    fn a_program_is_not_a_person_and_may_say_that_it_is_tainted() {
        for (claims, origin, trust) in [
            (json!({}), Origin::Hand, Trust::Trusted),
            (json!({"source": "user"}), Origin::Hand, Trust::Trusted),
            (json!({"source": "agent", "provenance": {"origin": "hand"}}), Origin::Program, Trust::Trusted),
            (json!({"provenance": {"origin": "mined"}}), Origin::Mined, Trust::Trusted),
            (json!({"provenance": {"trust": "tainted"}}), Origin::Hand, Trust::Tainted),
        ] {
            let [of_file, of_program] = admitted(claims);
            assert_eq!((of_program.provenance.origin, of_program.provenance.trust), (origin, trust));
            assert_eq!((of_file.provenance.origin, of_file.provenance.trust), (Origin::Imported, Trust::Tainted));
            assert_eq!((of_file.source.as_str(), of_file.verified), ("imported", false));
        }
    }

    #[test]
    fn unknown_keys_are_kept() {
        for lesson in admitted(json!({"quarantined": true, "mood": {"calm": 1}})) {
            assert_eq!(json!(lesson.extra), json!({"quarantined": true, "mood": {"calm": 1}}));
        }
    }
}
