import type { IncomingMessage } from 'node:http';
import { invalid } from '../lib/failure.ts';
import { overall, tooLarge } from './body-limits.ts';
import { bodyPacer, maxUnpacedBytes } from './body-pacer.ts';

/** Receives a body. Exactly one of `end` and `fail` is called. */
export interface BodySink {
  /** @throws Failure when the body cannot be accepted; the rest is not collected then */
  push(piece: Buffer): void;
  /** @param size bytes of the whole body */
  end(size: number): void;
  fail(error: unknown): void;
}

/**
 * Reads a body of at most `maxBytes`, and pauses between the pieces of a large one.
 *
 * @throws Failure 413 when the declared length is larger
 */
export function collectBody(request: IncomingMessage, maxBytes: number, sink: BodySink): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge('body', maxBytes, overall);
  let size = 0;
  let isOver = false;
  const fail = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    sink.fail(error);
  };
  const push = (piece: Buffer) => {
    size += piece.length;
    try {
      if (size > maxBytes) throw tooLarge('body', maxBytes, overall);
      sink.push(piece);
      if (size > maxUnpacedBytes) bodyPacer.pause(request);
    } catch (error) {
      request.off('data', push);
      fail(error);
    }
  };
  request.on('data', push);
  request.on('end', () => {
    if (isOver) return;
    isOver = true;
    try {
      sink.end(size);
    } catch (error) {
      sink.fail(error);
    }
  });
  request.on('error', fail);
  request.on('aborted', () => fail(invalid('body', 'the client went away before its end.')));
}
