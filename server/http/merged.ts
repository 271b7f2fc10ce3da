/** Bytes that were put together, until nobody needs them any more. */
export interface Merged {
  readonly bytes: Buffer;
  /** Once: they may be overwritten. */
  release(): void;
}

/** As much as a socket gives at a time. */
const size = 64 * 1024;
/** So many buffers are kept for what comes next. */
const maxKept = 64;
/** Used again and again: fresh ones would keep the garbage collector at work all the time. */
const kept: Buffer[] = [];

const nothing = () => {};

/** Puts pieces together. */
export function merged(pieces: readonly Buffer[]): Merged {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return { bytes: first, release: nothing };
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > size) return { bytes: Buffer.concat(pieces), release: nothing };
  const buffer = kept.pop() ?? Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) at += piece.copy(buffer, at);
  return {
    bytes: buffer.subarray(0, length),
    release: () => {
      if (kept.length < maxKept) kept.push(buffer);
    },
  };
}
