//! Lines of a tree.

use std::io::{self, Write};

use crate::paper::visible;

/// Writes nodes in the order of a walk.
#[derive(Debug)]
pub(super) struct Tree<W> {
    out: W,
    /// For each open node whether it is the last of its parent.
    open: Vec<bool>,
}

impl<W: Write> Tree<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            open: Vec::new(),
        }
    }

    pub(super) fn root(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", visible(text))
    }

    /// A node without children.
    pub(super) fn leaf(&mut self, last: bool, text: &str) -> io::Result<()> {
        for last in &self.open {
            self.out
                .write_all(if *last { "   " } else { "│  " }.as_bytes())?;
        }
        let corner = if last { "└─ " } else { "├─ " };
        writeln!(self.out, "{corner}{}", visible(text))
    }

    /// All children of the open node, or all but those to come.
    pub(super) fn leaves(&mut self, texts: &[String], complete: bool) -> io::Result<()> {
        for (index, text) in texts.iter().enumerate() {
            self.leaf(complete && index + 1 == texts.len(), text)?;
        }
        Ok(())
    }

    /// A node whose children follow, until it is closed.
    pub(super) fn open(&mut self, last: bool, text: &str) -> io::Result<()> {
        self.leaf(last, text)?;
        self.open.push(last);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_go_on_where_siblings_follow() {
        let mut tree = Tree::new(Vec::new());
        tree.root("r").unwrap();
        tree.open(false, "a").unwrap();
        tree.leaves(&["b".to_owned(), "c".to_owned()], true)
            .unwrap();
        tree.close();
        tree.open(true, "d").unwrap();
        tree.leaf(true, "e\n").unwrap();
        let text = String::from_utf8(tree.out).unwrap();
        assert_eq!(text, "r\n├─ a\n│  ├─ b\n│  └─ c\n└─ d\n   └─ e\\n\n");
    }
}
