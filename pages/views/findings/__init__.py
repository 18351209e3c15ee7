"""The verdicts of reviewers in this session, and how a finding is shown."""
