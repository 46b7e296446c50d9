//! Images of character cards: what their compressed chunks unpack to is bounded, and refused by the chunk's name.

use crate::memory::AGENT;
use domain::{limit::MEMORY_CARD_UNPACKED_BYTES_MAX, memory::CardFormat};
use flate2::{Compression, write::ZlibEncoder};
use ledger::{Error, memory};
use std::io::Write as _;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    texts_and_profiles_that_unpack_to_too_much_are_refused_by_the_name_of_their_chunk,
    pixels_that_unpack_to_more_than_the_header_announces_are_refused,
    what_is_not_compressed_or_damaged_is_no_bomb,
);

/// One byte more than all texts and profiles may have together.
const MORE: usize = MEMORY_CARD_UNPACKED_BYTES_MAX as usize + 1;
/// What an image is refused for whose card is `{}`, when its chunks are not.
const IS_READ: &str = "`spec`";

/// So many zero bytes, compressed. As rows of an image their filter bytes are known.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; bytes]).unwrap();
    encoder.finish().unwrap()
}

fn chunk(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let data = parts.concat();
    let checksum = crc32fast::hash(&[&kind[..], &data].concat());
    let length = u32::try_from(data.len()).unwrap();
    [&length.to_be_bytes()[..], kind, &data, &checksum.to_be_bytes()].concat()
}

/// A grey image of 8 by 8 pixels with the card `{}`, with these chunks before the pixels.
fn image(before: &[Vec<u8>], pixels: &[u8], interlaced: u8) -> Vec<u8> {
    let header = [0, 0, 0, 8, 0, 0, 0, 8, 8, 0, 0, 0, interlaced];
    let whole = [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[&header]),
        before.concat(),
        chunk(b"IDAT", &[pixels]),
        chunk(b"tEXt", &[b"chara\0e30="]),
        chunk(b"IEND", &[]),
    ];
    whole.concat()
}

/// Why a card is refused.
async fn refused(f: &Fixture, image: Vec<u8>) -> String {
    let outcome = memory::upload_card(&f.ledger, &f.operator, AGENT, CardFormat::Png, image).await;
    let Err(Error::Invalid(issues)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(issues[0].field, "card");
    issues[0].message.clone()
}

async fn texts_and_profiles_that_unpack_to_too_much_are_refused_by_the_name_of_their_chunk(f: Fixture) {
    let bomb = zeros(MORE);
    assert!(bomb.len() < MORE / 500, "it is small before it is unpacked");
    for (name, bad) in [
        ("zTXt", chunk(b"zTXt", &[b"chara\0\0", &bomb])),
        ("zTXt", chunk(b"zTXt", &[b"Comment\0\0", &bomb])),
        ("iTXt", chunk(b"iTXt", &[b"ccv3\0\x01\0en\0\0", &bomb])),
        ("iCCP", chunk(b"iCCP", &[b"sRGB\0\0", &bomb])),
    ] {
        let why = refused(&f, image(&[bad], &zeros(72), 0)).await;
        assert!(why.contains(&format!("`{name}`")) && why.contains("8388608"), "{name}: {why}");
    }
    let half = chunk(b"zTXt", &[b"Comment\0\0", &zeros(MORE / 2 + 1)]);
    let two = image(&[half.clone(), half.clone()], &zeros(72), 0);
    assert!(refused(&f, two).await.contains("`zTXt`"), "together");
    assert!(refused(&f, image(&[half], &zeros(72), 0)).await.contains(IS_READ));
    f.done().await;
}

async fn pixels_that_unpack_to_more_than_the_header_announces_are_refused(f: Fixture) {
    // 8 rows of 8 pixels with a filter byte each. Interlaced there are 15 rows.
    for (interlaced, bytes) in [(0, 72), (1, 64 + 15)] {
        assert!(refused(&f, image(&[], &zeros(bytes), interlaced)).await.contains(IS_READ));
        let why = refused(&f, image(&[], &zeros(bytes + 1), interlaced)).await;
        assert!(why.contains("`IDAT`") && why.contains(&format!("{bytes} bytes")), "{why}");
    }
    assert!(refused(&f, image(&[], &zeros(MORE), 0)).await.contains("`IDAT`"));
    f.done().await;
}

async fn what_is_not_compressed_or_damaged_is_no_bomb(f: Fixture) {
    let plain = chunk(b"iTXt", &[b"Comment\0\0\0en\0\0plain text"]);
    assert!(refused(&f, image(&[plain], &zeros(72), 0)).await.contains(IS_READ));
    for bad in [&b""[..], b"zTXt", b"x\0", b"x\0\0", b"x\0\0\xff\xff", b"x\0\x01\0\0"] {
        let chunks = [b"zTXt", b"iTXt", b"iCCP"].map(|kind| chunk(kind, &[bad]));
        let why = refused(&f, image(&chunks, &zeros(72), 0)).await;
        assert!(!why.contains("unpacks"), "{bad:?}: {why}");
    }
    let whole = image(&[], &zeros(72), 0);
    for cut in 8..whole.len() - 12 {
        let why = refused(&f, whole[..cut].to_vec()).await;
        assert!(why.contains("PNG"), "{cut}: {why}");
    }
    f.done().await;
}
