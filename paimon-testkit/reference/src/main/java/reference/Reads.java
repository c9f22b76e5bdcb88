package reference;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.DeletionFile;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.table.source.IncrementalSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.source.StreamTableScan;
import org.apache.paimon.table.source.TableRead;
import org.apache.paimon.types.RowType;

/** Plans and rows of a table, in the form of the golden tables. */
final class Reads {
    /** Plans without a split after which a stream is taken to have ended. */
    private static final int EMPTY_PLANS = 3;

    private final Catalog catalog;
    private final Identifier identifier;

    Reads(Catalog catalog, Identifier identifier) {
        this.catalog = catalog;
        this.identifier = identifier;
    }

    ObjectNode answer(JsonNode read) {
        ObjectNode answer = Main.JSON.createObjectNode();
        answer.set("read", read);
        try {
            read(read, answer);
        } catch (Exception error) {
            answer.remove(List.of("plan", "columns", "rows"));
            answer.put("error", String.valueOf(error));
        }
        return answer;
    }

    /** The splits of a read as bytes; none where it cannot be planned, which the same read tells. */
    void serialize(JsonNode read, ArrayNode splits) throws IOException {
        List<List<Split>> plans;
        try {
            Table table = table(read);
            plans = plans(builder(table, read, shown(table, read)), read);
        } catch (Exception refused) {
            return;
        }
        for (List<Split> plan : plans) {
            Splits.write(plan, splits);
        }
    }

    /** The rows of splits that are given as bytes. */
    void deserialize(JsonNode read, ArrayNode rows) throws Exception {
        Table table = table(read);
        RowType shown = shown(table, read);
        rows(builder(table, read, shown), List.of(Splits.read(read.get("splits"))), shown, read.has("kinds"), rows);
    }

    private Table table(JsonNode read) throws Exception {
        String branch = read.path("branch").asText(null);
        Table table = catalog.getTable(
                new Identifier(identifier.getDatabaseName(), identifier.getTableName(), branch));
        return read.has("options") ? table.copy(Main.options(read.get("options"))) : table;
    }

    private static RowType shown(Table table, JsonNode read) {
        RowType all = table.rowType();
        return read.has("columns") ? all.project(Values.texts(read.get("columns"))) : all;
    }

    private void read(JsonNode read, ObjectNode answer) throws Exception {
        Table table = table(read);
        RowType shown = shown(table, read);
        ReadBuilder builder = builder(table, read, shown);
        List<List<Split>> plans = plans(builder, read);
        ArrayNode shownPlans = Main.JSON.createArrayNode();
        for (List<Split> plan : plans) {
            ArrayNode splits = shownPlans.addArray();
            for (Split split : plan) {
                splits.add(
                        split instanceof DataSplit
                                ? split((FileStoreTable) table, (DataSplit) split)
                                : split((IncrementalSplit) split));
            }
        }
        answer.set("plan", read.has("stream") ? shownPlans : shownPlans.get(0));
        ArrayNode columns = answer.putArray("columns");
        shown.getFields().forEach(field -> columns.add(field.name() + " " + field.type().asSQLString()));
        rows(builder, plans, shown, read.has("stream") || read.has("kinds"), answer.putArray("rows"));
    }

    /** The reference drops a condition on a column that is not read, so such columns are read behind those asked for. */
    private static ReadBuilder builder(Table table, JsonNode read, RowType shown) {
        RowType all = table.rowType();
        Set<String> names = new LinkedHashSet<>(shown.getFieldNames());
        ReadBuilder builder = table.newReadBuilder();
        if (read.has("filter")) {
            builder.withFilter(Conditions.parse(all, read.get("filter")));
            Conditions.columns(read.get("filter"), names);
        }
        builder.withProjection(names.stream().mapToInt(all::getFieldIndex).toArray());
        if (read.has("partition")) {
            builder.withPartitionFilter(Main.options(read.get("partition")));
        }
        if (read.has("limit")) {
            builder.withLimit(read.get("limit").asInt());
        }
        return builder;
    }

