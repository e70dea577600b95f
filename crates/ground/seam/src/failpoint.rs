//! Deliberate bugs behind a switch that only tests compile in.
//!
//! The proof of the kernel is only worth something if it would find a bug. Each [`Failpoint`] is
//! one that the crash suite must find; the code it spoils asks [`armed`] at the spot. Without the
//! feature `failpoints` the question is a constant `false` and costs nothing.

/// One deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failpoint {
    /// A page is written before the log that describes it is durable.
    PageBeforeLog,
    /// A commit is acknowledged before its record is durable.
    ReplyBeforeDurable,
    /// A read-only unit of work is acknowledged before what it read is durable.
    ReadBeforeWriterDurable,
    /// Pages are written in place without the double-write area.
    NoDoubleWrite,
    /// The write counter does not advance.
    NonceReused,
    /// Restart does not back out units of work in flight.
    UndoSkipped,
    /// A split logs only its left half.
    HalfSplit,
    /// The previous group's tag is not compared.
    ChainNotChecked,
    /// Restart reads the log copy that is known to be stale.
    StaleCopyPreferred,
    /// A damaged group within the log is taken for its end.
    EndTooEarly,
    /// A page's freshness is not compared.
    FreshnessNotChecked,
    /// A plain page is accepted in a sealed data set.
    PlainAccepted,
    /// Locks are not kept to the end of the unit of work.
    LocksDroppedEarly,
    /// The redo point advances before the pages before it are on disk.
    CheckpointTooNew,
    /// Compensation records are not logged, so that undo runs twice.
    NoCompensation,
    /// A freed interval is used again before the commit that freed it is durable.
    SpaceReusedEarly,
    /// The end of a range is not locked.
    NextKeyNotLocked,
    /// A lost log copy is not recorded before the next acknowledgement.
    LostCopyUnrecorded,
    /// New stripes are written to before anybody has recorded where they are.
    StripesUnrecorded,
    /// The files of new stripes are written to before their folders are synced.
    StripesUnsynced,
    /// Groups of old segments are looked for by the newest number of stripes.
    StripesOfNow,
    /// A start believes the configuration, whatever the control file binds.
    ProtectionNotCompared,
    /// A definition that says that a data set is plain is believed without a permit.
    PermitNotChecked,
    /// A start under a plain log takes data sets that are sealed.
    SealedUnderPlainLog,
    /// A start does not ask the anchor.
    AnchorNotCompared,
    /// A database record is given back when the position leaves it, although it was changed.
    RecordGivenBack,
    /// An index keeps its entry for what a replaced segment said before.
    IndexEntryKept,
    /// How far a numbering is, is not recorded with what it wrote.
    NumberingForgotten,
    /// A change of RECON counts before it is synced.
    ReconUnsynced,
    /// RECON goes on with one copy without saying that the other is stale.
    LostReconCopyUnrecorded,
    /// A conversion changes the form of what is written without a record of it.
    ConversionUnlogged,
    /// A conversion's cursor passes intervals before they are on disk in the new form.
    CursorTooEarly,
    /// A conversion leaves free intervals as they are.
    FreeNotConverted,
    /// A conversion ends while the double-write area still has the old form.
    SlotsNotCleared,
    /// What a conversion has passed may still have the old form.
    OldFormAccepted,
    /// A log segment is used again before it is archived.
    ReusedUnarchived,
    /// Groups count as archived before their archive file is durable.
    ArchiveUnsynced,
    /// The archive does not prove what it copies.
    ArchivedUnproven,
    /// The archive takes groups before they are durable.
    ArchivedUndurable,
    /// A lost log copy counts as whole before it has been copied.
    CopyBackTooEarly,
    /// A lost log copy takes part again without the last groups before.
    CopyBackWithGap,
    /// That a lost log copy is made anew in another folder is not kept for the next start.
    CopyMovedUnrecorded,
    /// A damaged group is repaired with bytes that have not proven themselves.
    RepairedUnproven,
    /// A segment may be used again while one of its groups is repaired.
    RepairedUnheld,
    /// An entry of the write-ahead data set is overwritten before its group is durable.
    WadsReusedEarly,
    /// The write-ahead data set begins anew while an entry of before is still under way.
    WadsRenewedEarly,
    /// A restart does not read the write-ahead data set.
    WadsNotRead,
    /// That the write-ahead data set holds what the log lacks is not recorded.
    WadsUnrecorded,
    /// A write-ahead data set without an entry of its last beginning is taken for an empty one.
    WadsOverwritten,
    /// The write-ahead data set is made anew before it is recorded that the log lacks nothing.
    WadsOverLate,
    /// An archive that a recovery still needs is deleted.
    NeededArchiveDeleted,
    /// The files of an archive go before the registry knows.
    DeletedUnrecorded,
    /// An image copy counts before its files are on disk.
    CopyUnsynced,
    /// An image copy says that it was complete before it was.
    CopyEndTooEarly,
    /// An image copy counts although its data set was recovered meanwhile.
    CopyOfReplaced,
    /// The log that an image copy needs begins behind changes that were not on disk.
    CopyRedoTooNew,
    /// A recovery leaves in what was in flight at its point.
    RecoveryUndoSkipped,
    /// A data set that was built anew takes its place before it is on disk.
    SuccessorNotWritten,
    /// What a recovery has built is put in place before it is durable.
    SuccessorNotSynced,
    /// A recovery repeats the changes of an interval the newest first.
    SweepBackwards,
    /// A recovery counts that RECON does not know of.
    RecoveryUnrecorded,
    /// A recovery takes the place of what another one has replaced meanwhile.
    RecoveredTwice,
    /// A recovery passes over an interval that image copies have lost.
    LostIntervalForgiven,
    /// A damaged interval is repaired with an older version of it.
    OlderVersionPutBack,
    /// A verification in use takes what does not prove itself for something in flight.
    DamageOverlooked,
    /// A changed interval that goes to another frame is not announced there.
    CarriedUnannounced,
    /// The pool that a data set is leaving is not asked for what it still holds.
    OldPoolNotAsked,
    /// An interval is carried to a pool that its data set has left again.
    CarriedTooLate,
    /// An accumulation leaves records out that concern its data sets.
    AccumulatedTooLittle,
    /// A recovery does not read the log between two accumulations.
    BetweenAccumulationsSkipped,
    /// An accumulation does not say what commits have freed.
    FreesNotAccumulated,
    /// The log of a restored system gives out positions that the lost one has given out.
    RestoredWithoutLeap,
    /// A backout does not look who has changed the same records since.
    LaterChangesUnseen,
    /// A backout undoes the oldest change first.
    BackoutForwards,
    /// A backout commits record by record.
    BackoutInPieces,
    /// A message that was accepted stands in memory alone.
    MessageUnwritten,
    /// A message stays in its queue when its program's unit of work is committed.
    MessageKept,
    /// The message that came last is given out first.
    QueueBackwards,
    /// A message that has expired is given out all the same.
    ExpiryIgnored,
    /// A reply of a committed unit of work is not sent to the client who waits for it.
    ReplyForgotten,
    /// An output of a committed unit of work does not appear on its tpipe.
    OutputForgotten,
    /// A scratch pad area is kept in memory alone.
    ScratchPadUnwritten,
    /// That a transaction is stopped is forgotten by a restart.
    StopForgotten,
}

