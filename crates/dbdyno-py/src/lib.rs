//! The only crate of dbdyno that knows PyO3.
