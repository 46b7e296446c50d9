//! The gate `lead`: a person without an account gives a name and an e-mail address before the form.

use super::{
    cookie::{Browser, lead_cookie},
    enter::{Entry, Visitor, respondent},
};
use crate::{
    EntityRecord, EntityTypeRecord, Error, Ledger, Result, ViewLinkRecord,
    auth::Address,
    guard::Fields,
    response::{is_cancelled, published},
};
use domain::{
    Caller, Scope, Timestamp,
    entity::{FieldDef, FieldType, Values},
    id::{EntityId, EntityTypeId, ViewLinkId},
    limit::{NAME_CHARS_MAX, TITLE_CHARS_MAX},
    response::{Closed, LEAD_EMAIL, LEAD_TYPE, RespondentKind, check_open},
    view::Gate,
};
use store::{Access, WriteTx};
use uuid::Uuid;

/// What a person says about themselves. No one proves it.
#[derive(Debug, Clone, Default)]
pub struct NewLead {
    /// 1 to 200 characters on one line.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

/// Creates an entity of type `lead` from what a person says, and returns the value of the cookie that connects the
/// browser to it. A repeat from the same page of the same browser finds the entity again. Any other call creates one:
/// an address that no one proved must not connect a stranger to an earlier lead.
///
/// # Errors
/// [`Error::Invalid`] for a wrong name or address; those of [`respondent`]; [`Error::FormClosed`] if the form takes no
/// answer or does not ask for a name, and if its question was cancelled; [`Error::Unavailable`] while another request
/// creates the entity type of leads.
pub async fn capture_lead(ledger: &Ledger, link_id: ViewLinkId, entry: Entry<'_>, new: NewLead) -> Result<String> {
    let Visitor { link, respondent: who, .. } = respondent(ledger, link_id, entry).await?;
    let mut fields = Fields::default();
    fields.name("name", &new.name, NAME_CHARS_MAX);
    let email = Address::parse(&new.email).map(Address::into_string);
    if email.is_err() {
        fields.refuse("email", "an address such as ada@example.org");
    }
    fields.check()?;
    let (name, email, now) = (new.name.trim().to_owned(), email?, ledger.now());
    let key = ledger.instance_key()?;
    let browser = entry.browser.and_then(|cookie| Browser::of_cookie(key, cookie)).ok_or(Error::NotFound("form"))?;
    let page = entry.page_id.and_then(|page| Uuid::try_parse(page).ok());
    let of_page = page.and_then(|page| browser.lead(key, (link_id, page), (name.as_str(), email.as_str()), now));
    let id = of_page.unwrap_or_else(|| EntityId::new(now, ledger.entropy()));
    let type_id = EntityTypeId::new(now, ledger.entropy());
    let lead = NewEntities { id, type_id, name, email, by: who.caller().to_string(), now };
    let (access, tenant_id, of) = (Access::from(&Scope::system(link.tenant_id)), link.tenant_id, ledger.clone());
    let written = ledger.write(access, async move |tx| {
        require_lead_gate(&of, tx, &link, lead.now).await?;
        if store::entity::find(tx.conn(), tenant_id, id).await?.is_some() {
            return Ok(());
        }
        insert(tx, &link, lead).await
    });
    match written.await {
        // On PostgreSQL, a repeat at the same time fails when the first one commits.
        Err(error @ (Error::Internal(_) | Error::Unavailable(_))) if of_page.is_some() => {
            let made = ledger.store().read(access, async move |conn| store::entity::find(conn, tenant_id, id).await);
            made.await?.ok_or(error)?;
        }
        written => written?,
    }
    Ok(lead_cookie(key, link_id, browser, id))
}

struct NewEntities {
    id: EntityId,
    type_id: EntityTypeId,
    name: String,
    email: String,
    by: String,
    now: Timestamp,
}

async fn require_lead_gate(ledger: &Ledger, tx: &mut WriteTx<'_>, link: &ViewLinkRecord, now: Timestamp) -> Result<()> {
    let version = published(ledger, tx.conn(), link.tenant_id, link.view_id, link.request_id).await?;
    if version.publication.gate != Gate::Lead {
        return Err(Closed::WrongRespondent.into());
    }
    // A name and an address are not kept for an answer that no one takes.
    if is_cancelled(tx.conn(), link.tenant_id, link.request_id).await? {
        return Err(Closed::Cancelled.into());
    }
    let submitted = store::response::submitted(tx.conn(), link.tenant_id, link.view_id).await?;
    Ok(check_open(&version.publication, RespondentKind::Lead, submitted, now)?)
}

async fn insert(tx: &mut WriteTx<'_>, link: &ViewLinkRecord, lead: NewEntities) -> Result<()> {
    let tenant_id = link.tenant_id;
    let of_type = match store::entity_type::find_by_slug(tx.conn(), tenant_id, LEAD_TYPE).await? {
        Some(known) => known,
        None => create_type(tx, link, &lead).await?,
    };
    let has_email = of_type.fields.iter().any(|field| field.slug == LEAD_EMAIL && field.kind == FieldType::Text);
    let (title, fields) = match has_email {
        true => (lead.name, Values::from_iter([(LEAD_EMAIL.to_owned(), lead.email.into())])),
        // An operator has made a type of this name without the field.
        false => (format!("{} <{}>", lead.name, lead.email).chars().take(TITLE_CHARS_MAX).collect(), Values::new()),
    };
    let entity = EntityRecord {
        id: lead.id,
        type_id: of_type.id,
        type_slug: of_type.slug,
        title,
        fields,
        version: 1,
        created_by: lead.by.clone(),
        updated_by: lead.by,
        created_at: lead.now,
        updated_at: lead.now,
        erased_at: None,
    };
    store::entity::insert(tx, tenant_id, std::slice::from_ref(&entity), None).await?;
    Ok(())
}

async fn create_type(tx: &mut WriteTx<'_>, link: &ViewLinkRecord, lead: &NewEntities) -> Result<EntityTypeRecord> {
    let field = FieldDef {
        slug: LEAD_EMAIL.to_owned(),
        name: "E-mail".to_owned(),
        kind: FieldType::Text,
        required: false,
        options: Vec::new(),
        relation_type: None,
    };
    let record = EntityTypeRecord {
        id: lead.type_id,
        slug: LEAD_TYPE.to_owned(),
        name: "Lead".to_owned(),
        fields: vec![field],
        version: 1,
        created_by: Caller::System.to_string(),
        created_at: lead.now,
        updated_at: lead.now,
    };
    match store::entity_type::insert(tx, link.tenant_id, &record).await? {
        true => Ok(record),
        false => Err(Error::Unavailable("the entity type of leads is just being made; send it again".into())),
    }
}
