"""From a schema to bounded numbers: rows, labels, targets, documents, and their parts."""
