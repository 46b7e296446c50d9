//! Parses the options of exports, for the command line and for the page.

use chrono::{DateTime, NaiveDate, Utc};
use datalake::export::{CONFIDENCE_MAX, SHARE_WHOLE, VALIDATION_SHARE_MAX};
use domain::Timestamp;

/// Parses a day (its midnight in UTC) or an instant in RFC 3339.
pub fn instant(text: &str) -> Result<Timestamp, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc());
    }
    let instant = DateTime::parse_from_rfc3339(text);
    let expected = "a day such as 2026-02-26, or an instant such as 2026-02-26T10:00:00Z";
    instant.map(|instant| instant.with_timezone(&Utc)).map_err(|_| expected.to_owned())
}

/// Parses a confidence in thousandths, 0 to [`CONFIDENCE_MAX`].
pub fn confidence(text: &str) -> Result<u16, String> {
    let confidence = text.parse().ok().filter(|confidence| *confidence <= CONFIDENCE_MAX);
    confidence.ok_or_else(|| format!("a whole number from 0 to {CONFIDENCE_MAX}"))
}

/// Parses a share such as 0.1 and returns it in thousandths.
pub fn share(text: &str) -> Result<u16, String> {
    let most = f64::from(VALIDATION_SHARE_MAX) / f64::from(SHARE_WHOLE);
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=most).contains(share));
    let expected = || format!("a share from 0 to {most}, such as 0.1");
    // The share is within its bounds, so the cast does not overflow.
    share.map(|share| (share * f64::from(SHARE_WHOLE)).round() as u16).ok_or_else(expected)
}

/// Parses `yes` or `no`.
pub fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("yes or no".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_within_their_bounds() {
        assert_eq!(instant("2026-02-26").unwrap(), instant("2026-02-26T00:00:00Z").unwrap());
        assert_eq!(instant("2026-02-26T01:00:00+01:00").unwrap(), instant("2026-02-26").unwrap());
        assert!(instant("yesterday").unwrap_err().contains("2026-02-26"));
        assert_eq!((confidence("900"), confidence("1000").is_ok(), confidence("1001").is_err()), (Ok(900), true, true));
        assert_eq!((yes_or_no("yes"), yes_or_no("no"), yes_or_no("on").is_err()), (Ok(true), Ok(false), true));
        assert_eq!((share("0.1"), share("0"), share("0.0005")), (Ok(100), Ok(0), Ok(1)));
        assert!(share("0.95").is_err() && share("-1").is_err() && share("NaN").is_err() && share("10%").is_err());
    }
}
