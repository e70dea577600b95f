//! Options of calls on message handles and properties.

use crate::table::{CharV, text};

macro_rules! options {
    ($(#[doc = $about:literal])+ $rust:ident = $c:literal $id:literal, $default:expr) => {
        structure! {
            $(#[doc = $about])+
            $rust = $c $id [12] versioned by |one| one.version;
            0 StrucId struc_id: Text 4 = text($id);
            4 Version version: Long = 1;
            8 Options options: Long = $default;
        }
    };
}

options! {
    /// options of making a message handle
    Cmho = "MQCMHO" "CMHO", 0
}
options! {
    /// options of deleting a message handle
    Dmho = "MQDMHO" "DMHO", 0
}
options! {
    /// options of deleting a property
    Dmpo = "MQDMPO" "DMPO", 0
}
options! {
    /// options of turning a handle into a buffer
    Mhbo = "MQMHBO" "MHBO", 1
}
options! {
    /// options of turning a buffer into a handle
    Bmho = "MQBMHO" "BMHO", 1
}

structure! {
    /// options of inquiring a property
    Impo = "MQIMPO" "IMPO" [64] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("IMPO");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 RequestedEncoding requested_encoding: Long = 546;
    16 RequestedCCSID requested_ccsid: Long = -3;
    20 ReturnedEncoding returned_encoding: Long = 546;
    24 ReturnedCCSID returned_ccsid: Long = 0;
    28 Reserved1 reserved1: Long = 0;
    32 ReturnedName returned_name: Variable = CharV::NONE;
    56 TypeString type_string: Text 8 = text("");
}

structure! {
    /// options of setting a property
    Smpo = "MQSMPO" "SMPO" [20] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("SMPO");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 ValueEncoding value_encoding: Long = 546;
    16 ValueCCSID value_ccsid: Long = -3;
}

structure! {
    /// describes a property
    Pd = "MQPD" "PD  " [24] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("PD  ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 Support support: Long = 1;
    16 Context context: Long = 0;
    20 CopyOptions copy_options: Long = 22;
}
