/** Longest frame of a client, in bytes. */
export const maxFrameBytes = 1024 * 1024;

/** Bytes waiting for a peer above which the other side is held back, and below which it goes on. */
export const highWater = 256 * 1024;
export const lowWater = 64 * 1024;
/** Bytes waiting for a client above which it is not read either: its own answers would only add to them. */
export const unreadLimit = 512 * 1024;

/** Between two pings, in milliseconds. */
export const pingEvery = 30_000;
/** Pings without a sign of life after which a peer is given up; more than one, since they wait behind unread audio. */
export const pingsUnanswered = 2;

/** Longest time without a frame, or without a task, in milliseconds. */
export const idleLimit = 60_000;
/** Longest time between two texts of a task, in milliseconds. */
export const textLimit = 23_000;

/** Longest text of one frame, and of one task, in billing characters. */
export const maxTextLength = 20_000;
export const maxTaskLength = 200_000;

/** A client hears of a failure after so many milliseconds, though the books may not be closed then. */
export const booksGraceMs = 1_000;
