//! The command line.

use std::path::PathBuf;

use adage::index::{IndexKind, UnitVector};

use crate::Failure;

pub(crate) struct Options {
    pub(crate) source: Source,
    pub(crate) rows: Vec<usize>,
    /// `None` is the default for the number of rows.
    pub(crate) kinds: Vec<Option<IndexKind>>,
    pub(crate) breadths: Vec<usize>,
    together: Vec<usize>,
    pub(crate) repeats: usize,
    pub(crate) filters: bool,
    pub(crate) deletions: bool,
    pub(crate) json: bool,
    pub(crate) save: Option<PathBuf>,
    pub(crate) more: usize,
    pub(crate) shift: f32,
}

impl Options {
    /// The numbers of queries per call, at most all of them.
    pub(crate) fn queries_per_call(&self, queries: &[UnitVector]) -> impl Iterator<Item = usize> {
        self.together.iter().map(|n| *n.min(&queries.len()))
    }

    /// The breadths to measure; a scan has none, so one is enough.
    pub(crate) fn breadths(&self, kind: Option<IndexKind>) -> &[usize] {
        if matches!(kind, None | Some(IndexKind::Exact | IndexKind::Coarse)) {
            &self.breadths[..1]
        } else {
            &self.breadths
        }
    }

    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            source: Source::Synthetic(10_000),
            rows: Vec::new(),
            kinds: vec![None, Some(IndexKind::Exact), Some(IndexKind::Coarse), Some(IndexKind::Graph)],
            breadths: vec![16, 32, 64, 128, 256],
            together: vec![1],
            repeats: 7,
            filters: false,
            deletions: false,
            json: false,
            save: None,
            more: 0,
            shift: 0.0,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--vectors" => options.source = Source::Vectors(value()?.into()),
                "--texts" => options.source = Source::Texts(value()?.into()),
                "--synthetic" => options.source = Source::Synthetic(value()?.parse()?),
                "--save" => options.save = Some(value()?.into()),
                "--rows" => options.rows = numbers(&value()?)?,
                "--ef" => options.breadths = numbers(&value()?)?,
                "--together" => options.together = numbers(&value()?)?,
                "--repeats" => options.repeats = value()?.parse::<usize>()?.max(1),
                "--kinds" => options.kinds = value()?.split(',').map(kind).collect::<Result<_, _>>()?,
                "--more" => options.more = value()?.parse()?,
                "--shift" => options.shift = value()?.parse()?,
                "--filters" => options.filters = true,
                "--deletions" => options.deletions = true,
                "--json" => options.json = true,
                _ => return Err(format!("{argument} is not an option of this example; its source lists them").into()),
            }
        }
        if options.rows.is_empty() {
            options.rows = vec![usize::MAX];
        }
        Ok(options)
    }
}

pub(crate) enum Source {
    Vectors(PathBuf),
    Texts(PathBuf),
    Synthetic(usize),
}

fn kind(name: &str) -> Result<Option<IndexKind>, Failure> {
    match name {
        "default" => Ok(None),
        "exact" => Ok(Some(IndexKind::Exact)),
        "coarse" => Ok(Some(IndexKind::Coarse)),
        "graph" => Ok(Some(IndexKind::Graph)),
        "hnsw_rs" => Ok(Some(IndexKind::HnswRs)),
        _ => Err(format!("{name} is not a kind of index: default, exact, coarse, graph, hnsw_rs").into()),
    }
}

fn numbers(list: &str) -> Result<Vec<usize>, Failure> {
    Ok(list.split(',').map(|number| number.trim().parse()).collect::<Result<_, _>>()?)
}
