package reference;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TimeZone;
import java.util.stream.Stream;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.options.Options;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Asks Apache Paimon: {@code Main JOBS.json OUT}.
 *
 * <p>JOBS.json is an array of jobs. A job has a {@code name}, then either a {@code table_dir} (a table that exists) or a
 * definition and {@code steps} (a history to be written), and {@code reads}. For each job, {@code OUT/name/table} and
 * {@code OUT/name/expected.json} are made, in the form of the golden tables. Reads under {@code serialize} are planned,
 * and their splits written as bytes under {@code serialized}; those under {@code deserialize} have {@code splits} as bytes
 * in place of a plan, whose rows come under {@code deserialized}. While a job runs, its table is
 * {@code OUT/name/warehouse/db.db/t}.
 */
public final class Main {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: Main JOBS.json OUT");
            System.exit(2);
        }
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Path out = Path.of(arguments[1]);
        int failed = 0;
        for (JsonNode job : JSON.readTree(new File(arguments[0]))) {
            String name = job.get("name").asText();
            try {
                run(job, out.resolve(name));
            } catch (Exception | LinkageError error) {
                failed++;
                System.out.println(name + ": " + error);
            }
        }
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void run(JsonNode job, Path directory) throws Exception {
        delete(directory);
        Path warehouse = Files.createDirectories(directory.resolve("warehouse"));
        Options options = new Options();
        options.set("warehouse", warehouse.toUri().toString());
        options.set("cache-enabled", "false");
        Identifier table = Identifier.create("db", "t");
        Path root = warehouse.resolve("db.db").resolve("t");
        try (Catalog catalog = CatalogFactory.createCatalog(CatalogContext.create(options))) {
            catalog.createDatabase("db", true);
            if (job.has("table_dir")) {
                copy(Path.of(job.get("table_dir").asText()), root);
            } else {
                catalog.createTable(table, schema(job), false);
                new History(catalog, table).run(job.get("steps"));
            }
            ObjectNode answer = JSON.createObjectNode();
            answer.put("case", job.get("name").asText());
            answer.put("about", "");
            answer.put("written_by", "Apache Paimon Java");
            answer.set("definition", job);
            ArrayNode reads = answer.putArray("reads");
            for (JsonNode read : job.get("reads")) {
                reads.add(new Reads(catalog, table).answer(read));
            }
            for (JsonNode read : job.path("serialize")) {
                new Reads(catalog, table).serialize(read, answer.withArray("serialized").addArray());
            }
            for (JsonNode read : job.path("deserialize")) {
                new Reads(catalog, table).deserialize(read, answer.withArray("deserialized").addArray());
            }
            Files.move(root, directory.resolve("table"));
            JSON.writeValue(directory.resolve("expected.json").toFile(), answer);
        }
        delete(warehouse);
        removeChecksums(directory);
    }

    private static Schema schema(JsonNode job) {
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode column : job.get("columns")) {
            schema.column(column.get(0).asText(), Values.type(column.get(1)));
        }
        schema.primaryKey(Values.texts(job.path("primary_key")));
        schema.partitionKeys(Values.texts(job.path("partition_by")));
        schema.options(options(job.path("options")));
        return schema.build();
    }

    /** An object of texts; null unsets an option. */
    static Map<String, String> options(JsonNode object) {
        Map<String, String> options = new HashMap<>();
        object.fields().forEachRemaining(entry -> {
            JsonNode value = entry.getValue();
            options.put(entry.getKey(), value.isNull() ? null : value.asText());
        });
        return options;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(path, target);
                }
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }

    private static void removeChecksums(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.filter(path -> path.toString().endsWith(".crc"))::iterator) {
                Files.delete(path);
            }
        }
    }
}
