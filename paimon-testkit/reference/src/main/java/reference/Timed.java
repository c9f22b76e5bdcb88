package reference;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.options.Options;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.source.TableRead;
import org.apache.paimon.types.RowType;

/**
 * Reads for benches: a line {@code CASE THREADS LOCATION} in, a line {@code ROWS SUM SECONDS} out, {@code SUM} that of the
 * column {@code i1}. A location is {@code WAREHOUSE/DATABASE.db/TABLE}; cases are {@code full}, {@code one-column} (i1),
 * {@code filter} (i1 < 10), {@code count} (the key column k alone) and {@code plan}, which counts files.
 */
public final class Timed {
    private record Rows(long rows, long sum) {
        Rows plus(Rows other) {
            return new Rows(rows + other.rows, sum + other.sum);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split(" ", 3);
            long begin = System.nanoTime();
            Rows rows = read(words[0], Integer.parseInt(words[1]), Path.of(words[2]));
            double seconds = (System.nanoTime() - begin) / 1e9;
            System.out.println(rows.rows + " " + rows.sum + " " + seconds);
        }
    }

    private static Rows read(String kind, int threads, Path location) throws Exception {
        Options options = new Options();
        options.set("warehouse", location.getParent().getParent().toUri().toString());
        options.set("cache-enabled", "false");
        String database = location.getParent().getFileName().toString().replaceAll("\\.db$", "");
        Identifier identifier = Identifier.create(database, location.getFileName().toString());
        try (Catalog catalog = CatalogFactory.createCatalog(CatalogContext.create(options))) {
            Table table = catalog.getTable(identifier);
            RowType type = table.rowType();
            int number = type.getFieldIndex("i1");
            ReadBuilder builder = table.newReadBuilder();
            switch (kind) {
                case "one-column" -> builder.withProjection(new int[] {number});
                case "count" -> builder.withProjection(new int[] {type.getFieldIndex("k")});
                case "filter" -> builder.withFilter(new PredicateBuilder(type).lessThan(number, 10));
                default -> { }
            }
            List<Split> splits = builder.newScan().plan().splits();
            if (kind.equals("plan")) {
                return new Rows(splits.stream().mapToLong(split -> ((DataSplit) split).dataFiles().size()).sum(), 0);
            }
            return read(builder, splits, threads);
        }
    }

    private static Rows read(ReadBuilder builder, List<Split> splits, int threads) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Rows>> parts = new ArrayList<>();
            for (Split split : splits) {
                parts.add(pool.submit(() -> read(builder, split)));
            }
            Rows all = new Rows(0, 0);
            for (Future<Rows> part : parts) {
                all = all.plus(part.get());
            }
            return all;
        } finally {
            pool.shutdown();
        }
    }

    private static Rows read(ReadBuilder builder, Split split) throws Exception {
        TableRead read = builder.newRead()
                .executeFilter()
                .withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
        int number = builder.readType().getFieldIndex("i1");
        long[] result = {0, 0};
        try (RecordReader<InternalRow> reader = read.createReader(split)) {
            reader.forEachRemaining(row -> {
                result[0]++;
                if (number >= 0 && !row.isNullAt(number)) {
                    result[1] += row.getInt(number);
                }
            });
        }
        return new Rows(result[0], result[1]);
    }
}
