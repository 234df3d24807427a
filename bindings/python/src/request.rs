//! The arguments of calls, as the Python part writes them.

use adage::playbook::Window;
use adage::redact::json_error;
use adage::retrieve::TierChoice;
use adage::{LessonDraft, LessonId, Listing, Realm, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::errors::Failure;

/// Reads an argument. The error names the part that is wrong, such as `limit` or `[0].metadata.year`.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    // Keeping track of the part takes time, so it is done once something is wrong.
    serde_json::from_str(text).or_else(|_| {
        let value: Value = serde_json::from_str(text)?;
        serde_path_to_error::deserialize(value).map_err(|error| {
            let (part, reason) = (error.path().to_string(), json_error(error.inner()));
            Failure::Argument(if part == "." { reason } else { format!("{part}: {reason}") })
        })
    })
}

/// Reads an id.
pub(crate) fn id<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Argument(format!("{text:?} is not an id")))
}

/// A request for a context.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextRequest {
    query: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    role: String,
    limit: Option<usize>,
    max_tokens: Option<usize>,
    distance_threshold: Option<f32>,
    tier: Option<Tier>,
    #[serde(default)]
    peek: bool,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    touching: Vec<String>,
    #[serde(default)]
    running: Vec<String>,
    #[serde(default, rename = "except_")]
    except: Vec<LessonId>,
    #[serde(default)]
    without_recoveries: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tier {
    Vector,
    Lexical,
}

impl From<Tier> for TierChoice {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Vector => Self::Vector,
            Tier::Lexical => Self::Lexical,
        }
    }
}

impl ContextRequest {
    pub(crate) fn into_request(self, vector: Option<Vec<f32>>) -> Request {
        let mut request = Request::about(self.query).project(self.project).role(self.role).except(self.except);
        request = self.limit.into_iter().fold(request, Request::limit);
        request = self.max_tokens.into_iter().fold(request, Request::max_tokens);
        request = self.distance_threshold.into_iter().fold(request, Request::distance_threshold);
        request = self.tier.into_iter().fold(request, |request, tier| request.tier(tier.into()));
        request = vector.into_iter().fold(request, Request::with_vector);
        request = self.touching.into_iter().fold(request, Request::touching);
        request = self.running.into_iter().fold(request, Request::running);
        if self.peek {
            request = request.peek();
        }
        if self.explain {
            request = request.explain();
        }
        if self.without_recoveries { request.without_recoveries() } else { request }
    }
}

/// A lesson to learn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    row: Map<String, Value>,
    supersedes: Option<LessonId>,
    /// Whether a program or a model wrote it, whose claims are not accepted.
    by_program: bool,
}

impl From<Draft> for LessonDraft {
    fn from(draft: Draft) -> Self {
        let lesson = if draft.by_program { Self::from_program(draft.row) } else { Self::from_json(draft.row) };
        draft.supersedes.into_iter().fold(lesson, Self::supersedes)
    }
}

/// Which lessons to list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListingRequest {
    window: Period,
    source: String,
    project: Option<String>,
    role: Option<String>,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Period {
    Today,
    Week,
    All,
}

impl From<ListingRequest> for Listing {
    fn from(asked: ListingRequest) -> Self {
        let window = match asked.window {
            Period::Today => Window::Today,
            Period::Week => Window::Week,
            Period::All => Window::All,
        };
        let listing = Self::everything().window(window).source(asked.source);
        let listing = asked.limit.into_iter().fold(listing, Self::limit);
        match (asked.project, asked.role) {
            (None, None) => listing,
            (project, role) => listing.in_realm(&Realm::new(project.unwrap_or_default(), role.unwrap_or_default())),
        }
    }
}
