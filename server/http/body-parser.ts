import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../generated/errors.ts';
import { Failure } from '../lib/failure.ts';
import type { BodyJob, ParsedBody } from './parse-body.ts';
import type { ParserReply } from './parser-thread.ts';

/** Bodies above this size are parsed in a thread, in bytes. */
export const maxInlineBytes = 1024 * 1024;
/** Heap of a thread in megabytes: far more than the largest body needs. */
const maxThreadHeapMb = 512;
/** Seconds after which a refused request may be repeated. */
const retryAfter = 1;

/** User whose body it is; undefined where no key is checked. */
type Owner = number | undefined;

/** A body in the queue. */
interface Pending {
  readonly job: BodyJob;
  /** Called when a thread starts with it: it cannot be aborted any more. */
  leaveQueue(): void;
  resolve(body: ParsedBody): void;
  reject(error: Error): void;
}

export interface BodyParserOptions {
  /** Threads at most. Each is started when it is first needed. */
  threads?: number;
  /** Bodies of all users that may wait for a thread. */
  maxWaiting?: number;
  script?: URL;
}

/** Parses large bodies in threads, so that they do not hold up other requests. Users are served in turn. */
export class BodyParser {
  readonly #maxThreads: number;
  readonly #maxWaiting: number;
  readonly #script: URL;
  readonly #threads = new Set<ParserThread>();
  /** In the order in which the users have their turns. */
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
   * Parses a body, whose pieces cannot be used afterwards. Rejects with Failure 400 or 413 when the body is refused, 429
   * when too many bodies of the owner wait, and 500 when the thread fails. Rejects with the reason of the signal when
   * it aborts in the queue.
   */
  parse<Job extends BodyJob>(job: Job, owner: Owner, signal: AbortSignal): Promise<ParsedBody<Job['kind']>> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isClosed) throw closed();
      this.#requireRoom(owner);
      const stop = () => signal.removeEventListener('abort', abort);
      const pending: Pending = {
        job,
        leaveQueue: stop,
        resolve,
        reject,
      };
      const abort = () => {
        stop();
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
    for (const own of this.#waiting.values()) {
      for (const pending of own) {
        pending.leaveQueue();
        pending.reject(closed());
      }
    }
    this.#waiting.clear();
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  /** A user may queue as many bodies as there are free places, so that others always find one. */
  #requireRoom(owner: Owner): void {
    let waiting = 0;
    for (const { size } of this.#waiting.values()) waiting += size;
    if ((this.#waiting.get(owner)?.size ?? 0) < this.#maxWaiting - waiting) return;
    const message = `Too many large bodies of this user wait to be read. Repeat after ${retryAfter} second.`;
    throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
  }

  #runNext(): void {
    for (const [owner, [pending]] of this.#waiting) {
      const thread = this.#idleThread();
      if (thread === undefined || pending === undefined) return;
      this.#remove(owner, pending);
      pending.leaveQueue();
      thread.run(pending);
    }
  }

  /** Removes a body from the queue. The next one of its owner goes behind those of all others. */
  #remove(owner: Owner, pending: Pending): void {
    const own = this.#waiting.get(owner);
    if (own === undefined) return;
    own.delete(pending);
    this.#waiting.delete(owner);
    if (own.size > 0) this.#waiting.set(owner, own);
  }

  #idleThread(): ParserThread | undefined {
    for (const thread of this.#threads) if (thread.isIdle) return thread;
    if (this.#threads.size >= this.#maxThreads || this.#isClosed) return undefined;
    const thread: ParserThread = new ParserThread(this.#script, {
      onIdle: () => this.#runNext(),
      onEnd: () => {
        this.#threads.delete(thread);
        this.#runNext();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

function closed(): Error {
  return new Error('the body parser is closed');
}

interface ThreadEvents {
  onIdle(): void;
  onEnd(): void;
}

/** One thread, which parses one body at a time. */
class ParserThread {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  #current: Pending | undefined;

  constructor(script: URL, events: ThreadEvents) {
    this.#events = events;
    this.#worker = new Worker(script, {
      name: 'body parser',
      resourceLimits: { maxOldGenerationSizeMb: maxThreadHeapMb },
    });
    // It waits for bodies as long as the process lives, and must not keep it alive.
    this.#worker.unref();
    this.#worker.on('message', (reply: ParserReply) => {
      const pending = this.#current;
      this.#current = undefined;
      if ('body' in reply) pending?.resolve(reply.body);
      else pending?.reject(asFailure(reply.refusal));
      this.#events.onIdle();
    });
    this.#worker.on('error', (error: Error) => this.#end(error));
    this.#worker.on('messageerror', (error: Error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the body parser has stopped')));
  }

  get isIdle(): boolean {
    return this.#current === undefined;
  }

  run(pending: Pending): void {
    this.#current = pending;
    const { job } = pending;
    const pieces = job.pieces.map(ownBytes);
    this.#worker.postMessage(
      { ...job, pieces },
      pieces.map(({ buffer }) => buffer),
    );
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(cause: Error): void {
    const pending = this.#current;
    this.#current = undefined;
    pending?.reject(new Failure(500, 'internal_error', 'The gateway failed to read the body.', { cause }));
    void this.#worker.terminate();
    this.#events.onEnd();
  }
}

/** Bytes that share their memory with nothing else, so that a thread can take them over. */
function ownBytes(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = piece;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(piece);
}

function asFailure({ status, code, message }: Extract<ParserReply, { refusal: object }>['refusal']): Failure {
  return new Failure(status, code as ErrorCode, message);
}
