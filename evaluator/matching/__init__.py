"""The boxes of two sides: pairs, matchings, results, the names of mistakes and their causes."""
