//! The calls under their names, for the libraries that export them.

/// Defines every call: `calls!(c)` with values, `calls!(client)` the same over the network,
/// `calls!(cobol)` with everything by reference, `calls!(either)` as [`region`](crate::region)
/// tells.
///
/// An argument is a `number`, a `handle` of a message, or an address: of a structure or a buffer
/// (`data`), of a number that the call sets (`back`), of a message handle that it sets (`message`).
#[macro_export]
macro_rules! calls {
    ($how:ident) => {
        $crate::switches! { $how }
        $crate::call! { $how MQCONN conn(name: data, hconn: back) }
        $crate::call! { $how MQCONNX connx(name: data, options: data, hconn: back) }
        $crate::call! { $how MQDISC disc(hconn: back) }
        $crate::call! { $how MQOPEN open(hconn: number, od: data, options: number, hobj: back) }
        $crate::call! { $how MQCLOSE close(hconn: number, hobj: back, options: number) }
        $crate::call! { $how MQPUT put(hconn: number, hobj: number, md: data, pmo: data,
        length: number, buffer: data) }
        $crate::call! { $how MQPUT1 put1(hconn: number, od: data, md: data, pmo: data,
        length: number, buffer: data) }
        $crate::call! { $how MQGET get(hconn: number, hobj: number, md: data, gmo: data,
        length: number, buffer: data, data_length: back) }
        $crate::call! { $how MQINQ inq(hconn: number, hobj: number, count: number, selectors: back,
        numbers: number, values: back, length: number, characters: data) }
        $crate::call! { $how MQSET set(hconn: number, hobj: number, count: number, selectors: back,
        numbers: number, values: back, length: number, characters: data) }
        $crate::call! { $how MQCMIT cmit(hconn: number) }
        $crate::call! { $how MQBACK back(hconn: number) }
        $crate::call! { $how MQBEGIN begin(hconn: number, options: data) }
        $crate::call! { $how MQSTAT stat(hconn: number, kind: number, sts: data) }
        $crate::call! { $how MQSUB sub(hconn: number, sd: data, hobj: back, hsub: back) }
        $crate::call! { $how MQSUBRQ subrq(hconn: number, hsub: number, action: number,
        options: data) }
        $crate::call! { $how MQCB cb(hconn: number, operation: number, cbd: data, hobj: number,
        md: data, gmo: data) }
        $crate::call! { $how MQCTL ctl(hconn: number, operation: number, options: data) }
        $crate::call! { $how MQCRTMH crtmh(hconn: number, options: data, hmsg: message) }
        $crate::call! { $how MQDLTMH dltmh(hconn: number, hmsg: message, options: data) }
        $crate::call! { $how MQSETMP setmp(hconn: number, hmsg: handle, options: data, name: data,
        pd: data, kind: number, length: number, value: data) }
        $crate::call! { $how MQINQMP inqmp(hconn: number, hmsg: handle, options: data, name: data,
        pd: data, kind: back, length: number, value: data, data_length: back) }
        $crate::call! { $how MQDLTMP dltmp(hconn: number, hmsg: handle, options: data,
        name: data) }
        $crate::call! { $how MQBUFMH bufmh(hconn: number, hmsg: handle, options: data, md: data,
        length: number, buffer: data, data_length: back) }
        $crate::call! { $how MQMHBUF mhbuf(hconn: number, hmsg: handle, options: data, name: data,
        md: data, length: number, buffer: data, data_length: back) }
        $crate::call! { $how MQXCNVC xcnvc(hconn: number, options: number, source: number,
        source_length: number, from: data, target: number, target_length: number, to: data,
        data_length: back) }
    };
}

