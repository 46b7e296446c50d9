//! `[otlp]`: the collector that the server sends its spans to.

use super::{Error, filled};
use domain::limit::OTLP_SERVICE_NAME_CHARS_MAX;
use serde::Deserialize;
use url::Url;

/// Name of the service when no one says.
const SERVICE_NAME_DEFAULT: &str = "shiftbook";
/// Share of the traces that are exported when no one says: all.
const SAMPLE_RATIO_DEFAULT: f64 = 1.0;
/// Path of a collector that takes spans.
const TRACES_PATH: &str = "v1/traces";
/// Standard variables of OTLP that hold headers, which can be credentials.
pub(super) const HEADER_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

/// Options of `serve` for the export of spans.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OtlpFlags {
    /// Send spans to this OpenTelemetry collector (OTLP, protobuf over HTTP), e.g. http://127.0.0.1:4318
    #[arg(long, env = "SHIFTBOOK_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// Name of this service in traces [default: shiftbook]
    #[arg(long, env = "SHIFTBOOK_OTLP_SERVICE_NAME", value_name = "NAME")]
    pub otlp_service_name: Option<String>,
    /// Share of the traces that are sent, 0 to 1 [default: 1]
    #[arg(long, env = "SHIFTBOOK_OTLP_SAMPLE_RATIO", value_name = "RATIO")]
    pub otlp_sample_ratio: Option<String>,
}

/// The table of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OtlpFile {
    endpoint: Option<String>,
    service_name: Option<String>,
    sample_ratio: Option<f64>,
}

/// Where and what the server exports.
#[derive(Debug, Clone, PartialEq)]
pub struct OtlpSettings {
    /// Address that takes spans, with its path.
    pub endpoint: String,
    /// Name of this service in traces, 1 to [`OTLP_SERVICE_NAME_CHARS_MAX`] characters.
    pub service_name: String,
    /// Share of the traces that are exported, 0 to 1.
    pub sample_ratio: f64,
}

/// The settings, if there is a collector: a flag over the file over the standard variables of OpenTelemetry.
pub(super) fn settings(
    flags: OtlpFlags,
    file: OtlpFile,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<OtlpSettings>, Error> {
    let standard = |name| filled(variable(name));
    let endpoint = filled(flags.otlp_endpoint).or(filled(file.endpoint));
    let Some(endpoint) = endpoint.or_else(|| standard("OTEL_EXPORTER_OTLP_ENDPOINT")) else { return Ok(None) };
    let service_name = filled(flags.otlp_service_name).or(filled(file.service_name));
    let service_name = service_name.or_else(|| standard("OTEL_SERVICE_NAME"));
    let service_name = service_name.unwrap_or_else(|| SERVICE_NAME_DEFAULT.into());
    if service_name.chars().count() > OTLP_SERVICE_NAME_CHARS_MAX {
        let limit = format!("otlp.service_name has more than {OTLP_SERVICE_NAME_CHARS_MAX} characters");
        return Err(Error::Value(limit));
    }
    let sample_ratio = match (filled(flags.otlp_sample_ratio), file.sample_ratio) {
        (Some(text), _) => ratio(&text)?,
        (None, Some(ratio)) => checked(ratio, &ratio.to_string())?,
        (None, None) => match standard("OTEL_TRACES_SAMPLER_ARG") {
            Some(text) => ratio(&text)?,
            None => SAMPLE_RATIO_DEFAULT,
        },
    };
    Ok(Some(OtlpSettings { endpoint: traces_url(&endpoint)?, service_name, sample_ratio }))
}

/// The address for spans below that of a collector.
fn traces_url(text: &str) -> Result<String, Error> {
    let refused = |why: &str| Error::Value(format!("otlp.endpoint is not of the form http[s]://host[:port]: {why}"));
    let url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("it begins with http:// or https://"));
    }
    // The address is printed and logged.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it has a name or a password; set OTEL_EXPORTER_OTLP_HEADERS instead"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("it has a query or a fragment"));
    }
    let base = url.as_str().trim_end_matches('/');
    let is_complete = url.path().trim_end_matches('/').ends_with(TRACES_PATH);
    Ok(if is_complete { base.to_owned() } else { format!("{base}/{TRACES_PATH}") })
}

