//! Building and negating predicates.
