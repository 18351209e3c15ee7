/** The verdicts of reviewers, written by `python -m evaluator.components.typescript`. */

/** @type {[string, string, string][]} name, words, sign */
export const VERDICTS = [["model_wrong", "Model wrong", "●"], ["ground_truth_wrong", "Ground truth wrong", "◆"], ["ambiguous", "Ambiguous", "◐"], ["ignore", "Ignore", "○"]];

/** @type {[string, string][]} how far the work on a cause is: name, words */
export const TASK_STATUSES = [["open", "Open"], ["in_progress", "In work"], ["done", "Done"]];

/** @type {{none: string, conflict: string, several: string}} signs of no verdict, and of several */
export const MARKS = {"none": "◌", "conflict": "≠", "several": "∷"};
