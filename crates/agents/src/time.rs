//! Parses times as hosts write them: ISO 8601 in UTC or with an offset, or the seconds or
//! milliseconds since 1970.

use model::Timestamp;
use serde_json::Value;

/// Numbers below this are seconds (until the year 5138), others milliseconds (since 1973).
const MIN_MILLIS: i64 = 100_000_000_000;

/// Parses `2026-01-05T13:29:29.121Z`, `2026-01-16 16:26:02Z`, seconds or milliseconds.
pub fn parse_time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => parse_iso(text),
        Value::Number(number) => {
            let number = number.as_i64()?;
            Some(Timestamp(if number.abs() < MIN_MILLIS { number * 1000 } else { number }))
        }
        _ => None,
    }
}

/// Parses an ISO 8601 date, with or without a time.
pub(crate) fn parse_iso(text: &str) -> Option<Timestamp> {
    /// Length of `2026-01-05T13:29:29`, whose fields have fixed columns.
    const SECONDS_END: usize = 19;
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // A bare date is midnight.
    let (hour, minute) = (number(11, 13).unwrap_or(0), number(14, 16).unwrap_or(0));
    let second = number(17, SECONDS_END).unwrap_or(0);
    // Seconds may have a fraction of any length, and an offset may follow.
    let mut rest = text.get(SECONDS_END.min(text.len())..).unwrap_or_default();
    let mut millis = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let n_digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        // Exactly three digits: shorter fractions are padded, longer ones cut.
        let three: String = fraction[..n_digits].chars().chain("000".chars()).take(3).collect();
        millis = three.parse::<i64>().unwrap_or(0);
        rest = &fraction[n_digits..];
    }
    let seconds = (hour * 60 + minute) * 60 + second - utc_offset_seconds(rest);
    Some(Timestamp::of_day(year, month, day).plus_millis(seconds * 1000 + millis))
}

/// Seconds east of UTC: `+02:00`, `-0700`.
fn utc_offset_seconds(text: &str) -> i64 {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        // `Z`, or no offset: UTC.
        _ => return 0,
    };
    let digits: Vec<i64> =
        text.bytes().filter(u8::is_ascii_digit).map(|it| i64::from(it - b'0')).collect();
    let [hour_tens, hour_ones, minute_tens, minute_ones] = digits[..] else { return 0 };
    let (hours, minutes) = (hour_tens * 10 + hour_ones, minute_tens * 10 + minute_ones);
    sign * (hours * 3600 + minutes * 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_parsed_in_all_formats() {
        let millis = |value: Value| parse_time(&value).map(|it| it.0);
        assert_eq!(millis(json!("1970-01-02T00:00:00Z")), Some(86_400_000));
        assert_eq!(millis(json!("2026-01-05T13:29:29.121Z")), Some(1_767_619_769_121));
        assert_eq!(millis(json!("2026-01-05 15:29:29.121999+02:00")), Some(1_767_619_769_121));
        assert_eq!(millis(json!(1_781_750_090)), Some(1_781_750_090_000));
        assert_eq!(millis(json!(1_782_352_242_556_i64)), Some(1_782_352_242_556));
        assert_eq!(millis(json!("soon")), None);
        assert_eq!(millis(json!("2026-13-05T00:00:00Z")), None);
    }
}
