//! The server's standard output. All of it is JSON, and what a terminal would obey in a string of it is written as an escape, as in
//! all other JSON of the program.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use adage::redact::printable_json;
use tokio::io::AsyncWrite;

/// A stream to which whole lines are written, each with escapes.
pub(super) struct Escaped<W> {
    to: W,
    /// The beginning of a line that has no end yet.
    line: Vec<u8>,
    /// Lines that are not written yet.
    ready: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Escaped<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, line: Vec::new(), ready: Vec::new() }
    }

    fn poll_lines(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.ready.is_empty() {
            let n_written = ready!(Pin::new(&mut self.to).poll_write(context, &self.ready))?;
            if n_written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.ready.drain(..n_written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Escaped<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_lines(context))?;
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.ready = printable_json(&String::from_utf8_lossy(&lines)).into_bytes();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_lines(context))?;
        Pin::new(&mut self.to).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_lines(context))?;
        Pin::new(&mut self.to).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_escaped_however_they_are_cut() {
        let text = "{\"a\":\"x\u{202e}y\u{9b}\u{7f}é\"}\n{\"b\":1}\n";
        for size in 1..text.len() {
            let mut stream = Escaped::new(Vec::new());
            let mut context = Context::from_waker(std::task::Waker::noop());
            for part in text.as_bytes().chunks(size) {
                assert!(
                    matches!(Pin::new(&mut stream).poll_write(&mut context, part), Poll::Ready(Ok(n)) if n == part.len())
                );
            }
            assert!(matches!(Pin::new(&mut stream).poll_flush(&mut context), Poll::Ready(Ok(()))));
            let written = String::from_utf8(stream.to).unwrap();
            assert_eq!(written, "{\"a\":\"x\\u202ey\\u009b\\u007fé\"}\n{\"b\":1}\n", "{size}");
        }
    }
}
