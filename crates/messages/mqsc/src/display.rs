//! `DISPLAY` of what is defined.
//!
//! 1. Asked for by its whole name and nothing else, an object is shown with everything; asked for
//!    with others by a generic name, with its name and kind. `ALL` shows everything, keywords
//!    show what they name.
//! 2. Attributes come in the order of displays, whatever the order in the command.
//! 3. An attribute that some kind of the objects asked for has, may be asked for; objects without
//!    it are shown without it, and a filter does not hold for them.

use queue_manager::QueueManager;
use queue_manager::objects::{Attribute, Kind, Object, Value};
use store::Store;

use crate::attributes::{displayed, field, head, head_attribute, name_keyword, named};
use crate::command::{Command, Keywords, unknown};
use crate::define::{find, noun};
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::filter::Filter;
use crate::reply::{Field, MessageId, Reply};
use crate::syntax::Word;

/// The kinds of queues.
pub(crate) const QUEUES: [Kind; 4] =
    [Kind::QueueAlias, Kind::QueueLocal, Kind::QueueModel, Kind::QueueRemote];

/// What a display is to show.
pub(crate) struct Wanted {
    /// Everything.
    pub all: bool,
    /// These attributes.
    pub keywords: Vec<Word>,
    /// What must hold.
    pub filter: Option<Filter>,
}

impl Wanted {
    /// Reads what is left of a command: `ALL`, `WHERE`, and keywords.
    pub(crate) fn read(keywords: &mut Keywords) -> Result<Wanted, SyntaxError> {
        let all = keywords.flag("ALL")?;
        let filter = keywords.take("WHERE").map(|word| Filter::parse(&word)).transpose()?;
        let keywords = keywords.rest();
        if let Some(word) = keywords.iter().find(|word| word.values.is_some()) {
            let needs = "takes no value in a display";
            let keyword = word.name.clone();
            return Err(SyntaxError::Shape { keyword, needs, end: word.end });
        }
        Ok(Wanted { all, keywords, filter })
    }

    /// Whether every keyword is one that something can have.
    pub(crate) fn check(
        &self,
        title: &str,
        knows: impl Fn(&str) -> bool,
    ) -> Result<(), SyntaxError> {
        if let Some(word) = self.keywords.iter().find(|word| !knows(&word.name)) {
            return Err(unknown(title, word));
        }
        match &self.filter {
            Some(filter) if !knows(&filter.keyword) => Err(SyntaxError::Keyword {
                keyword: filter.keyword.clone(),
                command: title.to_owned(),
                end: filter.end,
            }),
            _ => Ok(()),
        }
    }

    fn names(&self, keyword: &str) -> bool {
        self.keywords.iter().any(|word| word.name == keyword)
            || self.filter.as_ref().is_some_and(|filter| filter.keyword == keyword)
    }

    /// The fields of those that are wanted, of something that is made of fields alone.
    pub(crate) fn select(&self, fields: Vec<Field>, head: usize, whole: bool) -> Vec<Field> {
        let everything = self.all || whole && self.keywords.is_empty();
        let mut fields = fields.into_iter().enumerate();
        let keep = |(at, field): (usize, Field)| {
            (at < head || everything || self.names(&field.name)).then_some(field)
        };
        fields.by_ref().filter_map(keep).collect()
    }

    /// Whether the filter holds for something that is made of fields alone.
    pub(crate) fn holds(&self, fields: &[Field]) -> bool {
        let Some(filter) = &self.filter else { return true };
        let value = fields.iter().find(|field| field.name == filter.keyword);
        value.is_some_and(|field| filter.holds(&[field.value.clone().unwrap_or_default()]))
    }
}

/// Whether a name stands for several.
pub(crate) fn is_generic(name: &str) -> bool {
    name.ends_with('*')
}

pub(crate) fn manager<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    // Parts of the attributes by group, as the host has them: all is shown for each.
    for group in ["EVENT", "CHINIT", "CLUSTER", "PUBSUB", "SYSTEM"] {
        let _ = command.keywords.flag(group)?;
    }
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| {
        keyword == "QMNAME" || named(Kind::QueueManager, keyword).is_some()
    })?;
    let found = manager.object(Kind::QueueManager, manager.name());
    let object = found.unwrap_or_else(|| Object::new(Kind::QueueManager, manager.name()));
    Ok(vec![shown(&object, &wanted, true)])
}

pub(crate) fn queues<S: Store>(manager: &QueueManager<S>, command: Command) -> Done {
    show(manager, command, &QUEUES, Kind::QueueLocal)
}

pub(crate) fn objects<S: Store>(manager: &QueueManager<S>, command: Command, kind: Kind) -> Done {
    match kind {
        Kind::Channel => show(manager, command, &[Kind::Channel, Kind::ClientChannel], kind),
        kind => show(manager, command, &[kind], kind),
    }
}

