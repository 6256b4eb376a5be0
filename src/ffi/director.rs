//! What the server asks a director: the vtable, and the life of the object behind it.
//!
//! A VCL object is made by `__init`, which gives the server a director with a pointer to the object. `__fini` only
//! gives the director back. The server then calls *release*, where the members go, so that references in a circle do
//! not keep each other alive; and, when nobody holds a reference any more, *destroy*, where the object is freed.

use std::ffi::{c_int, CStr};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use policy::Plan;

use super::backend::{Backend, Member};
use super::ctx::Ctx;
use super::draw;
use super::nesting::{self, Refused};
use super::statistics::Statistics;
use super::vrt;
use super::vsb::Vsb;
use crate::error;
use crate::list::{self, Current, Form, Weights};
use crate::vdir::{Changes, Health, State, Tried, Vdir};
use crate::weighing::Weighing;

/// A kind of director: what the server can ask it. Most of them have members and weights only, and are a
/// [`Director`].
pub trait Kind: Send + Sync + Sized + 'static {
    /// The type that `backend.list -j` shows.
    const TYPE: &'static CStr;

    /// Why members cannot have a slow start, if they cannot.
    const NO_SLOW_START: Option<&'static str>;

    /// How reports become weights.
    fn weighing(&self) -> &Weighing;

    /// What is shown of the members.
    fn statistics(&self) -> &Statistics;

    /// Gives the members that there are now.
    fn with_members(&self, then: impl FnOnce(&[&Member]));

    /// Takes the report of a weight, which is valid, for all entries of `backend`.
    fn set_weight(&self, ctx: &Ctx<'_>, backend: Backend<'_>, weight: f64) -> Changes;

    /// Counts a report of a bad weight for all entries of `backend`.
    fn refuse(&self, ctx: &Ctx<'_>, backend: Backend<'_>);

    /// Sets weights that were not reported for too long back to what they were. To be called before a pick; costs
    /// next to nothing if there are none.
    fn expire(&self, now: f64) -> Changes;

    /// The weight of the first entry of `backend`, 0 if there is none.
    fn weight(&self, ctx: &Ctx<'_>, backend: Backend<'_>) -> f64;

    /// Whether a pick can succeed now.
    fn health(&self, ctx: &Ctx<'_>) -> Health;

    /// Picks a member, and calls `then` with it while it is sure to be alive. If that gives nothing, another member is
    /// picked. `None` if there is none to pick.
    fn pick<R>(&self, ctx: &Ctx<'_>, then: impl FnMut(&Member) -> Option<R>) -> Option<R>;

    /// Writes the list. Gives the time when the health of a member changed last.
    fn list(&self, ctx: &Ctx<'_>, form: Form, out: &mut Vsb<'_>) -> f64;

    /// Gives back all references, for good.
    fn release(&self);
}

impl<D: Director> Kind for D {
    const TYPE: &'static CStr = <D as Director>::TYPE;
    const NO_SLOW_START: Option<&'static str> = <D as Director>::NO_SLOW_START;

    fn weighing(&self) -> &Weighing {
        self.vdir().weighing()
    }

    fn statistics(&self) -> &Statistics {
        self.vdir().statistics()
    }

    fn with_members(&self, then: impl FnOnce(&[&Member])) {
        self.vdir().with_members(then);
    }

    fn set_weight(&self, ctx: &Ctx<'_>, backend: Backend<'_>, weight: f64) -> Changes {
        self.vdir().set_weight(backend, weight, ctx.now())
    }

    fn refuse(&self, _: &Ctx<'_>, backend: Backend<'_>) {
        self.vdir().refuse(backend);
    }

    fn expire(&self, now: f64) -> Changes {
        self.vdir().expire(now)
    }

    fn weight(&self, _: &Ctx<'_>, backend: Backend<'_>) -> f64 {
        self.vdir().weight(backend)
    }

    fn health(&self, ctx: &Ctx<'_>) -> Health {
        Director::health(self, ctx)
    }

    #[inline]
    fn pick<R>(&self, ctx: &Ctx<'_>, mut then: impl FnMut(&Member) -> Option<R>) -> Option<R> {
        let state = self.vdir().state();
        let mut tried = Tried::default();
        if self.vdir().weighing().policy().slow_start <= 0.0 {
            // Nearly always this is all
            let place = self.choose(&state, |i| state.healthy(ctx, i))?;
            if let Some(answer) = then(state.member(place)?) {
                self.picked(ctx, &state, place);
                return Some(answer);
            }
            tried.add(place)?;
        }
        pick_among_others(self, ctx, &state, tried, then)
    }

    fn list(&self, ctx: &Ctx<'_>, form: Form, out: &mut Vsb<'_>) -> f64 {
        let state = self.vdir().state();
        list::write(ctx, &state, self.vdir().weighing(), D::LISTED_WEIGHTS, self.current(&state), form, out)
    }

    fn release(&self) {
        self.vdir().release();
    }
}

/// Picks until there is a member that has not been tried and that `then` takes.
#[cold]
fn pick_among_others<D: Director, R>(
    director: &D,
    ctx: &Ctx<'_>,
    state: &State<D::Plan>,
    mut tried: Tried,
    mut then: impl FnMut(&Member) -> Option<R>,
) -> Option<R> {
    let slow_start = director.vdir().weighing().policy().slow_start;
    loop {
        let mut place = None;
        if slow_start > 0.0 {
            let admitted = |i| !tried.has(i) && state.admitted(ctx, i, slow_start, draw::any);
            place = director.choose(state, admitted);
        }
        // Nobody was admitted: somebody has to take it
        let place = place.or_else(|| director.choose(state, |i| !tried.has(i) && state.healthy(ctx, i)))?;
        if let Some(answer) = then(state.member(place)?) {
            director.picked(ctx, state, place);
            return Some(answer);
        }
        tried.add(place)?;
    }
}

/// A kind of director whose VCL object adds a way to pick to members and weights.
pub trait Director: Send + Sync + 'static {
    /// What it derives from weights.
    type Plan: Plan + Send + Sync;
    /// The type that `backend.list -j` shows.
    const TYPE: &'static CStr;
    /// Whether `backend.list -p` shows weights.
    const LISTED_WEIGHTS: Weights;
    /// Why members cannot have a slow start, if they cannot.
    const NO_SLOW_START: Option<&'static str> = None;

    /// Its members and weights.
    fn vdir(&self) -> &Vdir<Self::Plan>;

    /// The place of a member that has weight and is healthy, as far as `healthy` says. `None` if there is no such
    /// member.
    fn choose(&self, state: &State<Self::Plan>, healthy: impl FnMut(usize) -> bool) -> Option<usize>;

    /// That the member at this place gets the request.
    fn picked(&self, _ctx: &Ctx<'_>, _state: &State<Self::Plan>, _place: usize) {}

    /// Whether a pick can succeed now.
    fn health(&self, ctx: &Ctx<'_>) -> Health {
        self.vdir().health(ctx)
    }

    /// The member that `backend.list -p` marks, if it marks one.
    fn current(&self, _state: &State<Self::Plan>) -> Option<Current> {
        None
    }
}

/// A director that picks by the key that `.backend()` is given, at once.
pub trait Keyed: Director {
    /// The place of a healthy member for the hash of a key. `None` if there is no such member.
    fn choose_by_hash(&self, state: &State<Self::Plan>, hash: u32, healthy: impl FnMut(usize) -> bool)
        -> Option<usize>;
}

/// What a VCL object is a pointer to, and the private pointer of its director as well.
pub(super) struct Object<D> {
    /// Set once, right after the object was made, before VCL can use it.
    director: AtomicPtr<vrt::director>,
    pub(super) kind: D,
}

impl<D: Kind> Object<D> {
    /// Static, as each kind has one that is a constant.
    const METHODS: &'static vrt::vdi_methods = &vrt::vdi_methods {
        magic: vrt::VDI_METHODS_MAGIC,
        type_: D::TYPE.as_ptr(),
        http1pipe: None,
        healthy: Some(healthy::<D>),
        resolve: Some(resolve::<D>),
        gethdrs: None,
        getip: None,
        finish: None,
        event: Some(event::<D>),
        release: Some(release::<D>),
        destroy: Some(destroy::<D>),
        panic: None,
        list: Some(list::<D>),
    };

    /// Makes a director and its object. `None` if the server refuses.
    pub(super) fn add(ctx: &Ctx<'_>, name: &CStr, kind: D) -> Option<*mut Self> {
        kind.statistics().name(ctx, name);
        let object = Box::into_raw(Box::new(Object { director: AtomicPtr::default(), kind }));
        // SAFETY: the methods are static, and the object is freed by the last of them that is called. The name goes
        // through a format that wants one C string.
        let director =
            unsafe { vrt::VRT_AddDirector(ctx.as_raw(), Self::METHODS, object.cast(), c"%s".as_ptr(), name.as_ptr()) };
        if director.is_null() {
            // SAFETY: made above, and the server has not kept it.
            drop(unsafe { Box::from_raw(object) });
            return None;
        }
        // SAFETY: alive: the server's reference to the director is ours to give back, in `delete`.
        unsafe { (*object).director.store(director.cast_mut(), Ordering::Release) };
        Some(object)
    }

    /// Gives the director back.
    ///
    /// # Safety
    /// `object` is from `add`, and is not used afterwards.
    pub(super) unsafe fn delete(object: *mut Self) {
        // SAFETY: alive until the director is given back.
        let mut director: vrt::VCL_BACKEND = unsafe { (*object).director.load(Ordering::Acquire) };
        // SAFETY: holds the reference that `add` got, which is given back here, once.
        unsafe { vrt::VRT_DelDirector(&mut director) };
    }

    /// Expires weights, and logs it. To be called first by whatever goes by weights.
    #[inline]
    pub(super) fn expire(&self, ctx: &Ctx<'_>) {
        // Asked here, where it is inlined: most directors have nothing that expires
        if self.kind.weighing().is_due(ctx.now()) {
            self.expire_now(ctx);
        }
    }

    #[cold]
    fn expire_now(&self, ctx: &Ctx<'_>) {
        self.log(ctx, &self.kind.expire(ctx.now()));
    }

    /// Logs changes of weights.
    pub(super) fn log(&self, ctx: &Ctx<'_>, changes: &Changes) {
        for (member, change) in changes {
            if let Some((old, what)) = change.record {
                let name = member.backend().name();
                ctx.log_notice(&error::weight_changed(self.name(), name, old, change.weight, what));
            }
        }
    }

    pub(super) fn director(&self) -> vrt::VCL_BACKEND {
        self.director.load(Ordering::Acquire)
    }

    pub(super) fn name(&self) -> &CStr {
        // SAFETY: set before the object was given out, and the director lives at least as long as the object.
        unsafe { Backend::from_raw(self.director()) }.map_or(c"?", Backend::name)
    }
}

