//! Which attributes channels of each type have.

/// The types of channels, as `CHLTYPE` names them, in the order of [`TYPES_OF`]'s letters.
const TYPES: [(&str, char); 9] = [
    ("SDR", 'S'),
    ("SVR", 'V'),
    ("RCVR", 'R'),
    ("RQSTR", 'Q'),
    ("CLNTCONN", 'C'),
    ("SVRCONN", 'N'),
    ("CLUSSDR", 'L'),
    ("CLUSRCVR", 'U'),
    ("AMQP", 'A'),
];

/// The types that have an attribute, each as its letter. What is not here, all have.
const TYPES_OF: &[(&str, &str)] = &[
    ("AFFINITY", "C"),
    ("AMQPKA", "A"),
    ("BATCHHB", "SVLU"),
    ("BATCHINT", "SVLU"),
    ("BATCHLIM", "SVLU"),
    ("BATCHSZ", "SVRQLU"),
    ("CERTLABL", "SVRQCNUA"),
    ("CLNTWGHT", "C"),
    ("CLUSNL", "LU"),
    ("CLUSTER", "LU"),
    ("CLWLPRTY", "LU"),
    ("CLWLRANK", "LU"),
    ("CLWLWGHT", "LU"),
    ("COMPHDR", "SVRQCNLU"),
    ("COMPMSG", "SVRQCNLU"),
    ("CONNAME", "SVQCLU"),
    ("CONVERT", "SVLU"),
    ("DEFRECON", "C"),
    ("DISCINT", "SVNLU"),
    ("HBINT", "SVRQCNLU"),
    ("KAINT", "SVRQCNLU"),
    ("LOCLADDR", "SVQCLUA"),
    ("LONGRTY", "SVLU"),
    ("LONGTMR", "SVLU"),
    ("MAXINST", "NA"),
    ("MAXINSTC", "N"),
    ("MCANAME", "SVQLU"),
    ("MCATYPE", "SVQLU"),
    ("MCAUSER", "SVRQNLUA"),
    ("MODENAME", "SVQCLU"),
    ("MONCHL", "SVRQNLU"),
    ("MRDATA", "RQU"),
    ("MREXIT", "RQU"),
    ("MRRTY", "RQU"),
    ("MRTMR", "RQU"),
    ("MSGDATA", "SVRQLU"),
    ("MSGEXIT", "SVRQLU"),
    ("NETPRTY", "U"),
    ("NPMSPEED", "SVRQLU"),
    ("PASSWORD", "SVQCL"),
    ("PORT", "A"),
    ("PROPCTL", "SVLU"),
    ("PUTAUT", "RQNU"),
    ("QMNAME", "C"),
    ("RCVDATA", "SVRQCNLU"),
    ("RCVEXIT", "SVRQCNLU"),
    ("SCYDATA", "SVRQCNLU"),
    ("SCYEXIT", "SVRQCNLU"),
    ("SENDDATA", "SVRQCNLU"),
    ("SENDEXIT", "SVRQCNLU"),
    ("SEQWRAP", "SVRQLU"),
    ("SHARECNV", "CN"),
    ("SHORTRTY", "SVLU"),
    ("SHORTTMR", "SVLU"),
    ("SSLCAUTH", "VRQNUA"),
    ("STATCHL", "SVRQLU"),
    ("TMPMODEL", "A"),
    ("TMPQPRFX", "A"),
    ("TPNAME", "SVQCLU"),
    ("TPROOT", "A"),
    ("TRPTYPE", "SVRQCNLU"),
    ("USECLTID", "A"),
    ("USEDLQ", "SVRQLU"),
    ("USERID", "SVQCL"),
    ("XMITQ", "SV"),
];

/// Whether channels of a type have an attribute.
pub(crate) fn has(channel_type: &str, attribute: &str) -> bool {
    let letter = TYPES.iter().find(|(name, _)| *name == channel_type).map(|(_, letter)| *letter);
    match (TYPES_OF.iter().find(|(name, _)| *name == attribute), letter) {
        (Some((_, types)), Some(letter)) => types.contains(letter),
        _ => true,
    }
}

/// The object whose attributes channels of a type begin with.
pub(crate) fn default_object(channel_type: &str) -> &'static str {
    match channel_type {
        "SDR" => "SYSTEM.DEF.SENDER",
        "SVR" => "SYSTEM.DEF.SERVER",
        "RCVR" => "SYSTEM.DEF.RECEIVER",
        "RQSTR" => "SYSTEM.DEF.REQUESTER",
        "CLNTCONN" => "SYSTEM.DEF.CLNTCONN",
        "CLUSSDR" => "SYSTEM.DEF.CLUSSDR",
        "CLUSRCVR" => "SYSTEM.DEF.CLUSRCVR",
        "AMQP" => "SYSTEM.DEF.AMQP",
        _ => "SYSTEM.DEF.SVRCONN",
    }
}

/// Defaults that differ between the types.
pub(crate) fn defaults(channel_type: &str) -> &'static [(&'static str, &'static str)] {
    match channel_type {
        "SDR" | "SVR" | "CLUSSDR" | "CLUSRCVR" => &[("DISCINT", "6000")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_differ_in_their_attributes() {
        assert!(has("SDR", "XMITQ") && !has("RCVR", "XMITQ") && has("SVRCONN", "MAXINSTC"));
        assert!(has("AMQP", "PORT") && !has("AMQP", "HBINT") && has("AMQP", "DESCR"));
        assert!(TYPES_OF.is_sorted_by_key(|(name, _)| *name));
    }
}
