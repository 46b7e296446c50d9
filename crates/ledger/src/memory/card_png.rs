//! The text chunk of a PNG in which a character card is kept.

use super::card_unpack;
use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use domain::{
    limit::{MEMORY_CARD_PIXELS_MAX, MEMORY_CARD_UNPACKED_BYTES_MAX},
    memory::BadCard,
};
use png::{Decoder, DecodingError, Info, Limits};
use std::io::Cursor;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Most bytes that a compressed chunk unpacks to. [`card_unpack::check`] has bounded all chunks together before.
const UNPACKED_MAX: usize = MEMORY_CARD_UNPACKED_BYTES_MAX as usize;

/// Names of the chunks, the preferred one first.
const CHUNKS: [&str; 2] = ["ccv3", "chara"];

/// The first bytes of a PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What is wrong with an image, for people. The decoder's own texts have its names of types and fields in them.
const fn damage(error: &DecodingError) -> &'static str {
    match error {
        DecodingError::IoError(_) => "the file ends too early",
        DecodingError::Format(_) => "a part of it is damaged",
        DecodingError::Parameter(_) => "its parts do not fit together",
        DecodingError::LimitsExceeded => "a part of it is too large",
    }
}

/// Returns the JSON of the card in an image. The chunk of version 3 wins over that of version 2. The image is read to
/// its end, because cards are written behind the pixels; the pixels are not kept.
///
/// # Errors
/// [`BadCard`]
pub(super) fn json_of(image: &[u8]) -> Result<String, BadCard> {
    if !image.starts_with(SIGNATURE) {
        return Err(BadCard::Png("it does not begin as a PNG does"));
    }
    let damaged = |error: DecodingError| BadCard::Png(damage(&error));
    // Buffers of the decoder are bounded by the file, which is bounded itself.
    let limits = Limits { bytes: image.len().saturating_mul(2) + 1024 * 1024 };
    let mut decoder = Decoder::new_with_limits(Cursor::new(image), limits);
    let header = decoder.read_header_info().map_err(damaged)?;
    let (width, height) = (header.width, header.height);
    if u64::from(width) * u64::from(height) > MEMORY_CARD_PIXELS_MAX {
        return Err(BadCard::Pixels { width, height, max: MEMORY_CARD_PIXELS_MAX });
    }
    card_unpack::check(image)?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    let info = reader.info();
    let found = CHUNKS.iter().find_map(|name| Some((*name, text_of(info, name)?)));
    let (name, text) = found.ok_or(BadCard::NoChunk)?;
    // Some editors break the base64 into lines, as in e-mails, or leave out the padding.
    let text: String = text.map_err(damaged)?.split_ascii_whitespace().collect();
    let bytes = BASE64.decode(text).map_err(|_| BadCard::Chunk(name))?;
    String::from_utf8(bytes).map_err(|_| BadCard::Chunk(name))
}

