//! Views that only the browser makes, with one type for all of them.
//!
//! Leptos gives each view a type of its own, and each type brings code: to attach it to the HTML of the server, to
//! update it, to move it, and once more for each list and each closure that it is in. That is worth it where the server
//! renders the same view. What appears in the browser alone never attaches to anything, and in a large program of many
//! small views such code is the largest part. `docs/canvas.md` says what these types saved in the editor of canvases.

use leptos::{
    prelude::*,
    tachys::{
        html::attribute::any_attribute::AnyAttribute,
        hydration::Cursor,
        no_attrs,
        renderer::types::{Element, Node},
        view::{Mountable, Position, PositionState, Render, RenderFlags, RenderHtml},
    },
};

/// What changes with the signals that it reads: a text, the value of an attribute, or a view that is there at times.
pub type Reactive<T> = Box<dyn FnMut() -> T + Send>;

/// One type for all closures that compute a `T` for a view.
pub fn reactive<T>(compute: impl FnMut() -> T + Send + 'static) -> Reactive<T> {
    Box::new(compute)
}

/// A value that is computed again when a signal that it reads changes. The computations have one type.
pub fn memo<T: PartialEq + Send + Sync + 'static>(compute: impl Fn() -> T + Send + Sync + 'static) -> Memo<T> {
    fn of<T: PartialEq + Send + Sync + 'static>(compute: Box<dyn Fn() -> T + Send + Sync>) -> Memo<T> {
        Memo::new(move |_| compute())
    }
    of(Box::new(compute))
}

/// A view that is made when it is first shown.
pub struct BrowserView(Box<dyn FnOnce() -> BrowserViewState + Send>);

/// What such a view consists of.
pub struct BrowserViewState {
    elements: Vec<Element>,
    /// The effects and listeners, which end with the view.
    _state: Box<dyn Anything>,
}

/// Anything that is only dropped.
trait Anything {}

impl<T> Anything for T {}

/// A view whose type is erased. It must consist of elements that stay as long as it is shown: a condition or a list is
/// in one of them.
pub fn browser_view<V>(view: impl FnOnce() -> V + Send + 'static) -> BrowserView
where
    V: Render,
    V::State: 'static,
{
    BrowserView(Box::new(move || {
        let state = view().build();
        BrowserViewState { elements: state.elements(), _state: Box::new(state) }
    }))
}

/// Views in the order of `each`, which gives every view a key. Those whose keys stay keep their elements.
pub fn list(each: impl Fn() -> Vec<(String, BrowserView)> + Send + 'static) -> impl IntoView {
    keyed_list(Box::new(each))
}

fn keyed_list(each: Box<dyn Fn() -> Vec<(String, BrowserView)> + Send>) -> impl IntoView {
    view! { <For each key=|(key, _)| key.clone() children=|(_, view)| view/> }
}

impl Render for BrowserView {
    type State = BrowserViewState;

    fn build(self) -> BrowserViewState {
        (self.0)()
    }

    /// Another view takes the place of the one that is shown.
    fn rebuild(self, state: &mut BrowserViewState) {
        let mut new = self.build();
        state.insert_before_this(&mut new);
        state.unmount();
        *state = new;
    }
}

impl Mountable for BrowserViewState {
    fn unmount(&mut self) {
        self.elements.iter_mut().for_each(Mountable::unmount);
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.elements.iter_mut().for_each(|element| element.mount(parent, marker));
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.elements.first().is_some_and(|first| Mountable::insert_before_this(first, child))
    }

    fn elements(&self) -> Vec<Element> {
        self.elements.clone()
    }
}

no_attrs!(BrowserView);

/// What a child of a view must be able to. The server renders no such view, so there is neither HTML to write nor HTML
/// to attach to: a view that an island shows at once is made as any other.
impl RenderHtml for BrowserView {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: RenderFlags, _: Vec<AnyAttribute>) {}

    fn hydrate<const FROM_SERVER: bool>(self, _: &Cursor, _: &PositionState) -> BrowserViewState {
        self.build()
    }

    fn into_owned(self) -> Self {
        self
    }
}
