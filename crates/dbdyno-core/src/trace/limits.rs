//! What is kept at most, so that memory does not grow with the file. Whatever is beyond goes into a line called others
//! or is counted alone, and a note says so; sums stay exact.

/// Texts of statements; beyond, those of one structure share a place, and half as many structures have one.
pub(super) const TEXTS_MAX: usize = 10_000;
/// Statements of all sessions of a file, each once per session.
pub(super) const ROWS_MAX: usize = 20_000;
/// Of a statement's text.
pub(super) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Of all texts of a file.
pub(super) const ALL_TEXTS_BYTES_MAX: usize = 24 << 20;
/// Names of events.
pub(super) const EVENTS_MAX: usize = 2_000;
/// Sessions told apart.
pub(super) const SESSIONS_MAX: usize = 1_000;
/// Open cursors of all sessions.
pub(super) const CURSORS_MAX: usize = 100_000;
/// Parents and children of the call tree.
pub(super) const EDGES_MAX: usize = 50_000;
/// Files, objects and sizes of requests, each per event.
pub(super) const OBJECTS_MAX: usize = 50_000;
/// Of two digits each, some 10 KB.
pub(super) const HISTOGRAMS_MAX: usize = 2_048;
/// Of a statement.
pub(super) const PLANS_MAX: usize = 16;
/// Of a plan.
pub(super) const PLAN_LINES_MAX: usize = 1_000;
/// Of all plans of a file.
pub(super) const ALL_PLAN_LINES_MAX: usize = 100_000;
/// Of one execution's binds, as the trace has them.
pub(super) const BINDS_BYTES_MAX: usize = 8 * 1024;
/// Of all binds kept at a time.
pub(super) const ALL_BINDS_BYTES_MAX: usize = 16 << 20;
/// Waits and LOB calls of a session of which it is not known yet whether they lie within a call.
pub(super) const UNRESOLVED_MAX: usize = 16_384;
/// Shapes of lines that are no records.
pub(super) const SHAPES_MAX: usize = 100;
/// Names of a session: modules, actions.
pub(super) const ATTRIBUTES_MAX: usize = 200;
/// Different errors.
pub(super) const ERRORS_MAX: usize = 1_000;