/// The object of a director that the server calls.
///
/// # Safety
/// `director` is one that [`Object::add`] made with the same `D`, and has not been destroyed during `'a`.
unsafe fn object<'a, D: Kind>(director: vrt::VCL_BACKEND) -> (&'a Object<D>, Backend<'a>) {
    // SAFETY: as the caller promises.
    match unsafe { Backend::<'a>::from_raw(director) } {
        // SAFETY: alive; `priv` is the pointer that `add` gave.
        Some(backend) => (unsafe { &*(*director).priv_.cast::<Object<D>>() }, backend),
        None => panic!("no director"),
    }
}

/// Asks with the director on the list of those that are being asked, and says so in the log if that cannot be.
pub(super) fn within<R>(ctx: &Ctx<'_>, director: Backend<'_>, ask: impl FnOnce() -> R) -> Option<R> {
    match nesting::within(director.as_raw().cast(), ask) {
        Ok(answer) => Some(answer),
        Err(Refused::Loop) => {
            ctx.log_error(&error::director_loop(director.name()));
            None
        }
        Err(Refused::TooDeep) => {
            ctx.log_error(&error::nested_too_deep(director.name(), nesting::LIMIT));
            None
        }
        Err(Refused::TooMany { first }) => {
            if first {
                ctx.log_error(&error::asked_too_many(director.name(), nesting::CALLS));
            }
            None
        }
    }
}

