//! A unit of work allocates nothing: a trial of many units allocates as much as one of few.

mod server;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use dbdyno_core::load::run_trial;
use serde_json::{Value, json};
use server::{Server, take_turn};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counting for all threads.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps alloc's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, hence from System, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const SCRIPT: &str = "\\set id random(1, 1000)\n\\if :id > 500\nSELECT :id, 'some text' AS name, 2.5::float8;\n\\else\n\
                      SELECT id FROM generate_series(1, 50) AS id WHERE id < :id;\n\\endif\n";
const PIPELINE: &str = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\n";

/// How long a trial is.
enum Length {
    Window { ms: u64 },
    Work { units: u64 },
}

/// Units and allocations of one trial.
fn cost(server: &Server, script: &str, changes: &Value, length: Length) -> (u64, u64) {
    let mut changes = changes.clone();
    match length {
        Length::Window { ms } => changes["window_ns"] = json!(ms * 1_000_000),
        Length::Work { units } => {
            changes["fixed_units"] = json!(units);
            changes["window_ns"] = json!(60_000_000_000_u64);
        }
    }
    changes["series_step_ns"] = json!(10_000_000_000_u64);
    let spec = server.trial_spec(script, changes);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let outcome = run_trial(&spec, None, None).expect("a trial");
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    let outcome: Value = serde_json::from_str(&outcome).expect("JSON");
    (outcome["units"]["successful"].as_u64().expect("a count"), allocations)
}

#[test]
fn units_of_work_allocate_nothing() {
    let Some(server) = take_turn() else { return };
    let open = json!({"kind": "open", "process": "poisson", "start_per_s": 2000, "end_per_s": 2000});
    let exponential = json!({"kind": "closed", "think_time_ns": 200_000, "think_time_distribution": "exponential"});
    let cases = [
        (SCRIPT, json!({"mode": "prepared"})),
        (SCRIPT, json!({"mode": "extended"})),
        (SCRIPT, json!({"mode": "simple", "max_tries": 3})),
        (SCRIPT, json!({"arrival": open})),
        (PIPELINE, json!({"mode": "prepared"})),
        (SCRIPT, json!({"arrival": exponential})),
    ];
    for (script, changes) in cases {
        let few = cost(&server, script, &changes, Length::Window { ms: 50 });
        let many = cost(&server, script, &changes, Length::Window { ms: 800 });
        allocates_nothing(few, many, &changes);
    }
    for changes in [json!({"threads": 2}), json!({"fetch_rows": 1}), json!({"fetch_rows": 20, "mode": "extended"})] {
        let few = cost(&server, SCRIPT, &changes, Length::Work { units: 50 });
        let many = cost(&server, SCRIPT, &changes, Length::Work { units: 600 });
        allocates_nothing(few, many, &changes);
    }
}

fn allocates_nothing((few, allocations_of_few): (u64, u64), (many, allocations_of_many): (u64, u64), changes: &Value) {
    assert!(many > few + 300, "{changes}: {few} and {many} units");
    // Room for what grows once and for the size of encoded histograms.
    assert!(
        allocations_of_many < allocations_of_few + (many - few) / 5,
        "{changes}: {few} units allocated {allocations_of_few} times, {many} units {allocations_of_many} times"
    );
}
