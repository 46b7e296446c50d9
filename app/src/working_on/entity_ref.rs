//! Finds the entity that a path is about. It is strict: a slug in place of a UUID is no match.

/// An entity, as named by a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityRef<'a> {
    /// UUID of the entity, as written.
    pub entity_id: &'a str,
    /// Slug of its type, if the path has one.
    pub entity_type: Option<&'a str>,
}

/// The entity of `/t/{tenantSlug}/{typeSlug}/{uuid}` or `/entities/{uuid}`; `None` for any other path.
pub fn extract_entity_ref_from_path(path: &str) -> Option<EntityRef<'_>> {
    let mut segments = path.strip_prefix('/')?.split('/');
    let found = match segments.next()? {
        "entities" => EntityRef { entity_id: segments.next()?, entity_type: None },
        "t" => {
            let (tenant, kind) = (segments.next()?, segments.next()?);
            if tenant.is_empty() || kind.is_empty() {
                return None;
            }
            EntityRef { entity_id: segments.next()?, entity_type: Some(kind) }
        }
        _ => return None,
    };
    (segments.next().is_none() && is_uuid(found.entity_id)).then_some(found)
}

/// Whether the text is a UUID in its 8-4-4-4-12 form.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn both_shapes_of_an_entity_page_name_their_entity() {
        let by_type = format!("/t/acme/companies/{ID}");
        let found = extract_entity_ref_from_path(&by_type).unwrap();
        assert_eq!((found.entity_id, found.entity_type), (ID, Some("companies")));
        let plain = format!("/entities/{}", ID.to_uppercase());
        let found = extract_entity_ref_from_path(&plain).unwrap();
        assert_eq!((found.entity_id, found.entity_type), (ID.to_uppercase().as_str(), None));
    }

    #[test]
    fn slugs_and_other_pages_are_no_entities() {
        for path in [
            "",
            "/",
            "/today",
            "/admin/tools",
            "/entities",
            "/entities/",
            "/entities/acme-corp",
            "/entities/01890a5dac96774bbcceb302099a8057",
            "/t/acme/companies",
            "/t/acme/companies/acme-corp",
        ] {
            assert_eq!(extract_entity_ref_from_path(path), None, "{path}");
        }
        for path in [
            format!("/sessions/{ID}"),
            format!("/entities/{ID}/edit"),
            format!("/entities/{ID}/"),
            format!("/t/acme/{ID}"),
            format!("/t//companies/{ID}"),
            format!("/t/acme//{ID}"),
            format!("/t/acme/companies/{ID}/history"),
            format!("entities/{ID}"),
            format!("/entities/{{{ID}}}"),
            format!("/entities/{}", ID.replace('a', "g")),
        ] {
            assert_eq!(extract_entity_ref_from_path(&path), None, "{path}");
        }
    }
}
