//! Text for a person: labels in front, at most 100 columns, colours on a terminal only.

/// Columns of a line at most.
pub(crate) const WIDTH: usize = 100;
/// Columns of the labels in front.
pub(crate) const LABEL: usize = 12;

/// Colours. They never say anything that the text does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Strong,
    Faint,
    /// What is read as it is.
    Raw,
    /// What is merged.
    Merge,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Raw => "32",
            Self::Merge => "33",
        }
    }
}

/// Lines as they are written.
#[derive(Debug)]
pub(crate) struct Paper {
    text: String,
    column: usize,
    colours: bool,
}

impl Paper {
    pub(crate) fn new(colours: bool) -> Self {
        Self {
            text: String::new(),
            column: 0,
            colours,
        }
    }

    /// Begins a line with a label.
    pub(crate) fn label(&mut self, label: &str) {
        self.end();
        self.put(Ink::Strong, label);
        self.fill(LABEL);
    }

    /// Goes on in the line; what would go beyond its end is cut.
    pub(crate) fn put(&mut self, ink: Ink, text: &str) {
        let shown = clip(text, WIDTH.saturating_sub(self.column));
        self.column += shown.chars().count();
        if self.colours && ink != Ink::Plain && !shown.is_empty() {
            self.text.push_str("\u{1b}[");
            self.text.push_str(ink.code());
            self.text.push('m');
            self.text.push_str(&shown);
            self.text.push_str("\u{1b}[0m");
        } else {
            self.text.push_str(&shown);
        }
    }

    /// Blanks up to a column.
    pub(crate) fn fill(&mut self, column: usize) {
        while self.column < column {
            self.text.push(' ');
            self.column += 1;
        }
    }

    /// Goes on with words, over several lines if need be, each below the first.
    pub(crate) fn words(&mut self, text: &str) {
        let text = visible(text);
        let indent = self.column.clamp(LABEL, WIDTH / 2);
        self.fill(indent);
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let gap = usize::from(self.column > indent);
            if gap > 0 && self.column + gap + word.chars().count() > WIDTH {
                self.end();
                self.fill(indent);
            } else if gap > 0 {
                self.put(Ink::Plain, " ");
            }
            self.put(Ink::Plain, word);
        }
    }

    /// A line with a label and words.
    pub(crate) fn line(&mut self, label: &str, text: &str) {
        self.label(label);
        self.words(text);
    }

    /// Ends the line that was begun.
    pub(crate) fn end(&mut self) {
        if self.column > 0 {
            let length = self.text.trim_end_matches(' ').len();
            self.text.truncate(length);
            self.text.push('\n');
            self.column = 0;
        }
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.end();
        self.text.push('\n');
    }

    /// All lines.
    pub(crate) fn finish(mut self) -> String {
        self.end();
        self.text
    }
}

/// Text in one line of so many columns, cut with an ellipsis where it is longer.
pub(crate) fn clip(text: &str, columns: usize) -> String {
    let shown = visible(text);
    if shown.chars().count() <= columns {
        return shown;
    }
    let mut cut: String = shown.chars().take(columns.saturating_sub(1)).collect();
    cut.extend((columns > 0).then_some('…'));
    cut
}

/// Text without characters that steer a terminal.
pub(crate) fn visible(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for char in text.chars() {
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_below_the_first_and_lines_are_cut() {
        let mut paper = Paper::new(false);
        paper.label("why");
        paper.words(&"word ".repeat(20));
        paper.line("", "x");
        paper.label("long");
        paper.put(Ink::Raw, &"y".repeat(200));
        paper.put(Ink::Raw, "unseen");
        assert_eq!(
            paper.finish(),
            format!(
                "why         {}word\n            word word word\n            x\nlong        {}…\n",
                "word ".repeat(16),
                "y".repeat(87)
            )
        );
    }

    #[test]
    fn colours_do_not_count_as_columns() {
        let mut paper = Paper::new(true);
        paper.put(Ink::Merge, "ab");
        paper.fill(4);
        paper.put(Ink::Plain, "c");
        assert_eq!(paper.finish(), "\u{1b}[33mab\u{1b}[0m  c\n");
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(clip("a\u{1b}[2Jb", 20), "a\\u{1b}[2Jb");
        assert_eq!(clip("abc", 2), "a…");
        assert_eq!(clip("abc", 0), "");
    }
}
