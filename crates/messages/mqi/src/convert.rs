//! Between the structures of the interface and the queue manager's own types.
//!
//! Invariants:
//! 1. What a structure of an old version does not have, has its default.
//! 2. Only what a call returns is written back into a structure.

use queue_manager::options::{
    GetOptions, Handle, MessageHandle, ObjectDescriptor, PutOptions, Status, SubscriptionDescriptor,
};
use queue_manager::{MessageDescriptor, ObjectName};

use crate::structures::{Gmo, Md, Od, Pmo, Sd, Sts};
use crate::wire::{Object, Posting};

/// The queue manager's form of a message descriptor.
#[must_use]
pub fn descriptor(md: &Md) -> MessageDescriptor {
    MessageDescriptor {
        report: md.report,
        msg_type: md.msg_type,
        expiry: md.expiry,
        feedback: md.feedback,
        encoding: md.encoding,
        ccsid: md.ccsid,
        format: blanks(md.format),
        priority: md.priority,
        persistence: md.persistence,
        msg_id: md.msg_id,
        correl_id: md.correl_id,
        backout_count: md.backout_count,
        reply_to_q: name(&md.reply_to_q),
        reply_to_q_mgr: name(&md.reply_to_q_mgr),
        user_identifier: blanks(md.user_identifier),
        accounting_token: md.accounting_token,
        appl_identity_data: blanks(md.appl_identity_data),
        put_appl_type: md.put_appl_type,
        put_appl_name: blanks(md.put_appl_name),
        put_date: md.put_date,
        put_time: md.put_time,
        appl_origin_data: blanks(md.appl_origin_data),
        group_id: md.group_id,
        msg_seq_number: md.msg_seq_number,
        offset: md.offset,
        msg_flags: md.msg_flags,
        original_length: md.original_length,
    }
}

/// Whether a descriptor knows no groups and segments.
#[must_use]
pub fn is_first_version(md: &Md) -> bool {
    md.version < 2
}

/// What a call has made of a message descriptor.
pub fn describe(md: &mut Md, from: &MessageDescriptor) {
    let MessageDescriptor { report, msg_type, expiry, feedback, encoding, ccsid, format, .. } =
        *from;
    (md.report, md.msg_type, md.expiry, md.feedback) = (report, msg_type, expiry, feedback);
    (md.encoding, md.ccsid, md.priority) = (encoding, ccsid, from.priority);
    md.persistence = from.persistence;
    (md.msg_id, md.correl_id, md.group_id) = (from.msg_id, from.correl_id, from.group_id);
    md.backout_count = from.backout_count;
    keep_text(&mut md.format, format);
    keep_text(&mut md.reply_to_q, from.reply_to_q.0);
    keep_text(&mut md.reply_to_q_mgr, from.reply_to_q_mgr.0);
    keep_text(&mut md.user_identifier, from.user_identifier);
    md.accounting_token = from.accounting_token;
    keep_text(&mut md.appl_identity_data, from.appl_identity_data);
    md.put_appl_type = from.put_appl_type;
    keep_text(&mut md.put_appl_name, from.put_appl_name);
    (md.put_date, md.put_time) = (from.put_date, from.put_time);
    keep_text(&mut md.appl_origin_data, from.appl_origin_data);
    md.msg_seq_number = from.msg_seq_number;
    (md.offset, md.msg_flags) = (from.offset, from.msg_flags);
    md.original_length = from.original_length;
}

/// The queue manager's form of an object descriptor.
#[must_use]
pub fn object(of: &Object) -> ObjectDescriptor {
    let od = &of.od;
    ObjectDescriptor {
        object_type: od.object_type,
        object_name: name(&od.object_name),
        object_q_mgr_name: name(&od.object_q_mgr_name),
        dynamic_q_name: name(&od.dynamic_q_name),
        alternate_user_id: blanks(od.alternate_user_id),
        records: of.records.clone(),
        wants_responses: of.wants_responses,
        object_string: of.object_string.clone(),
        selection_string: of.selection_string.clone(),
        ..ObjectDescriptor::default()
    }
}

/// What a call has made of an object descriptor.
pub fn resolve(od: &mut Od, from: &ObjectDescriptor) {
    keep_text(&mut od.object_name, from.object_name.0);
    keep_text(&mut od.object_q_mgr_name, from.object_q_mgr_name.0);
    od.known_dest_count = from.known_dest_count;
    od.unknown_dest_count = from.unknown_dest_count;
    od.invalid_dest_count = from.invalid_dest_count;
    keep_text(&mut od.resolved_q_name, from.resolved_q_name.0);
    keep_text(&mut od.resolved_q_mgr_name, from.resolved_q_mgr_name.0);
    od.resolved_type = from.resolved_type;
}

