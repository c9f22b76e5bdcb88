//! `paimon_table('path', 'option=value', …)`: a table by its location, with options of its own, time travel among them.

use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use paimon_io::join;
use paimon_plan::ResolveRequest;
use paimon_read::block_on;
use tokio::runtime::Handle;

use crate::open::{Source, open_table};

/// The table function. Its first argument is a location, which may name a branch or a system table as `…/t$files` does;
/// the others are options, each `'key=value'`.
#[derive(Debug)]
pub struct PaimonTableFunction {
    source: Source,
    directory: Option<String>,
}

impl PaimonTableFunction {
    /// A function whose tables are read from this source. Relative paths are those of `directory`; without one they are
    /// refused.
    pub fn new(source: Source, directory: Option<String>) -> Self {
        Self { source, directory }
    }

    fn location(&self, text: &str) -> String {
        match &self.directory {
            Some(directory) if !is_absolute(text) => join(directory, text),
            _ => text.to_owned(),
        }
    }
}

/// Whether a location is a path from the root or a URL.
fn is_absolute(location: &str) -> bool {
    location.starts_with('/') || location.contains(":/")
}

impl TableFunctionImpl for PaimonTableFunction {
    fn call_with_args(
        &self,
        arguments: TableFunctionArgs<'_, '_>,
    ) -> Result<Arc<dyn TableProvider>> {
        let texts = arguments.exprs().iter().map(text);
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let Some((location, options)) = texts.split_first() else {
            return plan_err!("paimon_table needs the location of a table");
        };
        let mut request = self.source.request();
        for option in options {
            let Some((key, value)) = option.split_once('=') else {
                return plan_err!("paimon_table takes options as 'key=value', found '{option}'");
            };
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            if request.options.contains_key(&key) {
                return plan_err!("paimon_table: option '{key}' is given twice");
            }
            request.options.insert(key, Some(value));
        }
        open_now(&self.source, &self.location(location), &request)
    }
}

fn text(argument: &Expr) -> Result<String> {
    if let Expr::Literal(literal, _) = argument
        && let Some(Some(text)) = literal.try_as_str()
    {
        return Ok(text.to_owned());
    }
    plan_err!("paimon_table takes texts, found {argument}")
}

/// Opens on a thread of its own: functions are planned where nothing may be awaited, and stores may need the runtime
/// that runs here.
fn open_now(
    source: &Source,
    location: &str,
    request: &ResolveRequest,
) -> Result<Arc<dyn TableProvider>> {
    let runtime = Handle::try_current().ok();
    let opened = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let _entered = runtime.as_ref().map(Handle::enter);
            block_on(open_table(&source.resources, location, request))
        });
        work.join()
    });
    opened.unwrap_or_else(|_| exec_err!("opening {location} panicked"))
}
