//! The HTML with which another page embeds a form.

/// HTML to copy into another page: a frame with the form, and a script that makes the frame as high as the form says.
/// The script believes only messages of that frame and of this server, and only plausible heights.
pub fn snippet(origin: &str, secret: &str) -> String {
    let id: String = secret.chars().skip(4).take(8).collect();
    format!(
        "<iframe id=\"shiftbook-{id}\" src=\"{origin}/embed/{secret}\" title=\"Form\" width=\"100%\" height=\"600\" \
         style=\"border:0\" loading=\"lazy\"></iframe>\n\
         <script>\n\
         addEventListener(\"message\", function (e) {{\n\
         \x20 var frame = document.getElementById(\"shiftbook-{id}\"), m = e.data;\n\
         \x20 if (e.origin !== \"{origin}\" || e.source !== frame.contentWindow) return;\n\
         \x20 if (m && m.type === \"shiftbook:height\" && m.v === 1 && m.height >= 100 && m.height <= 10000) \
         frame.height = m.height;\n\
         }});\n\
         </script>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_believes_one_frame_and_one_origin() {
        let html = snippet("https://log.example.org", "sbf_abcdefghijk_x");
        assert!(html.contains("src=\"https://log.example.org/embed/sbf_abcdefghijk_x\""), "{html}");
        assert!(html.contains("e.origin !== \"https://log.example.org\"") && html.contains("shiftbook-abcdefgh"));
    }
}
