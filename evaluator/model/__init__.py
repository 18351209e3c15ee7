"""What everything is made of: documents, pages, boxes, fields and text as columns, their geometry, and issues."""