/// The kinds that `TYPE` leaves of those of the command.
fn of_type(command: &mut Command, kinds: &[Kind]) -> Result<Vec<Kind>, SyntaxError> {
    if !kinds.first().is_some_and(|kind| kind.is_queue()) {
        return Ok(kinds.to_vec());
    }
    let words = ["ALL", "QLOCAL", "QALIAS", "QREMOTE", "QMODEL", "QCLUSTER"];
    let mut wanted = None;
    for keyword in ["TYPE", "QTYPE"] {
        // Without a value it asks for what is shown anyway.
        let asks = command.keywords.take(keyword);
        let Some(word) = asks.filter(|word| word.values.is_some()) else { continue };
        command.keywords.give_back(word);
        wanted = command.keywords.word(keyword, &words)?.or(wanted);
    }
    let matches = |kind: &Kind| match wanted {
        None | Some("ALL") => true,
        Some(word) => kind.keyword() == word,
    };
    Ok(kinds.iter().copied().filter(matches).collect())
}

fn show<S: Store>(
    manager: &QueueManager<S>,
    mut command: Command,
    kinds: &[Kind],
    kind: Kind,
) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let asked = of_type(&mut command, kinds)?;
    let channel_type = match kind {
        Kind::Channel => command.keywords.one_if_valued("CHLTYPE")?,
        _ => None,
    };
    let sub_type = match kind {
        Kind::Subscription => {
            let words = ["USER", "ADMIN", "API", "PROXY", "ALL"];
            command.keywords.word("SUBTYPE", &words)?
        }
        _ => None,
    };
    let wanted = Wanted::read(&mut command.keywords)?;
    let beside = head_attribute(kind).unwrap_or("TYPE");
    wanted.check(&command.title, |keyword| {
        let in_head = keyword == beside || keyword == name_keyword(kind);
        in_head || kinds.iter().any(|kind| named(*kind, keyword).is_some())
    })?;
    let mut found: Vec<Object> = Vec::new();
    for kind in &asked {
        match is_generic(&name) {
            true => {
                let listed = manager.list(*kind, &name).into_iter();
                found.extend(listed.filter(|object| object.kind == *kind));
            }
            false => found.extend(find(manager, *kind, &name)),
        }
    }
    found.retain(|object| match (&channel_type, sub_type) {
        (Some(of_type), _) => object.is("CHLTYPE", &of_type.text) || of_type.text == "ALL",
        (_, None | Some("ALL")) => true,
        (_, Some("USER")) => !object.is("SUBTYPE", "PROXY"),
        (_, Some(of_type)) => object.is("SUBTYPE", of_type),
    });
    found.sort_by(|left, right| (&left.name, left.kind).cmp(&(&right.name, right.kind)));
    let whole = !is_generic(&name);
    let replies: Vec<Reply> = found
        .iter()
        .filter(|object| holds(object, wanted.filter.as_ref()))
        .map(|object| shown(object, &wanted, whole))
        .collect();
    match replies.is_empty() {
        true => Err(CommandError::NotFound { what: noun(kind), name }),
        false => Ok(replies),
    }
}

/// Whether a filter holds for an object.
fn holds(object: &Object, filter: Option<&Filter>) -> bool {
    let Some(filter) = filter else { return true };
    if filter.keyword == name_keyword(object.kind) {
        return filter.holds(std::slice::from_ref(&object.name));
    }
    if object.kind.is_queue() && filter.keyword == "TYPE" {
        return filter.holds(&[object.kind.keyword().to_owned()]);
    }
    let Some(attribute) = named(object.kind, &filter.keyword) else { return false };
    match object.get(attribute.name) {
        Some(_) if !crate::attributes::has(object, attribute) => false,
        Some(Value::List(list)) => filter.holds(list),
        Some(value) => filter.holds(&[value.to_string()]),
        None => false,
    }
}

fn shown(object: &Object, wanted: &Wanted, whole: bool) -> Reply {
    let everything = wanted.all || whole && wanted.keywords.is_empty();
    let mut fields = head(object);
    let wants = |attribute: &Attribute| {
        let means = |keyword: &str| {
            named(object.kind, keyword).is_some_and(|named| named.name == attribute.name)
        };
        let filtered = wanted.filter.as_ref().is_some_and(|filter| means(&filter.keyword));
        everything || filtered || wanted.keywords.iter().any(|word| means(&word.name))
    };
    let all = displayed(object).into_iter();
    fields.extend(
        all.filter(|(attribute, _)| wants(attribute))
            .map(|(attribute, value)| field(attribute, &value)),
    );
    let (number, text) = title(object.kind);
    Reply::new(MessageId::done(number), text).with(fields)
}

/// The message in front of an object.
fn title(kind: Kind) -> (u16, &'static str) {
    match kind {
        Kind::QueueManager => (8408, "Display Queue Manager details."),
        Kind::Topic => (8633, "Display topic details."),
        Kind::Subscription => (8096, "Display subscription details."),
        Kind::Process => (8407, "Display Process details."),
        Kind::Namelist => (8550, "Display namelist details."),
        Kind::Channel | Kind::ClientChannel => (8414, "Display Channel details."),
        Kind::Listener => (8630, "Display listener information details."),
        Kind::Service => (8629, "Display service information details."),
        Kind::AuthenticationInformation => (8566, "Display authentication information details."),
        Kind::StorageClass => (8410, "Display storage class details."),
        Kind::PageSet => (8410, "Display page set details."),
        Kind::BufferPool => (8410, "Display buffer pool details."),
        Kind::ChannelAuthority => (8878, "Display channel authentication record details."),
        Kind::AuthorityRecord => (8864, "Display authority record details."),
        _ => (8409, "Display Queue details."),
    }
}
