import type { DocumentedOperation } from '../contract/documented.ts';
import { invariantProblems } from '../invariants/index.ts';
import type { Secrets } from '../report/secrets.ts';
import { curlOf } from '../wire/curl.ts';
import { type Request, requestOf, send, type Variation } from '../wire/exchange.ts';
import { type HttpResponse, parsedBody, type Target } from '../wire/http-response.ts';
import { announceBody, requestUpgrade } from '../wire/send-head.ts';
import { excerpt, violations } from '../wire/wire.ts';
import { type Coverage, codeOf, factsOf, isKnownCode } from './coverage.ts';

/** Sends a full request, a WebSocket handshake, or only a head that announces a body of that many bytes. */
export type SendMode = 'full' | 'handshake' | { announcedBytes: number };

/** A response and how it violates the contract. */
export interface CheckedResponse {
  response: HttpResponse;
  problems: string[];
  curl: string;
}

/** The server sent no response. The check that sent the request fails. */
export class NoResponseError extends Error {
  readonly curl: string;

  constructor(message: string, curl: string, options?: ErrorOptions) {
    super(message, options);
    this.curl = curl;
  }
}

export type OnResponse = (
  target: Target,
  operation: DocumentedOperation,
  request: { method: string; path: string },
  response: HttpResponse,
) => void;

type SuccessListener = (operation: DocumentedOperation, target: Target, response: HttpResponse) => void;

interface Options {
  timeoutMs: number;
  coverage: Coverage;
  /** Collects the secrets that responses contain. */
  secrets: Secrets;
  /** Called with every response. */
  onResponse?: OnResponse | undefined;
}

/** Sends requests and checks every response against the contract. */
export class Caller {
  readonly #options: Options;
  readonly #successListeners: SuccessListener[] = [];

  constructor(options: Options) {
    this.#options = options;
  }

  /** Registers a listener for successful responses. */
  onSuccess(listener: SuccessListener): void {
    this.#successListeners.push(listener);
  }

  /** @throws NoResponseError on a timeout or a broken connection */
  async send(
    target: Target,
    operation: DocumentedOperation,
    variation: Variation = {},
    mode: SendMode = 'full',
    allowsProviderError = false,
  ): Promise<CheckedResponse> {
    const request = requestOf(target, operation, variation);
    const curl = curlOf(request);
    const response = await this.#send(target, operation, variation, mode, request, curl);
    this.#options.secrets.collect(parsedBody(response));
    this.#options.coverage.recordResponse(operation, response);
    this.#options.onResponse?.(target, operation, request, response);
    if (response.status < 300)
      for (const listener of this.#successListeners) listener(operation, target, response);
    const problems = [
      ...violations(operation, response),
      ...errorProblems(operation, response, allowsProviderError),
      ...invariantProblems(operation, request, response),
    ];
    return { response, problems, curl };
  }

  async #send(
    target: Target,
    operation: DocumentedOperation,
    variation: Variation,
    mode: SendMode,
    request: Request,
    curl: string,
  ): Promise<HttpResponse> {
    const { timeoutMs } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      if (mode === 'full') return await sendWithRetry(request, signal);
      if (mode === 'handshake') return await requestUpgrade(target, operation, variation, signal);
      return await announceBody(target, operation, mode.announcedBytes, signal);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const why = signal.aborted
        ? `no complete response within ${timeoutMs / 1000} s`
        : `the connection failed: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new NoResponseError(why, curl, { cause: error });
    }
  }
}

/** Retries once, because a server may close an idle keep-alive connection just as the kit reuses it. */
async function sendWithRetry(request: Request, signal: AbortSignal): Promise<HttpResponse> {
  try {
    return await send(request, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return await send(request, signal);
  }
}

/** Checks the code of an error. Its schema and its request id are checked elsewhere. */
function errorProblems(
  operation: DocumentedOperation,
  response: HttpResponse,
  allowsProviderError: boolean,
): string[] {
  if (response.status < 400) return [];
  const code = codeOf(response);
  if (code === undefined) return [];
  const { errorFamily: family } = factsOf(operation);
  return allowsProviderError || isKnownCode(family, response.status, code)
    ? []
    : [`errors.yaml has no ${response.status} ${code} for ${family} operations: ${excerpt(response)}`];
}
