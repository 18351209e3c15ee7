import evaluator

files = evaluator.open("sample_data/ground_truth.json", ["sample_data/lines.json", "sample_data/blocks.json"])
lines, blocks = files.evaluate("snapshot")
scores = lines.flat()  # one dict, as trackers of experiments take it
print(f"{lines.name}: F1 {scores['f1']:.3f}, recall of tables {scores['recall_by_label/Table']:.2f}")
boxes = lines.boxes()  # a pandas frame: every box of both sides, and what became of it
wrong = boxes[boxes["status"] != "TP"]
print(wrong["mistake"].value_counts().head(2).to_dict())
chart = lines.chart("precision_recall", "Table")  # a chart of Altair
# lines.viewer() shows its pages in a notebook,
# files.serve() opens the dashboard on these files.
