//! Tables in logical plans, as bytes.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use paimon_io::Resources;
use paimon_meta::ResolvedTable;
use paimon_plan::MetadataTable;
use serde::{Deserialize, Serialize};

use super::far::FarTable;
use super::wire;
use crate::metadata_table::MetadataProvider;
use crate::table::{PaimonTable, Shown};

/// Writes the tables of this crate, and leaves everything else to Ballista's own codec.
///
/// A table is sent as it was resolved: location, options, snapshot and schemas. So all processes read one state of it,
/// whatever is committed in the meantime. Stores are not sent: each process has its own, with its own secrets.
#[derive(Debug)]
pub struct PaimonLogicalCodec {
    resources: Resources,
    others: BallistaLogicalExtensionCodec,
}

impl PaimonLogicalCodec {
    /// A codec whose tables are read through these resources.
    pub fn new(resources: Resources) -> Self {
        Self {
            resources,
            others: BallistaLogicalExtensionCodec::default(),
        }
    }
}

/// A table as it is sent.
#[derive(Serialize, Deserialize)]
struct SentTable<'a> {
    table: Cow<'a, ResolvedTable>,
    rows: SentRows,
}

/// Which of its rows.
#[derive(Serialize, Deserialize)]
enum SentRows {
    /// Those of data files.
    Data(Shown),
    /// Those of a metadata table.
    Metadata(MetadataTable),
}

impl SentTable<'_> {
    fn of(provider: &dyn TableProvider) -> Option<SentTable<'_>> {
        if let Some(FarTable(table)) = provider.downcast_ref() {
            return Self::of(table.as_ref());
        }
        if let Some(table) = provider.downcast_ref::<PaimonTable>() {
            return Some(SentTable {
                table: Cow::Borrowed(table.resolved()),
                rows: SentRows::Data(table.shown()),
            });
        }
        let table = provider.downcast_ref::<MetadataProvider>()?;
        Some(SentTable {
            table: Cow::Borrowed(table.resolved()),
            rows: SentRows::Metadata(table.which()),
        })
    }

    fn open(self, resources: Resources) -> Result<FarTable> {
        let table = self.table.into_owned();
        Ok(FarTable(match self.rows {
            SentRows::Data(shown) => Arc::new(PaimonTable::with_shown(table, shown, resources)?),
            SentRows::Metadata(which) => Arc::new(MetadataProvider::new(table, which, resources)?),
        }))
    }
}

impl LogicalExtensionCodec for PaimonLogicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[LogicalPlan],
        context: &TaskContext,
    ) -> Result<Extension> {
        self.others.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if !wire::is_frame(bytes) {
            let others = &self.others;
            return others.try_decode_table_provider(bytes, name, schema, context);
        }
        let sent: SentTable<'static> = wire::from_json(&wire::unpack(bytes)?)?;
        Ok(Arc::new(sent.open(self.resources.clone())?))
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        provider: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(sent) = SentTable::of(provider.as_ref()) else {
            let others = &self.others;
            return others.try_encode_table_provider(name, provider, bytes);
        };
        bytes.extend(wire::pack(&wire::to_json(&sent)?)?);
        Ok(())
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(
        &self,
        bytes: &mut Vec<u8>,
        format: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.others.try_encode_file_format(bytes, format)
    }
}
