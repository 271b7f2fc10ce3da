import type { DocumentedOperation } from '../contract/documented.ts';
import type { Answer, Target } from '../wire/answer.ts';
import { curlOf } from '../wire/curl.ts';
import { type Request, requestOf, send, type Variation } from '../wire/exchange.ts';
import { announceBody, shakeHands } from '../wire/send-head.ts';
import { excerpt, violations } from '../wire/wire.ts';
import { codeOf, factsOf, isKnownCode, type Seen } from './seen.ts';

/** How a request goes out: whole, as the handshake of a socket, or as a head that announces so many bytes. */
export type Way = 'whole' | 'handshake' | { announces: number };

/** An answer and what it breaks of the contract. */
export interface Told {
  answer: Answer;
  problems: string[];
  curl: string;
}

/** Thrown when there is no answer; the run tells it as a problem of its check. */
export class NoAnswer extends Error {
  readonly curl: string;

  constructor(message: string, curl: string, options?: ErrorOptions) {
    super(message, options);
    this.curl = curl;
  }
}

export type OnAnswer = (
  target: Target,
  operation: DocumentedOperation,
  request: { method: string; path: string },
  answer: Answer,
) => void;

interface Options {
  timeoutMs: number;
  seen: Seen;
  /** Told of every answer. */
  onAnswer?: OnAnswer | undefined;
}

/** Sends requests, and holds every answer to the contract. */
export class Caller {
  readonly #options: Options;
  readonly #cleaners: ((operation: DocumentedOperation, target: Target, answer: Answer) => void)[] = [];

  constructor(options: Options) {
    this.#options = options;
  }

  /** Has every good answer looked at, for what has to be taken away again. */
  afterEach(clean: (operation: DocumentedOperation, target: Target, answer: Answer) => void): void {
    this.#cleaners.push(clean);
  }

  /** @throws NoAnswer when the time is over, or the connection breaks off */
  async send(
    target: Target,
    operation: DocumentedOperation,
    variation: Variation = {},
    way: Way = 'whole',
    mayBeProviders = false,
  ): Promise<Told> {
    const request = requestOf(target, operation, variation);
    const curl = curlOf(request);
    const answer = await this.#answer(target, operation, variation, way, request, curl);
    this.#options.seen.noteAnswer(operation, answer);
    this.#options.onAnswer?.(target, operation, request, answer);
    if (answer.status < 300) for (const clean of this.#cleaners) clean(operation, target, answer);
    const problems = [...violations(operation, answer), ...errorProblems(operation, answer, mayBeProviders)];
    return { answer, problems, curl };
  }

  async #answer(
    target: Target,
    operation: DocumentedOperation,
    variation: Variation,
    way: Way,
    request: Request,
    curl: string,
  ): Promise<Answer> {
    const { timeoutMs } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      if (way === 'whole') return await sendOnKeptConnection(request, signal);
      if (way === 'handshake') return await shakeHands(target, operation, variation, signal);
      return await announceBody(target, operation, way.announces, signal);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const why = signal.aborted
        ? `no whole answer came within ${timeoutMs / 1000} seconds`
        : `the connection broke off: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new NoAnswer(why, curl, { cause: error });
    }
  }
}

/** A server may close a connection that was kept in the very moment in which it is used again: that is no fault. */
async function sendOnKeptConnection(request: Request, signal: AbortSignal): Promise<Answer> {
  try {
    return await send(request, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return await send(request, signal);
  }
}

/** What is wrong with an error beside its schema: its code, and the request id that it tells. */
function errorProblems(operation: DocumentedOperation, answer: Answer, mayBeProviders: boolean): string[] {
  if (answer.status < 400) return [];
  const code = codeOf(answer);
  if (code === undefined) return [];
  const { errorFamily: family } = factsOf(operation);
  const unknown =
    mayBeProviders || isKnownCode(family, answer.status, code)
      ? []
      : [`the catalogue has no ${answer.status} ${code} for ${family} operations: ${excerpt(answer)}`];
  const { error } = JSON.parse(answer.body.toString('utf8')) as { error: { request_id?: string } };
  const id = answer.headers.get('x-request-id');
  const other = error.request_id === id ? [] : [`request_id is ${error.request_id}, x-request-id is ${id}`];
  return [...unknown, ...other];
}
