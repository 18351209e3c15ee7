"""Self-made sample reports with ground truth and the predictions of two real detectors."""
