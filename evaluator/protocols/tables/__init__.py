"""Structure and text of tables: the face of the protocol."""

from evaluator.protocols.tables.evaluation import NAME, VERSION, TablePair, TablesPage, TablesResult, compare_tables

__all__ = ["NAME", "VERSION", "TablePair", "TablesPage", "TablesResult", "compare_tables"]