/// The queue manager's form of options of a put.
#[must_use]
pub fn put_options(of: &Posting) -> PutOptions {
    let pmo = &of.pmo;
    PutOptions {
        options: pmo.options,
        context: (pmo.context != 0).then_some(Handle(pmo.context)),
        records: of.records.clone(),
        record_fields: pmo.put_msg_rec_fields,
        wants_responses: of.wants_responses,
        original_msg_handle: message_handle(pmo.original_msg_handle),
        new_msg_handle: message_handle(pmo.new_msg_handle),
        action: pmo.action,
        pub_level: pmo.pub_level,
        extends: is_first_version(&of.md),
        ..PutOptions::default()
    }
}

/// What a call has made of options of a put.
pub fn tell_put(pmo: &mut Pmo, from: &PutOptions) {
    pmo.known_dest_count = from.known_dest_count;
    pmo.unknown_dest_count = from.unknown_dest_count;
    pmo.invalid_dest_count = from.invalid_dest_count;
    keep_text(&mut pmo.resolved_q_name, from.resolved_q_name.0);
    keep_text(&mut pmo.resolved_q_mgr_name, from.resolved_q_mgr_name.0);
}

/// The queue manager's form of options of a get.
#[must_use]
pub fn get_options(gmo: &Gmo) -> GetOptions {
    GetOptions {
        options: gmo.options,
        wait_interval: gmo.wait_interval,
        match_options: gmo.match_options,
        group_status: gmo.group_status,
        segment_status: gmo.segment_status,
        segmentation: gmo.segmentation,
        msg_token: gmo.msg_token,
        returned_length: gmo.returned_length,
        msg_handle: message_handle(gmo.msg_handle),
        resolved_q_name: name(&gmo.resolved_q_name),
        ..GetOptions::default()
    }
}

/// What a call has made of options of a get.
pub fn tell_get(gmo: &mut Gmo, from: &GetOptions) {
    gmo.group_status = from.group_status;
    gmo.segment_status = from.segment_status;
    gmo.segmentation = from.segmentation;
    gmo.msg_token = from.msg_token;
    gmo.returned_length = from.returned_length;
    keep_text(&mut gmo.resolved_q_name, from.resolved_q_name.0);
}

/// The queue manager's form of a subscription descriptor; the texts are the topic string, the
/// subscription's name, its user data and its selection string.
#[must_use]
pub fn subscription(sd: &Sd, texts: &[String; 4]) -> SubscriptionDescriptor {
    let [object_string, sub_name, sub_user_data, selection_string] = texts;
    SubscriptionDescriptor {
        options: sd.options,
        object_name: name(&sd.object_name),
        alternate_user_id: blanks(sd.alternate_user_id),
        sub_expiry: sd.sub_expiry,
        object_string: object_string.clone(),
        sub_name: sub_name.clone(),
        sub_user_data: sub_user_data.clone(),
        sub_correl_id: sd.sub_correl_id,
        pub_priority: sd.pub_priority,
        pub_accounting_token: sd.pub_accounting_token,
        pub_appl_identity_data: blanks(sd.pub_appl_identity_data),
        selection_string: selection_string.clone(),
        sub_level: sd.sub_level,
        resolved_object_string: String::new(),
    }
}

/// What a call has made of a subscription descriptor.
pub fn tell_subscription(sd: &mut Sd, from: &SubscriptionDescriptor) {
    sd.sub_correl_id = from.sub_correl_id;
    sd.sub_expiry = from.sub_expiry;
    sd.sub_level = from.sub_level;
    sd.pub_priority = from.pub_priority;
    sd.pub_accounting_token = from.pub_accounting_token;
    keep_text(&mut sd.pub_appl_identity_data, from.pub_appl_identity_data);
}

/// What became of puts, as a structure.
pub fn tell_status(sts: &mut Sts, from: &Status) {
    sts.comp_code = from.outcome.completion as i32;
    sts.reason = from.outcome.reason.0;
    sts.put_success_count = from.put_success_count;
    sts.put_warning_count = from.put_warning_count;
    sts.put_failure_count = from.put_failure_count;
    sts.object_type = from.object_type;
    sts.object_name = from.object_name.0;
    sts.object_q_mgr_name = from.object_q_mgr_name.0;
    sts.resolved_object_name = from.resolved_object_name.0;
    sts.resolved_q_mgr_name = from.resolved_q_mgr_name.0;
}

/// The handle of a message, if there is one: 0 stands for none.
fn message_handle(number: i64) -> Option<MessageHandle> {
    (number != 0).then_some(MessageHandle(number))
}

/// A name as a program gives it: it may end at a zero byte.
fn name(field: &[u8; 48]) -> ObjectName {
    ObjectName::from_bytes(field)
}

/// Text that may end at a zero byte, padded with blanks.
fn blanks<const N: usize>(mut field: [u8; N]) -> [u8; N] {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(N);
    field.iter_mut().skip(end).for_each(|byte| *byte = b' ');
    field
}

/// Takes a text, unless it is the same one padded in another way.
fn keep_text<const N: usize>(field: &mut [u8; N], text: [u8; N]) {
    if blanks(*field) != text {
        *field = text;
    }
}
