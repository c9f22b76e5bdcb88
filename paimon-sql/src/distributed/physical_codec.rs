//! Scans in physical plans, as bytes.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::Statistics;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalExprNode;
use datafusion_proto_common::protobuf_common::Statistics as SentStatistics;
use paimon_io::Resources;
use paimon_read::ReadTask;
use prost::Message;
use serde::{Deserialize, Serialize};

use super::dealt::DealtScan;
use super::wire;
use crate::error::external;
use crate::scan::{Explained, PaimonScan, Partitions, Reading, ScanParts};

/// Writes the scans of this crate, and leaves everything else to Ballista's own codec.
///
/// A scan is sent with its splits, so an executor reads no manifest; parts of a split say which keys or rows they are, so
/// they are the same wherever they are read. Files do not change once they are written: a file that has expired since is
/// an error that names it. Filters that change while a query runs are sent as they are at that time.
#[derive(Debug)]
pub struct PaimonPhysicalCodec {
    resources: Resources,
    others: BallistaPhysicalExtensionCodec,
}

impl PaimonPhysicalCodec {
    /// A codec whose scans read through these resources.
    pub fn new(resources: Resources) -> Self {
        Self {
            resources,
            others: BallistaPhysicalExtensionCodec::default(),
        }
    }
}

/// A scan as it is sent.
#[derive(Clone, PartialEq, Message)]
struct SentScan {
    /// [`SentData`] as JSON.
    #[prost(bytes = "vec", tag = "1")]
    data: Vec<u8>,
    /// Conditions over the columns of the table.
    #[prost(message, repeated, tag = "2")]
    filters: Vec<PhysicalExprNode>,
    #[prost(message, optional, tag = "3")]
    statistics: Option<SentStatistics>,
}

#[derive(Serialize, Deserialize)]
struct SentData {
    reading: Reading,
    explained: Explained,
    in_order: bool,
    /// Of each partition, unless there is a table of them below.
    tasks: Option<Vec<Vec<ReadTask>>>,
}

impl PaimonPhysicalCodec {
    fn encode(
        &self,
        scan: &PaimonScan,
        tasks: Option<Vec<Vec<ReadTask>>>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Vec<u8>> {
        let parts = scan.parts();
        let data = SentData {
            reading: parts.reading.clone(),
            explained: parts.explained.clone(),
            in_order: parts.partitions.in_order,
            tasks,
        };
        let filters = scan.filters().iter();
        let filters = filters.map(|filter| converter.physical_expr_to_proto(filter, self));
        let sent = SentScan {
            data: wire::to_json(&data)?,
            filters: filters.collect::<Result<_>>()?,
            statistics: Some(parts.statistics.as_ref().into()),
        };
        wire::pack(&sent.encode_to_vec())
    }

    /// The scan, and its tasks.
    fn decode(
        &self,
        bytes: &[u8],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<(PaimonScan, bool)> {
        let content = wire::unpack(bytes)?;
        let sent = SentScan::decode(content.as_slice());
        let sent = sent.map_err(|error| external(wire::not_understood(error)))?;
        let mut data: SentData = wire::from_json(&sent.data)?;
        let columns = data.reading.columns()?;
        let context = PhysicalPlanDecodeContext::new(context, self);
        let filter = |filter| converter.proto_to_physical_expr(filter, &columns, &context);
        let filters = sent.filters.iter().map(filter);
        data.reading.filters = filters.collect::<Result<Vec<Arc<dyn PhysicalExpr>>>>()?;
        let statistics = match &sent.statistics {
            Some(statistics) => statistics.try_into()?,
            None => Statistics::default(),
        };
        let has_tasks = data.tasks.is_some();
        let parts = ScanParts {
            reading: data.reading,
            partitions: Partitions {
                tasks: data.tasks.unwrap_or_default(),
                in_order: data.in_order,
            },
            statistics: Arc::new(statistics),
            // Plans are sent when they are ready.
            takes_filters: false,
            explained: data.explained,
        };
        let scan = PaimonScan::new(parts, self.resources.measured())?;
        Ok((scan, has_tasks))
    }
}

impl PhysicalExtensionCodec for PaimonPhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !wire::is_frame(bytes) {
            let others = &self.others;
            return others.try_decode(bytes, inputs, context, converter);
        }
        let (scan, has_tasks) = self.decode(bytes, context, converter)?;
        let dealt = match inputs {
            [] if has_tasks => DealtScan::of(&scan)?,
            [tasks] if !has_tasks => DealtScan::new(&scan, Arc::clone(tasks))?,
            _ => {
                return Err(external(paimon_meta::Error::corrupt(
                    "a sent scan with tasks both in it and below it, or nowhere",
                )));
            }
        };
        Ok(Arc::new(dealt))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let sent = if let Some(scan) = node.downcast_ref::<PaimonScan>() {
            self.encode(scan, Some(scan.tasks().to_vec()), converter)?
        } else if let Some(dealt) = node.downcast_ref::<DealtScan>() {
            self.encode(dealt.scan(), None, converter)?
        } else {
            return self.others.try_encode(node, bytes, converter);
        };
        bytes.extend(sent);
        Ok(())
    }
}
