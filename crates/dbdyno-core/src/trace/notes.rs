//! What was noticed while reading, each kind with its count and first line; and lines that are no records, by shape.

use std::collections::BTreeMap;

use super::limits::SHAPES_MAX;

/// What a reader of the profile has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    DamagedLine,
    UnfinishedLine,
    LongLine,
    TextWithoutEnd,
    TextLengthDiffers,
    QuestionableDuration,
    ClockWentBack,
    NoTimes,
    RecursionLongerThanCall,
    WaitsToldByName,
    UnitAssumed,
    EstimatedWaitTimes,
    SizeLimited,
    ContinuesElsewhere,
    ContinuedFromElsewhere,
    SessionsOverlap,
    SessionsMerged,
    StatementsMerged,
    TextsCut,
    EventsMerged,
    TargetsMerged,
    CallTreeMerged,
    CursorsForgotten,
    HistogramsMissing,
    PlansMissing,
    BindsMissing,
    ErrorsMerged,
    InputBroken,
    NotATrace,
}

impl Note {
    /// Stable.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::DamagedLine => "damaged_line",
            Self::UnfinishedLine => "unfinished_line",
            Self::LongLine => "long_line",
            Self::TextWithoutEnd => "text_without_end",
            Self::TextLengthDiffers => "text_length_differs",
            Self::QuestionableDuration => "questionable_duration",
            Self::ClockWentBack => "clock_went_back",
            Self::NoTimes => "no_times",
            Self::RecursionLongerThanCall => "recursion_longer_than_call",
            Self::WaitsToldByName => "waits_told_by_name",
            Self::UnitAssumed => "unit_assumed",
            Self::EstimatedWaitTimes => "estimated_wait_times",
            Self::SizeLimited => "size_limited",
            Self::ContinuesElsewhere => "continues_elsewhere",
            Self::ContinuedFromElsewhere => "continued_from_elsewhere",
            Self::SessionsOverlap => "sessions_overlap",
            Self::SessionsMerged => "sessions_merged",
            Self::StatementsMerged => "statements_merged",
            Self::TextsCut => "texts_cut",
            Self::EventsMerged => "events_merged",
            Self::TargetsMerged => "targets_merged",
            Self::CallTreeMerged => "call_tree_merged",
            Self::CursorsForgotten => "cursors_forgotten",
            Self::HistogramsMissing => "histograms_missing",
            Self::PlansMissing => "plans_missing",
            Self::BindsMissing => "binds_missing",
            Self::ErrorsMerged => "errors_merged",
            Self::InputBroken => "input_broken",
            Self::NotATrace => "not_a_trace",
        }
    }
}

/// How often, and where first; line 0 where it is of no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noticed {
    pub count: u64,
    pub line: u64,
}

/// All notes of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub all: BTreeMap<Note, Noticed>,
}

impl Notes {
    pub(super) fn add(&mut self, note: Note, line: u64) {
        self.add_many(note, 1, line);
    }

    pub(super) fn add_many(&mut self, note: Note, count: u64, line: u64) {
        if count > 0 {
            self.all.entry(note).or_insert(Noticed { count: 0, line }).count += count;
        }
    }
}

/// Lines that are no records, by their shape: digits as one `9`, at most so many bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct UnknownLines {
    pub shapes: BTreeMap<Vec<u8>, Noticed>,
    pub others: u64,
    room: Vec<u8>,
}

const SHAPE_BYTES: usize = 40;

impl UnknownLines {
    pub(super) fn add(&mut self, text: &[u8], line: u64) {
        self.room.clear();
        for byte in text.iter().take(SHAPE_BYTES) {
            let byte = if byte.is_ascii_digit() { b'9' } else { *byte };
            if byte != b'9' || self.room.last() != Some(&b'9') {
                self.room.push(byte);
            }
        }
        if let Some(noticed) = self.shapes.get_mut(&self.room) {
            noticed.count += 1;
        } else if self.shapes.len() < SHAPES_MAX {
            self.shapes.insert(self.room.clone(), Noticed { count: 1, line });
        } else {
            self.others += 1;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.others + self.shapes.values().map(|noticed| noticed.count).sum::<u64>()
    }
}