/// Defines the switches of a resource manager, in libraries for C.
#[doc(hidden)]
#[macro_export]
macro_rules! switches {
    (c) => {
        #[allow(missing_docs, non_upper_case_globals)]
        // the interface's own name
        // SAFETY: no other library of a program defines a switch of this name.
        #[unsafe(no_mangle)]
        pub static MQRMIXASwitch: $crate::switch::Switch = $crate::switch::Switch::new();

        #[allow(missing_docs, non_upper_case_globals)]
        // the interface's own name
        // SAFETY: no other library of a program defines a switch of this name.
        #[unsafe(no_mangle)]
        pub static MQRMIXASwitchDynamic: $crate::switch::Switch = $crate::switch::Switch::dynamic();
    };
    (client) => {
        #[allow(missing_docs, non_upper_case_globals)]
        // the interface's own name
        // SAFETY: no other library of a program defines a switch of this name.
        #[unsafe(no_mangle)]
        pub static MQRMIXASwitch: $crate::switch::Switch =
            $crate::switch::Switch { open: switch_open, ..$crate::switch::Switch::new() };

        #[allow(missing_docs, non_upper_case_globals)]
        // the interface's own name
        // SAFETY: no other library of a program defines a switch of this name.
        #[unsafe(no_mangle)]
        pub static MQRMIXASwitchDynamic: $crate::switch::Switch = $crate::switch::Switch {
            open: dynamic_switch_open,
            ..$crate::switch::Switch::dynamic()
        };

        // A transaction manager may open the switch before any call is made.
        unsafe extern "C" fn switch_open(
            info: *mut std::ffi::c_char,
            rmid: std::ffi::c_int,
            flags: std::ffi::c_long,
        ) -> std::ffi::c_int {
            $crate::only_client();
            // SAFETY: the arguments are the caller's, as the specification says.
            unsafe { ($crate::switch::Switch::new().open)(info, rmid, flags) }
        }

        unsafe extern "C" fn dynamic_switch_open(
            info: *mut std::ffi::c_char,
            rmid: std::ffi::c_int,
            flags: std::ffi::c_long,
        ) -> std::ffi::c_int {
            $crate::only_client();
            // SAFETY: the arguments are the caller's, as the specification says.
            unsafe { ($crate::switch::Switch::dynamic().open)(info, rmid, flags) }
        }
    };
    ($how:ident) => {};
}

/// Defines one call.
#[doc(hidden)]
#[macro_export]
macro_rules! call {
    (c $name:ident $call:ident($($argument:ident: $kind:ident),*)) => {
        #[allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]
        // SAFETY: no other library of a program defines a call of the interface.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($argument: $crate::argument!(c $kind),)*
            completion: *mut i32,
            reason: *mut i32,
        ) {
            // SAFETY: the arguments are what the interface says.
            unsafe { $crate::calls::$call($($argument,)* completion, reason) }
        }
    };
    (client $name:ident $call:ident($($argument:ident: $kind:ident),*)) => {
        #[allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]
        // SAFETY: no other library of a program defines a call of the interface.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($argument: $crate::argument!(c $kind),)*
            completion: *mut i32,
            reason: *mut i32,
        ) {
            $crate::only_client();
            // SAFETY: the arguments are what the interface says.
            unsafe { $crate::calls::$call($($argument,)* completion, reason) }
        }
    };
    (cobol $name:ident $call:ident($($argument:ident: $kind:ident),*)) => {
        #[allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]
        // SAFETY: no other library of a program defines a call of the interface.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($argument: $crate::argument!(cobol $kind),)*
            completion: *mut i32,
            reason: *mut i32,
        ) -> i32 {
            // SAFETY: the arguments are what the interface says.
            unsafe {
                $crate::calls::$call($($crate::value!($argument $kind),)* completion, reason);
            }
            // It becomes the RETURN-CODE.
            0
        }
    };
    (either $name:ident $call:ident($first:ident: $its:ident
        $(, $argument:ident: $kind:ident)*)) => {
        #[allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]
        #[allow(clippy::too_many_arguments)] // the interface's own
        // SAFETY: no other function of an executable has the name of a call of the interface.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $first: *mut std::ffi::c_void,
            $($argument: *mut std::ffi::c_void,)*
            completion: *mut i32,
            reason: *mut i32,
        ) -> i32 {
            let referred = $crate::region::is_by_reference($first);
            // SAFETY: the arguments are what the interface says, in one of its two forms.
            unsafe {
                $crate::calls::$call(
                    $crate::either!(referred $first $its),
                    $($crate::either!(referred $argument $kind),)*
                    completion,
                    reason,
                );
            }
            0
        }
    };
}

/// An argument of a program in either language, as the call takes it.
#[doc(hidden)]
#[macro_export]
macro_rules! either {
    ($referred:ident $argument:ident number) => {
        if $referred {
            $crate::by_reference($argument.cast::<i32>())
        } else {
            $argument.addr() as i32
        }
    };
    ($referred:ident $argument:ident handle) => {
        if $referred {
            $crate::by_reference($argument.cast::<i64>())
        } else {
            $argument.addr() as i64
        }
    };
    ($referred:ident $argument:ident $kind:ident) => {
        $argument.cast()
    };
}

/// How an argument is declared.
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    (c number) => { i32 };
    (c handle) => { i64 };
    (cobol number) => { *const i32 };
    (cobol handle) => { *const i64 };
    ($how:ident data) => { *mut std::ffi::c_void };
    ($how:ident back) => { *mut i32 };
    ($how:ident message) => { *mut i64 };
}

/// An argument of a program in COBOL, as the call takes it.
#[doc(hidden)]
#[macro_export]
macro_rules! value {
    ($argument:ident number) => {
        $crate::by_reference($argument)
    };
    ($argument:ident handle) => {
        $crate::by_reference($argument)
    };
    ($argument:ident $kind:ident) => {
        $argument
    };
}
