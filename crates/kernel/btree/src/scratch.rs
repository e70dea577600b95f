//! A short-lived copy of bytes of a page.
//!
//! 1. What is short allocates nothing.

/// A copy of a value on the stack, if it is short: a page cannot be read while it is changed.
pub(crate) struct Scratch {
    stack: [u8; 512],
    heap: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch { stack: [0; 512], heap: Vec::new() }
    }

    pub(crate) fn copy(&mut self, bytes: &[u8]) -> &[u8] {
        match self.stack.get_mut(..bytes.len()) {
            Some(stack) => {
                stack.copy_from_slice(bytes);
                stack
            }
            None => {
                self.heap.extend_from_slice(bytes);
                &self.heap
            }
        }
    }
}
