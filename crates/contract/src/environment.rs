//! The variables with which the lab starts a process (docs/subject-contract.md).
