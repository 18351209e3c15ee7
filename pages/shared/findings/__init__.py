"""What reviewers said in this session, and how a finding is shown."""
