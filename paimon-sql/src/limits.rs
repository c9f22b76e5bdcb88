//! Limits that DataFusion 55.2 has take other rows than the query asks for, and how its rules are kept from it.
//!
//! Its rule `EnsureRequirements` replaces what merges partitions below a sort by what merges them in order, and back
//! (`plan_with_order_preserving_variants`, `plan_with_order_breaking_variants`). The first gives a merge the limit of the
//! sort, though a condition, a window or a join may lie between, and whether the sort goes in the end or not; the second makes
//! a merge in order that has a limit one that takes any rows. It also moves a sort below a limit with an offset, and with the
//! limit alone (`pushdown_requirement_to_children`), which leaves nothing behind the offset. And its rule `FilterPushdown` hands
//! dynamic filters of sorts, joins and aggregates down through conditions and joins that have a limit (`FilterExec`,
//! `HashJoinExec` and others with a `fetch`), so that rows come under the limit that were none of the first. It also finds
//! columns by their names (`FilterRemapper`), and so asks a filter of another column where two have one name, or where a semi-join
//! hands a filter on its key to the side that is not seen.
//!
//! Both stop at a node that seems to keep no order and takes no filter.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow_schema::Schema;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_expr_common::sort_expr::OrderingRequirements;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::EnsureRequirements;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;
type Plan = Arc<dyn ExecutionPlan>;

/// End of the names of rules that leave limits where they are.
const WITHIN_LIMITS: &str = " within limits";

/// The physical optimizer's rules of DataFusion, of which `EnsureRequirements` and `FilterPushdown` leave limits alone.
///
/// DataFusion 55.2 by itself answers some queries over tables whose order is declared with wrong rows, such as
/// `SELECT k, count(*) OVER () FROM t ORDER BY k LIMIT 10`. So [`PaimonTable`](crate::PaimonTable) declares the order of its
/// key, and takes dynamic filters, only in sessions that have these rules.
pub fn physical_optimizer_rules() -> Vec<Rule> {
    let requirements = EnsureRequirements::new();
    let filters = [
        FilterPushdown::new(),
        FilterPushdown::new_post_optimization(),
    ];
    let ours = |rule: Rule| match rule.name() {
        name if name == requirements.name() => WithinLimits::rule(rule, around_sorts),
        name if filters.iter().any(|filter| filter.name() == name) => {
            WithinLimits::rule(rule, around_filters)
        }
        _ => rule,
    };
    let rules = PhysicalOptimizer::new().rules.into_iter();
    rules.map(ours).collect()
}

/// Whether an order that is declared, and filters that are taken, do no harm among these rules.
pub(crate) fn keep_limits(rules: &[Rule]) -> bool {
    let within = |rule: &Rule| rule.name().ends_with(WITHIN_LIMITS);
    rules.iter().any(within)
}

/// Where fences are, node by node.
type FenceIn = fn(Plan, &ConfigOptions) -> Result<Transformed<Plan>>;

/// A rule among fences.
#[derive(Debug)]
struct WithinLimits {
    rule: Rule,
    fence_in: FenceIn,
    name: String,
}

impl WithinLimits {
    fn rule(rule: Rule, fence_in: FenceIn) -> Rule {
        let name = format!("{}{WITHIN_LIMITS}", rule.name());
        Arc::new(Self {
            rule,
            fence_in,
            name,
        })
    }
}

impl PhysicalOptimizerRule for WithinLimits {
    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        let plan = plan.transform_up(|plan| (self.fence_in)(plan, config));
        let plan = self.rule.optimize(plan.data()?, config)?;
        let opened = plan.transform_up(|plan| match plan.downcast_ref::<Fence>() {
            Some(fence) => Ok(Transformed::yes(Arc::clone(&fence.input))),
            None => Ok(Transformed::no(plan)),
        });
        opened.data()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn schema_check(&self) -> bool {
        self.rule.schema_check()
    }
}

/// Fences above whatever takes only so many rows, and where columns cannot be told by their names.
fn around_filters(plan: Plan, _: &ConfigOptions) -> Result<Transformed<Plan>> {
    let fenced = |input: &Plan| -> Plan {
        match has_namesakes(&input.schema()) {
            true => Arc::new(Fence::above(Arc::clone(input))),
            false => Arc::clone(input),
        }
    };
    let inputs = plan.children().into_iter().map(fenced).collect();
    let plan = replace_children_if_necessary(plan, inputs)?;
    // Sorts see to it themselves that no filter goes below them.
    let takes_some =
        plan.fetch().is_some() && !plan.children().is_empty() && !plan.is::<SortExec>();
    let misleads = plan.downcast_ref::<HashJoinExec>().is_some_and(misleads);
    Ok(match takes_some || misleads {
        true => Transformed::yes(Arc::new(Fence::above(plan))),
        false => Transformed::yes(plan),
    })
}

