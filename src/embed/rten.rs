//! An engine in pure Rust: the only file that names rten.

use std::sync::Arc;

use ndarray::Array3;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, ValueOrView, ValueView};

use super::graph::{Graph, Tokens, load_error, run_error};
use crate::error::EmbedError;

pub(super) struct RtenGraph {
    graph: Model,
    options: RunOptions,
    token_ids: NodeId,
    attention_mask: NodeId,
    token_types: Option<NodeId>,
    output: NodeId,
}

impl RtenGraph {
    pub(super) fn load(graph: Vec<u8>) -> Result<Self, EmbedError> {
        // Packing the weights once costs 10 ms here and saves a third of every run of a short text.
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        let graph = options.load(graph).map_err(load_error)?;
        let node = |name: &str| graph.node_id(name).map_err(load_error);
        let output = match graph.find_node("last_hidden_state") {
            Some(output) => output,
            None => *graph.output_ids().first().ok_or_else(|| load_error("the graph has no output"))?,
        };
        Ok(Self {
            token_ids: node("input_ids")?,
            attention_mask: node("attention_mask")?,
            token_types: graph.find_node("token_type_ids"),
            output,
            options: RunOptions::default().with_thread_pool(Some(Arc::new(ThreadPool::with_num_threads(1)))),
            graph,
        })
    }
}

impl Graph for RtenGraph {
    fn run(&self, tokens: &Tokens) -> Result<Array3<f32>, EmbedError> {
        let types = vec![0; tokens.ids.len()];
        let input = |data| input(tokens.shape, data);
        let mut inputs = vec![(self.token_ids, input(&tokens.ids)?), (self.attention_mask, input(&tokens.mask)?)];
        if let Some(token_types) = self.token_types {
            inputs.push((token_types, input(&types)?));
        }
        let [output] = self.graph.run_n(inputs, [self.output], Some(self.options.clone())).map_err(run_error)?;
        let (shape, embeddings) = output.into_shape_vec::<f32, 3>().map_err(run_error)?;
        Array3::from_shape_vec(shape, embeddings).map_err(run_error)
    }
}

fn input(shape: [usize; 2], data: &[i32]) -> Result<ValueOrView<'_>, EmbedError> {
    Ok(ValueView::from_shape(shape, data).map_err(run_error)?.into())
}
