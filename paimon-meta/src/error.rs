//! The one error type of the workspace.
//!
//! An error has a [kind](ErrorKind) that tells the caller what to do, a message with what was expected and found, and
//! [frames](Frame) that say where: the layer that opened a thing names it, once, while the error unwinds. Cloning is
//! one reference count, because parts of one read share a failure.

use std::fmt;
use std::sync::Arc;

/// Result with the workspace's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something named does not exist: check the path, or the snapshot expired and the read must be planned again.
    NotFound,
    /// The table breaks its format: nothing but another snapshot or a repair helps.
    Corrupt,
    /// The table or request is valid but this version cannot do it; [`Error::feature`] names what is missing.
    Unsupported,
    /// The request is wrong: an unknown column, an option value that does not parse, a literal that does not fit.
    InvalidInput,
    /// The store failed; the request may succeed when tried again if [`Error::is_retryable`].
    Storage,
    /// A resource limit given by the caller was reached.
    ResourcesExhausted,
    /// A fault of this library.
    Internal,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "not found",
            Self::Corrupt => "corrupt",
            Self::Unsupported => "not supported",
            Self::InvalidInput => "invalid input",
            Self::Storage => "storage",
            Self::ResourcesExhausted => "resources exhausted",
            Self::Internal => "internal error",
        })
    }
}

/// One place on the way from the table to the fault, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// The table, by the location that was asked for.
    Table(String),
    /// A snapshot id.
    Snapshot(i64),
    /// A tag name.
    Tag(String),
    /// A schema id.
    Schema(i64),
    /// A manifest list, by file name.
    ManifestList(String),
    /// A manifest, by file name.
    Manifest(String),
    /// An index manifest, by file name.
    IndexManifest(String),
    /// An entry inside a manifest or list, counted from 0.
    Entry(u64),
    /// A split, counted from 0 in its plan.
    Split(u64),
    /// Any other file, by name or path.
    File(String),
    /// A row group, stripe or block of a data file, counted from 0.
    RowGroup(usize),
    /// A field of a metadata record.
    Field(String),
    /// A column of the table.
    Column(String),
    /// A table option.
    Option(String),
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(name) => write!(f, "table {name}"),
            Self::Snapshot(id) => write!(f, "snapshot {id}"),
            Self::Tag(name) => write!(f, "tag {name}"),
            Self::Schema(id) => write!(f, "schema {id}"),
            Self::ManifestList(name) => write!(f, "manifest list {name}"),
            Self::Manifest(name) => write!(f, "manifest {name}"),
            Self::IndexManifest(name) => write!(f, "index manifest {name}"),
            Self::Entry(index) => write!(f, "entry {index}"),
            Self::Split(index) => write!(f, "split {index}"),
            Self::File(name) => write!(f, "file {name}"),
            Self::RowGroup(index) => write!(f, "row group {index}"),
            Self::Field(name) => write!(f, "field {name}"),
            Self::Column(name) => write!(f, "column {name}"),
            Self::Option(name) => write!(f, "option {name}"),
        }
    }
}

type Source = Arc<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    feature: Option<String>,
    hint: Option<String>,
    retryable: bool,
    /// Innermost first, as they are added while the error unwinds.
    frames: Vec<Frame>,
    source: Option<Source>,
}

/// An error: kind, message, and the frames that say where it happened. Cheap to clone, one pointer wide.
///
/// Rendered on one line, outermost frame first:
///
/// ```
/// use paimon_meta::{Error, Frame};
/// let error = Error::corrupt("row count is -3, expected 0 or more")
///     .at(Frame::Field("_ROW_COUNT".into()))
///     .at(Frame::Manifest("manifest-7f-0".into()))
///     .at(Frame::Snapshot(42));
/// assert_eq!(
///     error.to_string(),
///     "corrupt: row count is -3, expected 0 or more [snapshot 42 > manifest manifest-7f-0 > field _ROW_COUNT]"
/// );
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

const _: () = assert!(size_of::<Error>() == size_of::<usize>());

impl Error {
    /// An error of `kind` with a message in lower case, without a full stop, with expected and found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            feature: None,
            hint: None,
            retryable: false,
            frames: Vec::new(),
            source: None,
        }))
    }

    /// [`ErrorKind::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// [`ErrorKind::Corrupt`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// [`ErrorKind::InvalidInput`].
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// [`ErrorKind::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// [`ErrorKind::Unsupported`]: names the feature that is missing.
    pub fn unsupported(feature: impl Into<String>) -> Self {
        let feature = feature.into();
        let mut error = Self::new(ErrorKind::Unsupported, feature.clone());
        error.inner_mut().feature = Some(feature);
        error
    }

    /// [`ErrorKind::Storage`] with the store's own error; `retryable` if trying again may help.
    pub fn storage(
        message: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
        retryable: bool,
    ) -> Self {
        let mut error = Self::new(ErrorKind::Storage, message).with_source(source);
        error.inner_mut().retryable = retryable;
        error
    }

    fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    /// Adds the frame that encloses all frames added so far.
    #[must_use]
    pub fn at(mut self, frame: Frame) -> Self {
        self.inner_mut().frames.push(frame);
        self
    }

    /// Adds to the message what exactly was found, behind a colon.
    #[must_use]
    pub fn with_detail(mut self, detail: impl fmt::Display) -> Self {
        let inner = self.inner_mut();
        inner.message = format!("{}: {detail}", inner.message);
        self
    }

    /// Adds what the user can try, as one clause without a full stop.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.inner_mut().hint = Some(hint.into());
        self
    }

    /// Keeps the error of a library below as the source.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.inner_mut().source = Some(Arc::new(source));
        self
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message alone, without frames.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The missing feature, for [`ErrorKind::Unsupported`].
    pub fn feature(&self) -> Option<&str> {
        self.0.feature.as_deref()
    }

    /// What the user can try, if there is something.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Whether the same request may succeed when it is made again.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The frames, outermost first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.0.frames.iter().rev()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.0.message)?;
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        for (index, frame) in self.frames().enumerate() {
            f.write_str(if index == 0 { " [" } else { " > " })?;
            write!(f, "{frame}")?;
        }
        if !self.0.frames.is_empty() {
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// Adds frames to the error of a result; the success path builds no strings.
pub trait ResultExt<T> {
    /// Adds an enclosing frame.
    ///
    /// # Errors
    /// The error of `self`, with the frame added.
    fn at(self, frame: impl FnOnce() -> Frame) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn at(self, frame: impl FnOnce() -> Frame) -> Result<T> {
        self.map_err(|error| error.at(frame()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_names_its_feature() {
        let error = Error::unsupported("file format csv").at(Frame::File("a.csv".into()));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.feature(), Some("file format csv"));
        assert_eq!(
            error.to_string(),
            "not supported: file format csv [file a.csv]"
        );
    }

    #[test]
    fn frames_read_outermost_first_and_clones_are_independent() {
        let inner = Error::corrupt("bad").at(Frame::Field("f".into()));
        let outer = inner.clone().at(Frame::Snapshot(1));
        assert_eq!(inner.frames().count(), 1);
        assert_eq!(outer.frames().next(), Some(&Frame::Snapshot(1)));
    }

    #[test]
    fn source_is_shown_and_kept() {
        let error = Error::storage("read failed", std::io::Error::other("boom"), true);
        assert!(error.is_retryable());
        assert_eq!(error.to_string(), "storage: read failed: boom");
        assert!(std::error::Error::source(&error).is_some());
    }
}
