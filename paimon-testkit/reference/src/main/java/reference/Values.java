package reference;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.GenericVariant;
import org.apache.paimon.data.variant.Variant;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;

/** Values and types as JSON, in the encoding of the golden tables. */
final class Values {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final HexFormat HEX = HexFormat.of();
    /** Nested fields get identifiers above those of columns. */
    private static final int FIRST_NESTED_ID = 100;

    private Values() {}

    /** An SQL type, or a nested type as a schema file writes it. */
    static DataType type(JsonNode node) {
        if (node.isTextual()) {
            return DataTypeJsonParser.parseAtomicTypeSQLString(node.asText());
        }
        return DataTypeJsonParser.parseDataType(node, new AtomicInteger(FIRST_NESTED_ID));
    }

    static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    /** A row with its kind in front. */
    static GenericRow row(RowType type, JsonNode cells) {
        GenericRow row = new GenericRow(RowKind.fromShortString(cells.get(0).asText()), type.getFieldCount());
        for (int field = 0; field < type.getFieldCount(); field++) {
            row.setField(field, parse(type.getTypeAt(field), cells.get(field + 1)));
        }
        return row;
    }

    static Object parse(DataType type, JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return node.asBoolean();
            case TINYINT:
                return (byte) node.asInt();
            case SMALLINT:
                return (short) node.asInt();
            case INTEGER:
                return node.asInt();
            case BIGINT:
                return node.asLong();
            case FLOAT:
                return node.isTextual() ? Float.valueOf(node.asText()) : Float.valueOf((float) node.asDouble());
            case DOUBLE:
                return node.isTextual() ? Double.valueOf(node.asText()) : Double.valueOf(node.asDouble());
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return Decimal.fromBigDecimal(
                        new BigDecimal(node.asText()), decimal.getPrecision(), decimal.getScale());
            case CHAR:
            case VARCHAR:
                return BinaryString.fromString(node.asText());
            case BINARY:
            case VARBINARY:
                return HEX.parseHex(node.asText());
            case DATE:
                return (int) LocalDate.parse(node.asText()).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(node.asText()).toNanoOfDay() / 1_000_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return Timestamp.fromLocalDateTime(LocalDateTime.parse(node.asText()));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return Timestamp.fromInstant(Instant.parse(node.asText()));
            case VARIANT:
                return GenericVariant.fromJson(node.asText());
            default:
                return parseNested(type, node);
        }
    }

    private static Object parseNested(DataType type, JsonNode node) {
        if (type instanceof ArrayType array) {
            Object[] elements = new Object[node.size()];
            for (int index = 0; index < elements.length; index++) {
                elements[index] = parse(array.getElementType(), node.get(index));
            }
            return new GenericArray(elements);
        }
        if (type instanceof RowType fields) {
            GenericRow row = new GenericRow(fields.getFieldCount());
            for (int field = 0; field < fields.getFieldCount(); field++) {
                row.setField(field, parse(fields.getTypeAt(field), node.get(field)));
            }
            return row;
        }
        Map<Object, Object> entries = new LinkedHashMap<>();
        for (JsonNode entry : node) {
            entries.put(parse(keyType(type), entry.get(0)), parse(valueType(type), entry.get(1)));
        }
        return new GenericMap(entries);
    }

    private static DataType keyType(DataType type) {
        if (type instanceof MapType map) {
            return map.getKeyType();
        }
        if (type instanceof MultisetType multiset) {
            return multiset.getElementType();
        }
        throw new IllegalArgumentException("type " + type);
    }

    private static DataType valueType(DataType type) {
        return type instanceof MapType map ? map.getValueType() : DataTypes.INT().notNull();
    }

    /** The fields of a row, added to an array. */
    static void show(InternalRow row, RowType type, ArrayNode cells) {
        for (int field = 0; field < type.getFieldCount(); field++) {
            DataType fieldType = type.getTypeAt(field);
            Object value = InternalRow.createFieldGetter(fieldType, field).getFieldOrNull(row);
            cells.add(show(value, fieldType));
        }
    }

    static JsonNode show(Object value, DataType type) {
        if (value == null) {
            return NODES.nullNode();
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return NODES.booleanNode((Boolean) value);
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
                return NODES.numberNode(((Number) value).longValue());
            case FLOAT:
                float single = (Float) value;
                return Float.isFinite(single) ? NODES.numberNode(single) : NODES.textNode(Float.toString(single));
            case DOUBLE:
                double twice = (Double) value;
                return Double.isFinite(twice) ? NODES.numberNode(twice) : NODES.textNode(Double.toString(twice));
            case DECIMAL:
                return NODES.textNode(((Decimal) value).toBigDecimal().toPlainString());
            case BINARY:
            case VARBINARY:
                return NODES.textNode(HEX.formatHex((byte[]) value));
            case DATE:
                return NODES.textNode(LocalDate.ofEpochDay((Integer) value).toString());
            case TIME_WITHOUT_TIME_ZONE:
                return NODES.textNode(time(LocalTime.ofNanoOfDay((Integer) value * 1_000_000L)));
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return NODES.textNode(timestamp((Timestamp) value));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return NODES.textNode(timestamp((Timestamp) value) + "Z");
            case VARIANT:
                return NODES.textNode(((Variant) value).toJson(ZoneOffset.UTC));
            case ARRAY:
            case MAP:
            case MULTISET:
            case ROW:
                return showNested(value, type);
            default:
                return NODES.textNode(value.toString());
        }
    }

    private static JsonNode showNested(Object value, DataType type) {
        ArrayNode shown = NODES.arrayNode();
        if (type instanceof ArrayType array) {
            showElements((InternalArray) value, array.getElementType()).forEach(shown::add);
        } else if (type instanceof RowType fields) {
            show((InternalRow) value, fields, shown);
        } else {
            InternalMap map = (InternalMap) value;
            List<JsonNode> keys = showElements(map.keyArray(), keyType(type));
            List<JsonNode> values = showElements(map.valueArray(), valueType(type));
            List<ArrayNode> entries = new ArrayList<>();
            for (int index = 0; index < keys.size(); index++) {
                entries.add(NODES.arrayNode().add(keys.get(index)).add(values.get(index)));
            }
            entries.sort(Comparator.comparing(entry -> entry.get(0).toString()));
            shown.addAll(entries);
        }
        return shown;
    }

    private static List<JsonNode> showElements(InternalArray array, DataType type) {
        InternalArray.ElementGetter getter = InternalArray.createElementGetter(type);
        List<JsonNode> shown = new ArrayList<>();
        for (int index = 0; index < array.size(); index++) {
            shown.add(show(getter.getElementOrNull(array, index), type));
        }
        return shown;
    }

    private static String timestamp(Timestamp value) {
        LocalDateTime moment = value.toLocalDateTime();
        return moment.toLocalDate() + "T" + time(moment.toLocalTime());
    }

    /** Seconds always, the fraction without trailing zeros. */
    private static String time(LocalTime time) {
        String whole = String.format("%02d:%02d:%02d", time.getHour(), time.getMinute(), time.getSecond());
        String fraction = String.format(".%09d", time.getNano()).replaceAll("\\.?0+$", "");
        return whole + fraction;
    }
}
