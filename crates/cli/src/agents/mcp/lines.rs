//! The server's standard input and output: a JSON-RPC message on each line. All output is JSON, and what a terminal would obey in a
//! string of it is written as an escape, as in all other JSON of the program.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::io;

use adage::redact::printable_json;
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::batches::Batches;
use super::message::{InputLine, Message, read};

/// The maximum length of a line, in bytes. A longer one is skipped.
const MAX_LINE: usize = 16 << 20;

pub(super) struct Lines<R> {
    from: BufReader<R>,
    /// The beginning of a line whose end has not been read. It outlives a cancelled read.
    line: Vec<u8>,
    is_skipping: bool,
    /// Whether the client has sent `initialize`. Notifications before it have no effect.
    is_begun: bool,
    received: VecDeque<Message>,
    to: Option<Replies>,
}

/// Where responses go: they are written in the order in which they were sent.
struct Replies {
    lines: UnboundedSender<String>,
    batches: Batches,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// With the task that writes, which ends when all responses are written and this is closed or dropped. Called within a runtime.
    pub(super) fn new(from: R, to: impl AsyncWrite + Unpin + Send + 'static) -> (Self, JoinHandle<()>) {
        let (lines, waiting) = unbounded_channel();
        let writer = tokio::spawn(write(waiting, to));
        let to = Some(Replies { lines, batches: Batches::default() });
        let lines = Self {
            from: BufReader::new(from),
            line: Vec::new(),
            is_skipping: false,
            is_begun: false,
            received: VecDeque::new(),
            to,
        };
        (lines, writer)
    }

    /// The next line without its end; none at the end of the input. May be cancelled and called again.
    async fn next_line(&mut self) -> Option<Vec<u8>> {
        loop {
            let read = self.from.fill_buf().await.ok()?;
            if read.is_empty() {
                let last = std::mem::take(&mut self.line);
                return (!last.is_empty()).then_some(last);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            self.is_skipping |= self.line.len() + part.len() > MAX_LINE;
            if self.is_skipping {
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            let n_read = part.len() + usize::from(end.is_some());
            self.from.consume(n_read);
            if end.is_some() && !std::mem::take(&mut self.is_skipping) {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    /// Reads a line into the messages that are received. What is wrong is answered at once.
    fn take(&mut self, line: &[u8]) {
        let Some(to) = &mut self.to else { return };
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        let (messages, answer): (Vec<Message>, _) = match read(line) {
            InputLine::One(Ok(message)) => (message.into_iter().collect(), None),
            InputLine::One(Err(answer)) => (Vec::new(), Some(answer)),
            InputLine::Batch(batch) => to.batches.open(batch),
        };
        for message in messages {
            let is_request = matches!(message, JsonRpcMessage::Request(_));
            self.is_begun |= is_request && !is_ping(&message);
            if is_request || self.is_begun {
                self.received.push_back(message);
            }
        }
        if let Some(answer) = answer {
            // If nobody reads the output, the next send fails.
            let _ = to.write(&answer);
        }
    }
}

/// True for the one request that the server answers before `initialize`.
fn is_ping(message: &Message) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::PingRequest(_)))
}

impl Replies {
    fn send(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let message = serde_json::to_value(message)?;
        let written = self.batches.sent(message);
        written.map_or(Ok(()), |message| self.write(&message))
    }

    fn write(&self, message: &Value) -> io::Result<()> {
        let line = format!("{}\n", printable_json(&message.to_string()));
        self.lines.send(line).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

async fn write(mut waiting: UnboundedReceiver<String>, mut to: impl AsyncWrite + Unpin) {
    while let Some(line) = waiting.recv().await {
        if to.write_all(line.as_bytes()).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let closed = || Err(io::ErrorKind::NotConnected.into());
        ready(self.to.as_mut().map_or_else(closed, |to| to.send(&message)))
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.received.pop_front() {
                return Some(message);
            }
            let line = self.next_line().await?;
            self.take(&line);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.to = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(text: &[u8], size: usize) -> Vec<Vec<u8>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut lines, _) = Lines::new(text, tokio::io::sink());
            lines.from = BufReader::with_capacity(size, text);
            let mut all = Vec::new();
            while let Some(line) = lines.next_line().await {
                all.push(line);
            }
            all
        })
    }

    #[test]
    fn lines_are_read_however_they_are_cut() {
        for size in 1..20 {
            assert_eq!(
                received(b"one\n\ntwo and three\nrest", size),
                [&b"one"[..], b"", b"two and three", b"rest"],
                "{size}"
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let text = [&vec![b'x'; MAX_LINE + 1][..], b"\nshort\n"].concat();
        assert_eq!(received(&text, 1 << 16), [b"short"]);
    }
}