unsafe extern "C" fn healthy<D: Kind>(
    ctx: *const vrt::vrt_ctx,
    director: vrt::VCL_BACKEND,
    changed: *mut vrt::VCL_TIME,
) -> vrt::VCL_BOOL {
    // SAFETY: called by the server, for a director with this vtable.
    let (ctx, (object, backend)) = unsafe { (Ctx::from_raw(ctx), object::<D>(director)) };
    let ask = || {
        object.expire(&ctx);
        object.kind.health(&ctx)
    };
    let health = within(&ctx, backend, ask).unwrap_or(Health { healthy: false, changed: 0.0 });
    // SAFETY: null, or the caller's to be written.
    if let Some(changed) = unsafe { changed.as_mut() } {
        *changed = health.changed;
    }
    vrt::VCL_BOOL::from(health.healthy)
}

/// Where the bundled directors answer with a member that is a director, this goes on to ask it, while the member is
/// sure to be alive and this director is on the list: a director that leads back to itself is found here.
unsafe extern "C" fn resolve<D: Kind>(ctx: *const vrt::vrt_ctx, director: vrt::VCL_BACKEND) -> vrt::VCL_BACKEND {
    // SAFETY: called by the server, for a director with this vtable.
    let (ctx, (object, backend)) = unsafe { (Ctx::from_raw(ctx), object::<D>(director)) };
    let ask = || {
        object.expire(&ctx);
        object.kind.pick(&ctx, |member| member.resolve(&ctx))
    };
    within(&ctx, backend, ask).flatten().unwrap_or(ptr::null())
}

