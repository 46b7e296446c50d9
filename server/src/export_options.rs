//! How options of exports are typed, on the command line and on the page.

use chrono::{DateTime, NaiveDate, Utc};
use datalake::export::{CONFIDENCE_MAX, SHARE_WHOLE, VALIDATION_SHARE_MAX};
use domain::Timestamp;

/// A day, which begins at midnight UTC, or an instant.
pub fn instant(text: &str) -> Result<Timestamp, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc());
    }
    let instant = DateTime::parse_from_rfc3339(text);
    let expected = "a day such as 2026-02-26, or an instant such as 2026-02-26T10:00:00Z";
    instant.map(|instant| instant.with_timezone(&Utc)).map_err(|_| expected.to_owned())
}

/// A confidence in thousandths.
pub fn confidence(text: &str) -> Result<u16, String> {
    let confidence = text.parse().ok().filter(|confidence| *confidence <= CONFIDENCE_MAX);
    confidence.ok_or_else(|| format!("a whole number from 0 to {CONFIDENCE_MAX}"))
}

/// A share such as 0.1, in thousandths.
pub fn share(text: &str) -> Result<u16, String> {
    let most = f64::from(VALIDATION_SHARE_MAX) / f64::from(SHARE_WHOLE);
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=most).contains(share));
    let expected = || format!("a share from 0 to {most}, such as 0.1");
    // Within the bounds, so the cast loses nothing but the fraction.
    share.map(|share| (share * f64::from(SHARE_WHOLE)).round() as u16).ok_or_else(expected)
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
        assert_eq!((share("0.1"), share("0"), share("0.0005")), (Ok(100), Ok(0), Ok(1)));
        assert!(share("0.95").is_err() && share("-1").is_err() && share("NaN").is_err() && share("10%").is_err());
    }
}
