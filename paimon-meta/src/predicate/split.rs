//! Dividing a predicate by the columns it uses. Facts: RP-052, RP-053.