unsafe extern "C" fn list<D: Kind>(
    ctx: *const vrt::vrt_ctx,
    director: vrt::VCL_BACKEND,
    vsb: *mut vrt::vsb,
    details: c_int,
    json: c_int,
) {
    // SAFETY: called by the server, for a director with this vtable, with a buffer to write to.
    let (ctx, (object, backend), mut vsb) = unsafe { (Ctx::from_raw(ctx), object::<D>(director), Vsb::from_raw(vsb)) };
    let form = Form { details: details != 0, json: json != 0 };
    let changed = within(&ctx, backend, || {
        object.expire(&ctx);
        object.kind.list(&ctx, form, &mut vsb)
    });
    if let Some(changed) = changed {
        // SAFETY: alive. Only the CLI thread lists, and only there is this called: the server does not lock it.
        unsafe { vrt::VRT_SetChanged(director, changed) };
    }
}

unsafe extern "C" fn event<D: Kind>(director: vrt::VCL_BACKEND, event: vrt::vcl_event_e) {
    // SAFETY: called by the server, for a director with this vtable that it has not destroyed yet.
    let (object, _) = unsafe { object::<D>(director) };
    let statistics = object.kind.statistics();
    match event {
        vrt::VCL_EVENT_WARM => object.kind.with_members(|members| statistics.warm(members)),
        vrt::VCL_EVENT_COLD => object.kind.with_members(|members| statistics.cold(members)),
        _ => {}
    }
}

unsafe extern "C" fn release<D: Kind>(director: vrt::VCL_BACKEND) {
    // SAFETY: called by the server, for a director with this vtable that it has not destroyed yet.
    let (object, _) = unsafe { object::<D>(director) };
    object.kind.release();
    object.kind.statistics().release();
}

unsafe extern "C" fn destroy<D: Kind>(director: vrt::VCL_BACKEND) {
    // SAFETY: called by the server, once, when nobody holds a reference: `priv` is what `add` made, and is not used
    // again.
    drop(unsafe { Box::from_raw((*director).priv_.cast::<Object<D>>()) });
}