    private static List<List<Split>> plans(ReadBuilder builder, JsonNode read) {
        List<List<Split>> plans = new ArrayList<>();
        if (!read.has("stream")) {
            plans.add(builder.newScan().plan().splits());
            return plans;
        }
        StreamTableScan scan = builder.newStreamScan();
        int empty = 0;
        try {
            while (plans.size() < read.get("stream").asInt() && empty < EMPTY_PLANS) {
                List<Split> splits = scan.plan().splits();
                empty = splits.isEmpty() ? empty + 1 : 0;
                if (!splits.isEmpty()) {
                    plans.add(splits);
                }
            }
        } catch (EndOfScanException end) {
            // A bounded stream.
        }
        return plans;
    }

    private static void rows(
            ReadBuilder builder, List<List<Split>> plans, RowType type, boolean kinds, ArrayNode rows)
            throws Exception {
        TableRead read = builder.newRead()
                .executeFilter()
                .withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
        for (List<Split> plan : plans) {
            for (Split split : plan) {
                try (RecordReader<InternalRow> reader = read.createReader(split)) {
                    reader.forEachRemaining(row -> {
                        ArrayNode cells = rows.addArray();
                        if (kinds) {
                            cells.add(row.getRowKind().shortString());
                        }
                        Values.show(row, type, cells);
                    });
                }
            }
        }
    }

    private static ObjectNode split(FileStoreTable table, DataSplit split) {
        ObjectNode shown = Main.JSON.createObjectNode();
        Values.show(split.partition(), table.schema().logicalPartitionType(), shown.putArray("partition"));
        shown.put("bucket", split.bucket());
        shown.put("bucket_path", split.bucketPath().replaceAll(".*/db\\.db/t(/|$)", ""));
        shown.put("total_buckets", split.totalBuckets());
        shown.put("snapshot", split.snapshotId());
        shown.put("raw_convertible", split.rawConvertible());
        shown.put("streaming", split.isStreaming());
        shown.put("row_count", split.rowCount());
        if (split.mergedRowCount().isPresent()) {
            shown.put("merged_row_count", split.mergedRowCount().getAsLong());
        } else {
            shown.putNull("merged_row_count");
        }
        files(split.dataFiles(), split.deletionFiles().orElse(null), shown.putArray("files"));
        return shown;
    }

    private static ObjectNode split(IncrementalSplit split) {
        ObjectNode shown = Main.JSON.createObjectNode();
        shown.put("class", "IncrementalSplit");
        shown.put("row_count", split.rowCount());
        files(split.beforeFiles(), split.beforeDeletionFiles(), shown.putArray("before"));
        files(split.afterFiles(), split.afterDeletionFiles(), shown.putArray("after"));
        return shown;
    }

    private static void files(List<DataFileMeta> files, List<DeletionFile> vectors, ArrayNode shown) {
        for (int index = 0; index < files.size(); index++) {
            shown.add(file(files.get(index), vectors == null ? null : vectors.get(index)));
        }
    }

    private static ObjectNode file(DataFileMeta file, DeletionFile vector) {
        ObjectNode shown = Main.JSON.createObjectNode();
        shown.put("name", file.fileName());
        shown.put("level", file.level());
        shown.put("rows", file.rowCount());
        shown.put("delete_rows", file.deleteRowCount().orElse(null));
        shown.put("size", file.fileSize());
        shown.put("min_seq", file.minSequenceNumber());
        shown.put("max_seq", file.maxSequenceNumber());
        shown.put("schema", file.schemaId());
        if (vector != null) {
            ObjectNode deleted = shown.putObject("deletion_vector");
            deleted.put("file", vector.path().replaceAll(".*/", ""));
            deleted.put("offset", vector.offset());
            deleted.put("length", vector.length());
            deleted.put("cardinality", vector.cardinality());
        }
        return shown;
    }
}
