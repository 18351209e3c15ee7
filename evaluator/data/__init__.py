"""The data model: documents, pages, boxes, fields and text as columns, their geometry, and issues."""
