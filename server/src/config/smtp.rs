//! `[smtp]`: the server that e-mail goes out through.

use super::{Error, PublicUrl};
use runner::mail::{MailSettings, MailTls};
use serde::Deserialize;
use std::net::IpAddr;

/// The table of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SmtpFile {
    host: String,
    port: Option<u16>,
    #[serde(default)]
    tls: SmtpTls,
    from: String,
    username: Option<String>,
    /// The variable that holds the password: it is not for files that are passed around.
    pub(super) password_env: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SmtpTls {
    #[default]
    StartTls,
    Implicit,
    None,
}

/// What e-mail needs. `variable` reads the environment.
pub(super) fn settings(
    file: SmtpFile,
    public_url: Option<&PublicUrl>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<MailSettings, Error> {
    let refused = |text: String| Error::Value(text);
    let Some(public_url) = public_url else {
        return Err(refused("[smtp] needs public_url: every e-mail has a link".into()));
    };
    let (tls, usual_port) = match file.tls {
        SmtpTls::StartTls => (MailTls::StartTls, 587),
        SmtpTls::Implicit => (MailTls::Implicit, 465),
        SmtpTls::None => (MailTls::None, 25),
    };
    let credentials = match (file.username, file.password_env) {
        (None, None) => None,
        (Some(username), Some(name)) => {
            let password = variable(&name).filter(|password| !password.is_empty());
            let password =
                password.ok_or_else(|| refused(format!("smtp.password_env: the variable {name} is not set")))?;
            Some((username, password))
        }
        _ => return Err(refused("smtp.username and smtp.password_env come together".into())),
    };
    if credentials.is_some() && tls == MailTls::None && !is_this_machine(&file.host) {
        return Err(refused(format!("smtp.tls = \"none\" would send the password to {} in the clear", file.host)));
    }
    Ok(MailSettings {
        host: file.host,
        port: file.port.unwrap_or(usual_port),
        tls,
        from: file.from,
        credentials,
        public_origin: public_url.origin().to_owned(),
    })
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MailSettings, String> {
        let file = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let variable = |name: &str| (name == "SMTP_PASSWORD").then(|| "secret".to_owned());
        let public_url = PublicUrl::parse("https://log.example.org").unwrap();
        settings(file, Some(&public_url), variable).map_err(|error| error.to_string())
    }

    #[test]
    fn the_usual_settings_are_short() {
        let short = read("host = \"mail.example.org\"\nfrom = \"log@example.org\"").unwrap();
        assert_eq!((short.port, short.tls, short.credentials), (587, MailTls::StartTls, None));
        let full = "host = \"m\"\nport = 2465\ntls = \"implicit\"\nfrom = \"l@e\"\nusername = \"u\"\npassword_env = \"SMTP_PASSWORD\"";
        let full = read(full).unwrap();
        assert_eq!((full.port, full.tls), (2465, MailTls::Implicit));
        assert_eq!(full.credentials, Some(("u".into(), "secret".into())));
    }

    #[test]
    fn settings_that_would_fail_later_or_leak_are_refused_now() {
        let base = "host = \"m\"\nfrom = \"l@e\"\n";
        for (more, what) in [
            ("username = \"u\"", "smtp.username and smtp.password_env come together"),
            ("username = \"u\"\npassword_env = \"OTHER\"", "smtp.password_env: the variable OTHER is not set"),
            ("tls = \"none\"\nusername = \"u\"\npassword_env = \"SMTP_PASSWORD\"", "in the clear"),
            ("tls = \"some\"", "unknown variant `some`"),
            ("password = \"p\"", "unknown field `password`"),
        ] {
            let refused = read(&format!("{base}{more}")).unwrap_err();
            assert!(refused.contains(what), "{more}: {refused}");
        }
        let file = toml::from_str(base).unwrap();
        assert!(settings(file, None, |_| None).unwrap_err().to_string().contains("public_url"));
        assert!(read("host = \"localhost\"\ntls = \"none\"\nfrom = \"l@e\"\nusername = \"u\"\npassword_env = \"SMTP_PASSWORD\"").is_ok());
    }
}