fn ratio(text: &str) -> Result<f64, Error> {
    checked(text.trim().parse().unwrap_or(f64::NAN), text)
}

fn checked(ratio: f64, text: &str) -> Result<f64, Error> {
    if (0.0..=1.0).contains(&ratio) {
        Ok(ratio)
    } else {
        Err(Error::Value(format!("otlp.sample_ratio `{text}` is not a number from 0 to 1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(flags: OtlpFlags, file: &str, variables: &[(&str, &str)]) -> Result<Option<OtlpSettings>, String> {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
        settings(flags, toml::from_str(file).unwrap(), variable).map_err(|error| error.to_string())
    }

    fn flags(endpoint: &str) -> OtlpFlags {
        OtlpFlags { otlp_endpoint: Some(endpoint.to_owned()), ..OtlpFlags::default() }
    }

    #[test]
    fn nothing_is_exported_without_a_collector() {
        assert_eq!(from(OtlpFlags::default(), "", &[]), Ok(None));
        let named = "service_name = \"log\"\nsample_ratio = 0.5";
        assert_eq!(from(flags(" "), named, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), Ok(None));
    }

    #[test]
    fn a_flag_outranks_the_file_and_the_file_outranks_the_standard_variables() {
        let standard = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://standard:4318/"),
            ("OTEL_SERVICE_NAME", "standard"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ];
        let all = |endpoint: &str, service_name: &str, sample_ratio| {
            let (endpoint, service_name) = (endpoint.to_owned(), service_name.to_owned());
            Ok(Some(OtlpSettings { endpoint, service_name, sample_ratio }))
        };
        let from_variables = from(OtlpFlags::default(), "", &standard);
        assert_eq!(from_variables, all("http://standard:4318/v1/traces", "standard", 0.25));
        let file = "endpoint = \"https://file/otlp\"\nservice_name = \"file\"\nsample_ratio = 0.5";
        let from_file = from(OtlpFlags::default(), file, &standard);
        assert_eq!(from_file, all("https://file/otlp/v1/traces", "file", 0.5));
        let flags = OtlpFlags {
            otlp_service_name: Some("flag".into()),
            otlp_sample_ratio: Some("0".into()),
            ..flags("http://flag/v1/traces")
        };
        assert_eq!(from(flags, file, &standard), all("http://flag/v1/traces", "flag", 0.0));
    }

    #[test]
    fn values_that_cannot_work_are_refused_without_their_secrets() {
        for bad in ["collector:4318", "ftp://collector", "127.0.0.1", "http://c/?a=b", "http://c/#f"] {
            let refused = from(flags(bad), "", &[]).unwrap_err();
            assert!(refused.starts_with("otlp.endpoint is not of the form"), "{refused}");
        }
        let refused = from(flags("http://log:secret@c"), "", &[]).unwrap_err();
        assert!(refused.contains("OTEL_EXPORTER_OTLP_HEADERS") && !refused.contains("secret"), "{refused}");
        for bad in ["1.1", "-0.1", "NaN", "half"] {
            let refused = from(OtlpFlags { otlp_sample_ratio: Some(bad.into()), ..flags("http://c") }, "", &[]);
            assert_eq!(refused.unwrap_err(), format!("otlp.sample_ratio `{bad}` is not a number from 0 to 1"));
        }
        assert!(from(flags("http://c"), "sample_ratio = 2.0", &[]).is_err());
        let longest = "n".repeat(OTLP_SERVICE_NAME_CHARS_MAX);
        assert!(from(flags("http://c"), &format!("service_name = \"{longest}\""), &[]).is_ok());
        assert!(from(flags("http://c"), &format!("service_name = \"{longest}n\""), &[]).is_err());
    }
}
