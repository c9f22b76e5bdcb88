package reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;

/** Conditions as JSON: {@code ["and", ["=", "v", "a"], ["between", "k", 1, 5]]}. */
final class Conditions {
    private Conditions() {}

    static Predicate parse(RowType type, JsonNode node) {
        String operation = node.get(0).asText();
        if (operation.equals("and") || operation.equals("or")) {
            List<Predicate> parts = new ArrayList<>();
            for (int part = 1; part < node.size(); part++) {
                parts.add(parse(type, node.get(part)));
            }
            return operation.equals("and") ? PredicateBuilder.and(parts) : PredicateBuilder.or(parts);
        }
        int field = type.getFieldIndex(node.get(1).asText());
        return leaf(new PredicateBuilder(type), field, type.getTypeAt(field), node);
    }

    private static Predicate leaf(PredicateBuilder builder, int field, DataType type, JsonNode node) {
        String operation = node.get(0).asText();
        switch (operation) {
            case "is_null":
                return builder.isNull(field);
            case "is_not_null":
                return builder.isNotNull(field);
            case "in":
            case "not_in":
                List<Object> literals = new ArrayList<>();
                node.get(2).forEach(literal -> literals.add(Values.parse(type, literal)));
                return operation.equals("in") ? builder.in(field, literals) : builder.notIn(field, literals);
            case "between":
                return builder.between(field, Values.parse(type, node.get(2)), Values.parse(type, node.get(3)));
            default:
                return compare(builder, operation, field, Values.parse(type, node.get(2)));
        }
    }

    private static Predicate compare(PredicateBuilder builder, String operation, int field, Object literal) {
        switch (operation) {
            case "=":
                return builder.equal(field, literal);
            case "!=":
                return builder.notEqual(field, literal);
            case "<":
                return builder.lessThan(field, literal);
            case "<=":
                return builder.lessOrEqual(field, literal);
            case ">":
                return builder.greaterThan(field, literal);
            case ">=":
                return builder.greaterOrEqual(field, literal);
            case "starts_with":
                return builder.startsWith(field, literal);
            case "ends_with":
                return builder.endsWith(field, literal);
            case "contains":
                return builder.contains(field, literal);
            case "like":
                return builder.like(field, literal);
            default:
                throw new IllegalArgumentException("operation " + operation);
        }
    }

    /** Names of the columns of a condition. */
    static void columns(JsonNode node, Set<String> names) {
        String operation = node.get(0).asText();
        if (operation.equals("and") || operation.equals("or")) {
            for (int part = 1; part < node.size(); part++) {
                columns(node.get(part), names);
            }
        } else {
            names.add(node.get(1).asText());
        }
    }
}
