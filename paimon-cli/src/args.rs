//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Reads Apache Paimon tables, and shows what a read does and why.
#[derive(Debug, Parser)]
#[command(name = "paimon", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the rows of a table
    Scan(ScanArguments),
    /// Print the number of rows, on the first line alone
    Count(CountArguments),
    /// Print what differs between two states of a table, row by row
    Diff(DiffArguments),
    /// Print the splits that a read consists of
    Plan(PlanArguments),
    /// Explain what a read does and why
    Explain(ExplainArguments),
    /// Print the metadata of a snapshot as a tree: manifest lists, manifests, files
    Info(InfoArguments),
    /// Write small tables that show each case of planning and merging, and show how each is read
    Lab(LabArguments),
    /// List the databases and tables of a warehouse
    Ls(LsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ScanArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How rows are written [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<RowFormat>,
    /// As --stream, and then every change that comes, looked for once a second
    #[arg(long)]
    pub(crate) follow: bool,
    /// Keep how far a stream has come in the consumer's file that the option consumer-id names
    #[arg(long)]
    pub(crate) store_consumer: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Rows per value of these columns, with commas between: of partition columns without reading a row
    #[arg(long, value_name = "NAMES", value_parser = column_names, conflicts_with = "limit", allow_hyphen_values = true)]
    pub(crate) by: Option<ColumnNames>,
    /// Split by split
    #[arg(long)]
    pub(crate) verbose: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// Path or URL of the table's directory
    pub(crate) table: String,
    /// The state whose rows are -D and -U: a tag, a snapshot id, watermark-NUMBER, or a time such as "2024-01-02 03:04:05" in
    /// the time zone of the environment
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// The state whose rows are +I and +U, in the same way [default: the latest]
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Columns with commas between, in the order wanted; a name that holds a comma stands in double quotes
    #[arg(long, value_name = "NAMES", help_heading = SELECTION, value_parser = column_names, allow_hyphen_values = true)]
    pub(crate) columns: Option<ColumnNames>,
    /// SQL condition on the rows of both states: a row that came to satisfy it is new
    #[arg(long = "where", value_name = "CONDITION", help_heading = SELECTION, allow_hyphen_values = true)]
    pub(crate) condition: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "ROWS", help_heading = SELECTION)]
    pub(crate) limit: Option<u64>,
    /// Only partitions with this value of a partition column
    #[arg(long = "partition", value_name = "COLUMN=VALUE", help_heading = SELECTION, value_parser = key_value)]
    pub(crate) partitions: Vec<(String, String)>,
    /// Only this bucket
    #[arg(long, value_name = "NUMBER", help_heading = SELECTION, allow_negative_numbers = true)]
    pub(crate) bucket: Option<i32>,
    /// Give timestamps of 7 to 9 digits in microseconds, for years before 1678 and after 2261
    #[arg(long, help_heading = SELECTION)]
    pub(crate) micros: bool,
    /// A branch of the table
    #[arg(long, value_name = "NAME", help_heading = STATE)]
    pub(crate) branch: Option<String>,
    /// A table option, over the table's own
    #[arg(long = "option", value_name = "KEY=VALUE", help_heading = STATE, value_parser = key_value)]
    pub(crate) options: Vec<(String, String)>,
    /// Splits at once [default: number of cores]
    #[arg(short, long, value_name = "SPLITS")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// How rows are written [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<RowFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How the plan is written [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PlanFormat>,
    /// Show each split as at most so many parts, to be read side by side; files may be looked into for where to cut
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one)]
    pub(crate) parts: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How the explanation is written
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ExplainFormat,
    /// Read the rows too, and tell what that took
    #[arg(long)]
    pub(crate) analyze: bool,
    /// Look into at most so many files, evenly over the splits, to estimate what is kept of them
    #[arg(long, value_name = "NUMBER", default_value_t = 256)]
    pub(crate) footers: u64,
    /// Show each split as at most so many parts, to be read side by side; files may be looked into for where to cut
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one)]
    pub(crate) parts: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

#[derive(Debug, Args)]
pub(crate) struct LabArguments {
    /// Directory of the tables [default: paimon-lab in the directory of temporary files]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Path or URL of the warehouse, or of one of its databases
    pub(crate) warehouse: String,
    /// How the list is written
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextOrJson,
}