fn has_namesakes(schema: &Schema) -> bool {
    let mut names = HashSet::new();
    !schema
        .fields()
        .iter()
        .all(|field| names.insert(field.name()))
}

/// Whether a column of the side that is not seen has the name of a key of the other, and is not what that key is joined on.
fn misleads(join: &HashJoinExec) -> bool {
    let (seen_is_left, unseen) = match join.join_type() {
        JoinType::LeftSemi => (true, join.right().schema()),
        JoinType::RightSemi => (false, join.left().schema()),
        _ => return false,
    };
    join.on().iter().any(|(left, right)| {
        let (seen, other) = if seen_is_left {
            (left, right)
        } else {
            (right, left)
        };
        let seen = seen.downcast_ref::<Column>().map(Column::name);
        let namesake = seen.and_then(|name| unseen.index_of(name).ok());
        let other = other.downcast_ref::<Column>().map(Column::index);
        namesake.is_some() && namesake != other
    })
}

/// Fences around a sort with a limit; above a limit, and above the sort that it is about.
fn around_sorts(plan: Plan, config: &ConfigOptions) -> Result<Transformed<Plan>> {
    let sort = plan.downcast_ref::<SortExec>();
    if let Some(sort) = sort.filter(|sort| sort.fetch().is_some()) {
        let order = sort.expr().clone();
        let input = fence_below(sort.input(), config.optimizer.repartition_sorts)?;
        let sort = replace_children_if_necessary(plan, vec![input])?;
        return Ok(Transformed::yes(Arc::new(Fence::above_sort(sort, order))));
    }
    if !plan.is::<GlobalLimitExec>() && !plan.is::<LocalLimitExec>() {
        return Ok(Transformed::no(plan));
    }
    let sort = plan.children().first().map(|input| fence_sort(input));
    let limit = match sort.transpose()?.flatten() {
        Some(input) => replace_children_if_necessary(plan, vec![input])?,
        None => plan,
    };
    Ok(Transformed::yes(Arc::new(Fence::above(limit))))
}

/// A fence below a sort and the projections that it may go below.
fn fence_below(plan: &Plan, shows_order: bool) -> Result<Plan> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => {
            let input = fence_below(projection.input(), shows_order)?;
            replace_children_if_necessary(Arc::clone(plan), vec![input])
        }
        None => Ok(Arc::new(Fence::below(Arc::clone(plan), shows_order))),
    }
}

/// A fence above the sort that a limit is about, if there is none yet.
fn fence_sort(plan: &Plan) -> Result<Option<Plan>> {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        let fence = Fence::above_sort(Arc::clone(plan), sort.expr().clone());
        return Ok(Some(Arc::new(fence)));
    }
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return Ok(None);
    };
    let input = fence_sort(projection.input())?;
    let replaced = input.map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input]));
    replaced.transpose()
}

/// Something that seems to keep no order, and so nothing is moved over it. It is gone when the rule is done.
#[derive(Clone, Debug)]
struct Fence {
    input: Plan,
    /// What its input has to have.
    order: Option<LexOrdering>,
    /// Whether the order of the input is seen from above.
    shows_order: bool,
    properties: Arc<PlanProperties>,
}

impl Fence {
    fn above_sort(sort: Plan, order: LexOrdering) -> Self {
        Self::new(sort, Some(order), true)
    }

    fn above(input: Plan) -> Self {
        Self::new(input, None, true)
    }

    /// Where sorts are not made parallel, they stay above what merges partitions, and what is below has to seem without order,
    /// for a sort by another one.
    fn below(input: Plan, shows_order: bool) -> Self {
        Self::new(input, None, shows_order)
    }

    fn new(input: Plan, order: Option<LexOrdering>, shows_order: bool) -> Self {
        let mut properties = Arc::clone(input.properties());
        if !shows_order {
            let mut equivalences = input.equivalence_properties().clone();
            equivalences.clear_orderings();
            let hidden = PlanProperties::clone(&properties).with_eq_properties(equivalences);
            properties = Arc::new(hidden);
        }
        Self {
            input,
            order,
            shows_order,
            properties,
        }
    }
}

impl DisplayAs for Fence {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence")
    }
}

impl ExecutionPlan for Fence {
    fn name(&self) -> &'static str {
        "Fence"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Plan> {
        vec![&self.input]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        let input = children.into_iter().next();
        let input = input.unwrap_or_else(|| Arc::clone(&self.input));
        Ok(Arc::new(Self::new(
            input,
            self.order.clone(),
            self.shows_order,
        )))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        of_inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let unknown = || Arc::new(Statistics::new_unknown(&self.schema()));
        Ok(of_inputs.first().cloned().unwrap_or_else(unknown))
    }
}
