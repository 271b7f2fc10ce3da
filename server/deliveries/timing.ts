/** How long everything about deliveries takes, in milliseconds. */
export interface DeliveryTiming {
  /** A receiver has so long to answer. */
  answerMs: number;
  /** Before the second try, the third and so on; after the last of them the notice is given up. */
  pausesMs: readonly number[];
  /** A lease outlives the try it is for by this. */
  leaseMarginMs: number;
  /** Closed notices are kept so long. */
  keepMs: number;
  /** Least time between two claims: what becomes due meanwhile shares one. */
  claimGapMs: number;
  /** Most time between two claims, for what other processes add. */
  idleMs: number;
  housekeepingMs: number;
}

const minute = 60_000;

export const standardTiming: DeliveryTiming = {
  answerMs: 5_000,
  pausesMs: [10_000, minute, 10 * minute],
  leaseMarginMs: 15_000,
  keepMs: 24 * 60 * minute,
  claimGapMs: 50,
  idleMs: 1_000,
  housekeepingMs: minute,
};
