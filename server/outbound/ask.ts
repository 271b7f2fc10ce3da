import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';

/** An answer of which the head is there. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: AnswerBody;
}

/**
 * Sends a request. An aborted signal breaks off the body too.
 *
 * @throws the signal's reason, and what undici throws
 */
export function ask(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    dispatcher.dispatch(request, new Exchange(signal, resolve, reject));
  });
}

/** One request and its answer, as undici tells of them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #answered: (answer: HttpAnswer) => void;
  /** No more than a try once there is an answer. */
  readonly #failed: (error: unknown) => void;
  #sender: Dispatcher.DispatchController | undefined;
  #body: AnswerBody | undefined;
  /** The signal is aborted. */
  readonly #aborted = (): void => {
    const { reason } = this.#signal;
    this.#over();
    this.#failed(reason);
    this.#body?.fail(reason);
    this.#sender?.abort(reason);
  };

  constructor(signal: AbortSignal, answered: (answer: HttpAnswer) => void, failed: (error: unknown) => void) {
    this.#signal = signal;
    this.#answered = answered;
    this.#failed = failed;
    signal.addEventListener('abort', this.#aborted);
  }

  onRequestStart(sender: Dispatcher.DispatchController): void {
    this.#sender = sender;
    // It waited for a connection.
    if (this.#signal.aborted) sender.abort(this.#signal.reason);
  }

  onResponseStart(sender: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#body = new AnswerBody(sender);
    this.#answered({ status, headers, body: this.#body });
  }

  onResponseData(_sender: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body?.take(piece);
  }

  onResponseEnd(): void {
    this.#over();
    this.#body?.end();
  }

  onResponseError(_sender: Dispatcher.DispatchController, error: Error): void {
    this.#over();
    this.#failed(error);
    this.#body?.fail(error);
  }

  #over(): void {
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}
