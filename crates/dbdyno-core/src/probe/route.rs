//! How wait events are read: what may be asked for, what was used, and why the better ones were not.

use std::fmt;

use crate::error::{CoreError, Result};

/// One way to a server's wait events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Loads from the server's shared memory, mapped here too through the kernel's `map_files`.
    Mapped,
    /// Loads from the server's shared memory, attached as the System V segment that it is.
    Sysv,
    /// One copy of the span of all backends' entries.
    Contiguous,
    /// The same copy through `/proc/PID/mem`.
    Mem,
    /// pg_stat_activity.
    Sql,
    /// Not at all; the clocks are still read.
    Off,
}

impl Route {
    /// The routes that read the server's memory, the cheapest first.
    pub const OVER_MEMORY: [Route; 4] = [Route::Mapped, Route::Sysv, Route::Contiguous, Route::Mem];

    const ALL: [Route; 6] = [Route::Mapped, Route::Sysv, Route::Contiguous, Route::Mem, Route::Sql, Route::Off];

    fn word(self) -> &'static str {
        match self {
            Route::Mapped => "mapped",
            Route::Sysv => "sysv",
            Route::Contiguous => "contiguous",
            Route::Mem => "mem",
            Route::Sql => "sql",
            Route::Off => "off",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteRequest {
    /// The first that works.
    Auto,
    /// This one.
    Only(Route),
}

impl RouteRequest {
    /// A word of the trial spec.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(RouteRequest::Auto);
        }
        let route = Route::ALL.into_iter().find(|route| route.word() == text).ok_or_else(|| {
            let words = "auto, mapped, sysv, contiguous, mem, sql or off";
            CoreError::new("spec_invalid", format!("waits.route: {text:?}; must be {words}"))
        })?;
        Ok(RouteRequest::Only(route))
    }

    /// The routes over memory that may be tried, in this order.
    pub fn over_memory(self) -> Vec<Route> {
        Route::OVER_MEMORY.into_iter().filter(|&route| self.allows(route)).collect()
    }

    /// Whether this route may be used.
    pub fn allows(self, route: Route) -> bool {
        match self {
            RouteRequest::Auto => route != Route::Off,
            RouteRequest::Only(only) => only == route,
        }
    }
}

/// Why routes did not work, in the order in which they were tried.
#[derive(Clone, Debug, Default)]
pub struct Reasons(Vec<String>);

impl Reasons {
    /// A cause that concerns all routes.
    pub fn add(&mut self, cause: String) {
        self.0.push(cause);
    }

    /// Routes that fail for one cause share its line: `mapped, contiguous: cause`.
    pub fn add_route(&mut self, route: Route, cause: &str) {
        match self.0.last_mut().and_then(|reason| Some((reason.strip_suffix(cause)?.strip_suffix(": ")?, reason.len())))
        {
            Some((routes, _)) => {
                let joined = format!("{routes}, {route}: {cause}");
                *self.0.last_mut().expect("it was there") = joined;
            }
            None => self.0.push(format!("{route}: {cause}")),
        }
    }

    /// The line of a cause for which none of these routes can work.
    pub fn of_all(&mut self, routes: &[Route], cause: &str) -> String {
        routes.iter().for_each(|&route| self.add_route(route, cause));
        self.line().unwrap_or_else(|| cause.to_owned())
    }

    /// One line; `None` if nothing failed.
    pub fn line(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_routes_belong_together() {
        for route in Route::ALL {
            assert_eq!(RouteRequest::parse(&route.to_string()).unwrap(), RouteRequest::Only(route));
        }
        assert_eq!(RouteRequest::parse("auto").unwrap().over_memory(), Route::OVER_MEMORY);
        assert_eq!(RouteRequest::Only(Route::Mem).over_memory(), [Route::Mem]);
        assert_eq!(RouteRequest::Only(Route::Sql).over_memory(), []);
        let error = RouteRequest::parse("iovec").unwrap_err();
        assert!(error.message.contains("\"iovec\"; must be auto, mapped, sysv,"), "{error}");
    }

    #[test]
    fn routes_that_fail_alike_share_a_line() {
        let mut reasons = Reasons::default();
        assert_eq!(reasons.line(), None);
        reasons.add_route(Route::Mapped, "not allowed");
        reasons.add_route(Route::Sysv, "not one");
        reasons.add_route(Route::Contiguous, "gone: quite");
        reasons.add_route(Route::Mem, "gone: quite");
        assert_eq!(reasons.line().unwrap(), "mapped: not allowed; sysv: not one; contiguous, mem: gone: quite");
    }
}
