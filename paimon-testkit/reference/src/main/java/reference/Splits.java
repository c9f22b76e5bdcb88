package reference;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.paimon.io.DataInputViewStreamWrapper;
import org.apache.paimon.io.DataOutputViewStreamWrapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;

/** Splits as bytes, each as hexadecimal digits: its own form under {@code bytes}, Java's under {@code object}. */
final class Splits {
    private Splits() {}

    static void write(List<Split> splits, ArrayNode shown) throws IOException {
        for (Split split : splits) {
            ObjectNode forms = shown.addObject();
            if (split instanceof DataSplit) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                ((DataSplit) split).serialize(new DataOutputViewStreamWrapper(bytes));
                forms.put("bytes", HexFormat.of().formatHex(bytes.toByteArray()));
            }
            ByteArrayOutputStream object = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(object)) {
                out.writeObject(split);
            }
            forms.put("object", HexFormat.of().formatHex(object.toByteArray()));
        }
    }

    static List<Split> read(JsonNode splits) throws Exception {
        List<Split> read = new ArrayList<>();
        for (JsonNode split : splits) {
            if (split.has("bytes")) {
                byte[] bytes = HexFormat.of().parseHex(split.get("bytes").asText());
                read.add(DataSplit.deserialize(new DataInputViewStreamWrapper(new ByteArrayInputStream(bytes))));
            } else {
                byte[] bytes = HexFormat.of().parseHex(split.get("object").asText());
                try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
                    read.add((Split) in.readObject());
                }
            }
        }
        return read;
    }
}