/// How an explanation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// A picture of the levels and keys of each bucket
    Svg,
    /// The picture and the text as a page
    Html,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// The first 40 rows, aligned, and how many more there are
    Table,
    /// One object per row and line
    Json,
    /// A header, then one line per row
    Csv,
    /// An Arrow IPC stream
    Arrow,
    /// A Parquet file
    Parquet,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For the Java implementation: a serialized object a line, as hexadecimal digits
    Java,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Which state of a table, and which part of it.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Path or URL of the table's directory; with $NAME behind it, a system table such as $files
    pub(crate) table: String,
    /// Columns with commas between, in the order wanted; a name that holds a comma stands in double quotes
    #[arg(long, value_name = "NAMES", help_heading = SELECTION, value_parser = column_names, allow_hyphen_values = true)]
    pub(crate) columns: Option<ColumnNames>,
    /// SQL condition on rows, such as "k BETWEEN 58 AND 62 AND v LIKE 'a%'"
    #[arg(long = "where", value_name = "CONDITION", help_heading = SELECTION, allow_hyphen_values = true)]
    pub(crate) condition: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "ROWS", help_heading = SELECTION)]
    pub(crate) limit: Option<u64>,
    /// Only partitions with this value of a partition column
    #[arg(long = "partition", value_name = "COLUMN=VALUE", help_heading = SELECTION, value_parser = key_value)]
    pub(crate) partitions: Vec<(String, String)>,
    /// Only this bucket
    #[arg(long, value_name = "NUMBER", help_heading = SELECTION, allow_negative_numbers = true)]
    pub(crate) bucket: Option<i32>,
    /// Give each row's kind (+I, -U, +U, -D) too
    #[arg(long, help_heading = SELECTION)]
    pub(crate) rowkind: bool,
    /// Give timestamps of 7 to 9 digits in microseconds, for years before 1678 and after 2261
    #[arg(long, help_heading = SELECTION)]
    pub(crate) micros: bool,
    /// Show rows that delete too, with the kind of each row
    #[arg(long, help_heading = SELECTION)]
    pub(crate) keep_deletes: bool,
    /// The table as of a snapshot
    #[arg(long, value_name = "ID", help_heading = STATE, group = "state", allow_negative_numbers = true)]
    pub(crate) snapshot: Option<i64>,
    /// The table as of a tag
    #[arg(long, value_name = "NAME", help_heading = STATE, group = "state")]
    pub(crate) tag: Option<String>,
    /// The table as of a time: "2024-01-02 03:04:05" in the time zone of the environment, or milliseconds since 1970
    #[arg(long, value_name = "TIME", help_heading = STATE, group = "state", allow_negative_numbers = true)]
    pub(crate) timestamp: Option<String>,
    /// A branch of the table
    #[arg(long, value_name = "NAME", help_heading = STATE)]
    pub(crate) branch: Option<String>,
    /// The table as a stream: a first plan by the start-up mode (option scan.mode), then every change that is there
    #[arg(long, help_heading = STATE)]
    pub(crate) stream: bool,
    /// A table option, over the table's own
    #[arg(long = "option", value_name = "KEY=VALUE", help_heading = STATE, value_parser = key_value)]
    pub(crate) options: Vec<(String, String)>,
    /// Tasks at once [default: number of cores]
    #[arg(short, long, value_name = "TASKS", value_parser = at_least_one)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

const SELECTION: &str = "Which rows and columns";
const STATE: &str = "Which state of the table";

/// Names of columns in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnNames(pub(crate) Vec<String>);

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let number: Result<usize, _> = text.parse();
    let number = number.map_err(|error| error.to_string())?;
    NonZeroUsize::new(number).ok_or_else(|| "expected at least 1".to_owned())
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected a name, = and a value".to_owned()),
    }
}

/// Names with commas between. Empty text is no column at all.
fn column_names(text: &str) -> Result<ColumnNames, String> {
    let mut names = Vec::new();
    let mut rest = (!text.is_empty()).then_some(text);
    while let Some(text) = rest {
        let (name, after) = match text.strip_prefix('"') {
            None => match text.split_once(',') {
                Some((name, after)) => (name.to_owned(), Some(after)),
                None => (text.to_owned(), None),
            },
            Some(quoted) => quoted_name(quoted)?,
        };
        if name.is_empty() {
            return Err("a name is empty".to_owned());
        }
        names.push(name);
        rest = after;
    }
    Ok(ColumnNames(names))
}

/// The name up to a closing quote, and what follows the comma behind it.
fn quoted_name(text: &str) -> Result<(String, Option<&str>), String> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            return Err("a double quote is not closed".to_owned());
        };
        name.push_str(part);
        if let Some(after) = after.strip_prefix('"') {
            name.push('"');
            rest = after;
        } else if after.is_empty() {
            return Ok((name, None));
        } else if let Some(after) = after.strip_prefix(',') {
            return Ok((name, Some(after)));
        } else {
            return Err("expected a comma after a closing double quote".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        column_names(text).map(|names| names.0)
    }

    #[test]
    fn names_of_columns_stand_bare_or_in_quotes() {
        assert_eq!(names("").unwrap(), [""; 0]);
        assert_eq!(names("a,b c,-d").unwrap(), ["a", "b c", "-d"]);
        assert_eq!(
            names(r#""a,b","say ""hi""",c"#).unwrap(),
            ["a,b", r#"say "hi""#, "c"]
        );
        for wrong in ["a,,b", ",", "a,", r#""a"#, r#""a"b"#, r#""""#] {
            names(wrong).unwrap_err();
        }
    }

    #[test]
    fn values_may_hold_an_equals_sign() {
        assert_eq!(key_value("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(key_value("a="), Ok(("a".to_owned(), String::new())));
        assert!(key_value("a").is_err());
        assert!(key_value("=a").is_err());
    }

    #[test]
    fn arguments_are_consistent() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }
}
