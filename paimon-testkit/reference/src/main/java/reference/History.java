package reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.manifest.BucketEntry;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.InnerTableCommit;
import org.apache.paimon.table.sink.InnerTableWrite;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.types.RowType;

/** Writes a history of steps; each step that writes or compacts is one commit. */
final class History {
    private static final String USER = "history";
    private static final String[] WRITES = {"write", "files", "compact"};

    private final Catalog catalog;
    private final Identifier table;

    History(Catalog catalog, Identifier table) {
        this.catalog = catalog;
        this.table = table;
    }

    void run(JsonNode steps) throws Exception {
        long number = 0;
        for (JsonNode step : steps) {
            number++;
            try {
                step(step, number);
            } catch (Exception error) {
                throw new IllegalStateException("step " + number + ": " + error, error);
            }
        }
    }

    private void step(JsonNode step, long number) throws Exception {
        Identifier identifier = step.has("branch")
                ? new Identifier(table.getDatabaseName(), table.getTableName(), step.get("branch").asText())
                : table;
        FileStoreTable target = (FileStoreTable) catalog.getTable(identifier);
        if (step.has("options")) {
            target = target.copy(Main.options(step.get("options")));
        }
        for (String write : WRITES) {
            if (step.has(write)) {
                commit(target, step, number);
                return;
            }
        }
        if (step.has("alter")) {
            List<SchemaChange> changes = new ArrayList<>();
            step.get("alter").forEach(change -> changes.add(change(change)));
            catalog.alterTable(identifier, changes, false);
            return;
        }
        if (step.has("delete")) {
            delete(target, step.get("delete"), number);
            return;
        }
        manage(target, step);
    }

    private static void delete(FileStoreTable target, JsonNode condition, long number) throws Exception {
        Deletes deletes = new Deletes(target, Conditions.parse(target.rowType(), condition));
        List<CommitMessage> messages = deletes.messages();
        if (!messages.isEmpty()) {
            try (InnerTableCommit commit = (InnerTableCommit) target.newCommit(USER)) {
                commit.commit(number, messages);
            }
        }
    }

    /** Writes, flushes and compacts as told, in one commit. */
    private void commit(FileStoreTable target, JsonNode step, long number) throws Exception {
        try (InnerTableWrite write = (InnerTableWrite) target.newWrite(USER);
                InnerTableCommit commit = (InnerTableCommit) target.newCommit(USER)) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            if (step.has("overwrite")) {
                commit.withOverwrite(Main.options(step.get("overwrite")));
                write.withIgnorePreviousFiles(true);
            }
            RowType type = target.rowType();
            List<CommitMessage> messages = new ArrayList<>();
            for (JsonNode file : step.path("files")) {
                writeRows(write, type, file);
                messages.addAll(write.prepareCommit(true, number));
            }
            writeRows(write, type, step.path("write"));
            if (step.has("compact")) {
                boolean full = step.get("compact").asText().equals("full");
                for (BucketEntry bucket : target.newSnapshotReader().bucketEntries()) {
                    BinaryRow partition = bucket.partition().copy();
                    write.compact(partition, bucket.bucket(), full);
                }
            }
            messages.addAll(write.prepareCommit(true, number));
            if (step.has("watermark")) {
                ManifestCommittable committable =
                        new ManifestCommittable(number, step.get("watermark").asLong());
                messages.forEach(committable::addFileCommittable);
                ((TableCommitImpl) commit).commit(committable);
            } else {
                commit.commit(number, messages);
            }
        }
    }

    /** Rows; a value more than there are columns is the bucket. */
    private static void writeRows(InnerTableWrite write, RowType type, JsonNode rows) throws Exception {
        for (JsonNode cells : rows) {
            InternalRow row = Values.row(type, cells);
            JsonNode bucket = cells.get(type.getFieldCount() + 1);
            if (bucket == null) {
                write.write(row);
            } else {
                write.write(row, bucket.asInt());
            }
        }
    }

    private static SchemaChange change(JsonNode change) {
        String[] path = change.get(1).asText().split("\\.");
        switch (change.get(0).asText()) {
            case "add":
                return SchemaChange.addColumn(path, Values.type(change.get(2)), null, move(path, change.get(3)));
            case "drop":
                return SchemaChange.dropColumn(path);
            case "rename":
                return SchemaChange.renameColumn(path, change.get(2).asText());
            case "type":
                return SchemaChange.updateColumnType(path, Values.type(change.get(2)), false);
            case "nullability":
                return SchemaChange.updateColumnNullability(path, change.get(2).asBoolean());
            case "move_first":
                return SchemaChange.updateColumnPosition(SchemaChange.Move.first(path[0]));
            case "move_after":
                return SchemaChange.updateColumnPosition(
                        SchemaChange.Move.after(path[0], change.get(2).asText()));
            case "default":
                return SchemaChange.updateColumnDefaultValue(path, change.get(2).asText());
            case "set":
                return SchemaChange.setOption(change.get(1).asText(), change.get(2).asText());
            case "unset":
                return SchemaChange.removeOption(change.get(1).asText());
            default:
                throw new IllegalArgumentException("change " + change);
        }
    }

    private static SchemaChange.Move move(String[] path, JsonNode where) {
        if (where == null) {
            return null;
        }
        String column = path[path.length - 1];
        String text = where.asText();
        return text.equals("first")
                ? SchemaChange.Move.first(column)
                : SchemaChange.Move.after(column, text.substring("after ".length()));
    }

    private static void manage(FileStoreTable target, JsonNode step) throws Exception {
        if (step.has("truncate")) {
            target.newBatchWriteBuilder().newCommit().truncateTable();
        } else if (step.has("tag")) {
            String tag = step.get("tag").asText();
            if (step.has("snapshot")) {
                target.createTag(tag, step.get("snapshot").asLong());
            } else {
                target.createTag(tag);
            }
        } else if (step.has("delete_tag")) {
            target.deleteTag(step.get("delete_tag").asText());
        } else if (step.has("create_branch")) {
            String branch = step.get("create_branch").asText();
            if (step.has("from_tag")) {
                target.createBranch(branch, step.get("from_tag").asText());
            } else {
                target.createBranch(branch);
            }
        } else if (step.has("fast_forward")) {
            target.fastForward(step.get("fast_forward").asText());
        } else if (step.has("rollback")) {
            JsonNode to = step.get("rollback");
            if (to.isNumber()) {
                target.rollbackTo(to.asLong());
            } else {
                target.rollbackTo(to.asText());
            }
        } else if (step.has("expire_retain")) {
            int retained = step.get("expire_retain").asInt();
            ExpireConfig config = ExpireConfig.builder()
                    .snapshotRetainMax(retained)
                    .snapshotRetainMin(retained)
                    .snapshotTimeRetain(Duration.ofMillis(1))
                    .build();
            target.newExpireSnapshots().config(config).expire();
        } else {
            throw new IllegalArgumentException("unknown step " + step);
        }
    }
}
