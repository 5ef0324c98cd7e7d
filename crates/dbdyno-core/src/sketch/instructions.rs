//! One source, compiled for what processors have: a wheel must run everywhere, and a loop over hashes is two to three
//! times as fast where eight of them fit into a register.

use std::sync::atomic::{AtomicU8, Ordering};

/// The instruction sets that the loops over blocks are compiled for. All give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// What every processor of this architecture has.
    Portable = 0,
    /// Four hashes at a time.
    Avx2 = 1,
    /// Eight hashes at a time, and a multiplication for them.
    Avx512 = 2,
}

/// As a number, [`NOT_ASKED`] until the processor was asked: looked at for every block.
static IN_USE: AtomicU8 = AtomicU8::new(NOT_ASKED);
const NOT_ASKED: u8 = u8::MAX;

impl Instructions {
    /// The best that this processor has, or less if so told.
    #[must_use]
    #[inline]
    pub fn in_use() -> Self {
        match IN_USE.load(Ordering::Relaxed) {
            0 => Self::Portable,
            1 => Self::Avx2,
            2 => Self::Avx512,
            _ => Self::Avx512.use_at_most(),
        }
    }

    /// From now on no more than these in the whole process, for tests and measurements; gives what is in use now.
    pub fn use_at_most(self) -> Self {
        let in_use = match self {
            Self::Avx512 if Self::has_avx512() => Self::Avx512,
            Self::Avx512 | Self::Avx2 if Self::has_avx2() => Self::Avx2,
            _ => Self::Portable,
        };
        IN_USE.store(in_use as u8, Ordering::Relaxed);
        in_use
    }

    #[cfg(target_arch = "x86_64")]
    fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("bmi2")
    }

    #[cfg(target_arch = "x86_64")]
    fn has_avx512() -> bool {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        wide && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512cd") && Self::has_avx2()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn has_avx2() -> bool {
        false
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn has_avx512() -> bool {
        false
    }
}

/// `fn name(arguments) -> result = portable | avx2 | avx512;` defines `name` so that it calls the one of the three for
/// the processor at hand. A body that is the same for all is `#[inline(always)]` and named once; what it calls must be
/// inlined, too, or it is what was compiled for every processor.
macro_rules! for_each_processor {
    (fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $body:path;) => {
        $crate::sketch::instructions::for_each_processor! {
            fn $name($($argument: $kind),*) $(-> $result)? = $body | $body | $body;
        }
    };
    (fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $portable:path | $avx2:path | $avx512:path;) => {
        #[inline]
        fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::sketch::instructions::Instructions;
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512cd,avx2,lzcnt,bmi2")]
                fn with_avx512($($argument: $kind),*) $(-> $result)? {
                    $avx512($($argument),*)
                }
                #[target_feature(enable = "avx2,lzcnt,bmi2")]
                fn with_avx2($($argument: $kind),*) $(-> $result)? {
                    $avx2($($argument),*)
                }
                match Instructions::in_use() {
                    // SAFETY: the processor has what the function was compiled for.
                    Instructions::Avx512 => return unsafe { with_avx512($($argument),*) },
                    // SAFETY: the processor has what the function was compiled for.
                    Instructions::Avx2 => return unsafe { with_avx2($($argument),*) },
                    Instructions::Portable => {}
                }
            }
            $portable($($argument),*)
        }
    };
}

pub(super) use for_each_processor;