#[cfg(feature = "failpoints")]
impl Failpoint {
    /// All of them, for the proof that each is found.
    pub const ALL: &[Failpoint] = &[
        Failpoint::PageBeforeLog,
        Failpoint::ReplyBeforeDurable,
        Failpoint::ReadBeforeWriterDurable,
        Failpoint::NoDoubleWrite,
        Failpoint::NonceReused,
        Failpoint::UndoSkipped,
        Failpoint::HalfSplit,
        Failpoint::ChainNotChecked,
        Failpoint::StaleCopyPreferred,
        Failpoint::EndTooEarly,
        Failpoint::FreshnessNotChecked,
        Failpoint::PlainAccepted,
        Failpoint::LocksDroppedEarly,
        Failpoint::CheckpointTooNew,
        Failpoint::NoCompensation,
        Failpoint::SpaceReusedEarly,
        Failpoint::NextKeyNotLocked,
        Failpoint::LostCopyUnrecorded,
        Failpoint::StripesUnrecorded,
        Failpoint::StripesUnsynced,
        Failpoint::StripesOfNow,
        Failpoint::ProtectionNotCompared,
        Failpoint::PermitNotChecked,
        Failpoint::SealedUnderPlainLog,
        Failpoint::AnchorNotCompared,
        Failpoint::RecordGivenBack,
        Failpoint::IndexEntryKept,
        Failpoint::NumberingForgotten,
        Failpoint::ReconUnsynced,
        Failpoint::LostReconCopyUnrecorded,
        Failpoint::ConversionUnlogged,
        Failpoint::CursorTooEarly,
        Failpoint::FreeNotConverted,
        Failpoint::SlotsNotCleared,
        Failpoint::OldFormAccepted,
        Failpoint::ReusedUnarchived,
        Failpoint::ArchiveUnsynced,
        Failpoint::ArchivedUnproven,
        Failpoint::ArchivedUndurable,
        Failpoint::CopyBackTooEarly,
        Failpoint::CopyBackWithGap,
        Failpoint::CopyMovedUnrecorded,
        Failpoint::RepairedUnproven,
        Failpoint::RepairedUnheld,
        Failpoint::WadsReusedEarly,
        Failpoint::WadsRenewedEarly,
        Failpoint::WadsNotRead,
        Failpoint::WadsUnrecorded,
        Failpoint::WadsOverwritten,
        Failpoint::WadsOverLate,
        Failpoint::NeededArchiveDeleted,
        Failpoint::DeletedUnrecorded,
        Failpoint::CopyUnsynced,
        Failpoint::CopyEndTooEarly,
        Failpoint::CopyOfReplaced,
        Failpoint::CopyRedoTooNew,
        Failpoint::RecoveryUndoSkipped,
        Failpoint::SuccessorNotWritten,
        Failpoint::SuccessorNotSynced,
        Failpoint::SweepBackwards,
        Failpoint::RecoveryUnrecorded,
        Failpoint::RecoveredTwice,
        Failpoint::LostIntervalForgiven,
        Failpoint::OlderVersionPutBack,
        Failpoint::DamageOverlooked,
        Failpoint::CarriedUnannounced,
        Failpoint::OldPoolNotAsked,
        Failpoint::CarriedTooLate,
        Failpoint::AccumulatedTooLittle,
        Failpoint::BetweenAccumulationsSkipped,
        Failpoint::FreesNotAccumulated,
        Failpoint::RestoredWithoutLeap,
        Failpoint::LaterChangesUnseen,
        Failpoint::BackoutForwards,
        Failpoint::BackoutInPieces,
        Failpoint::MessageUnwritten,
        Failpoint::MessageKept,
        Failpoint::QueueBackwards,
        Failpoint::ExpiryIgnored,
        Failpoint::ReplyForgotten,
        Failpoint::OutputForgotten,
        Failpoint::ScratchPadUnwritten,
        Failpoint::StopForgotten,
    ];
}

#[cfg(feature = "failpoints")]
thread_local! {
    static ARMED: std::cell::Cell<Option<Failpoint>> = const { std::cell::Cell::new(None) };
}

/// Whether this failpoint is armed on this thread (simulated threads share one).
#[inline(always)]
#[must_use]
pub fn armed(bug: Failpoint) -> bool {
    #[cfg(feature = "failpoints")]
    return ARMED.get() == Some(bug);
    #[cfg(not(feature = "failpoints"))]
    {
        let _ = bug;
        false
    }
}

/// Arms a failpoint for all that follows on this thread, or removes it.
#[cfg(feature = "failpoints")]
pub fn arm(bug: Option<Failpoint>) {
    ARMED.set(bug);
}
