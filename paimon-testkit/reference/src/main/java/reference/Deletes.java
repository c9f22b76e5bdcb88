package reference;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.index.IndexFileHandler;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.reader.FileRecordIterator;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.DeletionFile;
import org.apache.paimon.table.source.Split;

/** Deletes rows of an append table by vectors, with the classes that the reference's SQL engines use for it. */
final class Deletes {
    private final FileStoreTable table;
    private final Predicate condition;

    Deletes(FileStoreTable table, Predicate condition) {
        this.table = table;
        this.condition = condition;
    }

    /** What is to be committed; nothing if no row satisfies the condition. */
    List<CommitMessage> messages() throws Exception {
        Map<DataSplit, Map<String, DeletionVector>> buckets = new LinkedHashMap<>();
        Map<List<Object>, DataSplit> firsts = new LinkedHashMap<>();
        for (Split planned : table.newReadBuilder().newScan().plan().splits()) {
            DataSplit split = (DataSplit) planned;
            DataSplit first = firsts.computeIfAbsent(List.of(split.partition(), split.bucket()), key -> split);
            Map<String, DeletionVector> vectors = buckets.computeIfAbsent(first, key -> new LinkedHashMap<>());
            for (int file = 0; file < split.dataFiles().size(); file++) {
                DeletionVector vector = vector(split, file);
                if (!vector.isEmpty()) {
                    vectors.put(split.dataFiles().get(file).fileName(), vector);
                }
            }
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (Map.Entry<DataSplit, Map<String, DeletionVector>> bucket : buckets.entrySet()) {
            if (!bucket.getValue().isEmpty()) {
                messages.add(message(bucket.getKey(), bucket.getValue()));
            }
        }
        return messages;
    }

    /** The rows of a file that satisfy the condition and are not deleted. */
    private DeletionVector vector(DataSplit split, int file) throws Exception {
        DataFileMeta meta = split.dataFiles().get(file);
        DataSplit.Builder one = DataSplit.builder()
                .withSnapshot(split.snapshotId())
                .withPartition(split.partition())
                .withBucket(split.bucket())
                .withBucketPath(split.bucketPath())
                .withTotalBuckets(split.totalBuckets())
                .withDataFiles(List.of(meta))
                .rawConvertible(true);
        DeletionFile deleted = split.deletionFiles().map(files -> files.get(file)).orElse(null);
        if (deleted != null) {
            one.withDataDeletionFiles(List.of(deleted));
        }
        DeletionVector vector = table.coreOptions().deletionVectorBitmap64()
                ? new Bitmap64DeletionVector()
                : new BitmapDeletionVector();
        try (RecordReader<InternalRow> reader = table.newReadBuilder().newRead().createReader(one.build())) {
            RecordReader.RecordIterator<InternalRow> batch;
            while ((batch = reader.readBatch()) != null) {
                FileRecordIterator<InternalRow> rows = (FileRecordIterator<InternalRow>) batch;
                InternalRow row;
                while ((row = rows.next()) != null) {
                    if (condition.test(row)) {
                        vector.delete(rows.returnedPosition());
                    }
                }
                batch.releaseBatch();
            }
        }
        return vector;
    }

    private CommitMessage message(DataSplit bucket, Map<String, DeletionVector> vectors) {
        IndexFileHandler indexes = table.store().newIndexFileHandler();
        Snapshot snapshot = table.latestSnapshot().get();
        BinaryRow partition = bucket.partition();
        BaseAppendDeleteFileMaintainer maintainer = table.bucketMode() == BucketMode.BUCKET_UNAWARE
                ? BaseAppendDeleteFileMaintainer.forUnawareAppend(indexes, snapshot, partition)
                : BaseAppendDeleteFileMaintainer.forBucketedAppend(indexes, snapshot, partition, bucket.bucket());
        vectors.forEach(maintainer::notifyNewDeletionVector);
        List<IndexFileMeta> added = new ArrayList<>();
        List<IndexFileMeta> removed = new ArrayList<>();
        for (IndexManifestEntry entry : maintainer.persist()) {
            (entry.kind() == FileKind.ADD ? added : removed).add(entry.indexFile());
        }
        return new CommitMessageImpl(
                partition,
                bucket.bucket(),
                bucket.totalBuckets(),
                new DataIncrement(List.of(), List.of(), List.of(), added, removed),
                CompactIncrement.emptyIncrement());
    }
}
