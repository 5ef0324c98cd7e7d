//! Days and seconds since 2021-01-01 as dates: the data's own epoch, so that a seed means the same in any year.

/// Days from 0000-03-01 to the data's epoch, 2021-01-01, in the proleptic Gregorian calendar.
const EPOCH_DAYS: u64 = 738_096;
const DAYS_IN_400_YEARS: u64 = 146_097;

/// Year, month (from 1), day of the month (from 1).
pub(super) type Date = (u64, u64, u64);

/// The date `days` after 2021-01-01; negative ones lie before it.
///
/// Years that begin in March end with the leap day, so that the length of a month depends on its number only: five
/// months take 153 days.
pub(super) fn date(days: i64) -> Date {
    let since_march_0 = EPOCH_DAYS.checked_add_signed(days).expect("a date after the year 0");
    let era = since_march_0 / DAYS_IN_400_YEARS;
    let day_of_era = since_march_0 % DAYS_IN_400_YEARS;
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (2021, 1, 1));
        assert_eq!(date(-1), (2020, 12, 31));
        assert_eq!(date(-307), (2020, 2, 29));
        assert_eq!(date(364), (2021, 12, 31));
        assert_eq!(date(3 * 365 + 31 + 28), (2024, 2, 29));
        assert_eq!(date(-7671), (2000, 1, 1));
        assert_eq!(date(-18_628), (1970, 1, 1));
    }
}
