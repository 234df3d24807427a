//! What is asked of a playbook, and what came of the answers.

pub(in crate::playbook) mod calibrating;
pub(in crate::playbook) mod crediting;
pub(in crate::playbook) mod feedback;
pub(in crate::playbook) mod pool;
pub(in crate::playbook) mod reads;
pub(in crate::playbook) mod retrieval;
