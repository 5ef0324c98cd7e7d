//! Blanks passwords in this process's own argument list, which every user of the machine can read.
//!
//! The kernel shows `/proc/PID/cmdline` straight from the process's memory between `arg_start` and `arg_end`
//! (fields 48 and 49 of `/proc/self/stat`), so overwriting those bytes is enough, and their number stays the same.

use std::fs;

/// Overwrites the password of every `scheme://user:password@host` argument with `x`. Does nothing where the
/// kernel does not tell where the arguments lie.
pub fn overwrite_passwords() {
    let Some((start, end)) = argument_area() else { return };
    // SAFETY: the kernel says that start..end is this process's argument area, which lives as long as the process.
    // The interpreter has made its own copies of the arguments and no longer reads these bytes.
    let area = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, end - start) };
    for argument in area.split_mut(|&byte| byte == 0) {
        if let Some(range) = password_range(argument) {
            argument[range].fill(b'x');
        }
    }
}

fn argument_area() -> Option<(usize, usize)> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The command name may hold blanks and parentheses: fields are counted from the last parenthesis (field 3 on).
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let start = fields.get(48 - 3)?.parse().ok()?;
    let end = fields.get(49 - 3)?.parse().ok()?;
    (start != 0 && start < end).then_some((start, end))
}

/// Where the password of a URL stands: between the first `:` behind `://` and the last `@` before the path, or in
/// a `password=` parameter.
fn password_range(argument: &[u8]) -> Option<std::ops::Range<usize>> {
    let authority = find(argument, b"://")? + 3;
    if let Some(parameter) = find(argument, b"password=") {
        let begin = parameter + b"password=".len();
        let length = argument[begin..].iter().position(|&byte| byte == b'&').unwrap_or(argument.len() - begin);
        return Some(begin..begin + length);
    }
    let length =
        argument[authority..].iter().position(|byte| b"/?#".contains(byte)).unwrap_or(argument.len() - authority);
    let at = authority + argument[authority..authority + length].iter().rposition(|&byte| byte == b'@')?;
    let colon = authority + argument[authority..at].iter().position(|&byte| byte == b':')?;
    Some(colon + 1..at)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::password_range;

    fn password(argument: &str) -> Option<&str> {
        password_range(argument.as_bytes()).map(|range| &argument[range])
    }

    #[test]
    fn finds_the_password_and_nothing_else() {
        assert_eq!(password("postgres://u:s3cret@host/db"), Some("s3cret"));
        assert_eq!(password("--target=postgresql://u:p:q@host:5432/db?sslmode=require"), Some("p:q"));
        assert_eq!(password("postgres://u:a@b@host/db"), Some("a@b"));
        assert_eq!(password("postgres://host/db?user=u&password=abc&sslmode=disable"), Some("abc"));
        assert_eq!(password("postgres://u@host/db"), None);
        assert_eq!(password("postgres://host:5432/db"), None);
        assert_eq!(password("commit-write"), None);
    }
}