/// The text of the first chunk with this name: as it is (tEXt), compressed (zTXt), or in UTF-8 and either (iTXt).
fn text_of(info: &Info<'_>, name: &str) -> Option<Result<String, DecodingError>> {
    let is_it = |keyword: &str| keyword.eq_ignore_ascii_case(name);
    if let Some(chunk) = info.uncompressed_latin1_text.iter().find(|chunk| is_it(&chunk.keyword)) {
        return Some(Ok(chunk.text.clone()));
    }
    if let Some(chunk) = info.compressed_latin1_text.iter().find(|chunk| is_it(&chunk.keyword)) {
        let mut chunk = chunk.clone();
        return Some(chunk.decompress_text_with_limit(UNPACKED_MAX).and_then(|()| chunk.get_text()));
    }
    let mut chunk = info.utf8_text.iter().find(|chunk| is_it(&chunk.keyword))?.clone();
    Some(chunk.decompress_text_with_limit(UNPACKED_MAX).and_then(|()| chunk.get_text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use png::text_metadata::{EncodableTextChunk, ITXtChunk, TEXtChunk, ZTXtChunk};

    /// A PNG of one pixel with these text chunks behind the pixels.
    fn image(width: u32, texts: &[(&str, &str)]) -> Vec<u8> {
        let chunks: Vec<_> = texts.iter().map(|(name, text)| TEXtChunk::new(*name, *text)).collect();
        image_with(width, &chunks)
    }

    fn image_with(width: u32, texts: &[impl EncodableTextChunk]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, 1);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&vec![0; width as usize]).unwrap();
        for text in texts {
            writer.write_text_chunk(text).unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn the_chunk_of_version_3_wins_and_names_are_compared_without_case() {
        let (two, three) = (STANDARD.encode("{\"v\":2}"), STANDARD.encode("{\"v\":3}"));
        let both = image(1, &[("Chara", &two), ("CCV3", &three), ("Comment", "x")]);
        assert_eq!(json_of(&both).unwrap(), "{\"v\":3}");
        assert_eq!(json_of(&image(1, &[("chara", &two)])).unwrap(), "{\"v\":2}");
    }

    #[test]
    fn a_card_is_found_in_every_kind_of_text_chunk() {
        let text = STANDARD.encode("{\"name\":\"Zoë\"}");
        let packed = ZTXtChunk::new("chara", text.as_str());
        let plain = ITXtChunk::new("ccv3", text.as_str());
        let mut both = ITXtChunk::new("chara", text.as_str());
        both.compress_text().unwrap();
        let images = [image_with(1, &[packed]), image_with(1, &[plain]), image_with(1, &[both])];
        for (kind, image) in ["zTXt", "iTXt", "compressed iTXt"].iter().zip(images) {
            assert_eq!(json_of(&image).as_deref(), Ok("{\"name\":\"Zoë\"}"), "{kind}");
        }
    }

    #[test]
    fn base64_can_have_line_breaks_and_no_padding() {
        let text = STANDARD.encode("{\"name\":\"A\", \"x\": 1}");
        let lines = format!("\r\n{}\n{}\r\n {}\n", &text[..8], &text[8..16], text[16..].trim_end_matches('='));
        assert_eq!(json_of(&image(1, &[("chara", &lines)])).unwrap(), "{\"name\":\"A\", \"x\": 1}");
    }

    #[test]
    fn images_that_are_no_cards_are_refused_by_name() {
        assert_eq!(json_of(&image(1, &[])), Err(BadCard::NoChunk));
        assert_eq!(json_of(&image(1, &[("chara", "%%%")])), Err(BadCard::Chunk("chara")));
        let not_utf8 = STANDARD.encode([0xff, 0xfe]);
        assert_eq!(json_of(&image(1, &[("chara", &not_utf8)])), Err(BadCard::Chunk("chara")));
        assert_eq!(json_of(b"GIF89a"), Err(BadCard::Png("it does not begin as a PNG does")));
        let whole = image(1, &[("chara", "e30=")]);
        for cut in [8, 20, whole.len() / 2, whole.len() - 1] {
            let why = json_of(&whole[..cut]).unwrap_err().to_string();
            let plain = ["ends too early", "is damaged", "fit together", "too large"];
            assert!(plain.iter().any(|part| why.ends_with(*part)), "{cut}: {why}");
        }
        let mut broken = whole;
        let at = broken.len() - 20;
        broken[at] ^= 0xff;
        assert!(json_of(&broken).is_err());
    }

    #[test]
    fn an_image_of_too_many_pixels_is_refused_before_it_is_unpacked() {
        let mut huge = image(1, &[("chara", "e30=")]);
        // Width and height of the header, and its checksum.
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        let checksum = crc32fast::hash(&huge[12..29]);
        huge[29..33].copy_from_slice(&checksum.to_be_bytes());
        assert!(matches!(json_of(&huge), Err(BadCard::Pixels { .. })));
    }
}
