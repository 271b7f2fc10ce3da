/** The part of a request, or of another stream, that the pacer needs. */
export interface PacedRequest {
  readonly destroyed: boolean;
  pause(): unknown;
  resume(): unknown;
}

/** Bodies up to this size are read without pauses, in bytes. */
export const maxUnpacedBytes = 128 * 1024;
/** Paced requests that one turn of the event loop reads from. Each delivers at most about 128 KB. */
const maxRequestsPerTurn = 2;

/**
 * Bounds the bytes of large bodies that one turn of the event loop reads. Without it, a few clients that send as fast
 * as they can make each turn last for tens of milliseconds, and every other request needs several turns.
 */
export class BodyPacer {
  readonly #defer: (resume: () => void) => void;
  /** Paused requests, the longest waiting first. */
  readonly #paused = new Set<PacedRequest>();
  #isScheduled = false;

  /** `defer` calls back in the next turn of the event loop. */
  constructor(defer: (resume: () => void) => void = setImmediate) {
    this.#defer = defer;
  }

  /** Pauses a request that delivered a chunk of its body, and resumes it in a later turn. */
  pause(request: PacedRequest): void {
    request.pause();
    this.#paused.add(request);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#paused.size === 0) return;
    this.#isScheduled = true;
    this.#defer(() => {
      this.#isScheduled = false;
      let resumed = 0;
      for (const request of this.#paused) {
        if (resumed === maxRequestsPerTurn) break;
        this.#paused.delete(request);
        if (request.destroyed) continue;
        request.resume();
        resumed += 1;
      }
      this.#schedule();
    });
  }
}

/** One for the process, which has one event loop. */
export const bodyPacer = new BodyPacer();
