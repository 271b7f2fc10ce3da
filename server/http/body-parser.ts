import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../generated/errors.ts';
import { Failure } from '../lib/failure.ts';
import type { BodyJob } from './parse-body.ts';
import type { ParserReply } from './parser-thread.ts';

/** Bodies above this size are parsed in a thread, in bytes. */
export const maxInlineBytes = 1024 * 1024;
/** Heap limit of a thread in megabytes, far more than the largest body needs. */
const maxThreadHeapMb = 512;
/** Seconds after which a client may retry. */
const retryAfter = 1;

/** Id of the user who sent the body. Undefined where no key is checked. */
type Owner = number | undefined;

interface Pending {
  readonly job: BodyJob;
  /** Called when the body leaves the queue, because it can no longer be aborted. */
  leaveQueue(): void;
  resolve(body: unknown): void;
  reject(error: Error): void;
}

export interface BodyParserOptions {
  /** Maximum number of threads. Each is started when it is first needed. */
  threads?: number;
  /** Maximum number of waiting bodies of all users. */
  maxWaiting?: number;
  script?: URL;
}

/** Parses large bodies in threads, so that they do not delay other requests. Users are served in turn. */
export class BodyParser {
  readonly #maxThreads: number;
  readonly #maxWaiting: number;
  readonly #script: URL;
  /** Threads with their current body. Undefined: the thread is idle. */
  readonly #threads = new Map<Worker, Pending | undefined>();
  /** Waiting bodies by user, in the order in which users are served. */
  readonly #waiting = new Map<Owner, Set<Pending>>();
  #isClosed = false;

  constructor({
    threads = Math.max(1, Math.min(2, availableParallelism() - 1)),
    maxWaiting = 64,
    script = new URL('./parser-thread.ts', import.meta.url),
  }: BodyParserOptions = {}) {
    this.#maxThreads = threads;
    this.#maxWaiting = maxWaiting;
    this.#script = script;
  }

  /**
   * Parses a body, see `parseBody`. Its chunks cannot be used afterwards. Rejects with Failure 400 or 413 when the body
   * is refused, 429 when too many bodies of the owner wait, and 500 when the thread fails. Rejects with the reason of
   * the signal when it aborts in the queue.
   */
  parse(job: BodyJob, owner: Owner, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isClosed) throw closed();
      this.#requireRoom(owner);
      const leaveQueue = () => signal.removeEventListener('abort', abort);
      const pending: Pending = { job, leaveQueue, resolve, reject };
      const abort = () => {
        this.#remove(owner, pending);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      const own = this.#waiting.get(owner) ?? new Set();
      this.#waiting.set(owner, own.add(pending));
      this.#runNext();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [owner, own] of this.#waiting) {
      for (const pending of own) {
        this.#remove(owner, pending);
        pending.reject(closed());
      }
    }
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  /** A user may queue as many bodies as there are free places, so that others always find one. */
  #requireRoom(owner: Owner): void {
    let waiting = 0;
    for (const { size } of this.#waiting.values()) waiting += size;
    if ((this.#waiting.get(owner)?.size ?? 0) < this.#maxWaiting - waiting) return;
    const message = `Too many large bodies of this user are waiting. Retry after ${retryAfter} second.`;
    throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
  }

  #runNext(): void {
    for (const [owner, [pending]] of this.#waiting) {
      const thread = this.#idleThread();
      if (thread === undefined || pending === undefined) return;
      this.#remove(owner, pending);
      this.#threads.set(thread, pending);
      const chunks = pending.job.chunks.map(ownBytes);
      thread.postMessage(
        { ...pending.job, chunks },
        chunks.map(({ buffer }) => buffer),
      );
    }
  }

  /** Removes a body from the queue. The next one of its owner goes behind those of all others. */
  #remove(owner: Owner, pending: Pending): void {
    pending.leaveQueue();
    const own = this.#waiting.get(owner);
    own?.delete(pending);
    this.#waiting.delete(owner);
    if (own !== undefined && own.size > 0) this.#waiting.set(owner, own);
  }

  #idleThread(): Worker | undefined {
    for (const [thread, current] of this.#threads) if (current === undefined) return thread;
    return this.#threads.size >= this.#maxThreads || this.#isClosed ? undefined : this.#startThread();
  }

  #startThread(): Worker {
    const thread = new Worker(this.#script, {
      name: 'body parser',
      resourceLimits: { maxOldGenerationSizeMb: maxThreadHeapMb },
    });
    // An idle thread must not keep the process alive.
    thread.unref();
    this.#threads.set(thread, undefined);
    thread.on('message', (reply: ParserReply) => {
      const pending = this.#threads.get(thread);
      this.#threads.set(thread, undefined);
      if ('body' in reply) pending?.resolve(reply.body);
      else pending?.reject(asFailure(reply.refusal));
      this.#runNext();
    });
    const end = (cause: Error) => {
      const pending = this.#threads.get(thread);
      this.#threads.delete(thread);
      pending?.reject(new Failure(500, 'internal_error', 'The gateway failed to read the body.', { cause }));
      void thread.terminate();
      this.#runNext();
    };
    thread.on('error', end);
    thread.on('messageerror', end);
    thread.on('exit', () => end(new Error('the body parser has stopped')));
    return thread;
  }
}

function closed(): Error {
  return new Error('the body parser is closed');
}

/** Returns bytes that share their memory with nothing else, so that they can be transferred to a thread. */
function ownBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = chunk;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(chunk);
}

function asFailure({ status, code, message }: Extract<ParserReply, { refusal: object }>['refusal']): Failure {
  return new Failure(status, code as ErrorCode, message);
}
