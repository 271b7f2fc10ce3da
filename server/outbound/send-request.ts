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
export async function sendRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  signal.throwIfAborted();
  const response = Promise.withResolvers<HttpResponse>();
  dispatcher.dispatch(request, new Exchange(signal, response));
  return response.promise;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #response: PromiseWithResolvers<HttpResponse>;
  #sender: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  readonly #abort = (): void => {
    const { reason } = this.#signal;
    this.#cleanUp();
    // Has no effect after the response headers.
    this.#response.reject(reason);
    this.#body?.fail(reason);
    this.#sender?.abort(reason);
  };

  constructor(signal: AbortSignal, response: PromiseWithResolvers<HttpResponse>) {
    this.#signal = signal;
    this.#response = response;
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
    this.#response.resolve({ status, headers, body: this.#body });
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
    this.#response.reject(error);
    this.#body?.fail(error);
  }

  #cleanUp(): void {
    this.#signal.removeEventListener('abort', this.#abort);
  }
}
