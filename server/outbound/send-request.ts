import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ResponseBody } from './response-body.ts';

/** A response whose headers have arrived. */
export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: ResponseBody;
}

/** Sends a request. Aborting the signal also aborts the body later. @throws the signal's reason, errors of undici */
export function sendRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    dispatcher.dispatch(request, new Exchange(signal, resolve, reject));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (response: HttpResponse) => void;
  /** Has no effect after the response headers. */
  readonly #reject: (error: unknown) => void;
  #sender: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  readonly #abort = (): void => {
    const { reason } = this.#signal;
    this.#cleanUp();
    this.#reject(reason);
    this.#body?.fail(reason);
    this.#sender?.abort(reason);
  };

  constructor(
    signal: AbortSignal,
    resolve: (response: HttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#abort);
  }

  onRequestStart(sender: Dispatcher.DispatchController): void {
    this.#sender = sender;
    // The signal was aborted while the request waited for a connection.
    if (this.#signal.aborted) sender.abort(this.#signal.reason);
  }

  onResponseStart(sender: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#body = new ResponseBody(sender);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_sender: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.write(chunk);
  }

  onResponseEnd(): void {
    this.#cleanUp();
    this.#body?.end();
  }

  onResponseError(_sender: Dispatcher.DispatchController, error: Error): void {
    this.#cleanUp();
    this.#reject(error);
    this.#body?.fail(error);
  }

  #cleanUp(): void {
    this.#signal.removeEventListener('abort', this.#abort);
  }
}
