/** Longest frame of a client. */
export const maxFrameBytes = 1024 * 1024;

/** Above the high water mark of unsent bytes the other peer is paused; below the low one it resumes. */
export const highWaterBytes = 256 * 1024;
export const lowWaterBytes = 64 * 1024;
/** Above this number of unsent bytes the client itself is paused, since its requests would add more. */
export const maxUnsentBytes = 512 * 1024;

export const pingIntervalMs = 30_000;
/** Unanswered pings before a peer counts as dead. More than one, since a ping waits behind unsent audio. */
export const maxUnansweredPings = 2;

/** Longest time without a frame, or between two tasks. */
export const idleTimeoutMs = 60_000;
/** Longest time between two texts of a task. */
export const textTimeoutMs = 23_000;

/** Longest text of one frame, and of one task, in billing characters. */
export const maxTextLength = 20_000;
export const maxTaskLength = 200_000;

/** A failure is reported to the client after this time, even if the settlement is still running. */
export const maxSettlementWaitMs = 1_000;
